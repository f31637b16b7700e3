/* pass_bound.h - no step at pass detail takes less: found in a hundredth of the time of one.
 *
 * Passes as long as each is alone (pass_blocks.h), in the order of the schedule, with messages that
 * take nothing, and no traffic of weights. Two that are paired take as long as their kernels, and
 * each by itself no less than alone. */
#ifndef ORRERY_MODELS_STEP_ESTIMATE_PASS_BOUND_H
#define ORRERY_MODELS_STEP_ESTIMATE_PASS_BOUND_H

#include "models/step/estimate/pass.h"

/* Seconds; at most pass_apart_s of the same, and so at most pass_step, unless it is `loose`.
 * Arguments as there. */
double pass_order_least_s(struct pass_memory *memory, struct pass_split *split,
                          const struct configuration *c, bool *loose);

#endif
