/* The page of walls against numbers worked out by hand. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/explain/walls_rows.h"
#include "sim/units.h"
#include "tests/test.h"

static void near(double value, double wanted, double relative)
{
    if (!(fabs(value - wanted) <= relative * fabs(wanted)))
        fail_msg("%.10g, wanted %.10g", value, wanted);
}

/* Llama 3 70B: 80 layers, 8,192 wide, 64 heads. */
static const struct walls_shape of_8k = {8192, 1, 80, 8192, 64}, of_2k = {2048, 1, 80, 8192, 64};

static void test_activations(void **state)
{
    /* 8192 x 8192 x 80 = 5,368,709,120 elements; 5 x 64 x 8192 / 8192 = 320 bytes of scores each */
    near(walls_kept_bytes(&of_8k), 34.0 * 5368709120.0, 1e-15);
    near(walls_kept_with_scores_bytes(&of_8k), 354.0 * 5368709120.0, 1e-15);
    near(walls_recomputed_bytes(&of_8k), 10737418240.0, 1e-15);
    /* a quarter of the elements, with 80 bytes of scores each: about 150 and 2.6 GB */
    near(walls_kept_with_scores_bytes(&of_2k), 114.0 * 1342177280.0, 1e-15);
    near(walls_kept_with_scores_bytes(&of_2k), 150e9, 0.03);
    near(walls_recomputed_bytes(&of_2k), 2.6e9, 0.04);
}

static void test_compute_and_traffic(void **state)
{
    near(walls_flops(70e9, 8192.0), 3.44064e15, 1e-15);
    near(walls_compute_s(6.3e24, 1.0, 989e12, 0.4) / YEAR, 504.6, 1e-3);
    near(walls_compute_s(6.3e24, 1024.0, 989e12, 0.4) / YEAR * 12.0, 5.914, 1e-3);
    near(walls_all_reduce_bytes(140e9, 1024.0), 279.7265625e9, 1e-12);
    near(walls_all_reduce_bytes(8.0, 2.0), 8.0, 1e-15); /* half to the peer, half back */
    assert_true(walls_all_reduce_bytes(8.0, 1.0) == 0.0);
}

/* Llama 3 70B in 16 bit on cards of 79.18 GiB: two hold its weights, with 15.0 GB left on each; a
 * sequence of 8,192 has 2.68 GB of keys and values, half on each. Eight heads of keys on sixteen
 * cards are there twice; a latent is on every card. */
static void test_inference(void **state)
{
    const double usable = 79.18 * GIB, weights = 140e9, cache = 327680.0 * 8192.0;
    assert_true(walls_sequences_beside(2.0, usable, weights, cache, 8.0) == 11.0);
    assert_true(walls_sequences_beside(1.0, usable, weights, cache, 8.0) == 0.0);
    assert_true(walls_sequences_beside(8.0, 10.0, 40.0, 8.0, 8.0) == 5.0);
    assert_true(walls_sequences_beside(16.0, 10.0, 80.0, 8.0, 8.0) == 5.0);
    assert_true(walls_sequences_beside(8.0, 10.0, 40.0, 1.0, 1.0) == 5.0);
}

static void test_roofline(void **state)
{
    near(walls_balance(989e12, 3.35e12), 295.2, 1e-3);
    near(walls_roofline_s(2e12, 1.0, 1e12, 1e12), 2.0, 1e-15);
    near(walls_roofline_s(1.0, 3e12, 1e12, 1e12), 3.0, 1e-15);
}

static void test_binding(void **state)
{
    struct walls_load load = {.state_bytes = 100.0,
                              .least_activation_bytes = 5.0,
                              .gpus = 10.0,
                              .usable_bytes = 16.0,
                              .compute_s = 2.0,
                              .all_reduce_s = 1.0};
    assert_int_equal(walls_binding(&load), WALL_COMPUTE);
    load.all_reduce_s = 3.0;
    assert_int_equal(walls_binding(&load), WALL_COMMUNICATION);
    load.usable_bytes = 14.0;
    assert_int_equal(walls_binding(&load), WALL_ACTIVATIONS);
    load.usable_bytes = 9.0;
    assert_int_equal(walls_binding(&load), WALL_STATE);
}

