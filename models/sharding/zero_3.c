/* ZeRO stage 3 (arXiv:1910.02054, section 5.3): weights too are sharded, gathered before each
 * forward and backward and released after it; 3N elements for each microbatch. */
#include "models/sharding/sharding_kind.h"

const struct sharding_kind sharding_zero_3 = {
    .head = {.name = "zero-3",
             .doc = "All model state is sharded; each layer is all-gathered before its forward and "
                    "backward pass."},
    .shards_weights = true,
    .shards_gradients = true,
    .shards_optimizer = true,
    .gather = GATHER_UNITS,
    .reduce = REDUCE_EACH_MICROBATCH,
    .reduce_scatter = true,
};
