/* Eight-bit linear layers: what each recipe casts, on paper and beside Transformer Engine's own
 * benchmark; which products sum up by parts; what stays wide. */
#include <math.h>
#include <stdio.h>

#include "models/workload/transformer_piece.h"
#include "tests/models/workload/layer_rows.h"

static void begin(struct bench *b, enum fp8_recipe recipe, bool transposed)
{
    bench_llama(b);
    b->context.precision = precision_find(recipe == FP8_NVFP4 ? "nvfp4" : "fp8");
    b->context.fp8_recipe = recipe;
    b->context.transposed_copies = transposed;
}

static const struct kernel *nth(const struct kernel *list, unsigned count, const char *name,
                                unsigned n)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0 && n-- == 0)
            return &list[i];
    return NULL;
}

/* Four, of which a token visits two, all on this rank. */
static void give_experts(struct bench *b)
{
    b->model.moe.experts = 4;
    b->model.moe.experts_per_token = 2;
    b->model.moe.ffn_hidden = 16;
    b->context.experts.ep = b->context.experts.etp = 1;
    b->context.experts.imbalance = 1.0;
}

static const struct segment *segment_with(const struct layer *layer, const char *kernel)
{
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *s = &layer->segments[i];
        if (nth(s->forward.kernels, s->forward.count, kernel, 0) != NULL)
            return s;
    }
    fail_msg("no segment has %s", kernel);
    return NULL;
}

/* Read once in 16 bit, with current scaling twice; one byte for each copy, blocks of 32 with a byte
 * for their scale. Four bits: three reads (largest values, rows, rotated columns), and for each
 * copy half a byte and a byte for 16. The input of down is 256 elements, the gradient of up's
 * output 512. */
static void test_bytes_of_each_recipe(void **state)
{
    (void)state;
    static const struct {
        enum fp8_recipe recipe;
        bool transposed;
        double bytes, launches; /* of an element */
    } rows[] = {
        {FP8_DELAYED, true, 4, 1},        {FP8_DELAYED, false, 3, 1},   {FP8_CURRENT, true, 6, 3},
        {FP8_CURRENT, false, 5, 3},       {FP8_MX, true, 4.0625, 2},    {FP8_MX, false, 4.0625, 2},
        {FP8_BLOCKWISE, true, 4.0625, 1}, {FP8_NVFP4, false, 7.125, 4},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static struct bench b;
        begin(&b, rows[i].recipe, rows[i].transposed);
        transformer_layer(&b.context, &b.layer);
        const struct segment *s = &b.layer.segments[0];
        const struct kernel *input = nth(s->forward.kernels, s->forward.count, "fp8 cast", 3);
        const struct kernel *gradient =
            nth(s->dgrad.kernels, s->dgrad.count, "fp8 cast gradient", 1);
        assert_true(input->bytes == 256 * rows[i].bytes && input->launches == rows[i].launches);
        assert_true(gradient->bytes == 512 * rows[i].bytes);
        assert_null(nth(s->wgrad.kernels, s->wgrad.count, "fp8 transpose", 0));
    }
}

/* A norm writes eight bits where scales are known; largest values of its own result are not. */
static void test_norms_cast(void **state)
{
    (void)state;
    static struct bench b;
    for (int recipe = FP8_DELAYED; recipe < FP8_RECIPE_COUNT; recipe++) {
        begin(&b, (enum fp8_recipe)recipe, true);
        b.software.fp8.norm_fused = true;
        transformer_layer(&b.context, &b.layer);
        const struct segment *s = &b.layer.segments[0];
        const unsigned casts = recipe == FP8_DELAYED || recipe == FP8_MX ? 2 : 4;
        assert_non_null(nth(s->forward.kernels, s->forward.count, "fp8 cast", casts - 1));
        assert_null(nth(s->forward.kernels, s->forward.count, "fp8 cast", casts));
    }
}

/* 16 tokens of 8 elements over two ranks: each casts its 64 elements along rows, sends them in one
 * byte, and transposes what it got. Scales by block: both copies are cast, and sent for the
 * gradient. */
