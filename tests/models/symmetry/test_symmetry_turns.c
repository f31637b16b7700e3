/* Replicas that can change places: how many of them fill whole nodes, what forbids it, and which
 * turns what is slow or worn sets apart. */
#include "models/symmetry/symmetry_state.h"
#include "sim/units.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

struct shape {
    uint64_t nodes, gpus, tp, pp, dp;
    const char *order;
    int placement;
    uint32_t turns, step; /* 1: nothing turns */
};
struct scene {
    struct arena *arena;
    struct configuration c;
    struct topology topology;
    struct layout layout;
    struct lowered lowered;
    struct real real;
};

static void build(struct scene *s, const struct shape *shape, double oversubscription)
{
    struct error error;
    *s = (struct scene){.arena = arena_create(), .c = lower_case()};
    lower_case_size(&s->c, shape->tp, 1, shape->dp, shape->pp, 1);
    s->c.layout.order = shape->order;
    s->c.layout.placement = shape->placement;
    struct topology_spec *cluster = &s->c.cluster;
    cluster->nodes = shape->nodes;
    cluster->node.gpus = cluster->node.nic.count = shape->gpus;
    cluster->node.kind = &topology_nvlink_island;
    cluster->node.pcie.bytes_per_s = 25 * GIGA;
    cluster->node.nic.efficiency_ratio = 1.0;
    cluster->fabric.kind = oversubscription > 1.0 ? &topology_fat_tree : &topology_rail;
    cluster->fabric.efficiency_ratio = 1.0;
    cluster->fabric.options = (struct kind_options){{32}}; /* nodes of a leaf, one spine */
    cluster->fabric.options.value[1] = 1;
    if (oversubscription > 1.0) /* tiers as needed, ports, over, at the core, no hashing */
        cluster->fabric.options = (struct kind_options){{0, 8, oversubscription, 1, 0}};
    assert_true(topology_build(s->arena, cluster, &s->topology, &error));
    layout_build(s->arena, &s->c, 1u << STREAM_TP | 1u << STREAM_DP, &s->layout);
    s->lowered = (struct lowered){.rank_count = s->layout.rank_count};
    s->lowered.program_of_rank = ARENA_ARRAY(s->arena, uint32_t, s->layout.rank_count);
    for (uint32_t rank = 0; rank < s->layout.rank_count; rank++)
        s->lowered.program_of_rank[rank] = layout_coordinates(&s->c, rank).pp;
    s->real = (struct real){.c = &s->c,
                            .topology = &s->topology,
                            .layout = &s->layout,
                            .lowered = &s->lowered,
                            .arena = s->arena};
    s->real.speed = ARENA_ARRAY(s->arena, double, s->topology.gpu_count);
    for (uint32_t gpu = 0; gpu < s->topology.gpu_count; gpu++)
        s->real.speed[gpu] = 1.0;
}

static void end(struct scene *s)
{
    arena_destroy(s->arena);
}

#define USUAL "tp-cp-dp-pp", PLACEMENT_PACKED

/* A turn is the fewest replicas that fill whole nodes; two of them at least. */
static const struct shape shapes[] = {
    {4, 4, 4, 1, 4, USUAL, 4, 1},
    {4, 4, 2, 1, 8, USUAL, 4, 2},
    {4, 4, 1, 1, 16, USUAL, 4, 4},
    {2, 8, 1, 1, 16, USUAL, 2, 8},
    {4, 4, 8, 1, 2, USUAL, 2, 1},
    {3, 4, 2, 1, 6, USUAL, 3, 2},
    {3, 2, 2, 1, 3, USUAL, 3, 1},
    {4, 4, 2, 2, 4, USUAL, 2, 2}, /* each stage has a node for two replicas */
    {4, 4, 4, 2, 2, USUAL, 2, 1},
    {4, 4, 2, 2, 4, "tp-cp-pp-dp", PLACEMENT_PACKED, 4, 1},
    {1, 4, 2, 1, 2, USUAL, 1, 0}, /* both in one node */
    {4, 4, 16, 1, 1, USUAL, 1, 0},
    {3, 4, 1, 1, 10, USUAL, 1, 0},                             /* the last node is half empty */
    {4, 4, 2, 1, 8, "tp-cp-dp-pp", PLACEMENT_SCATTERED, 1, 0}, /* every node has half of them */
};

static void test_turns(void **state)
{
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct scene s;
        build(&s, &shapes[i], 1.0);
        symmetry_find_shift(s.arena, &s.real);
        const struct shift *shift = &s.real.shift;
        if (shift->turns != shapes[i].turns || shift->step != shapes[i].step)
            fail_msg("row %u: %u turns of %u replicas", i, shift->turns, shift->step);
        for (uint32_t turn = 0; shift->turns > 1 && turn < shift->turns; turn++)
            assert_true(shift->signature[turn] == 0); /* they are alike */
        end(&s);
    }
}

/* Nothing turns where one rank of a later turn does other work, or where flows meet beyond the
 * NICs. */
static void test_what_forbids_turns(void **state)
{
    struct scene s;
    for (uint32_t rank = 0; rank < 16; rank++) {
        build(&s, &shapes[1], 1.0);
        s.lowered.program_of_rank[rank] = 1;
        symmetry_find_shift(s.arena, &s.real);
        assert_int_equal(s.real.shift.turns, 1);
        assert_int_equal(s.real.shift.rank_rows, 16);
        assert_null(s.real.shift.signature);
        end(&s);
    }
    build(&s, &shapes[1], 3.0);
    symmetry_find_shift(s.arena, &s.real);
    assert_int_equal(s.real.shift.turns, 1);
    end(&s);
}

