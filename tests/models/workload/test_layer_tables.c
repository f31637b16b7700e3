/* Every kernel, saved tensor, temporary and transfer of a small layer, written out by hand. A
 * product of m x k by k x n is 2 m n k FLOPs and moves 2 (mk + kn + mn) bytes. */
#include "tests/models/workload/layer_rows.h"

/* 16 rows; queries 8 wide, keys and values 4 each; causal attention meets 8 x 8 / 2 pairs. */
static const struct kernel_row llama_forward[] = {
    {0, "residual", 0, 128 * 7, 1},  {0, "norm", 0, 128 * 4, 1},
    {0, "qkv", 4096, 1024, 1},       {0, "rope", 0, 192 * 4, 1},
    {0, "attention", 2048, 1024, 1}, {0, "projection", 2048, 640, 1},
    {0, "residual", 0, 128 * 7, 1},  {0, "norm", 0, 128 * 4, 1},
    {0, "up", 8192, 1792, 1},        {0, "activation", 0, 256 * 6, 1},
    {0, "down", 4096, 1024, 1},
};
static const struct kernel_row llama_dgrad[] = {
    {0, "down dgrad", 4096, 1024, 1},         {0, "activation gradient", 0, 256 * 10, 1},
    {0, "up dgrad", 8192, 1792, 1},           {0, "norm gradient", 0, 128 * 8, 1},
    {0, "residual gradient", 0, 128 * 8, 1},  {0, "projection dgrad", 2048, 640, 1},
    {0, "attention gradient", 5120, 1792, 1}, {0, "rope gradient", 0, 192 * 4, 1},
    {0, "qkv dgrad", 4096, 1024, 1},          {0, "norm gradient", 0, 128 * 8, 1},
    {0, "residual gradient", 0, 128 * 8, 1},
};
static const struct kernel_row llama_wgrad[] = {
    {0, "down wgrad", 4096, 1024, 1},
    {0, "up wgrad", 8192, 1792, 1},
    {0, "projection wgrad", 2048, 640, 1},
    {0, "qkv wgrad", 4096, 1024, 1},
};
static const struct saved_row llama_saved[] = {
    {0, "attention norm input", 256, false},
    {0, "qkv input", 256, false},
    {0, "query", 256, false},
    {0, "key", 128, false},
    {0, "value", 128, false},
    {0, "log-sum-exp", 256, true},
    {0, "projection input", 256, false},
    {0, "mlp norm input", 256, false},
    {0, "mlp input", 256, false},
    {0, "activation input", 1024, false},
    {0, "activation output", 512, false},
};
/* Forward the rotated queries and keys; backward the gradients of gate, up and activation. */
static const struct segment_row llama_segments[] = {{"layer", 16 * 12 * 2, 16 * 48 * 2, 256, 1}};

static void test_llama(void **state)
{
    (void)state;
    static struct bench b;
    bench_llama(&b);
    transformer_layer(&b.context, &b.layer);
    CHECK_KERNELS(&b.layer, forward, llama_forward);
    CHECK_KERNELS(&b.layer, dgrad, llama_dgrad);
    CHECK_KERNELS(&b.layer, wgrad, llama_wgrad);
    check_saved(&b.layer, llama_saved, COUNT(llama_saved));
    check_segments(&b.layer, llama_segments, COUNT(llama_segments));
    const struct segment *s = &b.layer.segments[0];
    check_transfer(&s->transfers.before, NOTHING);
    check_transfer(&s->transfers.beside, NOTHING);
    check_transfer(&s->transfers.after, NOTHING);
    check_transfer(&s->transfers.backward_before, NOTHING);
    check_transfer(&s->transfers.backward_beside, NOTHING);
    check_transfer(&s->transfers.backward_gather, NOTHING);
    check_transfer(&s->transfers.backward_after, NOTHING);
    assert_int_equal(s->wgrad_beside_count, 0);
    assert_string_equal(s->core.kernels[0].name, "attention");
    assert_true(b.layer.input_bytes == 256);
    assert_true(b.layer.parameters == 8 * 16 + 8 * 8 + 3 * 8 * 16 + 2 * 8);
}

/* Fused, the product for the weights reads and writes 4 bytes a parameter and no 2 of its own;
 * apart, it writes its 2, and a kernel reads them and the 4 and writes 4. */