static void test_what_is_gathered(void **state)
{
    (void)state;
    static struct bench b;
    bench_gpt(&b);
    b.context.precision = precision_find("fp8");
    b.context.transposed_copies = true;
    b.context.fp8_recipe = FP8_DELAYED;
    b.software.fp8.gathers = b.software.tensor.backward_regather = true;
    transformer_layer(&b.context, &b.layer);
    const struct segment *attention = &b.layer.segments[1];
    assert_true(attention->transfers.before.bytes == 128 &&
                attention->transfers.backward_gather.bytes == 128);
    assert_true(attention->transfers.backward_before.bytes == 128);
    assert_true(attention->transfers.after.bytes == 256 &&
                attention->transfers.backward_after.bytes == 256);
    assert_true(attention->forward.kernels[0].bytes == 64 * 3);
    assert_true(
        nth(attention->dgrad.kernels, attention->dgrad.count, "fp8 cast gradient", 0)->bytes ==
        64 * 3); /* of the projection, gathered */
    assert_true(nth(attention->wgrad.kernels, attention->wgrad.count, "fp8 transpose", 0)->bytes ==
                128 * 2);
    assert_true(nth(attention->wgrad.kernels, attention->wgrad.count, "fp8 transpose", 1)->bytes ==
                128 * 2);
    b.context.fp8_recipe = FP8_MX;
    transformer_layer(&b.context, &b.layer);
    assert_true(attention->transfers.before.bytes == 128 * 1.03125);
    assert_true(attention->transfers.backward_before.bytes == 256 * 1.03125);
    assert_true(attention->forward.kernels[0].bytes == 64 * 4.0625);
    assert_null(nth(attention->wgrad.kernels, attention->wgrad.count, "fp8 transpose", 0));
    b.context.precision = precision_find("nvfp4");
    b.context.fp8_recipe = FP8_NVFP4;
    transformer_layer(&b.context, &b.layer);
    assert_true(attention->transfers.before.bytes == 128 * 0.5625);
    assert_true(attention->transfers.backward_before.bytes == 256 * 0.5625);
    assert_true(attention->forward.kernels[0].bytes == 64 * 7.125);
    b.context.precision = precision_find("fp8");
    b.context.fp8_recipe = FP8_MX;
    b.software.fp8.gathers = false;
    transformer_layer(&b.context, &b.layer);
    assert_true(attention->transfers.before.bytes == 256 &&
                attention->transfers.backward_before.bytes == 256);
    assert_true(attention->forward.kernels[0].bytes == 128 * 4.0625);
}

/* Fast sums forward, exact ones backward; nothing of it in 16 bit, nor in the head. */
static void test_sums(void **state)
{
    (void)state;
    static struct bench b;
    begin(&b, FP8_MX, false);
    b.software.fp8.split_backward = true;
    transformer_layer(&b.context, &b.layer);
    const struct segment *s = &b.layer.segments[0];
    const struct kernel *up = nth(s->forward.kernels, s->forward.count, "up", 0);
    const struct kernel *dgrad = nth(s->dgrad.kernels, s->dgrad.count, "up dgrad", 0);
    const struct kernel *wgrad = nth(s->wgrad.kernels, s->wgrad.count, "up wgrad", 0);
    assert_true(!up->split_sums && dgrad->split_sums && wgrad->split_sums);
    assert_true(up->block_scales && dgrad->block_scales && wgrad->block_scales);
    assert_true(up->peak == PEAK_FP8 && wgrad->peak == PEAK_FP8);
    transformer_head(&b.context, &b.layer);
    const struct kernel *logits = nth(s->forward.kernels, s->forward.count, "logits", 0);
    assert_true(logits->peak == PEAK_BF16 && logits->element_bytes == 2);
    assert_false(logits->split_sums || logits->block_scales);
    assert_null(nth(s->forward.kernels, s->forward.count, "fp8 cast", 0));
    begin(&b, FP8_BLOCKWISE, true); /* whatever the software does with others */
    transformer_layer(&b.context, &b.layer);
    assert_true(nth(s->forward.kernels, s->forward.count, "up", 0)->split_sums);
    assert_true(nth(s->wgrad.kernels, s->wgrad.count, "up wgrad", 0)->split_sums);
    b.context.precision = precision_find("bf16");
    transformer_layer(&b.context, &b.layer);
    wgrad = nth(s->wgrad.kernels, s->wgrad.count, "up wgrad", 0);
    assert_false(wgrad->split_sums || wgrad->block_scales);
}

/* Of forward kernel k: backward goes the other way, so of several of its name the first is last. */
static const struct kernel *gradient_of(const struct segment_kernels *work, const struct segment *s,
                                        unsigned k, const char *which)
{
    char wanted[64];
    unsigned behind = 0;
    for (unsigned i = k + 1; i < s->forward.count; i++)
        behind += strcmp(s->forward.kernels[i].name, s->forward.kernels[k].name) == 0;
    snprintf(wanted, sizeof wanted, "%s %s", s->forward.kernels[k].name, which);
    return nth(work->kernels, work->count, wanted, behind);
}

