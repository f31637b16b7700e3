/* How the parameters of sharded layers arrive: in parts, and how far ahead. */
#include <math.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

#define LAYER 65664.0 /* parameters */

static struct configuration job(void)
{
    struct configuration c = lower_case();
    c.layout.data.sharding = &sharding_zero_3;
    c.training.gradient_bytes = 2.0;
    lower_case_size(&c, 1, 1, 4, 1, 1);
    return c;
}

/* The next gather of weights from op `from` on (from 0); op_count: none. */
static uint32_t next_gather(const struct program *p, uint32_t from)
{
    while (from < p->op_count && p->ops[from].stream != STREAM_GATHER)
        from++;
    return from;
}

/* Does compute wait for op number `op` (from 1)? */
static bool is_awaited(const struct program *p, uint32_t op)
{
    for (uint32_t i = op; i < p->op_count; i++)
        if (p->ops[i].stream == STREAM_COMPUTE &&
            (p->ops[i].wait[0] == op || p->ops[i].wait[1] == op))
            return true;
    return false;
}

/* Of a layer's parameters in parts the same bytes arrive, one part behind the other, and what
 * computes waits for the last; embedding and head are one. */
static void test_gathers_in_parts(void **state)
{
    struct configuration c = job();
    c.software.data.copy_bytes_per_s = 5e9;
    struct written whole = lower_case_write(&c);
    c.software.shards.gather_parts = 3;
    struct written parts = lower_case_write(&c);
    unsigned gathers = 0;
    uint32_t row = 0, in_parts = 0;
    for (; (row = next_gather(whole.p, row)) < whole.p->op_count; row++, gathers++) {
        const double bytes = whole.p->transfers[whole.p->ops[row].cost].bytes;
        const unsigned n = bytes == 2.0 * LAYER ? 3 : 1;
        for (unsigned i = 0; i < n; i++, in_parts++) {
            in_parts = next_gather(parts.p, in_parts);
            assert_true(in_parts + 1 < parts.p->op_count);
            const struct op *part = &parts.p->ops[in_parts];
            assert_true(parts.p->transfers[part->cost].bytes == bytes / n);
            assert_true(part[1].stream == STREAM_COPY && part[1].wait[0] == in_parts + 1);
            assert_int_equal(is_awaited(parts.p, in_parts + 2), i + 1 == n);
        }
    }
    assert_int_equal(gathers, 12); /* four layers and two ends, before each forward and backward */
    assert_true(next_gather(parts.p, in_parts) == parts.p->op_count);
    arena_destroy(whole.arena);
    arena_destroy(parts.arena);
}

/* Two layers that together have more parameters than may be alive are not fetched ahead. */
static void test_live_parameters(void **state)
{
    static const struct {
        uint64_t prefetch, live;
        unsigned same_as; /* the case with the same program */
    } cases[] = {{0, 0, 0},
                 {1, 0, 1},
                 {1, (uint64_t)(2.0 * LAYER) - 1, 0},
                 {1, (uint64_t)(2.0 * LAYER), 1},
                 {2, 1, 0}};
    struct written w[sizeof cases / sizeof cases[0]];
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = job();
        c.software.shards.prefetch = cases[i].prefetch;
        c.software.shards.live_parameters = cases[i].live;
        w[i] = lower_case_write(&c);
        const struct program *a = w[i].p, *b = w[cases[i].same_as].p;
        bool same = a->op_count == b->op_count && a->ledger_count == b->ledger_count;
        for (uint32_t k = 0; same && k < a->op_count; k++)
            same = a->ops[k].stream == b->ops[k].stream && a->ops[k].wait[0] == b->ops[k].wait[0];
        assert_true(same);
    }
    assert_true(w[0].p->ops[1].stream != w[1].p->ops[1].stream);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        arena_destroy(w[i].arena);
}

/* Blocks of gathered weights of so many bytes that a step allocates. */
static unsigned gathered(const struct configuration *c, double bytes)
{
    struct written w = lower_case_write(c);
    unsigned count = 0;
    for (uint32_t i = 0; i < w.p->ledger_count; i++) {
        const struct ledger_entry *e = &w.p->ledger[i];
        count += e->action == LEDGER_ALLOCATE && strcmp(e->name, "gathered weights") == 0 &&
                 fabs(e->bytes - bytes) < 1e-6 * bytes;
    }
    arena_destroy(w.arena);
    return count;
}

/* Whole weights of four bits are cast where they come: of every element of a linear layer two
 * copies of half a byte and a byte for 16 stand beside its two bytes of bf16, of norms none. */
