/* Bundles of small worlds by hand: two stages of two classes, whose pairs send on links of their
 * own. */
#include "models/symmetry/symmetry.h"
#include "tests/models/step/world.h"
#include "tests/test.h"

enum {
    CLASSES = 4
};

static void program(struct world *w)
{
    struct program_writer *p = program_begin(w->arena, w->lowered.program_count);
    world_transfers(p, 2);
    world_program(w, program_end(p));
}

/* Ranks 0 and 2 of the first stage, 1 and 3 of the second; pairs 0-1 and 2-3; links 0 and 1. */
static void begin(struct world *w, const uint64_t colours[CLASSES])
{
    world_begin(w);
    program(w);
    program(w);
    for (uint32_t r = 0; r < CLASSES; r++) {
        world_rank(w, r % 2, 1.0);
        w->symmetry.ranks[r].colour = w->symmetry.ranks[r].last_colour = colours[r];
    }
    for (uint32_t pair = 0; pair < 2; pair++) {
        const uint32_t ranks[] = {2 * pair, 2 * pair + 1};
        const struct wire wire = {world_link(w, 8.0), 1.0};
        world_group(w, STREAM_SEND_NEXT, 3, ranks, 2);
        world_plan(w, pair, 0, 16.0, 0.5, 8.0, 1.0, &wire, 1);
    }
}

static const uint64_t in_order[CLASSES] = {1, 2, 3, 4};

static void alike_pairs_are_one(void **state)
{
    struct world w;
    struct symmetry_bundles b;
    begin(&w, in_order);
    w.symmetry.ranks[2].rank_count = 5;
    assert_true(symmetry_bundle(w.arena, &w.symmetry, &w.lowered, &b));
    const struct symmetry *y = &b.symmetry;
    assert_int_equal(y->rank_class_count, 2);
    assert_int_equal(y->ranks[0].rank_count, w.symmetry.ranks[0].rank_count + 5);
    assert_int_equal(y->ranks[1].program, 1);
    for (uint32_t r = 0; r < CLASSES; r++)
        assert_int_equal(b.of_class[r], r % 2);
    assert_int_equal(y->group_class_count, 1);
    assert_int_equal(y->groups[0].group_count, 6);
    assert_int_equal(y->groups[0].party_count, 2);
    assert_false(y->groups[0].unnamed);
    assert_int_equal(y->link_class_count, 1);
    assert_int_equal(y->links[0].link_count, 2 * w.symmetry.links[0].link_count);
    assert_int_equal(y->plan_count, 1);
    assert_int_equal(y->plans[0].way_count, 1);
    assert_int_equal(y->plans[0].use_count, 1);
    assert_true(y->uses[y->plans[0].use_first].weight == 1.0);
    assert_int_equal(y->plan_of[y->parties[1].plan_first], 0);
    assert_int_equal(y->plan_of[y->parties[1].plan_first + 1], PLAN_NONE);
    world_end(&w);
}

/* A reduction of the first stage goes over the links of one pair: that link is another now, and
 * each plan has two ways. Of the loads of both pairs on one link the sum counts. */
static void unlike_loads_are_ways(void **state)
{
    struct world w;
    struct symmetry_bundles b;
    begin(&w, in_order);
    const uint32_t apart = world_link(&w, 8.0);
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t ranks[] = {2 * k};
        const struct wire wires[] = {{k == 0 ? 0 : apart, 0.5}, {apart, 0.25}};
        const uint32_t group = world_group(&w, STREAM_DP, 1, ranks, 1);
        world_plan(&w, group, 1, 16.0, 0.5, 8.0, 1.0, wires, 2);
    }
    assert_true(symmetry_bundle(w.arena, &w.symmetry, &w.lowered, &b));
    const struct symmetry *y = &b.symmetry;
    assert_int_equal(y->rank_class_count, 2);
    assert_int_equal(y->group_class_count, 2);
    assert_int_equal(y->link_class_count, 3);
    assert_int_equal(y->plans[0].way_count, 2);
    assert_int_equal(y->plans[1].way_count, 2);
    const struct way *ways = y->ways.rows + y->plans[1].way_first;
    assert_int_equal(ways[0].link_count, 2);
    assert_int_equal(ways[1].link_count, 1);
    assert_int_equal(y->ways.links[ways[1].link_first], 2);
    assert_int_equal(y->plans[1].use_count, 2);
    assert_int_equal(y->uses[y->plans[1].use_first + 1].link, 2);
    assert_true(y->uses[y->plans[1].use_first].weight == 0.5);
    assert_true(y->uses[y->plans[1].use_first + 1].weight == 1.0);
    world_end(&w);
}

