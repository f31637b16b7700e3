/* lower_offload.h - a part of a stage that is lowered: what of its activations is on the host, or
 * on its way there or back. Nothing happens where none leave. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_OFFLOAD_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_OFFLOAD_H

#include "models/lower/stage/lower_ops.h"

/* A unit of a microbatch, on its way out: still on the card as well. */
struct leaving {
    uint32_t unit, op; /* op OP_NONE: nobody is */
    uint16_t microbatch;
};
struct offload {
    const struct lowering *l;
    const struct units *units;
    struct labels *labels;
    struct tensors *tensors;
    struct ops *ops;
    const struct pass *passes; /* of the stage, in order; borrowed */
    uint32_t pass_count;
    uint32_t *out, *back;         /* [unit x microbatch] its copy out while it is on the host; its
                                   * copy back until compute waits for it; OP_NONE */
    struct leaving older, newest; /* of the layer before the one under way, and of that one */
    bool paired;                  /* two passes take turns */
    double bytes, most_bytes;     /* on the host, now and at the fullest */
};
struct offload_parts { /* of the stage, borrowed */
    struct labels *labels;
    struct tensors *tensors;
    struct ops *ops;
};
void lower_offload_begin(struct offload *o, const struct lowering *l, const struct units *units,
                         const struct offload_parts *parts);
void lower_offload_passes(struct offload *o, const struct pass *passes, uint32_t count);
void lower_offload_paired(struct offload *o, bool paired); /* from here on */
/* Around each unit of a pass, which is one of those that were given. */
void lower_offload_unit_begin(struct offload *o, const struct pass *pass, uint32_t unit);
void lower_offload_unit_end(struct offload *o, const struct pass *pass, uint32_t unit);
void lower_offload_end(const struct offload *o); /* of the step */
/* Most of its activations that lie in the memory of the CPUs at once; of the steps written. */
double lower_offload_host_bytes(const struct offload *o);

#endif
