/* The optimum between saves: its closed form, the bounds of the search, and the law that no other
 * interval does better, whatever the scenario holds. */
#include <math.h>

#include "sim/units.h"
#include "tests/models/job/job_case.h"
#include "tests/test.h"

static double interval_of(const struct job_case *job, const char *kind)
{
    struct job_spec spec = job->spec;
    spec.causes = job->causes;
    spec.checkpoint.kind = checkpoint_find(kind);
    job_optimal_interval(&spec, job->conditions, 5, NULL);
    return spec.checkpoint.interval_s;
}

/* Three levels at each save, written one after the other: 10 s, then 20, then 30 beside steps that
 * are slowed to a half, a quarter, four fifths; the stalls count whole. */
static void test_cost_of_a_save(void **state)
{
    const double cost_s = 1.0 + 2.0 + 4.0 + 10 * 0.5 + 20 * 0.75 + 30 * 0.2;
    struct job_case job;
    job_case_make(&job, 1000 * HOUR, 10.0);
    job_case_save(&job, 0.0, 1.0, 10.0);
    struct checkpoint_plan *plan = &job.spec.checkpoint.plan;
    plan->level_count = 3;
    plan->levels[1] = plan->levels[2] = plan->levels[0];
    plan->levels[0].slowdown_ratio = 2.0;
    plan->levels[1].slowdown_ratio = 4.0;
    plan->levels[2].slowdown_ratio = 1.25;
    plan->levels[1].stall_s = 2.0;
    plan->levels[2].stall_s = 4.0;
    plan->levels[1].persist_s = 30.0;
    plan->levels[2].persist_s = 60.0;
    job.spec.checkpoint.job_mtbf_s = 5 * HOUR;
    job_case_fail(&job, 5 * HOUR);
    double expected_s = checkpoint_optimum_s(cost_s, 5 * HOUR);
    assert_true(fabs(interval_of(&job, "async") / expected_s - 1.0) < 1e-12);
    plan->levels[1].persist_s = 5.0; /* written before its turn: it adds nothing, the next 50 */
    expected_s = checkpoint_optimum_s(7.0 + 10 * 0.5 + 50 * 0.2, 5 * HOUR);
    assert_true(fabs(interval_of(&job, "async") / expected_s - 1.0) < 1e-12);
    job_case_free(&job);
}

/* No shorter than a step, no longer than the work; one save at the end where nothing fails; and
 * where the drives ask for a longer one, theirs. */
static void test_ends_of_the_interval(void **state)
{
    struct job_case job;
    job_case_make(&job, 600.0, 10.0);
    job_case_save(&job, 0.0, 8.0, 0.0);
    struct checkpoint_spec *checkpoint = &job.spec.checkpoint;
    job_case_fail(&job, 1e6);
    checkpoint->job_mtbf_s = 1e6;
    assert_true(interval_of(&job, "sync") == 600.0); /* the optimum is 4,000 s */
    checkpoint->job_mtbf_s = INFINITY;
    assert_true(interval_of(&job, "sync") == 600.0);
    job.spec.steps = 0;
    job.spec.duration_s = 700.0;
    assert_true(interval_of(&job, "sync") == 700.0);
    job.spec.duration_s = 5.0; /* less than a step */
    assert_true(interval_of(&job, "sync") == 10.0);
    checkpoint->job_mtbf_s = 3.0; /* the optimum is below it: a step */
    job.spec.duration_s = 700.0;
    assert_true(interval_of(&job, "sync") == 10.0);
    checkpoint->write_share_ratio = 0.25;
    checkpoint->plan.levels[0].wear_s = 8.0;
    assert_true(interval_of(&job, "sync") == 32.0);
    checkpoint->plan.levels[0].wear_s = 2.0; /* asks for 8 s: the step is longer */
    assert_true(interval_of(&job, "sync") == 10.0);
    checkpoint->interval_steps = 3; /* given: nothing is sought */
    assert_true(interval_of(&job, "sync") == 0.0);
    checkpoint->interval_steps = 0;
    checkpoint->plan.every_step = true;
    assert_true(interval_of(&job, "sync") == 0.0);
    checkpoint->plan.every_step = false;
    checkpoint->interval_s = 77.0;
    assert_true(interval_of(&job, "sync") == 77.0);
    job_case_free(&job);
}

