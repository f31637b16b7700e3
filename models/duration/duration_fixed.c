/* A duration that is always its mean. It has no density: fits leave it out. */
#include <math.h>

#include "models/duration/duration_kind.h"

double duration_fixed_quantile(double mean, double shape, double u)
{
    (void)shape;
    (void)u;
    return mean;
}

double duration_fixed_residual(double mean, double shape, double u)
{
    (void)shape;
    return mean * u;
}

double duration_fixed_survival(double shape, double x)
{
    (void)shape;
    return x < 1.0 ? 1.0 : 0.0;
}

double duration_fixed_log_density(double shape, double x)
{
    (void)shape;
    return x == 1.0 ? INFINITY : -INFINITY;
}

double duration_fixed_residual_survival(double shape, double x)
{
    (void)shape;
    return x < 1.0 ? 1.0 - x : 0.0;
}

const struct duration_shape duration_fixed_shape = {0};
