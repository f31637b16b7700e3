/* Log-normal law: the logarithm is normal, with standard deviation `shape` and, of mean 1, mean
 * -shape^2 / 2. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stddef.h>

#include "models/duration/duration_kind.h"
#include "models/duration/duration_solve.h"

/* The logarithm has mean -sigma^2 / 2, length-biased +sigma^2 / 2. */
static void lognormal_excess(const struct duration_law_tail *law, double x, bool below,
                             double *tail, double *density)
{
    double plain = log(x) / law->shape + 0.5 * law->shape, biased = plain - law->shape;
    double survival = gsl_cdf_ugaussian_Q(plain);
    *tail = below ? x * survival + gsl_cdf_ugaussian_P(biased)
                  : gsl_cdf_ugaussian_Q(biased) - x * survival;
    *density = survival;
}

double duration_lognormal_quantile(double mean, double sigma, double u)
{
    return mean * exp(sigma * (gsl_cdf_ugaussian_Pinv(u) - 0.5 * sigma));
}

/* The start is the lower bound u: a density that falls from 1 gathers no more than u by then. */
double duration_lognormal_residual(double mean, double sigma, double u)
{
    return mean * duration_solve(&(struct duration_law_tail){sigma, 0.0, lognormal_excess}, u, u);
}

double duration_lognormal_survival(double sigma, double x)
{
    return x > 0.0 ? gsl_cdf_ugaussian_Q(log(x) / sigma + 0.5 * sigma) : 1.0;
}

double duration_lognormal_log_density(double sigma, double x)
{
    const double y = log(x) / sigma + 0.5 * sigma;
    return -0.5 * y * y - log(sigma) - 0.5 * log(2.0 * M_PI) - log(x);
}

double duration_lognormal_residual_survival(double sigma, double x)
{
    double tail, density;
    lognormal_excess(&(struct duration_law_tail){sigma, 0.0, NULL}, x, false, &tail, &density);
    return tail;
}

const struct duration_shape duration_lognormal_shape = {
    .means = "standard deviation of the logarithm",
    .least = 0.01,
    .most = 5.0,
    .to = 5.0,
    .beyond = DURATION_TOO_HEAVY,
};
