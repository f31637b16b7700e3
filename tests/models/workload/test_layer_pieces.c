/* What sums over a layer hide: the sides of each product, what each piece holds only while it runs,
 * fp8's casts, and what stays beside a transfer. */
#include "models/workload/transformer_piece.h"
#include "tests/models/workload/layer_rows.h"

struct product_row {
    const char *name;
    double m, n, k, batch;
};

static const struct kernel *find(const struct layer *layer, const char *name)
{
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *s = &layer->segments[i];
        const struct kernel *lists[] = {s->forward.kernels, s->dgrad.kernels, s->wgrad.kernels};
        const unsigned counts[] = {s->forward.count, s->dgrad.count, s->wgrad.count};
        for (unsigned list = 0; list < 3; list++) {
            for (unsigned k = 0; k < counts[list]; k++)
                if (strcmp(lists[list][k].name, name) == 0)
                    return &lists[list][k];
        }
    }
    return NULL;
}

static void check_products(const struct layer *layer, const struct product_row *rows,
                           unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct kernel *k = find(layer, rows[i].name);
        assert_non_null(k);
        assert_int_equal(k->kind, KERNEL_GEMM);
        assert_int_equal(k->peak, PEAK_BF16);
        assert_true(k->element_bytes == 2);
        if (k->m != rows[i].m || k->n != rows[i].n || k->k != rows[i].k ||
            k->batch != rows[i].batch)
            fail_msg("%s: %g x %g x %g, %g times", k->name, k->m, k->n, k->k, k->batch);
    }
}

/* m x k by k x n. Forward rows x outputs x inputs, back rows x inputs x outputs, for the weights
 * inputs x outputs x rows. 4 pairs of sequence and head of 8 x 8 scores. */
static const struct product_row gpt_products[] = {
    {"qkv", 16, 12, 8, 1},
    {"qkv dgrad", 16, 8, 12, 1},
    {"qkv wgrad", 8, 12, 16, 1},
    {"projection", 16, 8, 4, 1},
    {"projection dgrad", 16, 4, 8, 1},
    {"projection wgrad", 4, 8, 16, 1},
    {"up", 16, 16, 8, 1},
    {"up dgrad", 16, 8, 16, 1},
    {"up wgrad", 8, 16, 16, 1},
    {"down", 16, 8, 16, 1},
    {"down dgrad", 16, 16, 8, 1},
    {"down wgrad", 16, 8, 16, 1},
    {"scores", 8, 8, 2, 4},
    {"context", 8, 2, 8, 4},
    {"probability gradient", 8, 8, 2, 4},
    {"value gradient", 8, 2, 8, 4},
    {"query gradient", 8, 2, 8, 4},
    {"key gradient", 8, 2, 8, 4},
};
static const struct product_row head_products[] = {
    {"logits", 16, 128, 8, 1},
    {"logits dgrad", 16, 8, 128, 1},
    {"logits wgrad", 8, 128, 16, 1},
};
/* Two context ranks: 4 queries against 8 gathered keys. */
static const struct product_row context_products[] = {
    {"scores", 4, 8, 2, 4},
    {"context", 4, 2, 8, 4},
    {"probability gradient", 4, 8, 2, 4},
    {"value gradient", 8, 2, 4, 4},
    {"query gradient", 4, 2, 8, 4},
    {"key gradient", 8, 2, 4, 4},
};

static void test_products(void **state)
{
    (void)state;
    static struct bench b;
    bench_gpt(&b);
    transformer_layer(&b.context, &b.layer);
    check_products(&b.layer, gpt_products, COUNT(gpt_products));
    transformer_head(&b.context, &b.layer);
    check_products(&b.layer, head_products, COUNT(head_products));
    b.context.cp = 2;
    transformer_layer(&b.context, &b.layer);
    check_products(&b.layer, context_products, COUNT(context_products));
}

