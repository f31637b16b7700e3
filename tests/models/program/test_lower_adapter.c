/* Laws of low-rank adapters: parameters, memory, FLOPs and traffic against counts made by hand from
 * the shape, and against the same model with all weights trained. */
#include <math.h>
#include <string.h>

#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/models/program/lower_sums.h"
#include "tests/test.h"

/* Of lower_case: 4 layers, 64 wide, feed-forward 256 gated, vocabulary 512; projections in one. */
enum {
    LAYERS = 4,
    H = 64,
    F = 256,
    V = 512,
    RANK = 4,
    TOKENS = 2 * 128,
    MATRICES = LAYERS * (4 * H * H + 3 * H * F),
    ALL = MATRICES + LAYERS * 2 * H + H + 2 * V * H,
    ATTENTION = LAYERS * RANK * ((H + 3 * H) + (H + H)),
    BLOCK = LAYERS * RANK * ((H + 2 * F) + (F + H)),
    TRAINED = ATTENTION + BLOCK
};

static struct configuration adapter_case(int kind, const struct sharding_kind *sharding,
                                         uint64_t dp)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 1, 1, dp, 1, 2);
    c.layout.data.sharding = sharding;
    c.layout.data.shard_group = dp;
    c.training.adapter = (struct adapter_spec){.kind = kind, .rank = RANK};
    assert_int_equal(lower_case_errors(&c), 0);
    return c;
}

static void near(double value, double wanted)
{
    assert_true(fabs(value - wanted) <= 1e-12 * fmin(fabs(value), fabs(wanted)));
}

static double held(const struct written *w, enum tenant tenant)
{
    return sum_static_bytes(w->p, tenant);
}

/* Frozen weights of 2 bytes, or of 4.127 bits in linear layers; gradients and state of adapters. */
static void test_memory(void **state)
{
    const double nf4 = (4 + 8 / 64.0 + 32 / 16384.0) / 8;
    for (unsigned k = 0; k < sharding_kind_count; k++) {
        for (uint64_t dp = 1; dp <= 4; dp *= 2) {
            for (int kind = ADAPTER_LORA; kind <= ADAPTER_QLORA; kind++) {
                const struct sharding_kind *s = sharding_kinds[k];
                struct configuration c = adapter_case(kind, s, dp);
                struct written w = lower_case_write(&c);
                const double linear = kind == ADAPTER_QLORA ? nf4 : 2.0, n = (double)dp;
                const double frozen = linear * MATRICES + 2.0 * (ALL - MATRICES);
                near(held(&w, TENANT_WEIGHTS),
                     (frozen + 2.0 * TRAINED) / (s->shards_weights ? n : 1.0));
                near(held(&w, TENANT_GRADIENTS), c.software.data.gradient_kept_bytes * TRAINED /
                                                     (s->shards_gradients ? n : 1.0));
                near(held(&w, TENANT_MASTER), 4.0 * TRAINED / (s->shards_optimizer ? n : 1.0));
                near(held(&w, TENANT_MOMENTS), 8.0 * TRAINED / (s->shards_optimizer ? n : 1.0));
                arena_destroy(w.arena);
            }
        }
    }
    assert_true(ADAPTER_NF4_BYTES == nf4 && fabs(8 * nf4 - 4.127) < 5e-4);
}

/* Of one stage whose head is the embedding: one matrix of the two, frozen in 2 bytes. */
static void test_tied_embeddings(void **state)
{
    struct configuration c = adapter_case(ADAPTER_LORA, &sharding_zero_0, 1);
    c.model.tied_embeddings = true;
    struct written w = lower_case_write(&c);
    near(held(&w, TENANT_WEIGHTS), 2.0 * (ALL - V * H) + 2.0 * TRAINED);
    arena_destroy(w.arena);
}

/* No gradients of frozen weights: a third of the linear FLOPs less, the head's too; 6 FLOPs for
 * each parameter of an adapter. Without recomputation, which would count forward again. */
static void test_flops(void **state)
{
    for (int kind = ADAPTER_LORA; kind <= ADAPTER_QLORA; kind++) {
        for (int targets = ADAPTER_ON_ALL; targets <= ADAPTER_ON_ATTENTION; targets++) {
            const double trained = targets == ADAPTER_ON_ALL ? TRAINED : ATTENTION;
            struct configuration c = adapter_case(ADAPTER_NONE, &sharding_zero_0, 1);
            struct written all = lower_case_write(&c);
            c.training.adapter = (struct adapter_spec){kind, targets, RANK};
            struct written few = lower_case_write(&c);
            near(sum_flops(few.p, PHASE_FORWARD),
                 sum_flops(all.p, PHASE_FORWARD) + 2.0 * TOKENS * trained);
            near(sum_flops(few.p, PHASE_BACKWARD), sum_flops(all.p, PHASE_BACKWARD) -
                                                       2.0 * TOKENS * (MATRICES + V * H) +
                                                       4.0 * TOKENS * trained);
            near(configuration_adapter_parameters(&c), trained);
            const double active = transformer_active_parameters(&c.model);
            near(configuration_flops_per_token(&c, false),
                 4 * active + 6 * trained + 12.0 * LAYERS * H * 128);
            arena_destroy(all.arena);
            arena_destroy(few.arena);
        }
    }
}

