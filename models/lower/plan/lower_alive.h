/* lower_alive.h - how much of a layer is gathered at once by software that fetches and drops its
 * modules one by one. */
#ifndef ORRERY_MODELS_LOWER_PLAN_LOWER_ALIVE_H
#define ORRERY_MODELS_LOWER_PLAN_LOWER_ALIVE_H

#include <stdbool.h>

#include "models/workload/transformer.h"

/* Most parameters of `layer` and its neighbour that are there at once, in elements, of at most
 * `live` that the software wants alive; `again`: the layer is recomputed in full. All of a layer
 * that has no more than `live`, or with `live` 0: no bound.
 *
 * DeepSpeed (deepspeed/runtime/zero/partitioned_param_coordinator.py; before 0.6 stage3.py): a
 * module's own parameters are fetched before its pass (fetch_sub_module); while fewer than
 * stage3_max_live_parameters are there the next module's are fetched too; after its pass they are
 * dropped (release_sub_module) unless a module that comes within stage3_max_reuse_distance
 * parameters uses them again. Both bounds are 1e9 by default, and one figure here. */
double lower_alive(const struct layer *layer, bool again, double live);

#endif
