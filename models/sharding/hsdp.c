/* Hybrid sharding (Zhao et al., arXiv:2304.11277, section 3.2.2): FSDP inside a group, usually a
 * node, and an all-reduce of the gradient shards across the groups. */
#include "models/sharding/sharding_kind.h"

const struct sharding_kind sharding_hsdp = {
    .head =
        {.name = "hsdp",
         .doc =
             "FSDP inside a shard group; replicas of the group all-reduce their gradient shards."},
    .shards_weights = true,
    .shards_gradients = true,
    .shards_optimizer = true,
    .hybrid = true,
    .gather = GATHER_UNITS,
    .reduce = REDUCE_EACH_MICROBATCH,
    .reduce_scatter = true,
    .units = true,
};
