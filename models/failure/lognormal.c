/* The logarithm of a life is normal with standard deviation sigma; the rate rises, then falls. Fits
 * times between failures of HPC systems beside Weibull (Schroeder and Gibson, DSN 2006). */
#include "models/failure/failure_kind.h"

enum {
    SHAPE
};
static const struct param options[] = {
    {"shape", PARAM_RATIO, SHAPE, 0.01, 5, "1", NULL,
     "Standard deviation of the logarithm of the lifetime."},
};

static struct duration life(const struct kind_options *given, double mtbf_s)
{
    return (struct duration){DURATION_LOGNORMAL, mtbf_s, given->value[SHAPE]};
}

const struct failure_kind failure_lognormal = {
    .head = {.name = "lognormal",
             .doc = "The logarithm of the lifetime is normal: the rate rises at first, then falls.",
             .options = {options, sizeof options / sizeof options[0]}},
    .life = life,
};
