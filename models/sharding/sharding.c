#include <stddef.h>
#include <string.h>

#include "models/sharding/sharding_kind.h"

#define X(name) &sharding_##name,
const struct sharding_kind *const sharding_kinds[] = {
#include "models/sharding/sharding_list.h"
};
#undef X
KIND_TABLE(sharding)

uint64_t sharding_shards(const struct sharding_kind *kind, uint64_t dp, uint64_t shard_group)
{
    if (!kind->shards_optimizer)
        return 1;
    return kind->hybrid && shard_group < dp ? shard_group : dp;
}

double sharding_bytes_per_parameter(const struct sharding_kind *kind, double weight_bytes,
                                    double gradient_bytes, double optimizer_bytes, uint64_t shards)
{
    double n = (double)shards;
    return (kind->shards_weights ? weight_bytes / n : weight_bytes) +
           (kind->shards_gradients ? gradient_bytes / n : gradient_bytes) +
           (kind->shards_optimizer ? optimizer_bytes / n : optimizer_bytes);
}
