/* Figures of a job of weeks, worked out on paper: the worst of many hours, cost and energy, many
 * slow units at a time, and the interval where it has a closed form or an end. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/units.h"
#include "tests/models/job/job_paper.h"

/* A hundred times 30 minutes of steps and a save of 3. Undisturbed, the worst hour holds two saves
 * whole: 3 + 30 + 3 minutes. A failure 15 minutes after the n-th save makes one idle stretch of the
 * save, those 15 minutes and a restart of 20; half an hour of steps on both sides is more than the
 * other 22. One that strikes twice in a row has two restarts. */
static void test_worst_of_many_hours(void **state)
{
    (void)state;
    static const struct {
        unsigned save;
        double again_min; /* 0: once */
        double idle_min;
    } rows[] = {{0, 0, 6}, {10, 0, 38}, {64, 0, 38}, {90, 0, 38}, {10, 5, 43}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct job_case job;
        struct job_result out;
        double at_s = (rows[i].save * 33.0 + 15.0) * MINUTE;
        const struct trace_event events[] = {{.at_s = at_s},
                                             {.at_s = at_s + rows[i].again_min * MINUTE}};
        job_case_make(&job, 100 * 30 * MINUTE, 10 * MINUTE);
        job_case_save(&job, 30 * MINUTE, 3 * MINUTE, 0.0);
        job.spec.recovery.restart.links[LINK_START].mean_s = 20 * MINUTE;
        uint32_t count = rows[i].save == 0 ? 0 : rows[i].again_min > 0.0 ? 2 : 1;
        job_case_trace(&job, events, count, UNIT_JOB);
        struct job_spec spec = job.spec;
        spec.causes = job.causes;
        for (unsigned step_by_step = 0; step_by_step <= 1; step_by_step++) {
            struct job_observer observer = {.step_by_step = step_by_step == 1, .worst_hour = true};
            job_run(&spec, job.conditions, 1, &observer, &out);
            job_case_check(&job, &out);
            job_paper_near(out.ettr_worst_hour, 1.0 - rows[i].idle_min / 60.0);
        }
        job_case_free(&job);
    }
}

/* A run of an hour to the second has one hour; a shorter one has none. */
static void test_worst_hour_of_short_runs(void **state)
{
    (void)state;
    const struct job_observer observer = {.worst_hour = true};
    for (unsigned steps = 5; steps <= 6; steps++) {
        struct job_case job;
        struct job_result out;
        job_case_make(&job, steps * 10 * MINUTE, 10 * MINUTE);
        job_run(&job.spec, job.conditions, 1, &observer, &out);
        assert_true(steps == 6 ? out.ettr_worst_hour == 1.0 : isnan(out.ettr_worst_hour));
        job_case_free(&job);
    }
}

/* Steps of 10 minutes, a save of 3 after each: an hour that begins with a save holds 5 of them
 * whole. One stop too many to be kept, and nothing is said. */
static void test_worst_hour_of_too_many_stops(void **state)
{
    (void)state;
    const struct job_observer observer = {.worst_hour = true};
    for (unsigned more = 0; more <= 1; more++) {
        struct job_case job;
        struct job_result out;
        const double steps = JOB_STRETCHES_MAX + more; /* the last is saved too */
        job_case_make(&job, steps * 10 * MINUTE, 10 * MINUTE);
        job_case_save(&job, 10 * MINUTE, 3 * MINUTE, 0.0);
        job_run(&job.spec, job.conditions, 1, &observer, &out);
        assert_int_equal(out.checkpoints, JOB_STRETCHES_MAX + more);
        if (more == 0)
            job_paper_near(out.ettr_worst_hour, 45.0 / 60.0);
        else
            assert_true(isnan(out.ettr_worst_hour));
        job_case_free(&job);
    }
}

/* Two nodes lose one of them at 60: 144 s, of which 80 are work and 12 are lost (the small job of
 * job_paper.h). Three spares are paid, and idle at a quarter of the power, where they are on; the
 * room for checkpoints costs 7 an hour. */
