/* plan_larger.h - how many GPUs would keep a deadline that every layout of this cluster misses.
 *
 * The split of the nearest layout (tp, pp, cp, ep) is kept and gets more replicas: each number that
 * divides the batch and fills whole nodes, from one more upwards, is searched on a cluster of that
 * size. The first that keeps the deadline is named. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_LARGER_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_LARGER_H

#include "analysis/command/plan/plan_arguments.h"
#include "analysis/plan/search/search_found.h"
#include "analysis/tell/report/report_plan.h"

/* Of a `search` made for `line` and `scenario`. What is found lives in `arena`. Not `known` where
 * the deadline is kept, or failures leave so little that more GPUs, which fail more, are no remedy.
 */
void plan_larger_find(struct arena *arena, const struct plan_arguments *line,
                      const struct scenario *scenario, const struct search *search,
                      struct plan_larger *out);

#endif
