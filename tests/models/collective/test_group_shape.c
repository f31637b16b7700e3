/* How a group lies on the machine: nodes, members of a node, NICs, rates and latencies of the
 * longest and narrowest neighbour; and which protocols a kind has not. */
#include <math.h>

#include "models/collective/collective_kind.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

/* Three nodes of 8 GPUs and 4 NICs, two nodes on a leaf: GPU to GPU 4 s at 64 bytes/s, NICs of 8.
 * Across on one leaf 1 + 9 + 8 + 1 = 19 s, on two leaves 21. */
static struct topology_spec bench(const struct topology_kind *node)
{
    return (struct topology_spec){
        .node = {.kind = node,
                 .options = {.value = {4, 1}},
                 .gpus = 8,
                 .nvlink.bytes_per_s = node == &topology_nvlink_island ? 64 : 0,
                 .nvlink.latency_s = 4,
                 .nvlink.nvls = node == &topology_nvlink_island,
                 .nvlink.nvls_ratio = 0.75,
                 .nvlink.nvls_channels = 16,
                 .nvlink.exchange_ratio = 0.7,
                 .collective_start_s = 16e-6,
                 .pcie.bytes_per_s = 16,
                 .pcie.latency_s = 2,
                 .pcie.host_bytes_per_s = 12,
                 .nic.count = 4,
                 .nic.bytes_per_s = 8,
                 .nic.efficiency_ratio = 1,
                 .nic.latency_s = 8},
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
            s.inside.bytes_per_s != row->inside_bytes_per_s ||
            s.inside.latency_s != row->inside_latency_s ||
            s.outside_bytes_per_s != row->outside_bytes_per_s ||
            s.outside_latency_s != row->outside_latency_s) {
            fail_msg(
                "%s: %u nodes, %u each, %u rails, even %d, nvls %d, inside %g %g, outside %g %g",
                row->what, s.nodes, s.ranks_per_node, s.rails, s.even, s.nvls, s.inside.bytes_per_s,
                s.inside.latency_s, s.outside_bytes_per_s, s.outside_latency_s);
        }
        assert_int_equal(s.ranks, row->count);
        assert_true(s.inside.nvlink);
        assert_true(s.transport_latency_s == 3 && s.transport_bulk_s == 5);
        assert_true(s.exchange_ratio == 0.7);
    }
    arena_destroy(arena);
}

/* A step takes longer only where all members are in one node on NVLink. */
static void test_longer_steps(void **state)
{
    struct topology_spec spec = bench(&topology_nvlink_island), wires = bench(&topology_pcie);
    spec.node.nvlink.step_s = wires.node.nvlink.step_s = 0.5;
    struct arena *arena = arena_create();
    struct topology t, pcie;
    struct error error;
    struct group_shape s;
    assert_true(topology_build(arena, &spec, &t, &error));
    assert_true(topology_build(arena, &wires, &pcie, &error));
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool here = rows[i].nodes == 1 && rows[i].count > 1;
        collective_shape(&t, rows[i].gpus, rows[i].count, true, &s);
        assert_true(s.inside.latency_s == rows[i].inside_latency_s + (here ? 0.5 : 0.0));
        assert_true(s.outside_latency_s == rows[i].outside_latency_s);
    }
    collective_shape(&pcie, rows[1].gpus, 2, true, &s);
    assert_true(s.inside.latency_s == 4);
    spec.node.nvlink.step_s = -1;
    assert_false(topology_build(arena, &spec, &t, &error));
    arena_destroy(arena);
}

/* Two switches of four GPUs: a pair under one is 2 s apart, the neighbours 3 and 4 are 4 s at the
 * rate of the CPUs. */
static void test_pcie_shapes(void **state)
{
    static const uint32_t pair[] = {0, 1}, all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct topology_spec spec = bench(&topology_pcie);
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    struct group_shape s;
    assert_true(topology_build(arena, &spec, &t, &error));
    collective_shape(&t, pair, 2, false, &s);
    assert_true(s.inside.bytes_per_s == 16 && s.inside.latency_s == 2);
    assert_false(s.inside.nvlink || s.nvls);
    collective_shape(&t, all, 8, false, &s);
    assert_true(s.inside.bytes_per_s == 12 && s.inside.latency_s == 4);
    arena_destroy(arena);
}

