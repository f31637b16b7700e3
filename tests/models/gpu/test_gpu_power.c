/* The power cap: by hand where one term remains, and laws over caps, kernels and cards.
 *
 * An H100 (NVIDIA data sheet: 700 W; 70 W idle, so 140 W of static power) and an A100 of 400 W; HBM
 * at 3.9 pJ a bit. Each law has a planted fault that it must see. */
#include "models/gpu/gpu_power.h"

#include <math.h>

#include "tests/models/gpu/cards.h"
#include "tests/test.h"

#define BYTE_ENERGY_J (8 * 3.9e-12)

static struct gpu_spec powered(struct gpu_spec gpu, double static_w, double burst)
{
    gpu.power.tdp_w = gpu.power.cap_w;
    gpu.power.static_ratio = static_w / gpu.power.tdp_w;
    gpu.power.idle_w = static_w; /* none of it falls with the cap */
    gpu.power.memory_ratio = BYTE_ENERGY_J * gpu.hbm.bytes_per_s / gpu.power.tdp_w;
    gpu.power.voltage_floor_ratio = 0.76;
    gpu.gemm.burst_ratio = burst;
    return gpu;
}

static struct gpu_spec hopper(double cap_w)
{
    struct gpu_spec gpu = powered(card_h100(), 140, 0.95); /* .70 of .95: below the floor */
    gpu.power.cap_w = cap_w;
    return gpu;
}

