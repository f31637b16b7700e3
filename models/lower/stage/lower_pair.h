/* lower_pair.h - a forward and a backward of different microbatches that run together. One compute
 * stream serves both. Whoever has just sent rows to their experts gives way, so that the products
 * of the other run while they travel: the backward of a layer sends what it got of the layer
 * behind, the forward computes attention and sends, the backward its experts' products, and so on
 * (DeepSeek-V3, arXiv:2412.19437 section 3.2.1; NVIDIA/Megatron-LM
 * megatron/core/models/common/model_chunk_schedule_plan.py). Each has labels and waits of
 * its own. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_PAIR_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_PAIR_H

#include "models/lower/stage/lower_ops.h"
#include "models/lower/stage/lower_walk.h"

enum strand_index {
    STRAND_BACKWARD,
    STRAND_FORWARD,
    STRAND_COUNT
};
struct strand {
    struct pass_walk walk;
    struct labels labels;
    struct pending pending;
};
struct pair_parts { /* of the stage, borrowed */
    struct labels *labels;
    struct ops *ops;
    struct tensors *tensors;
};
struct pair {
    struct pair_parts parts;
    struct strand strands[STRAND_COUNT];
    enum strand_index now; /* whose labels and waits the stage has */
};
/* The stage has the backward's. */
void lower_pair_begin(struct pair *pair, const struct pair_parts *parts, const struct units *units,
                      const struct pass *forward, const struct pass *backward);
/* From here on the stage has this one's. */
void lower_pair_take(struct pair *pair, enum strand_index strand);
/* Does its strand give way behind this piece? */
bool lower_pair_gives_way(const struct lowered_piece *piece);
/* Both have ended: what comes next follows the later compute of the two. */
void lower_pair_end(struct pair *pair);

#endif
