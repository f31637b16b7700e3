/* Levels of steady rows: what is told of each is what its own rows give, counted anew. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/watch/watch_levels.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    ROWS_MOST = 400
};
static struct arena *arena;
static struct iteration_log iterations;
static struct watch_row rows[ROWS_MOST];
static struct watch watch;
static struct watch_levels levels;

static int begin(void **state)
{
    arena = arena_create();
    memset(rows, 0, sizeof rows);
    memset(&iterations, 0, sizeof iterations);
    watch = (struct watch){.log = &iterations, .rows = rows};
    return 0;
}

static int end(void **state)
{
    arena_destroy(arena);
    return 0;
}

static void add(double steps, double step_s, bool steady)
{
    rows[iterations.count++] =
        (struct watch_row){.steps = steps, .step_s = step_s, .steady = steady, .kept_ratio = 1.0};
    watch.steady_count += steady;
}

static void is(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-9 * fmax(1.0, fabs(wanted))))
        fail_msg("%.12g, not %.12g", value, wanted);
}

static int order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* 1 to 11 s, of ten steps each: tenths are whole values; 55 pairs of 55 rise. */
static void test_percentiles(void **state)
{
    for (unsigned i = 0; i < 11; i++)
        add(10.0, 1.0 + (i * 4) % 11, true); /* each once */
    watch_levels_find(arena, &watch, 3, &levels);
    is(levels.all.p10_s, 2.0);
    is(levels.all.p50_s, 6.0);
    is(levels.all.p90_s, 10.0);
    assert_int_equal(levels.all.first, 0);
    assert_int_equal(levels.all.last, 10);
    assert_int_equal(levels.all.rows, 11);
    assert_int_equal(levels.window_count, 3);
    assert_int_equal(levels.windows[0].rows, 3);
    assert_int_equal(levels.windows[1].rows, 4);
    assert_int_equal(levels.windows[2].rows, 4);
    iterations.count = watch.steady_count = 0;
    for (unsigned i = 0; i < 11; i++)
        add(10.0, 1.0 + i, true);
    watch_levels_find(arena, &watch, 1, &levels);
    is(levels.levels[0].drift.slope, 0.1); /* a second for ten steps */
    is(levels.levels[0].drift.z, 54.0 / sqrt(165.0));
}

/* Times that grow by 1 ms for each step that was trained, of whatever row: in the row, and in those
 * between that are not steady. */
static void test_drift_is_by_steps(void **state)
{
    double trained = 0.0;
    for (unsigned i = 0; i < 24; i++) {
        const double steps = 1.0 + (i * 7) % 5;
        trained += steps;
        add(steps, 3.0 + 1e-3 * trained, i % 3 != 1);
    }
    watch_levels_find(arena, &watch, 1, &levels);
    assert_int_equal(levels.level_count, 1);
    assert_int_equal(levels.all.rows, 16);
    is(levels.levels[0].drift.slope, 1e-3);
    assert_true(levels.levels[0].drift.sure);
}

/* Median 3.0, MAD 0.1: 3.53 is 3.57 of them above, 3.51 is 3.44, and what is fast is not slow. */
static void test_slow(void **state)
{
    static const double times_s[] = {2.9, 3.1, 2.3, 3.1, 2.9,  3.0, 3.1, 3.53, 2.9,
                                     3.1, 2.9, 2.0, 3.1, 2.9,  3.0, 3.6, 3.1,  2.9,
                                     2.4, 3.1, 2.9, 3.0, 3.51, 3.1, 2.9};
    const unsigned count = sizeof times_s / sizeof times_s[0];
    add(1.0, NAN, false);
    for (unsigned i = 0; i < count; i++)
        add(10.0, times_s[i], true);
    watch_levels_find(arena, &watch, 1, &levels);
    assert_int_equal(levels.level_count, 1);
    assert_int_equal(levels.levels[0].slow, 2);
    assert_int_equal(levels.slow_count, 2);
    assert_int_equal(levels.slow[0].row, 8);
    assert_int_equal(levels.slow[1].row, 16);
    is(levels.slow[0].score, 0.53 * 0.6745 / 0.1);
    is(levels.slow[0].lost_s, 5.3);
    is(levels.slow[1].lost_s, 6.0);
}

static void add_level(unsigned count, double step_s)
{
    for (unsigned i = 0; i < count; i++)
        add(1.0, step_s, true);
}