struct spot { /* a card that is slow, or a link of it that is worn, in each turn but the first */
    enum link_kind link;
    bool slow;
    uint32_t places[3]; /* GPU, counted from the first of the turn */
    double ratios[3];
    bool alike[3]; /* second as third, third as fourth, second as fourth */
};

/* Turns are of one kind where the same places are the same: four turns of a node, or of two. */
static void test_what_sets_turns_apart(void **state)
{
    static const struct spot spots[] = {
        {LINK_NIC, false, {0, 3, 0}, {0.5, 0.5, 0.5}, {false, false, true}},
        {LINK_NIC, false, {2, 2, 2}, {0.5, 0.25, 0.5}, {false, false, true}},
        {LINK_NIC, false, {1, 1, 1}, {0.5, 0.5, 0.5}, {true, true, true}},
        {LINK_PCIE, false, {0, 3, 0}, {0.5, 0.5, 0.5}, {false, false, true}},
        {LINK_NVLINK, false, {1, 2, 1}, {0.5, 0.5, 0.5}, {false, false, true}},
        {LINK_NVLINK, false, {3, 3, 3}, {0.5, 0.5, 0.75}, {true, false, false}},
        {0, true, {0, 3, 0}, {0.7, 0.7, 0.7}, {false, false, true}},
        {0, true, {1, 1, 1}, {0.7, 0.8, 0.8}, {false, true, false}},
        {0, true, {2, 2, 2}, {0.7, 0.7, 0.7}, {true, true, true}},
    };
    static const struct shape wide = {8, 4, 8, 1, 4, USUAL, 4, 1};
    for (unsigned i = 0; i < sizeof spots / sizeof spots[0]; i++) {
        for (unsigned second = 0; second < 2; second++) { /* of two nodes the second is hit */
            const struct spot *spot = &spots[i];
            struct scene s;
            build(&s, second ? &wide : &shapes[0], 1.0);
            const uint32_t each = second ? 8 : 4;
            for (unsigned k = 0; k < 3; k++) {
                uint32_t gpu = (k + 1) * each + spot->places[k] + (second ? 4 : 0);
                if (spot->slow)
                    s.real.speed[gpu] = spot->ratios[k];
                else
                    assert_true(topology_degrade(&s.topology, gpu, spot->link, spot->ratios[k]) >
                                0);
            }
            symmetry_find_shift(s.arena, &s.real);
            const uint64_t *is = s.real.shift.signature;
            assert_int_equal(s.real.shift.turns, 4);
            assert_true(is[0] == 0 && is[1] != 0 && is[2] != 0 && is[3] != 0);
            assert_int_equal(is[1] == is[2], spot->alike[0]);
            assert_int_equal(is[2] == is[3], spot->alike[1]);
            assert_int_equal(is[1] == is[3], spot->alike[2]);
            symmetry_number_rows(s.arena, &s.real);
            const struct shift *shift = &s.real.shift;
            assert_int_equal(shift->first_like[1], 1);
            assert_int_equal(shift->first_like[2], spot->alike[0] ? 1 : 2);
            assert_int_equal(shift->first_like[3], spot->alike[2] ? 1 : spot->alike[1] ? 2 : 3);
            uint32_t kinds = 4, turns = 0;
            for (unsigned turn = 0; turn < 4; turn++) {
                kinds -= shift->first_like[turn] != turn;
                turns += shift->first_like[turn] == turn ? shift->alike[turn] : 0;
            }
            assert_int_equal(turns, 4);
            assert_int_equal(shift->rank_rows, kinds * each);
            end(&s);
        }
    }
}

/* Of the route between two GPUs, what binds, looked up. */
static void check_ends(const struct scene *s, const struct ends *ends, const struct end_pair *pair)
{
    const struct end_links *row = symmetry_ends(ends, pair);
    struct route route;
    uint32_t met = 0;
    topology_route(&s->topology, pair->from, pair->to, 0, &route);
    for (uint32_t i = 0; i < route.link_count; i++) {
        if (!s->topology.graph.types[route.types[i]].binding)
            continue;
        assert_true(met < row->count);
        const struct end_link *link = &row->links[met++];
        const uint32_t node = link->of_receiver ? pair->to_node : pair->from_node;
        const struct turned_link is = symmetry_first_at(ends, node, link->place);
        const struct turned_link real = symmetry_first_link(&s->real, route.links[i].value);
        assert_int_equal(is.link, real.link);
        assert_int_equal(is.turn, real.turn);
    }
    assert_int_equal(met, row->count);
}

/* With a worn NIC in one node, whose routes are asked for. */
static void test_links_of_ends_are_those_of_routes(void **state)
{
    unsigned pairs = 0;
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct scene s;
        build(&s, &shapes[i], 1.0);
        const uint32_t gpus = s.topology.gpu_count, worn = s.topology.node_count - 1;
        topology_degrade(&s.topology, gpus - 1, LINK_PCIE, 0.5);
        symmetry_find_shift(s.arena, &s.real);
        if (s.real.shift.turns > 1) {
            const struct ends *ends = symmetry_ends_create(s.arena, &s.real);
            for (uint32_t a = 0; a < gpus * gpus; a++) {
                const uint32_t from = a / gpus, to = a % gpus;
                const struct end_pair pair = {from, topology_node_of(&s.topology, from), to,
                                              topology_node_of(&s.topology, to)};
                if (pair.from_node == worn || pair.to_node == worn)
                    assert_null(symmetry_ends(ends, &pair));
                else
                    check_ends(&s, ends, &pair);
                pairs++;
            }
        }
        end(&s);
    }
    assert_true(pairs > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_what_forbids_turns),
        cmocka_unit_test(test_what_sets_turns_apart),
        cmocka_unit_test(test_links_of_ends_are_those_of_routes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
