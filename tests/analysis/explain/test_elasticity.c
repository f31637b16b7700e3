/* Elasticities against what scaling asks for. */
#include <math.h>
#include <string.h>

#include "analysis/explain/elasticity.h"
#include "models/step/simulate/step.h"
#include "tests/test.h"

static struct scenario *read_text(const char *text)
{
    struct error error = {""};
    struct scenario *s = scenario_read("t", text, strlen(text), NULL, &error);
    assert_non_null(s);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

/* Nothing but rates: every time that does not go with one is gone. */
static void rates_alone(struct scenario *s)
{
    elasticity_scale(&s->configuration, HARDWARE_latency, 0.0);
    elasticity_scale(&s->configuration, HARDWARE_kernel_start, 0.0);
    elasticity_scale(&s->configuration, HARDWARE_host, 0.0);
}

static const enum hardware_input rates[] = {HARDWARE_flops, HARDWARE_hbm_bandwidth, HARDWARE_nvlink,
                                            HARDWARE_nic, HARDWARE_pcie};

static double step_s(const struct configuration *c)
{
    const struct step_options options = {.ignore_memory = true, .threads = 1};
    struct step *step;
    struct error error = {""};
    assert_true(step_run(c, &options, &step, &error));
    const double seconds = step->step_s;
    step_destroy(step);
    return seconds;
}

static double of(const struct elasticities *e, enum hardware_input input)
{
    for (unsigned i = 0; i < e->count; i++)
        if (e->rows[i].input == input)
            return e->rows[i].step;
    return 0.0;
}

static double sum_of_rates(const struct elasticities *e)
{
    double sum = 0.0;
    for (unsigned i = 0; i < sizeof rates / sizeof *rates; i++)
        sum += of(e, rates[i]);
    return sum;
}

static void find(const struct scenario *s, unsigned threads, struct elasticities *out)
{
    struct error error = {""};
    if (!elasticity_find(s, threads, out, &error))
        fail_msg("%s", error.text);
}

static const char alone[] = "model: {layers: 2, hidden: 8192, heads: 64, vocabulary: 32k}\n"
                            "cluster: {gpu: h100-80gb-sxm, gpus: 1}\n"
                            "training: {sequence: 16384, global_batch: 1}\n"
                            "layout: {tp: 1, pp: 1, dp: 1, microbatch: 1}\n";
static const char together[] =
    "model: {layers: 8, hidden: 4096, heads: 32, vocabulary: 32k}\n"
    "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 2, fabric: ib-ndr-8x400}\n"
    "training: {sequence: 4096, global_batch: 32}\n"
    "layout: {tp: 4, pp: 2, dp: auto, microbatch: 1}\n";

/* How much shorter the step is with every rate doubled. */
static double ratio_of_double(struct scenario *s)
{
    const double before_s = step_s(&s->configuration);
    for (unsigned i = 0; i < sizeof rates / sizeof *rates; i++)
        elasticity_scale(&s->configuration, rates[i], 2.0);
    const double after_s = step_s(&s->configuration);
    for (unsigned i = 0; i < sizeof rates / sizeof *rates; i++)
        elasticity_scale(&s->configuration, rates[i], 0.5);
    return before_s / after_s;
}

/* All rates doubled, all latencies halved: half the time, to the last bits of sums of powers of two
 * and cube roots. */
static void test_scaling(void **state)
{
    struct scenario *s = read_text(alone);
    const double before_s = step_s(&s->configuration);
    for (unsigned i = 0; i < sizeof rates / sizeof *rates; i++)
        elasticity_scale(&s->configuration, rates[i], 2.0);
    elasticity_scale(&s->configuration, HARDWARE_latency, 0.5);
    elasticity_scale(&s->configuration, HARDWARE_kernel_start, 0.5);
    elasticity_scale(&s->configuration, HARDWARE_host, 0.5);
    assert_true(fabs(before_s / step_s(&s->configuration) - 2.0) < 1e-12);
    scenario_destroy(s);
}

/* Arithmetic is all peaks, those that most products do not have too, both passes of attention and
 * the clock. */
static void test_all_arithmetic_is_scaled(void **state)
{
    struct scenario *s = read_text(alone);
    const struct gpu_spec was = s->configuration.gpu, *is = &s->configuration.gpu;
    elasticity_scale(&s->configuration, HARDWARE_flops, 1.1);
    for (unsigned i = 0; i < PEAK_COUNT; i++)
        assert_true(is->peak_flops_per_s[i] == was.peak_flops_per_s[i] * 1.1);
    for (unsigned k = 0; k < ATTENTION_KERNEL_COUNT; k++) {
        for (unsigned causal = 0; causal < 2; causal++) {
            assert_true(is->attention.forward[k][causal].ceiling_flops_per_s ==
                        was.attention.forward[k][causal].ceiling_flops_per_s * 1.1);
            assert_true(is->attention.backward[k][causal].ceiling_flops_per_s ==
                        was.attention.backward[k][causal].ceiling_flops_per_s * 1.1);
        }
    }
    assert_true(is->clock_hz == was.clock_hz * 1.1);
    assert_true(is->hbm.bytes_per_s == was.hbm.bytes_per_s);
    scenario_destroy(s);
}

/* One card, no latency: each second goes with one rate or with a smooth mix of two (a product's
 * arithmetic and traffic, gpu.c), so that the shares add up to 1, but for the curvature of log over
 * a tenth: d^3 / 6 of the largest share, below 0.001, and switches between tiles, below 0.005. */
static void test_alone(void **state)
{
    struct scenario *s = read_text(alone);
    struct elasticities e;
    rates_alone(s);
    find(s, 1, &e);
    assert_true(fabs(sum_of_rates(&e) + 1.0) < 0.005);
    /* Products of 8,192 are far above the card's balance, norms and the optimizer are not. */
    if (!(of(&e, HARDWARE_flops) < -0.75 && of(&e, HARDWARE_flops) > -1.0))
        fail_msg("flops %.4f", of(&e, HARDWARE_flops));
    assert_true(of(&e, HARDWARE_hbm_bandwidth) < -0.02);
    assert_true(of(&e, HARDWARE_nic) == 0.0);
    assert_true(of(&e, HARDWARE_nvlink) == 0.0);
    assert_true(e.rows[0].memory == 0.0);
    assert_true(of(&e, HARDWARE_hbm_size) == 0.0);
    scenario_destroy(s);
}

/* A compute-bound step: what arithmetic takes is what FLOP/s would spare. The optimizer, norms and
 * all that streams is the rest of the step, by the other elasticity. */
static void test_share(void **state)
{
    struct scenario *s = read_text(alone);
    struct elasticities e;
    rates_alone(s);
    find(s, 1, &e);
    /* Without HBM's time (a memory that is never waited for) the rest is arithmetic alone. */
    const double whole_s = e.step_s;
    elasticity_scale(&s->configuration, HARDWARE_hbm_bandwidth, 1e6);
    s->configuration.gpu.power.memory_ratio = 0.0;
    const double arithmetic_s = step_s(&s->configuration);
    /* Where both overlap they count half here, half there: the cube root of gpu.c. */
    assert_true(fabs(of(&e, HARDWARE_flops) + arithmetic_s / whole_s) < 0.08);
    scenario_destroy(s);
}

/* Several nodes. The latencies of NCCL's steps (models/collective) go with no input: doubling every
 * rate halves all but them, which tells their share f of the step: 1 / ratio = (1 - f) / 2 + f. The
 * elasticities then add up to 1 - f, but for what is hidden under something else and comes out, or
 * the other way round, within the tenth: below 0.01 here. */
static void test_together(void **state)
{
    struct scenario *s = read_text(together);
    struct elasticities e, again;
    rates_alone(s);
    const double fixed_ratio = 2.0 / ratio_of_double(s) - 1.0;
    find(s, 1, &e);
    assert_true(fixed_ratio > 0.0 && fixed_ratio < 0.05);
    if (!(fabs(sum_of_rates(&e) + 1.0 - fixed_ratio) <= 0.01))
        fail_msg("sum %.4f, fixed %.4f", sum_of_rates(&e), fixed_ratio);
    assert_true(of(&e, HARDWARE_nvlink) < -0.01);
    find(s, 3, &again);
    assert_int_equal(e.count, again.count);
    for (unsigned i = 0; i < e.count; i++)
        assert_true(e.rows[i].input == again.rows[i].input && e.rows[i].cost == again.rows[i].cost);
    scenario_destroy(s);
}

static void test_too_large(void **state)
{
    struct scenario *s = read_text("model: {preset: llama2-70b}\n"
                                   "cluster: {gpu: h100-80gb-sxm, gpus: 1}\n"
                                   "training: {sequence: 4096, global_batch: 1}\n");
    struct elasticities e;
    struct error error = {""};
    assert_false(elasticity_find(s, 1, &e, &error));
    assert_non_null(strstr(error.text, "does not fit"));
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scaling),  cmocka_unit_test(test_all_arithmetic_is_scaled),
        cmocka_unit_test(test_alone),    cmocka_unit_test(test_share),
        cmocka_unit_test(test_together), cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
