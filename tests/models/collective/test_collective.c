/* Every collective kind over all small shapes: what its wires carry, and that its rate ceiling
 * never promises more than they can. */
#include <math.h>
#include <string.h>

#include "models/collective/collective_kind.h"
#include "sim/units.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

enum {
    MEMBER_MAX = 64
};
static const double slack = 1e-12;

struct load {
    uint32_t ranks, per_node;
    double in[MEMBER_MAX], port_out[MEMBER_MAX]; /* port_out: inside wires only */
    double border_out[MEMBER_MAX];               /* by node */
};

static void add_wire(void *context, uint32_t from, uint32_t to, double weight)
{
    struct load *load = context;
    assert_true(from < load->ranks && to < load->ranks && weight > 0);
    uint32_t node = from / load->per_node;
    load->in[to] += weight;
    if (node == to / load->per_node)
        load->port_out[from] += weight;
    else
        load->border_out[node] += weight;
}

static struct group_shape shape_of(uint32_t nodes, uint32_t per_node, bool nvls)
{
    return (struct group_shape){
        .ranks = nodes * per_node,
        .nodes = nodes,
        .ranks_per_node = per_node,
        .even = true,
        .nvls = nvls && per_node > 1,
        .nvls_ratio = 0.75,
        .nvls_channels = 16,
        .exchange_ratio = 0.77,
        .start_s = 16 * MICROSECOND,
        .inside.bytes_per_s = 450 * GIGA,
        .inside.latency_s = 1 * MICROSECOND,
        .outside_bytes_per_s = 50 * GIGA * per_node,
        .outside_latency_s = 2 * MICROSECOND,
        .inside.nvlink = true,
    };
}

static double most(const double *values, uint32_t count)
{
    double result = 0;
    for (uint32_t i = 0; i < count; i++)
        result = fmax(result, values[i]);
    return result;
}

typedef void check_fn(const struct collective_kind *kind, enum comm_op op,
                      const struct group_shape *shape, const struct load *load);

static void for_all(check_fn *check)
{
    uint32_t node_of[MEMBER_MAX];
    for (unsigned i = 0; i < collective_kind_count; i++) {
        for (int op = COMM_ALL_REDUCE; op <= COMM_RING_EXCHANGE; op++) {
            for (uint32_t nodes = 1; nodes <= 8; nodes++) {
                for (uint32_t k = 1; k <= 8; k++) {
                    struct group_shape shape = shape_of(nodes, k, true);
                    const struct collective_kind *kind = collective_kinds[i];
                    if (shape.ranks < 2 || !kind->carries((enum comm_op)op, &shape))
                        continue;
                    for (uint32_t m = 0; m < shape.ranks; m++)
                        node_of[m] = m / k;
                    struct load load = {.ranks = shape.ranks, .per_node = k};
                    kind->wires((enum comm_op)op, &shape, node_of, add_wire, &load);
                    check(kind, (enum comm_op)op, &shape, &load);
                }
            }
        }
    }
}

/* Wires of one weight between all pairs. */
struct all_pairs {
    double weight;
    uint32_t ranks;
    unsigned met[MEMBER_MAX * MEMBER_MAX];
};

static void meet_pair(void *context, uint32_t from, uint32_t to, double weight)
{
    struct all_pairs *pairs = context;
    assert_true(weight == pairs->weight);
    pairs->met[from * pairs->ranks + to]++;
}

static void check_exchange(const struct collective_kind *kind, enum comm_op op,
                           const struct group_shape *shape, const struct load *load)
{
    static struct all_pairs pairs;
    uint32_t node_of[MEMBER_MAX];
    (void)load;
    if (kind->exchange_weight == NULL)
        return;
    pairs = (struct all_pairs){kind->exchange_weight(op, shape), shape->ranks, {0}};
    for (uint32_t m = 0; m < shape->ranks; m++)
        node_of[m] = m / shape->ranks_per_node;
    kind->wires(op, shape, node_of, meet_pair, &pairs);
    for (uint32_t i = 0; i < shape->ranks; i++)
        for (uint32_t j = 0; j < shape->ranks; j++)
            assert_int_equal(pairs.met[i * shape->ranks + j], i != j);
}

static void test_an_exchange_joins_all_pairs(void **state)
{
    assert_non_null(collective_direct.exchange_weight);
    for_all(check_exchange);
}

