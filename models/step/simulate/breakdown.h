/* breakdown.h - where the time of a step went, for each rank class: spans that tile the step.
 *
 * Busy compute counts by its phase, and nothing else does: `optimizer` is the time of the kernels
 * after the last pass. A gap on the compute stream is traced back through what the next op waited
 * for: while a transfer was moving it is exposed_* (the copy of a bucket and the norm of the
 * gradients are data parallelism's); while the host had not launched yet it is `host`. A wait for a
 * peer that does the same work goes to what made it late: its card (`straggler`: the same ops took
 * longer there) or its network (the exposed_* of the transfer that took longer). A wait for another
 * stage is `bubble` while that stage computes or updates, exposed_pp while a message between stages
 * is on the wire, exposed_dp where its reduction takes longer than this rank's own
 * (docs/models/players.md). The sums of each rank equal the step time exactly; the report gives the
 * mean rank. */
#ifndef ORRERY_MODELS_STEP_SIMULATE_BREAKDOWN_H
#define ORRERY_MODELS_STEP_SIMULATE_BREAKDOWN_H

enum breakdown_part {
    PART_COMPUTE,
    PART_RECOMPUTE,
    PART_EXPOSED_TP,
    PART_EXPOSED_CP,
    PART_EXPOSED_EP,
    PART_BUBBLE,
    PART_EXPOSED_PP,
    PART_EXPOSED_DP,
    PART_OFFLOAD,
    PART_OPTIMIZER,
    PART_HOST,
    PART_STRAGGLER,
    PART_COUNT
};
extern const char *const breakdown_names[PART_COUNT];

#endif
