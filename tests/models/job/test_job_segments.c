/* Undisturbed stretches save by save against their closed form, and steps by ones and by many while
 * copies are written. */
#include <math.h>

#include "models/job/parts/job_speed.h"
#include "models/job/parts/job_steps.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    INTERVAL = 12,
    REPLICAS = 4,
    SAVES = 40,
    SEEDS = 500
};
static const double STEP_S = 5.0;

static double roll(uint64_t seed, uint64_t *thrown)
{
    return random_at(seed, (*thrown)++);
}

/* Levels from the fastest to the safest, each saved with those below it, all durable within a
 * segment. */
static void make_plan(struct checkpoint_plan *plan, uint64_t seed, uint64_t *thrown)
{
    uint64_t every = 1;
    double persist_s = 0.0;
    *plan = (struct checkpoint_plan){.level_count = 1 + (unsigned)(3.0 * roll(seed, thrown))};
    for (unsigned level = 0; level < plan->level_count; level++) {
        every *= level > 0 ? 1 + (uint64_t)(3.0 * roll(seed, thrown)) : 1;
        persist_s += 15.0 * roll(seed, thrown);
        plan->levels[level] = (struct checkpoint_level){.every = every,
                                                        .stall_s = 6.0 * roll(seed, thrown),
                                                        .persist_s = persist_s,
                                                        .slowdown_ratio = 1 + roll(seed, thrown)};
    }
}

/* What a save stalls, or adds to the steps after it: each level is written behind the one before
 * and takes 1 - 1 / slowdown of what the steps would have done meanwhile. */
static double save_costs_s(const struct checkpoint_plan *plan, uint64_t save, bool stall)
{
    double cost_s = 0.0, written_s = 0.0;
    for (unsigned level = 0; level < plan->level_count; level++) {
        const struct checkpoint_level *of = &plan->levels[level];
        double slowed_s = (of->persist_s - written_s) * (1.0 - 1.0 / of->slowdown_ratio);
        written_s = of->persist_s;
        if (save % of->every == 0)
            cost_s += stall ? of->stall_s : slowed_s;
    }
    return cost_s;
}

static void near(double value, double expected)
{
    assert_true(fabs(value - expected) <= 1e-9 * fmax(fabs(expected), 1.0));
}

/* T(j) save by save, what each of them reaches, and how many fit. */
static void follow(const struct leap *leap, const struct checkpoint_plan *plan, double wall_s,
                   double exposed_s)
{
    double at_s = leap->first_s, run_s = 0.0;
    uint64_t fit = 0;
    for (uint64_t j = 1; j <= SAVES; j++) {
        if (j > 1)
            run_s += INTERVAL * STEP_S + save_costs_s(plan, leap->saves + j - 1, false);
        at_s = leap->first_s + run_s + job_segments_stall_s(leap, j - 1);
        near(job_segments_begin_s(leap, j), at_s);
        near(job_segments_run_s(leap, j), run_s);
        double stall_s = save_costs_s(plan, leap->saves + j, true);
        near(job_segments_stall_s(leap, j) - job_segments_stall_s(leap, j - 1), stall_s);
        struct copy copy = job_segments_copy(leap, 0, j);
        uint64_t steps = leap->first_steps + (j - 1) * INTERVAL;
        assert_int_equal(copy.reached.steps, leap->now.steps + steps);
        assert_int_equal(copy.reached.progress, leap->now.progress + steps * leap->replicas_up);
        near(copy.reached.useful_s + copy.reached.degraded_s - leap->now.useful_s -
                 leap->now.degraded_s,
             leap->first_s - leap->at_s + run_s);
        double stalls_s = job_segments_stall_s(leap, j);
        double exposed = leap->segments->saves_exposed ? run_s + stalls_s : run_s;
        fit = run_s + stalls_s <= wall_s && exposed <= exposed_s ? j : fit;
    }
    if (fit >= 2) {
        assert_int_equal(job_segments_by(leap, SAVES, wall_s, exposed_s), fit);
        assert_int_equal(job_segments_by(leap, fit - 1, wall_s, exposed_s), fit - 1);
    }
}

static void test_save_by_save(void **state)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t thrown = 0;
        struct checkpoint_plan plan;
        struct job_segments segments;
        make_plan(&plan, seed, &thrown);
        job_segments_create(&segments, &plan, INTERVAL, REPLICAS, STEP_S, seed % 2 == 0);
        job_segments_condition(&segments, STEP_S);
        assert_true(segments.segment_s == INTERVAL * STEP_S);
        double at_s = 1000.0 * roll(seed, &thrown);
        struct leap leap = {.segments = &segments,
                            .now = {7, 5, 3.0, 2.0},
                            .at_s = at_s,
                            .segment_s = segments.segment_s,
                            .first_s = at_s + 3 * STEP_S,
                            .saves = (uint64_t)(20.0 * roll(seed, &thrown)),
                            .first_steps = 3,
                            .replicas_up = 1 + (uint32_t)(REPLICAS * roll(seed, &thrown))};
        follow(&leap, &plan, 3000.0 * roll(seed, &thrown), 3000.0 * roll(seed, &thrown));
    }
}

