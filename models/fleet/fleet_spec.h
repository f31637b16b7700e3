/* fleet_spec.h - what can fail, and of how many nodes: the part of a job that its fleet knows. */
#ifndef ORRERY_MODELS_FLEET_FLEET_SPEC_H
#define ORRERY_MODELS_FLEET_FLEET_SPEC_H

#include "models/failure/failure_cause.h"

struct fleet_spec {
    const struct failure_cause *causes; /* borrowed */
    uint32_t cause_count;
    uint32_t nodes, spares; /* in the job at first, and beside it */
    uint32_t gpus_per_node, nics_per_node;
    double duration_s; /* over which a trace is counted; 0: up to its last incident */
};

#endif
