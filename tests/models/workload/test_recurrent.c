/* Recurrent layers: parameters, FLOPs and kept bytes against formulas written out here; shares of
 * tensor and context ranks add up to the whole; layers of one block are halves of whole ones. */
#include "models/layout/transformer_formula.h"
#include "tests/models/workload/recurrent_bench.h"

/* Tensors of a mixer as model files hold them, the norm before it not among them. */
static double tensors_gdn(void)
{
    const double q = 8 * 32, k = 8 * 32, v = 16 * 24, z = 16 * 24, b = 16, a = 16;
    return H * (q + k + v + z) + H * (b + a) /* in_proj_qkvz, in_proj_ba */
           + 4 * (q + k + v)                 /* conv1d.weight, no bias */
           + 16 + 16 + 24                    /* A_log, dt_bias, norm.weight */
           + v * H;                          /* out_proj */
}

static double tensors_mamba2(void)
{
    const double x = 16 * 12, b = 8 * 20, c = 8 * 20;
    return H * (x + x + b + c + 16)        /* in_proj: z, x, B, C, dt */
           + 4 * (x + b + c) + (x + b + c) /* conv1d.weight, .bias */
           + 16 + 16 + 16 + x              /* A_log, D, dt_bias, norm.weight */
           + x * H;                        /* out_proj */
}

static double tensors_kda(bool full)
{
    const double w = 16 * 24, d = 24;
    return 3 * H * w + 3 * 4 * w            /* q, k, v and their convolutions */
           + H * d + d * w + w + 16         /* f_a, f_b, dt_bias, A_log */
           + H * 16                         /* b */
           + (full ? H * w : H * d + d * w) /* g, or g_a and g_b */
           + d + w * H;                     /* o_norm, o_proj */
}

static double tensors_lightning(void)
{
    const double w = 16 * 24;
    return H * 3 * w + H * w + w + w * H; /* qkv_proj, output_gate, norm, out_proj */
}

static double tensors_of(unsigned i)
{
    const double all[] = {tensors_gdn(), tensors_mamba2(), tensors_kda(false), tensors_kda(true),
                          tensors_lightning()};
    return all[i];
}

static void parameters_are_tensors(void **state)
{
    for (unsigned i = 0; i < BENCH_COUNT; i++) {
        struct bench b;
        bench_of(&b, benches[i].pattern, *benches[i].sizes);
        const double block = 3 * H * 256 + 2 * H;
        near(transformer_layer_parameters(&b.model, 0), tensors_of(i) + block);
        near(transformer_parameters(&b.model, 256), 4 * (tensors_of(i) + block) + 2 * 512 * H + H);
        transformer_layer(&b.context, &b.layer);
        near(b.layer.parameters, tensors_of(i) + block);
    }
}

static double sum(const struct layer *layer, size_t list, int kind, bool bytes)
{
    double out = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment_kernels *k =
            (const struct segment_kernels *)((const char *)&layer->segments[i] + list);
        for (unsigned j = 0; j < k->count; j++)
            if ((int)k->kernels[j].kind == kind)
                out += bytes ? k->kernels[j].bytes : k->kernels[j].flops;
    }
    return out;
}
#define FORWARD offsetof(struct segment, forward)
#define DGRAD offsetof(struct segment, dgrad)
#define WGRAD offsetof(struct segment, wgrad)

/* Of a token and head, by chunks of C. gdn: K K^T and Q K^T are C d_k each, the inverse times keys
 * and values C d_k and C d_v, scores times values C d_v; keys into the state, queries and old keys
 * out of it d_k d_v each. */
static double core_of(unsigned i)
{
    const double gdn = 2 * 64 * (3 * 32 + 2 * 24) + 2 * 3 * 32 * 24;
    const double kda = 1.6 * (2 * 64 * 5 * 24 + 2 * 3 * 24 * 24);
    const double mamba2 = 12 * (4 * 20 + 64) + 2 * 64 * 20 * 8 / 16.0;
    const double lightning = 24 * (4 * 24 + 2 * 256);
    const double all[] = {gdn, mamba2, kda, kda, lightning};
    return 16 * T * all[i];
}

/* Elements of the matrices of a mixer: what each token is multiplied by. */
static double matrices_of(unsigned i)
{
    const double w = 16 * 24, x = 16 * 12;
    const double all[] = {H * (2 * 256 + 2 * 384 + 32) + 384 * H, H * (2 * x + 320 + 16) + x * H,
                          H * (3 * w + 16) + 2 * (H * 24 + 24 * w) + w * H,
                          H * (4 * w + 16) + H * 24 + 24 * w + w * H, 5 * H * w};
    return all[i];
}

