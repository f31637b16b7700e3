/* Every law is scaled to the mean 1 inside. Quantiles without a closed form are found by Newton's
 * method on the logarithm of the lesser tail over the logarithm of time, so that both tails keep
 * their relative precision. */
#include "models/failure/duration.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/check.h"

const char *const duration_law_names[] = {"fixed",     "exponential", "weibull",
                                          "lognormal", "gamma",       NULL};

/* A law of mean 1, as its lesser tail at x > 0 (below x where `below`, else above) and its density.
 */
struct law {
    double shape, log_gamma; /* of the shape, where the law needs it */
    void (*tail)(const struct law *law, double x, bool below, double *tail, double *density);
};

enum {
    NEWTON_STEPS = 200 /* from any start: steps of STRIDE, then bisection at worst */
};
static const double STRIDE = 2.0;     /* longest step, of the logarithm of time */
static const double QUADRATIC = 1e-8; /* the error after a step is about the square of the step */

/* The Newton step of log x from the quantile at u, positive beyond it. */
static double newton(const struct law *law, double x, double u)
{
    double tail, density;
    bool below = u < 0.5;
    law->tail(law, x, below, &tail, &density);
    double beyond = below ? log(tail / u) : log((1.0 - u) / tail);
    double step = beyond * tail / (x * density);
    return fabs(step) <= STRIDE ? step : copysign(STRIDE, beyond);
}

/* The quantile at u, from the start `x`. */
static double invert(const struct law *law, double u, double x)
{
    double low = -INFINITY, high = INFINITY, y = log(x);
    for (int i = 0; i < NEWTON_STEPS; i++) {
        double step = newton(law, exp(y), u);
        if (fabs(step) <= QUADRATIC)
            return exp(y - step);
        if (step > 0.0)
            high = y;
        else
            low = y;
        y -= step;
        if (y <= low || y >= high) /* both are finite: a step leaves the bound behind it */
            y = low + 0.5 * (high - low);
    }
    return exp(y);
}

/* Gamma law of mean 1: x k is of the standard law with shape k. */
static void gamma_tail(const struct law *law, double x, bool below, double *tail, double *density)
{
    double k = law->shape, z = k * x;
    *tail = below ? gsl_sf_gamma_inc_P(k, z) : gsl_sf_gamma_inc_Q(k, z);
    *density = k * exp((k - 1.0) * log(z) - z - law->log_gamma);
}

/* Starts: the power law of the lower tail with its first correction, where that is small,
 * P(k, z) = z^k / Gamma(k + 1) (1 - z k / (k + 1) + ...); else the cube of Wilson and Hilferty
 * (1931). */
static double gamma_start(double k, double log_gamma, double u)
{
    double z = exp((log(u * k) + log_gamma) / k), ninth = 1.0 / (9.0 * k);
    double root = 1.0 - ninth + gsl_cdf_ugaussian_Pinv(u) * sqrt(ninth);
    return z < 0.2 * (k + 1.0) || root < 0.3 ? z * (1.0 + z / (k + 1.0)) / k : root * root * root;
}

static double gamma_quantile(double k, double u)
{
    struct law law = {k, gsl_sf_lngamma(k), gamma_tail};
    return invert(&law, u, gamma_start(k, law.log_gamma, u));
}

/* Stationary excess of a law with mean 1 and survival S: below = x S(x) + B(x), where B is the
 * lower tail of the length-biased law (by parts); the density is S. */
static void gamma_excess(const struct law *law, double x, bool below, double *tail, double *density)
{
    double k = law->shape, survival = gsl_sf_gamma_inc_Q(k, k * x);
    *tail = below ? x * survival + gsl_sf_gamma_inc_P(k + 1.0, k * x)
                  : gsl_sf_gamma_inc_Q(k + 1.0, k * x) - x * survival;
    *density = survival;
}

/* The logarithm has mean -sigma^2 / 2, length-biased +sigma^2 / 2. */
static void lognormal_excess(const struct law *law, double x, bool below, double *tail,
                             double *density)
{
    double plain = log(x) / law->shape + 0.5 * law->shape, biased = plain - law->shape;
    double survival = gsl_cdf_ugaussian_Q(plain);
    *tail = below ? x * survival + gsl_cdf_ugaussian_P(biased)
                  : gsl_cdf_ugaussian_Q(biased) - x * survival;
    *density = survival;
}

/* The scale of a Weibull law of mean 1. */
static double weibull_scale(double k)
{
    return 1.0 / gsl_sf_gamma(1.0 + 1.0 / k);
}

