/* Physical laws of kernel times, and what the model says beside published measurements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/transformer.h"
#include "tests/models/gpu/cards.h"
#include "tests/test.h"

typedef double time_fn(const struct gpu_spec *gpu, const struct kernel *kernel);

static double model_time(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    return gpu_kernel_time_s(gpu, NULL, kernel);
}
/* Planted faults: each breaks a law below. */
static double beats_peak(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    return 0.1 * model_time(gpu, kernel);
}
static double dislikes_bandwidth(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    return model_time(gpu, kernel) * (1.0 + gpu->hbm.bytes_per_s / (1000 * TERA));
}
static double dislikes_small(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    return model_time(gpu, kernel) + 1.0 / (1.0 + kernel->m);
}

struct cases {
    struct kernel kernels[256];
    unsigned count;
};
static void all_cases(struct cases *out)
{
    static const double sides[] = {1, 96, 500, 1024, 4096, 20480};
    out->count = 0;
    for (int i = 0; i < 216; i++) {
        double m = sides[i % 6], n = sides[i / 6 % 6], k = sides[i / 36];
        out->kernels[out->count++] =
            gpu_kernel_gemm("gemm", PEAK_BF16, (struct gemm_shape){m, n, k, i % 5 ? 1 : 12}, 2);
    }
    for (int i = 0; i < 32; i++) {
        double s = 256 << (i % 8);
        out->kernels[out->count++] =
            gpu_kernel_attention("attention", PEAK_BF16,
                                 &(struct attention_shape){.kernel = ATTENTION_FLASH2,
                                                           .causal = i & 8,
                                                           .backward = i & 16,
                                                           .batch = 1 + i % 3,
                                                           .query_tokens = s,
                                                           .key_tokens = s,
                                                           .heads = 8,
                                                           .kv_heads = 8,
                                                           .head_size = i % 2 ? 64 : 128},
                                 2);
    }
    for (int i = 0; i < 8; i++)
        out->kernels[out->count++] = gpu_kernel_memory("stream", 1000 << (2 * i), 1);
}

/* Faster than the dense peak, or than the data sheet's bandwidth, is impossible. */
static bool never_above_peak(time_fn *time)
{
    static struct cases cases;
    struct gpu_spec cards[] = {card_a100(), card_h100()};
    bool holds = true;
    all_cases(&cases);
    for (unsigned i = 0; i < cases.count * 2; i++) {
        const struct gpu_spec *gpu = &cards[i % 2];
        const struct kernel *kernel = &cases.kernels[i / 2];
        double t = time(gpu, kernel);
        holds = holds && isfinite(t) && t >= gpu_kernel_peak_time_s(gpu, kernel) &&
                t * gpu->hbm.bytes_per_s >= kernel->bytes;
    }
    return holds;
}

/* Twice the bandwidth, or twice the peak, is never slower. */
static bool never_slower_on_a_better_card(time_fn *time)
{
    static struct cases cases;
    struct gpu_spec card = card_a100(), wide = card, fast = card;
    bool holds = true;
    wide.hbm.bytes_per_s *= 2.0;
    for (int p = 0; p < PEAK_COUNT; p++)
        fast.peak_flops_per_s[p] *= 2.0;
    all_cases(&cases);
    for (unsigned i = 0; i < cases.count; i++) {
        double t = time(&card, &cases.kernels[i]);
        holds = holds && time(&wide, &cases.kernels[i]) <= t;
        holds = holds && time(&fast, &cases.kernels[i]) <= t;
    }
    return holds;
}

/* A smaller product is never slower: tiles round up, so equal is allowed. */
static bool never_slower_when_smaller(time_fn *time)
{
    struct gpu_spec card = card_h100();
    bool holds = true;
    double before[3] = {0};
    for (double side = 1; side <= 20000; side = floor(side * 1.07) + 1) {
        struct kernel k[3] = {
            gpu_kernel_gemm("m", PEAK_BF16, (struct gemm_shape){side, 4096, 1024, 1}, 2),
            gpu_kernel_gemm("k", PEAK_BF16, (struct gemm_shape){2048, 4096, side, 1}, 2),
            gpu_kernel_gemm("all", PEAK_BF16, (struct gemm_shape){side, side, side, 1}, 2)};
        for (int i = 0; i < 3; i++) {
            double t = time(&card, &k[i]);
            holds = holds && t >= before[i];
            before[i] = t;
        }
    }
    return holds;
}

static void test_never_above_peak(void **state)
{
    assert_true(never_above_peak(model_time));
    assert_false(never_above_peak(beats_peak));
}