static void names_are_of_all_members(void **state)
{
    static const struct {
        uint64_t colours[CLASSES];
        bool unnamed;
        uint64_t last[2];
    } cases[] = {
        {{1, 2, 3, 4}, false, {2, 3}}, {{1, 2, 4, 3}, true, {3, 2}}, {{2, 1, 4, 3}, false, {3, 2}},
        {{1, 4, 2, 3}, false, {1, 3}}, {{2, 4, 3, 1}, true, {2, 3}},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world w;
        struct symmetry_bundles b;
        begin(&w, cases[i].colours);
        assert_true(symmetry_bundle(w.arena, &w.symmetry, &w.lowered, &b));
        assert_true(b.symmetry.groups[0].unnamed == cases[i].unnamed);
        for (uint32_t k = 0; k < 2; k++)
            assert_int_equal(b.symmetry.ranks[k].last_colour, cases[i].last[k]);
        world_end(&w);
    }
}

/* Sender and receiver of one bundle: who is named last hangs on the pair. */
static void ends_of_one_bundle_are_unnamed(void **state)
{
    struct world w;
    struct symmetry_bundles b;
    begin(&w, in_order);
    for (uint32_t r = 0; r < CLASSES; r++)
        w.symmetry.ranks[r].program = 0;
    const uint32_t back[2][2] = {{1, 2}, {3, 0}};
    for (uint32_t pair = 0; pair < 2; pair++) {
        const struct wire wire = {world_link(&w, 8.0), 1.0};
        const uint32_t group = world_group(&w, STREAM_SEND_NEXT, 3, back[pair], 2);
        world_plan(&w, group, 0, 16.0, 0.5, 8.0, 1.0, &wire, 1);
    }
    assert_true(symmetry_bundle(w.arena, &w.symmetry, &w.lowered, &b));
    assert_int_equal(b.symmetry.rank_class_count, 1);
    assert_int_equal(b.symmetry.groups[0].party_count, 2);
    assert_true(b.symmetry.groups[0].unnamed);
    world_end(&w);
}

/* What is told at once is no bundle with what shares; neither are other bytes, ceilings, speeds,
 * or numbers of members. */
static void what_differs_stays_apart(void **state)
{
    for (unsigned what = 0; what < 7; what++) {
        struct world w;
        struct symmetry_bundles b;
        begin(&w, in_order);
        struct played_plan *plan = &w.symmetry.plans[1];
        plan->use_count = what == 0 ? 0 : 1;
        plan->bytes *= what == 1 ? 2.0 : 1.0;
        plan->cap_bytes_per_s *= what == 2 ? 2.0 : 1.0;
        plan->wire_weight *= what == 3 ? 2.0 : 1.0;
        plan->latency_s *= what == 4 ? 2.0 : 1.0;
        w.symmetry.ranks[2].speed_ratio *= what == 5 ? 2.0 : 1.0;
        w.symmetry.parties[w.symmetry.groups[1].party_first].member_count += what == 6;
        assert_false(symmetry_bundle(w.arena, &w.symmetry, &w.lowered, &b));
        world_end(&w);
    }
}

/* Three stages meet twice, and name each other differently: then the first of a stage would be. */
static void wide_meetings_want_names(void **state)
{
    for (unsigned crossed = 0; crossed < 2; crossed++) {
        const uint64_t crossing[CLASSES] = {1, 2, 4, 3};
        struct world w;
        struct symmetry_bundles b;
        begin(&w, crossed ? crossing : in_order);
        program(&w);
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t ranks[] = {2 * k, 2 * k + 1, world_rank(&w, 2, 1.0)};
            w.symmetry.ranks[ranks[2]].colour = w.symmetry.ranks[ranks[2]].last_colour = 10 + k;
            const uint32_t group = world_group(&w, STREAM_DP, 1, ranks, 3);
            world_plan(&w, group, 1, 16.0, 0.5, 8.0, 1.0, NULL, 0);
        }
        assert_true(symmetry_bundle(w.arena, &w.symmetry, &w.lowered, &b) == (crossed == 0));
        world_end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike_pairs_are_one),
        cmocka_unit_test(unlike_loads_are_ways),
        cmocka_unit_test(names_are_of_all_members),
        cmocka_unit_test(ends_of_one_bundle_are_unnamed),
        cmocka_unit_test(what_differs_stays_apart),
        cmocka_unit_test(wide_meetings_want_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
