/* lower_update.h - the optimizer at the end of a step: the norm, the orthogonal steps of weights
 * that are matrices, what the host updates (gradients go there, weights come back), and the update
 * on the card. Has no state. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_UPDATE_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_UPDATE_H

#include "models/lower/stage/lower_ops.h"

struct update { /* of the stage, borrowed */
    const struct lowering *l;
    const struct units *units;
    struct labels *labels;
    struct ops *ops;
};
void lower_update(const struct update *u);
/* In the memory of the CPUs: state, and room for the gradients and weights that go there and back.
 */
double lower_update_host_bytes(const struct update *u);

#endif