static void test_cost_and_energy(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        double cost_usd, energy_j;
    } rows[] = {
        {"hot-spare", (3.0 * 5 * 8 + 7) * 144 / 3600,
         1000.0 * (2 * 92 + 0.25 * (5 * 144 - 2 * 92))},
        {"cold-spare", (3.0 * 2 * 8 + 7) * 144 / 3600,
         1000.0 * (2 * 92 + 0.25 * (2 * 144 - 2 * 92))},
    };
    for (unsigned i = 0; i < 2; i++) {
        struct job_case job;
        struct job_result out;
        const struct trace_event event = {.at_s = 60, .repair_s = 900};
        job_paper_make(&job, 80.0);
        job_case_nodes(&job, 2, 1, rows[i].policy);
        job.spec.recovery.spares = 3;
        job.spec.gpu_hour_usd = 3.0;
        job.spec.storage_hour_usd = 7.0;
        job.spec.node_power_w = 1000.0;
        job.spec.idle_power_ratio = 0.25;
        job_case_trace(&job, &event, 1, UNIT_NODE);
        job_case_play(&job, 1, &out);
        job_paper_near(out.wall_s, 144.0);
        job_paper_near(out.cost_usd, rows[i].cost_usd);
        job_paper_near(out.energy_j, rows[i].energy_j);
        job_case_free(&job);
    }
}

/* Steps that a slow card draws out are at full power: 10 s, then 7 times 20; two saves of 8 s. */
static void test_energy_of_slow_steps(void **state)
{
    (void)state;
    struct job_case job;
    struct job_result out;
    const struct trace_event event = {.at_s = 5};
    job_paper_make(&job, 80.0);
    job.spec.node_power_w = 1000.0;
    job.spec.idle_power_ratio = 0.25;
    struct failure_cause *cause = job_case_trace(&job, &event, 1, UNIT_GPU);
    cause->effect = EFFECT_SLOW;
    cause->slow_ratio = 0.5;
    cause->detect.mean_s = 1e9;
    job_case_play(&job, 1, &out);
    job_paper_near(out.badput_s[BADPUT_degraded], 70.0);
    job_paper_near(out.wall_s, 166.0);
    job_paper_near(out.energy_j, 1000.0 * (150 + 0.25 * 16));
    assert_true(isnan(out.cost_usd));
    job_case_free(&job);
}

enum {
    MILD = 9 /* more units at a time than the list of faults begins with */
};

static void slow_units(struct job_case *job, const struct trace_event *events, uint32_t count,
                       double ratio, double time_s)
{
    struct failure_cause *cause = job_case_trace(job, events, count, UNIT_GPU);
    cause->effect = EFFECT_SLOW;
    cause->slow_ratio = ratio;
    cause->slow_time.mean_s = time_s;
    cause->detect.mean_s = 1e9;
}

/* One bad card among nine that are mildly slow sets the pace, whether it came first or last, until
 * it gets well; then they do. Ten steps of 10 s: the first is under way when all become slow; five
 * last 20 s, up to 110, and four 12.5 s. */
static void test_many_slow_units(void **state)
{
    (void)state;
    for (unsigned last = 0; last < 2; last++) {
        for (unsigned heals = 0; heals < 2; heals++) {
            struct trace_event bad = {.at_s = last ? 9.5 : 0.5, .unit = 15}, mild[MILD];
            struct job_case job;
            struct job_result out;
            for (uint32_t i = 0; i < MILD; i++)
                mild[i] = (struct trace_event){.at_s = 1.0 + i * 0.5, .unit = i};
            job_case_make(&job, 100.0, 10.0);
            job_case_nodes(&job, 2, 1, "restart-in-place");
            slow_units(&job, &bad, 1, 0.5, heals ? 100.0 - bad.at_s : 0.0);
            slow_units(&job, mild, MILD, 0.8, 0.0);
            job_case_play(&job, 1, &out);
            job_paper_near(out.wall_s, heals ? 110.0 + 4 * 12.5 : 10.0 + 9 * 20.0);
            job_case_free(&job);
        }
    }
}

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
    (void)state;
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
    (void)state;
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
    checkpoint->plan.levels[0].transfer_s = 8.0;
    assert_true(interval_of(&job, "sync") == 32.0);
    checkpoint->plan.levels[0].transfer_s = 2.0; /* asks for 8 s: the step is longer */
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

/* Where nothing fails, every save is one too many: the search ends at its upper bound, four times
 * the closed form (for the failures that the job was promised) or all of the work. */
static void test_search_reaches_its_upper_end(void **state)
{
    (void)state;
    struct job_case job;
    job_case_make(&job, 1e6, 1.0);
    job_case_save(&job, 0.0, 10.0, 0.0);
    job.spec.checkpoint.job_mtbf_s = 1e5;
    double middle_s = checkpoint_optimum_s(10.0, 1e5), found_s = interval_of(&job, "multi-level");
    assert_true(found_s < 4.0 * middle_s && found_s > 0.97 * 4.0 * middle_s);
    struct checkpoint_plan *plan = &job.spec.checkpoint.plan;
    plan->level_count = 2; /* 5 s each time, 10 s each second time */
    plan->levels[1] = plan->levels[0];
    plan->levels[0].stall_s = 5.0;
    plan->levels[1].every = 2;
    found_s = interval_of(&job, "async"); /* no closed form where a level is saved seldom */
    assert_true(found_s < 4.0 * middle_s && found_s > 0.94 * 4.0 * middle_s);
    plan->levels[1].every = 1;
    double both_s = checkpoint_optimum_s(15.0, 1e5);
    assert_true(fabs(interval_of(&job, "async") / both_s - 1.0) < 1e-12);
    plan->level_count = 1;
    plan->levels[0].stall_s = 10.0;
    job.spec.steps = (uint64_t)(2.0 * middle_s);
    found_s = interval_of(&job, "multi-level");
    assert_true(found_s < 2.0 * middle_s && found_s > 0.49 * 2.0 * middle_s); /* one save less */
    job_case_free(&job);
}

