/* How a group lies on the machine: nodes, members of a node, NICs, rates and latencies of the
 * longest and narrowest neighbour; and which protocols a kind has not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/collective/collective_kind.h"
#include "topology/topology_kind.h"

/* Three nodes of 8 GPUs and 4 NICs, two nodes on a leaf: GPU to GPU 4 s at 64 bytes/s, NICs of 8.
 * Across on one leaf 1 + 9 + 8 + 1 = 19 s, on two leaves 21. */
static struct topology_spec bench(const struct topology_kind *node)
{
    return (struct topology_spec){
        .node = {.kind = node,
                 .options = {.value = {4}},
                 .gpus = 8,
                 .nvlink_bytes_per_s = node == &topology_nvlink_island ? 64 : 0,
                 .nvlink_latency_s = 4,
                 .nvls = node == &topology_nvlink_island,
                 .nvls_ratio = 0.75,
                 .nvls_channels = 16,
                 .collective_start_s = 16e-6,
                 .pcie_bytes_per_s = 16,
                 .pcie_latency_s = 2,
                 .host_bytes_per_s = 12,
                 .nics = 4,
                 .nic_bytes_per_s = 8,
                 .nic_efficiency_ratio = 1,
                 .nic_latency_s = 8},
        .fabric = {.kind = &topology_rail,
                   .efficiency_ratio = 1,
                   .switch_latency_s = 1,
                   .latency_s = 3,
                   .bulk_latency_s = 5,
                   .options = {.value = {2, 1, 0, 0}}},
        .nodes = 3,
    };
}

struct shape_row {
    const char *what;
    uint32_t count, gpus[8];
    uint32_t nodes, per_node, rails;
    bool even, nvls;
    double inside_bytes_per_s, inside_latency_s, outside_bytes_per_s, outside_latency_s;
};
static const struct shape_row rows[] = {
    /* Alone, its own round through the switch. */
    {"one GPU", 1, {3}, 1, 1, 0, true, false, 64, 4, INFINITY, 0},
    {"a pair", 2, {3, 6}, 1, 2, 0, true, true, 64, 4, INFINITY, 0},
    {"two nodes, one each", 2, {0, 8}, 2, 1, 1, true, false, INFINITY, 0, 8, 19},
    {"two leaves", 2, {0, 16}, 2, 1, 1, true, false, INFINITY, 0, 8, 21},
    {"three nodes", 3, {0, 8, 16}, 3, 1, 1, true, false, INFINITY, 0, 8, 21},
    {"two of each", 4, {0, 1, 8, 9}, 2, 2, 2, true, true, 64, 4, 16, 19},
    /* GPUs of a node beyond its 4 NICs add none. */
    {"six of one node", 6, {0, 1, 2, 3, 4, 5}, 1, 6, 0, true, true, 64, 4, INFINITY, 0},
    {"five and three", 8, {0, 1, 2, 3, 4, 8, 9, 10}, 2, 5, 4, false, true, 64, 4, 32, 23},
    {"one and two", 3, {7, 8, 9}, 2, 2, 2, false, true, 64, 4, 16, 23},
    {"two and one", 3, {0, 1, 16}, 2, 2, 2, false, true, 64, 4, 16, 21},
};

static void test_shapes(void **state)
{
    (void)state;
    struct topology_spec spec = bench(&topology_nvlink_island);
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    assert_true(topology_build(arena, &spec, &t, &error));
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct shape_row *row = &rows[i];
        struct group_shape s;
        collective_shape(&t, row->gpus, row->count, true, &s);
        if (s.nodes != row->nodes || s.ranks_per_node != row->per_node || s.rails != row->rails ||
            s.even != row->even || s.nvls != row->nvls ||
            s.inside_bytes_per_s != row->inside_bytes_per_s ||
            s.inside_latency_s != row->inside_latency_s ||
            s.outside_bytes_per_s != row->outside_bytes_per_s ||
            s.outside_latency_s != row->outside_latency_s) {
            fail_msg(
                "%s: %u nodes, %u each, %u rails, even %d, nvls %d, inside %g %g, outside %g %g",
                row->what, s.nodes, s.ranks_per_node, s.rails, s.even, s.nvls, s.inside_bytes_per_s,
                s.inside_latency_s, s.outside_bytes_per_s, s.outside_latency_s);
        }
        assert_int_equal(s.ranks, row->count);
        assert_true(s.inside_switch);
        assert_true(s.transport_latency_s == 3 && s.transport_bulk_s == 5);
    }
    arena_destroy(arena);
}

/* Two switches of four GPUs: a pair under one is 2 s apart, the neighbours 3 and 4 are 4 s at the
 * rate of the CPUs. */
static void test_pcie_shapes(void **state)
{
    (void)state;
    static const uint32_t pair[] = {0, 1}, all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct topology_spec spec = bench(&topology_pcie);
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    struct group_shape s;
    assert_true(topology_build(arena, &spec, &t, &error));
    collective_shape(&t, pair, 2, false, &s);
    assert_true(s.inside_bytes_per_s == 16 && s.inside_latency_s == 2);
    assert_false(s.inside_switch || s.nvls);
    collective_shape(&t, all, 8, false, &s);
    assert_true(s.inside_bytes_per_s == 12 && s.inside_latency_s == 4);
    arena_destroy(arena);
}

/* Only rings and trees have LL and LL128; the others speak Simple. */
static void test_protocols(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        enum comm_op op;
        uint32_t nodes, per_node;
    } kinds[] = {{"nvls", COMM_ALL_REDUCE, 1, 8},
                 {"hierarchical", COMM_ALL_REDUCE, 2, 8},
                 {"direct", COMM_ALL_TO_ALL, 2, 8},
                 {"p2p", COMM_SEND, 2, 1}};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct collective_kind *kind = collective_find(kinds[i].kind);
        struct group_shape shape = {.ranks = kinds[i].nodes * kinds[i].per_node,
                                    .nodes = kinds[i].nodes,
                                    .ranks_per_node = kinds[i].per_node,
                                    .even = true,
                                    .nvls = true,
                                    .nvls_ratio = 0.75,
                                    .nvls_channels = 16,
                                    .start_s = 16e-6,
                                    .inside_bytes_per_s = 64,
                                    .outside_bytes_per_s = 8,
                                    .inside_switch = true};
        struct collective_plan plan;
        assert_false(kind->plan(kinds[i].op, &shape, 1, PROTOCOL_LL, &plan));
        assert_false(kind->plan(kinds[i].op, &shape, 1, PROTOCOL_LL128, &plan));
        assert_true(kind->plan(kinds[i].op, &shape, 1, PROTOCOL_SIMPLE, &plan));
    }
    assert_string_equal(protocol_names[PROTOCOL_LL], "ll");
    assert_string_equal(protocol_names[PROTOCOL_LL128], "ll128");
    assert_string_equal(protocol_names[PROTOCOL_SIMPLE], "simple");
    assert_null(protocol_names[PROTOCOL_COUNT]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_pcie_shapes),
        cmocka_unit_test(test_protocols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
