/* Steps that are refused at the door with a sentence: too long to be recorded, too many ops to be
 * played. The same steps within the bounds are simulated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/step.h"
#include "scenarios/scenario.h"

static const char text[] =
    "model: {layers: 4, hidden: 64, heads: 4, vocabulary: 512}\n"
    "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 512, fabric: ib-ndr-8x400}\n"
    "training: {sequence: 64, global_batch: 12288000}\n";

/* Runs the scenario with one change; says whether it ran, and if not, why. */
static bool runs(const char *set, bool unfold, struct error *error)
{
    struct scenario_options options = {.sets = &set, .set_count = 1};
    struct step_options step_options = {.unfold = unfold};
    struct step *step = NULL;
    struct scenario *scenario = scenario_read("t.yaml", text, strlen(text), &options, error);
    assert_non_null(scenario);
    scenario_print_problems(scenario, stderr, false);
    assert_int_equal(scenario->error_count, 0);
    bool ran = step_run(&scenario->configuration, &step_options, &step, error);
    step_destroy(ran ? step : NULL);
    scenario_destroy(scenario);
    return ran;
}

static void test_longer_than_a_century(void **state)
{
    (void)state;
    struct error error = {""};
    assert_true(runs("layout.microbatch=3000", false, &error));
    assert_false(runs("cluster={gpu: h100-80gb-sxm, node: {name: dgx-h100, "
                      "nvlink_bandwidth: 1e-9B/s}, nodes: 512, fabric: ib-ndr-8x400}",
                      false, &error));
    assert_non_null(strstr(error.text, "years"));
}

static void test_more_ops_than_can_be_played(void **state)
{
    (void)state;
    struct error error = {""};
    assert_true(runs("layout.microbatch=1", false, &error));
    assert_false(runs("layout.microbatch=1", true, &error));
    assert_non_null(strstr(error.text, "4096 ranks"));
    assert_false(runs("perturbations.jitter=1%", false, &error));
    assert_non_null(strstr(error.text, "4096 ranks"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longer_than_a_century),
        cmocka_unit_test(test_more_ops_than_can_be_played),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
