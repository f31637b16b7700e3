/* A failing CHECK tells where the play of a step, or of weeks, stands. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "models/step/simulate/step.h"
#include "sim/check.h"
#include "tests/child.h"
#include "tests/models/job/job_case.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

/* A profile that is asked while the programs are written: before the first event. */
static bool no_time(const struct kernel_profile *profile, const struct gpu_spec *gpu,
                    const struct kernel *kernel, struct kernel_time *out)
{
    (void)profile;
    (void)gpu;
    CHECK(kernel == NULL && out == NULL);
    return false;
}

static void fail_in_a_step(void)
{
    struct configuration c = lower_case();
    struct step *step = NULL;
    struct error error;
    lower_case_size(&c, 2, 1, 1, 1, 1);
    c.cluster.node.kind = &topology_nvlink_island;
    c.cluster.fabric.kind = &topology_none;
    c.seed = 77;
    c.kernels.lookup = no_time;
    step_run(&c, &(struct step_options){.ignore_memory = true}, &step, &error);
}

static void no_failure(void *context, const struct fleet_event *event, double at_s, double repair_s)
{
    (void)context;
    (void)event;
    CHECK(at_s < 150.0 && repair_s > 1e300);
}

/* Steps of 10 s; the job fails at 100 s of exposed time, when it has done ten of them. */
static void fail_in_weeks(void)
{
    const struct trace_event event = {.at_s = 100.0, .repair_s = -1.0};
    struct job_case job;
    struct job_result result;
    job_case_make(&job, 1000.0, 10.0);
    job_case_trace(&job, &event, 1, UNIT_JOB);
    struct job_observer observer = {.step_by_step = true, .failure = no_failure};
    job_run(&job.spec, job.conditions, 77, &observer, &result);
}

static void play_and_fail_after(void)
{
    struct job_case job;
    struct job_result result;
    job_case_make(&job, 1000.0, 10.0);
    job_case_play(&job, 77, &result);
    CHECK(result.wall_s < 0.0);
}

/* What a child prints before a CHECK ends it. */
static void output_of(void (*act)(void), char *text, size_t bytes)
{
    int status = child_output(act, text, bytes);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_a_step(void **state)
{
    char text[2048];
    output_of(fail_in_a_step, text, sizeof text);
    assert_non_null(strstr(text, "at simulated time 0 s, event 0, seed 77\n"));
}

static void test_weeks(void **state)
{
    char text[2048];
    output_of(fail_in_weeks, text, sizeof text);
    assert_non_null(strstr(text, "at simulated time 100 s, event 10, seed 77\n"));
    output_of(play_and_fail_after, text, sizeof text);
    assert_null(strstr(text, "simulated time"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step),
        cmocka_unit_test(test_weeks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
