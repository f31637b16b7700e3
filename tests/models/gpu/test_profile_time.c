/* Times by a profile: a measured shape takes its measured time, between shapes the ratio to the
 * model is kept, outside it is told, and far away the model answers. */
#include <math.h>
#include <string.h>

#include "models/profile/profile_time.h"
#include "tests/models/gpu/cards.h"
#include "tests/test.h"

static struct gpu_spec gpu;

static struct kernel product_of(double m, double n, double k)
{
    return gpu_kernel_gemm("up", PEAK_BF16, (struct gemm_shape){m, n, k, 1.0}, 2.0);
}

static struct kernel attention_of(double tokens, double heads, bool backward)
{
    const struct attention_shape shape = {.kernel = ATTENTION_FLASH2,
                                          .causal = true,
                                          .backward = backward,
                                          .batch = 1.0,
                                          .query_tokens = tokens,
                                          .key_tokens = tokens,
                                          .heads = heads,
                                          .kv_heads = heads,
                                          .head_size = 128.0};
    return gpu_kernel_attention("attention", PEAK_BF16, &shape, 2.0);
}

/* A row that says that the kernel takes `ratio` times what the model says. */
static struct measured_point measured(const struct kernel *kernel, double ratio)
{
    struct measured_point row = {.measurement = {.spread_ratio = 0.01, .samples = 20}};
    assert_true(profile_time_point(kernel, &row.point));
    row.measurement.median_s = ratio * gpu_kernel_time_s(&gpu, NULL, kernel);
    return row;
}

struct time_table {
    struct arena *arena;
    struct measured_point rows[64];
    struct measured_profile profile;
    struct kernel_source source;
};

static void open_table(struct time_table *t)
{
    t->arena = arena_create();
    t->profile.points = t->rows;
    t->source = (struct kernel_source){profile_time_lookup,
                                       profile_time_open(t->arena, &t->profile, &gpu), ""};
}

static void add(struct time_table *t, struct kernel kernel, double ratio)
{
    t->rows[t->profile.count++] = measured(&kernel, ratio);
}

static void expect(const struct time_table *t, struct kernel kernel, double low, double high,
                   enum kernel_evidence evidence)
{
    struct kernel_time time = gpu_kernel_time(&gpu, &t->source, &kernel);
    double ratio = time.s / gpu_kernel_time_s(&gpu, NULL, &kernel);
    if (time.evidence != evidence || ratio < low * (1.0 - 1e-12) || ratio > high * (1.0 + 1e-12))
        fail_msg("%s: %g times the model by %s", kernel.name, ratio,
                 kernel_evidence_names[time.evidence]);
}

/* Squares of 1,024 to 8,192, each twice as far from the model as the last. */
static void fill(struct time_table *t)
{
    double ratio = 1.1;
    memset(t, 0, sizeof *t);
    for (double side = 1024.0; side <= 8192.0; side *= 2.0, ratio += 0.1)
        add(t, product_of(side, side, side), ratio);
    open_table(t);
}

static void measured_shapes_take_their_time(void **unused)
{
    struct time_table t;
    (void)unused;
    fill(&t);
    expect(&t, product_of(1024, 1024, 1024), 1.1, 1.1, KERNEL_MEASURED);
    expect(&t, product_of(4096, 4096, 4096), 1.3, 1.3, KERNEL_MEASURED);
    struct kernel beside = product_of(4096, 4096, 4096);
    beside.taken_sms = 8.0;
    expect(&t, beside, 1.3, 1.3, KERNEL_INTERPOLATED);
    arena_destroy(t.arena);
}

static void between_shapes_the_ratio_is_interpolated(void **unused)
{
    struct time_table t;
    (void)unused;
    fill(&t);
    expect(&t, product_of(1500, 1500, 1500), 1.1, 1.4, KERNEL_INTERPOLATED);
    expect(&t, product_of(2050, 2048, 2048), 1.199, 1.201, KERNEL_INTERPOLATED);
    expect(&t, product_of(8191, 8192, 8192), 1.399, 1.401, KERNEL_INTERPOLATED);
    arena_destroy(t.arena);
}

/* Two neighbours as near: the geometric mean. At 2/3 and 4/3 octaves their weights are 9/4 and
 * 9/16 beside 4 of the median, of which they deviate by half of log 1.5 either way. */
