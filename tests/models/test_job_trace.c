/* Jobs that fail at given moments, worked out on paper: every awkward moment of a failure.
 *
 * Steps of 10 s, a save of 8 s after each 4 of them; the chain: detect 4 s, start 16 s, load 12 s
 * (nothing to load at the beginning), warm-up 4 s. Undisturbed, 8 steps take 40 + 8 + 40 + 8 s. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "job_case.h"

enum {
    STRIKES_MAX = 4
};
static void make(struct job_case *job, double work_s)
{
    job_case_make(job, work_s, 10.0);
    job_case_save(job, 40.0, 8.0, 0.0);
    job->spec.checkpoint.plan.levels[0].load_s = 12.0;
    job->spec.recovery.restart.links[LINK_DETECT].mean_s = 4.0;
    job->spec.recovery.restart.links[LINK_START].mean_s = 16.0;
    job->spec.recovery.restart.links[LINK_WARMUP].mean_s = 4.0;
}

static void near(double a, double b)
{
    if (fabs(a - b) > 1e-9) {
        fail_msg("%.12g, expected %.12g", a, b);
    }
}

struct expected {
    double wall, useful, checkpoint, lost, detect, restart, wait, degraded, load;
    uint64_t failures, interruptions;
};

static void check(const struct job_result *out, const struct expected *is)
{
    near(out->wall_s, is->wall);
    near(out->badput_s[BADPUT_useful], is->useful);
    near(out->badput_s[BADPUT_checkpoint], is->checkpoint);
    near(out->badput_s[BADPUT_lost_work], is->lost);
    near(out->badput_s[BADPUT_detect], is->detect);
    near(out->badput_s[BADPUT_restart], is->restart);
    near(out->badput_s[BADPUT_wait], is->wait);
    near(out->badput_s[BADPUT_degraded], is->degraded);
    near(out->load_s, is->load);
    assert_int_equal(out->failures, is->failures);
    assert_int_equal(out->interruptions, is->interruptions);
}

/* Played both ways. */
static void play(const struct job_case *job, const struct expected *expected)
{
    struct job_spec spec = job->spec;
    spec.causes = job->causes;
    for (int step_by_step = 0; step_by_step < 2; step_by_step++) {
        struct job_result out;
        job_run(&spec, job->conditions, 1, step_by_step != 0, NULL, NULL, &out);
        job_case_check(job, &out);
        check(&out, expected);
    }
}

struct awkward {
    const char *what;
    double at[STRIKES_MAX]; /* exposed time; 0: none */
    double persist;
    int strike;
    struct expected expected;
};
static const struct awkward moments[] = {
    {"none", {0}, 0, STRIKE_ALWAYS, {.wall = 96, .checkpoint = 16}},
    {"in a step",
     {25},
     0,
     STRIKE_ALWAYS,
     {.wall = 145, .checkpoint = 16, .lost = 25, .detect = 4, .restart = 20, .failures = 1}},
    {"at the end of a step",
     {30},
     0,
     STRIKE_ALWAYS,
     {.wall = 150, .checkpoint = 16, .lost = 30, .detect = 4, .restart = 20, .failures = 1}},
    {"in a save",
     {43},
     0,
     STRIKE_ALWAYS,
     {.wall = 163, .checkpoint = 19, .lost = 40, .detect = 4, .restart = 20, .failures = 1}},
    {"at the commit",
     {48},
     0,
     STRIKE_ALWAYS,
     {.wall = 132, .checkpoint = 16, .detect = 4, .restart = 32, .load = 12, .failures = 1}},
    {"in a link",
     {25, 35},
     0,
     STRIKE_ALWAYS,
     {.wall = 155, .checkpoint = 16, .lost = 25, .detect = 8, .restart = 26, .failures = 2}},
    {"while loading",
     {60, 85},
     0,
     STRIKE_ALWAYS,
     {.wall = 169,
      .checkpoint = 16,
      .lost = 12,
      .detect = 8,
      .restart = 53,
      .load = 17,
      .failures = 2}},
    {"in replay",
     {60, 101},
     0,
     STRIKE_ALWAYS,
     {.wall = 185,
      .checkpoint = 16,
      .lost = 17,
      .detect = 8,
      .restart = 64,
      .load = 24,
      .failures = 2,
      .interruptions = 2}},
    {"after replay, before the commit",
     {60, 120},
     0,
     STRIKE_ALWAYS,
     {.wall = 204,
      .checkpoint = 16,
      .lost = 36,
      .detect = 8,
      .restart = 64,
      .load = 24,
      .failures = 2,
      .interruptions = 2}},
    {"two at once",
     {60, 60},
     0,
     STRIKE_ALWAYS,
     {.wall = 144,
      .checkpoint = 16,
      .lost = 12,
      .detect = 4,
      .restart = 32,
      .load = 12,
      .failures = 2}},
    {"at the end", {96}, 0, STRIKE_ALWAYS, {.wall = 96, .checkpoint = 16}},
    {"after the end", {97}, 0, STRIKE_ALWAYS, {.wall = 96, .checkpoint = 16}},
    {"draining",
     {60},
     20,
     STRIKE_ALWAYS,
     {.wall = 200, .checkpoint = 44, .lost = 52, .detect = 4, .restart = 20, .failures = 1}},
    {"at the commit of a drained copy",
     {68},
     20,
     STRIKE_ALWAYS,
     {.wall = 172,
      .checkpoint = 36,
      .lost = 20,
      .detect = 4,
      .restart = 32,
      .load = 12,
      .failures = 1}},
    {"in the last save",
     {90},
     0,
     STRIKE_ALWAYS,
     {.wall = 174,
      .checkpoint = 18,
      .lost = 40,
      .detect = 4,
      .restart = 32,
      .load = 12,
      .failures = 1}},
    {"restart sheltered",
     {60, 61},
     0,
     STRIKE_RUNNING,
     {.wall = 181,
      .checkpoint = 16,
      .lost = 13,
      .detect = 8,
      .restart = 64,
      .load = 24,
      .failures = 2,
      .interruptions = 2}},
    {"saves sheltered: after the save",
     {40.5},
     0,
     STRIKE_WORKING,
     {.wall = 132.5,
      .checkpoint = 16,
      .lost = 0.5,
      .detect = 4,
      .restart = 32,
      .load = 12,
      .failures = 1}},
};

