/* Kernel times where one term alone remains, by hand; and the rows of optimizers and precisions.
 *
 * The card of these tests has round figures: 16 SMs, 1,600 FLOP/s of which .5 are reached, so 50
 * for each SM, 100 bytes/s of which .5 are reached, 2 s to start a kernel. What a test does not ask
 * for is switched off. */
#include <math.h>
#include <string.h>

#include "models/gpu/gpu.h"
#include "models/workload/optimizer.h"
#include "tests/test.h"

#define NEVER 1e30

static struct gpu_spec card(void)
{
    struct gpu_spec gpu = {
        .peak_flops_per_s = {[PEAK_BF16] = 1600, [PEAK_FP16] = 800},
        .hbm.bytes_per_s = 100,
        .hbm.efficiency_ratio = 0.5,
        .l2_bytes = NEVER,
        .sm_count = 16,
        .clock_hz = NEVER,
        .gemm.efficiency_ratio = 0.5,
        .gemm.operand_passes = 3,
        .gemm.k_half = 10,
        .kernel_start_s = 2,
        .attention.rows = 128,
    };
    for (int kernel = 0; kernel < ATTENTION_KERNEL_COUNT; kernel++)
        gpu.attention.small_head_ratio[kernel] = gpu.attention.large_head_ratio[kernel] = 1;
    return gpu;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

static double gemm_s(const struct gpu_spec *gpu, double m, double n, double k, double batch)
{
    struct kernel kernel = gpu_kernel_gemm("g", PEAK_BF16, (struct gemm_shape){m, n, k, batch}, 2);
    return gpu_kernel_time_s(gpu, NULL, &kernel);
}

/* Arithmetic alone: waves x 2 x tile x (depth + 10) / 50. Tiles of 64 x 64 waste nothing on small
 * products; splits of k fill idle SMs, for a second start. */
static void test_waves_and_splits(void **state)
{
    struct gpu_spec gpu = card();
    gpu.hbm.bytes_per_s = NEVER;
    double tile = 2 * 64 * 64 / 50.0;
    assert_true(near(gemm_s(&gpu, 64, 64, 8, 16), tile * 18 + 2));
    assert_true(near(gemm_s(&gpu, 64, 64, 8, 17), 2 * tile * 18 + 2));
    assert_true(near(gemm_s(&gpu, 128, 128, 8, 4), tile * 18 + 2));
    assert_true(near(gemm_s(&gpu, 1, 1, 8, 16), tile * 18 + 2));
    /* One tile: 16 parts of k = 160 are 10 deep; of k = 161 they are 11. */
    assert_true(near(gemm_s(&gpu, 64, 64, 160, 1), tile * 20 + 2 + 2));
    assert_true(near(gemm_s(&gpu, 64, 64, 161, 1), tile * 21 + 2 + 2));
    /* Two tiles: 8 parts; four: 4; eight: 2. */
    assert_true(near(gemm_s(&gpu, 64, 64, 160, 2), tile * 30 + 2 + 2));
    assert_true(near(gemm_s(&gpu, 64, 64, 160, 4), tile * 50 + 2 + 2));
    assert_true(near(gemm_s(&gpu, 64, 64, 160, 8), tile * 90 + 2 + 2));
    /* Nothing is split where it costs more than it saves. */
    gpu.kernel_start_s = 1e6;
    assert_true(near(gemm_s(&gpu, 64, 64, 160, 1), tile * 170 + 1e6));
}

/* A tile's operands pass 128 bytes a clock three times: 3 x (64 + 64) x (8 + 10) x 2 bytes. */
static void test_shared_memory(void **state)
{
    struct gpu_spec gpu = card();
    gpu.hbm.bytes_per_s = NEVER;
    gpu.clock_hz = 1e-3;
    assert_true(near(gemm_s(&gpu, 64, 64, 8, 16), 3 * 128 * 18 * 2 / 0.128 + 2));
}

/* Loads alone: operands once where they fit L2; else each wave reads a patch of 4 x 4 tiles again.
 * 4,096 x 4,096 x 64 in tiles of 256 x 128: 512 tiles, 32 waves of 1,024 rows and 512 columns. */
static void test_traffic(void **state)
{
    struct gpu_spec gpu = card();
    gpu.peak_flops_per_s[PEAK_BF16] = NEVER;
    double operands = 2 * 4096.0 * 64 * 2, written = 4096.0 * 4096 * 2;
    gpu.l2_bytes = operands;
    assert_true(near(gemm_s(&gpu, 4096, 4096, 64, 1), (operands + written) / 50 + 2));
    gpu.l2_bytes = operands - 1;
    double read = 32.0 * (1024 + 512) * 64 * 2;
    assert_true(near(gemm_s(&gpu, 4096, 4096, 64, 1), (read + written) / 50 + 2));
    /* A patch is no larger than the product, and no operand is read less than once. */
    gpu.l2_bytes = 0;
    assert_true(near(gemm_s(&gpu, 256, 128, 64, 1), (384 * 64 + 256 * 128) * 2.0 / 50 + 2));
}

/* Loads and arithmetic meet in the third root of their cubes; a split writes and reads its partial
 * sums in fp32. One tile, k = 160, by each split. */
static void test_overlap(void **state)
{
    struct gpu_spec gpu = card();
    double best_s = INFINITY;
    gpu.kernel_start_s = 0.125;
    gpu.hbm.bytes_per_s = 400;
    for (int split = 1; split <= 16; split *= 2) {
        double compute_s = 2 * 64 * 64 * (160.0 / split + 10) / 50;
        double bytes = 2 * (64 * 160 + 160 * 64 + 64 * 64);
        bytes += split > 1 ? 8.0 * split * 64 * 64 : 0.0;
        double time_s = cbrt(pow(compute_s, 3) + pow(bytes / 200, 3));
        best_s = fmin(best_s, time_s + (split > 1 ? 0.125 : 0));
    }
    assert_true(near(gemm_s(&gpu, 64, 64, 160, 1), best_s + 0.125));
}

/* A product that adds into a kept result reads and writes it. */
static void test_accumulation(void **state)
{
    struct gpu_spec gpu = card();
    gpu.peak_flops_per_s[PEAK_BF16] = NEVER;
    gpu.l2_bytes = 0;
    struct kernel k = gpu_kernel_gemm("g", PEAK_BF16, (struct gemm_shape){256, 128, 64, 3}, 2);
    gpu_kernel_gemm_accumulate(&k, 4);
    double bytes = 3 * (384 * 64 * 2.0 + 256 * 128 * 8.0);
    assert_true(k.bytes == bytes);
    assert_true(near(gpu_kernel_time_s(&gpu, NULL, &k), bytes / 50 + 2));
    gpu_kernel_gemm_accumulate(&k, 2); /* the last word counts */
    assert_true(k.bytes == 3 * (384 * 64 * 2.0 + 256 * 128 * 4.0));
}

/* A launch for each expert, on one card that they fill together. */
static void test_products_by_expert(void **state)
{
    struct gpu_spec gpu = card();
    struct kernel k = gpu_kernel_gemm("g", PEAK_BF16, (struct gemm_shape){64, 64, 8, 16}, 2);
    double together = gpu_kernel_time_s(&gpu, NULL, &k);
    k.launches = 16;
    assert_true(near(gpu_kernel_time_s(&gpu, NULL, &k), together + 15 * 2));
}

static void test_other_kernels(void **state)
{
    struct gpu_spec gpu = card();
    struct kernel k = gpu_kernel_memory("m", 600, 3);
    assert_true(gpu_kernel_time_s(&gpu, NULL, &k) == 600 / 50.0 + 3 * 2);
    assert_true(gpu_kernel_peak_time_s(&gpu, &k) == 0);
    assert_true(k.flops == 0 && k.kind == KERNEL_MEMORY);
    k = gpu_kernel_memory("m", 0, 1);
    assert_true(gpu_kernel_time_s(&gpu, NULL, &k) == 2);
    k = gpu_kernel_gemm("g", PEAK_FP16, (struct gemm_shape){3, 5, 7, 2}, 2);
    assert_true(k.flops == 2 * 3 * 5 * 7 * 2 && k.launches == 1);
    assert_true(k.bytes == (3 * 7 + 7 * 5 + 3 * 5) * 2 * 2);
    assert_true(gpu_kernel_peak_time_s(&gpu, &k) == 420 / 800.0);
    k = gpu_kernel_gemm("g", PEAK_BF16, (struct gemm_shape){0, 5, 7, 1}, 2);
    assert_true(gpu_kernel_time_s(&gpu, NULL, &k) == 0 && gpu_kernel_peak_time_s(&gpu, &k) == 0);
}

struct core { /* of attention */
    bool causal, backward;
    double batch, queries, keys, heads, size;
};

static double attention_s(const struct gpu_spec *gpu, struct core core)
{
    struct kernel k = gpu_kernel_attention("a", PEAK_BF16,
                                           &(struct attention_shape){.kernel = ATTENTION_FLASH2,
                                                                     .causal = core.causal,
                                                                     .backward = core.backward,
                                                                     .batch = core.batch,
                                                                     .query_tokens = core.queries,
                                                                     .key_tokens = core.keys,
                                                                     .heads = core.heads,
                                                                     .kv_heads = core.heads,
                                                                     .head_size = core.size},
                                           2);
    return gpu_kernel_time_s(gpu, NULL, &k);
}

/* Without a mask: rate 1,000 / (1 + 64 / keys), of a full card; 2 products forward, 5 backward, 2 q
 * k d each; a block of 128 rows on each of 16 SMs. */
static void test_attention(void **state)
{
    struct gpu_spec gpu = card();
    gpu.hbm.bytes_per_s = NEVER;
    gpu.kernel_start_s = 0;
    gpu.attention.forward[ATTENTION_FLASH2][0] = (struct attention_curve){1000, 64};
    gpu.attention.backward[ATTENTION_FLASH2][0] = (struct attention_curve){500, 128};
    double pairs = 2 * 128 * 256 * 128; /* one head: 2 x q x k x d */
    double forward = 2 * pairs / (1000 / 1.25), backward = 5 * pairs / (500 / 1.5);
    assert_true(near(attention_s(&gpu, (struct core){0, 0, 4, 128, 256, 4, 128}), 16 * forward));
    assert_true(near(attention_s(&gpu, (struct core){0, 1, 4, 128, 256, 4, 128}), 16 * backward));
    /* One head is one block forward, two blocks of keys backward. */
    assert_true(near(attention_s(&gpu, (struct core){0, 0, 1, 128, 256, 1, 128}), 16 * forward));
    assert_true(near(attention_s(&gpu, (struct core){0, 1, 1, 128, 256, 1, 128}), 8 * backward));
    assert_true(
        near(attention_s(&gpu, (struct core){0, 0, 1, 129, 256, 1, 128}), 8 * forward * 129 / 128));
    /* More than full is full. */
    assert_true(near(attention_s(&gpu, (struct core){0, 0, 8, 128, 256, 4, 128}), 32 * forward));
}

/* Under a causal mask half of the pairs, and a tail: .7 forward and .22 backward of the longest
 * block, which is twice the mean one, beside 2,048 blocks of the curve on 16 SMs. */
static void test_attention_tail(void **state)
{
    struct gpu_spec gpu = card();
    gpu.hbm.bytes_per_s = NEVER;
    gpu.kernel_start_s = 0;
    gpu.attention.forward[ATTENTION_FLASH2][1] = (struct attention_curve){1000, 0};
    gpu.attention.backward[ATTENTION_FLASH2][1] = (struct attention_curve){1000, 0};
    for (int backward = 0; backward < 2; backward++) {
        double tail = 2 * (backward ? 0.22 : 0.7) * 16, flops = backward ? 5 : 2;
        flops *= 1024.0 * 1024 * 128;
        for (double heads = 1; heads <= 256; heads *= 4) {
            double found =
                attention_s(&gpu, (struct core){1, backward != 0, 1, 1024, 1024, heads, 128});
            double expected = flops * heads / 1000 * (1 + tail / (8 * heads)) / (1 + tail / 2048);
            assert_true(near(found, expected));
        }
    }
}

/* Heads of 192 whose values have 128: three products by the one, two by the other backward; and
 * .14 and .35 for each time that the one exceeds the other. */
static void test_mixed_heads(void **state)
{
    struct gpu_spec gpu = card();
    gpu.hbm.bytes_per_s = NEVER;
    gpu.kernel_start_s = 0;
    gpu.attention.forward[ATTENTION_FLASH2][0] = (struct attention_curve){1000, 0};
    gpu.attention.backward[ATTENTION_FLASH2][0] = (struct attention_curve){1000, 0};
    for (int backward = 0; backward < 2; backward++) {
        struct attention_shape shape = {
            ATTENTION_FLASH2, false, backward != 0, 16, 128, 128, 1, 1, 192, 128};
        struct kernel k = gpu_kernel_attention("a", PEAK_BF16, &shape, 2);
        double sizes = backward ? 3 * 192 + 2 * 128 : 192 + 128;
        assert_true(k.flops == 16 * 2 * 128.0 * 128 * sizes);
        assert_true(k.bytes == 16 * (128 * 320 * 2 * (backward ? 2 : 1) * 2.0 + 4 * 128));
        assert_true(near(gpu_kernel_time_s(&gpu, NULL, &k),
                         k.flops / 1000 * (1 + (backward ? 0.35 : 0.14) * 0.5)));
    }
}

/* Heads of 64 and 256 as given, straight in 1 / size between and beyond; below 32 padded. */
static void test_attention_heads(void **state)
{
    struct gpu_spec gpu = card();
    gpu.hbm.bytes_per_s = NEVER;
    gpu.kernel_start_s = 0;
    gpu.attention.forward[ATTENTION_FLASH2][0] = (struct attention_curve){1000, 0};
    gpu.attention.small_head_ratio[ATTENTION_FLASH2] = 1.2;
    gpu.attention.large_head_ratio[ATTENTION_FLASH2] = 1.1;
    static const struct {
        double size, ratio;
    } rows[] = {{128, 1},          {64, 1.2},  {32, 1.6},   {16, 1.6 * 2},
                {96, 1 + 0.2 / 3}, {256, 1.1}, {512, 1.15}, {192, 1 + 0.2 / 3}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        double flops = 4 * 128.0 * 128 * rows[i].size * 16;
        double found = attention_s(&gpu, (struct core){0, 0, 16, 128, 128, 1, rows[i].size});
        assert_true(near(found, flops / 1000 * rows[i].ratio));
    }
}

/* Too many bytes for the FLOPs: q, k, v read and o written, and a row statistic of 4 bytes;
 * backward these and do read, and dq, dk, dv written. */
static void test_attention_traffic(void **state)
{
    struct gpu_spec gpu = card();
    gpu.attention.forward[ATTENTION_FLASH2][1] = (struct attention_curve){NEVER, 0};
    gpu.attention.backward[ATTENTION_FLASH2][1] = (struct attention_curve){NEVER, 0};
    for (int backward = 0; backward <= 1; backward++) {
        struct kernel k = gpu_kernel_attention("a", PEAK_BF16,
                                               &(struct attention_shape){.kernel = ATTENTION_FLASH2,
                                                                         .causal = true,
                                                                         .backward = backward,
                                                                         .batch = 3,
                                                                         .query_tokens = 10,
                                                                         .key_tokens = 20,
                                                                         .heads = 8,
                                                                         .kv_heads = 2,
                                                                         .head_size = 4},
                                               2);
        double tensors = (backward ? 4 : 2) * (10 * 8 * 4 + 20 * 2 * 4);
        double bytes = 3 * (2 * tensors + 4 * 10 * 8);
        assert_true(k.bytes == bytes);
        assert_true(k.flops == (backward ? 5 : 2) * 2 * (10 * 20 / 2) * 4 * 8 * 3);
        assert_true(near(gpu_kernel_time_s(&gpu, NULL, &k), bytes / 50 + 2));
    }
}

/* All four curves of a kernel, or none counts. */
static void test_has_attention(void **state)
{
    struct gpu_spec gpu = card();
    struct attention_curve some = {1, 1};
    assert_true(gpu_has_attention(&gpu, ATTENTION_MATH, PEAK_BF16));
    assert_false(gpu_has_attention(&gpu, ATTENTION_FLASH3, PEAK_BF16));
    for (int missing = 0; missing <= 4; missing++) {
        for (int i = 0; i < 4; i++) {
            struct attention_curve curve = i == missing ? (struct attention_curve){0, 0} : some;
            (i < 2 ? gpu.attention.forward : gpu.attention.backward)[ATTENTION_FLASH3][i % 2] =
                curve;
        }
        assert_int_equal(gpu_has_attention(&gpu, ATTENTION_FLASH3, PEAK_BF16), missing == 4);
        assert_false(gpu_has_attention(&gpu, ATTENTION_FLASH2, PEAK_BF16));
    }
}

/* Formats of operands that each kernel is written for, by the letters of their sources: fp32, tf32,
 * bf16, fp16, fp8, fp4. A card with all curves runs no more. */
static void test_attention_takes(void **state)
{
    static const char *const taken[ATTENTION_KERNEL_COUNT] = {
        [ATTENTION_MATH] = "yyyyyy",   [ATTENTION_FLASH1] = "--yy--", [ATTENTION_FLASH2] = "--yy--",
        [ATTENTION_FLASH3] = "--yyy-", [ATTENTION_CUDNN] = "--yyy-",
    };
    struct gpu_spec gpu = card();
    for (unsigned k = 0; k < ATTENTION_KERNEL_COUNT; k++)
        for (unsigned p = 0; p < PEAK_COUNT; p++) {
            for (int causal = 0; causal < 2; causal++)
                gpu.attention.forward[k][causal] = gpu.attention.backward[k][causal] =
                    (struct attention_curve){1, 1};
            assert_int_equal(gpu_attention_takes(k, p), taken[k][p] == 'y');
            assert_int_equal(gpu_has_attention(&gpu, k, p), taken[k][p] == 'y');
        }
}

/* Bytes of each moment's element. Adafactor reads the fp32 gradient a second time. */
static void test_optimizers(void **state)
{
    const double block = 1 + 4 / 256.0;
    const struct {
        const char *name;
        unsigned moments;
        double first, second, more;
        unsigned steps;
    } rows[] = {
        {"adam", 2, 4, 4, 0, 0}, {"adamw", 2, 4, 4, 0, 0},    {"adam8bit", 2, block, block, 0, 0},
        {"sgd", 0, 0, 0, 0, 0},  {"momentum", 1, 4, 0, 0, 0}, {"adafactor", 1, 4, 0, 4, 0},
        {"muon", 2, 4, 4, 0, 5},
    };
    assert_int_equal(optimizer_count, sizeof rows / sizeof *rows);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct optimizer *o = optimizer_find(rows[i].name);
        assert_non_null(o);
        assert_int_equal(o->moment_count, rows[i].moments);
        assert_true(rows[i].moments < 1 || o->moments[0].bytes == rows[i].first);
        assert_true(rows[i].moments < 2 || o->moments[1].bytes == rows[i].second);
        assert_true(o->master_bytes == 4 && o->more_traffic_bytes == rows[i].more);
        assert_int_equal(o->orthogonal_steps, rows[i].steps);
    }
    assert_int_equal(optimizer_find("adafactor")->moments[0].extent, EXTENT_FACTORED);
    assert_int_equal(optimizer_find("muon")->moments[0].extent, EXTENT_ALL);
    assert_int_equal(optimizer_find("muon")->moments[1].extent, EXTENT_VECTORS);
}