/* The same node with bridges between pairs. A group on a bridge is on NVLink, as fast and as near
 * as the bridge; the ring of one that needs PCIe for a single hop is as slow as that hop. A member
 * alone in its node has no NVSwitch to go round by. */
static void test_bridged_shapes(void **state)
{
    static const struct {
        uint32_t count, gpus[4];
        bool nvlink;
        double bytes_per_s, latency_s;
    } groups[] = {
        {2, {0, 1}, true, 64, 4},        {2, {6, 7}, true, 64, 4},
        {2, {1, 2}, false, 16, 2},       {2, {0, 2}, false, 16, 2},
        {4, {0, 1, 2, 3}, false, 16, 4}, {4, {2, 3, 4, 5}, false, 12, 4},
        {4, {0, 1, 8, 9}, true, 64, 4},  {4, {0, 2, 8, 10}, false, 16, 2},
        {2, {0, 8}, false, INFINITY, 0}, {1, {5}, false, INFINITY, 0},
        {3, {1, 10, 11}, true, 64, 4},
    };
    struct topology_spec spec = bench(&topology_pcie);
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    spec.node.options.value[1] = 2;
    spec.node.nvlink.bytes_per_s = 64;
    spec.node.nvlink.nvls = true; /* no switch reduces: bridges do not */
    assert_true(topology_build(arena, &spec, &t, &error));
    for (unsigned i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        struct group_shape s;
        collective_shape(&t, groups[i].gpus, groups[i].count, false, &s);
        assert_int_equal(s.inside.nvlink, groups[i].nvlink);
        assert_true(s.inside.bytes_per_s == groups[i].bytes_per_s);
        assert_true(s.inside.latency_s == groups[i].latency_s);
        assert_false(s.nvls);
    }
    arena_destroy(arena);
}

/* Large all-reduces on four A100 cards bridged in pairs. A pair alone reaches what a ring reaches
 * of its 300 GB/s bridge, 78 % of it; four cards no more than the PCIe slots of 25 GB/s let
 * through, 8 times less; what a pair tells the other through the slots is the same with bridges and
 * without. */
static void test_bridges_are_fast(void **state)
{
    static const uint32_t pair[] = {2, 3}, across[] = {1, 2}, all[] = {0, 1, 2, 3};
    struct topology_spec spec = bench(&topology_pcie);
    spec.nodes = 1;
    spec.node.gpus = 4;
    spec.node.nvlink.bytes_per_s = 300e9;
    spec.node.pcie.bytes_per_s = 25e9;
    spec.node.pcie.latency_s = spec.node.nvlink.latency_s = 1e-6;
    double bus[2][3];
    for (unsigned bridged = 1; bridged <= 2; bridged++) {
        struct arena *arena = arena_create();
        struct topology t;
        struct error error;
        const uint32_t *const groups[] = {pair, across, all};
        spec.node.options.value[1] = bridged;
        assert_true(topology_build(arena, &spec, &t, &error));
        for (unsigned i = 0; i < 3; i++) {
            const uint32_t ranks = i < 2 ? 2 : 4;
            struct group_shape s;
            struct collective_plan plan;
            collective_shape(&t, groups[i], ranks, false, &s);
            collective_tune(COMM_ALL_REDUCE, &s, 8e9, &plan);
            bus[bridged - 1][i] = 8e9 / plan.time_s * collective_bus_factor(COMM_ALL_REDUCE, ranks);
        }
        arena_destroy(arena);
    }
    assert_true(bus[1][0] > 0.75 * 300e9 && bus[1][0] < 0.79 * 300e9);
    assert_true(bus[0][0] > 0.95 * 25e9 && bus[0][0] <= 25e9);
    assert_true(bus[1][1] == bus[0][1]);
    assert_true(bus[1][2] > 0.95 * 25e9 && bus[1][2] <= 25e9);
}

struct sent {
    double of[16][16];
};

static void add_wire(void *context, uint32_t from, uint32_t to, double weight)
{
    struct sent *sent = context;
    assert_true(from < 16 && to < 16 && from != to);
    sent->of[from][to] += weight;
}

/* Eight GPUs joined each to each by 10 bytes/s: a group has links to all its fellows, and a ring's
 * payload is shared out evenly over them; a message to one goes by one link. */