/* An interval of time ends with the step in which it is over: that is how often the player saves,
 * and how far back what is kept reaches. */
static void test_whole_steps_between_saves(void **state)
{
    struct job_case job;
    job_case_make(&job, 9000.0, 10.0);
    job_case_save(&job, 25.0, 1.0, 0.0);
    struct job_spec *spec = &job.spec;
    assert_true(job_between_saves(&spec->checkpoint, 10.0) == 3);
    assert_true(job_between_saves_s(&spec->checkpoint, 10.0) == 30.0);
    assert_true(job_between_saves_s(&spec->checkpoint, 12.5) == 25.0);
    assert_true(job_between_saves_s(&spec->checkpoint, 40.0) == 40.0);
    struct job_result result;
    struct arena *arena = arena_create();
    job_run_in(arena, spec, job.conditions, 5, NULL, &result);
    assert_true(result.checkpoints == 299 || result.checkpoints == 300);
    struct failure_cause silent = {.name = "silent", .effect = EFFECT_CORRUPT};
    silent.detect.mean_s = 270.0;
    spec->causes = &silent;
    spec->cause_count = 1;
    spec->checkpoint.keep = 10;
    silent.unit = UNIT_JOB;
    silent.kind = failure_find("exponential");
    silent.mtbf_s = 9000.0;
    struct job_anew anew;
    const double each_s = job_between_saves_s(&spec->checkpoint, 10.0);
    assert_true(job_work_s(spec, 10.0) == 9000.0);
    assert_false(job_starts_anew(spec, each_s, 9000.0, &anew)); /* ten reach back 270 s at least */
    silent.detect.mean_s = 300.0;
    assert_true(job_starts_anew(spec, each_s, 9000.0, &anew));
    assert_ptr_equal(anew.cause, &silent);
    arena_destroy(arena);
    job_case_free(&job);
}

/* Where nothing fails, every save is one too many: the search ends at its upper bound, all of the
 * work. */
static void test_search_reaches_its_upper_end(void **state)
{
    struct job_case job;
    job_case_make(&job, 1e6, 1.0);
    job_case_save(&job, 0.0, 10.0, 0.0);
    job.spec.checkpoint.job_mtbf_s = 1e5;
    assert_true(interval_of(&job, "multi-level") == 1e6);
    struct checkpoint_plan *plan = &job.spec.checkpoint.plan;
    plan->level_count = 2; /* 5 s each time, 10 s each second time */
    plan->levels[1] = plan->levels[0];
    plan->levels[0].stall_s = 5.0;
    plan->levels[1].every = 2;
    assert_true(interval_of(&job, "async") == 1e6); /* no closed form where a level is seldom */
    plan->levels[1].every = 1;
    double both_s = checkpoint_optimum_s(15.0, 1e5);
    assert_true(fabs(interval_of(&job, "async") / both_s - 1.0) < 1e-12);
    job_case_free(&job);
}

/* A job that fails far more often than it was promised is best saved as often as it may be: a 64th
 * of the closed form, each step, each time that the storage is free again (a level of every second
 * save has two intervals). */
