/* Life T with P(T > t) = exp(-(t/c)^k), c = mtbf / Gamma(1 + 1/k). Node failures of LANL have k of
 * 0.7 to 0.8 (Schroeder and Gibson, DSN 2006); K20X boards that corroded had 2.64 (Titan). */
#include "models/failure/failure_kind.h"

enum {
    SHAPE
};
static const struct param options[] = {
    {"shape", PARAM_RATIO, SHAPE, 0.1, 10, "0.7", NULL,
     "Exponent k: below 1 the rate falls with age, above 1 it rises; 1: exponential."},
};

static struct duration life(const struct kind_options *given, double mtbf_s)
{
    return (struct duration){DURATION_WEIBULL, mtbf_s, given->value[SHAPE]};
}

const struct failure_kind failure_weibull = {
    .head = {.name = "weibull",
             .doc =
                 "A rate that falls (shape < 1, early deaths) or rises (shape > 1, wear) with age.",
             .options = {options, sizeof options / sizeof options[0]}},
    .life = life,
};
