/* The measuring of one point, on cards whose times are known: what is reported holds the known time
 * within the reported spread, whatever noise, hiccups, drift and a coarse clock do to the samples.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/calibrate/simulated.h"
#include "models/profile/campaign.h"
#include "models/profile/measure.h"
#include "tests/test.h"

#define KNOWN_S 1e-4

/* A short warm-up and room for many samples. */
static const struct measure_rules measure_usual = {
    .warmup_s = 0.03, .sample_s = 1e-3, .spread_ratio = 0.01, .budget_s = 1.0, .samples_most = 400};

static double known_s(const struct calibrate_point *point)
{
    (void)point;
    return KNOWN_S;
}
static double short_s(const struct calibrate_point *point)
{
    (void)point;
    return 4.2e-6;
}
static double long_s(const struct calibrate_point *point)
{
    (void)point;
    return 1.0;
}
static double no_s(const struct calibrate_point *point)
{
    (void)point;
    return 0.0;
}

static const struct calibrate_point point = {POINT_GEMM,           "-", "bf16", false, false, false,
                                             {1024, 1024, 1024, 1}};

static enum device_answer measured(const struct simulated_card *card,
                                   const struct measure_rules *rules, struct measurement *out)
{
    struct simulated_state state;
    struct error error = {""};
    struct calibrate_device device = simulated_device(&state, card);
    state.now_s = 3600.0; /* its clock does not begin with the point */
    enum device_answer answer = measure_point(&device, &point, rules, out, &error);
    assert_true((answer == DEVICE_DONE) == (error.text[0] == '\0'));
    assert_false(state.ready); /* what was prepared is released */
    return answer;
}

/* Relative error of each of many measurements; returns their mean. */
static double mean_error(struct simulated_card card, unsigned count, unsigned *inside,
                         struct measurement *last)
{
    double sum = 0.0;
    *inside = 0;
    for (unsigned i = 0; i < count; i++) {
        card.seed = i + 1;
        assert_int_equal(measured(&card, &measure_usual, last), DEVICE_DONE);
        double error = last->median_s / KNOWN_S - 1.0;
        sum += error;
        *inside += fabs(error) <= last->spread_ratio;
    }
    return sum / count;
}

static void a_quiet_card_is_exact(void **unused)
{
    struct measurement m;
    struct simulated_card card = {.time_s = known_s};
    (void)unused;
    assert_int_equal(measured(&card, &measure_usual, &m), DEVICE_DONE);
    assert_true(fabs(m.median_s / KNOWN_S - 1.0) < 1e-12 && m.spread_ratio < 1e-12);
    assert_true(m.settled && m.samples == MEASURE_SAMPLES_LEAST && m.outliers == 0);
    assert_true(m.clock_hz == 1.8e9 && m.power_w == 500.0 && m.slowing == 0);
}

/* An interval of 95 %, a little less by stopping when it is narrow: of 400, 360 is four standard
 * deviations below 380. */
static void the_spread_holds_the_known_time(void **unused)
{
    struct measurement m;
    unsigned inside;
    (void)unused;
    for (double noise = 0.01; noise < 0.05; noise *= 2.0) {
        double error = mean_error((struct simulated_card){.time_s = known_s, .noise_ratio = noise},
                                  400, &inside, &m);
        assert_true(inside >= 360);
        assert_true(fabs(error) < 2e-3);
        assert_true(m.settled && m.spread_ratio <= measure_usual.spread_ratio);
    }
}

/* docs/calibration.md: .2 s of warm-up, samples of a millisecond, an interval within 1 %. */
static void a_campaign_measures_as_its_page_says(void **unused)
{
    const struct measure_rules *rules = &campaign_usual.measure;
    (void)unused;
    for (unsigned seed = 1; seed <= 50; seed++) {
        struct measurement m;
        struct simulated_state state;
        struct error error = {""};
        struct simulated_card card = {.time_s = known_s, .noise_ratio = 0.04, .seed = seed};
        struct calibrate_device device = simulated_device(&state, &card);
        assert_int_equal(measure_point(&device, &point, rules, &m, &error), DEVICE_DONE);
        assert_true(m.settled && m.spread_ratio <= 0.01);
        card = (struct simulated_card){.time_s = known_s};
        device = simulated_device(&state, &card);
        assert_int_equal(measure_point(&device, &point, rules, &m, &error), DEVICE_DONE);
        assert_true(fabs(state.now_s - (0.2 + 1e-3 * MEASURE_SAMPLES_LEAST)) < 2e-3);
    }
}

