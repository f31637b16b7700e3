/* lower_memory.h - a part of a stage that is lowered: what its ops allocate and free, and when.
 *
 * Whoever writes an op says what has happened (a piece of a unit, a gather, a reduction, the
 * update); which tensors that concerns, and which of them are there, is known here alone. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_MEMORY_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_MEMORY_H

#include "models/lower/stage/lower_late.h"

struct group_memory {
    uint32_t gathered;  /* weights, TENSOR_NONE: not here */
    uint32_t arriving;  /* buffer of their gather, TENSOR_NONE: none */
    uint32_t unsharded; /* gradients, TENSOR_NONE: not here */
};
struct step_memory {
    const struct lowering *l;
    const struct units *units;
    struct labels *labels;
    struct tensors *tensors;
    struct late *late;
    uint32_t *gradients;         /* [unit] its gradient in the step, TENSOR_NONE: not here */
    struct group_memory *groups; /* [group] */
};
struct memory_parts { /* of the stage, borrowed */
    struct labels *labels;
    struct tensors *tensors;
    struct late *late;
};
void lower_memory_begin(struct step_memory *m, const struct lowering *l, const struct units *units,
                        const struct memory_parts *parts);
/* Compute of a unit has been written. */
void lower_memory_piece(struct step_memory *m, const struct lowered_piece *piece,
                        const struct lowered_unit *unit);
void lower_memory_unit_gradient(struct step_memory *m, uint32_t unit);
/* Of a group: its weights are gathered at once, or into a buffer, from which they are copied; they
 * are dropped. */
bool lower_memory_is_gathered(const struct step_memory *m, uint32_t group);
bool lower_memory_is_arriving(const struct step_memory *m, uint32_t group);
void lower_memory_gather(struct step_memory *m, uint32_t group);
void lower_memory_arriving(struct step_memory *m, uint32_t group);
void lower_memory_arrived(struct step_memory *m, uint32_t group);
void lower_memory_drop(struct step_memory *m, uint32_t group);
/* Its gradients are made, and have left; the flat copy stays until the next call when `overlaps`.
 */
void lower_memory_unsharded(struct step_memory *m, uint32_t group);
void lower_memory_scattered(struct step_memory *m, uint32_t group, bool overlaps);
void lower_memory_update(struct step_memory *m); /* the update has been written */

#endif
