/* Law: a pipeline that waits for its launches has the bubble of any other pipeline when the host
 * waits for each exchange: a pass lasts the longer of its two queues, (m + p - 1) of them follow
 * one another. A host that waits for nothing launches through the bubble: m of them. */
#include <math.h>

#include "models/step/simulate/step.h"
#include "sim/units.h"
#include "tests/laws/law_cluster.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

/* Launches of 10 ms beside kernels of microseconds. */
static double step_s(uint64_t stages, uint64_t microbatches, bool waits)
{
    struct configuration c = lower_case();
    c.model.layers = 8 * stages;
    c.software.host.launch_s = 10 * MILLISECOND;
    c.software.host.pass_s = c.software.host.data_s = c.software.host.optimizer_s = 0.0;
    c.software.pipeline.blocking = true;
    c.software.pipeline.host_wait = waits;
    lower_case_size(&c, 1, 1, 1, stages, microbatches);
    assert_true(law_cluster(&c.cluster, law_kind(TOPOLOGY_NODE, 0), law_kind(TOPOLOGY_FABRIC, 0), 1,
                            (uint32_t)stages, LAW_DEFAULT));
    struct step *step = NULL;
    struct error error;
    assert_true(step_run(&c, &(struct step_options){0}, &step, &error));
    double result_s = step->step_s;
    step_destroy(step);
    return result_s;
}

/* The head and the loss add a few launches to the 8 layers of one stage: 6 %. */
static bool bubble_is_there(double bound_s, double pass_s, uint64_t stages, uint64_t microbatches)
{
    double expected_s = pass_s * (double)(microbatches + stages - 1);
    return fabs(bound_s / expected_s - 1.0) < 0.06;
}

static void launches_wait_for_the_exchange(void **state)
{
    double pass_s = step_s(1, 2, true) - step_s(1, 1, true);
    for (uint64_t stages = 2; stages <= 4; stages *= 2) {
        for (uint64_t m = 1; m <= 8; m *= 2) {
            assert_true(bubble_is_there(step_s(stages, m, true), pass_s, stages, m));
            /* Planted: a host that runs ahead. */
            assert_false(bubble_is_there(step_s(stages, m, false), pass_s, stages, m));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches_wait_for_the_exchange)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
