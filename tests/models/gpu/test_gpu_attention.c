/* Times of flash kernels against their curves, heads, and operands of eight bits. */
#include <math.h>

#include "tests/models/gpu/cards.h"
#include "tests/test.h"

static double model_time(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    return gpu_kernel_time_s(gpu, NULL, kernel);
}

static double attention_of_head(const struct gpu_spec *card, double size)
{
    struct kernel k = gpu_kernel_attention("a", PEAK_BF16,
                                           &(struct attention_shape){.kernel = ATTENTION_FLASH2,
                                                                     .causal = true,
                                                                     .backward = false,
                                                                     .batch = 8,
                                                                     .query_tokens = 2048,
                                                                     .key_tokens = 2048,
                                                                     .heads = 2048 / size,
                                                                     .kv_heads = 2048 / size,
                                                                     .head_size = size},
                                           2);
    return model_time(card, &k);
}

/* The same FLOPs in heads of other sizes: the card's ratios at 64 and 256, padding below 32. */
static void test_attention_heads(void **state)
{
    struct gpu_spec card = card_h100();
    card.kernel_start_s = 0;
    double at_128 = attention_of_head(&card, 128);
    assert_true(fabs(attention_of_head(&card, 64) / at_128 - 1.13) < 1e-12);
    assert_true(fabs(attention_of_head(&card, 256) / at_128 - 1.08) < 1e-12);
    assert_true(fabs(attention_of_head(&card, 16) / attention_of_head(&card, 32) - 2) < 1e-12);
}

static double narrow_speedup(const struct gpu_spec *card, double size, bool backward)
{
    double time_s[2];
    for (int narrow = 0; narrow < 2; narrow++) {
        const struct attention_shape shape = {.kernel = ATTENTION_FLASH2,
                                              .causal = true,
                                              .backward = backward,
                                              .batch = 8,
                                              .query_tokens = 4096,
                                              .key_tokens = 4096,
                                              .heads = 64,
                                              .kv_heads = 64,
                                              .head_size = size};
        const struct kernel k = gpu_kernel_attention("a", narrow ? PEAK_FP8 : PEAK_BF16, &shape, 2);
        time_s[narrow] = model_time(card, &k);
    }
    return time_s[0] / time_s[1];
}

/* 8-bit operands: exponentials take as long as before, so large heads gain what the peaks say and
 * small ones nothing; five products to a score backward gain more than two forward. On H100
 * FlashAttention-3 reports 1.6 forward (740 and 1,200 TFLOP/s, arXiv:2407.08608). A card without
 * an 8-bit peak gains nothing. */
static void test_attention_narrow(void **state)
{
    struct gpu_spec card = card_h100();
    card.kernel_start_s = 0;
    card.hbm.bytes_per_s *= 1e6;
    const double at_128 = narrow_speedup(&card, 128, false);
    assert_true(at_128 > 1.5 && at_128 < 1.75);
    assert_true(narrow_speedup(&card, 128, true) > at_128);
    assert_true(fabs(narrow_speedup(&card, 4096, false) / 2.0 - 1) < 1e-3);
    assert_true(narrow_speedup(&card, 32, false) < at_128);
    card.peak_flops_per_s[PEAK_FP8] = 0;
    assert_true(fabs(narrow_speedup(&card, 128, false) - 1) < 1e-12);
}

/* R / (1 + s0 / s) on the FLOPs done, at the head size of the curve and with a full card. */
static void test_attention_curve(void **state)
{
    struct gpu_spec card = card_h100();
    card.kernel_start_s = 0;
    for (double s = 512; s <= 16384; s *= 2) {
        struct kernel k = gpu_kernel_attention("a", PEAK_BF16,
                                               &(struct attention_shape){.kernel = ATTENTION_FLASH2,
                                                                         .causal = true,
                                                                         .backward = false,
                                                                         .batch = 16384 / s,
                                                                         .query_tokens = s,
                                                                         .key_tokens = s,
                                                                         .heads = 16,
                                                                         .kv_heads = 16,
                                                                         .head_size = 128},
                                               2);
        double rate = 372 * TERA / (1 + 475 / s);
        assert_true(fabs(k.flops / model_time(&card, &k) / rate - 1) < 1e-12);
        assert_true(k.flops == 4 * s * s * 128 * 16 * (16384 / s) / 2);
    }
    assert_true(gpu_has_attention(&card, ATTENTION_FLASH2, PEAK_FP16));
    assert_true(gpu_has_attention(&card, ATTENTION_MATH, PEAK_FP16));
    /* no backward curve on this one */
    assert_false(gpu_has_attention(&card, ATTENTION_FLASH3, PEAK_FP16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attention_heads),
        cmocka_unit_test(test_attention_narrow),
        cmocka_unit_test(test_attention_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
