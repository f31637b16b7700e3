/* lower_units.h - the units of a stage, and the groups that they are gathered and scattered in.
 *
 * A *unit* is a block at its place in a stage. Units stand in forward order, by chunk; so do
 * groups, each of neighbours of one chunk. Nothing here changes while the stage is written: who
 * moves a gradient or gathers weights keeps rows of its own by unit or by group. */
#ifndef ORRERY_MODELS_LOWER_PLAN_LOWER_UNITS_H
#define ORRERY_MODELS_LOWER_PLAN_LOWER_UNITS_H

#include "models/lower/plan/lower_plan.h"

struct lowered_unit {
    const struct block *block;
    enum block_index kind;
    uint32_t chunk;
    uint16_t layer;      /* UINT16_MAX: embedding or head; past the last: of a module ahead */
    bool keeps_input;    /* recomputed in full: not from the input of a layer before it */
    bool leaves;         /* its activations wait on the host */
    uint32_t again;      /* so many layers, itself the last, are recomputed before its backward */
    double experts;      /* parameters of experts, where other ranks hold the same of these */
    double held;         /* other parameters of which this rank keeps state, before sharding */
    double frozen_bytes; /* of parameters beside adapters, before sharding */
    uint32_t group;      /* FSDP unit */
};
struct group_of_units {
    uint32_t first, count; /* units */
    double held, experts;  /* parameters whose gradients are made; of experts that are apart */
    double gathered_bytes; /* of weights */
    double expert_bytes;   /* of them, of experts that are apart: gathered by themselves */
    double alive_bytes;    /* of them, at once */
};
struct units {
    struct lowered_unit *rows;
    uint32_t *chunk_first; /* [chunks + 1] first unit of each chunk */
    uint32_t count;
    struct group_of_units *groups;
    uint32_t *chunk_group; /* [chunks + 1] */
    uint32_t group_count;
};

void lower_units_build(struct units *units, const struct lowering *l, uint32_t stage);
/* What a unit keeps of one microbatch from its forward to its backward, bytes. */
double lower_units_kept_bytes(const struct lowered_unit *unit);
/* Is this unit the first (or last) of its group in the direction of the pass? */
bool lower_units_at_edge(const struct units *units, uint32_t unit, bool forward, bool first);
/* Elements of state in so many shards, each padded to a whole element: of a unit; of all units. */
double lower_units_part(const struct lowered_unit *unit, struct shard_counts shards);
/* ... of a moment of the unit. */
double lower_units_moment(const struct lowered_unit *unit, struct shard_counts shards,
                          enum moment_extent extent);
double lower_units_elements(const struct units *units, struct shard_counts shards);
/* Bytes of a trained weight, in the mean over those of all units, or over those of experts. */
double lower_units_sent_bytes(const struct units *units, bool experts);

#endif
