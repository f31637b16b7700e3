/* A layer as one rank sees it: Korthikanti's activation formulas, FLOP identities, what tensor and
 * context parallelism split, and what they send. */
#include <math.h>
#include <string.h>

#include "models/workload/transformer.h"
#include "tests/models/gpu/cards.h"
#include "tests/test.h"

struct bench {
    struct model_shape model;
    struct software_profile software;
    struct layer_context context;
    struct layer layer;
};

static void bench_gpt(struct bench *b, uint64_t hidden, uint64_t heads, uint64_t sequence,
                      uint64_t microbatch)
{
    memset(b, 0, sizeof *b);
    b->model = (struct model_shape){.layers = 4,
                                    .hidden = hidden,
                                    .attention.heads = heads,
                                    .vocabulary = 51200,
                                    .ffn = FFN_GELU,
                                    .norm.kind = NORM_LAYERNORM,
                                    .position = POSITION_LEARNED,
                                    .tied_embeddings = true,
                                    .biases = true,
                                    .dropout_ratio = 0.1};
    transformer_complete(&b->model);
    b->software = profile_fused();
    b->context = (struct layer_context){.model = &b->model,
                                        .software = &b->software,
                                        .precision = precision_find("bf16"),
                                        .attention = ATTENTION_MATH,
                                        .microbatch = microbatch,
                                        .sequence = sequence,
                                        .tp = 1,
                                        .cp = 1,
                                        .causal = true};
}

static void bench_llama(struct bench *b)
{
    bench_gpt(b, 8192, 64, 8192, 1);
    b->model.attention.kv_heads = 8;
    b->model.ffn_hidden = 28672;
    b->model.ffn = FFN_SWIGLU;
    b->model.norm.kind = NORM_RMS;
    b->model.position = POSITION_ROPE;
    b->model.biases = b->model.tied_embeddings = false;
    b->model.dropout_ratio = 0.0;
    b->context.attention = ATTENTION_FLASH2;
}

static double saved_bytes(const struct layer *layer, bool with_core)
{
    double sum = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *segment = &layer->segments[i];
        for (unsigned j = 0; j < segment->saved.count; j++)
            if (with_core || !segment->saved.tensors[j].attention_core)
                sum += segment->saved.tensors[j].bytes;
    }
    return sum;
}

enum direction {
    FORWARD,
    DGRAD,
    WGRAD
};
static double flops_of(const struct layer *layer, enum direction which, enum kernel_kind kind)
{
    double sum = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *s = &layer->segments[i];
        const struct kernel *rows = which == FORWARD ? s->forward.kernels
                                    : which == DGRAD ? s->dgrad.kernels
                                                     : s->wgrad.kernels;
        unsigned count = which == FORWARD ? s->forward.count
                         : which == DGRAD ? s->dgrad.count
                                          : s->wgrad.count;
        for (unsigned j = 0; j < count; j++)
            if (rows[j].kind == kind)
                sum += rows[j].flops;
    }
    return sum;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* arXiv:2205.05198: equations 1 (one rank), 2 (tensor), 4 (tensor and sequence), section 5 for
 * selective recomputation, 2 s b h for full. `mask` is the bytes of a dropout mask: 1; another
 * value makes the comparison fail, which shows that it can. */
static bool korthikanti_holds(struct bench *b, double mask)
{
    double s = (double)b->context.sequence, mb = (double)b->context.microbatch;
    double h = (double)b->model.hidden, a = (double)b->model.attention.heads,
           t = (double)b->context.tp;
    double score = 5.0 * a * s / h, sbh = s * mb * h;
    transformer_layer(&b->context, &b->layer);
    bool sp = b->context.sequence_parallel && t > 1;
    double split = sp ? (32.0 + 2.0 * mask) / t : (8.0 + 2.0 * mask) + 24.0 / t;
    return near(saved_bytes(&b->layer, true), sbh * (split + score / t)) &&
           near(saved_bytes(&b->layer, false), sbh * split) &&
           near(b->layer.input_bytes, 2.0 * sbh / (sp ? t : 1.0));
}