/* A seventh of the samples three times as long would move the median by .2 % of noise of 1 %. */
static void hiccups_are_left_out(void **unused)
{
    struct measurement m;
    unsigned inside;
    (void)unused;
    struct simulated_card card = {
        .time_s = known_s, .noise_ratio = 0.01, .hiccup_probability = 0.15, .hiccup_factor = 3.0};
    double error = mean_error(card, 600, &inside, &m);
    assert_true(fabs(error) < 1e-3);
    assert_true(inside >= 540);
    assert_true(m.outliers > 0);
}

static void drift_is_waited_for(void **unused)
{
    (void)unused;
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct measurement m;
        struct simulated_card card = {.time_s = known_s,
                                      .noise_ratio = 0.003,
                                      .drift_ratio = 3.0,
                                      .drift_s = 0.01,
                                      .seed = seed};
        assert_int_equal(measured(&card, &measure_usual, &m), DEVICE_DONE);
        assert_true(fabs(m.median_s / KNOWN_S - 1.0) < 0.007);
        assert_true(m.settled);
    }
}

/* With six time constants of warm-up nothing is left of the drift: the first samples will do. */
static void warm_up_comes_first(void **unused)
{
    struct measurement m;
    struct measure_rules rules = measure_usual;
    struct simulated_card card = {
        .time_s = known_s, .drift_ratio = 0.02, .drift_s = 0.01, .noise_ratio = 1e-3};
    (void)unused;
    rules.warmup_s = 0.06;
    assert_int_equal(measured(&card, &rules, &m), DEVICE_DONE);
    assert_true(m.settled && m.samples + m.outliers == MEASURE_SAMPLES_LEAST);
    assert_true(fabs(m.median_s / KNOWN_S - 1.0) < 1e-3);
}

static void a_coarse_clock_does_not_show(void **unused)
{
    struct measurement m;
    struct simulated_card card = {.time_s = short_s, .tick_s = 5e-7};
    (void)unused;
    assert_int_equal(measured(&card, &measure_usual, &m), DEVICE_DONE);
    assert_true(fabs(m.median_s / 4.2e-6 - 1.0) < 1e-3);
}

static void time_and_room_end_it(void **unused)
{
    struct measurement m;
    struct measure_rules rules = measure_usual;
    struct simulated_card noisy = {.time_s = known_s, .noise_ratio = 0.3, .seed = 5};
    struct simulated_card slow = {.time_s = long_s, .noise_ratio = 0.1, .seed = 5};
    (void)unused;
    rules.samples_most = 40;
    assert_int_equal(measured(&noisy, &rules, &m), DEVICE_DONE);
    assert_true(!m.settled && m.samples + m.outliers <= 40 && m.spread_ratio > 0.01);
    rules.budget_s = 5.0;
    assert_int_equal(measured(&slow, &rules, &m), DEVICE_DONE);
    assert_true(!m.settled && m.samples + m.outliers <= 5);
}

static void faults_are_told(void **unused)
{
    struct measurement m;
    (void)unused;
    struct simulated_card fails = {.fails_each = 1}, lacks = {.unsupported_type = "bf16"},
                          lost = {.time_s = known_s, .lost_after_s = 0.035},
                          still = {.time_s = no_s};
    assert_int_equal(measured(&fails, &measure_usual, &m), DEVICE_FAILED);
    assert_int_equal(measured(&lacks, &measure_usual, &m), DEVICE_UNSUPPORTED);
    assert_int_equal(measured(&lost, &measure_usual, &m), DEVICE_LOST);
    assert_int_equal(measured(&still, &measure_usual, &m), DEVICE_FAILED);
}

static void slowing_is_told(void **unused)
{
    struct measurement m;
    struct simulated_card capped = {.power_capped = true},
                          hot = {.hot_after_s = 1e-3, .hot_clock_ratio = 0.5};
    (void)unused;
    assert_int_equal(measured(&capped, &measure_usual, &m), DEVICE_DONE);
    assert_true(m.slowing == DEVICE_POWER_CAP && m.power_w == 700.0);
    assert_int_equal(measured(&hot, &measure_usual, &m), DEVICE_DONE);
    assert_true(m.slowing == DEVICE_TOO_HOT && m.clock_hz == 0.9e9);
}

/* By hand: the 95 % interval of 20 sorted values runs from the fifth to the sixteenth. */
static void the_interval_is_that_of_the_book(void **unused)
{
    double values[20];
    struct measurement m;
    (void)unused;
    for (unsigned i = 0; i < 20; i++)
        values[i] = 100.0 + (double)((i * 7) % 20);
    measure_samples(values, 20, &m);
    assert_true(m.samples == 20 && m.outliers == 0 && m.median_s == 109.5);
    assert_true(fabs(m.spread_ratio - 0.5 * (115.0 - 104.0) / 109.5) < 1e-12);
    double one[] = {3.0};
    measure_samples(one, 1, &m);
    assert_true(m.median_s == 3.0 && m.spread_ratio == 0.0 && m.samples == 1);
}