static double lognormal_quantile(double sigma, double u)
{
    return exp(sigma * (gsl_cdf_ugaussian_Pinv(u) - 0.5 * sigma));
}

double duration_quantile_s(const struct duration *d, double u)
{
    CHECK(u > 0.0 && u < 1.0);
    if (d->mean_s == 0.0)
        return 0.0;
    switch (d->law) {
    case DURATION_EXPONENTIAL:
        return d->mean_s * -log1p(-u);
    case DURATION_WEIBULL:
        return d->mean_s * weibull_scale(d->shape) * pow(-log1p(-u), 1.0 / d->shape);
    case DURATION_LOGNORMAL:
        return d->mean_s * lognormal_quantile(d->shape, u);
    case DURATION_GAMMA:
        return d->mean_s * gamma_quantile(d->shape, u);
    default:
        return d->mean_s;
    }
}

/* Weibull: the integral of exp(-(x/c)^k) is an incomplete gamma function, so that (excess / c)^k is
 * of the gamma law of shape 1/k (whose mean is 1/k). The others start from the lower bound u: a
 * density that falls from 1 gathers no more than u by then. */
double duration_residual_s(const struct duration *d, double u)
{
    CHECK(u > 0.0 && u < 1.0);
    if (d->mean_s == 0.0)
        return 0.0;
    double inverse = 1.0 / d->shape;
    switch (d->law) {
    case DURATION_EXPONENTIAL:
        return d->mean_s * -log1p(-u);
    case DURATION_WEIBULL:
        return d->mean_s * weibull_scale(d->shape) *
               pow(gamma_quantile(inverse, u) * inverse, inverse);
    case DURATION_LOGNORMAL:
        return d->mean_s * invert(&(struct law){d->shape, 0.0, lognormal_excess}, u, u);
    case DURATION_GAMMA:
        return d->mean_s * invert(&(struct law){d->shape, 0.0, gamma_excess}, u, u);
    default:
        return d->mean_s * u;
    }
}

double duration_survival(const struct duration *d, double t_s)
{
    if (t_s < 0.0)
        return 1.0;
    if (d->mean_s == 0.0)
        return 0.0;
    double x = t_s / d->mean_s;
    switch (d->law) {
    case DURATION_EXPONENTIAL:
        return exp(-x);
    case DURATION_WEIBULL:
        return exp(-pow(x / weibull_scale(d->shape), d->shape));
    case DURATION_LOGNORMAL:
        return x > 0.0 ? gsl_cdf_ugaussian_Q(log(x) / d->shape + 0.5 * d->shape) : 1.0;
    case DURATION_GAMMA:
        return gsl_sf_gamma_inc_Q(d->shape, d->shape * x);
    default:
        return x < 1.0 ? 1.0 : 0.0;
    }
}

double duration_log_density(const struct duration *d, double t_s)
{
    const double x = t_s / d->mean_s, k = d->shape, log_mean = log(d->mean_s);
    CHECK(t_s > 0.0 && d->mean_s > 0.0 && d->law != DURATION_FIXED);
    switch (d->law) {
    case DURATION_WEIBULL: {
        const double log_z = log(x / weibull_scale(k));
        return log(k) + k * log_z - exp(k * log_z) - log(t_s);
    }
    case DURATION_LOGNORMAL: {
        const double y = log(x) / k + 0.5 * k;
        return -0.5 * y * y - log(k) - 0.5 * log(2.0 * M_PI) - log(t_s);
    }
    case DURATION_GAMMA:
        return log(k) + (k - 1.0) * log(k * x) - k * x - gsl_sf_lngamma(k) - log_mean;
    default:
        return -x - log_mean;
    }
}

double duration_residual_survival(const struct duration *d, double t_s)
{
    const double x = t_s / d->mean_s;
    double tail, density;
    CHECK(d->mean_s > 0.0 && d->law != DURATION_FIXED);
    if (t_s <= 0.0)
        return 1.0;
    switch (d->law) {
    case DURATION_WEIBULL:
        return gsl_sf_gamma_inc_Q(1.0 / d->shape, pow(x / weibull_scale(d->shape), d->shape));
    case DURATION_LOGNORMAL:
        lognormal_excess(&(struct law){d->shape, 0.0, NULL}, x, false, &tail, &density);
        return tail;
    case DURATION_GAMMA:
        gamma_excess(&(struct law){d->shape, 0.0, NULL}, x, false, &tail, &density);
        return tail;
    default:
        return exp(-x);
    }
}