static void test_korthikanti(void **state)
{
    static struct bench b;
    uint64_t shapes[][2] = {{768, 12}, {6144, 64}, {12288, 96}, {20480, 128}};
    for (size_t i = 0; i < 4; i++) {
        for (uint64_t s = 512; s <= 8192; s *= 4) {
            for (uint64_t mb = 1; mb <= 4; mb *= 2) {
                for (uint64_t t = 1; t <= 4 && shapes[i][1] % t == 0; t *= 2) {
                    bench_gpt(&b, shapes[i][0], shapes[i][1], s, mb);
                    b.context.tp = t;
                    assert_true(korthikanti_holds(&b, 1.0));
                    assert_false(korthikanti_holds(&b, 2.0));
                    b.context.sequence_parallel = true;
                    assert_true(korthikanti_holds(&b, 1.0));
                    assert_false(korthikanti_holds(&b, 2.0));
                }
            }
        }
    }
}

/* A flash kernel keeps a row statistic instead of everything that is s by s. */
static void test_flash_keeps_rows(void **state)
{
    static struct bench b;
    bench_gpt(&b, 6144, 64, 2048, 4);
    b.context.attention = ATTENTION_FLASH2;
    transformer_layer(&b.context, &b.layer);
    double sbh = 2048.0 * 4 * 6144;
    assert_true(near(saved_bytes(&b.layer, false), 34 * sbh));
    assert_true(near(saved_bytes(&b.layer, true), 34 * sbh + 4.0 * 2048 * 4 * 64));
}

/* Llama: no masks, two inputs of the activation, eight key heads. */
static void test_llama_keeps(void **state)
{
    static struct bench b;
    bench_llama(&b);
    transformer_layer(&b.context, &b.layer);
    double rows = 8192, h = 8192, f = 28672, kv = 1024;
    double kept = rows * 2 * (2 * h + 2 * h + h + 2 * kv + h + 3 * f);
    assert_true(near(saved_bytes(&b.layer, false), kept));
    b.software.layer.save_norm_input = false;
    b.software.layer.activation_saved_factor = 1.5;
    transformer_layer(&b.context, &b.layer);
    assert_true(near(saved_bytes(&b.layer, false), kept - rows * 2 * 2 * h + rows * 2 * f));
    /* Without a gate there is nothing more to keep. */
    bench_gpt(&b, 512, 8, 128, 1);
    transformer_layer(&b.context, &b.layer);
    double fused = saved_bytes(&b.layer, false);
    b.software.layer.activation_saved_factor = 1.5;
    transformer_layer(&b.context, &b.layer);
    assert_true(saved_bytes(&b.layer, false) == fused);
}

static double attention_flops(const struct layer *layer, enum direction which)
{
    return flops_of(layer, which, KERNEL_ATTENTION);
}

/* Forward 2 FLOPs for each matrix parameter and token, backward twice that; attention 4 s^2 b a d,
 * causal half, flash backward 2.5 times forward. */
static void test_flops_dense(void **state)
{
    static struct bench b;
    bench_llama(&b);
    transformer_layer(&b.context, &b.layer);
    double matrices = transformer_layer_parameters(&b.model, 0) - 2.0 * 8192;
    double gemm = 2.0 * matrices * 8192, attention = 4.0 * 8192.0 * 8192 * 64 * 128 / 2.0;
    assert_true(near(flops_of(&b.layer, FORWARD, KERNEL_GEMM), gemm));
    assert_true(near(flops_of(&b.layer, DGRAD, KERNEL_GEMM), gemm));
    assert_true(near(flops_of(&b.layer, WGRAD, KERNEL_GEMM), gemm));
    assert_true(near(attention_flops(&b.layer, FORWARD), attention));
    assert_true(near(attention_flops(&b.layer, DGRAD), 2.5 * attention));
    b.software.attention.full_square = true;
    transformer_layer(&b.context, &b.layer);
    assert_true(near(attention_flops(&b.layer, FORWARD), 2.0 * attention));
}

