/* plan_figures.h - how sure the leaders of a plan are, the catalogue's figures included.
 *
 * The search gives each leader the interval of the model's own error. Here the figures are drawn as
 * `run --uncertainty` draws them, with its streams, at pass detail: of the first leader, and the
 * other layouts of the same machine take what the figures do to it, each with its own error. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_FIGURES_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_FIGURES_H

#include "analysis/plan/search/search.h"
#include "scenarios/assemble/scenario.h"

/* Sets p10_s and p90_s of all that the search found, and of `own` (NULL: none). The scenario is
 * that of the search; it may leave the layout open. Nothing was found: does nothing. */
void plan_figures_apply(const struct scenario *scenario, struct search *search,
                        struct search_leader *own);

#endif
