/* ZeRO stage 2 (arXiv:1910.02054, section 5.2): a gradient is scattered as soon as its bucket is
 * full, in every microbatch, and only the shard accumulates; 2N elements for each backward. */
#include "models/sharding/sharding_kind.h"

const struct sharding_kind sharding_zero_2 = {
    .head = {.name = "zero-2",
             .doc = "Optimizer state and gradients are sharded; each backward pass reduce-scatters "
                    "its gradients."},
    .shards_gradients = true,
    .shards_optimizer = true,
    .gather = GATHER_AFTER_UPDATE,
    .reduce = REDUCE_EACH_MICROBATCH,
    .reduce_scatter = true,
};