static void test_moments(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof moments / sizeof *moments; i++) {
        struct job_case job;
        struct trace_event events[STRIKES_MAX] = {0};
        struct expected expected = moments[i].expected;
        uint32_t count = 0;
        while (count < STRIKES_MAX && moments[i].at[count] > 0.0) {
            events[count].at_s = moments[i].at[count];
            count++;
        }
        make(&job, 80.0);
        job.spec.checkpoint.plan.levels[0].persist_s = moments[i].persist;
        job.spec.strike = moments[i].strike;
        job_case_trace(&job, events, count, UNIT_JOB);
        expected.useful = 80.0;
        if (expected.interruptions == 0) {
            expected.interruptions = expected.failures > 0 ? 1 : 0;
        }
        print_message("%s\n", moments[i].what);
        play(&job, &expected);
        job_case_free(&job);
    }
}

/* Start cannot be struck: exposed time stands still in it, so 66 s are over 2 s into the load. */
static void test_sheltered_link(void **state)
{
    (void)state;
    struct job_case job;
    struct trace_event events[] = {{.at_s = 60}, {.at_s = 66}};
    make(&job, 80.0);
    job.spec.recovery.restart.sheltered[LINK_START] = true;
    job_case_trace(&job, events, 2, UNIT_JOB);
    play(&job, &(struct expected){.wall = 82 + 36 + 48,
                                  .useful = 80,
                                  .checkpoint = 16,
                                  .lost = 12,
                                  .detect = 8,
                                  .restart = 18 + 32,
                                  .load = 14,
                                  .failures = 2,
                                  .interruptions = 1});
    job_case_free(&job);
}

/* Host memory (each save, 2 s) and storage (each second one, 6 s more), steps of 10 s, saves after
 * 20 s of work: at 20-22, 42-50, 70-72. A failure at 80 loses 8 s, or 28 s where the copy in host
 * memory went with its node. */
static void make_levels(struct job_case *job, int first_survival)
{
    make(job, 1000.0);
    job->spec.duration_s = 150.0;
    job_case_nodes(job, 2, 1, "hot-spare");
    job->spec.recovery.spares = 2;
    job_case_save(job, 20.0, 2.0, 0.0);
    job->spec.checkpoint.plan.level_count = 2;
    job->spec.checkpoint.plan.levels[1] = job->spec.checkpoint.plan.levels[0];
    job->spec.checkpoint.plan.levels[1].stall_s = 6.0;
    job->spec.checkpoint.plan.levels[1].every = 2;
    job->spec.checkpoint.plan.levels[0].survival = first_survival;
}

static double lost_at_80(int first_survival, int unit, double repair_s)
{
    struct job_case job;
    struct job_result out;
    struct trace_event event = {.at_s = 80, .unit = 0, .repair_s = repair_s};
    make_levels(&job, first_survival);
    job_case_trace(&job, &event, 1, unit)->domain_nodes = 2;
    job_case_play(&job, 1, &out);
    job_case_free(&job);
    assert_int_equal(out.failures, 1);
    return out.badput_s[BADPUT_lost_work];
}