static void test_search_reaches_its_lower_end(void **state)
{
    static const struct {
        double work_s, closed_s, step_s, persist_s, every, lowest_s;
    } rows[] = {
        {6400, 1e6, 1, 0, 1, 100},        {6400, 1e6, 160, 0, 1, 160},
        {128000, 1600, 1, 1000, 1, 1000}, {128000, 1600, 1, 3000, 2, 1500},
        {128000, 1600, 1, 5000, 1, 5000},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct job_case job;
        job_case_make(&job, rows[i].work_s, rows[i].step_s);
        job_case_save(&job, 0.0, 0.001, 0.0);
        struct checkpoint_plan *plan = &job.spec.checkpoint.plan;
        plan->level_count = 2;
        plan->levels[1] = plan->levels[0];
        plan->levels[1].persist_s = rows[i].persist_s;
        plan->levels[1].every = (uint64_t)rows[i].every;
        double each_s = 0.001 + 0.001 / rows[i].every;
        job.spec.checkpoint.job_mtbf_s = rows[i].closed_s * rows[i].closed_s / (2.0 * each_s);
        job_case_fail(&job, 2000.0);
        double found_s = interval_of(&job, "multi-level");
        if (found_s < 0.999 * rows[i].lowest_s || found_s > 1.1 * rows[i].lowest_s)
            fail_msg("row %u: %.1f s, expected %.1f s", i, found_s, rows[i].lowest_s);
        job_case_free(&job);
    }
}

/* Wall time of a unit of work: `count` replications of the job, of `steps` steps, seeds 5, 6, ...
 */
struct search {
    struct job_case at;
    unsigned count;
    double best_s, best_wall_s;
};
static bool better(struct search *search, double interval_s)
{
    double wall_s = 0.0;
    search->at.spec.causes = search->at.causes;
    search->at.spec.checkpoint.interval_s = interval_s;
    for (unsigned i = 0; i < search->count; i++) {
        struct job_result result;
        if (search->best_s > 0.0) { /* longer than with the best is long enough */
            search->at.spec.duration_s = search->best_wall_s - wall_s;
            if (search->at.spec.duration_s <= 0.0)
                return false;
        }
        job_run(&search->at.spec, search->at.conditions, 5 + i, NULL, &result);
        wall_s += result.wall_s;
        if (!result.finished)
            return false;
    }
    if (search->best_s > 0.0 && wall_s >= search->best_wall_s)
        return false;
    search->best_s = interval_s;
    search->best_wall_s = wall_s;
    return true;
}

/* Octaves around the closed form, six down and the work up, then twelve golden sections, over 256
 * replications that share their seeds; two million failures are, for 34 intervals, 58,823 of each:
 * of a job that meets 2,000, 29 replications, and of one that meets more than all of them its
 * beginning. */
static void test_search_tries_what_it_promises(void **state)
{
    static const struct {
        double failures;
        unsigned up, replications;
        double share;
    } rows[] = {{20, 8, 256, 1.0},
                {50, 10, 256, 1.0},
                {2000, 15, (unsigned)(2e6 / 34 / 2000), 1.0},
                {1e5, 20, 1, 2e6 / 39 / 1e5}};
    const double golden = 2.0 / (1.0 + sqrt(5.0));
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct job_case job;
        const double work_s = rows[i].failures * 10000.0;
        job_case_make(&job, work_s, 0.1);
        job_case_save(&job, 0.0, 50.0, 0.0);
        job_case_fail(&job, 10000.0);
        job.spec.checkpoint.job_mtbf_s = 10000.0;
        struct search search = {.at = job, .count = rows[i].replications};
        search.at.spec.steps = (uint64_t)((double)job.spec.steps * rows[i].share);
        const double middle_s = checkpoint_optimum_s(50.0, 10000.0);
        for (int k = 0; k <= (int)rows[i].up; k++)
            better(&search, fmin(middle_s * exp2(k), work_s));
        for (int k = 1; k <= 6; k++)
            better(&search, middle_s / exp2(k));
        double best = log(search.best_s), left = best - log(2.0), right = best + log(2.0);
        for (unsigned k = 0; k < 12; k++) {
            const bool above = right - best > best - left;
            const double at = best + (1.0 - golden) * ((above ? right : left) - best);
            if (better(&search, exp(at))) {
                *(above ? &left : &right) = best;
                best = at;
            } else {
                *(above ? &right : &left) = at;
            }
        }
        double found_s = interval_of(&job, "multi-level");
        if (!(fabs(found_s / search.best_s - 1.0) <= 1e-9))
            fail_msg("row %u: %.9f s, expected %.9f s", i, found_s, search.best_s);
        job_case_free(&job);
    }
}

