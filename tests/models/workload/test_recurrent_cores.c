/* Cores of recurrent layers against what was measured of their kernels; their states; patterns of
 * layers, and where experts are in them. */
#include "tests/models/workload/recurrent_bench.h"

/* Milliseconds of QwenLM/FlashQLA's tables (FLA 0.5.1) and FlashKDA's (FLA), heads of 128. The
 * first two rows of H200 and its first of backward gave the constants; the others did not. */
static void cores_take_what_was_measured(void **state)
{
    enum {
        H200,
        GB200,
        H20
    };
    static const struct {
        const struct layer_kind *kind;
        int card;
        bool backward;
        double heads, tokens, measured_ms, ratio;
    } rows[] = {
        {&layer_gdn, H200, false, 64, 32768, 3.331, 0.01},
        {&layer_gdn, H200, false, 32, 32768, 1.885, 0.01},
        {&layer_gdn, H200, true, 32, 32768, 5.697, 0.01},
        {&layer_gdn, H200, false, 16, 32768, 1.241, 0.08},
        {&layer_gdn, H200, true, 16, 32768, 3.701, 0.08},
        {&layer_gdn, H200, false, 8, 32768, 0.902, 0.13},
        {&layer_gdn, H200, true, 8, 32768, 2.743, 0.13},
        {&layer_gdn, H200, false, 32, 8192, 0.466, 0.05},
        {&layer_gdn, GB200, false, 64, 32768, 2.943, 0.08},
        {&layer_gdn, GB200, false, 32, 32768, 1.747, 0.11},
        {&layer_gdn, GB200, true, 32, 32768, 5.714, 0.18},
        {&layer_kda, H20, false, 96, 8192, 4.505, 0.02},
        {&layer_kda, H20, false, 64, 8192, 2.959, 0.04},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gpu_spec gpu = card_h100();
        gpu.sm_count = rows[i].card == GB200 ? 152 : rows[i].card == H20 ? 78 : 132;
        gpu.clock_hz = rows[i].card == GB200 ? 2.008e9 : rows[i].card == H20 ? 1.853e9 : 1.83e9;
        gpu.peak_flops_per_s[PEAK_BF16] = rows[i].card == GB200 ? 2500e12
                                          : rows[i].card == H20 ? 148e12
                                                                : 989e12;
        gpu.kernel_start_s = 0.0;
        const struct layer_sizes sizes = {.heads = (uint64_t)rows[i].heads,
                                          .head_size = 128,
                                          .key_heads = (uint64_t)rows[i].heads,
                                          .key_size = 128,
                                          .conv = 4};
        const struct layer_work work = layer_whole(rows[i].kind, &sizes, 2048, rows[i].tokens);
        const double s =
            gpu_kernel_time_s(&gpu, NULL, rows[i].backward ? &work.core_gradient : &work.core);
        within(s * 1e3, rows[i].measured_ms, rows[i].ratio);
    }
}

/* The software's ratio is of the whole core; one bound by what passes through HBM takes its share
 * of the streaming rate. */
static void cores_scale(void **state)
{
    struct gpu_spec gpu = card_h100();
    gpu.kernel_start_s = 0.0;
    struct bench b;
    for (unsigned i = 0; i < BENCH_COUNT; i++) {
        double s[2];
        bench_of(&b, benches[i].pattern, *benches[i].sizes);
        for (unsigned k = 0; k < 2; k++) {
            b.software.layer.scan_time_ratio = 1.0 + k;
            transformer_layer(&b.context, &b.layer);
            s[k] = 0.0;
            for (unsigned j = 0; j < b.layer.segments[0].forward.count; j++)
                if (b.layer.segments[0].forward.kernels[j].kind == KERNEL_SCAN)
                    s[k] = gpu_kernel_time_s(&gpu, NULL, &b.layer.segments[0].forward.kernels[j]);
        }
        near(s[1], 2.0 * s[0]);
    }
    const struct layer_sizes nano = {
        .heads = 64, .head_size = 64, .key_heads = 8, .key_size = 128, .conv = 4, .chunk = 128};
    const struct layer_work work = layer_whole(&layer_mamba2, &nano, 2688, 8192);
    /* x twice, B and C twice each, scores and dt in fp32, y, states four times. */
    near(work.core.bytes, 8192.0 * (2 * 8192 + 4 * 2048 + 2 * 8 * 128 * 4 + 4 * 64 * 4 + 8192 +
                                    4 * 4096 * 128 * 4 / 128.0));
    near(work.core_gradient.bytes, 2.5 * work.core.bytes);
    near(gpu_kernel_time_s(&gpu, NULL, &work.core),
         work.core.bytes / (0.42 * gpu.hbm.bytes_per_s * gpu.hbm.efficiency_ratio));
}

