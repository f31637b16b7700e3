/* Which figures of the catalogue a scenario stands on: their names, errors and origins, and what
 * makes a figure exact. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

#define REST                                                                                       \
    "model: {layers: 2, hidden: 256, heads: 4, vocabulary: 1024}\n"                                \
    "training: {sequence: 512, global_batch: 16}\n"

static struct scenario *read(const char *text)
{
    struct error error = {""};
    struct scenario *s = scenario_read("test.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

static const struct constant *find(const struct scenario *s, const char *name)
{
    for (unsigned i = 0; i < s->stated.constant_count; i++)
        if (strcmp(s->stated.constants[i].name, name) == 0)
            return &s->stated.constants[i];
    return NULL;
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

static void test_errors_of_the_catalogue(void **state)
{
    struct scenario *s = read("cluster: {gpu: h100-80gb-sxm, gpus: 8}\nsoftware: megatron\n" REST);
    const struct constant *gemm = find(s, "gpu.h100-80gb-sxm.gemm_efficiency");
    const struct constant *forward =
        find(s, "gpu.h100-80gb-sxm.attention_flash3_full_forward_rate");
    const struct constant *backward =
        find(s, "gpu.h100-80gb-sxm.attention_flash3_causal_backward_rate");
    assert_non_null(gemm);
    assert_non_null(forward);
    assert_non_null(backward);
    near(constant_value(&s->configuration, gemm), s->configuration.gpu.gemm.efficiency_ratio);
    assert_true(gemm->stated && gemm->error_ratio > 0.0 && gemm->error_ratio < 0.2);
    /* The longest name counts: the backward curve is less sure than the others. */
    assert_true(backward->error_ratio > forward->error_ratio);
    assert_non_null(find(s, "software.megatron.launch"));
    assert_non_null(find(s, "node.dgx-h100.nic_efficiency"));
    /* What a data sheet says is exact, and so is what takes no part in a step. */
    assert_null(find(s, "gpu.h100-80gb-sxm.peak_bf16"));
    assert_null(find(s, "gpu.h100-80gb-sxm.price_per_hour"));
    assert_null(find(s, "gpu.h100-80gb-sxm.idle_power"));
    scenario_destroy(s);
}

/* A card whose sustained products nobody has measured says so: 15 to 30 % of error. */
static void test_bursts_are_no_sustained_rates(void **state)
{
    static const struct {
        const char *gpu;
        bool measured;
    } cards[] = {{"a100-80gb-sxm", true},  {"a100-80gb-pcie", true},  {"h100-80gb-sxm", true},
                 {"h200-141gb-sxm", true}, {"b200-180gb-sxm", true},  {"gh200-96gb", false},
                 {"gb200-186gb", false},   {"b300-288gb-sxm", false}, {"gb300-288gb", false},
                 {"h100-80gb-pcie", false}};
    for (unsigned i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        char text[512], name[128];
        snprintf(text, sizeof text, "cluster: {gpu: %s, gpus: 8, node: dgx-h100}\n" REST,
                 cards[i].gpu);
        snprintf(name, sizeof name, "gpu.%s.gemm_efficiency", cards[i].gpu);
        struct scenario *s = read(text);
        const struct constant *gemm = find(s, name);
        assert_non_null(gemm);
        assert_true(gemm->stated);
        assert_true(cards[i].measured ? gemm->error_ratio <= 0.05
                                      : gemm->error_ratio >= 0.15 && gemm->error_ratio <= 0.3);
        scenario_destroy(s);
    }
}

static void test_what_the_scenario_says_is_exact(void **state)
{
    struct scenario *s =
        read("cluster: {gpu: {name: h100-80gb-sxm, gemm_efficiency: 70%}, gpus: 8}\n"
             "software: {profile: megatron, launch: 10us}\n" REST);
    assert_null(find(s, "gpu.h100-80gb-sxm.gemm_efficiency"));
    assert_null(find(s, "software.megatron.launch"));
    assert_non_null(find(s, "gpu.h100-80gb-sxm.hbm_efficiency"));
    assert_non_null(find(s, "software.megatron.pass_host"));
    scenario_destroy(s);
}

static void test_names_are_told_once(void **state)
{
    struct scenario *s =
        read("cluster: {gpu: a100-80gb-sxm, gpus: 16, fabric: ib-hdr-8x200}\n" REST);
    assert_true(s->stated.constant_count > 20);
    for (unsigned i = 0; i < s->stated.constant_count; i++) {
        const struct constant *c = &s->stated.constants[i];
        double value = constant_value(&s->configuration, c);
        assert_ptr_equal(find(s, c->name), c);
        assert_true(c->error_ratio > 0.0 && value >= c->minimum && value <= c->maximum);
    }
    assert_non_null(find(s, "fabric.ib-hdr-8x200.efficiency"));
    scenario_destroy(s);
}

static void test_origins(void **state)
{
    static const struct {
        const char *source;
        enum constant_origin origin;
    } rows[] = {
        {"NVIDIA H100 data sheet: 900 GB/s", ORIGIN_SPECIFICATION},
        {"BabelStream in tests/validation/kernels.csv: copy 1.61", ORIGIN_MEASURED},
        {"fitted: 78 bytes for each logit (tests/validation/steps.csv)", ORIGIN_FITTED},
        {"as mosaic, less; not measured", ORIGIN_ASSUMED},
        {"takes 16 to 24 of 132 SMs; assumed to cost half (tests/validation/x)", ORIGIN_ASSUMED},
        {"arXiv:2104.04473", ORIGIN_PUBLISHED},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(constant_origin_of(rows[i].source), rows[i].origin);
    assert_true(constant_origin_error[ORIGIN_ASSUMED] > constant_origin_error[ORIGIN_FITTED]);
    assert_true(constant_origin_error[ORIGIN_FITTED] > constant_origin_error[ORIGIN_MEASURED]);
}

static void test_scale_stays_in_range(void **state)
{
    struct scenario *s = read("cluster: {gpu: h100-80gb-sxm, gpus: 8}\n" REST);
    const struct constant *gemm = find(s, "gpu.h100-80gb-sxm.gemm_efficiency");
    assert_non_null(gemm);
    struct configuration c = s->configuration;
    constant_scale(&c, gemm, 0.5);
    near(c.gpu.gemm.efficiency_ratio, 0.5 * s->configuration.gpu.gemm.efficiency_ratio);
    constant_scale(&c, gemm, 100.0);
    near(c.gpu.gemm.efficiency_ratio, 1.0);
    assert_true(s->configuration.gpu.gemm.efficiency_ratio < 1.0);
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_of_the_catalogue),
        cmocka_unit_test(test_bursts_are_no_sustained_rates),
        cmocka_unit_test(test_what_the_scenario_says_is_exact),
        cmocka_unit_test(test_names_are_told_once),
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_scale_stays_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
