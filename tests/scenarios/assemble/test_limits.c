/* Steps that are refused at the door with a sentence: too long to be recorded, too many ops to be
 * played. The same steps within the bounds are simulated. And searches that end. */
#include <stdio.h>
#include <string.h>

#include "models/plan/minimum.h"
#include "models/plan/rule_of_thumb.h"
#include "models/step/simulate/step.h"
#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

static const char text[] =
    "model: {layers: 4, hidden: 64, heads: 4, vocabulary: 512}\n"
    "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 512, fabric: ib-ndr-8x400}\n"
    "training: {sequence: 64, global_batch: 12288000}\n"
    "layout: {microbatch: 1, recompute: none}\n";

static struct scenario *read_with(const char *set)
{
    struct error error = {""};
    struct scenario_options options = {.sets = &set, .set_count = 1};
    struct scenario *scenario = scenario_read("t.yaml", text, strlen(text), &options, &error);
    assert_non_null(scenario);
    scenario_print_problems(scenario, stderr, false);
    assert_int_equal(scenario->diagnostics.error_count, 0);
    return scenario;
}

/* Runs the scenario with one change; says whether it ran, and if not, why. */
static bool runs(const char *set, bool unfold, struct error *error)
{
    struct scenario *scenario = read_with(set);
    struct step_options step_options = {.unfold = unfold};
    struct step *step = NULL;
    bool ran = step_run(&scenario->configuration, &step_options, &step, error);
    step_destroy(ran ? step : NULL);
    scenario_destroy(scenario);
    return ran;
}

static void test_longer_than_a_century(void **state)
{
    struct error error = {""};
    assert_true(runs("layout.microbatch=3000", false, &error));
    assert_false(runs("cluster={gpu: h100-80gb-sxm, node: {name: dgx-h100, "
                      "nvlink_bandwidth: 1e-9B/s}, nodes: 512, fabric: ib-ndr-8x400}",
                      false, &error));
    assert_non_null(strstr(error.text, "years"));
}

static void test_more_ops_than_can_be_played(void **state)
{
    struct error error = {""};
    assert_true(runs("layout.microbatch=1", false, &error));
    assert_false(runs("layout.microbatch=1", true, &error));
    assert_non_null(strstr(error.text, "4096 ranks"));
    assert_false(runs("perturbations.jitter=1%", false, &error));
    assert_non_null(strstr(error.text, "4096 ranks"));
}

/* A brief step is timed when it is soon played, and else only asked whether it fits. */
static void test_brief(void **state)
{
    for (unsigned i = 0; i < 4; i++) {
        const bool longer = i % 2 == 1;
        struct scenario *scenario = read_with("training.global_batch=4096");
        struct configuration *c = &scenario->configuration;
        c->layout.tp = 2;
        c->layout.dp = 8;
        c->cluster.nodes = 2;
        c->training.global_batch = c->layout.dp * (longer ? 65000 : 500);
        struct step_options options = {.brief = true, .outcome_only = i >= 2};
        struct step *step = NULL;
        struct error error;
        assert_true(step_run(&scenario->configuration, &options, &step, &error));
        assert_true(step->fits);
        assert_int_equal(step->step_s > 0.0, !longer);
        step_destroy(step);
        scenario_destroy(scenario);
    }
}

/* Four replicas of two nodes each behind leaves of three: two of them cross from leaf to leaf, so
 * their tensor groups are of another shape, and none may stand for the others. */
static void test_replicas_across_leaves(void **state)
{
    static const char leaves[] = "model: {layers: 4, hidden: 4096, heads: 32, vocabulary: 32000}\n"
                                 "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 8,\n"
                                 "  fabric: {name: ib-ndr-8x400, nodes_per_leaf: 3}}\n"
                                 "training: {sequence: 2048, global_batch: 16}\n"
                                 "layout: {tp: 16, dp: 4, microbatch: 1, recompute: none}\n";
    uint64_t digests[2];
    double step_s[2];
    for (unsigned unfold = 0; unfold < 2; unfold++) {
        struct error error = {""};
        struct scenario *s = scenario_read("t.yaml", leaves, strlen(leaves), NULL, &error);
        struct step_options options = {.unfold = unfold == 1};
        struct step *step = NULL;
        assert_non_null(s);
        assert_true(step_run(&s->configuration, &options, &step, &error));
        digests[unfold] = step->digest;
        step_s[unfold] = step->step_s;
        if (unfold == 0)
            assert_true(step->symmetry.rank_class_count < 64);
        step_destroy(step);
        scenario_destroy(s);
    }
    assert_true(digests[0] == digests[1]);
    assert_true(step_s[0] == step_s[1]);
}

/* A sequence whose activations fit nowhere is found out without trying every size; a card without
 * room, and one below half a GiB, give counts and no nonsense. */
static void test_smallest_cluster(void **state)
{
    struct rule_of_thumb rule;
    struct scenario *s = read_with("model={layers: 32, hidden: 4096, heads: 32, vocabulary: 32k}");
    struct configuration c = s->configuration;
    c.layout.microbatch = 1;
    uint64_t fits = minimum_gpus(&c, 0, 4096);
    assert_true(fits > 0 && fits < 4096);
    assert_int_equal(minimum_gpus(&c, 0, fits), fits);
    assert_int_equal(minimum_gpus(&c, 0, fits - 1), 0);
    c.training.sequence = 1 << 24;
    assert_int_equal(minimum_gpus(&c, 0, 4096), 0);
    c.training.sequence = 64;
    c.gpu.hbm.usable_bytes = c.gpu.hbm.context_bytes / 2.0;
    assert_int_equal(minimum_gpus(&c, 0, UINT64_MAX), 0);
    c.gpu.hbm.bytes = 1 << 20;
    c.gpu.hbm.nominal_bytes = 0.0; /* a card that nobody sells: its bytes */
    rule_of_thumb(&c, &rule);
    assert_true(rule.cards > rule.inference_cards && rule.cards < (uint64_t)1 << 53);
    c.training.sequence = 1u << 30;
    c.layout.microbatch = 1u << 22;
    rule_of_thumb(&c, &rule);
    assert_int_equal(rule.cards, (uint64_t)1 << 53);
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longer_than_a_century),
        cmocka_unit_test(test_more_ops_than_can_be_played),
        cmocka_unit_test(test_brief),
        cmocka_unit_test(test_replicas_across_leaves),
        cmocka_unit_test(test_smallest_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