static void it_is_the_weighted_mean_of_logarithms(void **unused)
{
    struct time_table t = {0};
    (void)unused;
    add(&t, product_of(1024, 4096, 4096), 1.0);
    add(&t, product_of(4096, 4096, 4096), 1.5);
    open_table(&t);
    expect(&t, product_of(2048, 4096, 4096), sqrt(1.5), sqrt(1.5), KERNEL_INTERPOLATED);
    double third = exp2(10.0 + 2.0 / 3.0), weights = 2.25 + 0.5625 + 4.0;
    double mean = exp(log(1.5) * (0.5 + 0.5 * (0.5625 - 2.25) / weights));
    struct kernel near = product_of(third, 4096, 4096);
    expect(&t, near, mean, mean, KERNEL_INTERPOLATED);
    arena_destroy(t.arena);
}

static void outside_it_is_told_and_far_away_the_model_answers(void **unused)
{
    struct time_table t;
    (void)unused;
    fill(&t);
    expect(&t, product_of(32768, 8192, 8192), 1.1, 1.4, KERNEL_EXTRAPOLATED); /* past a bound */
    expect(&t, product_of(1024, 8192, 1024), 1.1, 1.4, KERNEL_EXTRAPOLATED);  /* a corner */
    expect(&t, product_of(262144, 8192, 8192), 1.0, 1.0, KERNEL_MODELLED);
    struct kernel other = product_of(1024, 1024, 1024);
    other.peak = PEAK_TF32;
    expect(&t, other, 1.0, 1.0, KERNEL_MODELLED);
    struct kernel half = product_of(1024, 1024, 1024);
    half.peak = PEAK_FP16; /* as fast as bf16, yet not measured */
    expect(&t, half, 1.1, 1.1, KERNEL_EXTRAPOLATED);
    struct kernel adds = product_of(1024, 1024, 1024);
    gpu_kernel_gemm_accumulate(&adds, 4.0);
    expect(&t, adds, 1.1, 1.1, KERNEL_EXTRAPOLATED);
    arena_destroy(t.arena);
}

static void families_stand_apart(void **unused)
{
    struct time_table t = {0};
    struct kernel adds = product_of(2048, 2048, 2048), experts = product_of(256, 2048, 2048);
    (void)unused;
    gpu_kernel_gemm_accumulate(&adds, 4.0);
    experts.batch = experts.launches = 8.0;
    add(&t, product_of(2048, 2048, 2048), 1.2);
    add(&t, adds, 1.6);
    add(&t, attention_of(4096, 16, false), 1.3);
    add(&t, attention_of(4096, 16, true), 1.7);
    add(&t, experts, 2.0);
    add(&t, gpu_kernel_memory("norm", 1e8, 1.0), 1.1);
    add(&t, gpu_kernel_memory("merge blocks", 1e8, 1.0), 1.9);
    open_table(&t);
    expect(&t, product_of(2048, 2048, 2048), 1.2, 1.2, KERNEL_MEASURED);
    expect(&t, adds, 1.6, 1.6, KERNEL_MEASURED);
    expect(&t, experts, 2.0, 2.0, KERNEL_MEASURED);
    expect(&t, attention_of(4096, 16, false), 1.3, 1.3, KERNEL_MEASURED);
    expect(&t, attention_of(4096, 16, true), 1.7, 1.7, KERNEL_MEASURED);
    expect(&t, attention_of(6000, 16, true), 1.7, 1.7, KERNEL_EXTRAPOLATED);
    expect(&t, gpu_kernel_memory("norm", 1e8, 1.0), 1.1, 1.1, KERNEL_MEASURED);
    expect(&t, gpu_kernel_memory("norm", 1e8, 2.0), 1.1, 1.1, KERNEL_INTERPOLATED);
    expect(&t, gpu_kernel_memory("add input gradients", 1e8, 1.0), 1.9, 1.9, KERNEL_MEASURED);
    expect(&t, gpu_kernel_memory("residual", 1e8, 1.0), 1.9, 1.9, KERNEL_EXTRAPOLATED);
    arena_destroy(t.arena);
}

/* Where each measured size of a family takes the same times the model, so does every size between:
 * whatever the family, the model that is compared with is the model of its own kernels. */
