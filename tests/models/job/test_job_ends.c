/* Why a job of weeks ends: its work done, its time up, no node left to wait for, or a limit where
 * it would restart for ever. What never ends is ended by the alarm. */
#include <math.h>
#include <string.h>
#include <sys/time.h>

#include "sim/units.h"
#include "tests/models/job/job_case.h"
#include "tests/test.h"

enum {
    PATIENCE_S = 60
};

/* The alarm goes off after so many seconds of the processor, which other programs do not use up; 0:
 * never. */
static void patience(long seconds)
{
    const struct itimerval left = {.it_value = {.tv_sec = seconds}};
    assert_int_equal(setitimer(ITIMER_VIRTUAL, &left, NULL), 0);
}

static int set_up(void **state)
{
    patience(PATIENCE_S);
    return 0;
}

static int tear_down(void **state)
{
    patience(0);
    return 0;
}

/* Two nodes, half of the nodes lemons that fail every 10 h until a repair mends them: 200 h of
 * work. The job once looked for a lemon for ever, when the last one was mended. */
static void test_mended_lemons(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct job_case job;
        struct job_result out;
        job_case_make(&job, 200.0 * HOUR, 10.0);
        job_case_nodes(&job, 2, 1, "wait-for-repair");
        job_case_save(&job, HOUR, 1.0, 0.0);
        struct failure_cause *cause = job_case_fail(&job, 100.0 * HOUR);
        cause->kind = failure_find("lemon");
        cause->unit = UNIT_NODE;
        cause->options = (struct kind_options){{0.5, 10.0}};
        job.spec.recovery.repair = (struct duration){.mean_s = HOUR};
        job_case_play(&job, seed, &out);
        assert_true(out.finished);
        assert_int_equal(out.end, JOB_END_done);
        job_case_free(&job);
    }
}

/* A job that fails every second and needs 10 s for a step keeps nothing: with an end of its time or
 * without, it is given up at the limit, and what it spent up to there is told. */
static void test_restarts_in_vain(void **state)
{
    for (unsigned has_duration = 0; has_duration < 2; has_duration++) {
        struct job_case job;
        struct job_result out;
        job_case_make(&job, DAY, 10.0);
        job_case_save(&job, 10.0, 1.0, 0.0);
        job_case_fail(&job, 0.5);
        job.spec.recovery.restart.links[LINK_START] = (struct duration){.mean_s = 0.1};
        job.spec.duration_s = has_duration ? 10.0 * YEAR : 0.0;
        struct job_spec spec = job.spec;
        spec.causes = job.causes;
        job_run(&spec, job.conditions, 1, NULL, &out);
        assert_int_equal(out.end, JOB_END_in_vain);
        assert_true(job_end_is_limit(out.end));
        assert_false(out.finished);
        assert_int_equal(out.failures, 100000);
        assert_true(out.steps_completed == 0.0);
        assert_true(fabs(out.wall_s / 50000.0 - 1.0) < 0.02); /* 100,000 times 0.5 s */
        job.spec.duration_s = 0.0;                            /* not up: the classes tile less */
        job_case_check(&job, &out);
        job_case_free(&job);
    }
}

/* A job of a hundred years of work that stands still most of the time is given up after a hundred
 * years of wall clock; the same job with a run.duration has its time up. What is told before fits a
 * signed count of nanoseconds. */
static void test_wall_clock(void **state)
{
    static const double durations_s[] = {0.0, 50.0 * YEAR, 100.0 * YEAR};
    for (unsigned i = 0; i < sizeof durations_s / sizeof *durations_s; i++) {
        struct job_case job;
        struct job_result out;
        job_case_make(&job, 100.0 * YEAR, 10.0);
        job_case_save(&job, 9.0 * DAY, 1.0, 0.0);
        job_case_fail(&job, 10.0 * DAY);
        job.spec.recovery.restart.links[LINK_START] = (struct duration){.mean_s = 30.0 * DAY};
        job.spec.duration_s = durations_s[i];
        job_case_play(&job, 1, &out);
        assert_int_equal(out.end, i == 0 ? JOB_END_wall_clock : JOB_END_time_up);
        assert_true(job_end_is_limit(out.end) == (i == 0));
        assert_true(out.wall_s == (i == 1 ? 50.0 * YEAR : 100.0 * YEAR));
        assert_true(out.wall_s / NANOSECOND < (double)INT64_MAX);
        assert_false(out.finished);
        assert_true(out.steps_completed > 0.0);
        job_case_free(&job);
    }
}