/* Of Y = X W with X of m x k and W of k x n: dX = dY W^T is m x k over n, and dW = X^T dY is k x n
 * over m. Of every product of a layer and of its adapters, all sizes apart. */
static void test_roles_of_gradients(void **state)
{
    (void)state;
    static struct bench b;
    for (int kind = ADAPTER_NONE; kind <= ADAPTER_LORA; kind++) {
        unsigned found = 0;
        bench_llama(&b);
        b.context.adapter = (struct adapter_spec){.kind = kind, .rank = 3};
        transformer_layer(&b.context, &b.layer);
        for (unsigned i = 0; i < b.layer.segment_count; i++) {
            const struct segment *s = &b.layer.segments[i];
            for (unsigned k = 0; k < s->forward.count; k++) {
                const struct kernel *y = &s->forward.kernels[k];
                const struct kernel *dx = gradient_of(&s->dgrad, s, k, "dgrad");
                const struct kernel *dw = gradient_of(&s->wgrad, s, k, "wgrad");
                if (y->kind != KERNEL_GEMM)
                    continue;
                if (dx == NULL || dx->m != y->m || dx->n != y->k || dx->k != y->n)
                    fail_msg("gradient of the input of %s", y->name);
                if (kind == ADAPTER_NONE || strncmp(y->name, "adapter", 7) == 0) {
                    if (dw == NULL || dw->m != y->k || dw->n != y->n || dw->k != y->m)
                        fail_msg("gradient of the weights of %s", y->name);
                    found++;
                } else {
                    assert_null(dw); /* frozen */
                }
            }
        }
        assert_int_equal(found, kind == ADAPTER_NONE ? 4 : 2 * 4); /* an adapter has two */
    }
}

/* Weights that come anew are copied along columns each time; those that are cast in every
 * microbatch get both copies then. */
static void test_weights(void **state)
{
    (void)state;
    static struct bench b;
    begin(&b, FP8_DELAYED, true);
    b.context.gathers_weights = true;
    transformer_layer(&b.context, &b.layer);
    const struct segment *s = &b.layer.segments[0];
    const double down = 8.0 * 16;
    assert_true(nth(s->dgrad.kernels, s->dgrad.count, "fp8 transpose weights", 0)->bytes ==
                down * 2);
    assert_null(nth(s->forward.kernels, s->forward.count, "fp8 cast weights", 0));
    b.software.fp8.weights_each = true;
    transformer_layer(&b.context, &b.layer);
    assert_null(nth(s->dgrad.kernels, s->dgrad.count, "fp8 transpose weights", 0));
    assert_true(nth(s->forward.kernels, s->forward.count, "fp8 cast weights", 3)->bytes ==
                down * 4);
    begin(&b, FP8_NVFP4, false); /* of 16 bits: cast again wherever they come anew */
    transformer_layer(&b.context, &b.layer);
    assert_null(nth(s->forward.kernels, s->forward.count, "fp8 cast weights", 0));
    assert_null(nth(s->dgrad.kernels, s->dgrad.count, "fp8 cast weights", 0));
    b.context.gathers_weights = true;
    transformer_layer(&b.context, &b.layer);
    assert_true(nth(s->forward.kernels, s->forward.count, "fp8 cast weights", 3)->bytes ==
                down * 5.125);
    assert_true(nth(s->dgrad.kernels, s->dgrad.count, "fp8 cast weights", 0)->bytes ==
                down * 5.125);
}

static double saved_of(const struct layer *layer, const char *name)
{
    for (unsigned i = 0; i < layer->segment_count; i++)
        for (unsigned k = 0; k < layer->segments[i].saved.count; k++)
            if (strcmp(layer->segments[i].saved.tensors[k].name, name) == 0)
                return layer->segments[i].saved.tensors[k].bytes;
    return -1.0;
}

/* What the gradient of the weights reads is kept: the copy along columns with its scales, or the
 * input itself where that is cast again, which is then the attention's output, too. */
