/* Clusters as they are counted: nodes from GPUs, parts of a node, the largest, cards that are not
 * those of the catalogue; and the units that a trace may name, counted from the same machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/catalogue/catalogue.h"
#include "tests/scenarios/assemble/weeks.h"
#include "tests/test.h"

static struct scenario *read_cluster(const char *cluster, const char *layout)
{
    char text[1024];
    snprintf(text, sizeof text,
             "model: {preset: llama3-8b}\ncluster: {gpu: h100-80gb-sxm, node: dgx-h100, %s}\n"
             "training: {sequence: 8192, global_batch: 4M}\n"
             "layout: {microbatch: 1, recompute: full, %s}\n",
             cluster, layout);
    return weeks_read_text(text);
}

/* So many GPUs, or nodes, or both where they agree; of one node a part. */
static void test_counts(void **state)
{
    static const struct {
        const char *cluster;
        uint64_t nodes, gpus, installed;
        const char *problem; /* NULL: sound */
    } cases[] = {
        {"nodes: 2, fabric: ib-ndr-8x400", 2, 8, 0, NULL},
        {"gpus: 8", 1, 8, 0, NULL},
        {"gpus: 24, fabric: ib-ndr-8x400", 3, 8, 0, NULL},
        {"gpus: 16, nodes: 2, fabric: ib-ndr-8x400", 2, 8, 0, NULL},
        {"gpus: 8, nodes: 1", 1, 8, 0, NULL},
        {"gpus: 5", 1, 5, 8, NULL},
        {"gpus: 1", 1, 1, 8, NULL},
        {"node: {name: dgx-h100, gpus: 4}, gpus: 12, fabric: {name: ib-ndr-8x400, nics: 4}", 3, 4,
         0, NULL},
        {"gpus: 9, fabric: ib-ndr-8x400", 0, 0, 0,
         "2:53: cluster.gpus: 9 is not a whole number of nodes of 8 GPUs\n"},
        {"gpus: 15, nodes: 2, fabric: ib-ndr-8x400", 0, 0, 0,
         "2:53: cluster.gpus: 15 GPUs do not fill 2 nodes evenly, by whole GPUs: give nodes or "
         "gpus alone, or 14 GPUs for 7 of each node\n"},
        {"gpus: 5, nodes: 1", 1, 5, 8, NULL},
        {"gpus: 9, nodes: 1", 0, 0, 0,
         "2:53: cluster.gpus: 1 node of 8 GPUs has 8; give nodes or gpus alone\n"},
        {"nodes: 524289, fabric: ib-ndr-8x400", 0, 0, 0,
         "2:54: cluster: more than 4194304 GPUs cannot be simulated\n"},
        {"nodes: 2, fabric: {name: ib-ndr-8x400, nics: 16}", 0, 0, 0,
         "2:1: cluster: more NICs (16) than GPUs (8) in a node: give at most one NIC for each GPU "
         "and add up the rates of those that a GPU uses\n"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char cluster[256];
        const char *rest = cases[i].cluster;
        bool own = strncmp(rest, "node:", 5) == 0;
        snprintf(cluster, sizeof cluster,
                 "model: {preset: llama3-8b}\ncluster: {gpu: h100-80gb-sxm, %s%s}\n"
                 "training: {sequence: 8192, global_batch: 240}\n"
                 "layout: {microbatch: 1, recompute: full}\n",
                 own ? "" : "node: dgx-h100, ", rest);
        struct scenario *scenario = weeks_read_text(cluster);
        const struct topology_spec *spec = &scenario->configuration.cluster;
        weeks_problems_are(scenario, cases[i].problem ? cases[i].problem : "");
        if (cases[i].problem == NULL) {
            assert_int_equal(spec->nodes, cases[i].nodes);
            assert_int_equal(spec->node.gpus, cases[i].gpus);
            assert_int_equal(spec->node.installed_gpus, cases[i].installed);
        }
        scenario_destroy(scenario);
    }
}

/* Where the node of the catalogue has a NIC for each GPU, a piece of it has as many NICs as GPUs; a
 * number that is said stands, and four NICs of a node of eight GPUs stay four. */
static void test_nics_follow_gpus(void **state)
{
    static const struct {
        const char *cluster;
        uint64_t nics;
    } cases[] = {
        {"gpu: gb200-186gb, node: {gpus: 64}", 64},
        {"gpu: gb200-186gb, node: {gpus: 64, nics: 16}", 16},
        {"gpu: gb200-186gb", 72},
        {"gpu: h100-80gb-sxm, node: {gpus: 4}", 4},
        {"gpu: a100-80gb-sxm, node: {name: hgx-a100-4nic, gpus: 4}", 4},
        {"gpu: a100-80gb-sxm, node: {name: hgx-a100-4nic}", 4},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "model: {preset: llama3-8b}\ncluster: {%s, nodes: 2, fabric: nvl72-ib-4x400}\n"
                 "training: {sequence: 8192, global_batch: 1152}\n",
                 cases[i].cluster);
        struct scenario *scenario = weeks_read_text(text);
        assert_int_equal(topology_nics(&scenario->configuration.cluster), cases[i].nics);
        scenario_destroy(scenario);
    }
}

