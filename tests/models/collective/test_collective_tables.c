/* Every collective by hand: steps, start and step times, rate ceilings, the bytes of each wire, and
 * where the tuner goes over from one choice to the next, at 2 and 3 members and on numbers of nodes
 * that are no power of two.
 *
 * Times of a step and starts: NVIDIA/nccl src/graph/tuning.cc (hwLat, baseLat), LL's start and the
 * in-switch start as fitted (docs/models/collectives.md). The bench: 400 GB/s and 1 us inside a
 * node, a NIC of 50 GB/s for each member, 2 us between NICs and 3 us of transport; LL starts in
 * 15.6 us, in-switch reduction moves .684 of a port over 16 channels, an all-to-all .65. */
#include <math.h>
#include <string.h>

#include "models/collective/collective_kind.h"
#include "tests/test.h"

#define US 1e-6
#define GB 1e9
#define ALL_REDUCE COMM_ALL_REDUCE
#define LL PROTOCOL_LL
#define LL128 PROTOCOL_LL128
#define SIMPLE PROTOCOL_SIMPLE

static struct group_shape shape_of(uint32_t nodes, uint32_t per_node)
{
    return (struct group_shape){
        .ranks = nodes * per_node,
        .nodes = nodes,
        .ranks_per_node = per_node,
        .even = true,
        .nvls = per_node > 1,
        .nvls_ratio = 0.684,
        .nvls_channels = 16,
        .exchange_ratio = 0.65,
        .start_s = 15.6 * US,
        .inside.bytes_per_s = 400 * GB,
        .inside.latency_s = 1 * US,
        .outside_bytes_per_s = 50 * GB * per_node,
        .outside_latency_s = 2 * US,
        .transport_latency_s = 3 * US,
        .inside.nvlink = true,
    };
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* An empty payload takes its start and its steps; a step's own time over the wire comes on top of
 * the protocol's: 1 us inside, 2 + 3 us across. */
struct latency_row {
    const char *kind;
    enum comm_op op;
    uint32_t nodes, per_node;
    enum protocol protocol;
    double start_us, inside_steps, inside_us, outside_steps, outside_us;
};
static const struct latency_row latencies[] = {
    {"ring", ALL_REDUCE, 1, 2, LL, 15.6, 2, 0.6, 0, 0},
    {"ring", ALL_REDUCE, 1, 2, LL128, 14, 2, 1.9, 0, 0},
    {"ring", ALL_REDUCE, 1, 2, SIMPLE, 8.4, 2, 3.4, 0, 0},
    {"ring", ALL_REDUCE, 1, 3, SIMPLE, 8.4, 4, 3.4, 0, 0},
    {"ring", ALL_REDUCE, 2, 1, LL, 15.6, 0, 0, 2, 2.7},
    {"ring", ALL_REDUCE, 2, 1, LL128, 14, 0, 0, 2, 4},
    {"ring", ALL_REDUCE, 2, 1, SIMPLE, 8.4, 0, 0, 2, 14},
    {"ring", ALL_REDUCE, 3, 1, SIMPLE, 8.4, 0, 0, 4, 14},
    {"ring", ALL_REDUCE, 3, 2, LL, 15.6, 6, 0.6, 4, 2.7},
    {"ring", ALL_REDUCE, 3, 2, LL128, 14, 6, 1.9, 4, 4},
    {"ring", ALL_REDUCE, 3, 2, SIMPLE, 8.4, 6, 3.4, 4, 14},
    {"ring", ALL_REDUCE, 5, 3, LL, 15.6, 20, 0.6, 8, 2.7},
    {"ring", COMM_ALL_GATHER, 1, 2, LL, 15.6, 1, 0.6, 0, 0},
    {"ring", COMM_ALL_GATHER, 3, 2, SIMPLE, 8.4, 3, 3.4, 2, 14},
    {"ring", COMM_REDUCE_SCATTER, 5, 3, LL128, 14, 10, 1.9, 4, 4},
    {"ring", COMM_BROADCAST, 3, 2, LL128, 14, 3, 1.9, 2, 4},
    {"ring", COMM_RING_EXCHANGE, 1, 3, SIMPLE, 8.4, 2, 3.4, 0, 0},
    {"ring", COMM_RING_EXCHANGE, 3, 2, SIMPLE, 8.4, 0, 0, 5, 14},
    {"tree", ALL_REDUCE, 2, 1, LL, 15.8, 0, 0, 2, 5},
    {"tree", ALL_REDUCE, 2, 1, LL128, 14, 0, 0, 2, 8.5},
    {"tree", ALL_REDUCE, 2, 1, SIMPLE, 8.4, 0, 0, 2, 14},
    {"tree", ALL_REDUCE, 3, 2, LL, 15.8, 2, 0.6, 4, 5},
    {"tree", ALL_REDUCE, 3, 2, LL128, 14, 2, 1.25, 4, 8.5},
    {"tree", ALL_REDUCE, 3, 2, SIMPLE, 8.4, 2, 4, 4, 14},
    {"tree", ALL_REDUCE, 4, 3, SIMPLE, 8.4, 4, 4, 4, 14},
    {"tree", ALL_REDUCE, 5, 3, LL, 15.8, 4, 0.6, 6, 5},
    {"tree", ALL_REDUCE, 8, 1, LL, 15.8, 0, 0, 6, 5},
    {"tree", ALL_REDUCE, 9, 1, LL, 15.8, 0, 0, 8, 5},
    {"hierarchical", ALL_REDUCE, 2, 2, SIMPLE, 36.7, 0, 0, 2, 14},
    {"hierarchical", ALL_REDUCE, 3, 2, SIMPLE, 36.7, 0, 0, 4, 14},
    {"hierarchical", ALL_REDUCE, 5, 8, SIMPLE, 36.7, 0, 0, 6, 14},
    {"nvls", ALL_REDUCE, 1, 3, SIMPLE, 36.7, 0, 0, 0, 0},
    {"nvls", COMM_ALL_GATHER, 1, 8, SIMPLE, 36.7, 0, 0, 0, 0},
    {"direct", COMM_ALL_TO_ALL, 1, 2, SIMPLE, 43, 1, 3.4, 0, 0},
    {"direct", COMM_ALL_TO_ALL, 1, 7, SIMPLE, 43, 1, 3.4, 0, 0},
    {"direct", COMM_ALL_TO_ALL, 2, 1, SIMPLE, 43, 0, 0, 1, 14},
    {"direct", COMM_ALL_TO_ALL, 3, 2, SIMPLE, 43, 0, 0, 1, 14},
    {"p2p", COMM_SEND, 1, 2, SIMPLE, 8.4, 1, 3.4, 0, 0},
    {"p2p", COMM_SEND, 2, 1, SIMPLE, 8.4, 0, 0, 1, 14},
};

static void test_latencies(void **state)
{
    for (unsigned i = 0; i < sizeof latencies / sizeof *latencies; i++) {
        const struct latency_row *row = &latencies[i];
        struct group_shape shape = shape_of(row->nodes, row->per_node);
        const struct collective_kind *kind = collective_find(row->kind);
        struct collective_plan plan;
        assert_true(kind->carries(row->op, &shape));
        assert_true(kind->plan(row->op, &shape, 0.0, row->protocol, &plan));
        double expected_us = row->start_us + row->inside_steps * (row->inside_us + 1) +
                             row->outside_steps * (row->outside_us + 2 + 3);
        assert_true(near(plan.latency_s, expected_us * US));
        assert_true(plan.time_s == plan.latency_s);
    }
}

/* PCIe in place of NVLink: steps of 1 and 5.7 us (ring), 1 and 4 us (tree), no LL128, and the
 * wire's own rate. */
static void test_pcie(void **state)
{
    struct group_shape shape = shape_of(2, 2);
    struct collective_plan plan;
    const struct collective_kind *ring = collective_find("ring"), *tree = collective_find("tree");
    shape.inside.nvlink = false;
    shape.rails = 2; /* channels are known of NVLink machines only */
    assert_false(ring->plan(ALL_REDUCE, &shape, 0, LL128, &plan));
    assert_false(tree->plan(ALL_REDUCE, &shape, 0, LL128, &plan));
    assert_true(ring->plan(ALL_REDUCE, &shape, 0, LL, &plan));
    assert_true(near(plan.latency_s, (15.6 + 4 * 2.0 + 2 * 7.7) * US));
    assert_true(ring->plan(ALL_REDUCE, &shape, 0, SIMPLE, &plan));
    assert_true(near(plan.latency_s, (8.4 + 4 * 6.7 + 2 * 19.0) * US));
    assert_true(tree->plan(ALL_REDUCE, &shape, 0, LL, &plan));
    assert_true(near(plan.latency_s, (15.8 + 2 * 2.0 + 2 * 10.0) * US));
    assert_true(tree->plan(ALL_REDUCE, &shape, 0, SIMPLE, &plan));
    assert_true(near(plan.latency_s, (8.4 + 2 * 5.0 + 2 * 19.0) * US));
    shape = shape_of(1, 2);
    shape.inside.nvlink = false;
    shape.inside.bytes_per_s = 20 * GB;
    assert_true(ring->plan(ALL_REDUCE, &shape, 0, SIMPLE, &plan));
    assert_true(near(plan.cap_bytes_per_s, 20 * GB));
    assert_true(ring->plan(ALL_REDUCE, &shape, 0, LL, &plan));
    assert_true(near(plan.cap_bytes_per_s, 6 * GB));
    assert_true(collective_find("direct")->plan(COMM_ALL_TO_ALL, &shape, 0, SIMPLE, &plan));
    assert_true(near(plan.cap_bytes_per_s, 40 * GB));
    assert_true(near(plan.latency_s, (43 + 6.7) * US));
    shape = shape_of(1, 3); /* a mesh: messages to both fellows over links of their own */
    shape.inside.extra_links = 1;
    assert_true(collective_find("direct")->plan(COMM_ALL_TO_ALL, &shape, 0, SIMPLE, &plan));
    assert_true(near(plan.cap_bytes_per_s, 780 * GB));
}

/* Ceilings in GB/s. Inside 400 GB/s leave 313.2 to Simple (.783), 288.144 to LL128 (.92 of it) and
 * 120 to LL (.3), 273.6 to in-switch reduction (.684) but for 5 us after each round of chunks: 64
 * KiB for 1 GB on 8 members, less than 64 rounds of 16 MiB, 128 KiB on 3, whose rounds move 6 MiB,
 * and in a hierarchy; outside LL has 22.5 and LL128 .92. */
struct ceiling_row {
    const char *kind;
    enum comm_op op;
    uint32_t nodes, per_node;
    enum protocol protocol;
    double gb_per_s;
};
/* Of `rate` GB/s with chunks of so many KiB on 16 channels for each member. */
#define IN_ROUNDS(rate, members, kib)                                                              \
    (1 / (1 / (rate) + 5.0 * US / ((kib)*1024.0 * 16 * (members)) * GB))
static const struct ceiling_row ceilings[] = {
    {"ring", ALL_REDUCE, 1, 2, SIMPLE, 313.2},
    {"ring", ALL_REDUCE, 1, 2, LL128, 288.144},
    {"ring", ALL_REDUCE, 1, 2, LL, 120},
    {"ring", ALL_REDUCE, 1, 3, SIMPLE, 313.2 * 3 / 4},
    {"ring", ALL_REDUCE, 2, 1, SIMPLE, 50},
    {"ring", ALL_REDUCE, 2, 1, LL128, 46},
    {"ring", ALL_REDUCE, 2, 1, LL, 22.5},
    {"ring", ALL_REDUCE, 3, 2, SIMPLE, 60},
    {"ring", ALL_REDUCE, 3, 2, LL128, 55.2},
    {"ring", ALL_REDUCE, 3, 2, LL, 13.5},
    {"ring", COMM_ALL_GATHER, 3, 2, SIMPLE, 120},
    {"ring", COMM_REDUCE_SCATTER, 1, 3, SIMPLE, 313.2 * 3 / 2},
    {"ring", COMM_BROADCAST, 1, 3, SIMPLE, 313.2},
    {"ring", COMM_BROADCAST, 3, 2, SIMPLE, 100},
    {"ring", COMM_RING_EXCHANGE, 3, 2, SIMPLE, 60},
    {"tree", ALL_REDUCE, 2, 1, SIMPLE, 46},
    {"tree", ALL_REDUCE, 2, 2, SIMPLE, 92},
    {"tree", ALL_REDUCE, 3, 2, SIMPLE, 46},
    {"tree", ALL_REDUCE, 3, 2, LL128, 42.32},
    {"tree", ALL_REDUCE, 3, 2, LL, 10.35},
    {"tree", ALL_REDUCE, 2, 8, SIMPLE, 313.2 / 2 * 0.92},
    {"hierarchical", ALL_REDUCE, 3, 2, SIMPLE, 50},
    {"hierarchical", ALL_REDUCE, 2, 8, SIMPLE, IN_ROUNDS(273.6 * 8 / 9, 8, 128)},
    {"nvls", ALL_REDUCE, 1, 3, SIMPLE, IN_ROUNDS(205.2, 3, 128)},
    {"nvls", COMM_ALL_GATHER, 1, 3, SIMPLE, IN_ROUNDS(273.6, 3, 128)},
    {"nvls", COMM_REDUCE_SCATTER, 1, 8, SIMPLE, IN_ROUNDS(273.6, 8, 64)},
    {"direct", COMM_ALL_TO_ALL, 1, 2, SIMPLE, 520},
    {"direct", COMM_ALL_TO_ALL, 1, 3, SIMPLE, 390},
    {"direct", COMM_ALL_TO_ALL, 2, 1, SIMPLE, 100},
    {"direct", COMM_ALL_TO_ALL, 3, 2, SIMPLE, 75},
    {"p2p", COMM_SEND, 1, 2, SIMPLE, 313.2},
    {"p2p", COMM_SEND, 2, 1, SIMPLE, 50},
};

static void test_ceilings(void **state)
{
    for (unsigned i = 0; i < sizeof ceilings / sizeof *ceilings; i++) {
        const struct ceiling_row *row = &ceilings[i];
        struct group_shape shape = shape_of(row->nodes, row->per_node);
        struct collective_plan plan = {.cap_bytes_per_s = 1.0}; /* what stood there is no ceiling */
        assert_true(
            collective_find(row->kind)->plan(row->op, &shape, 1 * GB, row->protocol, &plan));
        assert_true(near(plan.cap_bytes_per_s, row->gb_per_s * GB));
        assert_true(near(plan.time_s, plan.latency_s + 1 / row->gb_per_s));
    }
}

/* A node with two members and one with three make one ring over one NIC of three; a slow NIC gives
 * LL half; a tree has as many channels as NICs, of 23.6 and 17.8 GB/s of bus for 300 of port. */
static void test_other_ceilings(void **state)
{
    struct group_shape shape = shape_of(2, 3);
    struct collective_plan plan;
    const struct collective_kind *ring = collective_find("ring"), *tree = collective_find("tree");
    shape.even = false;
    shape.ranks = 5;
    assert_false(tree->carries(ALL_REDUCE, &shape));
    assert_true(ring->plan(ALL_REDUCE, &shape, 0, SIMPLE, &plan));
    assert_true(near(plan.cap_bytes_per_s, 50 / 1.6 * GB));
    assert_true(near(plan.latency_s, (8.4 + 6 * 4.4 + 2 * 19) * US));
    shape = shape_of(2, 1);
    shape.outside_bytes_per_s = 30 * GB;
    assert_true(ring->plan(ALL_REDUCE, &shape, 0, LL, &plan));
    assert_true(near(plan.cap_bytes_per_s, 15 * GB));
    for (uint32_t nodes = 2; nodes <= 3; nodes++) {
        shape = shape_of(nodes, 2);
        shape.rails = 2;
        assert_true(tree->plan(ALL_REDUCE, &shape, 0, SIMPLE, &plan));
        double channel = (nodes == 2 ? 23.6 : 17.8) / 300 * 400 / 2;
        assert_true(near(plan.cap_bytes_per_s, 2 * channel * GB));
    }
}

/* A payload of as much as fills, 2.35 MB for each member in a node, takes half of that longer under
 * Simple and LL128; 3 kB for each member make LL's steps inside take .55 us more. */
static void test_fill(void **state)
{
    const struct collective_kind *ring = collective_find("ring"), *tree = collective_find("tree");
    struct collective_plan plan, empty;
    for (uint32_t k = 1; k <= 3; k++) {
        struct group_shape shape = shape_of(3, k);
        double fill = 2.35e6 * k;
        for (int p = LL128; p <= SIMPLE; p++) {
            assert_true(ring->plan(ALL_REDUCE, &shape, 0, (enum protocol)p, &empty));
            assert_true(ring->plan(ALL_REDUCE, &shape, fill, (enum protocol)p, &plan));
            double more_s = k > 1 ? fill / 2 / plan.cap_bytes_per_s : 0.0;
            assert_true(near(plan.latency_s, empty.latency_s + more_s));
            assert_true(near(plan.time_s, plan.latency_s + fill / plan.cap_bytes_per_s));
        }
        assert_true(ring->plan(ALL_REDUCE, &shape, 0, LL, &empty));
        assert_true(ring->plan(ALL_REDUCE, &shape, 3000.0 * k, LL, &plan));
        double steps = 2 * (3 * k - 1) - 4;
        assert_true(near(plan.latency_s, empty.latency_s + steps * 0.55 * US));
        assert_true(tree->plan(ALL_REDUCE, &shape, 0, LL, &empty));
        assert_true(tree->plan(ALL_REDUCE, &shape, 3000.0 * k, LL, &plan));
        assert_true(near(plan.latency_s, empty.latency_s + 2 * (k - 1) * 0.55 * US));
    }
    struct group_shape shape = shape_of(1, 2);
    assert_true(collective_find("p2p")->plan(COMM_SEND, &shape, 2.35e6, SIMPLE, &plan));
    assert_true(near(plan.latency_s, 12.8 * US));
    assert_true(collective_find("direct")->plan(COMM_ALL_TO_ALL, &shape, 2.35e6, SIMPLE, &plan));
    assert_true(near(plan.latency_s, 47.4 * US));
}

/* Which operation runs by what, on a node of two and of three, on nodes of one, and of two. */
static void test_who_carries(void **state)
{
    static const char *const kinds[] = {"ring", "tree", "nvls", "hierarchical", "direct", "p2p"};
    static const struct {
        uint32_t nodes, per_node;
        const char *carries[COMM_RING_EXCHANGE + 1]; /* for each operation, letters of kinds */
    } rows[] = {
        {1, 2, {"r", "r", "r", "r", "d", "p", "r"}},  {1, 3, {"rn", "rn", "rn", "r", "d", "", "r"}},
        {2, 1, {"rt", "r", "r", "r", "d", "p", "r"}}, {3, 1, {"rt", "r", "r", "r", "d", "", "r"}},
        {3, 2, {"rth", "r", "r", "r", "d", "", "r"}},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct group_shape shape = shape_of(rows[i].nodes, rows[i].per_node);
        struct group_shape uneven = shape, plain = shape;
        uneven.even = false;
        plain.nvls = false;
        for (int op = 0; op <= COMM_RING_EXCHANGE; op++) {
            for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                const struct collective_kind *kind = collective_find(kinds[k]);
                bool carries = strchr(rows[i].carries[op], kinds[k][0]) != NULL;
                assert_int_equal(kind->carries((enum comm_op)op, &shape), carries);
                bool even = kinds[k][0] == 't' || kinds[k][0] == 'h';
                bool in_switch = kinds[k][0] == 'n' || kinds[k][0] == 'h';
                assert_int_equal(kind->carries((enum comm_op)op, &uneven), carries && !even);
                assert_int_equal(kind->carries((enum comm_op)op, &plain), carries && !in_switch);
            }
        }
    }
    assert_null(collective_find("butterfly"));
}

