/* Fully sharded data parallel (Zhao et al., arXiv:2304.11277): ZeRO-3 by units of layers, with
 * prefetch, and resharding after the forward as the software says. */
#include "models/sharding/sharding_kind.h"

const struct sharding_kind sharding_fsdp = {
    .head = {.name = "fsdp",
             .doc =
                 "PyTorch FSDP: units of layers are gathered ahead; all model state is sharded."},
    .shards_weights = true,
    .shards_gradients = true,
    .shards_optimizer = true,
    .gather = GATHER_UNITS,
    .reduce = REDUCE_EACH_MICROBATCH,
    .reduce_scatter = true,
    .units = true,
};
