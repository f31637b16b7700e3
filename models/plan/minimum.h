/* minimum.h - the fewest GPUs of a kind that hold a model in training. */
#ifndef ORRERY_MODELS_PLAN_MINIMUM_H
#define ORRERY_MODELS_PLAN_MINIMUM_H

#include "models/layout/configuration.h"

/* The smallest legal number of GPUs of this kind on which a step of the scenario's batch completes
 * (exact parameters, usable HBM): tries layouts from small to large; 0 when more than `limit`,
 * MINIMUM_UNKNOWN when there are too many layouts to try. tp, pp, cp and dp are tried whatever they
 * are here. Keys in `open` (a bit for each enum choice_key) are what holds least: any ep,
 * microbatches of one, the most recomputation, the rest as choice_settle has it; stated ones keep
 * their value. So the answer does not depend on what was chosen for the number of GPUs that the
 * scenario has. */
#define MINIMUM_UNKNOWN UINT64_MAX
uint64_t minimum_gpus(const struct configuration *c, unsigned open, uint64_t limit);
/* The same, and the configuration that holds it where there is one. */
uint64_t minimum_layout(const struct configuration *c, unsigned open, uint64_t limit,
                        struct configuration *out);

/* The stated keys of the layout, a bit for each, that minimum_gpus keeps and that opened could hold
 * less; 0: none. */
unsigned minimum_held(const struct configuration *c, unsigned open);

#endif