enum {
    MEMBERS = 6
};
struct wires {
    double weight[MEMBERS][MEMBERS];
};

static void add_wire(void *context, uint32_t from, uint32_t to, double weight)
{
    struct wires *wires = context;
    assert_true(from < MEMBERS && to < MEMBERS);
    wires->weight[from][to] += weight;
}

/* Payloads on each wire: row from, column to. */
struct wire_row {
    const char *kind;
    enum comm_op op;
    uint32_t nodes, per_node;
    bool uneven;
    double unit; /* of the figures below */
    double weight[MEMBERS][MEMBERS];
};
static const struct wire_row wire_rows[] = {
    {"ring", ALL_REDUCE, 1, 2, false, 1, {{0, 1}, {1, 0}}},
    {"ring", COMM_ALL_GATHER, 1, 3, false, 1 / 3.0, {{0, 2, 0}, {0, 0, 2}, {2, 0, 0}}},
    {"ring", COMM_BROADCAST, 1, 3, false, 1, {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}},
    {"ring", ALL_REDUCE, 3, 1, false, 1 / 3.0, {{0, 4, 0}, {0, 0, 4}, {4, 0, 0}}},
    /* Two rings, one over each NIC: 5/3 of the payload cross a border, half of it on each. */
    {"ring",
     ALL_REDUCE,
     3,
     2,
     false,
     5 / 6.0,
     {{0, 1, 1},
      {1, 0, 0, 1},
      {0, 0, 0, 1, 1},
      {0, 0, 1, 0, 0, 1},
      {1, 0, 0, 0, 0, 1},
      {0, 1, 0, 0, 1}}},
    {"ring", COMM_RING_EXCHANGE, 2, 2, false, 3 / 4.0, {{0, 1}, {0, 0, 1}, {0, 0, 0, 1}, {1}}},
    {"ring", ALL_REDUCE, 2, 2, true, 3 / 2.0, {{0, 1}, {0, 0, 1}, {0, 0, 0, 1}, {1}}},
    /* Edges 1-2 and 2-0 of the first tree, shifted by one 2-0 and 0-1 of the second. */
    {"tree", ALL_REDUCE, 3, 1, false, 0.5, {{0, 1, 2}, {1, 0, 1}, {2, 1, 0}}},
    /* 1-2, 3-2, 2-0, and from the other end 2-1, 0-1, 1-3. */
    {"tree", ALL_REDUCE, 4, 1, false, 0.5, {{0, 1, 1}, {1, 0, 2, 1}, {1, 2, 0, 1}, {0, 1, 1}}},
    /* 1-2, 3-2, 2-4, 4-0, and 2-3, 4-3, 3-0, 0-1. */
    {"tree",
     ALL_REDUCE,
     5,
     1,
     false,
     0.5,
     {{0, 1, 0, 1, 1}, {1, 0, 1}, {0, 1, 0, 2, 1}, {1, 0, 2, 0, 1}, {1, 0, 1, 1}}},
    /* Chains 0-1 and 2-3 inside, both trees between the two nodes, half over each NIC. */
    {"tree", ALL_REDUCE, 2, 2, false, 0.5, {{0, 2, 1}, {2, 0, 0, 1}, {1, 0, 0, 2}, {0, 1, 2}}},
    {"nvls", ALL_REDUCE, 1, 3, false, 4 / 3.0, {{1}, {0, 1}, {0, 0, 1}}},
    {"nvls", COMM_ALL_GATHER, 1, 3, false, 1, {{1}, {0, 1}, {0, 0, 1}}},
    /* 3/2 through the switch, 4/3 out of a node, half of it on each NIC. */
    {"hierarchical",
     ALL_REDUCE,
     3,
     2,
     false,
     1 / 6.0,
     {{9, 0, 6},
      {0, 9, 0, 6},
      {0, 0, 9, 0, 6},
      {0, 0, 0, 9, 0, 6},
      {6, 0, 0, 0, 9},
      {0, 6, 0, 0, 0, 9}}},
    {"direct", COMM_ALL_TO_ALL, 1, 3, false, 1 / 3.0, {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}},
    {"p2p", COMM_SEND, 2, 1, false, 1, {{0, 1}}},
};

