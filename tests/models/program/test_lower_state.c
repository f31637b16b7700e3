/* Laws of what is kept for each parameter: master copies, moments and gradients of every optimizer,
 * format and sharding, to the byte, against counts made by hand from the shape; the update's
 * traffic; FLOPs and traffic of orthogonal steps; and the recipes that class quotes. */
#include <math.h>
#include <string.h>

#include "models/plan/rule_of_thumb.h"
#include "models/plan/trial.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/models/program/lower_sums.h"
#include "tests/test.h"

/* Of lower_case: 4 layers, 64 wide, feed-forward 256 gated, vocabulary 512, RMS norms. */
enum {
    LAYERS = 4,
    H = 64,
    F = 256,
    V = 512,
    MATRICES = LAYERS * (4 * H * H + 3 * H * F), /* elements in weight matrices of layers */
    VECTORS = LAYERS * 2 * H + H,
    ALL = MATRICES + VECTORS + 2 * V * H
};

static struct configuration state_case(const struct sharding_kind *sharding, uint64_t dp,
                                       const char *optimizer)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 1, 1, dp, 1, 2);
    c.layout.data.sharding = sharding;
    c.layout.data.shard_group = dp;
    c.training.optimizer = optimizer_find(optimizer);
    assert_int_equal(lower_case_errors(&c), 0);
    return c;
}

static double held(const struct configuration *c, enum tenant tenant)
{
    struct written w = lower_case_write(c);
    const double bytes = sum_static_bytes(w.p, tenant);
    arena_destroy(w.arena);
    return bytes;
}

static void near(double value, double wanted)
{
    assert_true(fabs(value - wanted) <= 1e-12 * fmin(fabs(value), fabs(wanted)));
}

/* Rows and columns: of a layer one matrix for queries, keys and values each, as wide as the model;
 * the projection; gate and up in one; down. Of embedding and head their table. */
static double factored_elements(void)
{
    const double layer = 3 * (H + H) + (H + H) + (H + 2 * F) + (F + H);
    const double head = H + (V * H + H) / (double)H; /* its norm counts as one row more */
    return LAYERS * (layer + 2 * H) + (V + H) + head;
}

static void test_state_of_every_optimizer(void **state)
{
    const struct {
        const char *name;
        double moments; /* bytes, of all */
    } rows[] = {
        {"adam", 8.0 * ALL},
        {"adamw", 8.0 * ALL},
        {"adam8bit", 2 * (1 + 4 / 256.0) * ALL},
        {"sgd", 0},
        {"momentum", 4.0 * ALL},
        {"adafactor", 4.0 * factored_elements()},
        {"muon", 4.0 * ALL + 4.0 * (ALL - MATRICES)},
    };
    assert_int_equal(optimizer_count, sizeof rows / sizeof *rows);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned k = 0; k < sharding_kind_count; k++) {
            for (uint64_t dp = 1; dp <= 4; dp *= 2) { /* which divides every unit */
                struct configuration c = state_case(sharding_kinds[k], dp, rows[i].name);
                const double ranks = sharding_kinds[k]->shards_optimizer ? (double)dp : 1.0;
                near(held(&c, TENANT_MOMENTS), rows[i].moments / ranks);
                near(held(&c, TENANT_MASTER), 4.0 * ALL / ranks);
                c.software.memory.build = BUILD_EAGER;
                near(held(&c, TENANT_MOMENTS), rows[i].moments / ranks);
            }
        }
    }
}

static void test_formats(void **state)
{
    static const double masters[] = {4, 4, 2, 2, 0}, moments[] = {4, 4, 2, 2, 1};
    for (int m = 0; master_format_names[m] != NULL; m++) {
        for (int k = 0; moment_format_names[k] != NULL; k++) {
            struct configuration c = state_case(&sharding_zero_1, 4, "adamw");
            c.training.state_formats = (struct state_formats){m, {k, 2}};
            near(held(&c, TENANT_MASTER), masters[m] * ALL / 4);
            near(held(&c, TENANT_MOMENTS), (moments[k] + 2.0) * ALL / 4);
            c.training.optimizer = optimizer_find("sgd");
            assert_int_equal(lower_case_breaks(&c, "training.first_moment", false), k != 0);
            assert_true(lower_case_breaks(&c, "training.second_moment", false));
            c.training.optimizer = optimizer_find("adam8bit");
            assert_int_equal(lower_case_breaks(&c, "training.first_moment", false), k != 0);
            c.training.precision = precision_find("fp32");
            assert_int_equal(lower_case_breaks(&c, "training.master_weights", false), m != 0);
        }
    }
}