/* Information bound: who did not have a byte must receive it. */
static void check_received(const struct collective_kind *kind, enum comm_op op,
                           const struct group_shape *shape, const struct load *load)
{
    (void)kind;
    double n = shape->ranks;
    double needed = (n - 1) / n;
    for (uint32_t m = 0; m < shape->ranks; m++) {
        if (op == COMM_SEND)
            needed = m == 1 ? 1.0 : 0.0;
        /* A tree or hierarchy hands pieces on inside the node: the bound holds for nodes. */
        assert_true(load->in[m] >= needed / shape->ranks_per_node - slack);
        if (shape->nodes == 1)
            assert_true(load->in[m] >= needed - slack);
    }
}

static void check_ceiling(const struct collective_kind *kind, enum comm_op op,
                          const struct group_shape *shape, const struct load *load)
{
    double port = most(load->port_out, shape->ranks);
    double border = most(load->border_out, shape->nodes);
    for (int p = 0; p < PROTOCOL_COUNT; p++) {
        struct collective_plan plan;
        if (!kind->plan(op, shape, 1e6, (enum protocol)p, &plan))
            continue;
        assert_true(plan.latency_s > 0);
        assert_true(plan.cap_bytes_per_s * port <= shape->inside.bytes_per_s * (1 + slack));
        assert_true(plan.cap_bytes_per_s * border <= shape->outside_bytes_per_s * (1 + slack));
    }
}

static void check_port(const struct collective_kind *kind, enum comm_op op,
                       const struct group_shape *shape, const struct load *load)
{
    double port = most(load->port_out, shape->ranks);
    if (shape->nodes == 1)
        assert_true(fabs(port - kind->port_weight(op, shape)) < slack);
}

/* Latency grows with the payload, never by more than the payload's own time under Simple and LL128,
 * and within a bound: so time per byte falls and large payloads reach the ceiling, which is one for
 * all payloads, or (in-switch reduction, whose chunks grow) higher for larger ones. */
static void check_fill(const struct collective_kind *kind, enum comm_op op,
                       const struct group_shape *shape, const struct load *load)
{
    (void)load;
    for (int p = 0; p < PROTOCOL_COUNT; p++) {
        struct collective_plan empty, last, plan;
        if (!kind->plan(op, shape, 0.0, (enum protocol)p, &empty))
            continue;
        last = empty;
        for (double bytes = KIB; bytes <= 64 * GIB; bytes *= 2) {
            assert_true(kind->plan(op, shape, bytes, (enum protocol)p, &plan));
            double fill_s = plan.latency_s - empty.latency_s;
            assert_true(plan.latency_s >= last.latency_s);
            if (kind == &collective_nvls)
                assert_true(plan.cap_bytes_per_s >= last.cap_bytes_per_s);
            else
                assert_true(plan.cap_bytes_per_s == empty.cap_bytes_per_s);
            assert_true(p == PROTOCOL_LL || fill_s <= bytes / plan.cap_bytes_per_s * (1 + slack));
            assert_true(plan.time_s / bytes <= last.time_s / (bytes / 2) * (1 + slack));
            last = plan;
        }
        assert_true(last.latency_s - empty.latency_s <= 0.01 * last.time_s);
    }
}

static void test_fill(void **state)
{
    for_all(check_fill);
}

/* A transport's bulk latency: in each step between nodes, and not for LL. Four nodes: a ring
 * crosses a border 2 x 3 times, trees go 2 levels up and 2 down. */
static void test_bulk_latency(void **state)
{
    static const char *const names[] = {"ring", "tree", "hierarchical", "nvls"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        for (int p = 0; p < PROTOCOL_COUNT; p++) {
            const struct collective_kind *kind = collective_find(names[i]);
            struct group_shape shape = shape_of(strcmp(names[i], "nvls") == 0 ? 1 : 4, 8, true);
            struct collective_plan without, with;
            if (!kind->plan(COMM_ALL_REDUCE, &shape, 1 * MIB, (enum protocol)p, &without))
                continue;
            shape.transport_bulk_s = 1 * MILLISECOND;
            assert_true(kind->plan(COMM_ALL_REDUCE, &shape, 1 * MIB, (enum protocol)p, &with));
            double steps = i == 0 ? 6 : shape.nodes > 1 ? 4 : 0;
            double added_s = p != PROTOCOL_LL ? steps * MILLISECOND : 0;
            assert_true(fabs(with.latency_s - without.latency_s - added_s) < 1e-12);
        }
    }
}

/* A group takes at least as long as the part of it that one node holds: H100 and B200 nodes with
 * NICs from slow to as fast as NVLink, and a rack; also where no switch reduces. */
