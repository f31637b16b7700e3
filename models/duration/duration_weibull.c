/* Weibull law: survival e^(-(x/c)^k), of mean 1 with the scale c = 1 / Gamma(1 + 1/k). */
#include <gsl/gsl_sf_gamma.h>
#include <math.h>

#include "models/duration/duration_kind.h"
#include "models/duration/duration_solve.h"

static double scale(double k)
{
    return 1.0 / gsl_sf_gamma(1.0 + 1.0 / k);
}

double duration_weibull_quantile(double mean, double k, double u)
{
    return mean * scale(k) * pow(-log1p(-u), 1.0 / k);
}

/* The integral of exp(-(x/c)^k) is an incomplete gamma function, so that (excess / c)^k is of the
 * gamma law of shape 1/k, whose mean is 1/k. */
double duration_weibull_residual(double mean, double k, double u)
{
    const double inverse = 1.0 / k;
    return mean * scale(k) * pow(duration_gamma_quantile(1.0, inverse, u) * inverse, inverse);
}

double duration_weibull_survival(double k, double x)
{
    return exp(-pow(x / scale(k), k));
}

double duration_weibull_log_density(double k, double x)
{
    const double log_z = log(x / scale(k));
    return log(k) + k * log_z - exp(k * log_z) - log(x);
}

double duration_weibull_residual_survival(double k, double x)
{
    return gsl_sf_gamma_inc_Q(1.0 / k, pow(x / scale(k), k));
}

const struct duration_shape duration_weibull_shape = {
    .means = "exponent k, 1: exponential",
    .least = 0.1,
    .most = 10.0,
    .from = 0.1,
    .beyond = DURATION_TOO_HEAVY,
};