/* A job that fails far more often than it was promised is best saved as often as it may be: a 64th
 * of the closed form, each step, each time that the storage is free again (a level of every second
 * save has two intervals), and half of the upper bound where that is less. */
static void test_search_reaches_its_lower_end(void **state)
{
    (void)state;
    static const struct {
        double work_s, closed_s, step_s, persist_s, every, lowest_s;
    } rows[] = {
        {6400, 1e6, 1, 0, 1, 100},        {6400, 1e6, 160, 0, 1, 160},
        {128000, 1600, 1, 1000, 1, 1000}, {128000, 1600, 1, 3000, 2, 1500},
        {128000, 1600, 1, 5000, 1, 3200},
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
static double tried(const struct job_case *job, double log_interval, unsigned count, uint64_t steps)
{
    struct job_case at = *job;
    double wall_s = 0.0;
    at.spec.causes = at.causes;
    at.spec.steps = steps;
    at.spec.checkpoint.kind = checkpoint_find("multi-level");
    at.spec.checkpoint.interval_s = exp(log_interval);
    for (unsigned i = 0; i < count; i++) {
        struct job_result result;
        job_run(&at.spec, at.conditions, 5 + i, NULL, &result);
        wall_s += result.wall_s;
    }
    return wall_s;
}

/* The search is a golden section of 24 rounds over 64 replications that share their seeds; two
 * million failures, over 26 intervals, are 76,923 of each: of a job that meets 2,000, 38
 * replications, and of one that meets more than all of them its beginning. The bracket of those
 * 64, 38 or 1 replications alone ends where the search did. */
static void test_search_tries_what_it_promises(void **state)
{
    (void)state;
    static const struct {
        double failures;
        unsigned replications;
        uint64_t steps;
    } rows[] = {{20, 64, 2000000}, {50, 64, 5000000}, {2000, 38, 200000000}, {1e5, 1, 7692307692}};
    const double golden = 2.0 / (1.0 + sqrt(5.0));
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct job_case job;
        job_case_make(&job, rows[i].failures * 10000.0, 0.1);
        job_case_save(&job, 0.0, 50.0, 0.0);
        job_case_fail(&job, 10000.0);
        job.spec.checkpoint.job_mtbf_s = 10000.0;
        double middle_s = checkpoint_optimum_s(50.0, 10000.0);
        double low = log(middle_s / 64.0), high = log(4.0 * middle_s), cost[2] = {NAN, NAN};
        for (unsigned round = 0; round < 24; round++) {
            double inner[] = {high - golden * (high - low), low + golden * (high - low)};
            for (unsigned k = 0; k < 2; k++)
                if (isnan(cost[k]))
                    cost[k] = tried(&job, inner[k], rows[i].replications, rows[i].steps);
            bool goes_left = cost[0] <= cost[1];
            *(goes_left ? &high : &low) = inner[goes_left];
            cost[goes_left] = cost[!goes_left];
            cost[!goes_left] = NAN;
        }
        double found_s = interval_of(&job, "multi-level"), middle = exp(0.5 * (low + high));
        if (fabs(found_s / middle - 1.0) > 1e-9)
            fail_msg("row %u: %.9f s, expected %.9f s", i, found_s, middle);
        job_case_free(&job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worst_of_many_hours),
        cmocka_unit_test(test_worst_hour_of_short_runs),
        cmocka_unit_test(test_worst_hour_of_too_many_stops),
        cmocka_unit_test(test_cost_and_energy),
        cmocka_unit_test(test_energy_of_slow_steps),
        cmocka_unit_test(test_many_slow_units),
        cmocka_unit_test(test_cost_of_a_save),
        cmocka_unit_test(test_ends_of_the_interval),
        cmocka_unit_test(test_search_reaches_its_upper_end),
        cmocka_unit_test(test_search_reaches_its_lower_end),
        cmocka_unit_test(test_search_tries_what_it_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