/* Of NICs that node and fabric both state, those of the fabric count, and others are told. */
static void test_nics_said_twice(void **state)
{
    static const struct {
        const char *node, *fabric;
        bool told;
    } cases[] = {
        {"nics: 4", "nics: 2", true},
        {"nics: 4", "nics: 4", false},
        {"nics: 4", "nics: 0", false},
        {"nic_bandwidth: 50Gb/s", "nic: 100Gb/s", true},
        {"nic_bandwidth: 50Gb/s", "nic_bandwidth: 100Gb/s", true},
        {"nics: 4", "name: ib-ndr-8x400", false},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        unsigned told = 0;
        snprintf(text, sizeof text,
                 "model: {preset: llama3-8b}\n"
                 "cluster: {gpu: h100-80gb-sxm, node: {%s}, fabric: {%s}, nodes: 2}\n"
                 "training: {sequence: 8192, global_batch: 1152}\n",
                 cases[i].node, cases[i].fabric);
        struct scenario *s = weeks_read_text(text);
        for (unsigned k = 0; k < s->diagnostics.problem_count; k++)
            told += strstr(s->diagnostics.problems[k].text, "has no effect, as cluster.fabric.")
                        ? 1
                        : 0;
        assert_int_equal(told, cases[i].told ? 1 : 0);
        scenario_destroy(s);
    }
}

/* 2^22 GPUs are not too many. */
static void test_largest(void **state)
{
    struct scenario *scenario = read_cluster("nodes: 524288, fabric: ib-ndr-8x400", "tp: 8");
    for (unsigned i = 0; i < scenario->diagnostics.problem_count; i++)
        assert_null(strstr(scenario->diagnostics.problems[i].text, "cannot be simulated"));
    assert_int_equal(configuration_gpus(&scenario->configuration), 4194304);
    scenario_destroy(scenario);
}

/* A card with more memory than that of the catalogue has no more to use until that is said, and is
 * not sold as that of the catalogue is. */
static void test_own_memory(void **state)
{
    static const struct {
        const char *gpu, *problems;
        double nominal_bytes;
    } cases[] = {
        {"{name: h100-80gb-sxm, hbm: 96GiB}",
         "~2:43: cluster.gpu.hbm: usable_hbm, which decides what fits, stays that of "
         "h100-80gb-sxm; give it too\n",
         0.0},
        {"{name: h100-80gb-sxm, hbm: 96GiB, usable_hbm: 95GiB}", "", 0.0},
        {"{name: h100-80gb-sxm, hbm: 96GiB, usable_hbm: 95GiB, nominal_hbm: 96GB}", "", 96e9},
        {"{name: h100-80gb-sxm, usable_hbm: 79GiB}", "", 80e9},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "model: {preset: llama3-8b}\ncluster: {gpu: %s, gpus: 8}\n"
                 "training: {sequence: 8192, global_batch: 64}\nlayout: {tp: 8}\n",
                 cases[i].gpu);
        struct scenario *scenario = weeks_read_text(text);
        weeks_problems_are(scenario, cases[i].problems);
        assert_true(scenario->configuration.gpu.hbm.nominal_bytes == cases[i].nominal_bytes);
        scenario_destroy(scenario);
    }
    /* of a card of one's own nothing stays that of another */
    struct scenario *own = weeks_read_text("cluster: {gpu: {hbm: 96GiB}, gpus: 8}\n");
    for (unsigned i = 0; i < own->diagnostics.problem_count; i++)
        assert_null(strstr(own->diagnostics.problems[i].text, "which decides what fits"));
    scenario_destroy(own);
}