/* DeepSeek-V3 (arXiv:2412.19437 section 3.3): weights of layers of one byte, fp32 gradients and
 * master copy, bf16 moments; its optimizer alone is sharded: 1 + 4 + (4 + 2 + 2) / n. */
static void test_the_recipe_of_deepseek(void **state)
{
    for (uint64_t dp = 1; dp <= 4; dp *= 2) {
        struct configuration c = state_case(&sharding_zero_1, dp, "adamw");
        c.gpu.peak_flops_per_s[PEAK_FP8] = 2 * c.gpu.peak_flops_per_s[PEAK_BF16];
        c.training.precision = precision_find("fp8");
        c.training.gradient_bytes = 4.0;
        c.training.state_formats.moments[0] = c.training.state_formats.moments[1] = 2;
        assert_string_equal(moment_format_names[2], "bf16");
        near(held(&c, TENANT_WEIGHTS), 1.0 * ALL + (2 * V * H + H)); /* embedding and head: 2 */
        near(held(&c, TENANT_GRADIENTS), 4.0 * ALL);
        near(held(&c, TENANT_MASTER) + held(&c, TENANT_MOMENTS), 8.0 * ALL / (double)dp);
    }
}

static double traffic(const struct configuration *c)
{
    struct written w = lower_case_write(c);
    double bytes = -1.0;
    for (uint32_t i = 0; i < w.p->op_count; i++)
        if (strcmp(w.p->names[w.p->ops[i].name], "optimizer update") == 0)
            bytes = w.p->costs[w.p->ops[i].cost].bytes;
    arena_destroy(w.arena);
    return bytes;
}

/* Bytes of the whole that arrive of what other ranks updated. */
static double gathered(const struct configuration *c)
{
    struct written w = lower_case_write(c);
    double bytes = 0.0;
    for (uint32_t i = 0; i < w.p->op_count; i++)
        if (strcmp(w.p->names[w.p->ops[i].name], "gather parameters") == 0)
            bytes += w.p->transfers[w.p->ops[i].cost].bytes;
    arena_destroy(w.arena);
    return bytes;
}

/* NVFP4: of the matrices of a layer two copies of half a byte and a byte for 16, beside bf16; none
 * of embedding, head and norms, nor of the layers that stay wide. Made once a step, from two reads.
 */
static void test_copies_of_four_bits(void **state)
{
    struct configuration c = state_case(&sharding_zero_1, 2, "adamw"), bf16 = c;
    c.gpu.peak_flops_per_s[PEAK_FP4] = 4 * c.gpu.peak_flops_per_s[PEAK_BF16];
    c.training.precision = precision_find("nvfp4");
    for (uint64_t wide = 0; wide < LAYERS; wide++) {
        const double copied = (double)MATRICES * (double)(LAYERS - wide) / LAYERS;
        c.training.wide_layers_first = wide / 2;
        c.training.wide_layers_last = wide - wide / 2;
        assert_int_equal(lower_case_errors(&c), 0);
        near(held(&c, TENANT_WEIGHTS), 2.0 * ALL + 1.125 * copied);
        near(held(&c, TENANT_GRADIENTS), held(&bf16, TENANT_GRADIENTS));
        near(held(&c, TENANT_MASTER) + held(&c, TENANT_MOMENTS), 12.0 * ALL / 2.0);
        near(traffic(&c) - traffic(&bf16), 5.125 * copied);
    }
    c.layout.data.sharding =
        &sharding_fsdp; /* shards have none: whole weights are cast where they come */
    near(held(&c, TENANT_WEIGHTS), held(&bf16, TENANT_WEIGHTS) / 2.0);
    bf16.layout.data.sharding = &sharding_fsdp;
    near(traffic(&c), traffic(&bf16));
    c.layout.data.sharding = bf16.layout.data.sharding = &sharding_zero_1;
    c.software.fp8.weights_each = true; /* cast in every forward pass instead */
    near(traffic(&c), traffic(&bf16));
}

/* FP8: of a matrix of a layer one byte, and another along columns where the card wants that
 * (Hopper) or the scales have a direction, with the scales of both: a byte for 32, four for
 * 128 x 128. MX weights come in 16 bits and are cast where they are held: 2 read and both written;
 * others come in eight, and what is written along columns is read first. */
