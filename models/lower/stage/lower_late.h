/* lower_late.h - a part of a stage that is lowered: memory that comes back later than its last use.
 *
 * A buffer that a collective reads on its own stream is freed by the host at once, but the
 * allocator gives it out again only when the GPU has passed the collective (record_stream, called
 * by pytorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp for what it is given). A host that
 * is slower than its GPU finds it there; one that is faster runs ahead until CUDA's launch queue is
 * full. The gradients of a pass may stay until the framework adds them to the kept ones after it.
 * The flat copy that a reduction reads stays until the next one. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_LATE_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_LATE_H

#include "models/lower/stage/lower_tensors.h"

struct late_tensor {
    uint32_t tensor;
    double bytes;
    double launched; /* kernels that the stage had launched */
};
struct late_list { /* first in, first out; numbers are used again */
    struct late_tensor *rows;
    uint32_t *spare;
    uint32_t first, count, room, spare_count, spare_room;
};
struct late {
    const struct lowering *l;
    struct tensors *tensors;
    struct late_list recorded;       /* buffers of collectives that the GPU has not passed */
    struct late_list pass_gradients; /* of the pass under way */
    double launched;                 /* kernels and collectives so far */
    uint32_t reducing;               /* buffer of the reduction on the wire, 0: none */
    double reducing_bytes;
};

void lower_late_begin(struct late *late, const struct lowering *l, struct tensors *tensors);
void lower_late_launched(struct late *late, double launches);
/* The whole output of a product whose sum is scattered. */
void lower_late_buffer(struct late *late, const struct lowered_unit *unit, bool forward,
                       const struct segment_transfer *scatter);
void lower_late_gradient(struct late *late, const struct lowered_unit *unit);
void lower_late_pass_end(struct late *late);
void lower_late_host_waits(struct late *late); /* the GPU has passed all that was launched */
/* A reduction of a flat copy of so many bytes: the one before is over. */
void lower_late_reduction(struct late *late, double bytes);
void lower_late_reduction_end(struct late *late); /* waited for, if there is one */

#endif
