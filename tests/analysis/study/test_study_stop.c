/* When a point has enough seeds: as the whole interval of its mean says, though what is told of it
 * ends where the metric does. Intervals by hand: of n zeros and ones with mean m the variance is
 * m (1 - m) n / (n - 1), and Student's t of 31 degrees of freedom is 2.0395 (any table). */
#include <math.h>

#include "analysis/study/study.h"
#include "tests/test.h"

enum {
    FIRST = 32, /* are played before the width is asked for */
    MOST = 200
};

static const double t_of_31 = 2.0395134;

/* `ones` of the first replications are 1, the others 0. */
static bool enough(enum study_metric metric, unsigned ones, double wanted_ratio, size_t *target)
{
    static double values[MOST][METRIC_COUNT];
    struct arena *arena = arena_create();
    const struct study_options options = {.confidence_ratio = wanted_ratio};
    const struct study study = {.arena = arena, .options = &options, .objective = metric};
    const struct study_point point = {.share = {0, MOST}, .replications = FIRST, .values = values};
    for (unsigned r = 0; r < FIRST; r++)
        values[r][metric] = r < ones;
    const bool out = study_enough(&study, &point, target);
    arena_destroy(arena);
    return out;
}

static void the_whole_width_decides(void **state)
{
    static const unsigned ones[] = {1, 16, 31};
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        for (unsigned i = 0; i < sizeof ones / sizeof *ones; i++) {
            const enum study_metric metric = (enum study_metric)m;
            const double mean = (double)ones[i] / FIRST;
            const double half = t_of_31 * sqrt(mean * (1.0 - mean) / (FIRST - 1));
            size_t target;
            assert_true(enough(metric, ones[i], 1.001 * half / mean, &target));
            assert_false(enough(metric, ones[i], 0.999 * half / mean, &target));
            assert_int_equal(target, 2 * FIRST);
        }
}

/* An end that a value lies beyond is none (here goodput of noisy steps: mean 1.1, deviation .1, so
 * that half the interval is 4.3027 x .1/sqrt 3); one that a value exceeds by rounding bounds, yet
 * never beyond the mean. */
static void the_mean_lies_in_its_interval(void **state)
{
    static const struct summary_range share = {0.0, 1.0};
    const double noisy[] = {1.0, 1.1, 1.2}, rounded[] = {1.000000000000002, 1.000000000000002, 1.0};
    struct arena *arena = arena_create();
    struct summary s;
    statistics_summarise(arena, noisy, 3, &share, &s);
    assert_true(fabs(s.high95 - 1.1 - 4.302652730 * 0.1 / sqrt(3.0)) < 1e-8);
    assert_true(fabs(s.low95 - 1.1 + 4.302652730 * 0.1 / sqrt(3.0)) < 1e-8);
    statistics_summarise(arena, rounded, 3, &share, &s);
    assert_true(s.low95 <= s.mean && s.mean <= s.high95 && s.high95 < 1.0 + 1e-14);
    statistics_summarise(arena, rounded, 2, &share, &s);
    assert_true(s.low95 <= s.mean && s.mean <= s.high95);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_width_decides),
        cmocka_unit_test(the_mean_lies_in_its_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
