/* minimum.h - the fewest GPUs of a kind that hold a model in training. */
#ifndef ORRERY_MODELS_PLAN_MINIMUM_H
#define ORRERY_MODELS_PLAN_MINIMUM_H

#include "models/layout/configuration.h"

/* The smallest legal number of GPUs of this kind on which the state fits (exact parameters, usable
 * HBM): tries layouts from small to large; 0 when more than `limit`, MINIMUM_UNKNOWN when
 * there are too many layouts to try. */
#define MINIMUM_UNKNOWN UINT64_MAX
uint64_t minimum_gpus(const struct configuration *c, uint64_t limit);

#endif