static void test_what_is_kept(void **state)
{
    (void)state;
    static const double bytes[FP8_RECIPE_COUNT] = {0, 1, 1, 1 + 1 / 32.0, 1 + 4 / 128.0, 0.5625};
    static struct bench b;
    for (int recipe = FP8_DELAYED; recipe < FP8_RECIPE_COUNT; recipe++) {
        begin(&b, (enum fp8_recipe)recipe, true);
        transformer_layer(&b.context, &b.layer);
        assert_true(saved_of(&b.layer, "qkv input") == 128 * bytes[recipe]);
        assert_true(saved_of(&b.layer, "projection input") == 128 * bytes[recipe]);
        assert_true(saved_of(&b.layer, "attention output") == 128 * 2);
        assert_true(saved_of(&b.layer, "activation output") == 256 * bytes[recipe]);
        b.software.fp8.casts_again = true;
        transformer_layer(&b.context, &b.layer);
        assert_true(saved_of(&b.layer, "qkv input") == 128 * 2);
        assert_true(saved_of(&b.layer, "projection input") == 128 * 2);
        assert_true(saved_of(&b.layer, "attention output") == -1);
    }
}

/* Four experts of two visits each: 16 tokens, 32 rows, 8 an expert if all get as many. */
static void test_rows_of_experts(void **state)
{
    (void)state;
    static const double multiples[FP8_RECIPE_COUNT] = {0, 16, 16, 32, 16, 128};
    static struct bench b;
    for (int recipe = FP8_AUTO; recipe < FP8_RECIPE_COUNT; recipe++) {
        struct rank_share share;
        begin(&b, (enum fp8_recipe)recipe, true);
        give_experts(&b);
        if (recipe == FP8_AUTO)
            b.context.precision = precision_find("bf16");
        transformer_share_of(&b.context, &share);
        assert_true(share.experts.rows == 32);
        const double m = multiples[recipe], least = 4 * m * (1 - exp(-8.0));
        assert_true(share.experts.filled ==
                    (recipe == FP8_AUTO ? 32 : fmax(32 + 4 * (m - 1) / 2, least)));
        assert_true(share.experts.tiled == (recipe == FP8_AUTO ? 32 : fmax(32, least)));
        b.context.microbatch = 200; /* 800 rows an expert: half of what is filled up is missing */
        transformer_share_of(&b.context, &share);
        assert_true(share.experts.filled == 3200 + (recipe == FP8_AUTO ? 0 : 2 * (m - 1)));
        assert_true(share.experts.tiled == 3200);
        b.context.experts.capacity = 1.01; /* 808 */
        transformer_share_of(&b.context, &share);
        assert_true(share.experts.rows == 3232 && share.experts.tiled == share.experts.filled);
        assert_true(share.experts.filled == (recipe == FP8_AUTO ? 3232 : 4 * ceil(808 / m) * m));
    }
}

/* Scores, softmax, tables and their sum for each of 16 tokens and four experts, by an operator each
 * or in one kernel and the sum. */
static void test_fused_choice(void **state)
{
    (void)state;
    static struct bench b;
    for (unsigned fused = 0; fused < 2; fused++) {
        begin(&b, FP8_DELAYED, true);
        b.software.experts.router_fusion = fused;
        give_experts(&b);
        transformer_layer(&b.context, &b.layer);
        const struct segment *s = segment_with(&b.layer, "choose experts");
        const struct kernel *there = nth(s->forward.kernels, s->forward.count, "choose experts", 0);
        const struct kernel *back = nth(s->dgrad.kernels, s->dgrad.count, "choice gradient", 0);
        assert_true(there->bytes == 64 * (fused ? 4 + 4 + 1 + 4 + 1 : 19));
        assert_true(there->launches == (fused ? 2 : 10));
        assert_true(back->bytes == 64 * (fused ? 4 + 1 + 4 + 4 : 19));
        assert_true(back->launches == (fused ? 1 : 10));
    }
}

/* What four experts have is cast by a kernel for each of them, or by one for all
 * (NVIDIA/TransformerEngine csrc/extensions/cast.cpp); scales are put in order by one. The products
 * are four of each. */
