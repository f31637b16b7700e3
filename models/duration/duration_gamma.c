/* Gamma law: density k (k x)^(k-1) e^(-k x) / Gamma(k). */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <stddef.h>

#include "models/duration/duration_kind.h"
#include "models/duration/duration_solve.h"

/* Gamma law of mean 1: x k is of the standard law with shape k. */
static void gamma_tail(const struct duration_law_tail *law, double x, bool below, double *tail,
                       double *density)
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

double duration_gamma_quantile(double mean, double k, double u)
{
    struct duration_law_tail law = {k, gsl_sf_lngamma(k), gamma_tail};
    return mean * duration_solve(&law, u, gamma_start(k, law.log_gamma, u));
}

/* Stationary excess of a law with mean 1 and survival S: below = x S(x) + B(x), where B is the
 * lower tail of the length-biased law (by parts); the density is S. */
static void gamma_excess(const struct duration_law_tail *law, double x, bool below, double *tail,
                         double *density)
{
    double k = law->shape, survival = gsl_sf_gamma_inc_Q(k, k * x);
    *tail = below ? x * survival + gsl_sf_gamma_inc_P(k + 1.0, k * x)
                  : gsl_sf_gamma_inc_Q(k + 1.0, k * x) - x * survival;
    *density = survival;
}

/* The start is the lower bound u: a density that falls from 1 gathers no more than u by then. */
double duration_gamma_residual(double mean, double k, double u)
{
    return mean * duration_solve(&(struct duration_law_tail){k, 0.0, gamma_excess}, u, u);
}

double duration_gamma_survival(double k, double x)
{
    return gsl_sf_gamma_inc_Q(k, k * x);
}

double duration_gamma_log_density(double k, double x)
{
    return log(k) + (k - 1.0) * log(k * x) - k * x - gsl_sf_lngamma(k);
}

double duration_gamma_residual_survival(double k, double x)
{
    double tail, density;
    gamma_excess(&(struct duration_law_tail){k, 0.0, NULL}, x, false, &tail, &density);
    return tail;
}

const struct duration_shape duration_gamma_shape = {
    .means = "exponent k, 1: exponential, above: that many stages in sequence",
    .least = 0.1,
    .most = 1000.0};
