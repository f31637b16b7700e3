/* plan_fitting.h - in how many draws of the figures of memory each layout that a plan tells fits,
 * and the order of leaders that follows (search_prefer.h). The draws are those of
 * `run --uncertainty`. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_FITTING_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_FITTING_H

#include "analysis/plan/search/search.h"
#include "analysis/plan/search/search_own.h"
#include "scenarios/assemble/scenario.h"

/* Of the leaders, of what stands beside them and of `own` (NULL: none), and puts the leaders in
 * order; `own` keeps the rank of its layout. The scenario is that of the search; it may leave the
 * layout open. */
void plan_fitting_apply(const struct scenario *scenario, struct search *search,
                        struct search_own *own);
void plan_fitting_front(const struct scenario *scenario, const struct search *search,
                        struct search_front *front);

#endif
