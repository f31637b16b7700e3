/* ZeRO stage 1 (arXiv:1910.02054, section 5.1), as the distributed optimizer of Megatron-LM does
 * it: gradients are reduce-scattered, weights gathered after the update; 2N elements are sent. */
#include "models/sharding/sharding_kind.h"

const struct sharding_kind sharding_zero_1 = {
    .head = {.name = "zero-1",
             .doc = "The optimizer state is sharded; gradients are reduce-scattered, updated "
                    "weights all-gathered."},
    .shards_optimizer = true,
    .gather = GATHER_AFTER_UPDATE,
    .reduce = REDUCE_LAST_MICROBATCH,
    .reduce_scatter = true,
};