static void test_launches_of_experts(void **state)
{
    (void)state;
    static const double casts[FP8_RECIPE_COUNT] = {0, 1, 3 * 4, 4 + 1, 4, 3 + 1};
    static struct bench b;
    for (int recipe = FP8_DELAYED; recipe < FP8_RECIPE_COUNT; recipe++) {
        begin(&b, (enum fp8_recipe)recipe, true);
        give_experts(&b);
        transformer_layer(&b.context, &b.layer);
        const struct segment *s = segment_with(&b.layer, "expert up");
        for (unsigned i = 0; i < 2; i++) {
            assert_true(nth(s->forward.kernels, s->forward.count, "fp8 cast", i)->launches ==
                        casts[recipe]);
            assert_true(nth(s->dgrad.kernels, s->dgrad.count, "fp8 cast gradient", i)->launches ==
                        casts[recipe]);
        }
        assert_true(nth(s->forward.kernels, s->forward.count, "expert up", 0)->launches == 4);
        assert_true(nth(s->wgrad.kernels, s->wgrad.count, "expert down wgrad", 0)->launches == 4);
    }
}

/* NVIDIA/TransformerEngine docs/examples/gemm_profiling: four linear layers of width 4,096 and
 * inner width 16,384 on 15,872 tokens. Time with casts of inputs and weights, less that of the
 * products alone (those of current scaling also stand for delayed scaling), forward. */
static void test_casts_beside_transformer_engine(void **state)
{
    (void)state;
    static const struct {
        enum fp8_recipe recipe;
        bool transposed;
        double bytes_per_s, cast_s, within;
    } rows[] = {
        {FP8_DELAYED, true, 4.8e12, 0.611e-3, 0.1}, /* H200 */
        {FP8_CURRENT, true, 4.8e12, 0.926e-3, 0.1}, /* H200 */
        {FP8_DELAYED, false, 8e12, 0.328e-3, 0.1},  /* B300 */
        {FP8_MX, false, 8e12, 0.482e-3, 0.1},       /* B300 */
        {FP8_CURRENT, false, 8e12, 0.721e-3, 0.3},  /* B300: three kernels, not well overlapped */
        {FP8_NVFP4, false, 8e12, 0.678e-3, 0.1},    /* B300 */
    };
    static const double shapes[4][2] = {{4096, 12288}, {4096, 4096}, {4096, 16384}, {16384, 4096}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static struct bench b;
        struct gpu_spec card = card_h100();
        struct rank_share share;
        double all_s = 0.0;
        begin(&b, rows[i].recipe, rows[i].transposed);
        card.hbm.bytes_per_s = rows[i].bytes_per_s;
        card.hbm.efficiency_ratio = 0.89;
        b.software.fp8.weights_each = true;
        transformer_share_of(&b.context, &share);
        for (unsigned k = 0; k < 4; k++) {
            static struct segment s;
            const struct linear linear = {
                "linear", "dgrad", "wgrad", 15872, shapes[k][0], shapes[k][1], false, false,
                false,    1.0,     0.0,     0.0,   false,        false,        false, false};
            memset(&s, 0, sizeof s);
            transformer_linear_forward(&share, &linear, &s);
            assert_int_equal(s.forward.count, 3); /* two casts, and the product */
            for (unsigned j = 0; j < 2; j++)
                all_s += gpu_kernel_time_s(&card, NULL, &s.forward.kernels[j]);
        }
        if (!(fabs(all_s / rows[i].cast_s - 1.0) <= rows[i].within))
            fail_msg("row %u: %g s, measured %g s", i, all_s, rows[i].cast_s);
    }
}

/* Kept in 16 bit and cast again: one copy forward, one for the weight gradient, each after a look
 * for the largest value. The input of down is 256 elements. */
static void test_casts_again(void **state)
{
    (void)state;
    static struct bench b;
    begin(&b, FP8_CURRENT, true);
    b.software.fp8.casts_again = true;
    transformer_layer(&b.context, &b.layer);
    const struct segment *s = &b.layer.segments[0];
    assert_true(nth(s->forward.kernels, s->forward.count, "fp8 cast", 3)->bytes == 256 * 5);
    assert_true(nth(s->wgrad.kernels, s->wgrad.count, "fp8 cast again", 0)->bytes == 256 * 5);
    unsigned again = 0;
    while (nth(s->wgrad.kernels, s->wgrad.count, "fp8 cast again", again) != NULL)
        again++;
    assert_int_equal(again, 4); /* qkv, projection, up, down */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_each_recipe),
        cmocka_unit_test(test_norms_cast),
        cmocka_unit_test(test_what_is_gathered),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_roles_of_gradients),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_what_is_kept),
        cmocka_unit_test(test_rows_of_experts),
        cmocka_unit_test(test_fused_choice),
        cmocka_unit_test(test_launches_of_experts),
        cmocka_unit_test(test_casts_beside_transformer_engine),
        cmocka_unit_test(test_casts_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
