/* lower_setup.h - what a stage has allocated before its first step, in the order of the software:
 * context, weights as the model is built layer by layer, the gradient buffer, communicators, then
 * the optimizer. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_SETUP_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_SETUP_H

#include "models/lower/stage/lower_tensors.h"

struct setup { /* borrowed */
    const struct lowering *l;
    const struct units *units;
    struct tensors *tensors;
    uint32_t streams; /* bit set of those that the step uses: their communicators are built */
};
void lower_setup(const struct setup *setup);

#endif