static void flops_are_counted(void **state)
{
    for (unsigned i = 0; i < BENCH_COUNT; i++) {
        struct bench b;
        bench_of(&b, benches[i].pattern, *benches[i].sizes);
        transformer_layer(&b.context, &b.layer);
        const double products = 2 * T * (matrices_of(i) + 3 * H * 256);
        near(sum(&b.layer, FORWARD, KERNEL_GEMM, false), products);
        near(sum(&b.layer, DGRAD, KERNEL_GEMM, false), products);
        near(sum(&b.layer, WGRAD, KERNEL_GEMM, false), products);
        near(sum(&b.layer, FORWARD, KERNEL_SCAN, false), core_of(i));
        const double again = i == 1 || i == 4 ? 2.5 : 3.0;
        near(sum(&b.layer, DGRAD, KERNEL_SCAN, false), again * core_of(i));
    }
}

/* 6 N and three times what the recurrence asks for; no keys. */
static void model_flops_are_of_the_recurrence(void **state)
{
    static const double each[] = {8 * 32 * 24, 7 * 20 * 12, 8 * 24 * 24, 8 * 24 * 24, 4 * 24 * 24};
    for (unsigned i = 0; i < BENCH_COUNT; i++) {
        struct bench b;
        bench_of(&b, benches[i].pattern, *benches[i].sizes);
        const double active = transformer_active_parameters(&b.model);
        near(transformer_flops_per_token(&b.model, 256, true), 6 * active + 4 * 3 * 16 * each[i]);
        assert_true(transformer_flops_per_token(&b.model, 256, true) ==
                    transformer_flops_per_token(&b.model, 4096, false));
    }
}

/* What the backward pass reads: each list from the kernels of the framework named in the file of
 * the kind. Norm input and product input of either half, gate and up, and their product. */
static double kept_of(unsigned i)
{
    const double w = 16 * 24, x = 16 * 12, bc = 2 * 8 * 20, block = 2 * H + 2 * H + 3 * 2 * 256;
    const double gdn = 2 * 896 + 2 * 896    /* q, k, v before and behind the convolution */
                       + 2 * 384            /* z */
                       + 16 * 4 + 16 * 2    /* decay in fp32, b */
                       + 2 * 64 * 16        /* the inverse of each chunk */
                       + 2 * 384 + 2 * 384; /* output of the core, and normed */
    const double mamba2 = 2 * (x + bc)      /* before the convolution */
                          + 2 * x + 4 * 16  /* z, dt in fp32 */
                          + 2 * x + 2 * x;  /* output of the scan, and normed */
    const double kda = 2 * 3 * w + 2 * 3 * w + 2 * w + 4 * w + 2 * 16 + 2 * 64 * 16 + 2 * w + 2 * w;
    const double lightning = 2 * 3 * w + 2 * 3 * w + 2 * w + 2 * w + 2 * w;
    const double all[] = {gdn, mamba2, kda + 2 * 2 * 24, kda + 2 * 24, lightning};
    return T * (all[i] + 2 * H + 2 * H + block);
}

static double kept(const struct layer *layer)
{
    double out = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++)
        for (unsigned k = 0; k < layer->segments[i].saved.count; k++) {
            const struct saved_tensor *t = &layer->segments[i].saved.tensors[k];
            assert_false(t->attention_core); /* nothing that repeating the core would spare */
            out += t->bytes;
        }
    return out;
}

static void kept_is_what_backward_reads(void **state)
{
    for (unsigned i = 0; i < BENCH_COUNT; i++) {
        struct bench b;
        bench_of(&b, benches[i].pattern, *benches[i].sizes);
        transformer_layer(&b.context, &b.layer);
        near(kept(&b.layer), kept_of(i));
        for (unsigned s = 0; s < b.layer.segment_count; s++)
            assert_int_equal(b.layer.segments[s].core.count, 0);
    }
}

/* Streams of a mixer alone: the layer of one block less the norm and the residual. */
static void streams_are_counted(void **state)
{
    static const double before[] = {896 * 4 + 512 * 4 + 16 * 10, 512 * 4, 0, 0, 1152 * 4};
    static const double back[] = {896 * 6 + 512 * 6 + 16 * 14, 512 * 8, 0, 0, 1152 * 6};
    for (unsigned i = 0; i < BENCH_COUNT; i++) {
        struct bench b;
        const double w = i == 1 ? 192 : 384, gates = 384 * 10, gates_back = 384 * 14;
        bench_of(&b, benches[i].pattern, *benches[i].sizes);
        b.context.form = LAYER_MIXER;
        transformer_layer(&b.context, &b.layer);
        const bool kda = i == 2 || i == 3;
        const double first = kda ? 1152 * 4 + 768 * 4 + gates : before[i];
        const double last = kda ? 1152 * 6 + 768 * 6 + gates_back : back[i];
        near(sum(&b.layer, FORWARD, KERNEL_MEMORY, true), T * (first + 6 * w + 4 * H + 7 * H));
        const double shared = kda ? b.software.tensor.input_gradient_bytes * H : 0.0;
        near(sum(&b.layer, DGRAD, KERNEL_MEMORY, true),
             T * (last + 10 * w + 8 * H + 8 * H + shared));
    }
}