static void test_accumulation(void **state)
{
    (void)state;
    static struct bench b;
    static const struct kernel_row fused[] = {
        {0, "down wgrad", 4096, 1024 + 6 * 128, 1},
        {0, "up wgrad", 8192, 1792 + 6 * 256, 1},
        {0, "projection wgrad", 2048, 640 + 6 * 64, 1},
        {0, "qkv wgrad", 4096, 1024 + 6 * 128, 1},
    };
    static const struct kernel_row apart[] = {
        {0, "down wgrad", 4096, 1024, 1},      {0, "gradient accumulation", 0, 10 * 128, 1},
        {0, "up wgrad", 8192, 1792, 1},        {0, "gradient accumulation", 0, 10 * 256, 1},
        {0, "projection wgrad", 2048, 640, 1}, {0, "gradient accumulation", 0, 10 * 64, 1},
        {0, "qkv wgrad", 4096, 1024, 1},       {0, "gradient accumulation", 0, 10 * 128, 1},
    };
    bench_llama(&b);
    b.context.accumulate = true;
    transformer_layer(&b.context, &b.layer);
    CHECK_KERNELS(&b.layer, wgrad, fused);
    b.software.layer.gradient_fusion = false;
    transformer_layer(&b.context, &b.layer);
    CHECK_KERNELS(&b.layer, wgrad, apart);
}

/* Two ranks of context: 8 rows and 4 x 8 / 2 pairs each; keys and values of all are 256 bytes. */
static const struct kernel_row gather_forward[] = {
    {0, "residual", 0, 64 * 7, 1},  {0, "norm", 0, 64 * 4, 1},
    {0, "qkv", 2048, 640, 1},       {0, "rope", 0, 96 * 4, 1},
    {1, "attention", 1024, 640, 1}, {1, "projection", 1024, 384, 1},
    {1, "residual", 0, 64 * 7, 1},  {1, "norm", 0, 64 * 4, 1},
    {1, "up", 4096, 1152, 1},       {1, "activation", 0, 128 * 6, 1},
    {1, "down", 2048, 640, 1},
};
/* Backward the gathered keys, once more for their gradients, 8 rows of the gradients of queries,
 * output, keys and values, and queries' in fp32. */
static const struct segment_row gather_segments[] = {
    {"qkv", 8 * 12 * 2, 8 * 24 * 2, 8 * 16 * 2, 0},
    {"attention", 256, 2 * 256 + 8 * 24 * 2 + 8 * 8 * 4, 128, 1},
};

static void test_gathered_context(void **state)
{
    (void)state;
    static struct bench b;
    bench_llama(&b);
    b.context.cp = 2;
    transformer_layer(&b.context, &b.layer);
    CHECK_KERNELS(&b.layer, forward, gather_forward);
    check_segments(&b.layer, gather_segments, COUNT(gather_segments));
    const struct segment *entry = &b.layer.segments[0], *core = &b.layer.segments[1];
    check_transfer(&entry->transfers.before, NOTHING);
    check_transfer(&entry->transfers.after, NOTHING);
    check_transfer(&entry->transfers.backward_after, NOTHING);
    check_transfer(&core->transfers.before, GATHER(CP, 256));
    check_transfer(&core->transfers.beside, NOTHING);
    check_transfer(&core->transfers.after, NOTHING);
    check_transfer(&core->transfers.backward_before, GATHER(CP, 256));
    check_transfer(&core->transfers.backward_after, SCATTER(CP, 256));
    assert_true(b.layer.input_bytes == 128);
}

/* In a ring, own keys causally (4 x 4 / 2 pairs) and half of the other's (4 x 2): as much in all.
 */
static const struct kernel_row ring_forward[] = {
    {0, "residual", 0, 64 * 7, 1},    {0, "norm", 0, 64 * 4, 1},
    {0, "qkv", 2048, 640, 1},         {0, "rope", 0, 96 * 4, 1},
    {1, "attention", 512, 448, 1},    {2, "attention", 512, 512, 1},
    {2, "projection", 1024, 384, 1},  {2, "residual", 0, 64 * 7, 1},
    {2, "norm", 0, 64 * 4, 1},        {2, "up", 4096, 1152, 1},
    {2, "activation", 0, 128 * 6, 1}, {2, "down", 2048, 640, 1},
};
static const struct segment_row ring_segments[] = {
    {"qkv", 192, 384, 256, 0},
    {"ring", 256, 2 * 256 + 384 + 256, 128, 1},
    {"attention", 256, 2 * 256 + 384 + 256, 128, 1},
};

