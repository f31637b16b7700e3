/* Embedding and head, kernel by kernel: 10 words, padded to 128 a rank. */
#include "tests/models/workload/layer_rows.h"

static const struct kernel_row gpt_embedding_forward[] = {
    {0, "embedding", 0, 2 * 128 * 2, 1},
    {0, "position embedding", 0, 3 * 64 * 2, 1},
    {0, "embedding dropout", 0, 64 * 5, 1},
};
static const struct kernel_row gpt_embedding_dgrad[] = {
    {0, "embedding dropout gradient", 0, 64 * 5, 1},
};
/* The table of 128 x 8 cleared; 128 elements read, and read and written in the table. */
static const struct kernel_row gpt_embedding_wgrad[] = {
    {0, "embedding gradient", 0, 1024 * 2 + 128 * 6, 2},
    {0, "gradient accumulation", 0, 1024 * 10, 1},
};
static const struct saved_row gpt_embedding_saved[] = {{0, "embedding dropout mask", 64, false}};
static const struct segment_row gpt_embedding[] = {{"embedding", 0, 2048, 128, 0}};

static void test_gpt_embedding(void **state)
{
    (void)state;
    static struct bench b;
    bench_gpt(&b);
    b.context.accumulate = true;
    b.layer.segment_count = 1;
    transformer_embedding(&b.context, &b.layer.segments[0]);
    CHECK_KERNELS(&b.layer, forward, gpt_embedding_forward);
    CHECK_KERNELS(&b.layer, dgrad, gpt_embedding_dgrad);
    CHECK_KERNELS(&b.layer, wgrad, gpt_embedding_wgrad);
    check_saved(&b.layer, gpt_embedding_saved, COUNT(gpt_embedding_saved));
    check_segments(&b.layer, gpt_embedding, COUNT(gpt_embedding));
    const struct segment *s = &b.layer.segments[0];
    check_transfer(&s->transfers.before, NOTHING);
    check_transfer(&s->transfers.after, SCATTER(TP, 256));
    check_transfer(&s->transfers.backward_before, GATHER(TP, 256));
    check_transfer(&s->transfers.backward_after, NOTHING);
    b.context.sequence_parallel = false;
    transformer_embedding(&b.context, &b.layer.segments[0]);
    check_transfer(&s->transfers.after, REDUCE(TP, 256));
    check_transfer(&s->transfers.backward_before, NOTHING);
    assert_true(s->memory.output_bytes == 256 && s->saved.tensors[0].bytes == 128);
}

/* One rank of a Llama: rows are looked up, nothing else. */
static void test_llama_embedding(void **state)
{
    (void)state;
    static struct bench b;
    static const struct kernel_row forward[] = {{0, "embedding", 0, 512, 1}};
    static const struct kernel_row wgrad[] = {{0, "embedding gradient", 0, 2816, 2}};
    bench_llama(&b);
    b.layer.segment_count = 1;
    transformer_embedding(&b.context, &b.layer.segments[0]);
    CHECK_KERNELS(&b.layer, forward, forward);
    CHECK_KERNELS(&b.layer, wgrad, wgrad);
    assert_int_equal(b.layer.segments[0].dgrad.count, 0);
    assert_int_equal(b.layer.segments[0].saved.count, 0);
    check_transfer(&b.layer.segments[0].transfers.after, NOTHING);
    check_transfer(&b.layer.segments[0].transfers.backward_before, NOTHING);
}

/* 16 x 128 logits: 40 bytes of traffic each, half in either pass; 14 kept, 4 of them the gradient.
 */
static const struct kernel_row llama_head_forward[] = {
    {0, "norm", 0, 128 * 4, 1},
    {0, "logits", 32768, 6400, 1},
    {0, "loss", 0, 2048 * 20, 1},
};
static const struct kernel_row llama_head_dgrad[] = {
    {0, "loss gradient", 0, 2048 * 20, 1},
    {0, "logits dgrad", 32768, 6400, 1},
    {0, "norm gradient", 0, 128 * 8, 1},
};
static const struct kernel_row llama_head_wgrad[] = {{0, "logits wgrad", 32768, 6400, 1}};
static const struct saved_row llama_head_saved[] = {
    {0, "final norm input", 256, false},
    {0, "head input", 256, false},
    {0, "logits and softmax", 2048 * 10, false},
};
static const struct segment_row llama_head[] = {{"head", 0, 2048 * 4, 64, 0}};

static double nth_launches(const struct segment *s, const char *name)
{
    for (unsigned i = 0; i < s->forward.count; i++)
        if (strcmp(s->forward.kernels[i].name, name) == 0)
            return s->forward.kernels[i].launches;
    return 0.0;
}