static void test_more_nodes_never_faster(void **state)
{
    static const struct {
        uint32_t members, channels;
        double ratio, port, step_s;
    } nodes[] = {{8, 16, 0.749, 450 * GIGA, 0},
                 {4, 16, 0.749, 450 * GIGA, 0},
                 {8, 24, 0.652, 900 * GIGA, 5.2 * MICROSECOND},
                 {72, 24, 0.652, 900 * GIGA, 5.2 * MICROSECOND},
                 {8, 0, 0, 300 * GIGA, 0}};
    static const enum comm_op ops[] = {COMM_ALL_REDUCE, COMM_ALL_GATHER, COMM_REDUCE_SCATTER,
                                       COMM_BROADCAST};
    for (unsigned i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        for (double nic = 25 * GIGA; nic <= nodes[i].port; nic *= 2) {
            for (uint32_t count = 2; count <= 32; count += count < 4 ? 1 : count) {
                struct group_shape one = shape_of(1, nodes[i].members, true);
                one.nvls_channels = nodes[i].channels;
                one.nvls_ratio = nodes[i].ratio;
                one.inside.bytes_per_s = nodes[i].port;
                one.inside.one_node_s = nodes[i].step_s;
                one.nvls = nodes[i].channels > 0;
                struct group_shape many = one;
                one.inside.latency_s += nodes[i].step_s;
                many.nodes = count;
                many.ranks *= count;
                many.outside_bytes_per_s = nic * many.ranks_per_node;
                for (unsigned op = 0; op < sizeof ops / sizeof *ops; op++) {
                    for (double bytes = KIB; bytes <= 64 * GIB; bytes *= 1.7) {
                        struct collective_plan in_one, in_many;
                        collective_tune(ops[op], &one, bytes, &in_one);
                        collective_tune(ops[op], &many, bytes, &in_many);
                        assert_true(in_many.time_s >= in_one.time_s);
                        double ended_s = in_many.latency_s + bytes / in_many.cap_bytes_per_s;
                        assert_true(fabs(in_many.time_s - ended_s) <= slack * ended_s);
                    }
                }
            }
        }
    }
}

static void test_received(void **state)
{
    for_all(check_received);
}

static void test_ceiling(void **state)
{
    for_all(check_ceiling);
}

static void test_port(void **state)
{
    for_all(check_port);
}

/* The ring's border carries what the textbook says, spread evenly over its NICs. */
static void test_ring_border(void **state)
{
    uint32_t node_of[MEMBER_MAX] = {0};
    struct group_shape shape = shape_of(4, 8, false);
    struct load load = {.ranks = 32, .per_node = 8};
    collective_find("ring")->wires(COMM_ALL_REDUCE, &shape, node_of, add_wire, &load);
    for (uint32_t node = 0; node < 4; node++)
        assert_true(fabs(load.border_out[node] - 2.0 * 31 / 32) < slack);
}

/* In an exchange each of n blocks visits the n - 1 others: a port sends what an all-gather of the
 * same buffer sends, (n - 1)/n of it, in n - 1 steps; of two members each sends one block. */
static void test_ring_exchange(void **state)
{
    const struct collective_kind *ring = collective_find("ring");
    for (uint32_t k = 2; k <= 8; k++) {
        struct group_shape shape = shape_of(1, k, false);
        uint32_t node_of[MEMBER_MAX] = {0};
        struct load load = {.ranks = k, .per_node = k};
        struct collective_plan gather, exchange;
        ring->wires(COMM_RING_EXCHANGE, &shape, node_of, add_wire, &load);
        assert_true(fabs(most(load.port_out, k) - (k - 1.0) / k) < slack);
        assert_true(ring->plan(COMM_ALL_GATHER, &shape, 1e9, PROTOCOL_SIMPLE, &gather));
        assert_true(ring->plan(COMM_RING_EXCHANGE, &shape, 1e9, PROTOCOL_SIMPLE, &exchange));
        assert_true(exchange.time_s == gather.time_s);
    }
}

