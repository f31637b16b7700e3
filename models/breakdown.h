/* breakdown.h - where the time of a step went, for each rank class: spans that tile the step.
 *
 * Busy compute counts by its phase. A gap on the compute stream is traced back through what the
 * next op waited for: while a transfer was moving it is exposed_*; while it waited for a peer that
 * had not arrived it is `bubble` (a pipeline neighbour, or a group that spans stages) or
 * `straggler` (peers that do the same work); while the host had not launched yet it is `host`. The
 * sums of each rank equal the step time exactly; the report gives the mean rank. */
#ifndef ORRERY_MODELS_BREAKDOWN_H
#define ORRERY_MODELS_BREAKDOWN_H

enum breakdown_part {
    PART_COMPUTE,
    PART_RECOMPUTE,
    PART_EXPOSED_TP,
    PART_EXPOSED_CP,
    PART_EXPOSED_EP,
    PART_BUBBLE,
    PART_EXPOSED_PP,
    PART_EXPOSED_DP,
    PART_OPTIMIZER,
    PART_HOST,
    PART_STRAGGLER,
    PART_COUNT
};
extern const char *const breakdown_names[PART_COUNT];

#endif