static void test_copies_of_eight_bits(void **state)
{
    const double mx = 1.0 / 32, blocks = 4.0 / (128 * 128);
    const struct {
        enum fp8_recipe recipe;
        bool transposed, block_scaling, each;
        double beside, cast, sent;
    } rows[] = {
        {FP8_DELAYED, true, false, false, 1.0, 2.0, 1.0},
        {FP8_CURRENT, true, false, false, 1.0, 2.0, 1.0},
        {FP8_BLOCKWISE, true, false, false, 1.0 + 2 * blocks, 2.0, 1.0},
        {FP8_DELAYED, false, true, false, 0.0, 0.0, 1.0},
        {FP8_CURRENT, false, true, false, 0.0, 0.0, 1.0},
        {FP8_MX, false, true, false, 1.0 + 2 * mx, 2.0 + 2 * (1.0 + mx), 2.0},
        {FP8_BLOCKWISE, false, true, false, 1.0 + 2 * mx, 2.0 + 2 * (1.0 + mx), 2.0},
        {FP8_AUTO, false, true, false, 1.0 + 2 * mx, 2.0 + 2 * (1.0 + mx), 2.0},
        {FP8_DELAYED, true, false, true, 0.0, 0.0, 1.0}, /* cast in every forward pass */
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct configuration c = state_case(&sharding_zero_1, 2, "adamw"), bf16 = c;
        c.gpu.peak_flops_per_s[PEAK_FP8] = 2 * c.gpu.peak_flops_per_s[PEAK_BF16];
        c.training.precision = precision_find("fp8");
        c.software.fp8.recipe = (int)rows[i].recipe;
        c.software.fp8.weights_each = rows[i].each;
        c.gpu.gemm.transposed_copies = rows[i].transposed;
        c.gpu.gemm.block_scaling = rows[i].block_scaling;
        assert_int_equal(lower_case_errors(&c), 0);
        const double narrow = 1.0 * ALL + (2 * V * H + H); /* embedding and head: 2 */
        near(held(&c, TENANT_WEIGHTS), narrow + rows[i].beside * MATRICES);
        const double vectors = LAYERS * 2 * H, ends = 2.0 * (2 * V * H + H);
        const double updated = rows[i].sent * (MATRICES + vectors) + ends;
        near(traffic(&c) - traffic(&bf16), (updated - 2.0 * ALL) / 2.0 + rows[i].cast * MATRICES);
        near(gathered(&c), updated);
        struct configuration whole = c;
        whole.layout.data.sharding = &sharding_fsdp; /* shards have none */
        near(held(&whole, TENANT_WEIGHTS), narrow / 2.0);
        bf16.layout.data.sharding = &sharding_fsdp;
        near(traffic(&whole) - traffic(&bf16), (narrow - 2.0 * ALL) / 2.0);
        if (!rows[i].each) {
            double weight, gradient, optimizer;
            trial_state_bytes(&c, &weight, &gradient, &optimizer);
            near(weight, 1.0 + rows[i].beside);
        }
    }
}

/* 671e9 parameters, 61 layers, 7,168 wide, 4,096 tokens, cards of 80e9 bytes: what class quotes. */
static void test_cards_of_671b(void **state)
{
    struct configuration c = lower_case();
    struct rule_of_thumb rule;
    c.model.nominal_parameters = 671e9;
    c.model.layers = 61;
    c.model.hidden = 7168;
    c.training.sequence = 4096;
    c.gpu.hbm.nominal_bytes = 80e9;
    rule_of_thumb(&c, &rule);
    assert_true(rule.bytes_per_parameter == 16.0); /* 2 + 2 + 4 + 4 + 4 */
    assert_int_equal(rule.cards, 135);
    c.training.precision = precision_find("fp8");
    c.training.state_formats = (struct state_formats){0, {4, 4}};
    rule_of_thumb(&c, &rule);
    assert_true(rule.bytes_per_parameter == 9.0); /* 1 + 2 + 4 + 1 + 1 */
    assert_int_equal(rule.cards, 76);
    c.training.state_formats = (struct state_formats){0, {2, 2}};
    c.training.gradient_bytes = 4.0;
    rule_of_thumb(&c, &rule);
    assert_true(rule.bytes_per_parameter == 13.0); /* 1 + 4 + 4 + 2 + 2 */
    assert_true(rule.bytes_per_parameter - c.training.gradient_bytes == 9.0);
    assert_int_equal(rule.cards, 110);
}

/* Beside gradient and weight every byte of state is read and written once; Adafactor reads its
 * gradient twice; a weight without a master copy is read as well. */
