/* Law: one machine has one timeline, however a scenario spells it. NICs by the fabric or by the
 * node, node and fabric by name or written out key by key, nodes or GPUs: every schedule gives one
 * digest for all of them. Greedy schedules order their passes by what a message takes, so a wire
 * that one file reads past the fabric's override shows here and nowhere else. */
#include <stdio.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/step/simulate/step.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/catalogue/catalogue.h"
#include "tests/test.h"

enum {
    TEXT_BYTES = 8192,
    PART_BYTES = 2048
};

/* The keys of an entry of the catalogue with the texts that stand there, and `more`. */
static void write_out(struct catalogue *catalogue, enum family family, const char *name,
                      const char *without, const char *more, char out[PART_BYTES])
{
    const struct value *entry = catalogue_find(catalogue, family, name);
    size_t at = (size_t)snprintf(out, PART_BYTES, "{%s", more);
    assert_non_null(entry);
    for (const struct value *v = entry->first; v != NULL; v = v->next) {
        if (v->kind != VALUE_WORD || catalogue_describes(v->key) || strcmp(v->key, without) == 0)
            continue;
        at += (size_t)snprintf(out + at, PART_BYTES - at, "%s%s: %s", at > 1 ? ", " : "", v->key,
                               v->text);
        assert_true(at < PART_BYTES);
    }
    snprintf(out + at, PART_BYTES - at, "}");
}

/* 64 GPUs in eight nodes; no schedule's passes are much longer than a message of a slow NIC. With
 * context parallelism over two nodes the passes themselves depend on it. */
static uint64_t digest_of(const char *size, const char *node, const char *fabric,
                          const struct schedule_kind *schedule, bool context)
{
    char text[TEXT_BYTES];
    const unsigned chunks = schedule->chunks > 0 ? schedule->chunks : schedule->interleaved ? 2 : 1;
    const int bytes = snprintf(text, sizeof text,
                               "model: {layers: 16, hidden: 2048, heads: 16, vocabulary: 32000}\n"
                               "cluster: {gpu: h100-80gb-sxm, %s, node: %s, fabric: %s}\n"
                               "training: {sequence: 2048, global_batch: %u}\n"
                               "layout: {tp: 2, pp: %u, dp: %u, cp: %u, vpp: %u, microbatch: 1, "
                               "schedule: %s, recompute: none, "
                               "sharding: zero-0, sequence_parallel: true}\n"
                               "software: megatron\n",
                               size, node, fabric, 24 * (context ? 1 : 8), 4, context ? 1 : 8,
                               context ? 8 : 1, chunks, schedule->head.name);
    const struct scenario_options options = {0};
    const struct step_options how = {.threads = 1};
    struct error error = {""};
    struct scenario *s = scenario_read("law.yaml", text, (size_t)bytes, &options, &error);
    struct step *step;
    assert_non_null(s);
    if (s->diagnostics.error_count > 0)
        fail_msg("%s\n%s", s->diagnostics.problems[0].text, text);
    assert_true(step_run(&s->configuration, &how, &step, &error));
    const uint64_t digest = step->digest;
    step_destroy(step);
    scenario_destroy(s);
    return digest;
}

static void a_machine_has_one_timeline(void **state)
{
    static char node[PART_BYTES], fabric[PART_BYTES], slow_node[PART_BYTES],
        bare_fabric[PART_BYTES], slow_fabric[PART_BYTES];
    struct arena *arena = arena_create();
    struct catalogue catalogue;
    catalogue_open(&catalogue, arena, NULL, NULL);
    write_out(&catalogue, FAMILY_NODES, "dgx-h100", "", "", node);
    write_out(&catalogue, FAMILY_FABRICS, "ib-ndr-8x400", "", "", fabric);
    write_out(&catalogue, FAMILY_NODES, "dgx-h100", "nic_bandwidth", "nic_bandwidth: 10Gb/s",
              slow_node);
    write_out(&catalogue, FAMILY_FABRICS, "ib-ndr-8x400", "nic", "", bare_fabric);
    write_out(&catalogue, FAMILY_FABRICS, "ib-ndr-8x400", "nic", "nic: 10Gb/s", slow_fabric);
    const struct {
        const char *size, *node, *fabric;
        bool slow;
    } rows[] = {
        {"nodes: 8", "dgx-h100", "ib-ndr-8x400", false},
        {"gpus: 64", "dgx-h100", "ib-ndr-8x400", false},
        {"gpus: 64, nodes: 8", "{name: dgx-h100}", "{name: ib-ndr-8x400}", false},
        {"nodes: 8", node, "ib-ndr-8x400", false},
        {"nodes: 8", "dgx-h100", fabric, false},
        {"nodes: 8", node, fabric, false},
        {"nodes: 8", "dgx-h100", "{name: ib-ndr-8x400, nic: 400Gb/s, nics: 8}", false},
        {"nodes: 8", "dgx-h100", bare_fabric, false}, /* the node's NIC is as fast */
        {"nodes: 8", "dgx-h100", "{name: ib-ndr-8x400, nic: 10Gb/s}", true},
        {"nodes: 8", "dgx-h100", slow_fabric, true},
        {"nodes: 8", "{name: dgx-h100, nic_bandwidth: 10Gb/s}", bare_fabric, true},
        {"nodes: 8", "{name: dgx-h100, nic_bandwidth: 10Gb/s}", "{name: ib-ndr-8x400, nic: 0Gb/s}",
         true},
        {"nodes: 8", "{name: dgx-h100, nic_bandwidth: 10Gb/s}", "ib-ndr-8x400", true},
        {"nodes: 8", "{name: dgx-h100, nic_bandwidth: 10Gb/s, nics: 8}", "{}", true},
        {"nodes: 8", "{name: dgx-h100, nics: 8}", "ib-ndr-8x400", false},
        {"gpus: 64", slow_node, bare_fabric, true},
        {"gpus: 64", node, slow_fabric, true},
    };
    for (unsigned at = 0; at < 2 * schedule_kind_count; at++) {
        const struct schedule_kind *schedule = schedule_kinds[at / 2];
        uint64_t digest[2] = {0, 0};
        for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            uint64_t *of = &digest[rows[i].slow];
            const uint64_t is =
                digest_of(rows[i].size, rows[i].node, rows[i].fabric, schedule, at % 2 == 1);
            *of = *of == 0 ? is : *of;
            if (*of != is)
                fail_msg("%s: row %u has another digest", schedule->head.name, i);
        }
        assert_true(digest[0] != digest[1]);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_machine_has_one_timeline)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