/* 40 rows of 2 s and 20 that take 0.03 % more are one level, of 2 s: what takes 0.06 % more than
 * that is another, though it is 0.03 % from the rows before it. */
static void test_what_is_told_apart(void **state)
{
    add_level(40, 2.0);
    add_level(20, 2.0006);
    add_level(20, 2.0012);
    watch_levels_find(arena, &watch, 1, &levels);
    assert_int_equal(levels.level_count, 2);
    assert_int_equal(levels.levels[0].spread.rows, 60);
    assert_int_equal(levels.levels[1].spread.first, 60);
    is(levels.levels[1].spread.p50_s, 2.0012);
}

static uint32_t gather(uint32_t first, uint32_t last, double *trained, double *times_s)
{
    uint32_t count = 0;
    double sum = 0.0;
    for (uint32_t i = 0; i <= last; i++) {
        sum += rows[i].steps;
        if (i < first || !rows[i].steady)
            continue;
        trained[count] = sum;
        times_s[count++] = rows[i].step_s;
    }
    return count;
}

static double share_of(const double *ascending, uint32_t count, double share)
{
    const double place = share * (count - 1);
    const uint32_t below = (uint32_t)place, above = below + 1 < count ? below + 1 : below;
    return ascending[below] + (place - below) * (ascending[above] - ascending[below]);
}

static unsigned slow_rows(const double *times_s, uint32_t count, double median_s)
{
    double off_s[ROWS_MOST], sum_s = 0.0;
    unsigned slow = 0;
    for (uint32_t i = 0; i < count; i++)
        sum_s += off_s[i] = fabs(times_s[i] - median_s);
    qsort(off_s, count, sizeof *off_s, order);
    const double mad_s = share_of(off_s, count, 0.5);
    const double unit_s = mad_s > 0.0 ? mad_s / 0.6745 : 1.253314 * sum_s / count;
    for (uint32_t i = 0; i < count; i++)
        slow += unit_s > 0.0 && (times_s[i] - median_s) / unit_s > 3.5;
    return slow;
}

static unsigned check_level(const struct watch_level *level)
{
    double trained[ROWS_MOST], times_s[ROWS_MOST];
    struct drift drift;
    const uint32_t count = gather(level->spread.first, level->spread.last, trained, times_s);
    assert_int_equal(count, level->spread.rows);
    drift_find(arena, trained, times_s, count, &drift);
    assert_true(drift.slope == level->drift.slope && drift.z == level->drift.z &&
                drift.sure == level->drift.sure);
    qsort(times_s, count, sizeof *times_s, order);
    is(level->spread.p10_s, share_of(times_s, count, 0.1));
    is(level->spread.p50_s, share_of(times_s, count, 0.5));
    is(level->spread.p90_s, share_of(times_s, count, 0.9));
    assert_int_equal(level->slow, slow_rows(times_s, count, level->spread.p50_s));
    return level->slow;
}

/* Levels, one behind the other, hold all steady rows; each is what its own rows say. */
static void test_levels_of_their_rows(void **state)
{
    struct random_stream *r = random_create(arena, 5, 0, "levels");
    unsigned many = 0, slow_ones = 0;
    for (unsigned round = 0; round < 60; round++) {
        const unsigned count = 120 + round * 4;
        unsigned slow = 0, held = 0;
        iterations.count = watch.steady_count = 0;
        for (unsigned i = 0; i < count; i++) {
            const double level_s = i < count / 3 ? 2.0 : i < count / 2 ? 2.3 : 1.9;
            const double slow_ratio = random_uniform(r) < 0.03 ? 1.5 : 1.0;
            add(1.0 + floor(9.0 * random_uniform(r)),
                level_s * slow_ratio * (1.0 + 0.01 * random_normal(r)), random_uniform(r) < 0.9);
        }
        watch_levels_find(arena, &watch, 10, &levels);
        for (uint32_t l = 0; l < levels.level_count; l++) {
            slow += check_level(&levels.levels[l]);
            held += levels.levels[l].spread.rows;
        }
        assert_int_equal(slow, levels.slow_count);
        assert_int_equal(held, watch.steady_count);
        assert_true(levels.level_count >= 3);
        many += levels.level_count;
        slow_ones += slow;
    }
    assert_true(many < 60 * 4 && slow_ones > 100);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {TEST(test_percentiles), TEST(test_drift_is_by_steps),
                                       TEST(test_slow), TEST(test_what_is_told_apart),
                                       TEST(test_levels_of_their_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