static void test_wires(void **state)
{
    for (unsigned i = 0; i < sizeof wire_rows / sizeof *wire_rows; i++) {
        const struct wire_row *row = &wire_rows[i];
        struct group_shape shape = shape_of(row->nodes, row->per_node);
        uint32_t node_of[MEMBERS];
        struct wires wires = {{{0}}};
        shape.even = !row->uneven;
        for (uint32_t m = 0; m < MEMBERS; m++)
            node_of[m] = m / row->per_node;
        collective_find(row->kind)->wires(row->op, &shape, node_of, add_wire, &wires);
        for (unsigned from = 0; from < MEMBERS; from++) {
            for (unsigned to = 0; to < MEMBERS; to++) {
                double expected = row->weight[from][to] * row->unit;
                assert_true(fabs(wires.weight[from][to] - expected) < 1e-12);
            }
        }
    }
}

/* What a port sends: 2(n-1)/n, (n-1)/n, 1; (n+1)/n through a reducing switch; 2 in a tree. */
static void test_port_weights(void **state)
{
    static const struct {
        const char *kind;
        enum comm_op op;
        uint32_t nodes, per_node;
        double weight;
    } rows[] = {
        {"ring", ALL_REDUCE, 1, 2, 1},
        {"ring", ALL_REDUCE, 1, 3, 4 / 3.0},
        {"ring", COMM_REDUCE_SCATTER, 1, 3, 2 / 3.0},
        {"ring", COMM_RING_EXCHANGE, 3, 1, 2 / 3.0},
        {"ring", COMM_BROADCAST, 1, 3, 1},
        {"tree", ALL_REDUCE, 2, 1, 1},
        {"tree", ALL_REDUCE, 3, 1, 2},
        {"tree", ALL_REDUCE, 2, 2, 2},
        {"nvls", ALL_REDUCE, 1, 3, 4 / 3.0},
        {"nvls", COMM_REDUCE_SCATTER, 1, 3, 1},
        {"hierarchical", ALL_REDUCE, 3, 2, 1.5},
        {"direct", COMM_ALL_TO_ALL, 3, 1, 2 / 3.0},
        {"p2p", COMM_SEND, 2, 1, 1},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct group_shape shape = shape_of(rows[i].nodes, rows[i].per_node);
        double weight = collective_find(rows[i].kind)->port_weight(rows[i].op, &shape);
        assert_true(near(weight, rows[i].weight));
    }
}

