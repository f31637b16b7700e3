/* lower_units.h - a part of a stage that is lowered: its units, and the groups they are gathered
 * and scattered in.
 *
 * A *unit* is a block at its place in a stage. Units stand in forward order, by chunk; so do
 * groups, each of neighbours of one chunk. What becomes of a unit's gradient or a group's weights
 * is written into its row by those who move them. */
#ifndef ORRERY_MODELS_PROGRAM_LOWER_UNITS_H
#define ORRERY_MODELS_PROGRAM_LOWER_UNITS_H

#include "models/program/lower_plan.h"

struct lowered_unit {
    struct block *block;
    enum block_index kind;
    uint32_t chunk;
    uint16_t layer;       /* UINT16_MAX: embedding or head; past the last: of a module ahead */
    bool keeps_input;     /* recomputed in full: not from the input of a layer before it */
    bool leaves;          /* its activations wait on the host */
    uint32_t again;       /* so many layers, itself the last, are recomputed before its backward */
    double experts;       /* parameters of experts, where other ranks hold the same of these */
    double held;          /* other parameters of which this rank keeps state, before sharding */
    double frozen_bytes;  /* of parameters beside adapters, before sharding */
    uint32_t group;       /* FSDP unit */
    uint32_t gradient;    /* tensor of its gradient in the step, or TENSOR_NONE */
    uint32_t last_gather; /* overlapped parameter gather: op that the first forward waits for */
    uint32_t last_expert_gather;
};
struct group_of_units {
    uint32_t first, count; /* units */
    double held, experts;  /* parameters whose gradients are made; of experts that are apart */
    double gathered_bytes; /* of weights */
    double expert_bytes;   /* of them, of experts that are apart: gathered by themselves */
    double alive_bytes;    /* of them, at once */
    uint32_t tensor;       /* gathered weights, TENSOR_NONE: not here */
    uint32_t arriving;     /* buffer of its gather, TENSOR_NONE: none */
    uint32_t gather;       /* the op that gathers them now, OP_NONE */
    uint32_t expert_gather;
    uint32_t scratch; /* unsharded gradients, TENSOR_NONE: not here */
};
struct units {
    struct lowered_unit *rows;
    uint32_t *chunk_first; /* [chunks + 1] first unit of each chunk */
    uint32_t count;
    struct group_of_units *groups;
    uint32_t *chunk_group; /* [chunks + 1] */
    uint32_t group_count;
};

void lower_units_build(struct units *units, struct lowering *l, uint32_t stage);
/* Is this unit the first (or last) of its group in the direction of the pass? */
bool lower_units_at_edge(const struct units *units, uint32_t unit, bool forward, bool first);
/* Elements of state in so many shards, each padded to a whole element: of a unit; of all units. */
double lower_units_part(const struct lowered_unit *unit, struct shard_counts shards);
/* ... of a moment of the unit. */
double lower_units_moment(const struct lowered_unit *unit, struct shard_counts shards,
                          enum moment_extent extent);
double lower_units_elements(const struct units *units, struct shard_counts shards);
/* Bytes of a trained weight, in the mean over those of all units, or over those of experts. */
double lower_units_weight_bytes(const struct units *units, bool experts);

#endif