#define HEAD "at,unit_kind,unit,cause,repair\n"
static char trace_path[] = "/tmp/orrery-units-......";

static int make_trace(void **state)
{
    memset(strrchr(trace_path, '-') + 1, 'X', 6); /* six X, as mkstemp wants them */
    int file = mkstemp(trace_path);
    return file < 0 || close(file) != 0;
}

static int remove_trace(void **state)
{
    return unlink(trace_path);
}

/* Four nodes and two spares, of eight GPUs and four NICs. */
static struct scenario *read_trace(const char *csv, const char *more)
{
    char failures[256];
    FILE *file = fopen(trace_path, "wb");
    assert_non_null(file);
    fputs(csv, file);
    fclose(file);
    snprintf(failures, sizeof failures, "failures: [{cause: log, law: trace, trace: %s%s}]",
             trace_path, more);
    return weeks_read_both(WEEKS_FAILURES, failures, WEEKS_CLUSTER,
                           "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 4, fabric: "
                           "{name: ib-ndr-8x400, nics: 4}}");
}

/* The last unit of each kind is one of the spares; a last domain may be smaller than the others. */
static void test_last_units(void **state)
{
    static const struct {
        const char *kind, *more;
        unsigned count;
    } cases[] = {
        {"gpu", "", 48},
        {"nic", "", 24},
        {"node", "", 6},
        {"job", "", 1},
        {"domain", ", domain_nodes: 6", 1},
        {"domain", ", domain_nodes: 5", 2},
        {"domain", ", domain_nodes: 4", 2},
        {"domain", ", domain_nodes: 3", 2},
        {"domain", ", domain_nodes: 1", 6},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (unsigned over = 0; over < 2; over++) {
            char csv[200], wanted[300] = "";
            unsigned unit = cases[i].count - 1 + over;
            snprintf(csv, sizeof csv, HEAD "1h,%s,%u,a,2h\n", cases[i].kind, unit);
            if (over)
                snprintf(wanted, sizeof wanted,
                         "%s:2:%zu: unit: there is no %s %u; they are numbered from 0 to %u\n",
                         trace_path, strlen("1h,,") + strlen(cases[i].kind) + 1, cases[i].kind,
                         unit, unit - 1);
            struct scenario *scenario = read_trace(csv, cases[i].more);
            weeks_problems_are(scenario, wanted);
            scenario_destroy(scenario);
        }
    }
}

static const char *chosen(const struct scenario *s, enum choice_key key)
{
    for (unsigned i = 0; i < s->choices.count; i++)
        if (s->choices.rows[i].key == key)
            return s->choices.rows[i].value;
    return NULL;
}