static void test_better_cards(void **state)
{
    assert_true(never_slower_on_a_better_card(model_time));
    assert_false(never_slower_on_a_better_card(dislikes_bandwidth));
}

static void test_smaller_products(void **state)
{
    assert_true(never_slower_when_smaller(model_time));
    assert_false(never_slower_when_smaller(dislikes_small));
}

/* One row more than whole waves of the largest tile starts another, whatever the tile; whole waves
 * cost the ramp of k alone. */
static void test_waves(void **state)
{
    struct gpu_spec card = card_a100();
    card.hbm.bytes_per_s *= 1e6;
    card.kernel_start_s = 0;
    double full = 0, more = 0;
    struct kernel k =
        gpu_kernel_gemm("wave", PEAK_BF16, (struct gemm_shape){128.0 * 108 * 8, 256, 4096, 1}, 2);
    full = model_time(&card, &k) / k.flops;
    k = gpu_kernel_gemm("wave", PEAK_BF16, (struct gemm_shape){128.0 * 108 * 8 + 1, 256, 4096, 1},
                        2);
    more = model_time(&card, &k) / k.flops;
    assert_true(more > full);
    double ideal = 1.0 / (card.peak_flops_per_s[PEAK_BF16] * card.gemm.efficiency_ratio);
    assert_true(fabs(full / ideal - (4096.0 + 200.0) / 4096.0) < 1e-12);
}

/* Time is the third root of the cubes of arithmetic alone and of loads alone, start apart. */
static void test_loads_and_arithmetic_overlap(void **state)
{
    struct gpu_spec card = card_a100(), wide = card_a100();
    card.kernel_start_s = wide.kernel_start_s = 0;
    wide.hbm.bytes_per_s *= 1e6;
    struct kernel k =
        gpu_kernel_gemm("fits L2", PEAK_BF16, (struct gemm_shape){2048, 2048, 2048, 1}, 2);
    double both = model_time(&card, &k), arithmetic = model_time(&wide, &k);
    double loads = 3 * 2048.0 * 2048.0 * 2 / (card.hbm.bytes_per_s * card.hbm.efficiency_ratio);
    assert_true(both > arithmetic && both < arithmetic + loads);
    assert_true(fabs(pow(both, 3) - pow(arithmetic, 3) - pow(loads, 3)) < 1e-6 * pow(loads, 3));
}

/* Eight-bit operands are half the bytes, their product is not. */
static void test_result_of_eight_bit_product(void **state)
{
    assert_true(gpu_kernel_gemm("fp8", PEAK_FP8, (struct gemm_shape){512, 256, 128, 3}, 1).bytes ==
                3 * (512 * 128 + 128 * 256 + 2.0 * 512 * 256));
    assert_true(
        gpu_kernel_gemm("bf16", PEAK_BF16, (struct gemm_shape){512, 256, 128, 3}, 2).bytes ==
        3 * 2.0 * (512 * 128 + 128 * 256 + 512 * 256));
}

/* One wave of small tiles is bound by shared memory: operands three times at 128 bytes a clock. */
static void test_small_tiles_are_bound_by_shared_memory(void **state)
{
    struct gpu_spec card = card_a100();
    card.hbm.bytes_per_s *= 1e6;
    card.kernel_start_s = 0;
    struct kernel k =
        gpu_kernel_gemm("small", PEAK_BF16, (struct gemm_shape){64, 64, 1024, 108}, 2);
    double bound = 3 * (64 + 64) * (1024 + 200) * 2 / (128 * card.clock_hz);
    assert_true(fabs(model_time(&card, &k) / bound - 1) < 1e-9);
    card.gemm.operand_passes = 1; /* then arithmetic binds */
    assert_true(model_time(&card, &k) < 0.9 * bound);
}

static bool lookup_fixed(const struct kernel_profile *profile, const struct gpu_spec *gpu,
                         const struct kernel *kernel, struct kernel_time *out)
{
    (void)profile;
    (void)gpu;
    *out = (struct kernel_time){42.0, KERNEL_MEASURED, 7};
    return kernel->kind == KERNEL_GEMM;
}

/* Expected maxima of n normal draws (Harter, Biometrika 48, 1961, table 1). */
static void test_slowest_of_many(void **state)
{
    static const struct {
        uint64_t count;
        double deviations;
    } table[] = {{5, 1.16296}, {10, 1.53875}, {50, 2.24907}, {100, 2.50759}};
    struct gpu_spec gpu = {.speed_spread_ratio = 0.01};
    assert_true(gpu_slowest_excess_ratio(&gpu, 0) == 0 && gpu_slowest_excess_ratio(&gpu, 1) == 0);
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        double found = gpu_slowest_excess_ratio(&gpu, table[i].count) / 0.01;
        assert_true(fabs(found / table[i].deviations - 1) < 0.02);
    }
    gpu.speed_spread_ratio = 0;
    assert_true(gpu_slowest_excess_ratio(&gpu, 1000) == 0);
}

