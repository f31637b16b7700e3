/* Clusters that rows of collectives become: by what the wires of each could carry at the most. */
#include <stdio.h>
#include <string.h>

#include "analysis/validate/rows/validate.h"
#include "analysis/validate/rows/validate_run.h"
#include "sim/units.h"
#include "tests/test.h"

/* The time of one row; 0: it is refused. */
static double time_or_refusal(const char *op, const char *gpu, unsigned gpus,
                              unsigned gpus_per_node, const char *fabric, double bytes)
{
    struct arena *arena = arena_create();
    struct csv csv;
    struct validation v;
    struct error error = {""};
    struct validate_options how = {.threads = 1};
    char text[512];
    snprintf(text, sizeof text,
             "row_id,source,quality,op,gpu,gpus,gpus_per_node,fabric,size_bytes,time_s\n"
             "r,s,clean,%s,%s,%u,%u,%s,%.0f,1\n",
             op, gpu, gpus, gpus_per_node, fabric, bytes);
    assert_true(csv_parse(arena, "test.csv", arena_text(arena, text), strlen(text), &csv, &error));
    assert_true(validate_file(arena, &csv, &how, &v, &error));
    assert_int_equal(v.row_count, 1);
    const bool refused = v.rows[0].refused;
    assert_true(refused || v.rows[0].values[0].has_predicted);
    double time_s = refused ? 0 : v.rows[0].values[0].predicted;
    arena_destroy(arena);
    return time_s;
}

static double time_of(const char *op, const char *gpu, unsigned gpus, unsigned gpus_per_node,
                      const char *fabric, double bytes)
{
    double time_s = time_or_refusal(op, gpu, gpus, gpus_per_node, fabric, bytes);
    assert_true(time_s > 0);
    return time_s;
}

/* 128 GPUs of two racks, counted by trays of 4: each rack works with 64 of its 72 GPUs and their 64
 * NICs of 50 GB/s. A ring sends nearly all of a gathered S out of each rack: with the 8 NICs that
 * divide both 64 and 72 that alone would take S / (8 x 50 GB/s), and NVLink is faster than that. */
static void test_a_nic_for_each_gpu_of_a_domain(void **state)
{
    const double bytes = 16 * GIGA, nic = 50 * GIGA;
    double time_s = time_of("all_gather", "gb200-186gb", 128, 4, "nvl72-ib-4x400", bytes);
    assert_true(time_s < bytes / (8 * nic));
    assert_true(time_s > bytes / 2 / (64 * nic));
}

/* A server of four A100 cards is that of the catalogue, with bridges of 300 GB/s between pairs; one
 * of eight or two has none. Four cards or a pair without a bridge pass no more than a slot's 25
 * GB/s: two halves of a gathered S, or three quarters, go into each card. */
static void test_the_node_of_the_catalogue_with_as_many_cards(void **state)
{
    const double bytes = 16 * GIGA, bridge = 300 * GIGA, slot = 25 * GIGA;
    double pair = time_of("all_gather", "a100-80gb-pcie", 2, 4, "none", bytes);
    assert_true(pair > bytes / 2 / bridge && pair < 1.5 * bytes / 2 / bridge);
    assert_true(time_of("all_gather", "a100-80gb-pcie", 4, 4, "none", bytes) > 0.75 * bytes / slot);
    assert_true(time_of("all_gather", "a100-80gb-pcie", 2, 2, "none", bytes) > bytes / 2 / slot);
    assert_true(time_of("all_gather", "a100-80gb-pcie", 2, 8, "none", bytes) > bytes / 2 / slot);
}

/* What a fabric that joins nothing does not join is no NVLink domain of several chassis unless the
 * node of the catalogue has several: eight GPUs are not one server of four, though two trays of
 * four are one rack. */
static void test_domains_have_several_chassis(void **state)
{
    assert_true(time_or_refusal("all_gather", "a100-80gb-pcie", 8, 4, "none", GIGA) == 0);
    assert_true(time_or_refusal("all_gather", "h100-80gb-sxm", 8, 4, "none", GIGA) == 0);
    assert_true(time_of("all_gather", "gb200-186gb", 8, 4, "none", GIGA) > 0);
}

/* One GPU on each of two nodes talks by its own NIC, not by all that the usual node has, and not
 * over NVLink, as two of one node do. */
static void test_messages_between_pairs(void **state)
{
    static const char *const names[] = {"p2p", "send", "sendrecv", "send_recv"};
    const double bytes = GIGA, nic = 50 * GIGA, nvlink = 450 * GIGA;
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        double across = time_of(names[i], "h100-80gb-sxm", 2, 1, "ib-ndr-8x400", bytes);
        double inside = time_of(names[i], "h100-80gb-sxm", 2, 8, "none", bytes);
        assert_true(across > bytes / nic && across < 1.25 * bytes / nic);
        assert_true(inside > bytes / nvlink && inside < bytes / nic / 4);
    }
}

/* A collective needs a second GPU, and messages go between the halves of an even number; any other
 * number of the GPUs of a server has a time. */
static void test_refused_counts(void **state)
{
    static const char *const ops[] = {"all_gather", "reduce_scatter", "all_reduce", "send"};
    for (unsigned op = 0; op < sizeof ops / sizeof ops[0]; op++)
        for (unsigned gpus = 1; gpus <= 8; gpus++) {
            const bool odd_pairs = strcmp(ops[op], "send") == 0 && gpus % 2 != 0;
            const bool timed =
                time_or_refusal(ops[op], "h100-80gb-sxm", gpus, 8, "none", GIGA) > 0.0;
            if (timed != (gpus > 1 && !odd_pairs))
                fail_msg("%s on %u GPUs is %s", ops[op], gpus, timed ? "timed" : "refused");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_nic_for_each_gpu_of_a_domain),
        cmocka_unit_test(test_the_node_of_the_catalogue_with_as_many_cards),
        cmocka_unit_test(test_domains_have_several_chassis),
        cmocka_unit_test(test_messages_between_pairs),
        cmocka_unit_test(test_refused_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
