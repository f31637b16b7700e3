/* plan_measured.h - `orrery plan --measured [SCENARIO:]step=TIME`: steps that the user has measured
 * shift and narrow the forecasts of the layouts that lead. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_MEASURED_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_MEASURED_H

#include "analysis/command/plan/plan_arguments.h"
#include "analysis/output/terminal/session.h"
#include "analysis/plan/search/search_found.h"
#include "analysis/record/evidence/measured_steps.h"

/* Lets them speak of every leader, by the model's own error alone, as a search draws no figures.
 * `scenario` is the plan's own; `own` the layout that it states, NULL without one. A step that was
 * measured of the scenario itself (no SCENARIO) is the forecast of that layout wherever it leads.
 * `first` is what became of the first leader; no steps without any. EXIT_OK, or the exit code after
 * the reason was told. */
int plan_measured_apply(const struct plan_arguments *arguments, struct session *session,
                        const struct scenario *scenario, struct search_leader *own,
                        struct search *search, struct measured_shift *first);

#endif
