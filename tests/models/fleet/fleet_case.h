/* fleet_case.h - small clusters that fail, for tests of the fleet. */
#ifndef ORRERY_TESTS_FLEET_CASE_H
#define ORRERY_TESTS_FLEET_CASE_H

#include "models/fleet/fleet.h"
#include "models/job/parts/job_spec.h"

enum {
    CASE_CAUSES = 8
};
struct fleet_case {
    struct job_spec spec;
    struct failure_cause causes[CASE_CAUSES];
};
/* `nodes` of 8 GPUs and 8 NICs, and spares; no causes yet. The spec points into `out`. */
void fleet_case_create(uint32_t nodes, uint32_t spares, struct fleet_case *out);
/* Adds a cause that stops the job; `option` is the kind's first, if it has any. */
struct failure_cause *fleet_case_add(struct fleet_case *fleet_case, const char *name,
                                     const char *kind, double option, int unit, double mtbf_s);
/* Failures taken one after the other, all nodes in place, until `limit_s`; the first `room` are
 * kept. */
uint32_t fleet_case_play(struct fleet *fleet, double limit_s, struct fleet_event *events,
                         uint32_t room);

#endif