/* The flash kernel's own sides, in a ring too. */
static void test_attention_kernel(void **state)
{
    (void)state;
    static struct bench b;
    bench_llama(&b);
    transformer_layer(&b.context, &b.layer);
    const struct kernel *k = find(&b.layer, "attention"),
                        *back = find(&b.layer, "attention gradient");
    assert_true(k->core.causal && !k->core.backward && back->core.causal && back->core.backward);
    assert_int_equal(k->core.kind, ATTENTION_FLASH2);
    assert_true(k->core.query_tokens == 8 && k->core.key_tokens == 8 && k->batch == 2);
    assert_true(k->core.heads == 4 && k->core.kv_heads == 2 && k->core.head_size == 2);
    b.software.attention.full_square = true;
    transformer_layer(&b.context, &b.layer);
    assert_false(find(&b.layer, "attention")->core.causal);
    b.context.cp = 3;
    b.context.sequence = 12;
    b.context.ring.cp_ring = true;
    b.software.attention.full_square = false;
    transformer_layer(&b.context, &b.layer);
    k = find(&b.layer, "attention"); /* the ring's: 2 other blocks of 4 keys, half of each */
    assert_true(!k->core.causal && k->batch == 4 && k->core.query_tokens == 4 &&
                k->core.key_tokens == 2);
    b.context.causal = false;
    transformer_layer(&b.context, &b.layer);
    k = find(&b.layer, "attention");
    assert_true(!k->core.causal && k->batch == 4 && k->core.query_tokens == 4 &&
                k->core.key_tokens == 4);
    b.context.causal = true;
    b.context.attention = ATTENTION_MATH; /* computes the masked half too */
    transformer_layer(&b.context, &b.layer);
    assert_true(find(&b.layer, "scores")->batch == 4 * 4 && find(&b.layer, "scores")->n == 4);
}

struct held_row {
    enum piece piece;
    double forward_bytes, backward_bytes;
    double apart_bytes; /* of the backward ones, tensors by themselves: each, and how many */
    unsigned apart_count;
};

static void check_held(const struct bench *b, const struct held_row *rows, unsigned count)
{
    struct rank_share s;
    transformer_share_of(&b->context, &s);
    for (unsigned i = 0; i < count; i++) {
        assert_true(transformer_piece_temporary(&s, rows[i].piece, false) == rows[i].forward_bytes);
        assert_true(transformer_piece_temporary(&s, rows[i].piece, true) == rows[i].backward_bytes);
        unsigned apart;
        assert_true(transformer_piece_apart(&s, rows[i].piece, &apart) == rows[i].apart_bytes);
        assert_int_equal(apart, rows[i].apart_count);
    }
}

/* A gathered input is 16 x 8 x 2 = 256 bytes; a row of one element is 32. Backward: gradients of
 * what goes in and comes out. */
static const struct held_row gpt_held[] = {
    {PIECE_CLOSE, 0, 0, 0, 0},
    {PIECE_NORM1, 0, 0, 0, 0},
    {PIECE_QKV, 256, 256 + 32 * (8 + 4 + 8), 0, 0},
    {PIECE_CORE, 512, 32 * 16 + 2 * 512, 512, 2},
    {PIECE_PROJECT, 0, 256 + 32 * 4, 0, 0},
    {PIECE_RESIDUAL, 0, 0, 0, 0},
    {PIECE_NORM2, 0, 0, 0, 0},
    {PIECE_UP, 256, 256 + 32 * (8 + 16), 0, 0},
    {PIECE_ACTIVATE, 0, 256 + 32 * 32, 0, 0},
    {PIECE_DOWN, 0, 256 + 32 * 16, 0, 0},
    {PIECE_FINAL_NORM, 0, 0, 0, 0},
};
static const struct held_row llama_held[] = {
    {PIECE_QKV, 0, 32 * (8 + 8 + 8), 0, 0},
    {PIECE_ROPE, 32 * 12, 32 * 12, 0, 0},
    {PIECE_CORE, 0, 32 * 24 + 16 * 8 * 4, 16 * 8 * 4, 1},
    {PIECE_PROJECT, 0, 32 * 8, 0, 0},
    {PIECE_UP, 0, 32 * (8 + 32), 0, 0},
    {PIECE_ACTIVATE, 0, 32 * 48, 0, 0},
    {PIECE_DOWN, 0, 32 * 16, 0, 0},
};