static void test_profile_comes_first(void **state)
{
    struct gpu_spec card = card_h100();
    struct kernel_source source = {.lookup = lookup_fixed};
    struct kernel gemm = gpu_kernel_gemm("g", PEAK_BF16, (struct gemm_shape){64, 64, 64, 1}, 2);
    struct kernel stream = gpu_kernel_memory("s", 1000, 1);
    assert_true(gpu_kernel_time_s(&card, &source, &gemm) == 42.0);
    assert_true(gpu_kernel_time_s(&card, &source, &stream) == model_time(&card, &stream));
    assert_true(gpu_kernel_time(&card, &source, &gemm).evidence == KERNEL_MEASURED);
    assert_true(gpu_kernel_time(&card, &source, &stream).evidence == KERNEL_MODELLED);
}

/* Reading a published table: the fields of a row by the names of the header. */
struct table {
    FILE *file;
    char header[1024], line[1024];
    char *names[32], *fields[32];
    int name_count;
};
static int split(char *line, char **fields)
{
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at && count < 32; count++) {
        fields[count] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = '\0';
    }
    return count;
}
static bool table_next(struct table *t)
{
    return fgets(t->line, sizeof t->line, t->file) && split(t->line, t->fields) == t->name_count;
}
static void table_open(struct table *t, const char *path)
{
    t->file = fopen(path, "r");
    assert_non_null(t->file);
    assert_non_null(fgets(t->header, sizeof t->header, t->file));
    t->name_count = split(t->header, t->names);
}
static const char *text(const struct table *t, const char *name)
{
    for (int i = 0; i < t->name_count; i++)
        if (strcmp(t->names[i], name) == 0)
            return t->fields[i];
    fail_msg("no column %s", name);
    return "";
}
static double number(const struct table *t, const char *name)
{
    return strtod(text(t, name), NULL);
}

static bool kernel_of_row(const struct table *t, struct kernel *out)
{
    bool fp8 = strcmp(text(t, "dtype"), "fp8") == 0;
    double heads = number(t, "heads"), size = number(t, "head_dim"), s = number(t, "seq_len");
    if (strcmp(text(t, "kind"), "gemm") == 0) {
        *out = gpu_kernel_gemm(
            "gemm", fp8 ? PEAK_FP8 : PEAK_BF16,
            (struct gemm_shape){number(t, "m"), number(t, "n"), number(t, "k"), 1}, fp8 ? 1 : 2);
        return true;
    }
    int flash = strcmp(text(t, "implementation"), "flash2") == 0   ? ATTENTION_FLASH2
                : strcmp(text(t, "implementation"), "flash3") == 0 ? ATTENTION_FLASH3
                                                                   : ATTENTION_MATH;
    if (strcmp(text(t, "kind"), "attention_fwd") != 0 || flash == ATTENTION_MATH)
        return false;
    *out = gpu_kernel_attention("attention", PEAK_FP16,
                                &(struct attention_shape){.kernel = (enum attention_kernel)flash,
                                                          .causal = number(t, "causal") > 0,
                                                          .backward = false,
                                                          .batch = number(t, "batch"),
                                                          .query_tokens = s,
                                                          .key_tokens = s,
                                                          .heads = heads,
                                                          .kv_heads = heads,
                                                          .head_size = size},
                                2);
    return true;
}

/* Every published rate is below the model's own ceiling: the peak. The model's rates are printed.
 */
static void test_beside_published_kernels(void **state)
{
    static struct table t;
    struct gpu_spec cards[] = {card_a100(), card_h100()};
    unsigned rows = 0;
    table_open(&t, VALIDATION "/kernels.csv");
    while (table_next(&t)) {
        struct kernel k;
        bool first = strncmp(text(&t, "gpu"), "a100", 4) == 0;
        const struct gpu_spec *gpu = &cards[first ? 0 : 1];
        if ((!first && strncmp(text(&t, "gpu"), "h100", 4) != 0) || !kernel_of_row(&t, &k))
            continue;
        double predicted = k.flops / model_time(gpu, &k), measured = number(&t, "flops_per_s");
        printf("%-56s %7.1f %7.1f %+6.1f %%\n", text(&t, "row_id"), predicted / TERA,
               measured / TERA, 100 * (predicted / measured - 1));
        assert_true(predicted <= gpu->peak_flops_per_s[k.peak]);
        assert_true(measured <= gpu->peak_flops_per_s[k.peak]);
        rows++;
    }
    fclose(t.file);
    assert_true(rows > 40);
}