static void test_llama_head(void **state)
{
    (void)state;
    static struct bench b;
    bench_llama(&b);
    transformer_head(&b.context, &b.layer);
    CHECK_KERNELS(&b.layer, forward, llama_head_forward);
    CHECK_KERNELS(&b.layer, dgrad, llama_head_dgrad);
    CHECK_KERNELS(&b.layer, wgrad, llama_head_wgrad);
    check_saved(&b.layer, llama_head_saved, COUNT(llama_head_saved));
    check_segments(&b.layer, llama_head, COUNT(llama_head));
    check_transfer(&b.layer.segments[0].transfers.after, NOTHING);
    check_transfer(&b.layer.segments[0].transfers.backward_after, NOTHING);
    assert_int_equal(b.layer.segments[0].wgrad_beside_count, 0);
    assert_true(b.layer.input_bytes == 256);
    assert_true(b.layer.parameters == 128 * 8 + 8);
    b.software.head.memory_bytes = 6;
    b.software.head.gradient_bytes = 3; /* of the 6: the rest is kept from the forward */
    transformer_head(&b.context, &b.layer);
    assert_true(b.layer.segments[0].saved.tensors[2].bytes == 2048 * 3);
    assert_true(b.layer.segments[0].memory.backward_temporary_bytes == 2048 * 3);
    b.software.layer.save_norm_input = false;
    transformer_head(&b.context, &b.layer);
    assert_int_equal(b.layer.segments[0].saved.count, 2);
}

/* Part by part the logits of one part exist at a time, and a gradient of the head's input stays
 * for the backward pass. 2048 logits of 14 bytes, 16 tokens 8 wide. */
static void test_loss_by_parts(void **state)
{
    (void)state;
    static struct bench b;
    bench_llama(&b);
    b.software.head.chunks = 4;
    transformer_head(&b.context, &b.layer);
    const struct segment *s = &b.layer.segments[b.layer.segment_count - 1];
    assert_true(s->memory.forward_temporary_bytes == 2048 * 14 / 4.0);
    assert_true(s->memory.backward_temporary_bytes < 2048 * 4);
    double kept = 0.0;
    for (unsigned i = 0; i < s->saved.count; i++) {
        assert_string_not_equal(s->saved.tensors[i].name, "logits and softmax");
        if (strcmp(s->saved.tensors[i].name, "head input gradient") == 0)
            kept = s->saved.tensors[i].bytes;
    }
    assert_true(kept == 2048 / 128.0 * 8 * 2);
    assert_true(nth_launches(s, "loss") == 4);
}

static const struct kernel_row gpt_head_forward[] = {
    {0, "norm", 0, 64 * 4, 1},
    {1, "logits", 32768, 6400, 1},
    {1, "loss", 0, 2048 * 20, 1},
};
static const struct kernel_row gpt_head_dgrad[] = {
    {0, "norm gradient", 0, 64 * 8, 1},
    {1, "loss gradient", 0, 2048 * 20, 1},
    {1, "logits dgrad", 32768, 6400, 1},
};
static const struct saved_row gpt_head_saved[] = {
    {0, "final norm input", 128, false},
    {1, "head input", 128, false},
    {1, "logits and softmax", 2048 * 10, false},
};
static const struct segment_row gpt_head[] = {
    {"norm", 0, 0, 128, 0},
    {"head", 256, 2048 * 4, 64, 0},
};

/* Three fp32 sums for each of 16 tokens: largest, target's, sum of exponentials. */
static void test_gpt_head(void **state)
{
    (void)state;
    static struct bench b;
    bench_gpt(&b);
    transformer_head(&b.context, &b.layer);
    CHECK_KERNELS(&b.layer, forward, gpt_head_forward);
    CHECK_KERNELS(&b.layer, dgrad, gpt_head_dgrad);
    check_saved(&b.layer, gpt_head_saved, COUNT(gpt_head_saved));
    check_segments(&b.layer, gpt_head, COUNT(gpt_head));
    const struct segment *s = &b.layer.segments[1];
    check_transfer(&s->transfers.before, GATHER(TP, 256));
    check_transfer(&s->transfers.after, REDUCE(TP, 3 * 4 * 16));
    check_transfer(&s->transfers.backward_before, NOTHING);
    check_transfer(&s->transfers.backward_gather, GATHER(TP, 256));
    check_transfer(&s->transfers.backward_after, SCATTER(TP, 256));
    assert_int_equal(s->wgrad_beside_count, 1);
    assert_true(b.layer.parameters == 128 * 8 + 16 && b.layer.input_bytes == 128);
    b.software.tensor.backward_regather = false;
    transformer_head(&b.context, &b.layer);
    check_transfer(&s->transfers.backward_gather, NOTHING);
    assert_true(s->saved.tensors[0].bytes == 256);
    b.context.sequence_parallel = false;
    transformer_head(&b.context, &b.layer);
    s = &b.layer.segments[0];
    assert_int_equal(b.layer.segment_count, 1);
    check_transfer(&s->transfers.before, NOTHING);
    check_transfer(&s->transfers.after, REDUCE(TP, 3 * 4 * 16));
    check_transfer(&s->transfers.backward_after, REDUCE(TP, 256));
    assert_true(s->memory.forward_temporary_bytes == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpt_embedding), cmocka_unit_test(test_llama_embedding),
        cmocka_unit_test(test_llama_head),    cmocka_unit_test(test_gpt_head),
        cmocka_unit_test(test_loss_by_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
