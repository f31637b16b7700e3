/* plan_own.h - the layout that a plan's scenario has itself, beside those that the search found. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_OWN_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_OWN_H

#include "analysis/plan/search/search_own.h"
#include "scenarios/assemble/scenario.h"

/* Ranks it where the scenario says how the model is split (tp or pp): what else it leaves open is
 * chosen as `orrery run` chooses it, and out->completed tells so. Not `stated` otherwise. */
void plan_own_rank(const struct scenario *scenario, struct search *search, struct search_own *out);

#endif