/* Over tensor ranks: matrices, heads and what they keep are split; the low ranks of kda, norms by
 * head and the norm before the mixer are whole. */
static void tensor_ranks_conserve_work(void **state)
{
    for (unsigned i = 0; i < BENCH_COUNT; i++) {
        for (uint64_t tp = 2; tp <= 8; tp *= 2) {
            struct bench one, each;
            const double t = (double)tp, low = i == 2 ? 2 * 24 : i == 3 ? 24 : 0;
            bench_of(&one, benches[i].pattern, *benches[i].sizes);
            bench_of(&each, benches[i].pattern, *benches[i].sizes);
            each.context.tp = tp;
            each.context.sequence_parallel = true;
            transformer_layer(&one.context, &one.layer);
            transformer_layer(&each.context, &each.layer);
            const double again = (t - 1) * low * H;
            near(t * sum(&each.layer, FORWARD, KERNEL_GEMM, false),
                 sum(&one.layer, FORWARD, KERNEL_GEMM, false) + 2 * T * again);
            near(t * sum(&each.layer, WGRAD, KERNEL_GEMM, false),
                 sum(&one.layer, WGRAD, KERNEL_GEMM, false) + 2 * T * again);
            near(t * sum(&each.layer, FORWARD, KERNEL_SCAN, false),
                 sum(&one.layer, FORWARD, KERNEL_SCAN, false));
            near(t * sum(&each.layer, DGRAD, KERNEL_SCAN, true),
                 sum(&one.layer, DGRAD, KERNEL_SCAN, true));
            near(t * sum(&each.layer, FORWARD, KERNEL_MEMORY, true),
                 sum(&one.layer, FORWARD, KERNEL_MEMORY, true));
            near(t * kept(&each.layer), kept(&one.layer) + 2 * T * (t - 1) * low);
            const double norm = i == 1 || i == 4 ? 0 : 24;
            near(t * each.layer.parameters,
                 one.layer.parameters + (t - 1) * (2 * H + norm) + again);
        }
    }
}

/* The input is gathered, the output scattered: as of attention. */
static void tensor_ranks_send_as_attention_does(void **state)
{
    struct bench b, attention;
    bench_of(&b, "gdn", sizes_gdn);
    bench_of(&attention, "attention", sizes_gdn);
    b.context.tp = attention.context.tp = 4;
    b.context.sequence_parallel = attention.context.sequence_parallel = true;
    transformer_layer(&b.context, &b.layer);
    transformer_layer(&attention.context, &attention.layer);
    assert_int_equal(b.layer.segment_count, attention.layer.segment_count);
    for (unsigned i = 0; i < b.layer.segment_count; i++)
        assert_memory_equal(&b.layer.segments[i].transfers, &attention.layer.segments[i].transfers,
                            sizeof(struct segment_transfers));
}

/* Over context ranks heads are exchanged for tokens, so that a rank has 1/c of the heads of whole
 * sequences; in goes what the convolution, the core and the norm read, out what they made. */
static void context_ranks_exchange_heads(void **state)
{
    static const double entry[] = {896 + 384 + 32, 2 * 192 + 320 + 16, 5 * 384 + 16, 5 * 384 + 16,
                                   4 * 384};
    for (unsigned i = 0; i < BENCH_COUNT; i++) {
        for (uint64_t cp = 2; cp <= 8; cp *= 2) {
            struct bench one, each;
            const double c = (double)cp, w = i == 1 ? 192 : 384;
            bench_of(&one, benches[i].pattern, *benches[i].sizes);
            bench_of(&each, benches[i].pattern, *benches[i].sizes);
            each.context.cp = cp;
            transformer_layer(&one.context, &one.layer);
            transformer_layer(&each.context, &each.layer);
            assert_int_equal(each.layer.segment_count, 3);
            const struct segment_transfers *t = &each.layer.segments[1].transfers;
            assert_true(t->before.comm == SEGMENT_CP && t->before.op == COMM_ALL_TO_ALL);
            near(t->before.bytes, 2 * T / c * entry[i]);
            near(t->after.bytes, 2 * T / c * w);
            near(t->backward_before.bytes, t->after.bytes);
            near(t->backward_after.bytes, t->before.bytes);
            near(c * sum(&each.layer, FORWARD, KERNEL_GEMM, false),
                 sum(&one.layer, FORWARD, KERNEL_GEMM, false));
            near(c * sum(&each.layer, FORWARD, KERNEL_SCAN, false),
                 sum(&one.layer, FORWARD, KERNEL_SCAN, false));
            near(c * kept(&each.layer), kept(&one.layer));
            near(each.layer.parameters, one.layer.parameters);
        }
    }
}