static void test_ring_context(void **state)
{
    (void)state;
    static struct bench b;
    bench_llama(&b);
    b.context.cp = 2;
    b.context.ring.cp_ring = true;
    transformer_layer(&b.context, &b.layer);
    CHECK_KERNELS(&b.layer, forward, ring_forward);
    check_segments(&b.layer, ring_segments, COUNT(ring_segments));
    const struct segment *ring = &b.layer.segments[1], *core = &b.layer.segments[2];
    check_transfer(&ring->transfers.before, NOTHING);
    check_transfer(&ring->transfers.beside, EXCHANGE(256));
    check_transfer(&ring->transfers.after, NOTHING);
    check_transfer(&ring->transfers.backward_beside, EXCHANGE(256 * 3));
    check_transfer(&core->transfers.before, NOTHING);
    check_transfer(&core->transfers.backward_before, NOTHING);
    check_transfer(&core->transfers.backward_after, NOTHING);
}

/* Two tensor ranks: 2 heads (4 wide) and 16 of the block each; norm and residual on 8 rows. Unfused
 * attention: 256 scores; softmax and its gradient move 13 - 4 and 19 - 8 bytes of each. */
static const struct kernel_row gpt_forward[] = {
    {0, "residual", 0, 64 * 7, 1},   {0, "norm", 0, 64 * 4, 1},        {1, "qkv", 3072, 832, 1},
    {1, "scores", 1024, 768, 1},     {1, "softmax", 0, 256 * 9, 2},    {1, "context", 1024, 768, 1},
    {1, "projection", 1024, 448, 1}, {2, "residual", 0, 64 * 7, 1},    {2, "norm", 0, 64 * 4, 1},
    {3, "up", 4096, 1024, 1},        {3, "activation", 0, 256 * 4, 1}, {3, "down", 4096, 1024, 1},
};
static const struct kernel_row gpt_dgrad[] = {
    {0, "norm gradient", 0, 64 * 8, 1},
    {0, "residual gradient", 0, 64 * 8, 1},
    {1, "projection dgrad", 1024, 448, 1},
    {1, "probability gradient", 1024, 768, 1},
    {1, "value gradient", 1024, 768, 1},
    {1, "softmax gradient", 0, 256 * 11, 2},
    {1, "query gradient", 1024, 768, 1},
    {1, "key gradient", 1024, 768, 1},
    {1, "qkv dgrad", 3072, 832, 1},
    {2, "norm gradient", 0, 64 * 8, 1},
    {2, "residual gradient", 0, 64 * 8, 1},
    {3, "down dgrad", 4096, 1024, 1},
    {3, "activation gradient", 0, 256 * 6, 1},
    {3, "up dgrad", 4096, 1024, 1},
};
static const struct kernel_row gpt_wgrad[] = {
    {1, "projection wgrad", 1024, 448, 1},
    {1, "qkv wgrad", 3072, 832, 1},
    {3, "down wgrad", 4096, 1024, 1},
    {3, "up wgrad", 4096, 1024, 1},
};
static const struct saved_row gpt_saved[] = {
    {0, "mlp output dropout mask", 64, false},
    {0, "attention norm input", 128, false},
    {1, "qkv input", 128, false},
    {1, "query", 128, false},
    {1, "key", 128, false},
    {1, "value", 128, false},
    {1, "softmax output", 512, true},
    {1, "attention dropout mask", 256, true},
    {1, "attention dropout output", 512, true},
    {1, "projection input", 128, false},
    {2, "attention output dropout mask", 64, false},
    {2, "mlp norm input", 128, false},
    {3, "mlp input", 128, false},
    {3, "activation input", 512, false},
    {3, "activation output", 512, false},
};
/* Forward the scores, or the gathered input of 256; backward the gradients of queries, output, keys
 * and values with two of the scores, or the gathered input and the two sides of the activation. */
static const struct segment_row gpt_segments[] = {
    {"norm", 0, 0, 128, 0},
    {"attention", 512, 16 * 16 * 2 + 2 * 512, 128, 3},
    {"norm", 0, 0, 128, 0},
    {"mlp", 256, 256 + 16 * 32 * 2, 128, 0},
};

static void test_gpt(void **state)
{
    (void)state;
    static struct bench b;
    bench_gpt(&b);
    transformer_layer(&b.context, &b.layer);
    CHECK_KERNELS(&b.layer, forward, gpt_forward);
    CHECK_KERNELS(&b.layer, dgrad, gpt_dgrad);
    CHECK_KERNELS(&b.layer, wgrad, gpt_wgrad);
    check_saved(&b.layer, gpt_saved, COUNT(gpt_saved));
    check_segments(&b.layer, gpt_segments, COUNT(gpt_segments));
    for (unsigned i = 0; i < 4; i++) {
        const struct segment *s = &b.layer.segments[i];
        if (i % 2 == 0) {
            check_transfer(&s->transfers.before, NOTHING);
            check_transfer(&s->transfers.after, NOTHING);
            check_transfer(&s->transfers.backward_before, NOTHING);
            check_transfer(&s->transfers.backward_gather, NOTHING);
            check_transfer(&s->transfers.backward_after, NOTHING);
        } else {
            check_transfer(&s->transfers.before, GATHER(TP, 256));
            check_transfer(&s->transfers.after, SCATTER(TP, 256));
            check_transfer(&s->transfers.backward_before, GATHER(TP, 256));
            check_transfer(&s->transfers.backward_gather, GATHER(TP, 256));
            check_transfer(&s->transfers.backward_after, SCATTER(TP, 256));
            assert_int_equal(s->wgrad_beside_count, 1);
        }
    }
    /* Column biases are split, those after a reduction and the norms are whole. */
    assert_true(b.layer.parameters == 4 * 8 * 4 + 2 * 8 * 16 + 4 * 8 + 12 + 8 + 16 + 8);
}