static void test_survival(void **state)
{
    (void)state;
    near(lost_at_80(SURVIVES_PROCESS, UNIT_JOB, 0.0), 8.0);
    near(lost_at_80(SURVIVES_PROCESS, UNIT_NODE, 0.0), 8.0);
    near(lost_at_80(SURVIVES_PROCESS, UNIT_NODE, 5.0), 28.0);
    near(lost_at_80(SURVIVES_NODE, UNIT_NODE, 5.0), 8.0);
    near(lost_at_80(SURVIVES_NODE, UNIT_DOMAIN, 5.0), 28.0);
    near(lost_at_80(SURVIVES_DOMAIN, UNIT_DOMAIN, 5.0), 8.0);
}

/* A node of four replicas fails at 60 and is back at 260, at the end of a step. On three replicas
 * from 96 on: 14 steps, saves at 136, 184, 232. The planned stop saves at 260-268 and walks start,
 * load and warm-up until 300; then saves at 340 and 388, and 4 s of a step until 400. */
static void test_elastic(void **state)
{
    (void)state;
    struct job_case job;
    struct trace_event event = {.at_s = 60, .unit = 1, .repair_s = 200.0};
    make(&job, 1000.0);
    job_case_nodes(&job, 4, 4, "elastic-shrink");
    job_case_trace(&job, &event, 1, UNIT_NODE);
    job.spec.duration_s = 400.0;
    play(&job, &(struct expected){.wall = 400,
                                  .useful = 40 + 105 + 84,
                                  .degraded = 35,
                                  .checkpoint = 56,
                                  .lost = 12,
                                  .detect = 4,
                                  .restart = 64,
                                  .load = 24,
                                  .failures = 1,
                                  .interruptions = 1});
    job_case_free(&job);
}

/* Only the struck replica stops: 2 s of a step are lost at 60, three replicas go on; the node is
 * back at 160, its replica at 196, in the job after the step that ends at 204. */
static void test_replica_level(void **state)
{
    (void)state;
    struct job_case job;
    struct trace_event event = {.at_s = 60, .unit = 1, .repair_s = 100.0};
    make(&job, 1000.0);
    job_case_nodes(&job, 4, 4, "replica-level");
    job_case_trace(&job, &event, 1, UNIT_NODE);
    job.spec.duration_s = 300.0;
    play(&job, &(struct expected){.wall = 300,
                                  .useful = 220,
                                  .degraded = 30,
                                  .checkpoint = 48,
                                  .lost = 2,
                                  .failures = 1,
                                  .interruptions = 1});
    job_case_free(&job);
}

/* Below replicas_min the job stands until the node is back: 60 + 4 of detection, until 260. */
static void test_elastic_minimum(void **state)
{
    (void)state;
    struct job_case job;
    struct trace_event event = {.at_s = 60, .unit = 1, .repair_s = 200.0};
    make(&job, 80.0);
    job_case_nodes(&job, 4, 4, "elastic-shrink");
    job.spec.recovery.replicas_min = 4;
    job_case_trace(&job, &event, 1, UNIT_NODE);
    play(&job, &(struct expected){.wall = 260 + 32 + 48,
                                  .useful = 80,
                                  .checkpoint = 16,
                                  .lost = 12,
                                  .detect = 4,
                                  .restart = 32,
                                  .load = 12,
                                  .wait = 196,
                                  .failures = 1,
                                  .interruptions = 1});
    job_case_free(&job);
}

/* Half speed from 50 (felt from 58 on), found at 150, replaced after the step that ends at 166 and
 * a save: steps again at 206. Five steps took 20 s. */
static void test_slow_unit(void **state)
{
    (void)state;
    struct job_case job;
    struct trace_event event = {.at_s = 50, .unit = 1, .repair_s = -1.0};
    make(&job, 1000.0);
    job_case_nodes(&job, 4, 4, "hot-spare");
    job.spec.recovery.spares = 1;
    job.spec.recovery.repair.mean_s = 1e6;
    struct failure_cause *cause = job_case_trace(&job, &event, 1, UNIT_NODE);
    cause->effect = EFFECT_SLOW;
    cause->slow_ratio = 0.5;
    cause->detect.mean_s = 100.0;
    job.spec.duration_s = 250.0;
    play(&job, &(struct expected){.wall = 250,
                                  .useful = 140,
                                  .degraded = 50,
                                  .checkpoint = 28,
                                  .restart = 32,
                                  .load = 12,
                                  .failures = 1});
    job_case_free(&job);
}