/* A job of 30 days that fails every 8 h, in the terms of each row. */
struct world {
    const char *name, *policy, *recovery;
    double found_after_s; /* silent corruption: mean until it is found; 0: none */
    int law;
    uint64_t keep, every; /* of the second level; 0: there is none */
    double stall_s, persist_s, unreadable;
    bool by_work, memory; /* to the end of 20 days' work; in memory that dies with its node */
    bool closed;          /* the closed form is the answer */
};
static const struct world worlds[] = {
    {"plain", "sync", "restart-in-place", 0, 0, 1, 0, 20, 0, 0, false, false, true},
    {"plain work", "sync", "restart-in-place", 0, 0, 1, 0, 20, 0, 0, true, false, true},
    {"fixed 2", "sync", "restart-in-place", DAY, DURATION_FIXED, 2, 0, 20, 0, 0, false, false,
     false},
    {"fixed 16", "sync", "restart-in-place", DAY, DURATION_FIXED, 16, 0, 20, 0, 0, false, false,
     false},
    {"fixed 256", "sync", "restart-in-place", DAY, DURATION_FIXED, 256, 0, 20, 0, 0, false, false,
     false},
    {"exponential 8", "async", "restart-in-place", 6 * HOUR, DURATION_EXPONENTIAL, 8, 0, 1, 30, 0,
     false, false, false},
    {"exponential 64", "async", "restart-in-place", 6 * HOUR, DURATION_EXPONENTIAL, 64, 0, 1, 30, 0,
     false, false, false},
    {"exponential work", "async", "restart-in-place", 6 * HOUR, DURATION_EXPONENTIAL, 64, 0, 1, 30,
     0, true, false, false},
    {"lognormal 256", "sync", "hot-spare", 6 * HOUR, DURATION_LOGNORMAL, 256, 0, 5, 0, 0, false,
     false, false},
    {"drain", "async", "restart-in-place", 0, 0, 1, 0, 0.01, 3000, 0, false, false, false},
    {"multi-level", "multi-level", "hot-spare", 0, 0, 1, 8, 2, 60, 0, false, true, false},
    {"multi-level, silent", "multi-level", "hot-spare", 12 * HOUR, DURATION_FIXED, 8, 8, 2, 60, 0,
     false, true, false},
    {"peer", "peer-memory", "wait-for-repair", 0, 0, 1, 100, 1, 20, 0, false, true, false},
    {"memory alone", "async", "hot-spare", 0, 0, 1, 0, 10, 0, 0, false, true, false},
    {"elastic", "sync", "elastic-shrink", 0, 0, 1, 0, 20, 0, 0, false, false, false},
    {"replicas", "sync", "replica-level", 0, 0, 1, 0, 20, 0, 0, false, false, false},
    {"unreadable", "sync", "restart-in-place", 0, 0, 16, 0, 20, 0, 0.3, false, false, false},
};
enum {
    WEEKS = 40 /* replications, of other seeds than those of the search */
};