static void test_flops_math(void **state)
{
    static struct bench b;
    bench_gpt(&b, 6144, 64, 2048, 4);
    transformer_layer(&b.context, &b.layer);
    double linear = 2.0 * 12 * 6144.0 * 6144 * 2048 * 4;
    double scores = 4.0 * 2048.0 * 2048 * 4 * 6144; /* the masked half is computed too */
    assert_true(near(flops_of(&b.layer, FORWARD, KERNEL_GEMM), linear + scores));
    assert_true(near(flops_of(&b.layer, DGRAD, KERNEL_GEMM), linear + 2.0 * scores));
    assert_true(near(flops_of(&b.layer, WGRAD, KERNEL_GEMM), linear));
    assert_int_equal(b.layer.segment_count, 1);
    assert_int_equal(b.layer.segments[0].core.count, 3);
    assert_true(b.layer.segments[0].attention_core);
}

/* The ranks of a layer together do the work of one rank alone, and hold its matrices once. */
static void split_holds(struct bench *b, uint64_t tp, uint64_t cp)
{
    static struct layer whole;
    b->context.tp = b->context.cp = 1;
    transformer_layer(&b->context, &whole);
    b->context.tp = tp;
    b->context.cp = cp;
    transformer_layer(&b->context, &b->layer);
    double ranks = (double)(tp * cp);
    for (int d = FORWARD; d <= WGRAD; d++) {
        enum direction which = (enum direction)d;
        assert_true(near(ranks * flops_of(&b->layer, which, KERNEL_GEMM),
                         flops_of(&whole, which, KERNEL_GEMM)));
        assert_true(fabs(ranks * attention_flops(&b->layer, which) -
                         attention_flops(&whole, which)) <= 1e-12 * attention_flops(&whole, which));
    }
    double norms = 2.0 * 8192;
    assert_true(near((double)tp * (b->layer.parameters - norms), whole.parameters - norms));
    assert_true(whole.parameters == transformer_layer_parameters(&b->model, 0));
}

static void test_splits(void **state)
{
    static struct bench b;
    for (uint64_t tp = 1; tp <= 8; tp *= 2) {
        for (uint64_t cp = 1; cp <= 8; cp *= 2) {
            for (int variant = 0; variant < 4; variant++) {
                bench_llama(&b);
                b.context.sequence_parallel = variant & 1;
                b.context.ring.cp_ring = variant & 2;
                split_holds(&b, tp, cp);
            }
        }
    }
}

struct traffic {
    double tensor, context;
    unsigned tensor_count, context_count;
};
static void traffic_add(struct traffic *sum, const struct segment_transfer *t)
{
    if (t->comm == SEGMENT_TP) {
        /* in units of one pass over the ring: an all-reduce is a scatter and a gather */
        sum->tensor += t->bytes * (t->op == COMM_ALL_REDUCE ? 2.0 : 1.0);
        sum->tensor_count++;
    } else if (t->comm == SEGMENT_CP) {
        sum->context += t->bytes;
        sum->context_count++;
    }
}

static struct traffic traffic_of(const struct layer *layer, bool backward)
{
    struct traffic sum = {0};
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *s = &layer->segments[i];
        const struct segment_transfer forward[] = {s->transfers.before, s->transfers.beside,
                                                   s->transfers.after};
        const struct segment_transfer back[] = {
            s->transfers.backward_before, s->transfers.backward_beside,
            s->transfers.backward_gather, s->transfers.backward_after};
        for (unsigned j = 0; !backward && j < 3; j++)
            traffic_add(&sum, &forward[j]);
        for (unsigned j = 0; backward && j < 4; j++)
            traffic_add(&sum, &back[j]);
    }
    return sum;
}

/* Two all-reduces of b s h each way (arXiv:1909.08053 section 3); sequence parallelism sends as
 * much forward, as two gathers and two scatters, and gathers the inputs again backward
 * (arXiv:2205.05198 section 4.2.2). */