static void test_mesh(void **state)
{
    static const uint32_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    static const uint32_t apart[] = {0, 8};
    struct topology_spec spec = bench(&topology_pcie);
    spec.node.options = (struct kind_options){.value = {1, 8}};
    spec.node.nvlink.bytes_per_s = 70;
    spec.node.nic.count = 8;
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    struct group_shape s;
    assert_true(topology_build(arena, &spec, &t, &error));
    const struct collective_kind *ring = collective_find("ring"), *p2p = collective_find("p2p");
    for (uint32_t n = 2; n <= 16; n += n < 8 ? 1 : 8) {
        const uint32_t k = n < 8 ? n : 8;
        struct collective_plan plan, one;
        struct sent sent = {{{0}}};
        collective_shape(&t, all, n, true, &s);
        assert_true(s.inside.extra_links == k - 2 && s.inside.bytes_per_s == 10 && s.inside.nvlink);
        ring->wires(COMM_ALL_REDUCE, &s, NULL, add_wire, &sent);
        for (uint32_t i = 0; i < n; i++) {
            double out = 0;
            for (uint32_t j = 0; j < n; j++) {
                out += sent.of[i][j];
                assert_true(i / 8 != j / 8 || i == j ||
                            fabs(sent.of[i][j] - sent.of[0][1]) < 1e-12);
            }
            assert_true(fabs(out - ring->port_weight(COMM_ALL_REDUCE, &s)) < 1e-12);
        }
        if (n > 8)
            continue;
        assert_true(p2p->plan(COMM_SEND, &s, 1, PROTOCOL_SIMPLE, &one));
        assert_true(ring->plan(COMM_ALL_REDUCE, &s, 1, PROTOCOL_SIMPLE, &plan));
        const double bus = plan.cap_bytes_per_s * 2 * (n - 1) / n;
        assert_true(fabs(bus / one.cap_bytes_per_s - (n - 1)) < 1e-12);
        assert_true(ring->plan(COMM_RING_EXCHANGE, &s, 1, PROTOCOL_SIMPLE, &plan));
        assert_true(fabs(plan.cap_bytes_per_s * (n - 1) / n / one.cap_bytes_per_s - 1) < 1e-12);
    }
    collective_shape(&t, apart, 2, true, &s);
    assert_int_equal(s.inside.extra_links, 0);
    arena_destroy(arena);
}

/* Only rings and trees have LL and LL128; the others speak Simple. */
static void test_protocols(void **state)
{
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
                                    .exchange_ratio = 0.7,
                                    .start_s = 16e-6,
                                    .inside.bytes_per_s = 64,
                                    .outside_bytes_per_s = 8,
                                    .inside.nvlink = true};
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

/* The part of the members whose message to the next goes above a leaf, where paths are drawn: the
 * next is as far on as a node has members, or the next one where nodes have unlike many. */
static void test_paths_above_leaves(void **state)
{
    static const struct {
        uint32_t count, gpus[5];
        double sending_ratio;
    } cases[] = {
        {2, {0, 8}, 0.0},                   /* one leaf */
        {2, {0, 16}, 1.0},                  /* there and back */
        {3, {0, 8, 16}, 2.0 / 3.0},         /* not from 0 to 8 */
        {4, {0, 1, 16, 17}, 1.0},           /* from 0 to 16, from 1 to 17, and back */
        {5, {0, 1, 8, 16, 17}, 2.0 / 5.0},  /* from 8 to 16 and from 17 to 0 */
        {5, {0, 8, 16, 17, 18}, 2.0 / 5.0}, /* from 8 to 16 and from 18 to 0 */
    };
    struct topology_spec spec = bench(&topology_nvlink_island);
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    spec.fabric.routing = ROUTING_HASHED;
    spec.fabric.flows = 4;
    assert_true(topology_build(arena, &spec, &t, &error));
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct group_shape s;
        collective_shape(&t, cases[i].gpus, cases[i].count, true, &s);
        assert_true(s.paths.sending_ratio == cases[i].sending_ratio);
        assert_int_equal(s.paths.flows, 4);
        assert_int_equal(s.paths.tier_count > 0, cases[i].sending_ratio > 0.0);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths_above_leaves),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_longer_steps),
        cmocka_unit_test(test_pcie_shapes),
        cmocka_unit_test(test_bridged_shapes),
        cmocka_unit_test(test_bridges_are_fast),
        cmocka_unit_test(test_mesh),
        cmocka_unit_test(test_protocols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
