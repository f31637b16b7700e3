/* Jobs that fail at given moments, worked out on paper: every awkward moment of a failure. */
#include <math.h>
#include <string.h>

#include "tests/models/job/job_paper.h"
#include "tests/test.h"

enum {
    STRIKES_MAX = 4
};
struct awkward {
    const char *what;
    double at[STRIKES_MAX]; /* exposed time; 0: none */
    double persist;
    int strike;
    struct job_paper expected;
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
    for (unsigned i = 0; i < sizeof moments / sizeof *moments; i++) {
        struct job_case job;
        struct trace_event events[STRIKES_MAX] = {0};
        struct job_paper expected = moments[i].expected;
        uint32_t count = 0;
        while (count < STRIKES_MAX && moments[i].at[count] > 0.0) {
            events[count].at_s = moments[i].at[count];
            count++;
        }
        job_paper_make(&job, 80.0);
        job.spec.checkpoint.plan.levels[0].persist_s = moments[i].persist;
        job.spec.strike = moments[i].strike;
        job_case_trace(&job, events, count, UNIT_JOB);
        expected.useful = 80.0;
        if (expected.interruptions == 0)
            expected.interruptions = expected.failures > 0 ? 1 : 0;
        print_message("%s\n", moments[i].what);
        job_paper_play(&job, &expected);
        job_case_free(&job);
    }
}

/* Start cannot be struck: exposed time stands still in it, so 66 s are over 2 s into the load. */
static void test_sheltered_link(void **state)
{
    struct job_case job;
    struct trace_event events[] = {{.at_s = 60}, {.at_s = 66}};
    job_paper_make(&job, 80.0);
    job.spec.recovery.restart.sheltered[LINK_START] = true;
    job_case_trace(&job, events, 2, UNIT_JOB);
    job_paper_play(&job, &(struct job_paper){.wall = 82 + 36 + 48,
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

/* Steps of 10 minutes, saved each hour for 3 minutes. A failure at 2 h loses the work since 63 min
 * (its save began at 60); running again at 2 h 20 min. The hour before that has nothing kept; with
 * the failure just after the second save (2 h 6 min is its end) 20 minutes of a chain and the stall
 * before it are what it misses. */
static void test_worst_hour(void **state)
{
    static const struct {
        double at_min, kept_min;
    } cases[] = {{120, 0}, {126, 60 - 20 - 3}, {0, 60 - 3}};
    const struct job_observer observer = {.worst_hour = true};
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
        job_run(&spec, job.conditions, 1, &observer, &out);
        job_paper_near(out.ettr_worst_hour, cases[i].kept_min / 60.0);
        job_run(&spec, job.conditions, 1, NULL, &out);
        assert_true(isnan(out.ettr_worst_hour));
        job_case_free(&job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_sheltered_link),
        cmocka_unit_test(test_worst_hour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
