/* lower_pace.h - the work of layers, from which the clock follows that a power cap leaves. */
#ifndef ORRERY_MODELS_LOWER_PLAN_LOWER_PACE_H
#define ORRERY_MODELS_LOWER_PLAN_LOWER_PACE_H

#include "models/gpu/gpu_work.h"
#include "models/layout/configuration.h"

/* Adds so many forward and backward passes of a layer on c->gpu at its tdp. What recomputation
 * repeats is left out: a forward more of much the same mixture. */
void lower_pace_add(const struct configuration *c, const struct layer *layer, double times,
                    struct gpu_work *sum);

#endif
