/* lower_plan.h - what all stages of a lowering have in common, worked out of the configuration
 * once: the blocks, the shape of the pipeline, and plain numbers. Nothing here changes while stages
 * are written, but for the rows of pieces in the program under way (lower_block_rows). */
#ifndef ORRERY_MODELS_LOWER_PLAN_LOWER_PLAN_H
#define ORRERY_MODELS_LOWER_PLAN_LOWER_PLAN_H

#include "models/lower/plan/lower_block.h"
#include "models/lower/plan/lower_data_plan.h"
#include "models/schedule/schedule_kind.h"

/* Kinds of layers: bits on top of BLOCK_LAYER, which has experts where the model has any, and no
 * window where some layers have none. */
enum layer_variant {
    VARIANT_AGAIN = 1,  /* recomputed where its neighbours are not */
    VARIANT_WINDOW = 2, /* attends within a window, or to keys that a layer before it chose */
    VARIANT_DENSE = 4,  /* no experts, though others of the model have */
    VARIANT_WIDE = 8,   /* linear layers in the wide format, though others' are narrow */
    VARIANT_COUNT = 16
};
/* A model whose layers are not all attention with a block has as many of each other form (enum
 * layer_form) behind the others: BLOCK_FORMS + (form - 1) x VARIANT_COUNT + its bits. */
enum block_index {
    BLOCK_EMBEDDING,
    BLOCK_LAYER,
    BLOCK_LAYER_AGAIN = BLOCK_LAYER + VARIANT_AGAIN,
    BLOCK_HEAD = BLOCK_LAYER + VARIANT_COUNT,
    BLOCK_PREDICTION, /* of a module that predicts further ahead: what is before its layer */
    BLOCK_PREDICTION_HEAD,
    BLOCK_FORMS,
    BLOCK_COUNT = BLOCK_FORMS + (LAYER_FORM_COUNT - 1) * VARIANT_COUNT
};

struct message_plan { /* between stages */
    double bytes;
    double gather_bytes; /* a received message is gathered from the tp ranks; 0: whole */
};
enum lowered_detail {
    LOWERED_WITH_LEDGER,
    LOWERED_TIMED,  /* without */
    LOWERED_AS_RUNS /* ... and blocks are runs (lower_runs.h) */
};
struct lowering {
    struct arena *arena;
    const struct configuration *c;
    enum lowered_detail detail;
    bool weaves; /* paired passes take turns (lower_pair.c): there are exchanges to hide */
    struct layer_context context;
    struct layer **layers; /* [lower_plan_block_count], NULL: the model has none of that kind */
    struct block *blocks;  /* [lower_plan_block_count] */
    struct schedule_shape shape;
    uint32_t chunks, parts;        /* that a rank holds; of the model */
    uint32_t microbatches;         /* of a chunk */
    uint32_t *split, *layer_start; /* by part */
    struct block_costs costs;
    struct message_plan message;
    struct host_plan host;
    struct offload_plan offload;
    struct data_plan data;
    uint32_t prefetch;       /* units that are gathered ahead of their turn */
    double vocabulary_shard; /* parameters of this rank's rows of the vocabulary */
};

/* Blocks of other forms stand behind the others where the model has a pattern. */
static inline unsigned lower_plan_block_count(const struct lowering *l)
{
    return l->c->model.pattern.count > 0 ? BLOCK_COUNT : BLOCK_FORMS;
}
struct lowering *lower_plan_lowering(struct arena *arena, const struct configuration *c);
/* The same with the blocks of `from`: see lower_runs. */
struct lowering *lower_plan_like(struct arena *arena, const struct configuration *c,
                                 const struct lowering *from);
/* The same in a fraction of the room, for lower_runs alone: without layers, and kernels one by one.
 */
struct lowering *lower_plan_slim(struct arena *arena, const struct lowering *from);
/* What the passes of each part take without their neighbours, for schedules that go by times. In
 * `arena`. */
struct pass_costs lower_plan_costs(struct arena *arena, const struct lowering *l);
/* The order of a stage. In l->arena; *count: of its passes. */
struct pass *lower_plan_passes(const struct lowering *l, uint32_t stage, uint32_t *count);
/* The block that layer i of a chunk is, of all the layer-th. */
enum block_index lower_plan_block(const struct configuration *c, uint32_t i, uint32_t layer);
/* The block of the layer of a module that predicts further ahead (NVIDIA/Megatron-LM
 * megatron/core/transformer/multi_token_prediction.py: as the last one; in eight bits wherever
 * others are, never in four; no block-wise recomputation). */
enum block_index lower_plan_predicting(const struct configuration *c);
/* Blocks of this kind in a part of the model. */
uint32_t lower_plan_times(const struct lowering *l, uint32_t part, enum block_index index);
/* Bytes of what a rank computes with of a block, and of what of it is there at once. */
double lower_plan_block_bytes(const struct lowering *l, const struct block *block, bool alive);

#endif