/* It does not hold where a copy is durable after the next save began, or levels are not nested. */
static void test_where_it_holds(void **state)
{
    struct checkpoint_plan plan = {.level_count = 2,
                                   .levels = {{.every = 2, .slowdown_ratio = 1.0},
                                              {.every = 4, .persist_s = 60, .slowdown_ratio = 1}}};
    struct job_segments segments;
    job_segments_create(&segments, &plan, INTERVAL, 1, STEP_S, true);
    job_segments_condition(&segments, 5.0); /* segments of 60 s */
    assert_true(segments.segment_s == 60.0);
    job_segments_condition(&segments, 4.9);
    assert_true(segments.segment_s == 0.0);
    plan.levels[1].every = 3;
    job_segments_create(&segments, &plan, INTERVAL, 1, STEP_S, true);
    job_segments_condition(&segments, 5.0);
    assert_true(segments.segment_s == 0.0);
}

/* A save at 100 of two levels: 2 s of stall, one is written until 112 at half speed, the other from
 * there until 122 at a quarter. From 102 on 10 s give 5 s of work, then 10 s give 2.5 s. */
static void test_speed_while_copies_are_written(void **state)
{
    static const struct job_observer nobody;
    struct arena *arena = arena_create();
    struct job_spec spec = {.steps = 100, .replicas = 1};
    struct job_segments segments;
    struct job_copies copies;
    struct job_steps steps;
    spec.checkpoint.keep = 1;
    spec.checkpoint.plan = (struct checkpoint_plan){
        .level_count = 2,
        .levels = {{.every = 1, .stall_s = 2.0, .persist_s = 10.0, .slowdown_ratio = 2.0},
                   {.every = 1, .persist_s = 20.0, .slowdown_ratio = 4.0}}};
    job_segments_create(&segments, &spec.checkpoint.plan, INTERVAL, 1, 1.0, true);
    job_copies_create(&copies, arena, &spec, &segments, &nobody);
    job_steps_create(&steps, &spec, 1.0, INTERVAL, NULL);
    near(job_copies_begin(&copies, &steps.now, 100.0, false), 2.0);
    near(job_speed_after(&copies, 102.0, 5.0), 112.0);
    near(job_speed_after(&copies, 102.0, 6.0), 116.0);
    near(job_speed_after(&copies, 102.0, 7.5), 122.0);
    near(job_speed_after(&copies, 102.0, 10.0), 124.5);
    near(job_speed_work_s(&copies, 104.0, 116.0), 4.0 + 1.0);

    job_steps_origin(&steps, 102.0);
    assert_int_equal(job_steps_by(&steps, &copies, 10, 115.9), 5);
    assert_int_equal(job_steps_by(&steps, &copies, 10, 116.0), 6); /* to the instant */
    struct job_steps by_ones = steps;
    double end_s = job_steps_take(&steps, &copies, 10, 102.0, 1), at_s = 102.0;
    for (unsigned i = 0; i < 10; i++)
        at_s = job_steps_take(&by_ones, &copies, 1, at_s, 1);
    assert_true(at_s == end_s);
    near(end_s, 124.5);
    assert_int_equal(steps.now.progress, 10);
    near(steps.now.useful_s, 10.0);
    near(steps.now.degraded_s, 12.5);
    near(by_ones.now.useful_s + by_ones.now.degraded_s, 22.5);
    near(job_steps_take_part(&steps, &copies, 124.5, 124.9, 1), 0.4);
    arena_destroy(arena);
}

/* 10 steps of 4 replicas are 40 replica-steps: with three of them up that is 14 steps. */
static void test_work_of_fewer_replicas(void **state)
{
    struct job_spec spec = {.steps = 10, .replicas = REPLICAS};
    struct job_steps steps;
    job_steps_create(&steps, &spec, STEP_S, 6, NULL);
    assert_int_equal(job_steps_to_finish(&steps, 4), 10);
    assert_int_equal(job_steps_to_finish(&steps, 3), 14);
    assert_int_equal(job_steps_saves_to_finish(&steps, 4), 1); /* after 6; after 10 it is done */
    assert_int_equal(job_steps_saves_to_finish(&steps, 3), 2);
    steps.now.progress = 37;
    assert_int_equal(job_steps_to_finish(&steps, 3), 1);
    assert_false(job_steps_done(&steps));
    struct ledger_mark to = {.progress = 17};
    steps.now.useful_s = 8.0;
    steps.now.degraded_s = 1.0;
    struct steps_lost lost = job_steps_go_back(&steps, &to);
    near(lost.lost_s, 9.0);
    near(lost.lost_steps, 5.0);
    assert_int_equal(steps.now.progress, 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_save_by_save),
                                       cmocka_unit_test(test_where_it_holds),
                                       cmocka_unit_test(test_speed_while_copies_are_written),
                                       cmocka_unit_test(test_work_of_fewer_replicas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
