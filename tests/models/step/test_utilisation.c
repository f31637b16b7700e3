/* What MFU, causal MFU and HFU count, against the sums of products written out here. */
#include <math.h>

#include "models/lower/stage/lower.h"
#include "models/step/simulate/step.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* Products of a layer and of the head for one token: two FLOPs for each weight that it meets. */
static double layer_weights(const struct model_shape *m)
{
    double h = (double)m->hidden, a = (double)(m->attention.heads * m->attention.head_size);
    double g = (double)(m->attention.kv_heads * m->attention.head_size), f = (double)m->ffn_hidden;
    return h * a + 2.0 * h * g + a * h + 3.0 * h * f;
}

/* FLOPs of the attention core for a token, forward: scores and values, 2 s a each; flash kernels
 * skip the half above the diagonal. Backward: four products; flash computes the scores again. */
static double core_forward(const struct configuration *c)
{
    const struct model_shape *m = &c->model;
    bool half = c->training.causal && c->training.attention != ATTENTION_MATH;
    double s = (double)c->training.sequence * (half ? 0.5 : 1.0);
    return 4.0 * s * (double)(m->attention.heads * m->attention.head_size);
}

static double core_backward(const struct configuration *c)
{
    return core_forward(c) * (c->training.attention == ATTENTION_MATH ? 2.0 : 2.5);
}

static double expected_flops(const struct configuration *c)
{
    const struct model_shape *m = &c->model;
    double head = (double)m->hidden * (double)m->vocabulary, layers = (double)m->layers;
    double again = 0.0;
    if (c->layout.recompute == RECOMPUTE_SELECTIVE)
        again = core_forward(c);
    if (c->layout.recompute == RECOMPUTE_FULL || c->layout.recompute == RECOMPUTE_UNIFORM)
        again = core_forward(c) + 2.0 * layer_weights(m);
    if (c->layout.recompute == RECOMPUTE_EVERY_OTHER_LAYER)
        again = 0.5 * (core_forward(c) + 2.0 * layer_weights(m));
    if (c->layout.recompute == RECOMPUTE_BLOCK) /* one of each stage */
        again = (core_forward(c) + 2.0 * layer_weights(m)) * (double)c->layout.pp / layers;
    if (c->layout.recompute == RECOMPUTE_PER_OPERATOR) /* of qkv, projection, up, down: one */
        again = 2.0 * (double)(m->attention.heads * m->attention.head_size * m->hidden);
    double layer = 6.0 * layer_weights(m) + core_forward(c) + core_backward(c) + again;
    double tokens = (double)c->training.global_batch * (double)c->training.sequence;
    return tokens * (layers * layer + 6.0 * head);
}

static double hardware_flops(const struct configuration *c)
{
    struct arena *arena = arena_create();
    struct lowered lowered;
    assert_int_equal(lower_case_errors(c), 0);
    lower(arena, c, &lowered);
    double flops = lowered.hardware_flops;
    arena_destroy(arena);
    return flops;
}

static void test_hardware_flops(void **state)
{
    static const uint64_t sizes[][5] = {{1, 1, 1, 1, 2}, {2, 1, 2, 1, 1}, {1, 2, 1, 2, 4}};
    static const int kernels[] = {ATTENTION_MATH, ATTENTION_FLASH2};
    const unsigned kinds = RECOMPUTE_FULL + 1;
    for (unsigned i = 0; i < 12 * kinds; i++) {
        const uint64_t *z = sizes[i / (4 * kinds)];
        struct configuration c = lower_case();
        lower_case_size(&c, z[0], z[1], z[2], z[3], z[4]);
        lower_case_recompute(&c, (int)(i % kinds));
        c.training.attention = kernels[i / kinds % 2];
        c.training.causal = i / (2 * kinds) % 2 == 1;
        if (c.layout.recompute == RECOMPUTE_MODULES && c.layout.tp > 1)
            continue; /* refused */
        assert_true(close_to(hardware_flops(&c), expected_flops(&c)));
        assert_false(close_to(hardware_flops(&c), expected_flops(&c) * (1.0 + 1e-9))); /* planted */
    }
}

static struct step *play(const struct configuration *c)
{
    struct step_options options = {.ignore_memory = true};
    struct step *step;
    struct error error = {""};
    assert_true(step_run(c, &options, &step, &error));
    return step;
}

/* All three stand over the same: step x ranks x peak. At a long sequence MFU counts scores that the
 * kernel skips, and passes 1; what the kernel does never can. */
static void test_ratios(void **state)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 2, 1, 1, 1, 1);
    c.cluster.node.kind = &topology_nvlink_island;
    c.cluster.fabric.kind = &topology_none;
    c.gpu.attention.forward[ATTENTION_FLASH2][1].ceiling_flops_per_s = 300e12;
    c.gpu.attention.backward[ATTENTION_FLASH2][1].ceiling_flops_per_s = 300e12;
    c.model.attention.heads = c.model.attention.kv_heads = 8;
    c.model.attention.head_size = 128;
    c.training.attention = ATTENTION_FLASH2;
    c.training.causal = true;
    c.training.sequence = 524288;
    struct step *step = play(&c);
    double most = step->step_s * 2.0 * 312e12;
    assert_true(close_to(step->rates.hfu_ratio, expected_flops(&c) / most));
    double tokens = 524288.0, h = 8 * 128, layers = 4.0;
    double weights = layers * (layer_weights(&c.model) + 2 * 64) + 64.0 * 512.0 + 64.0;
    assert_true(
        close_to(step->rates.mfu_ratio, tokens * (6 * weights + 12 * layers * h * tokens) / most));
    assert_true(close_to(step->rates.causal_mfu_ratio,
                         tokens * (6 * weights + 6 * layers * h * tokens) / most));
    assert_true(step->rates.mfu_ratio > 1.0);
    assert_true(step->rates.hfu_ratio < 1.0 &&
                step->rates.hfu_ratio > step->rates.causal_mfu_ratio);
    step_destroy(step);
    c.training.causal = false;
    step = play(&c);
    assert_true(step->rates.causal_mfu_ratio == step->rates.mfu_ratio);
    step_destroy(step);
}

/* One stage alone is the program that it has among the others, to the last byte of its peaks: the
 * search for the smallest cluster asks the first stage of a pipeline before all of them. */
static void test_stage_alone(void **state)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 2, 1, 2, 4, 6);
    struct arena *arena = arena_create();
    struct lowered lowered;
    struct ledger_limits endless = {.usable_bytes = INFINITY};
    double least = INFINITY, most = 0.0;
    lower(arena, &c, &lowered);
    for (uint32_t stage = 0; stage < 4; stage++) {
        const struct program *one = lower_stage(arena, &c, stage), *all = lowered.programs[stage];
        struct ledger_result alone, among;
        assert_int_equal(one->stage, stage);
        assert_int_equal(one->op_count, all->op_count);
        assert_int_equal(one->ledger_count, all->ledger_count);
        ledger_play(arena, one, &endless, false, &alone);
        ledger_play(arena, all, &endless, false, &among);
        assert_true(alone.peak_reserved_bytes == among.peak_reserved_bytes);
        assert_true(alone.peak_allocated_bytes == among.peak_allocated_bytes);
        least = fmin(least, alone.peak_allocated_bytes);
        most = fmax(most, alone.peak_allocated_bytes);
    }
    assert_true(most > least); /* the stages do differ */
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hardware_flops),
        cmocka_unit_test(test_ratios),
        cmocka_unit_test(test_stage_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
