/* Every law is scaled to the mean 1 inside. Quantiles without a closed form are found by Newton's
 * method on the logarithm of the lesser tail over the logarithm of time, so that both tails keep
 * their relative precision. */
#include "models/duration.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <stddef.h>

#include "sim/check.h"

const char *const duration_law_names[] = {"fixed",     "exponential", "weibull",
                                          "lognormal", "gamma",       NULL};

/* A law with mean 1 as its two tails and its density at x > 0; `shape` as in struct duration. */
struct tails {
    double below, above, density;
};
typedef struct tails (*tails_fn)(double shape, double x);

enum {
    NEWTON_STEPS = 200 /* from any start: steps of STRIDE, then bisection at worst */
};
static const double STRIDE = 2.0; /* longest step, of the logarithm of time */

/* How far x is beyond the quantile at u, as a difference of logarithms of probability; the slope
 * over log x. */
static double excess(const struct tails *at, double x, double u, double *slope)
{
    if (u < 0.5) {
        *slope = x * at->density / at->below;
        return log(at->below / u);
    }
    *slope = x * at->density / at->above;
    return log((1.0 - u) / at->above);
}

/* The quantile at u, from the start `x`. */
static double invert(tails_fn tails, double shape, double u, double x)
{
    double low = -INFINITY, high = INFINITY, y = log(x);
    for (int i = 0; i < NEWTON_STEPS; i++) {
        double slope;
        struct tails at = tails(shape, exp(y));
        double beyond = excess(&at, exp(y), u, &slope);
        if (beyond == 0.0)
            break;
        if (beyond > 0.0)
            high = y;
        else
            low = y;
        double step = beyond / slope;
        if (!(fabs(step) <= STRIDE))
            step = copysign(STRIDE, beyond);
        double next = y - step;
        if (fabs(next - y) <= 1e-15 * fmax(1.0, fabs(y)))
            break;
        if (next <= low || next >= high) /* both are finite: a step leaves the bound behind it */
            next = low + 0.5 * (high - low);
        y = next;
    }
    return exp(y);
}

/* Gamma law of mean 1: x k is of the standard law with shape k. */
static struct tails gamma_tails(double k, double x)
{
    return (struct tails){gsl_sf_gamma_inc_P(k, k * x), gsl_sf_gamma_inc_Q(k, k * x),
                          k * exp((k - 1.0) * log(k * x) - k * x - gsl_sf_lngamma(k))};
}

/* Starts: the power law of the lower tail, P(k, z) < z^k / Gamma(k + 1), where it is short of the
 * mean; else the cube of Wilson and Hilferty (1931). */
static double gamma_quantile(double k, double u)
{
    double power = exp((log(u) + gsl_sf_lngamma(k + 1.0)) / k) / k;
    double ninth = 1.0 / (9.0 * k);
    double root = 1.0 - ninth + gsl_cdf_ugaussian_Pinv(u) * sqrt(ninth);
    return invert(gamma_tails, k, u, root > 0.3 ? root * root * root : power);
}

/* Stationary excess of a law with mean 1 and survival S: below = x S(x) + B(x), where B is the
 * lower tail of the length-biased law (by parts); the density is S. */
static struct tails gamma_excess(double k, double x)
{
    double survival = gsl_sf_gamma_inc_Q(k, k * x);
    return (struct tails){x * survival + gsl_sf_gamma_inc_P(k + 1.0, k * x),
                          gsl_sf_gamma_inc_Q(k + 1.0, k * x) - x * survival, survival};
}

/* The logarithm has mean -sigma^2 / 2, length-biased +sigma^2 / 2. */
static struct tails lognormal_excess(double sigma, double x)
{
    double plain = log(x) / sigma + 0.5 * sigma, biased = plain - sigma;
    double survival = gsl_cdf_ugaussian_Q(plain);
    return (struct tails){x * survival + gsl_cdf_ugaussian_P(biased),
                          gsl_cdf_ugaussian_Q(biased) - x * survival, survival};
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
        return d->mean_s * invert(lognormal_excess, d->shape, u, u);
    case DURATION_GAMMA:
        return d->mean_s * invert(gamma_excess, d->shape, u, u);
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