/* Whose CUDA graphs capture the kernels of a layer. */
static unsigned modules_of(const struct layer *layer)
{
    unsigned modules = 0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *s = &layer->segments[i];
        const struct segment_kernels *lists[] = {&s->forward, &s->dgrad, &s->wgrad, &s->core};
        for (unsigned list = 0; list < sizeof lists / sizeof lists[0]; list++)
            for (unsigned k = 0; k < lists[list]->count; k++)
                modules |= lists[list]->modules[k];
    }
    return modules;
}

/* M*-E: attention alone and a block alone are a whole layer cut in two. */
static void halves_make_a_whole(void **state)
{
    for (unsigned how = 0; how < 6; how++) {
        struct bench whole, first, second;
        struct bench *all[] = {&whole, &first, &second};
        for (unsigned i = 0; i < 3; i++) {
            bench_of(all[i], how % 2 ? "gdn" : "attention", sizes_gdn);
            all[i]->model.dropout_ratio = 0.1;
            all[i]->context.tp = how >= 2 ? 4 : 1;
            all[i]->context.sequence_parallel = how >= 4;
        }
        first.context.form = how % 2 ? LAYER_MIXER : LAYER_ATTENTION;
        second.context.form = LAYER_FFN;
        for (unsigned i = 0; i < 3; i++)
            transformer_layer(&all[i]->context, &all[i]->layer);
        static const size_t lists[] = {FORWARD, DGRAD, WGRAD};
        for (unsigned list = 0; list < 3; list++)
            for (int kind = KERNEL_GEMM; kind <= KERNEL_SCAN; kind++)
                for (int bytes = 0; bytes < 2; bytes++)
                    near(1.0 + sum(&first.layer, lists[list], kind, bytes) +
                             sum(&second.layer, lists[list], kind, bytes),
                         1.0 + sum(&whole.layer, lists[list], kind, bytes));
        near(first.layer.parameters + second.layer.parameters, whole.layer.parameters);
        assert_int_equal(modules_of(&first.layer), GRAPH_ATTENTION);
        assert_int_equal(modules_of(&second.layer), GRAPH_MLP);
        assert_int_equal(modules_of(&whole.layer), GRAPH_ATTENTION | GRAPH_MLP);
        assert_int_equal(first.layer.module_count + second.layer.module_count,
                         whole.layer.module_count);
        near(first.layer.input_bytes, whole.layer.input_bytes);
        near(second.layer.input_bytes, whole.layer.input_bytes);
    }
}

/* A gate of the output is as wide as the queries, made with them; the output is kept before it. */
static void a_gate_is_counted(void **state)
{
    struct bench with, without;
    bench_of(&with, "attention", sizes_gdn);
    bench_of(&without, "attention", sizes_gdn);
    with.model.attention.gate = true;
    transformer_layer(&with.context, &with.layer);
    transformer_layer(&without.context, &without.layer);
    near(transformer_layer_parameters(&with.model, 0) -
             transformer_layer_parameters(&without.model, 0),
         H * 128);
    near(with.layer.parameters - without.layer.parameters, H * 128);
    near(sum(&with.layer, FORWARD, KERNEL_GEMM, false) -
             sum(&without.layer, FORWARD, KERNEL_GEMM, false),
         2 * T * H * 128);
    near(sum(&with.layer, FORWARD, KERNEL_MEMORY, true) -
             sum(&without.layer, FORWARD, KERNEL_MEMORY, true),
         T * 128 * 6);
    near(sum(&with.layer, DGRAD, KERNEL_MEMORY, true) -
             sum(&without.layer, DGRAD, KERNEL_MEMORY, true),
         T * 128 * 10);
    double bytes = 0.0;
    for (unsigned k = 0; k < with.layer.segments[0].saved.count; k++)
        bytes += with.layer.segments[0].saved.tensors[k].bytes;
    for (unsigned k = 0; k < without.layer.segments[0].saved.count; k++)
        bytes -= without.layer.segments[0].saved.tensors[k].bytes;
    near(bytes, 2 * T * 128 * 2); /* the gate, and the output before it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_tensors),
        cmocka_unit_test(flops_are_counted),
        cmocka_unit_test(model_flops_are_of_the_recurrence),
        cmocka_unit_test(kept_is_what_backward_reads),
        cmocka_unit_test(streams_are_counted),
        cmocka_unit_test(tensor_ranks_conserve_work),
        cmocka_unit_test(tensor_ranks_send_as_attention_does),
        cmocka_unit_test(context_ranks_exchange_heads),
        cmocka_unit_test(halves_make_a_whole),
        cmocka_unit_test(a_gate_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