static void one_ratio_holds_between_the_sizes(void **unused)
{
    static const char *const families[] = {"plain", "sums", "scales", "adds", "experts"};
    const struct gpu_spec shipped = gpu;
    (void)unused;
    gpu.gemm.split_cost_ratio = 1.0; /* twice and 1.5 times the time where arithmetic binds */
    gpu.gemm.block_cost_ratio = 0.5;
    for (unsigned family = 0; family < sizeof families / sizeof families[0]; family++) {
        struct time_table t = {0};
        struct kernel kernels[3];
        for (unsigned i = 0; i < 3; i++) {
            struct kernel *k = &kernels[i];
            const double rows = 1024.0 + 512.0 * i; /* a bound, one between, a bound */
            const double experts = family == 4 ? 8.0 : 1.0;
            *k = gpu_kernel_gemm("up", PEAK_BF16, (struct gemm_shape){rows, 4096, 4096, experts},
                                 2.0);
            k->launches = experts;
            k->split_sums = family == 1;
            k->block_scales = family == 2;
            if (family == 3)
                gpu_kernel_gemm_accumulate(k, 4.0);
            if (i != 1)
                add(&t, *k, 1.5);
        }
        open_table(&t);
        struct kernel_time time = gpu_kernel_time(&gpu, &t.source, &kernels[1]);
        const double ratio = time.s / gpu_kernel_time_s(&gpu, NULL, &kernels[1]);
        if (!(fabs(ratio - 1.5) <= 1e-12) || time.evidence != KERNEL_INTERPOLATED)
            fail_msg("%s: %g times the model", families[family], ratio);
        arena_destroy(t.arena);
    }
    gpu = shipped;
}

/* By the name of a kernel: what streams like what. */
static void kernels_know_their_operator(void **unused)
{
    static const char *const pairs[][2] = {
        {"norm", "norm"},
        {"norm gradient", "norm-gradient"},
        {"gradient norm", "stream"},
        {"rope gradient", "rope"},
        {"qk norm and rope", "rope"},
        {"activation", "activation"},
        {"activation gradient", "activation-gradient"},
        {"residual", "add"},
        {"softmax gradient", "softmax"},
        {"loss", "cross-entropy"},
        {"embedding gradient", "embedding"},
        {"optimizer update", "adam"},
        {"fp8 cast weights", "cast"},
        {"repeat keys", "stream"},
    };
    (void)unused;
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct kernel kernel = gpu_kernel_memory(pairs[i][0], 1e6, 1.0);
        struct calibrate_point point;
        bool known = false;
        assert_true(profile_time_point(&kernel, &point));
        assert_string_equal(point.name, pairs[i][1]);
        for (unsigned o = 0; point_operators[o] != NULL; o++)
            known |= strcmp(point_operators[o], point.name) == 0;
        assert_true(known);
    }
    struct kernel nothing = gpu_kernel_memory("norm", 0.0, 1.0);
    struct calibrate_point point;
    assert_false(profile_time_point(&nothing, &point));
}

static void impossible_profiles_are_found(void **unused)
{
    struct time_table t;
    (void)unused;
    fill(&t);
    assert_null(profile_time_impossible(t.arena, &t.profile, &gpu));
    for (unsigned i = 0; i < t.profile.count; i++)
        t.rows[i].measurement.median_s /= 1000.0; /* as if milliseconds had been written */
    const char *why = profile_time_impossible(t.arena, &t.profile, &gpu);
    assert_non_null(why);
    assert_non_null(strstr(why, "not in seconds"));
    arena_destroy(t.arena);
}

static int set_up(void **unused)
{
    (void)unused;
    gpu = card_a100();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_shapes_take_their_time),
        cmocka_unit_test(between_shapes_the_ratio_is_interpolated),
        cmocka_unit_test(it_is_the_weighted_mean_of_logarithms),
        cmocka_unit_test(outside_it_is_told_and_far_away_the_model_answers),
        cmocka_unit_test(families_stand_apart),
        cmocka_unit_test(one_ratio_holds_between_the_sizes),
        cmocka_unit_test(kernels_know_their_operator),
        cmocka_unit_test(impossible_profiles_are_found),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
