/* lower_held.h - bytes of the model's state: what a rank holds of a unit from step to step, and
 * what a stage has allocated at its fullest, at least. Pure functions of the plan. */
#ifndef ORRERY_MODELS_LOWER_PLAN_LOWER_HELD_H
#define ORRERY_MODELS_LOWER_PLAN_LOWER_HELD_H

#include "models/lower/plan/lower_units.h"

/* Of weights that stay, with their copies; the shards of what is frozen have no master copy. */
double lower_held_weight_bytes(const struct lowering *l, const struct lowered_unit *unit);
double lower_held_gradient_bytes(const struct lowering *l, const struct lowered_unit *unit);
/* On the card: of the master copy, and of the k-th moment. */
double lower_held_master_bytes(const struct lowering *l, const struct lowered_unit *unit);
double lower_held_moment_bytes(const struct lowering *l, const struct lowered_unit *unit,
                               unsigned k);
/* Bytes that a rank of this stage has allocated at its fullest, at least: its state, and what its
 * passes keep at once. The ledger adds temporaries, buffers and what the allocator splits off.
 * `from`: see lower_plan_like. */
double lower_held_least_bytes(struct arena *scratch, const struct configuration *c,
                              const struct lowering *from, uint32_t stage);

#endif