/* The same failures leave a job alone that gets on between them: a kept step is progress. */
static void test_slow_progress_is_progress(void **state)
{
    struct job_case job;
    struct job_result out;
    job_case_make(&job, 2e4, 0.05);
    job_case_save(&job, 0.05, 0.05, 0.0);
    job_case_fail(&job, 0.1);
    job_case_play(&job, 1, &out);
    assert_int_equal(out.end, JOB_END_done);
    assert_true(out.failures > 300000);
    job_case_free(&job);
}

/* Maintenance each second keeps a step each time: nothing is in vain, but there is an end. */
static void test_planned_stops(void **state)
{
    struct job_case job;
    struct job_result out;
    job_case_make(&job, 100.0 * YEAR, 0.5);
    job_case_save(&job, HOUR, 0.0, 0.0);
    job.spec.maintenance_every_s = 2.0;
    job.spec.maintenance_s = 1.0;
    job_case_play(&job, 1, &out);
    assert_int_equal(out.end, JOB_END_stops);
    assert_true(out.steps_completed > 1e6);
    job_case_free(&job);
}

/* A maintenance that undoes all of the work, which takes longer than there is between two. */
static void test_stopped_in_vain(void **state)
{
    struct job_case job;
    struct job_result out;
    job_case_make(&job, 100.0, 1.0);
    job.spec.maintenance_every_s = 50.0;
    job.spec.maintenance_s = 10.0;
    job_case_play(&job, 1, &out);
    assert_int_equal(out.end, JOB_END_in_vain);
    assert_int_equal(out.interruptions, 0);
    assert_true(out.steps_completed <= 50.0);
    job_case_free(&job);
}

static void test_no_node_left(void **state)
{
    static const struct trace_event event = {.at_s = 30.0, .repair_s = 5.0};
    for (unsigned has_duration = 0; has_duration < 2; has_duration++) {
        struct job_case job;
        struct job_result out;
        job_case_make(&job, 100.0, 1.0);
        job_case_nodes(&job, 1, 1, "wait-for-repair");
        job_case_trace(&job, &event, 1, UNIT_NODE);
        job.spec.recovery.retire_after = 1;
        job.spec.duration_s = has_duration ? 400.0 : 0.0;
        job_case_play(&job, 1, &out);
        assert_int_equal(out.end, has_duration ? JOB_END_time_up : JOB_END_no_nodes);
        assert_false(job_end_is_limit(out.end));
        assert_true(out.wall_s == (has_duration ? 400.0 : 30.0));
        job_case_free(&job);
    }
}

struct watched {
    double last;
    unsigned asked;
    double stop_at; /* ratio */
};

static bool watch(void *context, double done_ratio)
{
    struct watched *watched = context;
    assert_true(done_ratio >= watched->last && done_ratio <= 1.0);
    watched->last = done_ratio;
    watched->asked++;
    return done_ratio < watched->stop_at;
}

/* Whoever watches is told a share that only grows, and may stop the run: by time, and by work. */
static void test_watched(void **state)
{
    for (unsigned by_work = 0; by_work < 2; by_work++) {
        struct job_case job;
        struct job_result out;
        struct watched all = {.stop_at = 2.0}, half = {.stop_at = 0.5};
        struct job_watch watches[] = {{&all, watch}, {&half, watch}};
        job_case_make(&job, 1e6, 1.0);
        job_case_save(&job, 1.0, 0.0, 0.0);
        job_case_fail(&job, 10.0);
        job.spec.duration_s = by_work ? 0.0 : 5e5;
        for (unsigned i = 0; i < 2; i++) {
            const struct job_observer observer = {.watch = &watches[i]};
            struct job_spec spec = job.spec;
            spec.causes = job.causes;
            job_run(&spec, job.conditions, 1, &observer, &out);
            job.spec.duration_s = i == 0 ? job.spec.duration_s : 0.0; /* what was played tiles */
            job_case_check(&job, &out);
            assert_int_equal(out.end, i == 1    ? JOB_END_stopped
                                      : by_work ? JOB_END_done
                                                : JOB_END_time_up);
        }
        assert_true(all.asked > 10 && all.last > 0.9);
        assert_true(half.last >= 0.5 && half.last < 0.6);
        assert_true(by_work || fabs(out.wall_s / 5e5 - half.last) < 0.1);
        job_case_free(&job);
    }
}

