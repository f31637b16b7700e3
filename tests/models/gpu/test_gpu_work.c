/* Mixtures of kernels under a cap: by hand where one term remains, against a search for the clock
 * that knows no formula of it, and against a measured curve.
 *
 * Measured: Llama 3 8B, continued pre-training on a node of 4 H100 of 94 GB (arXiv:2603.16164,
 * table 4): tokens/s by cap; 30,271 at 700 W are 389 TFLOP/s a card with causal scores at 4,096
 * tokens. */
#include "models/gpu/gpu_work.h"

#include <math.h>

#include "models/gpu/gpu_power.h"
#include "tests/models/gpu/cards.h"
#include "tests/test.h"

static struct gpu_spec hopper(double cap_w)
{
    struct gpu_spec gpu = card_h100();
    gpu.power = (struct gpu_power){.cap_w = cap_w,
                                   .tdp_w = 700,
                                   .idle_w = 72,
                                   .static_ratio = 0.19,
                                   .memory_ratio = 0.11,
                                   .voltage_floor_ratio = 0.76};
    gpu.gemm.efficiency_ratio = 0.68;
    gpu.gemm.burst_ratio = 0.87;
    return gpu;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* A second of products at the sustained rate in `share`, and of HBM at full rate in the rest. */
static struct gpu_work mixture(double share)
{
    const struct gpu_spec gpu = hopper(700);
    const double product_w = gpu_power_dynamic_w(&gpu), stream_w = 0.11 * 700 * 0.88;
    return (struct gpu_work){1.0, share, share * product_w, (1.0 - share) * stream_w};
}

static double time_ratio(double cap_w, const struct gpu_work *work)
{
    const struct gpu_spec gpu = hopper(cap_w);
    return gpu_work_pace(&gpu, work).time_ratio;
}

/* The energies of a large product are what tdp leaves; its traffic is a part of them. */
static void test_work_of_a_kernel(void **state)
{
    struct gpu_spec gpu = hopper(700);
    struct kernel k =
        gpu_kernel_gemm("g", PEAK_BF16, (struct gemm_shape){16384, 16384, 16384, 1}, 2);
    const double time_s = k.flops / (989.4 * TERA * 0.68);
    struct gpu_work work = gpu_work_of(&gpu, &k, time_s);
    const double left_j = (700 - 133) * time_s;
    assert_true(near(work.flop_j + work.byte_j, left_j));
    const double traffic = 2.0 * 384 / (2.0 * 256 * 128 * sqrt(132)) * k.flops;
    assert_true(near(work.byte_j, traffic * 0.11 * 700 / (3352 * GIGA)));
    const double in_hbm = traffic / (3352 * GIGA * 0.88) / time_s;
    assert_true(near(work.clocked_s / time_s, 1.0 - pow(in_hbm, 3)));
    work = gpu_work_of(&gpu, &k, 2.0 * time_s); /* slower: the same energy */
    assert_true(near(work.flop_j + work.byte_j, left_j));
    work = gpu_work_of(&gpu, &k, 0.5 * time_s); /* faster than the cap allows: what it leaves */
    assert_true(near(work.flop_j + work.byte_j, 0.5 * left_j));
    k = gpu_kernel_memory("m", 1e9, 1);
    work = gpu_work_of(&gpu, &k, 1e-3);
    assert_true(work.flop_j == 0.0 && work.clocked_s == 0.0);
    assert_true(near(work.byte_j, 1e9 * 0.11 * 700 / (3352 * GIGA)));
    work = gpu_work_of(&gpu, &k, 0.0);
    assert_true(work.byte_j == 0.0 && work.time_s == 0.0);
    /* A capped card spends as much at the same clock. */
    gpu = hopper(400);
    const struct gpu_work other = gpu_work_of(&gpu, &k, 1e-3);
    assert_true(near(other.byte_j, 1e9 * 0.11 * 700 / (3352 * GIGA)));
}

static void test_sums(void **state)
{
    struct gpu_work sum = {1, 2, 3, 4};
    const struct gpu_work part = {10, 20, 30, 40};
    gpu_work_add(&sum, &part, 0.5);
    assert_true(sum.time_s == 6 && sum.clocked_s == 12 && sum.flop_j == 18 && sum.byte_j == 24);
}

static void test_draw(void **state)
{
    struct gpu_spec gpu = hopper(700);
    const struct gpu_work none = {0}, stream = {1.0, 0.0, 0.0, 60.0}, some = {1.0, 0.5, 90.0, 60.0};
    assert_true(near(gpu_work_draw_w(&gpu, &none), 133));
    assert_true(near(gpu_work_draw_w(&gpu, &stream), 133 + 60));
    /* At the boost clock a FLOP costs the square of the voltage more than at .68 of .87. */
    assert_true(near(gpu_work_draw_w(&gpu, &some), 133 + 60 + 90 * pow(0.87 / 0.68, 2)));
    assert_true(near(gpu_work_wanted_w(&gpu, &some), 60 + 90 * pow(0.87 / 0.68, 2)));
    const struct gpu_work product = mixture(1.0);
    assert_true(near(gpu_work_draw_w(&gpu, &product), 700));
    gpu = hopper(300);
    assert_true(near(gpu_work_draw_w(&gpu, &product), 300));
    /* A card whose products run below the floor: there the voltage is that of the floor. */
    gpu = hopper(700);
    gpu.gemm.efficiency_ratio = 0.5;
    assert_true(near(gpu_work_wanted_w(&gpu, &some), 60 + 90 / (0.76 * 0.76)));
}

static void test_by_hand(void **state)
{
    const struct gpu_work product = mixture(1.0), stream = mixture(0.0), some = mixture(0.3);
    assert_true(time_ratio(700, &product) == 1.0 && time_ratio(700, &stream) == 1.0);
    /* A product that never pauses is at .78 of the clock, just above the floor: below it energy
     * stays, and time is energy over what the cap leaves. */
    const double floor_j = pow(0.76 / (0.68 / 0.87), 2);
    assert_true(near(time_ratio(300, &product), floor_j * (700.0 - 72) / (300 - 72)));
    /* A stream alone: nothing, until the cap leaves less than HBM draws. */
    const double stream_w = 0.11 * 700 * 0.88, hot = 628.0 / 567;
    assert_true(time_ratio(72 + 1.01 * stream_w * hot, &stream) == 1.0);
    assert_true(near(time_ratio(72 + 0.5 * stream_w * hot, &stream), 2.0));
    /* Flat until the cap meets the draw. */
    struct gpu_spec gpu = hopper(700);
    const double wanted_w = gpu_work_wanted_w(&gpu, &some), meets_w = 72 + wanted_w * hot;
    assert_true(meets_w < 600);
    assert_true(time_ratio(meets_w * 1.001, &some) == 1.0);
    assert_true(time_ratio(meets_w * 0.99, &some) > 1.001);
    assert_true(time_ratio(10000, &product) == 1.0); /* above tdp as at tdp */
}

/* The highest of a million clocks at which power is within the cap. */
static double searched(double cap_w, const struct gpu_work *work)
{
    const struct gpu_spec gpu = hopper(cap_w), full = hopper(700);
    const double at = 0.68 / 0.87;
    double tdp = at, best = 0.0;
    for (double f = at; f <= 1.0; f += 1e-6)
        if (work->flop_j * f * f / (at * at) + work->byte_j <= gpu_power_dynamic_w(&full))
            tdp = f;
    for (double f = 1e-6; f <= 1.0; f += 1e-6) {
        const double v = fmax(f, 0.76) / at;
        const double time_s = 1.0 + work->clocked_s * (tdp / f - 1.0);
        if ((work->flop_j * v * v + work->byte_j) / time_s <= gpu_power_dynamic_w(&gpu))
            best = f;
    }
    return 1.0 + work->clocked_s * (tdp / best - 1.0);
}

static void test_against_a_search(void **state)
{
    for (double share = 0.2; share < 0.95; share += 0.15)
        for (double cap = 200; cap < 700; cap += 90) {
            const struct gpu_work work = mixture(share);
            assert_true(fabs(time_ratio(cap, &work) / searched(cap, &work) - 1.0) < 1e-3);
        }
}

/* A higher cap is never slower and never draws less; the work never draws more than it, and beyond
 * tdp not even a watt more than there. */
static void test_caps(void **state)
{
    for (double share = 0.0; share <= 1.0; share += 0.1) {
        const struct gpu_work work = mixture(share);
        const struct gpu_spec full = hopper(700);
        const double most_w = gpu_work_draw_w(&full, &work);
        double before = INFINITY, before_w = 0.0;
        for (double cap = 120; cap <= 100e3; cap *= 1.02) {
            const struct gpu_spec gpu = hopper(cap);
            const struct gpu_pace pace = gpu_work_pace(&gpu, &work);
            const double draw_w = gpu_work_draw_w(&gpu, &work);
            assert_true(pace.time_ratio <= before * (1 + 1e-12) && pace.clock_ratio > 0.0);
            assert_true(draw_w <= cap * (1 + 1e-12) && draw_w >= before_w);
            if (cap >= 700)
                assert_true(draw_w == most_w && pace.time_ratio == 1.0 && pace.clock_ratio == 1.0);
            before = pace.time_ratio;
            before_w = draw_w;
        }
    }
}

/* The card of the work runs its kernels at that pace. */
static void test_card(void **state)
{
    const struct gpu_work work = mixture(0.5);
    const struct gpu_spec full = hopper(700), gpu = hopper(350);
    const struct gpu_spec at = gpu_work_card(&gpu, &work), same = gpu_work_card(&full, &work);
    const double clock = gpu_work_pace(&gpu, &work).clock_ratio;
    assert_true(clock < 0.8);
    struct kernel k =
        gpu_kernel_gemm("g", PEAK_BF16, (struct gemm_shape){16384, 16384, 16384, 1}, 2);
    double slower = gpu_kernel_time_s(&at, NULL, &k) / gpu_kernel_time_s(&full, NULL, &k);
    assert_true(fabs(slower * clock - 1.0) < 0.01);
    struct attention_shape shape = {ATTENTION_FLASH2, true, false, 1, 8192, 8192, 8, 8, 128, 128};
    k = gpu_kernel_attention("a", PEAK_BF16, &shape, 2);
    k.launches = 0;
    slower = gpu_kernel_time_s(&at, NULL, &k) / gpu_kernel_time_s(&full, NULL, &k);
    assert_true(fabs(slower * clock - 1.0) < 1e-9);
    k = gpu_kernel_memory("m", 1e9, 1);
    assert_true(gpu_kernel_time_s(&at, NULL, &k) == gpu_kernel_time_s(&full, NULL, &k));
    assert_true(same.clock_hz == full.clock_hz && same.power.cap_w == 700);
    const struct gpu_spec least = hopper(100); /* leaves HBM less than it draws */
    const struct gpu_spec slow = gpu_work_card(&least, &work);
    const double left = gpu_power_dynamic_w(&least) / (0.11 * 700);
    assert_true(left < 0.88 && near(slow.hbm.efficiency_ratio, left));
}

/* Tokens/s under caps over those at 700 W, from the FLOPs at 700 W alone: HBM is half busy, of
 * which .45 to .65 make less than a point. */
static void test_measured_curve(void **state)
{
    static const double measured[][2] = {
        {600, 29250.0 / 30271}, {500, 27705.0 / 30271}, {400, 24853.0 / 30271},
        {300, 17982.0 / 30271}, {200, 9699.0 / 30271},
    };
    const double share = 389.0 / (989.4 * 0.68);
    struct gpu_work work = mixture(share);
    work.byte_j = 0.5 * 0.11 * 700;
    for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++)
        assert_true(fabs(1.0 / time_ratio(measured[i][0], &work) - measured[i][1]) < 0.03);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_of_a_kernel),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_draw),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_against_a_search),
        cmocka_unit_test(test_caps),
        cmocka_unit_test(test_card),
        cmocka_unit_test(test_measured_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