/* Of a sequence: heads x key size x head size in fp32; keys and values of the others. */
static void states_are_closed_form(void **state)
{
    struct bench b;
    bench_of(&b, "3*gdn,attention", sizes_gdn);
    near(transformer_state_elements(&b.model), 3 * 16 * 32 * 24);
    near(transformer_cache_elements(&b.model, 256), 2 * 4 * 16 * 256);
    bench_of(&b, "MM*-", sizes_mamba2);
    near(transformer_state_elements(&b.model), 2 * 16 * 20 * 12);
    near(transformer_cache_elements(&b.model, 256), 2 * 4 * 16 * 256);
}

static void patterns_are_read(void **state)
{
    static const struct {
        const char *text;
        unsigned count, mixes, attends, feeds;
    } good[] = {{"3*gdn,attention", 4, 3, 1, 4},
                {"gdn", 1, 1, 0, 1},
                {" 2*kda , attention ", 3, 2, 1, 3},
                {"MEM*-E", 6, 2, 1, 3},
                {"G*", 2, 1, 1, 0},
                {"attention", 1, 0, 1, 1},
                {"", 0, 0, 0, 0}};
    static const char *const bad[] = {
        "3*gdn,attention,", "gdn,mamba2", "MG", "gdnx", "M*x",           "0*gdn",
        "257*gdn",          "3gdn",       ",",  "gd",   "gdn attention", "m*-"};
    struct layer_pattern p;
    struct error error;
    for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
        unsigned mixes = 0, attends = 0, feeds = 0;
        assert_true(pattern_read(good[i].text, &p, &error));
        assert_int_equal(p.count, good[i].count);
        for (unsigned k = 0; k < p.count; k++) {
            const enum layer_form form = (enum layer_form)pattern_at(&p, k + p.count).form;
            mixes += layer_form_mixes(form);
            attends += layer_form_attends(form);
            feeds += layer_form_feeds(form);
        }
        assert_int_equal(mixes, good[i].mixes);
        assert_int_equal(attends, good[i].attends);
        assert_int_equal(feeds, good[i].feeds);
    }
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (pattern_read(bad[i], &p, &error))
            fail_msg("'%s' is read", bad[i]);
}

/* Letters say where experts are, whatever the keys say; words go by the keys. */
static void experts_follow_the_pattern(void **state)
{
    struct bench b;
    bench_of(&b, "ME*-", sizes_mamba2);
    b.model.moe.experts = 4;
    b.model.moe.experts_per_token = 1;
    b.model.moe.ffn_hidden = 32;
    b.model.moe.dense_layers = 4;
    static const bool has[] = {false, true, false, false};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(transformer_has_experts(&b.model, i), has[i]);
    near(transformer_expert_parameters(&b.model), 4 * 3 * H * 32);
    near(transformer_layer_parameters(&b.model, 1), 4 * 3 * H * 32 + H * 4 + H);
    near(transformer_layer_parameters(&b.model, 3), 3 * H * 256 + H);
    near(transformer_layer_parameters(&b.model, 2), 2 * H * 128 + 2 * H * 64 + H);
    bench_of(&b, "3*gdn,attention", sizes_gdn);
    b.model.moe.experts = 4;
    b.model.moe.dense_layers = 1;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(transformer_has_experts(&b.model, i), i > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_take_what_was_measured), cmocka_unit_test(cores_scale),
        cmocka_unit_test(states_are_closed_form),       cmocka_unit_test(patterns_are_read),
        cmocka_unit_test(experts_follow_the_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