/* Kept whole where the software does not gather again; without sequence parallelism two segments
 * and all-reduces. */
static void test_gpt_other(void **state)
{
    (void)state;
    static struct bench b;
    bench_gpt(&b);
    b.software.tensor.backward_regather = false;
    transformer_layer(&b.context, &b.layer);
    check_transfer(&b.layer.segments[1].transfers.backward_gather, NOTHING);
    assert_string_equal(b.layer.segments[1].saved.tensors[0].name, "qkv input");
    assert_true(b.layer.segments[1].saved.tensors[0].bytes == 256);
    assert_true(b.layer.segments[3].saved.tensors[0].bytes == 256);
    b.context.sequence_parallel = false;
    transformer_layer(&b.context, &b.layer);
    static const struct segment_row whole[] = {
        {"attention", 512, 16 * 16 * 2 + 2 * 512, 256, 3},
        {"mlp", 0, 16 * 32 * 2, 256, 0},
    };
    check_segments(&b.layer, whole, COUNT(whole));
    for (unsigned i = 0; i < 2; i++) {
        check_transfer(&b.layer.segments[i].transfers.before, NOTHING);
        check_transfer(&b.layer.segments[i].transfers.after, REDUCE(TP, 256));
        check_transfer(&b.layer.segments[i].transfers.backward_before, NOTHING);
        check_transfer(&b.layer.segments[i].transfers.backward_gather, NOTHING);
        check_transfer(&b.layer.segments[i].transfers.backward_after, REDUCE(TP, 256));
    }
    b.model.dropout_ratio = 0;
    b.software.attention.math_mask_bytes = 3;
    transformer_layer(&b.context, &b.layer);
    static const struct kernel_row plain = {0, "softmax", 0, 256 * 7, 1};
    check_kernel(&b.layer.segments[0].forward.kernels[4], &plain);
    assert_int_equal(b.layer.segments[0].saved.count, 7);
}

/* Each kernel of a layer that is a feed-forward block alone is of that block's module, that which
 * closes the layer before among them; of one that is attention alone, of attention's. */
static void test_modules_of_lone_blocks(void **state)
{
    static const struct {
        enum layer_form form;
        uint64_t experts;
        unsigned modules;
    } cases[] = {
        {LAYER_FFN, 0, GRAPH_MLP},
        {LAYER_FFN, 4, GRAPH_ROUTER | GRAPH_PREPROCESS | GRAPH_EXPERTS},
        {LAYER_ATTENTION, 0, GRAPH_ATTENTION},
    };
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct bench b;
        unsigned found = 0;
        bench_llama(&b);
        b.model.moe.experts = cases[i].experts;
        b.model.moe.experts_per_token = 2;
        b.model.moe.ffn_hidden = 16;
        b.context.experts.ep = b.context.experts.etp = 1;
        b.context.experts.imbalance = 1.0;
        b.context.form = cases[i].form;
        transformer_layer(&b.context, &b.layer);
        for (unsigned s = 0; s < b.layer.segment_count; s++) {
            const struct segment *g = &b.layer.segments[s];
            const struct segment_kernels *lists[] = {&g->forward, &g->dgrad, &g->wgrad};
            for (unsigned k = 0; k < 3 * SEGMENT_KERNEL_MAX; k++) {
                const struct segment_kernels *of = lists[k / SEGMENT_KERNEL_MAX];
                if (k % SEGMENT_KERNEL_MAX < of->count)
                    found |= of->modules[k % SEGMENT_KERNEL_MAX];
            }
        }
        assert_int_equal(found, cases[i].modules);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modules_of_lone_blocks),
        cmocka_unit_test(test_llama),
        cmocka_unit_test(test_accumulation),
        cmocka_unit_test(test_gathered_context),
        cmocka_unit_test(test_ring_context),
        cmocka_unit_test(test_gpt),
        cmocka_unit_test(test_gpt_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