static void test_tensor_traffic(void **state)
{
    static struct bench b;
    bench_llama(&b);
    b.context.tp = 8;
    transformer_layer(&b.context, &b.layer);
    double bsh = 2.0 * 8192 * 8192;
    struct traffic forward = traffic_of(&b.layer, false), backward = traffic_of(&b.layer, true);
    assert_int_equal(b.layer.segment_count, 2);
    assert_true(forward.tensor_count == 2 && forward.tensor == 4 * bsh);
    assert_true(backward.tensor_count == 2 && backward.tensor == 4 * bsh);
    b.context.sequence_parallel = true;
    transformer_layer(&b.context, &b.layer);
    forward = traffic_of(&b.layer, false);
    backward = traffic_of(&b.layer, true);
    assert_int_equal(b.layer.segment_count, 4);
    assert_true(forward.tensor_count == 4 && forward.tensor == 4 * bsh);
    assert_true(backward.tensor_count == 6 && backward.tensor == 6 * bsh);
    b.software.tensor.backward_regather = false;
    double shard = saved_bytes(&b.layer, true);
    transformer_layer(&b.context, &b.layer);
    assert_int_equal(traffic_of(&b.layer, true).tensor_count, 4);
    assert_true(near(saved_bytes(&b.layer, true) - shard, 2 * bsh * (1.0 - 1.0 / 8)));
}

/* Keys and values of the whole sequence are gathered forward, gathered and scattered backward; a
 * ring carries the same forward, and (1 + n/(n-1)) of it backward. */
static void test_context_traffic(void **state)
{
    static struct bench b;
    for (int variant = 0; variant < 4; variant++) {
        bench_llama(&b);
        b.context.cp = 4;
        b.context.tp = variant & 1 ? 8 : 1;
        b.context.sequence_parallel = b.context.tp > 1;
        b.context.ring.cp_ring = variant & 2;
        transformer_layer(&b.context, &b.layer);
        double keys = 8192.0 * 2 * 2 * 1024 / (double)b.context.tp;
        struct traffic forward = traffic_of(&b.layer, false);
        struct traffic backward = traffic_of(&b.layer, true);
        assert_true(near(forward.context, keys));
        assert_true(
            near(backward.context, b.context.ring.cp_ring ? keys * (1 + 4.0 / 3) : 2 * keys));
    }
}

static double accumulation_bytes(const struct layer *layer)
{
    double sum = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        for (unsigned j = 0; j < layer->segments[i].wgrad.count; j++)
            if (layer->segments[i].wgrad.kernels[j].kind == KERNEL_MEMORY)
                sum += layer->segments[i].wgrad.kernels[j].bytes;
    }
    return sum;
}

/* Without fusion every microbatch reads a 16-bit gradient (that the product wrote: 2 bytes) and
 * adds it to the fp32 one: 2 + 2 + 8 = 12 bytes for each parameter. */
static void test_gradient_accumulation(void **state)
{
    static struct bench b;
    bench_llama(&b);
    b.context.accumulate = true;
    transformer_layer(&b.context, &b.layer);
    assert_true(accumulation_bytes(&b.layer) == 0.0);
    b.software.layer.gradient_fusion = false;
    transformer_layer(&b.context, &b.layer);
    double matrices = transformer_layer_parameters(&b.model, 0) - 2.0 * 8192;
    assert_true(near(accumulation_bytes(&b.layer), 10.0 * matrices));
    b.context.accumulate = false;
    transformer_layer(&b.context, &b.layer);
    assert_true(accumulation_bytes(&b.layer) == 0.0);
}

/* The head is three products; its loss moves and holds what the profile says for each logit. */
static void test_head(void **state)
{
    static struct bench b;
    for (int variant = 0; variant < 3; variant++) {
        bench_llama(&b);
        b.context.tp = variant ? 8 : 1;
        b.context.sequence_parallel = variant == 2;
        transformer_head(&b.context, &b.layer);
        double tp = (double)b.context.tp, padded = 51200, rows = 8192;
        double product = 2.0 * rows * 8192 * padded / tp;
        for (int d = FORWARD; d <= WGRAD; d++)
            assert_true(near(flops_of(&b.layer, (enum direction)d, KERNEL_GEMM), product));
        const struct segment *last = &b.layer.segments[b.layer.segment_count - 1];
        double inputs = 2.0 * rows * 8192 * (variant == 2 ? 2.0 / tp : 2.0);
        assert_true(
            near(saved_bytes(&b.layer, true) - inputs + last->memory.backward_temporary_bytes,
                 14.0 * rows * padded / tp));
        assert_true(last->transfers.after.comm == (variant ? SEGMENT_TP : SEGMENT_NONE));
        assert_int_equal(last->transfers.backward_gather.comm == SEGMENT_TP, variant == 2);
    }
}

