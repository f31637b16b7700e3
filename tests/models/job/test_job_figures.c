/* Figures of a job of weeks, worked out on paper: the worst of many hours, cost and energy, many
 * slow units at a time, and the interval where it has a closed form or an end. */
#include <math.h>

#include "sim/units.h"
#include "tests/models/job/job_paper.h"
#include "tests/test.h"

/* A hundred times 30 minutes of steps and a save of 3. Undisturbed, the worst hour holds two saves
 * whole: 3 + 30 + 3 minutes. A failure 15 minutes after the n-th save makes one idle stretch of the
 * save, those 15 minutes and a restart of 20; half an hour of steps on both sides is more than the
 * other 22. One that strikes twice in a row has two restarts. */
static void test_worst_of_many_hours(void **state)
{
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

static const struct power_job power_of_cards = {
    .step_w = 2000.0, .standing_w = 900.0, .idle_w = 500.0, .spare_w = 200.0};

/* Two nodes lose one of them at 60: 144 s, of which 80 are work and 12 are lost (the small job of
 * job_paper.h). Three spares are paid, and idle, where they are on; of two checkpoints that are
 * made one is kept: three quarters of one in the mean, for 7 an hour. In saves and in all links of
 * this chain processes are up. */
static void test_cost_and_energy(void **state)
{
    static const struct {
        const char *policy;
        double cost_usd, energy_j;
    } rows[] = {
        {"hot-spare", (48.0 + 3 * 20 + 7 * 0.75) * 144 / 3600,
         2000.0 * 92 + 900 * 52 + 3 * 200 * 144},
        {"cold-spare", (48.0 + 7 * 0.75) * 144 / 3600, 2000.0 * 92 + 900 * 52},
    };
    for (unsigned i = 0; i < 2; i++) {
        struct job_case job;
        struct job_result out;
        const struct trace_event event = {.at_s = 60, .repair_s = 900};
        job_paper_make(&job, 80.0);
        job_case_nodes(&job, 2, 1, rows[i].policy);
        job.spec.recovery.spares = 3;
        job.spec.cost =
            (struct job_spec_cost){.rental = {.job_hour_usd = 48.0, .spare_hour_usd = 20.0},
                                   .power = power_of_cards,
                                   .copy_hour_usd = {7.0}};
        job_case_trace(&job, &event, 1, UNIT_NODE);
        job_case_play(&job, 1, &out);
        job_paper_near(out.wall_s, 144.0);
        job_paper_near(out.cost_usd, rows[i].cost_usd);
        job_paper_near(out.energy.all_j, rows[i].energy_j);
        job_paper_near(out.energy.class_j[BADPUT_useful], 2000.0 * 80);
        job_paper_near(out.energy.class_j[BADPUT_lost_work], 2000.0 * 12);
        job_paper_near(out.energy.class_j[BADPUT_checkpoint], 900.0 * 16);
        job_paper_near(out.energy.class_j[BADPUT_detect], 900.0 * 4);
        job_paper_near(out.energy.class_j[BADPUT_restart], 900.0 * (16 + 12 + 4));
        job_paper_near(out.energy.load_j, 900.0 * 12);
        job_paper_near(out.energy.spares_j, i == 0 ? 3 * 200.0 * 144 : 0.0);
        job_case_free(&job);
    }
}

struct copy_times {
    double at_s[4096];
    unsigned count;
};

static void take_saved(void *context, const struct saved *saved)
{
    struct copy_times *times = context;
    assert_true(times->count < sizeof times->at_s / sizeof *times->at_s);
    times->at_s[times->count++] = saved->at_s;
}

/* Counted copy by copy: each is kept until the one that is `keep` later is durable. */
static double held_by_count(const struct copy_times *times, uint64_t keep, double wall_s)
{
    double sum_s = 0.0;
    for (unsigned i = 0; i < times->count; i++)
        sum_s += (i + keep < times->count ? times->at_s[i + keep] : wall_s) - times->at_s[i];
    return sum_s / wall_s;
}

/* What is paid for storage is what was there: within the copy that is or is not there yet, and, of
 * failures, a tenth. */
static void test_copies_are_paid_while_they_are_kept(void **state)
{
    static const uint64_t keeps[] = {1, 2, 5, 30, 400, 100000};
    static struct copy_times times;
    for (unsigned i = 0; i < sizeof keeps / sizeof *keeps; i++)
        for (unsigned failing = 0; failing <= 1; failing++) {
            struct job_case job;
            struct job_result out;
            times.count = 0;
            job_case_make(&job, 400.0 * HOUR, 60.0);
            job_case_save(&job, HOUR, 60.0, 0.0);
            job.spec.checkpoint.keep = keeps[i];
            job.spec.cost.rental.job_hour_usd = 0.0;
            job.spec.cost.copy_hour_usd[0] = 3.0;
            if (failing == 1)
                job_case_fail(&job, 8.0 * HOUR);
            struct job_spec spec = job.spec;
            spec.causes = job.causes;
            job_run(&spec, job.conditions, 1,
                    &(struct job_observer){.context = &times, .saves = take_saved}, &out);
            assert_int_equal(times.count, out.copies[0]);
            const double held = held_by_count(&times, keeps[i], out.wall_s);
            const double paid = out.cost_usd / 3.0 / (out.wall_s / HOUR);
            assert_true(fabs(paid - held) <= 0.51 + failing * 0.1 * held);
            assert_true(paid <= (double)keeps[i] && paid <= 0.5 * (double)times.count);
            assert_true(job_storage_usd(&spec, &out) == out.cost_usd);
            job_case_free(&job);
        }
    job_paper_near(job_copies_held(0, 5), 0.0);
    job_paper_near(job_copies_held(4, 5), 2.0);
    job_paper_near(job_copies_held(10, 5), 3.75);
}

/* What a slow card adds to steps stands: 10 s, then 7 times 20; two saves of 8 s. */
static void test_energy_of_slow_steps(void **state)
{
    struct job_case job;
    struct job_result out;
    const struct trace_event event = {.at_s = 5};
    job_paper_make(&job, 80.0);
    job.spec.cost.power = power_of_cards;
    struct failure_cause *cause = job_case_trace(&job, &event, 1, UNIT_GPU);
    cause->effect = EFFECT_SLOW;
    cause->slow_ratio = 0.5;
    cause->detect.mean_s = 1e9;
    job_case_play(&job, 1, &out);
    job_paper_near(out.badput_s[BADPUT_degraded], 70.0);
    job_paper_near(out.wall_s, 166.0);
    job_paper_near(out.energy.all_j, 2000.0 * 80 + 900.0 * (70 + 16));
    assert_true(isnan(out.cost_usd));
    job_case_free(&job);
}

/* Ten days in which everything happens: each class and link draws what it must, a restart the sum
 * of its links and loads, and all of it is the whole. */
static void test_energy_of_every_class(void **state)
{
    static const double class_w[BADPUT_COUNT] = {
        [BADPUT_useful] = 2000.0,    [BADPUT_checkpoint] = 900.0, [BADPUT_lost_work] = 2000.0,
        [BADPUT_detect] = 900.0,     [BADPUT_wait] = 500.0,       [BADPUT_degraded] = 900.0,
        [BADPUT_maintenance] = 500.0};
    static const double link_w[RESTART_LINK_COUNT] = {900.0, 500.0, 500.0, 500.0, 500.0,
                                                      500.0, 900.0, 900.0, 900.0};
    struct job_case job;
    struct job_result out;
    job_case_make(&job, 10.0 * DAY, 60.0);
    job_case_save(&job, HOUR, 60.0, 30.0);
    job_case_nodes(&job, 4, 1, "cold-spare");
    job.spec.recovery.spares = 1;
    job.spec.recovery.repair.mean_s = 9.0 * HOUR;
    job.spec.checkpoint.plan.levels[0].load_s = 90.0;
    job.spec.checkpoint.plan.levels[0].slowdown_ratio = 1.5;
    job.spec.maintenance_every_s = 3.0 * DAY;
    job.spec.maintenance_s = HOUR;
    job.spec.cost.power = power_of_cards;
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++)
        job.spec.recovery.restart.links[link].mean_s = 10.0 * (link + 1);
    job_case_fail(&job, 20.0 * HOUR)->unit = UNIT_NODE;
    job_case_play(&job, 1, &out);
    double sum_j = 0.0, links_j = out.energy.load_j;
    for (unsigned of = 0; of < BADPUT_COUNT; of++) {
        sum_j += out.energy.class_j[of];
        assert_true(out.badput_s[of] > 0.0);
        if (of != BADPUT_restart)
            job_paper_near(out.energy.class_j[of] / (class_w[of] * out.badput_s[of]), 1.0);
    }
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        assert_true(out.restart_link_s[link] > 0.0);
        job_paper_near(out.energy.link_j[link] / (link_w[link] * out.restart_link_s[link]), 1.0);
        links_j += link == LINK_DETECT ? 0.0 : out.energy.link_j[link];
    }
    job_paper_near(out.energy.load_j / (900.0 * out.part.load_s), 1.0);
    job_paper_near(out.energy.class_j[BADPUT_restart] / links_j, 1.0);
    job_paper_near(out.energy.spares_j, 0.0);
    job_paper_near(out.energy.all_j / sum_j, 1.0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worst_of_many_hours),
        cmocka_unit_test(test_worst_hour_of_short_runs),
        cmocka_unit_test(test_worst_hour_of_too_many_stops),
        cmocka_unit_test(test_cost_and_energy),
        cmocka_unit_test(test_copies_are_paid_while_they_are_kept),
        cmocka_unit_test(test_energy_of_slow_steps),
        cmocka_unit_test(test_energy_of_every_class),
        cmocka_unit_test(test_many_slow_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