static void test_held_while_running(void **state)
{
    (void)state;
    static struct bench b;
    bench_gpt(&b);
    check_held(&b, gpt_held, COUNT(gpt_held));
    bench_llama(&b);
    check_held(&b, llama_held, COUNT(llama_held));
    /* Three context ranks, 12 tokens: keys and values of all 24, or of one's own 8 and a guest's.
     */
    static const struct held_row gathered[] = {
        {PIECE_CORE, 24 * 8 * 2, 2 * 24 * 8 * 2 + 8 * 24 * 2 + 8 * 8 * 4, 8 * 8 * 4, 1}};
    static const struct held_row ring[] = {
        {PIECE_CORE, 16 * 8 * 2, 2 * 16 * 8 * 2 + 8 * 24 * 2 + 8 * 8 * 4, 8 * 8 * 4, 1}};
    b.context.sequence = 12;
    b.context.cp = 3;
    check_held(&b, gathered, 1);
    b.context.ring.cp_ring = true;
    check_held(&b, ring, 1);
}

/* In fp8 what enters a linear layer is kept in one byte, and written by a cast of 2 + 2 x 1 bytes
 * where both directions want a copy;
 * the flash kernel's 16-bit output is kept beside. */
static const struct saved_row fp8_saved[] = {
    {0, "attention norm input", 256, false},
    {0, "qkv input", 128, false},
    {0, "query", 256, false},
    {0, "key", 128, false},
    {0, "value", 128, false},
    {0, "log-sum-exp", 256, true},
    {0, "attention output", 256, false},
    {0, "projection input", 128, false},
    {0, "mlp norm input", 256, false},
    {0, "mlp input", 128, false},
    {0, "activation input", 1024, false},
    {0, "activation output", 256, false},
};
static const struct kernel_row fp8_forward[] = {
    {0, "residual", 0, 896, 1},
    {0, "norm", 0, 512, 1},
    {0, "fp8 cast", 0, 128 * 4, 1},
    {0, "qkv", 4096, 128 + 128 + 256 * 2, 1},
    {0, "rope", 0, 768, 1},
    {0, "attention", 2048, 1024, 1},
    {0, "fp8 cast", 0, 128 * 4, 1},
    {0, "projection", 2048, 128 + 64 + 128 * 2, 1},
    {0, "residual", 0, 896, 1},
    {0, "norm", 0, 512, 1},
    {0, "fp8 cast", 0, 128 * 4, 1},
    {0, "up", 8192, 128 + 256 + 512 * 2, 1},
    {0, "activation", 0, 1536, 1},
    {0, "fp8 cast", 0, 256 * 4, 1},
    {0, "down", 4096, 256 + 128 + 128 * 2, 1},
};

static void test_fp8(void **state)
{
    (void)state;
    static struct bench b;
    bench_llama(&b);
    b.context.precision = precision_find("fp8");
    b.context.fp8_recipe = FP8_DELAYED;
    b.context.transposed_copies = true;
    transformer_layer(&b.context, &b.layer);
    check_saved(&b.layer, fp8_saved, COUNT(fp8_saved));
    CHECK_KERNELS(&b.layer, forward, fp8_forward);
    const struct segment *s = &b.layer.segments[0];
    assert_string_equal(s->dgrad.kernels[0].name, "fp8 cast gradient");
    assert_true(s->dgrad.kernels[0].bytes == 128 * 4); /* of down's output */
    assert_string_equal(s->dgrad.kernels[3].name, "fp8 cast gradient");
    assert_true(s->dgrad.kernels[3].bytes == 512 * 4); /* of gate and up */
    assert_int_equal(s->forward.kernels[3].peak, PEAK_FP8);
    assert_int_equal(s->forward.kernels[5].peak, PEAK_BF16);
    assert_true(s->forward.kernels[3].element_bytes == 1 &&
                s->forward.kernels[5].element_bytes == 2);
    b.context.attention = ATTENTION_MATH; /* its output is what the projection keeps */
    transformer_layer(&b.context, &b.layer);
    assert_string_equal(b.layer.segments[0].saved.tensors[6].name, "projection input");
}