/* Lines latency + bytes / rate cross at difference of latencies / difference of 1 / rate; nodes of
 * one member have no other terms. */
struct line {
    const char *kind;
    enum protocol protocol;
    double latency_us, gb_per_s;
};

static void check_choices(uint32_t nodes, const struct line *lines, unsigned count)
{
    struct group_shape shape = shape_of(nodes, 1);
    for (unsigned i = 0; i + 1 < count; i++) {
        double bytes = (lines[i + 1].latency_us - lines[i].latency_us) * 1e3 /
                       (1 / lines[i].gb_per_s - 1 / lines[i + 1].gb_per_s);
        for (unsigned side = 0; side < 2; side++) {
            struct collective_plan plan;
            const struct line *line = &lines[i + side];
            double size = bytes * (side ? 1 + 1e-6 : 1 - 1e-6);
            collective_tune(ALL_REDUCE, &shape, size, &plan);
            assert_string_equal(plan.kind->head.name, line->kind);
            assert_int_equal(plan.protocol, line->protocol);
            assert_true(near(plan.time_s, line->latency_us * US + size / (line->gb_per_s * GB)));
        }
    }
}

static void test_where_the_tuner_changes(void **state)
{
    static const struct line two[] = {
        {"ring", LL, 15.6 + 2 * 7.7, 22.5},
        {"ring", LL128, 14 + 2 * 9, 46},
        {"ring", SIMPLE, 8.4 + 2 * 19, 50},
    };
    static const struct line nine[] = {
        {"tree", LL, 15.8 + 8 * 10, 22.5 / 2 * 0.92},
        {"tree", LL128, 14 + 8 * 13.5, 46 / 2.0 * 0.92},
        {"ring", LL128, 14 + 16 * 9, 46 * 9 / 16.0},
        {"ring", SIMPLE, 8.4 + 16 * 19, 50 * 9 / 16.0},
    };
    check_choices(2, two, 3);
    check_choices(9, nine, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latencies),
        cmocka_unit_test(test_pcie),
        cmocka_unit_test(test_ceilings),
        cmocka_unit_test(test_other_ceilings),
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_who_carries),
        cmocka_unit_test(test_wires),
        cmocka_unit_test(test_port_weights),
        cmocka_unit_test(test_where_the_tuner_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
