#include "models/layout/configuration.h"

#include <stddef.h>

#include "models/sharding/sharding_kind.h"
#include "sim/random.h"

const char *const cp_method_names[] = {"all_gather", "ring", NULL};
const char *const cp_balance_names[] = {"auto", "zig_zag", "none", NULL};
const char *const placement_names[] = {"packed", "scattered", NULL};

uint64_t configuration_replicas(const struct configuration *c)
{
    return c->layout.dp * c->layout.cp;
}

double configuration_tokens(const struct configuration *c)
{
    return (double)c->training.global_batch * (double)c->training.sequence;
}

uint64_t configuration_ranks(const struct configuration *c)
{
    return c->layout.tp * c->layout.pp * configuration_replicas(c);
}

uint64_t configuration_gpus(const struct configuration *c)
{
    return c->cluster.nodes * c->cluster.node.gpus;
}

uint64_t configuration_microbatches(const struct configuration *c)
{
    return c->training.global_batch / (c->layout.dp * c->layout.microbatch);
}

uint64_t configuration_shards(const struct configuration *c)
{
    uint64_t group = c->layout.shard_group;
    if (group == 0) {
        group = c->cluster.node.gpus / c->layout.tp;
        group = group > 0 ? group : 1;
    }
    return sharding_shards(c->layout.sharding, configuration_replicas(c), group);
}

uint64_t configuration_flow_seed(const struct configuration *c, uint64_t kind)
{
    return random_hash(random_hash(c->seed, c->path_draw), kind);
}