/* An fp32 element is twice as wide everywhere, masks and statistics apart. */
static void test_fp32(void **state)
{
    (void)state;
    static struct bench b;
    bench_llama(&b);
    b.context.precision = precision_find("fp32");
    transformer_layer(&b.context, &b.layer);
    const struct segment *s = &b.layer.segments[0];
    assert_true(s->forward.kernels[0].bytes == 2 * 896 && s->dgrad.kernels[10].bytes == 2 * 1024);
    assert_true(s->forward.kernels[2].bytes == 2 * 1024 &&
                s->forward.kernels[2].element_bytes == 4);
    assert_true(s->saved.tensors[0].bytes == 512 && s->saved.tensors[5].bytes == 256);
    assert_true(b.layer.input_bytes == 512 && s->memory.output_bytes == 512);
}

/* With gradients added apart, the kernel that adds runs beside the transfer too. */
static void test_beside(void **state)
{
    (void)state;
    static struct bench b;
    bench_gpt(&b);
    b.context.accumulate = true;
    b.software.layer.gradient_fusion = false;
    transformer_layer(&b.context, &b.layer);
    assert_int_equal(b.layer.segments[1].wgrad.count, 4);
    assert_int_equal(b.layer.segments[1].wgrad_beside_count, 2);
    assert_int_equal(b.layer.segments[3].wgrad_beside_count, 2);
    transformer_head(&b.context, &b.layer);
    assert_int_equal(b.layer.segments[1].wgrad_beside_count, 2);
    b.software.layer.gradient_fusion = true;
    transformer_layer(&b.context, &b.layer);
    assert_int_equal(b.layer.segments[1].wgrad_beside_count, 1);
}

static void check_same_kernels(const struct segment_kernels *a, const struct segment_kernels *b)
{
    assert_int_equal(a->count, b->count);
    for (unsigned i = 0; i < a->count; i++) {
        const struct kernel *x = &a->kernels[i], *y = &b->kernels[i];
        if (strcmp(x->name, y->name) != 0 || x->flops != y->flops || x->bytes != y->bytes ||
            x->launches != y->launches)
            fail_msg("%s and %s: %g and %g bytes", x->name, y->name, x->bytes, y->bytes);
    }
}

static void check_same_transfers(const struct segment_transfers *a,
                                 const struct segment_transfers *b)
{
    const struct segment_transfer *x[] = {
        &a->before,          &a->beside,          &a->after,
        &a->backward_before, &a->backward_beside, &a->backward_gather,
        &a->backward_after,  &a->exchange,        &a->again};
    const struct segment_transfer *y[] = {
        &b->before,          &b->beside,          &b->after,
        &b->backward_before, &b->backward_beside, &b->backward_gather,
        &b->backward_after,  &b->exchange,        &b->again};
    for (unsigned i = 0; i < COUNT(x); i++)
        check_transfer(x[i], y[i]->comm, y[i]->op, y[i]->bytes);
    assert_int_equal(a->pipelined, b->pipelined);
}