static void test_copies_of_gathered_weights(void **state)
{
    struct configuration c = job(), bf16 = c;
    c.gpu.peak_flops_per_s[PEAK_FP4] = 4 * c.gpu.peak_flops_per_s[PEAK_BF16];
    c.training.precision = precision_find("nvfp4");
    assert_int_equal(lower_case_errors(&c), 0);
    const double matrices = transformer_linear_parameters(&c.model) / (double)c.model.layers;
    assert_true(matrices > 0.7 * LAYER && matrices < LAYER);
    const unsigned layers = gathered(&bf16, 2.0 * LAYER);
    assert_true(layers >= c.model.layers);
    assert_int_equal(gathered(&c, 2.0 * LAYER + 1.125 * matrices), layers);
    assert_int_equal(gathered(&c, 2.0 * LAYER), 0);
    /* Where no more than gate and up may be alive, 2 x 64 x 256, so are the copies of as large a
     * share of the layer. */
    const double alive = 2.0 * 64 * 256;
    c.software.shards.prefetch = 0;
    c.software.shards.live_parameters = 64 * 64;
    assert_int_equal(gathered(&c, 2.0 * alive + 1.125 * matrices * alive / LAYER), layers);
}

/* Of eight bits a copy along columns is made product by product where they come in each pass, and
 * stays where they come once a step, under a pipeline. */
static void test_copies_of_eight_bits(void **state)
{
    struct configuration c = job(), bf16 = c;
    const double matrices = transformer_linear_parameters(&c.model) / (double)c.model.layers;
    c.gpu.peak_flops_per_s[PEAK_FP8] = 2 * c.gpu.peak_flops_per_s[PEAK_BF16];
    c.gpu.gemm.transposed_copies = true;
    c.training.precision = precision_find("fp8");
    assert_int_equal(lower_case_errors(&c), 0);
    /* a head of 16 bits has as many bytes */
    assert_int_equal(gathered(&c, 1.0 * LAYER),
                     gathered(&bf16, 2.0 * LAYER) + gathered(&bf16, 1.0 * LAYER));
    lower_case_size(&c, 1, 1, 2, 2, 2);
    lower_case_size(&bf16, 1, 1, 2, 2, 2);
    assert_int_equal(lower_case_errors(&c), 0);
    assert_int_equal(gathered(&c, 1.0 * LAYER), gathered(&bf16, 1.0 * LAYER));
    assert_true(gathered(&c, 1.0 * LAYER + matrices) > 0);
}

/* Gathers of so many bytes. */
static unsigned sent(const struct configuration *c, double bytes)
{
    struct written w = lower_case_write(c);
    unsigned count = 0;
    for (uint32_t row = 0; (row = next_gather(w.p, row)) < w.p->op_count; row++)
        count += w.p->transfers[w.p->ops[row].cost].bytes == bytes;
    arena_destroy(w.arena);
    return count;
}

/* Experts that their ranks hold whole are not gathered; their narrow copies are made with those of
 * the rest of the layer. One expert a rank: three matrices of 64 x 256; beside them four of
 * attention, 64 x 64, and in 16 bits alone the router, 64 x 4, and two norms. */
static void test_whole_experts_are_not_gathered(void **state)
{
    const double attention = 4 * 64 * 64, expert = 3 * 64 * 256, wide = 64 * 4 + 2 * 64;
    struct configuration c = job();
    c.model.moe.experts = 4;
    c.model.moe.experts_per_token = 2;
    c.model.moe.ffn_hidden = 256;
    c.layout.ep = 4;
    assert_int_equal(lower_case_errors(&c), 0);
    const unsigned layers = gathered(&c, 2.0 * (attention + wide));
    assert_true(layers >= c.model.layers);
    assert_int_equal(sent(&c, 2.0 * (attention + wide)), layers);
    c.gpu.peak_flops_per_s[PEAK_FP4] = 4 * c.gpu.peak_flops_per_s[PEAK_BF16];
    c.training.precision = precision_find("nvfp4");
    assert_int_equal(lower_case_errors(&c), 0);
    assert_int_equal(gathered(&c, 2.0 * (attention + wide) + 1.125 * (attention + expert)), layers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gathers_in_parts),
        cmocka_unit_test(test_live_parameters),
        cmocka_unit_test(test_copies_of_gathered_weights),
        cmocka_unit_test(test_copies_of_eight_bits),
        cmocka_unit_test(test_whole_experts_are_not_gathered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