static struct scenario *read_text(const char *text)
{
    struct error error = {""};
    struct scenario *s = scenario_read("t", text, strlen(text), NULL, &error);
    assert_non_null(s);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

static double envelope_of(const struct walls_row rows[WALLS_ROW_COUNT], const char *key)
{
    for (unsigned i = 0; i < WALLS_ROW_COUNT; i++)
        if (strcmp(rows[i].key, key) == 0)
            return rows[i].envelope;
    fail_msg("no row %s", key);
    return NAN;
}

static double simulated_of(const struct walls_row rows[WALLS_ROW_COUNT], const char *key)
{
    for (unsigned i = 0; i < WALLS_ROW_COUNT; i++)
        if (strcmp(rows[i].key, key) == 0)
            return rows[i].simulated;
    fail_msg("no row %s", key);
    return NAN;
}

static const struct walls_assumed usual = {WALLS_MFU, WALLS_BANDWIDTH_GB *GIGA};

static void gather(struct arena *arena, const char *text, struct walls *walls,
                   struct walls_row rows[WALLS_ROW_COUNT])
{
    struct error error = {""};
    struct scenario *s = read_text(text);
    assert_true(walls_gather(arena, s, &usual, walls, &error));
    walls_rows(walls, rows);
    scenario_destroy(s);
}

/* The textbook's 70B on 1,024 GPUs. */
static void test_textbook(void **state)
{
    struct arena *arena = arena_create();
    struct walls walls;
    struct walls_row rows[WALLS_ROW_COUNT];
    gather(arena,
           "model: {preset: llama3-70b}\ncluster: {gpu: h100-80gb-sxm, gpus: 1024}\n"
           "training: {sequence: 8192, global_batch: 1024, tokens: 15T}\nsoftware: megatron\n",
           &walls, rows);
    near(envelope_of(rows, "state"), 1.12e12, 1e-12);
    near(envelope_of(rows, "cards"), 14.0, 0.0);
    near(envelope_of(rows, "sequence_flops"), 3.4e15, 0.02);
    near(envelope_of(rows, "all_reduce"), 280e9, 0.002);
    near(envelope_of(rows, "all_reduce_s"), 2.8, 0.002);
    near(envelope_of(rows, "gpu_years"), 500.0, 0.02);
    near(envelope_of(rows, "months"), 6.0, 0.02);
    assert_int_equal(walls.binding, WALL_COMPUTE);
    /* 70.55 B parameters in 2 + 4 + 4 + 4 + 4 bytes: Megatron keeps fp32 gradients */
    near(simulated_of(rows, "state"), 18.0 * 70.55e9, 0.002);
    /* a full recomputation keeps the inputs and, at its peak, what one layer works on */
    assert_true(simulated_of(rows, "activations_recomputed") >
                envelope_of(rows, "activations_recomputed"));
    assert_true(simulated_of(rows, "activations_recomputed") <
                envelope_of(rows, "activations_recomputed") +
                    envelope_of(rows, "activations") / 80.0 * 3.0);
    arena_destroy(arena);
}

/* Adapters of rank 64 on each of a layer's seven products: 64 x (8192 + 5120 + 5120 + 8192 + 3 x
 * 18432) parameters. They alone have gradients, and a state beside two bytes of each weight. */
static void test_adapters(void **state)
{
    struct arena *arena = arena_create();
    const double n = 32.0 * 64.0 * 81920.0, nominal = 8e9,
                 multiplied = 8030261248.0 - 128256.0 * 4096.0; /* but for the embedding */
    struct walls walls;
    struct walls_row rows[WALLS_ROW_COUNT];
    gather(arena,
           "model: {preset: llama3-8b}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
           "training: {sequence: 8192, global_batch: 8, tokens: 1T, adapter: lora, adapter_rank: "
           "64}\nlayout: {tp: 1, pp: 1, microbatch: 1, sharding: fsdp}\nsoftware: torchtitan\n",
           &walls, rows);
    const double flops = 4.0 * nominal + 6.0 * n, scores = 12.0 * 32.0 * 4096.0 * 8192.0;
    near(envelope_of(rows, "sequence_flops"), flops * 8192.0, 1e-12);
    near(simulated_of(rows, "sequence_flops"), (4.0 * multiplied + 6.0 * n + scores) * 8192.0,
         1e-12);
    near(envelope_of(rows, "step_flops"), flops * 65536.0, 1e-12);
    near(envelope_of(rows, "budget_flops"), flops * 1e12, 1e-12);
    near(envelope_of(rows, "step"), flops * 65536.0 / (8.0 * 989.4e12 * 0.4), 1e-12);
    near(envelope_of(rows, "all_reduce"), 2.0 * 7.0 / 8.0 * 2.0 * n, 1e-12);
    near(simulated_of(rows, "bandwidth") * simulated_of(rows, "all_reduce_s"),
         envelope_of(rows, "all_reduce"), 1e-12);
    near(envelope_of(rows, "state"), 2.0 * nominal + 16.0 * n, 0.003);
    near(simulated_of(rows, "state"), envelope_of(rows, "state"), 0.03);
    for (unsigned i = 0; i < WALLS_ROW_COUNT; i++)
        if (strstr(rows[i].formula, "6N") != NULL || strstr(rows[i].formula, "6 N") != NULL ||
            strstr(rows[i].formula, "x N x bytes of a gradient") != NULL)
            fail_msg("%s: %s", rows[i].key, rows[i].formula);
    arena_destroy(arena);
}

/* FLOPs are those of the experts that a token visits. */
static void test_experts(void **state)
{
    struct arena *arena = arena_create();
    struct walls walls;
    struct walls_row rows[WALLS_ROW_COUNT];
    gather(arena,
           "model: {preset: deepseek-v3-671b}\n"
           "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, gpus: 136}\n"
           "training: {sequence: 4096, global_batch: 136, precision: bf16}\n"
           "layout: {tp: 1, pp: 1, dp: auto, microbatch: 1}\n",
           &walls, rows);
    near(envelope_of(rows, "state"), 16.0 * 671e9, 1e-6);
    near(envelope_of(rows, "sequence_flops"), 6.0 * 37e9 * 4096.0, 0.03);
    assert_true(walls.kernel_count > 0);
    arena_destroy(arena);
}

/* The numbers of a simulated budget agree: steps of so many tokens fill it, GPU-time is time on
 * every GPU, and MFU is its FLOPs over what the GPUs could do meanwhile. */
static void test_simulated_budget(void **state)
{
    static const char *const layouts[] = {"tp: 1, pp: 1, microbatch: 1, sharding: fsdp",
                                          "tp: 2, pp: 2, microbatch: 2, sharding: zero-1",
                                          "tp: 4, pp: 1, microbatch: 1, sharding: zero-3"};
    for (unsigned i = 0; i < 9; i++) {
        const unsigned gpus = 8u << i % 3, batch = 4 * gpus;
        struct arena *arena = arena_create();
        struct walls walls;
        struct walls_row rows[WALLS_ROW_COUNT];
        char text[512];
        snprintf(text, sizeof text,
                 "model: {layers: 8, hidden: 2048, heads: 16, vocabulary: 32000}\n"
                 "cluster: {gpu: h100-80gb-sxm, gpus: %u}\n"
                 "training: {sequence: 2048, global_batch: %u, tokens: %uB}\nlayout: {%s}\n",
                 gpus, batch, 10 + i, layouts[i / 3]);
        gather(arena, text, &walls, rows);
        const struct walls_simulated *s = &walls.simulated;
        const double tokens = (10.0 + i) * 1e9, step_tokens = batch * 2048.0;
        assert_true(s->fits && s->timed);
        near(s->budget_s, ceil(tokens / step_tokens) * s->step_s, 1e-12);
        near(s->gpu_s_of_budget, s->budget_s * gpus, 1e-12);
        near(s->budget_flops, ceil(tokens / step_tokens) * s->step_flops, 1e-12);
        near(s->mfu_ratio, s->budget_flops / (s->gpu_s_of_budget * walls.envelope.peak_flops_per_s),
             1e-9);
        near(simulated_of(rows, "gpu_years"), simulated_of(rows, "months") / 12.0 * gpus, 1e-9);
        near(envelope_of(rows, "gpu_years"), envelope_of(rows, "months") / 12.0 * gpus, 1e-9);
        arena_destroy(arena);
    }
}

/* Sixteen bytes of state for each of 70 B parameters bind first exactly where they do not fit. */
static void test_state_binds(void **state)
{
    unsigned bound = 0;
    for (unsigned gpus = 8; gpus <= 64; gpus += 8) {
        struct arena *arena = arena_create();
        struct walls walls;
        struct walls_row rows[WALLS_ROW_COUNT];
        char text[256];
        snprintf(text, sizeof text,
                 "model: {preset: llama3-70b}\ncluster: {gpu: h100-80gb-sxm, gpus: %u}\n"
                 "training: {sequence: 8192, global_batch: %u}\nsoftware: megatron\n",
                 gpus, gpus);
        gather(arena, text, &walls, rows);
        const bool fits = 16.0 * 70e9 / gpus <= walls.envelope.usable_bytes;
        if ((walls.binding == WALL_STATE) == fits)
            fail_msg("%u GPUs: wall %d", gpus, (int)walls.binding);
        bound += fits ? 0 : 1;
        arena_destroy(arena);
    }
    assert_true(bound > 0 && bound < 8);
}

/* Each peak at which some kernel computes, once, from the highest down. */
static void test_roofs(void **state)
{
    const struct walls_kernel kernels[] = {
        {.flops = 1.0, .peak_flops_per_s = 2.0}, {.flops = 0.0, .peak_flops_per_s = 9.0},
        {.flops = 1.0, .peak_flops_per_s = 3.0}, {.flops = 1.0, .peak_flops_per_s = 2.0},
        {.flops = 1.0, .peak_flops_per_s = 1.0}, {.flops = 1.0, .peak_flops_per_s = 3.0}};
    const struct walls walls = {.kernels = kernels, .kernel_count = 6};
    const struct walls_kernel *roofs[PEAK_COUNT];
    assert_int_equal(walls_roofs(&walls, roofs), 3);
    assert_ptr_equal(roofs[0], &kernels[2]);
    assert_ptr_equal(roofs[1], &kernels[0]);
    assert_ptr_equal(roofs[2], &kernels[4]);
}

static unsigned roofs_seen;

/* No kernel is faster than the roof that is printed beside it, in any precision that the card has
 * and with any attention that runs there. */
static void no_kernel_passes_its_roof(const char *model, const char *card, const char *precision,
                                      const char *attention)
{
    char text[320];
    snprintf(text, sizeof text,
             "model: {preset: %s}\ncluster: {gpu: %s, gpus: 8}\nsoftware: megatron\n"
             "layout: {tp: 2, pp: 1, microbatch: 1, sharding: zero-1, recompute: full}\n"
             "training: {sequence: 8192, global_batch: 8, precision: %s, attention: %s}\n",
             model, card, precision, attention);
    struct arena *arena = arena_create();
    struct error error = {""};
    struct walls walls;
    struct scenario *s = scenario_read("t", text, strlen(text), NULL, &error);
    if (s->diagnostics.error_count == 0) {
        assert_true(walls_gather(arena, s, &usual, &walls, &error));
        for (unsigned i = 0; i < walls.kernel_count; i++)
            if (walls.kernels[i].name == NULL ||
                walls.kernels[i].modelled_s < walls.kernels[i].roofline_s)
                fail_msg("%s: %s in %g s, roof %g s", text, walls.kernels[i].name,
                         walls.kernels[i].modelled_s, walls.kernels[i].roofline_s);
        roofs_seen += walls.kernel_count > 0 ? 1 : 0;
    }
    scenario_destroy(s);
    arena_destroy(arena);
}

static void test_every_roof(void **state)
{
    static const char *const models[] = {"llama3-8b", "phi4-14b", "llama2-13b"};
    static const char *const cards[] = {"a100-80gb-sxm", "h100-80gb-sxm", "b200-180gb-sxm",
                                        "rtx5090-32gb", "mi300x-192gb"};
    static const char *const attentions[] = {"auto", "math", "flash2", "cudnn"};
    for (unsigned c = 0; c < sizeof cards / sizeof cards[0]; c++)
        for (unsigned p = 0; p < precision_count; p++)
            for (unsigned a = 0; a < sizeof attentions / sizeof attentions[0]; a++)
                no_kernel_passes_its_roof(models[(c + p) % 3], cards[c], precisions[p].head.name,
                                          attentions[a]);
    assert_true(roofs_seen > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_activations), cmocka_unit_test(test_compute_and_traffic),
        cmocka_unit_test(test_inference),   cmocka_unit_test(test_roofline),
        cmocka_unit_test(test_roofs),       cmocka_unit_test(test_every_roof),
        cmocka_unit_test(test_binding),     cmocka_unit_test(test_textbook),
        cmocka_unit_test(test_adapters),    cmocka_unit_test(test_experts),
        cmocka_unit_test(test_state_binds), cmocka_unit_test(test_simulated_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
