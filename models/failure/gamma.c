/* Life of the gamma law with shape k: for a whole k, the sum of k exponential stages (damage that
 * must strike k times). */
#include "models/failure/failure_kind.h"

enum {
    SHAPE
};
static const struct param options[] = {
    {"shape", PARAM_RATIO, SHAPE, 0.1, 1000, "2", NULL,
     "Shape k: below 1 the rate falls with age, above 1 it rises; 1: exponential."},
};

static struct duration life(const struct kind_options *given, double mtbf_s)
{
    return (struct duration){DURATION_GAMMA, mtbf_s, given->value[SHAPE]};
}

const struct failure_kind failure_gamma = {
    .head = {.name = "gamma",
             .doc = "Wear in stages: for an integer shape k, a unit fails at the k-th shock.",
             .options = {options, sizeof options / sizeof options[0]}},
    .life = life,
};