/* Gradients of adapters alone are reduced; ZeRO-3 gathers what is frozen as well. */
static void test_traffic(void **state)
{
    struct configuration c = adapter_case(ADAPTER_LORA, &sharding_zero_0, 4);
    struct written w = lower_case_write(&c);
    near(sum_elements(w.p, STREAM_DP, PHASE_GRADIENTS, c.software.data.gradient_kept_bytes),
         2.0 * TRAINED);
    arena_destroy(w.arena);
    c = adapter_case(ADAPTER_LORA, &sharding_zero_3, 4);
    w = lower_case_write(&c);
    near(sum_elements(w.p, STREAM_GATHER, PHASE_PARAMETERS, 2.0), 2.0 * 2 * (ALL + TRAINED));
    near(sum_elements(w.p, STREAM_DP, PHASE_GRADIENTS, c.software.data.gradient_kept_bytes),
         2.0 * TRAINED);
    arena_destroy(w.arena);
}

static double kept_of(const struct configuration *c, const char *name)
{
    struct written w = lower_case_write(c);
    double bytes = 0.0;
    for (uint32_t i = 0; i < w.p->ledger_count; i++)
        if (w.p->ledger[i].action == LEDGER_ALLOCATE && strcmp(w.p->ledger[i].name, name) == 0)
            bytes += w.p->ledger[i].bytes;
    arena_destroy(w.arena);
    return bytes;
}

/* Activations stay, but for what only gradients of frozen weights would read. */
static void test_activations(void **state)
{
    static const struct {
        const char *name;
        bool attention;
    } rows[] = {{"qkv input", true},
                {"projection input", true},
                {"mlp input", false},
                {"activation output", false}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct configuration c = adapter_case(ADAPTER_NONE, &sharding_zero_0, 1);
        c.software.layer.save_norm_input = true;
        const double bytes = kept_of(&c, rows[i].name);
        assert_true(bytes > 0.0 && kept_of(&c, "adapter hidden") == 0.0);
        c.training.adapter = (struct adapter_spec){ADAPTER_LORA, ADAPTER_ON_ALL, RANK};
        assert_true(kept_of(&c, rows[i].name) == bytes && kept_of(&c, "head input") == 0.0);
        near(kept_of(&c, "adapter hidden"), 4.0 * LAYERS * TOKENS * RANK * 2);
        c.training.adapter.targets = ADAPTER_ON_ATTENTION;
        assert_true(kept_of(&c, rows[i].name) == (rows[i].attention ? bytes : 0.0));
        near(kept_of(&c, "adapter hidden"), 2.0 * LAYERS * TOKENS * RANK * 2);
    }
}

static double moved(const struct configuration *c, const char *name)
{
    struct written w = lower_case_write(c);
    double bytes = 0.0;
    for (uint32_t i = 0; i < w.p->op_count; i++) {
        const struct op *op = &w.p->ops[i];
        for (uint32_t k = 0; op->kind == OP_COMPUTE && k < w.p->costs[op->cost].kernel_count; k++) {
            const struct op_kernel *row = &w.p->kernels[w.p->costs[op->cost].kernel_first + k];
            bytes += strcmp(row->name, name) == 0 ? row->bytes : 0.0;
        }
    }
    arena_destroy(w.arena);
    return bytes;
}

/* QLoRA brings each weight of a linear layer back to 16 bits, forward and backward. */
static void test_dequantisation(void **state)
{
    struct configuration c = adapter_case(ADAPTER_QLORA, &sharding_zero_0, 1);
    near(moved(&c, "dequantise weights"), 2.0 * 2 * MATRICES * (ADAPTER_NF4_BYTES + 2));
    c.training.adapter.targets = ADAPTER_ON_ATTENTION;
    near(moved(&c, "dequantise weights"), 2.0 * 2 * MATRICES * (ADAPTER_NF4_BYTES + 2));
    c.training.adapter.kind = ADAPTER_LORA;
    assert_true(moved(&c, "dequantise weights") == 0.0);
}

static void test_rules(void **state)
{
    struct configuration c = adapter_case(ADAPTER_LORA, &sharding_zero_0, 1);
    c.training.adapter.rank = H + 1;
    assert_true(lower_case_breaks(&c, "training.adapter_rank", false));
    c.training.adapter.rank = H;
    assert_int_equal(lower_case_errors(&c), 0);
    c.training.precision = precision_find("fp32");
    assert_true(lower_case_breaks(&c, "training.precision", false));
    c.training.precision = precision_find("bf16");
    c.model.moe.experts = 8;
    c.model.moe.experts_per_token = 2;
    c.model.moe.ffn_hidden = 64;
    assert_true(lower_case_breaks(&c, "training.adapter", false));
}

/* On tensor ranks: of a product split by outputs the first matrix of an adapter is whole on each,
 * of one split by inputs the second. */
static void test_tensor_ranks(void **state)
{
    struct configuration c = adapter_case(ADAPTER_LORA, &sharding_zero_0, 1);
    lower_case_size(&c, 4, 1, 1, 1, 2);
    struct written w = lower_case_write(&c);
    const double whole = LAYERS * RANK * (H + H + H + H), split = TRAINED - whole;
    near(held(&w, TENANT_MASTER), 4.0 * (whole + split / 4));
    arena_destroy(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),         cmocka_unit_test(test_flops),
        cmocka_unit_test(test_traffic),        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_dequantisation), cmocka_unit_test(test_rules),
        cmocka_unit_test(test_tensor_ranks),   cmocka_unit_test(test_tied_embeddings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