/* Corrupt from 50, found at 150: the saves begun at 88 and 136 are tainted, that of 40 is not. */
static void test_silent_corruption(void **state)
{
    (void)state;
    for (uint64_t keep = 1; keep <= 3; keep++) {
        struct job_case job;
        struct trace_event event = {.at_s = 50, .unit = 0, .repair_s = 0.0};
        make(&job, 1000.0);
        struct failure_cause *cause = job_case_trace(&job, &event, 1, UNIT_NODE);
        cause->effect = EFFECT_CORRUPT;
        cause->detect.mean_s = 100.0;
        job.spec.checkpoint.keep = keep;
        job.spec.duration_s = 230.0;
        struct expected expected = {.wall = 230,
                                    .useful = 80,
                                    .checkpoint = 32,
                                    .lost = 86,
                                    .restart = 32,
                                    .load = 12,
                                    .failures = 1,
                                    .interruptions = 1};
        if (keep < 3) {
            expected = (struct expected){.wall = 230,
                                         .useful = 40 + 12,
                                         .checkpoint = 32,
                                         .lost = 126,
                                         .restart = 20,
                                         .failures = 1,
                                         .interruptions = 1};
        }
        play(&job, &expected);
        job_case_free(&job);
    }
}

/* The wrong node is blamed: the fault strikes again as soon as the job runs. */
static void test_wrong_blame(void **state)
{
    (void)state;
    struct job_case job;
    struct job_result out;
    struct trace_event event = {.at_s = 60, .unit = 1, .repair_s = 1e6};
    make(&job, 80.0);
    job_case_nodes(&job, 4, 4, "hot-spare");
    job.spec.recovery.spares = 64;
    job.spec.recovery.wrong_blame_ratio = 0.5;
    job_case_trace(&job, &event, 1, UNIT_NODE);
    double chains = 0.0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        job_case_play(&job, seed, &out);
        double chain = (out.badput_s[BADPUT_detect] + out.badput_s[BADPUT_restart]) / 36.0;
        near(chain, (double)out.spares_taken);
        assert_int_equal(out.failures, 1);
        assert_int_equal(out.interruptions, 1);
        near(out.wall_s, 60 + 36 * chain + 48);
        chains += chain / 1000.0;
    }
    assert_true(fabs(chains - 2.0) < 3.0 * sqrt(2.0 / 1000.0)); /* geometric */
    job_case_free(&job);
}

/* Every 100 s, for 30 s: the step that ends at 106 is the last, a save until 114, maintenance until
 * 144, start, load and warm-up until 176. The next is due at 200: step until 206, save until 214,
 * maintenance until 244. */
static void test_maintenance(void **state)
{
    (void)state;
    struct job_case job;
    struct job_result out;
    make(&job, 1000.0);
    job.spec.maintenance_every_s = 100.0;
    job.spec.maintenance_s = 30.0;
    job.spec.duration_s = 250.0;
    job_case_play(&job, 1, &out);
    near(out.badput_s[BADPUT_maintenance], 60.0);
    near(out.badput_s[BADPUT_restart], 32.0 + 6.0);
    near(out.badput_s[BADPUT_checkpoint], 8 + 8 + 8 + 8);
    job_case_free(&job);
}

static void ignore_span(void *context, double begin_s, double end_s, enum badput_class of)
{
    (void)context;
    (void)begin_s;
    (void)end_s;
    (void)of;
}

/* Steps of 10 minutes, saved each hour for 3 minutes. A failure at 2 h loses the work since 63 min
 * (its save began at 60); running again at 2 h 20 min. The hour before that has nothing kept; with
 * the failure just after the second save (2 h 6 min is its end) 20 minutes of a chain and the stall
 * before it are what it misses. */
static void test_worst_hour(void **state)
{
    (void)state;
    static const struct {
        double at_min, kept_min;
    } cases[] = {{120, 0}, {126, 60 - 20 - 3}, {0, 60 - 3}};
    const struct job_observer observer = {.span = ignore_span};
    for (unsigned i = 0; i < 3; i++) {
        struct job_case job;
        struct job_result out;
        struct trace_event event = {.at_s = cases[i].at_min * 60.0};
        job_case_make(&job, 6 * 3600.0, 600.0);
        job_case_save(&job, 3600.0, 180.0, 0.0);
        job.spec.recovery.restart.links[LINK_START].mean_s = 1200.0;
        job_case_trace(&job, &event, event.at_s > 0.0 ? 1 : 0, UNIT_JOB);
        struct job_spec spec = job.spec;
        spec.causes = job.causes;
        job_run(&spec, job.conditions, 1, false, &observer, NULL, &out);
        near(out.ettr_worst_hour, cases[i].kept_min / 60.0);
        job_run(&spec, job.conditions, 1, false, NULL, NULL, &out);
        assert_true(isnan(out.ettr_worst_hour));
        job_case_free(&job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),       cmocka_unit_test(test_sheltered_link),
        cmocka_unit_test(test_survival),      cmocka_unit_test(test_elastic),
        cmocka_unit_test(test_replica_level), cmocka_unit_test(test_elastic_minimum),
        cmocka_unit_test(test_slow_unit),     cmocka_unit_test(test_silent_corruption),
        cmocka_unit_test(test_wrong_blame),   cmocka_unit_test(test_maintenance),
        cmocka_unit_test(test_worst_hour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
