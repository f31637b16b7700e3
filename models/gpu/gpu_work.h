/* gpu_work.h - what a mixture of kernels draws, and how fast it runs under a power cap.
 *
 * The cap holds the mean power of some tenth of a second: of many kernels, not of each one. Work
 * that pauses for memory between its products runs them at a higher clock than a product that never
 * pauses, so a cap costs nothing until it meets the draw of the work; below that the clock and the
 * voltage fall together, below the voltage floor energy stays and time is energy over power. Times
 * are those at tdp, where the card's rates were measured. Formulas, sources, measured curves:
 * docs/models/power.md. */
#ifndef ORRERY_MODELS_GPU_GPU_WORK_H
#define ORRERY_MODELS_GPU_GPU_WORK_H

#include "models/gpu/gpu_spec.h"

struct gpu_work {
    double time_s;    /* at tdp */
    double clocked_s; /* of it: goes with the clock; the rest waits for HBM */
    double flop_j;    /* beside static power: of arithmetic, at the clock that tdp sustains in a
                       * large product */
    double byte_j;    /* of HBM traffic */
};
/* Of one kernel that takes time_s at tdp. FLOPs x the energy that a large product spends on each
 * (docs/models/kernel.md), bytes x gpu_power_byte_j; together at most what tdp leaves in that time.
 * Clocked: 1 - (time in HBM / time)^3, how the kernel model joins the two. */
struct gpu_work gpu_work_of(const struct gpu_spec *gpu, const struct kernel *kernel, double time_s);
void gpu_work_add(struct gpu_work *sum, const struct gpu_work *part, double times);

/* Dynamic power that the work wants at tdp with the clock at its boost, W: flop_j x (voltage /
 * that at the clock of a large product)^2 + byte_j, over time_s. 0 for no work. */
double gpu_work_wanted_w(const struct gpu_spec *gpu, const struct gpu_work *work);
/* Mean power of a card at this work, W: static power and what is wanted, at most the cap. */
double gpu_work_draw_w(const struct gpu_spec *gpu, const struct gpu_work *work);

/* What the cap of the card does to this work: the clock over that at tdp, the time over that at
 * tdp. Both 1 at tdp; above it the clock rises to its boost. */
struct gpu_pace {
    double clock_ratio, time_ratio;
};
struct gpu_pace gpu_work_pace(const struct gpu_spec *gpu, const struct gpu_work *work);
/* The card as this work finds it: rated at tdp, all that goes with the clock at that pace, HBM no
 * faster than the cap can feed. */
struct gpu_spec gpu_work_card(const struct gpu_spec *gpu, const struct gpu_work *work);

#endif