/* Node and fabric that nobody names are the usual ones and are told; what is named is not told. */
static void test_usual_parts(void **state)
{
    static const struct {
        const char *cluster, *node, *fabric; /* as told; NULL: not told */
        uint64_t nics;                       /* of a node, on the fabric */
    } cases[] = {
        {"gpu: h100-80gb-sxm, gpus: 64", "dgx-h100", "ib-ndr-8x400", 8},
        {"gpu: a100-80gb-sxm, gpus: 12288", "dgx-a100", "ib-hdr-8x200", 8},
        {"gpu: b300-288gb-sxm, nodes: 2", "dgx-b300", "ib-xdr-8x800", 8},
        {"gpu: gb200-186gb, gpus: 576", "gb200-nvl72", "nvl72-ib-4x400", 72},
        {"gpu: gb300-288gb, gpus: 144", "gb300-nvl72", "nvl72-ib-4x800", 72},
        {"gpu: a100-80gb-pcie, nodes: 4", "pcie-8x-a100", "unknown", 1},
        {"gpu: h100-80gb-sxm, gpus: 8", "dgx-h100", NULL, 8},
        {"gpu: h100-80gb-sxm, gpus: 16, fabric: roce-8x400", "dgx-h100", NULL, 8},
        {"gpu: h100-80gb-sxm, gpus: 16, fabric: {latency: 9us}", "dgx-h100", "ib-ndr-8x400", 8},
        {"gpu: h100-80gb-sxm, gpus: 16, node: gcp-a3-mega", NULL, "tcpxo-8x200", 8},
        {"gpu: h100-80gb-sxm, gpus: 16, node: {pcie_latency: 9us}", "dgx-h100", "ib-ndr-8x400", 8},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "model: {preset: llama3-8b}\ncluster: {%s}\n"
                 "training: {sequence: 1024, global_batch: 36864}\n"
                 "layout: {tp: 1, microbatch: 1, recompute: full, sharding: zero-3}\n",
                 cases[i].cluster);
        struct scenario *s = weeks_read_text(text);
        weeks_problems_are(s, "");
        const char *node = chosen(s, CHOICE_NODE), *fabric = chosen(s, CHOICE_FABRIC);
        assert_true((node == NULL) == (cases[i].node == NULL));
        assert_true((fabric == NULL) == (cases[i].fabric == NULL));
        if (node != NULL)
            assert_string_equal(node, cases[i].node);
        if (fabric != NULL)
            assert_string_equal(fabric, cases[i].fabric);
        assert_int_equal(topology_nics(&s->configuration.cluster), cases[i].nics);
        scenario_destroy(s);
    }
}

/* Each node of the catalogue is joined by a fabric that it fits. */
static void test_every_node_has_a_fabric(void **state)
{
    struct arena *arena = arena_create();
    struct problems problems = {.arena = arena};
    struct catalogue catalogue;
    catalogue_open(&catalogue, arena, NULL, &problems);
    struct name_list nodes = catalogue_names(&catalogue, FAMILY_NODES);
    assert_true(nodes.count > 10);
    for (unsigned i = 0; i < nodes.count; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "model: {preset: llama3-8b}\ncluster: {gpu: h100-80gb-sxm, node: %s, nodes: 2}\n"
                 "training: {sequence: 1024, global_batch: 5760}\n"
                 "layout: {tp: 1, microbatch: 1, recompute: full, sharding: zero-3}\n",
                 nodes.names[i]);
        struct scenario *s = weeks_read_text(text);
        assert_int_equal(s->diagnostics.error_count,
                         0); /* a socket that differs is only warned of */
        assert_non_null(chosen(s, CHOICE_FABRIC));
        scenario_destroy(s);
    }
    arena_destroy(arena);
}

/* 256 causes of a trace are taken, each with its rows; no more. */
static void test_most_causes(void **state)
{
    for (unsigned causes = 255; causes <= 257; causes++) {
        static char csv[30000];
        size_t at = (size_t)snprintf(csv, sizeof csv, HEAD);
        for (unsigned i = 0; i < 2 * causes; i++)
            at += (size_t)snprintf(csv + at, sizeof csv - at, "%uh,gpu,%u,c%u,2h\n", i + 1, i % 48,
                                   i % causes);
        struct scenario *scenario = read_trace(csv, "");
        if (causes == 257) {
            weeks_problems_are(scenario,
                               "6:44: failures[0].trace: more than 256 causes in one trace\n");
        } else {
            assert_int_equal(scenario->diagnostics.error_count, 0);
            assert_int_equal(scenario->job.cause_count, causes);
            const struct failure_cause *last = &scenario->job.causes[causes - 1];
            assert_int_equal(last->trace_count, 2);
            assert_int_equal(last->trace[1].unit, (2 * causes - 1) % 48);
        }
        scenario_destroy(scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),          cmocka_unit_test(test_nics_follow_gpus),
        cmocka_unit_test(test_nics_said_twice), cmocka_unit_test(test_largest),
        cmocka_unit_test(test_usual_parts),     cmocka_unit_test(test_every_node_has_a_fabric),
        cmocka_unit_test(test_own_memory),      cmocka_unit_test(test_last_units),
        cmocka_unit_test(test_most_causes),
    };
    return cmocka_run_group_tests(tests, make_trace, remove_trace);
}
