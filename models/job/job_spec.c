/* job_spec.c - how scenarios spell the choices of a job. */
#include "models/job/job_spec.h"

#include <stddef.h>

const char *const strike_names[] = {"always", "running", "working", NULL};

struct fleet_spec job_fleet(const struct job_spec *spec)
{
    return (struct fleet_spec){
        .causes = spec->causes,
        .cause_count = spec->cause_count,
        .nodes = spec->nodes,
        .spares = (uint32_t)spec->recovery.spares,
        .gpus_per_node = spec->gpus_per_node,
        .nics_per_node = spec->nics_per_node,
        .duration_s = spec->duration_s,
    };
}
