/* Exponential law: what is left of a duration does not depend on how long it lasted. */
#include <math.h>

#include "models/duration/duration_kind.h"

double duration_exponential_quantile(double mean, double shape, double u)
{
    (void)shape;
    return mean * -log1p(-u);
}

double duration_exponential_residual(double mean, double shape, double u)
{
    return duration_exponential_quantile(mean, shape, u);
}

double duration_exponential_survival(double shape, double x)
{
    (void)shape;
    return exp(-x);
}

double duration_exponential_log_density(double shape, double x)
{
    (void)shape;
    return -x;
}

double duration_exponential_residual_survival(double shape, double x)
{
    return duration_exponential_survival(shape, x);
}

const struct duration_shape duration_exponential_shape = {0};
