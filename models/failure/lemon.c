/* Some nodes are lemons: their units fail `factor` times as often as those of the others, at a rate
 * that does not change. RSC-1 had 1.2 % of them, which touched 13 % of its daily jobs (Kokolis et
 * al., arXiv:2410.21680): a factor of 12, if jobs fall as nodes do. AIReSim takes 15 % and 6 (the
 * good rate and five times it on top). */
#include "models/failure/failure_kind.h"

enum {
    SHARE,
    FACTOR
};
static const struct param options[] = {
    {"share", PARAM_RATIO, SHARE, 0, 1, "1.2%", NULL, "Share of the nodes that are lemons."},
    {"factor", PARAM_RATIO, FACTOR, 1, 1000, "12", NULL,
     "Failure rate of a lemon's units relative to the other nodes', to which mtbf applies."},
};

static void lemons(const struct kind_options *given, double *share_ratio, double *factor)
{
    *share_ratio = given->value[SHARE];
    *factor = given->value[FACTOR];
}

const struct failure_kind failure_lemon = {
    .head = {.name = "lemon",
             .doc = "A constant rate, and a multiple of it for a share of the nodes.",
             .options = {options, sizeof options / sizeof options[0]}},
    .memoryless = true,
    .lemons = lemons,
};