static void test_embedding(void **state)
{
    static struct bench b;
    static struct segment segment;
    bench_gpt(&b, 6144, 64, 2048, 4);
    b.context.tp = 8;
    transformer_embedding(&b.context, &segment);
    double kept = 2048.0 * 4 * 6144;
    assert_true(segment.transfers.after.op == COMM_ALL_REDUCE &&
                segment.transfers.after.bytes == 2 * kept);
    assert_true(segment.saved.count == 1 && segment.saved.tensors[0].bytes == kept);
    b.context.sequence_parallel = b.context.accumulate = true;
    transformer_embedding(&b.context, &segment);
    assert_true(segment.transfers.after.op == COMM_REDUCE_SCATTER);
    assert_true(segment.transfers.backward_before.op == COMM_ALL_GATHER);
    assert_true(segment.saved.tensors[0].bytes == kept / 8);
    double table = 51200.0 * 6144 / 8;
    assert_true(segment.wgrad.kernels[1].bytes == 10.0 * table);
}

/* fp8 keeps linear inputs in one byte and casts them; everything wide doubles in fp32. */
static void test_precisions(void **state)
{
    static struct bench b;
    bench_gpt(&b, 6144, 64, 2048, 4);
    transformer_layer(&b.context, &b.layer);
    double half = saved_bytes(&b.layer, true);
    double masks = 2048.0 * 4 * (2.0 * 6144 + 64 * 2048.0);
    b.context.precision = precision_find("fp32");
    transformer_layer(&b.context, &b.layer);
    assert_true(near(saved_bytes(&b.layer, true), 2.0 * (half - masks) + masks));
    b.context.precision = precision_find("fp8");
    b.context.fp8_recipe = FP8_DELAYED;
    transformer_layer(&b.context, &b.layer);
    double linear_inputs = 2048.0 * 4 * (3.0 * 6144 + 24576);
    assert_true(near(saved_bytes(&b.layer, true), half - linear_inputs));
    assert_string_equal(b.layer.segments[0].forward.kernels[2].name, "fp8 cast");
}

/* The weight matrices of a layer: none of nothing, as modules and one by one the same elements. */
static double matrices_of(const struct layer *layer)
{
    double modules = 0.0, matrices = 0.0;
    for (unsigned i = 0; i < layer->module_count; i++) {
        assert_true(layer->modules[i] > 0.0);
        modules += layer->modules[i];
    }
    for (unsigned i = 0; i < layer->matrix_count; i++) {
        const struct weight_matrix *m = &layer->matrices[i];
        assert_true(m->inputs * m->outputs * m->count > 0.0);
        matrices += m->inputs * m->outputs * m->count;
    }
    assert_true(modules == matrices);
    return matrices;
}

/* Beside them a layer without biases has two norms of the hidden size; a module that predicts
 * further ahead projects two hidden states onto one, behind two norms. */
static void test_matrices(void **state)
{
    struct bench b;
    bench_llama(&b);
    transformer_layer(&b.context, &b.layer);
    assert_true(b.layer.parameters == matrices_of(&b.layer) + 2.0 * 8192);
    assert_true(matrices_of(&b.layer) == 8192.0 * (8192 + 2 * 1024 + 8192 + 3.0 * 28672));
    transformer_prediction(&b.context, &b.layer);
    assert_true(b.layer.parameters == matrices_of(&b.layer) + 2.0 * 8192);
    assert_true(matrices_of(&b.layer) == 2.0 * 8192 * 8192);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_korthikanti),
        cmocka_unit_test(test_flash_keeps_rows),
        cmocka_unit_test(test_llama_keeps),
        cmocka_unit_test(test_flops_dense),
        cmocka_unit_test(test_flops_math),
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_tensor_traffic),
        cmocka_unit_test(test_context_traffic),
        cmocka_unit_test(test_gradient_accumulation),
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_embedding),
        cmocka_unit_test(test_precisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
