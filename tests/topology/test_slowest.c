/* The slowest of hashed messages: what is expected of it against what `ecmp: 1` draws, cable by
 * cable, and how it moves with the cluster. */
#include <math.h>
#include <stdlib.h>

#include "tests/test.h"
#include "tests/topology/shapes.h"

enum {
    DRAWS = 60
};
struct fabric_case {
    const struct topology_kind *fabric;
    const char *width; /* option: NICs or nodes below a switch */
    double value;
    uint64_t nodes;
    uint32_t stride; /* nodes from a sender to its receiver */
};

static struct topology_spec spec_of(const struct fabric_case *k, bool drawn, uint64_t flows)
{
    struct topology_spec spec = shape_spec(&topology_nvlink_island, k->fabric, k->nodes, 1, 1);
    shape_option(&spec, k->width, k->value);
    shape_option(&spec, "ecmp", drawn);
    spec.fabric.routing = drawn ? ROUTING_ADAPTIVE : ROUTING_HASHED;
    spec.fabric.flows = flows;
    return spec;
}

static void build(struct arena *arena, const struct topology_spec *spec, struct topology *out)
{
    struct error error = {""};
    assert_true(topology_build(arena, spec, out, &error));
}

/* Flows on the fullest cable of the fabric, over those of a message: every node sends one message
 * to the node `stride` further on, split into so many flows. */
static double fullest_drawn(const struct topology *t, const struct fabric_case *k, uint64_t flows,
                            uint64_t seed)
{
    uint32_t *count = calloc(t->graph.link_count, sizeof *count), most = 0;
    for (uint32_t node = 0; node < t->node_count; node++) {
        for (uint64_t flow = 0; flow < flows; flow++) {
            struct route route;
            topology_route(t, node, (node + k->stride) % t->node_count, seed * flows + flow,
                           &route);
            for (uint32_t i = 0; i < route.link_count; i++)
                if (t->graph.types[route.types[i]].kind == LINK_FABRIC)
                    count[route.links[i].value]++;
        }
    }
    for (uint32_t i = 0; i < t->graph.link_count; i++)
        most = count[i] > most ? count[i] : most;
    free(count);
    return fmax((double)most / (double)flows, 1.0);
}

/* Part of the nodes whose message leaves its leaf. */
static double leaving(const struct topology *t, const struct fabric_case *k)
{
    uint32_t count = 0;
    struct path_choice tiers[PATH_CHOICE_MAX];
    for (uint32_t node = 0; node < t->node_count; node++)
        count += topology_choices(t, node, (node + k->stride) % t->node_count, tiers) > 0;
    return (double)count / t->node_count;
}

static double expected(const struct topology *t, uint32_t from, uint32_t to, uint64_t flows,
                       double sending_ratio)
{
    struct path_choice tiers[PATH_CHOICE_MAX];
    const unsigned count = topology_choices(t, from, to, tiers);
    return topology_slowest_ratio(tiers, count, (double)flows, sending_ratio);
}

/* The mean over draws, within the error of taking cables of one switch as independent. */
static void test_expected_is_the_mean_of_draws(void **state)
{
    static const uint64_t flows[] = {1, 2, 8};
    const struct fabric_case cases[] = {
        {&topology_rail, "nodes_per_leaf", 8, 64, 8},
        {&topology_rail, "nodes_per_leaf", 16, 128, 20},
        {&topology_rail, "nodes_per_leaf", 16, 128, 4},
        {&topology_fat_tree, "radix", 16, 64, 8},
        {&topology_fat_tree, "radix", 32, 256, 5},
        {&topology_fat_tree, "radix", 8, 128, 17}, /* three tiers */
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (unsigned f = 0; f < sizeof flows / sizeof flows[0]; f++) {
            const struct fabric_case *k = &cases[i];
            struct arena *arena = arena_create();
            struct topology drawn, hashed;
            const struct topology_spec draws = spec_of(k, true, flows[f]);
            const struct topology_spec expects = spec_of(k, false, flows[f]);
            build(arena, &draws, &drawn);
            build(arena, &expects, &hashed);
            double mean = 0.0;
            for (uint64_t seed = 1; seed <= DRAWS; seed++)
                mean += fullest_drawn(&drawn, k, flows[f], seed) / DRAWS;
            const uint32_t from = k->nodes > k->stride ? (uint32_t)k->value - 1 : 0;
            const double ratio =
                expected(&hashed, from, from + k->stride, flows[f], leaving(&hashed, k));
            if (!(fabs(ratio / mean - 1.0) < 0.08))
                fail_msg("case %u, %u flows: %g expected, %g drawn", i, (unsigned)flows[f], ratio,
                         mean);
            arena_destroy(arena);
        }
    }
}

/* Nothing slows what stays below one switch or finds its way packet by packet; more flows spread
 * better; more senders and more switches make the fullest cable fuller. */
static void test_directions(void **state)
{
    double smaller = 0.0;
    for (uint64_t nodes = 64; nodes <= 1024; nodes *= 2) {
        const struct fabric_case k = {&topology_rail, "nodes_per_leaf", 32, nodes, 32};
        struct arena *arena = arena_create();
        double fewer_flows = INFINITY, fewer_senders = 0.0;
        struct topology t;
        for (uint64_t flows = 1; flows <= 64; flows *= 4) {
            const struct topology_spec spec = spec_of(&k, false, flows);
            build(arena, &spec, &t);
            const double now = expected(&t, 0, 32, flows, 1.0);
            assert_true(now > 1.0 && now < fewer_flows);
            fewer_flows = now;
            if (flows == 1) {
                assert_true(now > smaller);
                smaller = now;
            }
        }
        for (double senders = 1.0 / 32; senders <= 1.0; senders *= 2.0) {
            const double now = expected(&t, 0, 32, 1, senders);
            assert_true(now >= fewer_senders);
            fewer_senders = now;
        }
        assert_true(expected(&t, 0, 31, 1, 1.0) == 1.0);
        arena_destroy(arena);
    }
}

/* Collisions are drawn or expected. */
static void test_not_both(void **state)
{
    const struct fabric_case k = {&topology_rail, "nodes_per_leaf", 8, 64, 8};
    struct topology_spec spec = spec_of(&k, true, 1);
    struct error error = {""};
    assert_true(topology_check(&spec, &error));
    spec.fabric.routing = ROUTING_HASHED;
    assert_false(topology_check(&spec, &error));
    assert_string_equal(error.text, "routing: hashed expects the collisions that ecmp: 1 draws by "
                                    "`seed`: give one of the two");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expected_is_the_mean_of_draws),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_not_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