static void make_world(const struct world *world, struct job_case *job)
{
    job_case_make(job, 20.0 * DAY, 30.0);
    job_case_nodes(job, 8, 8, world->recovery);
    job_case_save(job, 0.0, world->stall_s, world->persist_s);
    struct job_spec *spec = &job->spec;
    struct checkpoint_plan *plan = &spec->checkpoint.plan;
    spec->checkpoint.kind = checkpoint_find(world->policy);
    spec->checkpoint.keep = world->keep;
    spec->checkpoint.corrupt_ratio = world->unreadable;
    spec->recovery.spares = 2;
    spec->recovery.repair.mean_s = 6.0 * HOUR;
    spec->recovery.restart.links[LINK_START].mean_s = 5.0 * MINUTE;
    if (world->memory)
        plan->levels[0].survival = SURVIVES_PROCESS;
    if (world->every > 0) {
        plan->levels[plan->level_count++] =
            (struct checkpoint_level){.tier = "safe",
                                      .survival = SURVIVES_DOMAIN,
                                      .every = world->every,
                                      .persist_s = 2.0 * world->persist_s,
                                      .slowdown_ratio = 1.1,
                                      .load_s = 60.0};
    }
    if (!world->by_work) {
        spec->steps = 0;
        spec->duration_s = 30.0 * DAY;
    }
    struct failure_cause *node = job_case_fail(job, 8 * 16.0 * HOUR);
    node->unit = UNIT_NODE;
    job_case_fail(job, 16.0 * HOUR);
    spec->checkpoint.job_mtbf_s = 8.0 * HOUR;
    if (world->found_after_s > 0.0) {
        struct failure_cause *silent = job_case_fail(job, 3.0 * DAY);
        silent->effect = EFFECT_CORRUPT;
        silent->detect = (struct duration){world->law, world->found_after_s, 1.0};
        spec->checkpoint.job_mtbf_s = 1.0 / (1.0 / (8.0 * HOUR) + 1.0 / (3.0 * DAY));
    }
}

/* Kept steps a second of wall time, by seed. */
static void rates_of(const struct job_case *given, double interval_s, double *rates)
{
    struct job_case job = *given;
    struct arena *arena = arena_create();
    job.spec.causes = job.causes;
    job.spec.checkpoint.interval_s = interval_s;
    if (job.spec.duration_s == 0.0)
        job.spec.duration_s = 100.0 * DAY; /* of a hopeless one */
    for (unsigned i = 0; i < WEEKS; i++) {
        struct job_result result;
        job_run_in(arena, &job.spec, job.conditions, 1000 + i, NULL, &result);
        rates[i] = result.steps_completed / result.wall_s;
    }
    arena_destroy(arena);
}

static void compare(const struct world *world, double found_s, double factor, const double *best,
                    const double *other)
{
    double sum = 0.0, squares = 0.0;
    for (unsigned i = 0; i < WEEKS; i++)
        sum += best[i] - other[i];
    for (unsigned i = 0; i < WEEKS; i++)
        squares += pow(best[i] - other[i] - sum / WEEKS, 2.0);
    const double error = sqrt(squares / WEEKS / (WEEKS - 1));
    if (sum / WEEKS < -3.0 * error)
        fail_msg("%s: %.0f s, and %.3f times as much is better by %.5f +- %.5f steps a second",
                 world->name, found_s, factor, -sum / WEEKS, error);
}

/* With the same failures, which the search has not seen, none of eight intervals from a 30th to 30
 * times the optimum keeps more work by three standard errors of the difference. */
static void test_none_is_better(void **state)
{
    static const double factors[] = {1 / 30., 0.15, 0.4, 0.8, 1.25, 2.5, 8, 30};
    for (unsigned w = 0; w < sizeof worlds / sizeof worlds[0]; w++) {
        const struct world *world = &worlds[w];
        struct job_case job;
        double best[WEEKS], other[WEEKS];
        make_world(world, &job);
        struct job_spec spec = job.spec;
        spec.causes = job.causes;
        job_optimal_interval(&spec, job.conditions, 5, NULL);
        const double found_s = spec.checkpoint.interval_s;
        assert_int_equal(job_save_rule(&spec.checkpoint),
                         world->closed ? SAVE_optimum : SAVE_played);
        rates_of(&job, found_s, best);
        for (unsigned i = 0; i < sizeof factors / sizeof factors[0]; i++) {
            rates_of(&job, found_s * factors[i], other);
            compare(world, found_s, factors[i], best, other);
        }
        job_case_free(&job);
    }
}

