/* sharding_kind.h - the contract of a data-parallel sharding: who holds what, and what is sent
 * when.
 *
 * Adding one: a file, a row in sharding_list.h, a line in models/sharding/CMakeLists.txt. A kind is
 * plain facts read by the lowering: fractions of the state held, when units are gathered, how
 * gradients are reduced. Source of the stages: Rajbhandari et al., arXiv:1910.02054. */
#ifndef ORRERY_MODELS_SHARDING_SHARDING_KIND_H
#define ORRERY_MODELS_SHARDING_SHARDING_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/kind.h"

enum gather_when {
    GATHER_NEVER,
    GATHER_AFTER_UPDATE, /* updated shards are gathered once a step (zero-1, zero-2) */
    GATHER_UNITS         /* each unit before its forward, and before its backward when resharded */
};
enum reduce_when {
    REDUCE_LAST_MICROBATCH, /* gradients accumulate, and are reduced once a step */
    REDUCE_EACH_MICROBATCH  /* gradients are scattered in every backward (shards accumulate) */
};
struct sharding_kind {
    struct kind head;
    bool shards_weights, shards_gradients, shards_optimizer; /* over the shard group */
    bool hybrid; /* shards in a group of layout.shard_group, replicas across */
    enum gather_when gather;
    enum reduce_when reduce;
    bool reduce_scatter; /* else all-reduce */
    bool units;          /* FSDP units: flat parameters, prefetch, reshard by the software */
};
/* Ranks over which the state is sharded, and over which it is replicated; their product is `dp`
 * (x cp, which shards with dp). shard_group: layout.shard_group or the GPUs of a node. */
uint64_t sharding_shards(const struct sharding_kind *kind, uint64_t dp, uint64_t shard_group);
/* Bytes of model state of one rank for each parameter, mixed precision: weight + gradient + k
 * optimizer bytes over n ranks (arXiv:1910.02054 section 5); for the closed-form check. */
double sharding_bytes_per_parameter(const struct sharding_kind *kind, double weight_bytes,
                                    double gradient_bytes, double optimizer_bytes, uint64_t shards);

#define X(name) extern const struct sharding_kind sharding_##name;
#include "models/sharding/sharding_list.h"
#undef X
KIND_FAMILY(sharding)

#endif