static void check_same_layer(const struct layer *a, const struct layer *b)
{
    assert_int_equal(a->segment_count, b->segment_count);
    assert_true(a->input_bytes == b->input_bytes && a->parameters == b->parameters);
    for (unsigned i = 0; i < a->segment_count; i++) {
        const struct segment *x = &a->segments[i], *y = &b->segments[i];
        check_same_kernels(&x->forward, &y->forward);
        check_same_kernels(&x->dgrad, &y->dgrad);
        check_same_kernels(&x->wgrad, &y->wgrad);
        check_same_transfers(&x->transfers, &y->transfers);
        assert_true(x->memory.output_bytes == y->memory.output_bytes &&
                    x->memory.forward_temporary_bytes == y->memory.forward_temporary_bytes &&
                    x->memory.backward_temporary_bytes == y->memory.backward_temporary_bytes);
        assert_int_equal(x->saved.count, y->saved.count);
        for (unsigned k = 0; k < x->saved.count; k++)
            assert_true(x->saved.tensors[k].bytes == y->saved.tensors[k].bytes);
    }
}

/* One tensor rank holds the whole sequence: sequence parallelism has nothing to split, so a layer
 * and a head do, keep and send the same with it as without. */
static void test_lone_rank_splits_no_sequence(void **state)
{
    (void)state;
    static struct bench b;
    static struct layer plain;
    static void (*const writers[])(const struct layer_context *,
                                   struct layer *) = {transformer_layer, transformer_head};
    for (unsigned variant = 0; variant < 64; variant++) {
        if (variant & 1)
            bench_gpt(&b);
        else
            bench_llama(&b);
        b.context.tp = 1;
        b.context.cp = variant & 2 ? 2 : 1;
        b.context.precision = precision_find(variant & 4 ? "fp8" : "bf16");
        b.context.fp8_recipe = FP8_DELAYED;
        b.software.fp8.gathers = variant & 8;
        b.software.layer.gradient_fusion = variant & 16;
        b.context.recompute = variant & 32 ? RECOMPUTE_MODULES : RECOMPUTE_NONE;
        for (unsigned i = 0; i < COUNT(writers); i++) {
            b.context.sequence_parallel = false;
            writers[i](&b.context, &plain);
            b.context.sequence_parallel = true;
            writers[i](&b.context, &b.layer);
            check_same_layer(&b.layer, &plain);
        }
    }
}

static double kept(const struct layer *layer, const char *name)
{
    double bytes = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++)
        for (unsigned k = 0; k < layer->segments[i].saved.count; k++)
            if (strcmp(layer->segments[i].saved.tensors[k].name, name) == 0)
                bytes += layer->segments[i].saved.tensors[k].bytes;
    return bytes;
}

/* How the weights of a gated block are stored changes no activation: gate, up and what the gate's
 * activation writes are as many bytes apart as in one tensor, for each factor that software keeps.
 */
static void test_gates_apart_keep_as_much(void **state)
{
    (void)state;
    static const double factors[] = {1.0, 1.25, 1.5, 2.0, 3.0};
    static struct bench b;
    for (unsigned i = 0; i < 4 * COUNT(factors); i++) {
        bench_llama(&b);
        b.context.tp = i % 2 + 1;
        b.context.precision = precision_find(i / 2 % 2 == 0 ? "bf16" : "fp32");
        b.software.layer.activation_saved_factor = factors[i / 4];
        transformer_layer(&b.context, &b.layer);
        const double together = kept(&b.layer, "activation input");
        b.software.layer.separate_projections = true;
        transformer_layer(&b.context, &b.layer);
        const double apart =
            kept(&b.layer, "gate") + kept(&b.layer, "up") + kept(&b.layer, "activated gate");
        if (!(together > 0.0) || apart != together)
            fail_msg("factor %g: %g bytes apart, %g together", factors[i / 4], apart, together);
    }
}

/* What selective recomputation drops. */
static double dropped(const struct bench *b)
{
    double bytes = 0.0;
    for (unsigned i = 0; i < b->layer.segment_count; i++)
        for (unsigned k = 0; k < b->layer.segments[i].saved.count; k++)
            if (b->layer.segments[i].saved.tensors[k].attention_core)
                bytes += b->layer.segments[i].saved.tensors[k].bytes;
    return bytes;
}

