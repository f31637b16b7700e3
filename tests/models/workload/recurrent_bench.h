/* recurrent_bench.h - a small model with each kind of recurrent layer, for the tests of them. */
#ifndef ORRERY_TESTS_RECURRENT_BENCH_H
#define ORRERY_TESTS_RECURRENT_BENCH_H

#include <math.h>
#include <string.h>

#include "models/workload/transformer.h"
#include "tests/models/gpu/cards.h"
#include "tests/test.h"

#define T 512.0 /* tokens of a microbatch: two sequences of 256 */
#define H 96.0

struct bench {
    struct model_shape model;
    struct software_profile software;
    struct layer_context context;
    struct layer layer;
};

static inline void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g, not %.17g", value, expected);
}

static inline void within(double value, double expected, double ratio)
{
    if (!(fabs(value / expected - 1.0) <= ratio))
        fail_msg("%.6g, not %.6g: %.1f %%", value, expected, 100.0 * (value / expected - 1.0));
}

static inline void bench_of(struct bench *b, const char *pattern, struct layer_sizes sizes)
{
    memset(b, 0, sizeof *b);
    b->model = (struct model_shape){.name = "bench",
                                    .layers = 4,
                                    .hidden = (uint64_t)H,
                                    .attention.heads = 8,
                                    .attention.kv_heads = 4,
                                    .attention.head_size = 16,
                                    .ffn_hidden = 256,
                                    .vocabulary = 512,
                                    .ffn = FFN_SWIGLU,
                                    .norm.kind = NORM_RMS,
                                    .position = POSITION_ROPE,
                                    .pattern.text = pattern,
                                    .pattern.sizes = sizes};
    transformer_complete(&b->model);
    b->software = profile_fused();
    b->software.layer.scan_time_ratio = 1.0;
    b->context = (struct layer_context){.model = &b->model,
                                        .software = &b->software,
                                        .precision = precision_find("bf16"),
                                        .attention = ATTENTION_FLASH2,
                                        .form = transformer_form(&b->model, 0),
                                        .microbatch = 2,
                                        .sequence = 256,
                                        .tp = 1,
                                        .cp = 1,
                                        .causal = true};
}

static const struct layer_sizes sizes_gdn = {
    .heads = 16, .head_size = 24, .key_heads = 8, .key_size = 32, .conv = 4};
static const struct layer_sizes sizes_mamba2 = {
    .heads = 16, .head_size = 12, .key_heads = 8, .key_size = 20, .conv = 4, .chunk = 64};
static const struct layer_sizes sizes_square = {.heads = 16, .head_size = 24, .conv = 4};
static const struct layer_sizes sizes_full = {
    .heads = 16, .head_size = 24, .conv = 4, .full_gate = true};

static const struct {
    const char *pattern;
    const struct layer_sizes *sizes;
} benches[] = {{"gdn", &sizes_gdn},
               {"mamba2", &sizes_mamba2},
               {"kda", &sizes_square},
               {"kda", &sizes_full},
               {"lightning", &sizes_square}};
enum {
    BENCH_COUNT = sizeof benches / sizeof benches[0]
};

#endif