static void test_tuner_is_the_minimum(void **state)
{
    for (uint32_t nodes = 1; nodes <= 16; nodes *= 2) {
        struct group_shape shape = shape_of(nodes, 4, nodes != 4);
        double last = 0;
        for (double bytes = 8; bytes < 16 * GIB; bytes *= 2) {
            struct collective_plan best, other;
            collective_tune(COMM_ALL_REDUCE, &shape, bytes, &best);
            assert_true(best.time_s >= last);
            last = best.time_s;
            for (unsigned i = 0; i < collective_kind_count; i++) {
                for (int p = 0; p < PROTOCOL_COUNT; p++) {
                    const struct collective_kind *kind = collective_kinds[i];
                    if (kind->carries(COMM_ALL_REDUCE, &shape) &&
                        kind->plan(COMM_ALL_REDUCE, &shape, bytes, (enum protocol)p, &other))
                        assert_true(best.time_s <= other.time_s);
                }
            }
        }
    }
}

/* Small messages go by LL, large ones by Simple; a tree beats the ring on many nodes when small. */
static void test_tuner_chooses_as_nccl_does(void **state)
{
    struct collective_plan plan;
    struct group_shape one = shape_of(1, 8, false), many = shape_of(32, 8, false);
    collective_tune(COMM_ALL_REDUCE, &one, 1024, &plan);
    assert_int_equal(plan.protocol, PROTOCOL_LL);
    collective_tune(COMM_ALL_REDUCE, &one, 1 * GIB, &plan);
    assert_int_equal(plan.protocol, PROTOCOL_SIMPLE);
    assert_string_equal(plan.kind->head.name, "ring");
    collective_tune(COMM_ALL_REDUCE, &many, 1024, &plan);
    assert_string_equal(plan.kind->head.name, "tree");
    one.nvls = true;
    collective_tune(COMM_ALL_REDUCE, &one, 1 * GIB, &plan);
    assert_string_equal(plan.kind->head.name, "nvls");
}

/* Between two nodes a tree's channels, one for each NIC, carry 23.6 GB/s of bus bandwidth on a port
 * of 300 (NCCL's tuning.cc): with 4 NICs 47.2 GB/s of payload, less than the ring, with 64 NICs
 * more than the wires. Without a count of rails nothing is known of channels. */
static void test_tree_is_bound_by_its_channels(void **state)
{
    const struct collective_kind *tree = collective_find("tree");
    struct group_shape shape = shape_of(2, 8, false);
    struct collective_plan free, bound, wide;
    shape.inside.bytes_per_s = 300 * GIGA;
    shape.outside_bytes_per_s = 93 * GIGA;
    assert_true(tree->plan(COMM_ALL_REDUCE, &shape, 1e9, PROTOCOL_SIMPLE, &free));
    shape.rails = 64;
    assert_true(tree->plan(COMM_ALL_REDUCE, &shape, 1e9, PROTOCOL_SIMPLE, &wide));
    assert_true(wide.cap_bytes_per_s == free.cap_bytes_per_s);
    shape.rails = 4;
    assert_true(tree->plan(COMM_ALL_REDUCE, &shape, 1e9, PROTOCOL_SIMPLE, &bound));
    assert_true(fabs(bound.cap_bytes_per_s - 47.2 * GIGA) < 1e-3 * GIGA);
    collective_tune(COMM_ALL_REDUCE, &shape, 1e9, &bound);
    assert_string_equal(bound.kind->head.name, "ring");
    shape.rails = 0;
    collective_tune(COMM_ALL_REDUCE, &shape, 1e9, &free);
    assert_string_equal(free.kind->head.name, "tree");
}

static double outside(const uint32_t *gpus, uint32_t count, uint64_t nics, bool pxn)
{
    struct arena *arena = arena_create();
    struct topology topology;
    struct error error;
    struct group_shape shape;
    const struct topology_spec spec = {
        .node = {.kind = topology_find(TOPOLOGY_NODE, "nvlink_island"),
                 .gpus = 8,
                 .nvlink.bytes_per_s = 300 * GIGA,
                 .pcie.bytes_per_s = 25 * GIGA,
                 .pcie.host_bytes_per_s = 16 * GIGA,
                 .nic.count = nics,
                 .nic.bytes_per_s = 20 * GIGA,
                 .nic.efficiency_ratio = 1},
        .fabric = {.kind = topology_find(TOPOLOGY_FABRIC, "rail"),
                   .efficiency_ratio = 1,
                   .options = {.value = {2, 1, 0, 0}}},
        .nodes = 2,
    };
    assert_true(topology_build(arena, &spec, &topology, &error));
    collective_shape(&topology, gpus, count, pxn, &shape);
    double rate = shape.outside_bytes_per_s;
    arena_destroy(arena);
    return rate;
}

/* Without PXN a group whose members share no NIC leaves its node through the CPUs, at its part of
 * their rate; whole nodes, single members and GPUs that have a NIC each do not. */