static void lines_are_read_back(void **unused)
{
    static const char *const good[] = {
        "gemm - bf16 accumulate m=8192 n=1024 k=512.5 batch=1",
        ("attention cudnn fp16 causal,backward batch=2 query_tokens=4096 key_tokens=2048 heads=16 "
         "kv_heads=4 head_size=192 value_size=128"),
        "memory norm bf16 bytes=1048576",
        "collective all_reduce bf16 ranks=8 bytes=65536",
    };
    (void)unused;
    for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct calibrate_point read;
        struct error error = {""};
        char line[POINT_LINE_BYTES];
        assert_true(point_parse(good[i], &read, &error));
        point_print(&read, line);
        assert_string_equal(line, good[i]);
    }
}

static void hostile_lines_are_refused(void **unused)
{
    static const char *const bad[] = {
        "",
        "gemm",
        "tensor - bf16 m=1",
        "gemm - bf16 m=1 n=1 k=1",
        "gemm - bf16 m=1 n=1 k=1 batch=1 batch=2",
        "gemm - bf16 m=1 n=1 k=1 batch=1 ranks=2",
        "gemm - bf16 m=nan n=1 k=1 batch=1",
        "gemm - bf16 m=inf n=1 k=1 batch=1",
        "gemm - bf16 m=-1 n=1 k=1 batch=1",
        "gemm - bf16 m=1e99 n=1 k=1 batch=1",
        "gemm - bf16 m=1ms n=1 k=1 batch=1",
        "gemm - bf99 m=1 n=1 k=1 batch=1",
        "gemm - bf16 causal m=1 n=1 k=1 batch=1",
        "gemm - bf16 fast m=1 n=1 k=1 batch=1",
        "memory norm/../x bf16 bytes=1",
        "memory abcdefghijklmnopqrstuvwxyzabcdef bf16 bytes=1",
    };
    char gigantic[4 * POINT_LINE_BYTES];
    struct calibrate_point read;
    (void)unused;
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error error = {""};
        assert_false(point_parse(bad[i], &read, &error));
        assert_true(error.text[0] != '\0');
    }
    struct error error = {""};
    snprintf(gigantic, sizeof gigantic, "memory norm bf16 bytes=1 %0*d", 3 * POINT_LINE_BYTES, 1);
    assert_false(point_parse(gigantic, &read, &error));
}

/* FLOPs and bytes by hand: 2 x 3 x 4 x 5 x 2 products; attention forward 4 q k d h. */
static void work_is_counted(void **unused)
{
    struct calibrate_point gemm = {POINT_GEMM, "-", "bf16", false, false, false, {3, 4, 5, 2}};
    struct calibrate_point core = {POINT_ATTENTION,        "cudnn", "bf16", true, false, false,
                                   {1, 8, 8, 2, 1, 16, 16}};
    (void)unused;
    assert_true(point_flops(&gemm) == 240.0);
    assert_true(point_bytes(&gemm) == ((15 + 20) * 2 + 12 * 2) * 2);
    gemm.accumulate = true;
    assert_true(point_bytes(&gemm) == ((15 + 20) * 2 + 12 * 8) * 2);
    assert_true(point_flops(&core) == 4.0 * 8 * 8 * 16 * 2 / 2);
    core.backward = true;
    assert_true(point_flops(&core) == 10.0 * 8 * 8 * 16 * 2 / 2);
    assert_true(point_bytes(&core) == 2 * (8 * 2 + 8 * 1) * 32 * 2.0);
}

static void families_are_told_apart(void **unused)
{
    struct calibrate_point a = point, b = point;
    (void)unused;
    assert_true(point_axes(POINT_GEMM) == 4 && point_axes(POINT_ATTENTION) == POINT_AXES);
    b.size[0] *= 2.0;
    assert_true(point_alike(&a, &b) && !point_same(&a, &b) && point_size(&b, "m") == 2048.0);
    b.accumulate = true;
    assert_false(point_alike(&a, &b));
    assert_true(point_size(&b, "bytes") == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quiet_card_is_exact),
        cmocka_unit_test(the_spread_holds_the_known_time),
        cmocka_unit_test(a_campaign_measures_as_its_page_says),
        cmocka_unit_test(hiccups_are_left_out),
        cmocka_unit_test(drift_is_waited_for),
        cmocka_unit_test(warm_up_comes_first),
        cmocka_unit_test(a_coarse_clock_does_not_show),
        cmocka_unit_test(time_and_room_end_it),
        cmocka_unit_test(faults_are_told),
        cmocka_unit_test(slowing_is_told),
        cmocka_unit_test(the_interval_is_that_of_the_book),
        cmocka_unit_test(lines_are_read_back),
        cmocka_unit_test(hostile_lines_are_refused),
        cmocka_unit_test(work_is_counted),
        cmocka_unit_test(families_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
