/* Fits of laws: known laws come back from lives that were drawn of them, censored as logs are, and
 * the laws of mathematics hold for the densities behind them. */
#include <math.h>

#include "models/duration/duration_fit.h"
#include "sim/random.h"
#include "sim/units.h"
#include "tests/test.h"

enum {
    UNITS = 400,
    SAMPLES_MAX = 20000
};
static const struct duration laws[] = {
    {DURATION_EXPONENTIAL, 7.0, 0.0}, {DURATION_WEIBULL, 7.0, 0.7}, {DURATION_WEIBULL, 7.0, 2.64},
    {DURATION_LOGNORMAL, 7.0, 0.8},   {DURATION_GAMMA, 7.0, 0.5},   {DURATION_GAMMA, 7.0, 4.0},
};
enum {
    LAWS = sizeof laws / sizeof laws[0]
};

static void test_densities_are_those_of_the_survivals(void **state)
{
    for (unsigned i = 0; i < LAWS; i++) {
        for (double t = 0.5; t < 40.0; t *= 1.7) {
            const double h = 1e-5 * t;
            const double slope =
                (duration_survival(&laws[i], t - h) - duration_survival(&laws[i], t + h)) / (2 * h);
            assert_true(fabs(exp(duration_log_density(&laws[i], t)) / slope - 1.0) < 1e-5);
            /* The excess has the density S / mean. */
            const double excess = (duration_residual_survival(&laws[i], t - h) -
                                   duration_residual_survival(&laws[i], t + h)) /
                                  (2 * h);
            assert_true(fabs(excess * laws[i].mean_s / duration_survival(&laws[i], t) - 1.0) <
                        1e-5);
        }
        /* Quantiles invert it. */
        const double t = duration_residual_s(&laws[i], 0.3);
        assert_true(fabs(duration_residual_survival(&laws[i], t) - 0.7) < 1e-9);
    }
}

/* UNITS units, each watched for `watch_s` from a random moment of its lives. */
static uint32_t draw(const struct duration *law, double watch_s, struct duration_sample *out)
{
    const uint64_t key = random_key((uint64_t)law->law, "lives");
    uint64_t index = 0;
    uint32_t count = 0;
    for (unsigned unit = 0; unit < UNITS; unit++) {
        double at_s = duration_residual_s(law, random_at(key, index++)), begin_s = 0.0;
        for (bool first = true; at_s < watch_s; first = false) {
            out[count++] =
                (struct duration_sample){first ? PART_FIRST : PART_WHOLE, at_s - begin_s, 1.0};
            begin_s = at_s;
            at_s += duration_quantile_s(law, random_at(key, index++));
        }
        out[count++] =
            (struct duration_sample){begin_s > 0.0 ? PART_LAST : PART_NONE, watch_s - begin_s, 1.0};
    }
    return count;
}

static void test_a_law_comes_back_from_its_own_lives(void **state)
{
    static struct duration_sample samples[SAMPLES_MAX];
    static const int kinds[] = {DURATION_EXPONENTIAL, DURATION_WEIBULL, DURATION_LOGNORMAL,
                                DURATION_GAMMA};
    for (unsigned i = 0; i < LAWS; i++) {
        const uint32_t count = draw(&laws[i], 40.0, samples);
        double best = INFINITY, own = INFINITY;
        assert_true(count < SAMPLES_MAX);
        for (unsigned k = 0; k < 4; k++) {
            struct duration_fit fit;
            duration_fit(kinds[k], samples, count, &fit);
            best = fmin(best, fit.criterion);
            if (kinds[k] != laws[i].law)
                continue;
            own = fit.criterion;
            /* Within four of its own standard errors, which are small. */
            assert_true(fit.mean_error < 0.1);
            assert_true(fabs(log(fit.duration.mean_s / laws[i].mean_s)) < 4.0 * fit.mean_error);
            if (laws[i].law == DURATION_EXPONENTIAL)
                continue;
            assert_true(fit.shape_error < 0.1);
            assert_true(fabs(log(fit.duration.shape / laws[i].shape)) < 4.0 * fit.shape_error);
        }
        /* No other law explains them much better. */
        assert_true(own < best + 4.0);
    }
}

static void test_exponential_is_time_over_count(void **state)
{
    const struct duration_sample samples[] = {{PART_FIRST, 3.0, 1.0},
                                              {PART_WHOLE, 5.0, 2.0},
                                              {PART_LAST, 2.0, 1.0},
                                              {PART_NONE, 10.0, 9}};
    struct duration_fit fit;
    duration_fit(DURATION_EXPONENTIAL, samples, 4, &fit);
    assert_true(fabs(fit.duration.mean_s - 105.0 / 3.0) < 1e-12);
    /* Every part of an exponential life has the same law: -n ln m - T / m. */
    assert_true(fabs(fit.log_likelihood - (-3.0 * log(35.0) - 3.0)) < 1e-12);
    /* Three failures tell no shape. */
    duration_fit(DURATION_WEIBULL, samples, 4, &fit);
    assert_true(isinf(fit.criterion));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_densities_are_those_of_the_survivals),
        cmocka_unit_test(test_a_law_comes_back_from_its_own_lives),
        cmocka_unit_test(test_exponential_is_time_over_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