static void test_nics_of_others(void **state)
{
    static const uint32_t half[] = {0, 2, 4, 6, 8, 10, 12, 14}, pair[] = {1, 5, 9, 13},
                          beside[] = {2, 3, 10, 11}, single[] = {3, 11};
    assert_true(outside(half, 8, 4, true) == 80 * GIGA);
    assert_true(outside(half, 8, 4, false) == 8 * GIGA);
    assert_true(outside(pair, 4, 4, true) == 40 * GIGA);
    assert_true(outside(pair, 4, 4, false) == 4 * GIGA);
    assert_true(outside(beside, 4, 4, false) == outside(beside, 4, 4, true));
    assert_true(outside(single, 2, 4, false) == 20 * GIGA);
    assert_true(outside(half, 8, 8, false) == 80 * GIGA);
}

/* Messages and in-switch reduction know the Simple protocol alone. Where a node holds one member
 * its own wires, here slower than the NICs, bound nothing. */
static void test_simple_alone(void **state)
{
    static const struct {
        const char *kind;
        enum comm_op op;
        uint32_t nodes, per_node;
    } rows[] = {
        {"direct", COMM_ALL_TO_ALL, 3, 2},
        {"p2p", COMM_SEND, 2, 1},
        {"nvls", COMM_ALL_REDUCE, 1, 4},
        {"hierarchical", COMM_ALL_REDUCE, 3, 2},
    };
    struct collective_plan plan;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct group_shape shape = shape_of(rows[i].nodes, rows[i].per_node, true);
        const struct collective_kind *kind = collective_find(rows[i].kind);
        assert_false(kind->plan(rows[i].op, &shape, GIGA, PROTOCOL_LL, &plan));
        assert_false(kind->plan(rows[i].op, &shape, GIGA, PROTOCOL_LL128, &plan));
        assert_true(kind->plan(rows[i].op, &shape, GIGA, PROTOCOL_SIMPLE, &plan));
    }
    struct group_shape shape = shape_of(2, 1, false);
    shape.outside_bytes_per_s = 1000 * GIGA;
    assert_true(
        collective_find("direct")->plan(COMM_ALL_TO_ALL, &shape, GIGA, PROTOCOL_SIMPLE, &plan));
    assert_true(fabs(plan.cap_bytes_per_s - 2000 * GIGA) < slack * GIGA * 2000);
}

static void test_alone_costs_nothing(void **state)
{
    struct group_shape shape = shape_of(1, 1, false);
    struct collective_plan plan;
    collective_tune(COMM_ALL_REDUCE, &shape, 1 * GIB, &plan);
    assert_true(plan.time_s == 0 && plan.latency_s == 0 && isinf(plan.cap_bytes_per_s));
}

/* nccl-tests doc/PERFORMANCE.md. */
static void test_bus_factors(void **state)
{
    static const struct {
        enum comm_op op;
        double at_2, at_3, at_10;
    } rows[] = {
        {COMM_ALL_REDUCE, 1, 4 / 3.0, 1.8},
        {COMM_ALL_GATHER, 0.5, 2 / 3.0, 0.9},
        {COMM_REDUCE_SCATTER, 0.5, 2 / 3.0, 0.9},
        {COMM_ALL_TO_ALL, 0.5, 2 / 3.0, 0.9},
        {COMM_BROADCAST, 1, 1, 1},
        {COMM_SEND, 1, 1, 1},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(fabs(collective_bus_factor(rows[i].op, 2) - rows[i].at_2) < slack);
        assert_true(fabs(collective_bus_factor(rows[i].op, 3) - rows[i].at_3) < slack);
        assert_true(fabs(collective_bus_factor(rows[i].op, 10) - rows[i].at_10) < slack);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_exchange_joins_all_pairs),
        cmocka_unit_test(test_received),
        cmocka_unit_test(test_ceiling),
        cmocka_unit_test(test_port),
        cmocka_unit_test(test_bus_factors),
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_bulk_latency),
        cmocka_unit_test(test_more_nodes_never_faster),
        cmocka_unit_test(test_ring_border),
        cmocka_unit_test(test_ring_exchange),
        cmocka_unit_test(test_tuner_is_the_minimum),
        cmocka_unit_test(test_tuner_chooses_as_nccl_does),
        cmocka_unit_test(test_tree_is_bound_by_its_channels),
        cmocka_unit_test(test_nics_of_others),
        cmocka_unit_test(test_alone_costs_nothing),
        cmocka_unit_test(test_simple_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