/* A job that fails fifty million times in its hundred years is searched in a second or two, and
 * what is found costs no more than 1 % above Daly's exact time of the best interval. */
static void test_search_has_a_budget(void **state)
{
    const double m = MINUTE, delta = 2.0, tau = checkpoint_optimum_s(delta, m);
    struct job_case job;
    struct watched all = {.stop_at = 2.0}, some = {.stop_at = 0.1};
    struct job_watch watches[] = {{&all, watch}, {&some, watch}};
    double found[2];
    job_case_make(&job, 100.0 * YEAR, 0.1);
    job_case_save(&job, 0.0, delta, 0.0);
    job_case_fail(&job, m);
    job.spec.checkpoint.kind = checkpoint_find("multi-level"); /* no closed form: searched */
    job.spec.checkpoint.job_mtbf_s = m;
    for (unsigned i = 0; i < 2; i++) {
        struct job_spec spec = job.spec;
        spec.causes = job.causes;
        job_optimal_interval(&spec, job.conditions, 5, &watches[i]);
        found[i] = spec.checkpoint.interval_s;
    }
    double exact = expm1((tau + delta) / m) / tau;
    assert_true(expm1((found[0] + delta) / m) / found[0] < exact * 1.01);
    /* the closed form, 6 octaves down, 28 up to the 100 years, 12 golden sections */
    assert_int_equal(all.asked, 1 + 6 + (int)ceil(log2(100.0 * YEAR / tau)) + 12);
    assert_true(all.last == 1.0);
    assert_int_equal(some.asked, 5); /* 5 of 47 are more than a tenth */
    assert_true(found[1] > tau / 64.0 && found[1] < tau * 4.0);
    job_case_free(&job);
}

/* The time after the end of the work is no part of the run: a duration of twice as long or 1,000
 * times changes nothing that is told of it. */
static void test_done_before_its_time(void **state)
{
    static const double times[] = {2.0, 1000.0};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct job_case job;
        struct job_result by_work, out;
        job_case_make(&job, 200.0 * HOUR, 10.0);
        job_case_nodes(&job, 2, 1, "wait-for-repair");
        job_case_save(&job, HOUR, 60.0, 5.0);
        job_case_fail(&job, 20.0 * HOUR);
        job.spec.cost.rental.job_hour_usd = 32.0;
        job.spec.cost.copy_hour_usd[0] = 3.0;
        job_case_play(&job, seed, &by_work);
        assert_true(by_work.finished && by_work.interruptions > 0 && by_work.goodput < 1.0);
        for (unsigned i = 0; i < sizeof times / sizeof *times; i++) {
            job.spec.duration_s = times[i] * by_work.wall_s;
            job_case_play(&job, seed, &out);
            assert_true(out.finished && out.end == JOB_END_done);
            assert_true(out.wall_s == by_work.wall_s && out.goodput == by_work.goodput);
            assert_true(out.ettr == by_work.ettr && out.cost_usd == by_work.cost_usd);
            assert_true(out.interruptions == by_work.interruptions);
        }
        job_case_free(&job);
    }
}

static void test_names(void **state)
{
    for (unsigned i = 0; i < JOB_END_COUNT; i++) {
        bool limit = strstr(job_end_docs[i], "a limit: ") == job_end_docs[i];
        assert_int_equal(limit, job_end_is_limit((enum job_end)i));
        assert_true(strlen(job_end_names[i]) > 0);
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_mended_lemons),
        CASE(test_restarts_in_vain),
        CASE(test_wall_clock),
        CASE(test_slow_progress_is_progress),
        CASE(test_planned_stops),
        CASE(test_stopped_in_vain),
        CASE(test_no_node_left),
        CASE(test_watched),
        CASE(test_search_has_a_budget),
        CASE(test_done_before_its_time),
        CASE(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
