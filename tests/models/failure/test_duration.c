/* Laws of durations: every quantile against its own survival, the mean and the stationary excess
 * against numerical integrals of the survival, and closed forms of special shapes. */
#include <math.h>

#include "models/duration/duration.h"
#include "models/duration/duration_solve.h"
#include "sim/units.h"
#include "tests/test.h"

static const struct duration laws[] = {
    {DURATION_EXPONENTIAL, 7.0, 0.0}, {DURATION_WEIBULL, 7.0, 0.3},
    {DURATION_WEIBULL, 7.0, 0.7},     {DURATION_WEIBULL, 7.0, 1.0},
    {DURATION_WEIBULL, 7.0, 2.64},    {DURATION_WEIBULL, 7.0, 10.0},
    {DURATION_LOGNORMAL, 7.0, 0.01},  {DURATION_LOGNORMAL, 7.0, 0.8},
    {DURATION_LOGNORMAL, 7.0, 2.2},   {DURATION_LOGNORMAL, 7.0, 5.0},
    {DURATION_GAMMA, 7.0, 0.1},       {DURATION_GAMMA, 7.0, 0.5},
    {DURATION_GAMMA, 7.0, 1.0},       {DURATION_GAMMA, 7.0, 2.0},
    {DURATION_GAMMA, 7.0, 40.0},      {DURATION_GAMMA, 7.0, 1000.0},
};
enum {
    LAWS = sizeof laws / sizeof laws[0]
};
static const double us[] = {1e-15, 1e-9, 1e-4, 0.01,     0.2,      0.4999,
                            0.5,   0.7,  0.99, 1 - 1e-6, 1 - 1e-12};
enum {
    US = sizeof us / sizeof us[0]
};

static int close_to(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fmin(fabs(a), fabs(b));
}

static void test_quantile_of_survival(void **state)
{
    for (unsigned i = 0; i < LAWS; i++) {
        double last = 0.0;
        for (unsigned j = 0; j < US; j++) {
            double t = duration_quantile_s(&laws[i], us[j]);
            double above = duration_survival(&laws[i], t);
            assert_true(t > last || (t == last && t < 1e-100));
            if (us[j] < 1e-6) /* 1 - above keeps no digits there: the test of excess covers it */
                assert_true(1.0 - above < 1e-6);
            else
                assert_true(close_to(above, 1.0 - us[j], 1e-8 + 1e-15 / (1.0 - us[j])));
            last = t;
        }
        assert_true(duration_survival(&laws[i], -1.0) == 1.0);
        assert_true(duration_survival(&laws[i], 0.0) == 1.0);
    }
}

/* Integral of the survival from 0 to `end`, by Simpson over log t; the survival is 1, or as good
 * as, below e^-span of it. */
static double gathered(const struct duration *law, double end, double span)
{
    const double width = 0.003;
    unsigned cells = (unsigned)(span / width);
    double low = log(end) - width * cells, sum = exp(low) * duration_survival(law, exp(low));
    for (unsigned i = 0; i < cells; i++) {
        double a = exp(low + i * width), b = exp(low + (i + 0.5) * width);
        double c = exp(low + (i + 1) * width);
        sum += width / 6.0 *
               (a * duration_survival(law, a) + 4.0 * b * duration_survival(law, b) +
                c * duration_survival(law, c));
    }
    return sum;
}

static void test_mean(void **state)
{
    for (unsigned i = 0; i < LAWS; i++) {
        double end = 7.0 * 1e25;
        while (duration_survival(&laws[i], end) == 0.0)
            end /= 2.0;
        assert_true(close_to(gathered(&laws[i], 2.0 * end, 130.0), 7.0, 1e-6));
    }
}

static void test_residual(void **state)
{
    for (unsigned i = 0; i < LAWS; i++) {
        for (unsigned j = 0; j < US; j++) {
            double t = duration_residual_s(&laws[i], us[j]);
            double below = gathered(&laws[i], t, 60.0) / 7.0;
            assert_true(close_to(below, us[j], 1e-6));
            assert_true(t >= 7.0 * us[j] * (1.0 - 1e-9)); /* no faster than one for each mean */
        }
    }
}

/* A planted fault: a life taken for what is left of one is far off, where the rate falls. */
static void test_life_is_not_residual(void **state)
{
    const struct duration law = {DURATION_WEIBULL, 7.0, 0.7};
    double t = duration_quantile_s(&law, 0.01);
    assert_false(close_to(gathered(&law, t, 60.0) / 7.0, 0.01, 0.5));
}

static void test_closed_forms(void **state)
{
    const double pi = 3.14159265358979323846;
    const struct duration exponential = {DURATION_EXPONENTIAL, 3.0, 0.0};
    const struct duration weibull1 = {DURATION_WEIBULL, 3.0, 1.0},
                          gamma1 = {DURATION_GAMMA, 3.0, 1.0};
    const struct duration rayleigh = {DURATION_WEIBULL, 3.0, 2.0},
                          erlang = {DURATION_GAMMA, 3.0, 2.0};
    for (unsigned j = 0; j < US; j++) {
        double u = us[j], t = -3.0 * log1p(-u), relative = 1e-11;
        assert_true(close_to(duration_quantile_s(&exponential, u), t, relative));
        assert_true(close_to(duration_residual_s(&exponential, u), t, relative));
        assert_true(close_to(duration_quantile_s(&weibull1, u), t, relative));
        assert_true(close_to(duration_residual_s(&weibull1, u), t, relative));
        assert_true(close_to(duration_quantile_s(&gamma1, u), t, relative));
        assert_true(close_to(duration_residual_s(&gamma1, u), t, relative));
        /* Rayleigh of scale c: the mean is c sqrt(pi)/2, what is left is half a normal: erf(t/c).
         */
        double c = 3.0 * 2.0 / sqrt(pi);
        double r = duration_residual_s(&rayleigh, u);
        assert_true(close_to(u < 0.5 ? erf(r / c) : erfc(r / c), u < 0.5 ? u : 1.0 - u, 1e-9));
        assert_true(close_to(duration_quantile_s(&rayleigh, u), c * sqrt(-log1p(-u)), relative));
        /* Erlang 2: half of the time one stage is left, half of the time two. */
        double x = duration_residual_s(&erlang, u) / 1.5;
        assert_true(close_to((1.0 + x / 2.0) * exp(-x), 1.0 - u, 1e-9 + 2e-16 / (1.0 - u)));
    }
}