static struct gpu_spec ampere(double cap_w)
{
    struct gpu_spec gpu = powered(card_a100(), 120, 0.92); /* .83 of .92: above it */
    gpu.power.cap_w = cap_w;
    return gpu;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

static void test_sustained_share(void **state)
{
    struct gpu_spec gpu = hopper(700);
    assert_true(gpu_power_sustained_ratio(&gpu) == 0.70);
    gpu = hopper(350); /* below the floor the clock goes with what is left of the cap */
    assert_true(near(gpu_power_sustained_ratio(&gpu), 0.70 * (350.0 - 140) / (700 - 140)));
    gpu = hopper(10000); /* above tdp as at tdp */
    assert_true(gpu_power_sustained_ratio(&gpu) == 0.70);
    gpu = ampere(300); /* above it with the third root */
    assert_true(near(gpu_power_sustained_ratio(&gpu), 0.83 * cbrt((300.0 - 120) / (400 - 120))));
    /* Both laws meet at the floor: .76 of .92 */
    double knee = 120 + 280 * pow(0.76 * 0.92 / 0.83, 3);
    gpu = ampere(knee);
    assert_true(fabs(gpu_power_sustained_ratio(&gpu) / (0.76 * 0.92) - 1) < 1e-9);
    double half = 120 + (knee - 120) / 2;
    gpu = ampere(half);
    assert_true(fabs(gpu_power_sustained_ratio(&gpu) / (0.38 * 0.92) - 1) < 1e-9);
    /* Nothing said of tdp: the rates hold at the cap. */
    gpu = ampere(300);
    gpu.power.tdp_w = 0;
    assert_true(gpu_power_sustained_ratio(&gpu) == 0.83);
    gpu = hopper(140);
    assert_false(gpu_power_suffices(&gpu));
    gpu = hopper(141);
    assert_true(gpu_power_suffices(&gpu));
}

/* Straight from 140 W at 700 W down to 70 W at 70 W: what is left goes with cap - idle. */
static void test_static_power_falls_with_the_cap(void **state)
{
    for (double cap = 100; cap <= 700; cap += 100) {
        struct gpu_spec gpu = hopper(cap);
        gpu.power.idle_w = 70;
        assert_true(near(gpu_power_static_w(&gpu), 70 + 70 * (cap - 70) / 630));
        assert_true(near(gpu_power_dynamic_w(&gpu), 560 * (cap - 70) / 630));
        assert_true(gpu_power_suffices(&gpu));
        gpu.power.idle_w = 150; /* an idle card cannot draw more than a running one */
        assert_true(near(gpu_power_static_w(&gpu), 140));
    }
    struct gpu_spec gpu = hopper(70);
    gpu.power.idle_w = 70;
    assert_false(gpu_power_suffices(&gpu));
}

/* 350 W instead of 700 W: a large product by the ratio of what is left, a stream not at all. */
static void test_half_the_cap(void **state)
{
    struct gpu_spec full = hopper(700), half = hopper(350);
    full.kernel_start_s = half.kernel_start_s = 0;
    struct kernel k =
        gpu_kernel_gemm("g", PEAK_BF16, (struct gemm_shape){16384, 16384, 16384, 1}, 2);
    double slower = gpu_kernel_time_s(&half, NULL, &k) / gpu_kernel_time_s(&full, NULL, &k);
    assert_true(fabs(slower / (560.0 / 210) - 1) < 0.02);
    k = gpu_kernel_memory("m", 1e9, 1);
    assert_true(gpu_kernel_time_s(&half, NULL, &k) == gpu_kernel_time_s(&full, NULL, &k));
    /* Until the cap leaves less than HBM draws. */
    struct gpu_spec least = hopper(180);
    least.kernel_start_s = 0;
    assert_true(near(gpu_kernel_time_s(&least, NULL, &k), 1e9 * BYTE_ENERGY_J / 40));
}

/* Kernels of all kinds and sizes. */
static struct kernel kernel_at(unsigned i)
{
    static const double sides[] = {1, 200, 1024, 4096, 20000};
    if (i < 125) {
        struct gemm_shape shape = {sides[i % 5], sides[i / 5 % 5], sides[i / 25], 1};
        struct kernel k = gpu_kernel_gemm("g", PEAK_BF16, shape, 2);
        if (i % 2)
            gpu_kernel_gemm_accumulate(&k, 4);
        return k;
    }
    if (i < 135)
        return gpu_kernel_memory("m", 1000 << (2 * (i - 125)), 1);
    double tokens = 256 << (i % 8);
    struct attention_shape shape = {ATTENTION_FLASH2, i % 2, i % 4 > 1, 1,   tokens,
                                    tokens,           8,     8,         128, 128};
    return gpu_kernel_attention("a", PEAK_BF16, &shape, 2);
}
enum {
    KERNELS = 151
};

typedef double time_fn(const struct gpu_spec *gpu, const struct kernel *kernel);
static double model_s(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    return gpu_kernel_time_s(gpu, NULL, kernel);
}
static double dislikes_power(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    return model_s(gpu, kernel) * (1 + gpu->power.cap_w / 1e6);
}
static double ignores_the_cap(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    struct gpu_spec free = *gpu;
    free.power.cap_w = gpu->power.tdp_w;
    return model_s(&free, kernel);
}

/* A higher cap is never slower, and above tdp it changes nothing. */
static bool higher_caps_are_never_slower(time_fn *time)
{
    bool holds = true;
    for (unsigned i = 0; i < 2 * KERNELS; i++) {
        struct kernel k = kernel_at(i / 2);
        double before = INFINITY;
        for (double cap = 150; cap <= 1500; cap *= 1.1) {
            struct gpu_spec gpu = i % 2 ? hopper(cap) : ampere(cap);
            double t = time(&gpu, &k);
            holds = holds && isfinite(t) && t <= before * (1 + 1e-12) &&
                    t >= gpu_kernel_peak_time_s(&gpu, &k);
            if (cap > gpu.power.tdp_w) {
                const struct gpu_spec rated = gpu_power_rated(&gpu);
                holds = holds && t == time(&rated, &k);
            }
            before = t;
        }
    }
    return holds;
}

/* Static power, arithmetic and HBM together never draw more than the cap. A FLOP costs what is left
 * of tdp over the rate of a large product, less its usual traffic; at a lower clock less, by the
 * voltage. Attention and what only streams stand on the same energies. */
static bool never_above_the_cap(time_fn *time)
{
    bool holds = true;
    for (unsigned i = 0; i < KERNELS; i++) {
        struct kernel k = kernel_at(i);
        for (double cap = 160; cap <= 700; cap += 60) {
            struct gpu_spec gpu = hopper(cap);
            double usual = gpu_power_usual_traffic(&gpu, 2) * BYTE_ENERGY_J;
            double flop_j = 560 / (989.4 * TERA * 0.70) - usual;
            double attention_j = k.kind == KERNEL_ATTENTION ? 0.0 : 1.0;
            double bytes_j = k.bytes * BYTE_ENERGY_J * attention_j;
            double dynamic_w = (k.flops * flop_j + bytes_j) / time(&gpu, &k);
            holds = holds && 140 + dynamic_w <= cap * (1 + 1e-9);
        }
    }
    return holds;
}

static void test_laws(void **state)
{
    assert_true(higher_caps_are_never_slower(model_s));
    assert_false(higher_caps_are_never_slower(dislikes_power));
    assert_true(never_above_the_cap(model_s));
    assert_false(never_above_the_cap(ignores_the_cap));
}

/* Adding into fp32 moves more bytes, which take a share of the cap. */
static void test_traffic_takes_power(void **state)
{
    struct gpu_spec gpu = hopper(700);
    struct kernel plain =
        gpu_kernel_gemm("g", PEAK_BF16, (struct gemm_shape){16384, 16384, 4096, 1}, 2);
    struct kernel adds = plain;
    gpu_kernel_gemm_accumulate(&adds, 4);
    double more_s = model_s(&gpu, &adds) - model_s(&gpu, &plain);
    double energy_j = BYTE_ENERGY_J * 6 * 16384.0 * 16384;
    assert_true(more_s >= energy_j / 560 * (1 - 1e-9) && more_s < 3 * energy_j / 560);
    assert_true(more_s < 0.15 * model_s(&gpu, &plain));
}

/* In a short run the card issues what it can, whatever its cap. */
static void test_unthrottled(void **state)
{
    struct gpu_spec gpu = hopper(350), rested = gpu_power_unthrottled(&gpu);
    struct kernel k = gpu_kernel_gemm("g", PEAK_BF16, (struct gemm_shape){8192, 8192, 8192, 1}, 2);
    assert_true(gpu_power_sustained_ratio(&rested) == 0.95);
    assert_true(model_s(&rested, &k) < 0.4 * model_s(&gpu, &k));
    struct gpu_spec other = hopper(700);
    other = gpu_power_unthrottled(&other);
    assert_true(model_s(&rested, &k) == model_s(&other, &k));
}

/* Exact sums and fine scales cost eight-bit products a share of their arithmetic; SMs that a copy
 * holds are felt where tiles are issued, not where the cap decides. */
static void test_costs_of_eight_bit_products(void **state)
{
    struct gpu_spec card = card_h100();
    card.hbm.bytes_per_s *= 1e6;
    card.kernel_start_s = 0;
    card.gemm.split_cost_ratio = 0.18;
    card.gemm.block_cost_ratio = 0.05;
    struct kernel plain =
        gpu_kernel_gemm("fp8", PEAK_FP8, (struct gemm_shape){8192, 8192, 8192, 1}, 1);
    struct kernel split = plain, both = plain, taken = plain;
    split.split_sums = both.split_sums = both.block_scales = true;
    assert_true(fabs(model_s(&card, &split) / model_s(&card, &plain) - 1.18) < 1e-9);
    assert_true(fabs(model_s(&card, &both) / model_s(&card, &plain) - 1.18 * 1.05) < 1e-9);
    taken.taken_sms = 16;
    double slower = model_s(&card, &taken) / model_s(&card, &plain);
    assert_true(slower > 1.0 && slower < 132.0 / 116 * 1.1);
    card.gemm.burst_ratio = 1.0; /* the cap, not issue, decides: waves alone are felt */
    double capped = model_s(&card, &taken) / model_s(&card, &plain);
    assert_true(capped < slower && capped < 132.0 / 116);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sustained_share),
        cmocka_unit_test(test_static_power_falls_with_the_cap),
        cmocka_unit_test(test_half_the_cap),
        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_unthrottled),
        cmocka_unit_test(test_traffic_takes_power),
        cmocka_unit_test(test_costs_of_eight_bit_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
