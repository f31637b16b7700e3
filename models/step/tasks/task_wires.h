/* task_wires.h - what each meeting of a task graph puts on the links of a cluster.
 *
 * Collectives are tuned as those of a step are (collective_kind.h, collective_measured.h), for the
 * group as it lies on the cluster, and load the links on the routes between its GPUs. Meetings of
 * one group, operation and size share a plan. Rank r stands on the GPU that the placement of the
 * layout gives it; nobody folds ranks here. */
#ifndef ORRERY_MODELS_STEP_TASKS_TASK_WIRES_H
#define ORRERY_MODELS_STEP_TASKS_TASK_WIRES_H

#include "models/layout/configuration.h"
#include "models/step/tasks/task.h"
#include "sim/share.h"

struct task_plan {
    struct collective_plan tuned; /* kind NULL: nothing is sent */
    double bytes, latency_s, cap_bytes_per_s;
    double wire_weight;            /* bytes on the busiest wire for each payload byte */
    uint32_t use_first, use_count; /* rows of uses: loads relative to that wire */
};
struct task_wires {
    struct task_plan *plans;
    struct share_use *uses;
    double *bytes_per_s; /* [link row]: capacity */
    uint32_t *plan_of;   /* [meeting] */
    uint32_t plan_count, use_count, link_count;
};
/* The ranks must be no more than the GPUs of the topology, which is that of `c` (a CHECK). */
void task_wires_build(struct arena *arena, const struct task_graph *graph,
                      const struct configuration *c, const struct topology *topology,
                      struct task_wires *out);

#endif