static void test_precisions(void **state)
{
    static const struct {
        const char *name;
        enum peak_kind gemm, attention;
        double weight, activation, gradient;
        bool master;
    } rows[] = {
        {"bf16", PEAK_BF16, PEAK_BF16, 2, 2, 2, true},
        {"fp16", PEAK_FP16, PEAK_FP16, 2, 2, 2, true},
        {"fp8", PEAK_FP8, PEAK_BF16, 1, 1, 2, true},
        {"nvfp4", PEAK_FP4, PEAK_BF16, 2, 0.5, 2, true},
        {"fp32", PEAK_TF32, PEAK_TF32, 4, 4, 4, false},
    };
    assert_int_equal(precision_count, sizeof rows / sizeof *rows);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct precision *p = precision_find(rows[i].name);
        assert_non_null(p);
        assert_int_equal(p->gemm_peak, rows[i].gemm);
        assert_int_equal(p->attention_peak, rows[i].attention);
        assert_true(p->weight_bytes == rows[i].weight);
        assert_true(p->activation_bytes == rows[i].activation);
        assert_true(p->gradient_bytes == rows[i].gradient);
        assert_int_equal(p->master_weights, rows[i].master);
        assert_int_equal(precision_narrow(p), rows[i].gemm != rows[i].attention);
        assert_string_equal(precision_wide(p)->head.name,
                            precision_narrow(p) ? "bf16" : rows[i].name);
        assert_true(p->copy_bytes == (rows[i].gemm == PEAK_FP4 ? 1.125 : 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waves_and_splits), cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_traffic),          cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_other_kernels),    cmocka_unit_test(test_attention),
        cmocka_unit_test(test_attention_heads),  cmocka_unit_test(test_attention_traffic),
        cmocka_unit_test(test_has_attention),    cmocka_unit_test(test_attention_takes),
        cmocka_unit_test(test_optimizers),       cmocka_unit_test(test_precisions),
        cmocka_unit_test(test_attention_tail),   cmocka_unit_test(test_mixed_heads),
        cmocka_unit_test(test_accumulation),     cmocka_unit_test(test_products_by_expert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