static double sum_s(const struct gpu_spec *gpu, const struct kernel *kernels, unsigned count)
{
    double sum = 0.0;
    for (unsigned i = 0; i < count; i++)
        sum += gpu_kernel_time_s(gpu, NULL, &kernels[i]);
    return sum;
}

/* Bus bandwidth of eight A100 in training: findings of the published layers (NVLink, 215 GB/s). */
static double transfer_s(const struct segment_transfer *t)
{
    if (t->comm == SEGMENT_NONE)
        return 0.0;
    double factor = t->op == COMM_ALL_REDUCE ? 2.0 * 7 / 8 : 7.0 / 8;
    return 30 * MICROSECOND + t->bytes * factor / (215 * GIGA);
}

/* Forward and backward of one layer of the 22B model on eight A100, compute and exposed transfers
 * in line; what runs beside the weight gradients is hidden up to their time. */
static void layer_times(const struct gpu_spec *gpu, const struct layer *layer, int recompute,
                        double *forward_s, double *backward_s)
{
    *forward_s = *backward_s = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *s = &layer->segments[i];
        *forward_s += transfer_s(&s->transfers.before) +
                      sum_s(gpu, s->forward.kernels, s->forward.count) +
                      transfer_s(&s->transfers.after);
        double wgrad = sum_s(gpu, s->wgrad.kernels, s->wgrad.count);
        unsigned first = s->wgrad.count - s->wgrad_beside_count;
        double beside = sum_s(gpu, s->wgrad.kernels + first, s->wgrad_beside_count);
        *backward_s += transfer_s(&s->transfers.backward_before) +
                       sum_s(gpu, s->dgrad.kernels, s->dgrad.count) + wgrad - beside +
                       fmax(beside, transfer_s(&s->transfers.backward_after));
        if (recompute == 1)
            *backward_s += sum_s(gpu, s->core.kernels, s->core.count);
    }
    if (recompute == 2)
        *backward_s += *forward_s;
}

static void test_beside_published_layers(void **state)
{
    static struct table t;
    static struct layer layer;
    struct gpu_spec gpu = card_a100();
    struct software_profile software = profile_fused();
    struct model_shape model = {.ffn = FFN_GELU,
                                .norm.kind = NORM_LAYERNORM,
                                .position = POSITION_LEARNED,
                                .biases = true,
                                .dropout_ratio = 0.1};
    table_open(&t, VALIDATION "/layers.csv");
    while (table_next(&t)) {
        model.layers = (uint64_t)number(&t, "layers");
        model.hidden = (uint64_t)number(&t, "hidden");
        model.attention.heads = model.attention.kv_heads = (uint64_t)number(&t, "heads");
        model.vocabulary = (uint64_t)number(&t, "vocab");
        transformer_complete(&model);
        struct layer_context c = {.model = &model,
                                  .software = &software,
                                  .precision = precision_find("fp16"),
                                  .attention = ATTENTION_MATH,
                                  .microbatch = (uint64_t)number(&t, "microbatch"),
                                  .sequence = (uint64_t)number(&t, "seq_len"),
                                  .tp = (uint64_t)number(&t, "tp"),
                                  .cp = 1,
                                  .sequence_parallel = number(&t, "sequence_parallel") > 0,
                                  .causal = true};
        double forward_s, backward_s;
        const char *r = text(&t, "recompute");
        transformer_layer(&c, &layer);
        layer_times(&gpu, &layer, strcmp(r, "full") == 0 ? 2 : strcmp(r, "selective") == 0,
                    &forward_s, &backward_s);
        printf("%-44s fwd %.2f (%.1f) ms  bwd %.2f (%.1f) ms\n", text(&t, "row_id"),
               forward_s / MILLISECOND, number(&t, "fwd_s") / MILLISECOND, backward_s / MILLISECOND,
               number(&t, "bwd_s") / MILLISECOND);
        assert_true(isfinite(forward_s) && backward_s > forward_s);
    }
    fclose(t.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_above_peak),
        cmocka_unit_test(test_better_cards),
        cmocka_unit_test(test_smaller_products),
        cmocka_unit_test(test_waves),
        cmocka_unit_test(test_loads_and_arithmetic_overlap),
        cmocka_unit_test(test_result_of_eight_bit_product),
        cmocka_unit_test(test_small_tiles_are_bound_by_shared_memory),
        cmocka_unit_test(test_slowest_of_many),
        cmocka_unit_test(test_profile_comes_first),
        cmocka_unit_test(test_beside_published_kernels),
        cmocka_unit_test(test_beside_published_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
