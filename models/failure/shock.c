/* A blow to a domain (a rack, a PDU, a leaf switch, an NVL72) that each of its nodes goes down in
 * with probability `hit`, each for itself: the common shock of Marshall and Olkin (Journal of the
 * American Statistical Association 62, 1967). A node goes down hit / mtbf times a second, however
 * wide the domain is. */
#include "models/failure/failure_kind.h"

enum {
    HIT
};
static const struct param options[] = {
    {"hit", PARAM_RATIO, HIT, 1e-3, 1, "1", NULL,
     "Probability that a node of the affected domain fails in a shock."},
};

static double hit_ratio(const struct kind_options *given)
{
    return given->value[HIT];
}

const struct failure_kind failure_shock = {
    .head =
        {.name = "shock",
         .doc =
             "Shocks to a whole domain at a constant rate; each node fails with probability hit.",
         .options = {options, sizeof options / sizeof options[0]}},
    .memoryless = true,
    .hit_ratio = hit_ratio,
};
