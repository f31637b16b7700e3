/* lower_passes.h - synthetic programs from given pass times: what the laws of schedules and the
 * profiled pipeline measurements use, through the same code as lower(). */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_PASSES_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_PASSES_H

#include "models/program/lowered.h"
#include "models/schedule/schedule_kind.h"

/* Times of the passes of each part of the model, in seconds. */
struct pass_times {
    const double *forward_s, *backward_s; /* of one microbatch; [part] */
    double send_bytes;                    /* of a message between stages; 0: free and instant */
    bool blocking; /* a stage waits until its send has finished; never where backwards are split */
    /* Of schedules that split the backward, else NULL: its two passes; and what an order by times
     * goes by beside them (struct pass_costs). */
    const double *input_s, *weights_s;
    const double *kept_bytes, *late_bytes;
    double transfer_s;
};
/* One program and one rank for each stage; a layout of pp = stages, vpp = chunks fits it. */
void lower_passes(struct arena *arena, const struct schedule_kind *kind,
                  const struct schedule_shape *shape, const struct pass_times *times,
                  struct lowered *out);

#endif