/* Recovery as Lambda tells it: median 3 min 42 s and mean 38 min 54 s are a sigma of 2.17. */
static void test_heavy_tail(void **state)
{
    const struct duration law = {DURATION_LOGNORMAL, 38.9 * MINUTE, sqrt(2.0 * log(38.9 / 3.7))};
    assert_true(close_to(duration_quantile_s(&law, 0.5), 3.7 * MINUTE, 1e-12));
    assert_true(close_to(law.shape, 2.17, 1e-2));
}

static void test_fixed(void **state)
{
    const struct duration law = {DURATION_FIXED, 90.0, 0.0};
    for (unsigned i = 0; i < DURATION_LAW_COUNT; i++) {
        const struct duration nothing = {(int)i, 0.0, 1.0};
        assert_true(duration_quantile_s(&nothing, 0.3) == 0.0);
        assert_true(duration_residual_s(&nothing, 0.3) == 0.0);
        assert_true(duration_survival(&nothing, 0.0) == 0.0);
        assert_non_null(duration_law_names[i]);
    }
    assert_null(duration_law_names[DURATION_LAW_COUNT]);
    assert_true(duration_quantile_s(&law, 0.01) == 90.0 && duration_quantile_s(&law, 0.99) == 90.0);
    assert_true(duration_residual_s(&law, 0.25) == 22.5);
    assert_true(duration_survival(&law, 89.9) == 1.0 && duration_survival(&law, 90.0) == 0.0);
}

/* Each law of the list is among those above, at both ends of its shapes, but for the fixed one. */
static void test_all_laws(void **state)
{
    for (int law = DURATION_FIXED + 1; law < DURATION_LAW_COUNT; law++) {
        const struct duration_shape *shape = duration_shape_of(law);
        unsigned found = 0, least = 0, most = 0;
        for (unsigned i = 0; i < LAWS; i++) {
            found += laws[i].law == law;
            least += laws[i].law == law && laws[i].shape <= fmax(shape->least, 0.3);
            most += laws[i].law == law && laws[i].shape == shape->most;
        }
        assert_true(found > 0 && least > 0 && most > 0);
        assert_int_equal(duration_has_shape(law), law != DURATION_EXPONENTIAL);
    }
    assert_false(duration_has_shape(DURATION_FIXED));
}

/* The log density is the slope of the survival, the excess survival its integral. */
static void test_density(void **state)
{
    const double step = 1e-5;
    for (unsigned i = 0; i < LAWS; i++) {
        for (double u = 0.05; u < 1.0; u += 0.1) {
            const double t = duration_quantile_s(&laws[i], u);
            const double density = exp(duration_log_density(&laws[i], t));
            const double slope = (duration_survival(&laws[i], t * (1.0 - step)) -
                                  duration_survival(&laws[i], t * (1.0 + step))) /
                                 (2.0 * step * t);
            assert_true(close_to(density, slope, 1e-3));
            const double left = duration_residual_s(&laws[i], u);
            assert_true(close_to(duration_residual_survival(&laws[i], left), 1.0 - u, 1e-6));
        }
    }
}

/* A law of the logarithm of time with tails w / (w + |y|) / 2, narrow and heavy: a step of Newton
 * leaps over the quantile and back, so that what is found stands on the bounds. */
#define HEAP_WIDTH 0.01
static void heap_tail(const struct duration_law_tail *law, double x, bool below, double *tail,
                      double *density)
{
    const double y = log(x), far = HEAP_WIDTH + fabs(y), lesser = 0.5 * HEAP_WIDTH / far;
    *tail = below == (y < 0.0) ? lesser : 1.0 - lesser;
    *density = 0.5 * HEAP_WIDTH / (far * far * x);
}

static void test_solve_between_bounds(void **state)
{
    const struct duration_law_tail law = {.tail = heap_tail};
    const double tails[] = {0.2, 0.4, 0.5};
    for (double start = -20.0; start <= 20.0; start += 0.25) {
        for (unsigned i = 0; i < sizeof tails / sizeof tails[0]; i++) {
            const double y = HEAP_WIDTH * (0.5 / tails[i] - 1.0);
            assert_true(close_to(duration_solve(&law, tails[i], exp(start)), exp(-y), 1e-9));
            assert_true(close_to(duration_solve(&law, 1.0 - tails[i], exp(start)), exp(y), 1e-9));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantile_of_survival),
        cmocka_unit_test(test_mean),
        cmocka_unit_test(test_residual),
        cmocka_unit_test(test_life_is_not_residual),
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_heavy_tail),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_all_laws),
        cmocka_unit_test(test_density),
        cmocka_unit_test(test_solve_between_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