static void test_update_traffic(void **state)
{
    for (unsigned i = 0; i < optimizer_count; i++) {
        struct configuration c = state_case(&sharding_zero_0, 1, optimizers[i].head.name);
        c.software.data.gradients = GRADIENT_TENSOR;
        c.training.gradient_bytes = 4.0;
        const double moments = held(&c, TENANT_MOMENTS);
        const double again = strcmp(optimizers[i].head.name, "adafactor") == 0 ? 4.0 : 0.0;
        near(traffic(&c), (4 + 2 + 8 + again) * ALL + 2 * moments);
        c.training.state_formats.master = 4;
        assert_string_equal(master_format_names[4], "none");
        near(traffic(&c), (4 + 4 + again) * ALL + 2 * moments);
    }
}

static double steps_of(double m, double n)
{
    return 5 * (4 * m * m * n + 2 * m * m * m);
}

/* KellerJordan/Muon: five steps of 4 m^2 n + 2 m^3 FLOPs on each matrix; ranks that share the state
 * share the matrices, each at least one, and send 2 bytes of each element. */
static void test_orthogonal_steps(void **state)
{
    const double largest = steps_of(H, 2 * F);
    const double all = LAYERS * (4 * steps_of(H, H) + largest + steps_of(H, F));
    for (unsigned k = 0; k < sharding_kind_count; k++) {
        for (uint64_t dp = 1; dp <= 32; dp *= 2) {
            struct configuration c = state_case(sharding_kinds[k], dp, "muon");
            const bool shares = sharding_kinds[k]->shards_optimizer && dp > 1;
            struct written w = lower_case_write(&c);
            double gathered = 0.0;
            for (uint32_t i = 0; i < w.p->op_count; i++)
                if (strcmp(w.p->names[w.p->ops[i].name], "gather momenta") == 0)
                    gathered += w.p->transfers[w.p->ops[i].cost].bytes;
            near(sum_flops(w.p, PHASE_OPTIMIZER), shares ? fmax(all / (double)dp, largest) : all);
            near(gathered, shares ? 2.0 * MATRICES : 0.0);
            arena_destroy(w.arena);
        }
    }
    struct configuration c = state_case(&sharding_zero_0, 1, "adamw");
    struct written w = lower_case_write(&c);
    assert_true(sum_flops(w.p, PHASE_OPTIMIZER) == 0.0);
    arena_destroy(w.arena);
}

/* Weight matrices of a layer on a tensor rank: the same elements, all of a layer but its norms. */
static void test_matrices_of_tensor_ranks(void **state)
{
    for (uint64_t tp = 1; tp <= 8; tp *= 2) {
        struct configuration c = state_case(&sharding_zero_0, 1, "muon");
        lower_case_size(&c, tp, 1, 1, 1, 2);
        const double matrices = MATRICES / (double)tp, rest = VECTORS + 2.0 * V * H / (double)tp;
        near(held(&c, TENANT_MOMENTS), 4 * (matrices + rest) + 4 * rest);
    }
}

/* The scenario's word goes before the recipes' of the software, these before what it keeps else. */
static void test_gradient_bytes(void **state)
{
    static const struct {
        double said, usual, kept, is;
    } rows[] = {{0, 0, 4, 4}, {0, 0, 2, 2}, {0, 2, 4, 2}, {4, 2, 2, 4}, {2, 4, 4, 2}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct configuration c = state_case(&sharding_zero_0, 2, "adamw");
        c.training.gradient_bytes = rows[i].said;
        c.software.usual.gradient_bytes = rows[i].usual;
        c.software.data.gradient_kept_bytes = rows[i].kept;
        c.software.data.gradient_copy = false;
        struct written w = lower_case_write(&c);
        assert_true(configuration_gradient_bytes(&c) == rows[i].is);
        assert_true(sum_static_bytes(w.p, TENANT_GRADIENTS) == ALL * rows[i].is);
        arena_destroy(w.arena);
        /* Gradients that are written in four bytes are kept so, unless the scenario says less. */
        c.training.precision = precision_find("fp32");
        assert_true(configuration_gradient_bytes(&c) == (rows[i].said > 0 ? rows[i].said : 4));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_bytes),
        cmocka_unit_test(test_state_of_every_optimizer),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_the_recipe_of_deepseek),
        cmocka_unit_test(test_cards_of_671b),
        cmocka_unit_test(test_copies_of_four_bits),
        cmocka_unit_test(test_copies_of_eight_bits),
        cmocka_unit_test(test_update_traffic),
        cmocka_unit_test(test_orthogonal_steps),
        cmocka_unit_test(test_matrices_of_tensor_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