/* Selective recomputation repeats scores, softmax and context (Korthikanti et al. 2022, section 5):
 * what it drops depends on heads and tokens, not on the widths of the layer, of its block, of its
 * experts or of the latents that queries and keys come from. */
static void test_selective_drops_no_widths(void **state)
{
    (void)state;
    static struct bench b;
    for (unsigned variant = 0; variant < 32; variant++) {
        double bytes[2];
        for (unsigned wide = 0; wide < 2; wide++) {
            if (variant & 1)
                bench_gpt(&b);
            else
                bench_llama(&b);
            struct model_shape *m = &b.model;
            m->hidden <<= wide;
            m->ffn_hidden <<= wide;
            if (variant & 2) {
                m->attention.kv_heads = m->attention.heads;
                m->latent.q_rank = 4u << wide;
                m->latent.kv_rank = 6u << wide;
                m->latent.rope_head_size = 2;
                m->latent.v_head_size = 2;
            }
            if (variant & 4) {
                m->moe.experts = 4;
                m->moe.experts_per_token = 2;
                m->moe.ffn_hidden = 16u << wide;
                m->moe.clamped = variant & 8;
                b.context.experts.ep = b.context.experts.etp = 1;
                b.context.experts.imbalance = 1.0;
                b.context.experts.dispatch = &dispatch_alltoall;
            }
            b.software.layer.save_norm_input = true;
            b.software.experts.bias_fusion = false;
            b.software.layer.separate_projections = variant & 16;
            transformer_layer(&b.context, &b.layer);
            bytes[wide] = dropped(&b);
        }
        if (!(bytes[0] > 0.0) || bytes[0] != bytes[1])
            fail_msg("variant %u: %g bytes, twice as wide %g", variant, bytes[0], bytes[1]);
    }
}

/* Counted from the end of dgrad: as many products as gradients of weights that run beside. */
static void test_what_is_gathered_again_leaves_with(void **state)
{
    struct segment s = {.transfers.backward_gather = {SEGMENT_TP, COMM_ALL_GATHER, 1.0}};
    const struct gemm_shape shape = {1, 1, 1, 1};
    const struct kernel product = gpu_kernel_gemm("product", PEAK_BF16, shape, 2),
                        memory = gpu_kernel_memory("cast", 1.0, 1.0);
    const struct kernel dgrad[] = {product, memory, product, memory, product, memory};
    s.dgrad.count = 6;
    memcpy(s.dgrad.kernels, dgrad, sizeof dgrad);
    s.wgrad.count = 4;
    s.wgrad.kernels[0] = s.wgrad.kernels[1] = s.wgrad.kernels[3] = product;
    s.wgrad.kernels[2] = memory;
    static const unsigned first[] = {6, 4, 4, 2, 0}; /* by kernels of wgrad that run beside */
    for (unsigned beside = 0; beside <= 4; beside++) {
        s.wgrad_beside_count = beside;
        assert_int_equal(transformer_gathering_kernel(&s, 0), first[beside]);
        assert_int_equal(transformer_gathering_kernel(&s, 3),
                         first[beside] > 3 ? first[beside] : 3);
    }
    s.transfers.backward_gather.comm = SEGMENT_NONE;
    assert_int_equal(transformer_gathering_kernel(&s, 3), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_gathered_again_leaves_with),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_attention_kernel),
        cmocka_unit_test(test_held_while_running),
        cmocka_unit_test(test_fp8),
        cmocka_unit_test(test_fp32),
        cmocka_unit_test(test_beside),
        cmocka_unit_test(test_selective_drops_no_widths),
        cmocka_unit_test(test_lone_rank_splits_no_sequence),
        cmocka_unit_test(test_gates_apart_keep_as_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
