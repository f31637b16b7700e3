/* power_curve.h - what a card draws in the course of a step, by the phases of step_power.h.
 *
 * Within a phase power is the mean of that phase. Over the step the curve of a rank class
 * integrates to the energy of its card, so that classes, weighted by their ranks, sum to
 * step_power.card_w x step_s, and at the wall (power_wall.h) to energy_j_per_step. */
#ifndef ORRERY_MODELS_STEP_SIMULATE_POWER_CURVE_H
#define ORRERY_MODELS_STEP_SIMULATE_POWER_CURVE_H

#include "models/step/simulate/step.h"

struct power_point {
    double at_s, card_w; /* from at_s to the next point, or the end of the step */
};
/* Points of a rank class of a step that was timed, where its power changes; the first is at 0.
 * `arena` keeps them. */
const struct power_point *power_curve(const struct configuration *c, const struct step *step,
                                      uint32_t rank_class, struct arena *arena, uint32_t *count);

#endif