/* The noise of steps, of mean 1, is not drawn: the same interval is found, in no more time. */
static void test_noise_is_not_searched(void **state)
{
    for (unsigned w = 0; w < sizeof worlds / sizeof worlds[0]; w += 4) {
        struct job_case job;
        make_world(&worlds[w], &job);
        const double found_s = interval_of(&job, worlds[w].policy);
        job.spec.step_noise_sigma = 0.5;
        assert_true(interval_of(&job, worlds[w].policy) == found_s);
        job_case_free(&job);
    }
}

static double optimum_of_silent(double keep, double found_after_s)
{
    struct world world = worlds[2];
    struct job_case job;
    world.keep = (uint64_t)keep;
    world.found_after_s = found_after_s;
    make_world(&world, &job);
    const double found_s = interval_of(&job, "sync");
    job_case_free(&job);
    return found_s;
}

/* What is found after a fixed day leaves a clean copy only where those that are kept reach back so
 * far, less what the job stood still meanwhile: the interval is bounded from below by that, and
 * where enough are kept the closed form is near. */
static void test_kept_copies_reach_back(void **state)
{
    const double closed_s = checkpoint_optimum_s(20.0, 1.0 / (1.0 / (8 * HOUR) + 1.0 / (3 * DAY)));
    for (double keep = 2; keep <= 64; keep *= 2) {
        const double found_s = optimum_of_silent(keep, DAY);
        assert_true(found_s * keep > 0.7 * DAY);
        assert_true(found_s * (keep - 1) < 1.1 * DAY || found_s < 1.5 * closed_s);
    }
    const double free_s = optimum_of_silent(1000, DAY);
    assert_true(free_s > 0.6 * closed_s && free_s < 1.6 * closed_s);
}

/* Who says when it saves, and how far apart. */
static void test_rules(void **state)
{
    struct checkpoint_spec spec = {.interval_s = 90.0};
    assert_int_equal(job_save_rule(&spec), SAVE_nothing);
    assert_true(job_between_saves_s(&spec, 10.0) == 0.0);
    spec.plan.level_count = 1;
    assert_int_equal(job_save_rule(&spec), SAVE_time);
    assert_true(job_between_saves_s(&spec, 10.0) == 90.0);
    assert_true(job_between_saves_s(&spec, 100.0) == 100.0);
    spec.found = INTERVAL_BY_FORMULA;
    assert_int_equal(job_save_rule(&spec), SAVE_optimum);
    spec.found = INTERVAL_BY_PLAYING;
    assert_int_equal(job_save_rule(&spec), SAVE_played);
    spec.floor_s = 90.0;
    assert_int_equal(job_save_rule(&spec), SAVE_floor);
    spec.interval_s = 0.0;
    assert_int_equal(job_save_rule(&spec), SAVE_open);
    assert_true(job_between_saves_s(&spec, 10.0) == 0.0);
    spec.interval_steps = 7;
    assert_int_equal(job_save_rule(&spec), SAVE_steps);
    assert_true(job_between_saves_s(&spec, 10.0) == 70.0);
    spec.plan.every_step = true;
    assert_int_equal(job_save_rule(&spec), SAVE_every_step);
    assert_true(job_between_saves_s(&spec, 10.0) == 10.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_of_a_save),
        cmocka_unit_test(test_ends_of_the_interval),
        cmocka_unit_test(test_whole_steps_between_saves),
        cmocka_unit_test(test_search_reaches_its_upper_end),
        cmocka_unit_test(test_search_reaches_its_lower_end),
        cmocka_unit_test(test_search_tries_what_it_promises),
        cmocka_unit_test(test_none_is_better),
        cmocka_unit_test(test_noise_is_not_searched),
        cmocka_unit_test(test_kept_copies_reach_back),
        cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
