/* Plain data parallelism: Rajbhandari et al., arXiv:1910.02054, baseline; 2N elements are sent. */
#include "models/sharding/sharding_kind.h"

const struct sharding_kind sharding_zero_0 = {
    .head = {.name = "zero-0",
             .doc =
                 "Every rank keeps weights, gradients and optimizer; gradients are all-reduced."},
    .gather = GATHER_NEVER,
    .reduce = REDUCE_LAST_MICROBATCH,
};
