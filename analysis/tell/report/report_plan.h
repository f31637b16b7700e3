/* report_plan.h - a search of layouts told: the leaders, how sure they are, and what became of the
 * others. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_PLAN_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_PLAN_H

#include "analysis/output/terminal/session.h"
#include "analysis/plan/search/search_batch.h"
#include "analysis/plan/search/search_front.h"
#include "analysis/plan/search/search_own.h"
#include "analysis/plan/search/search_why.h"
#include "analysis/record/evidence/measured_steps.h"
#include "scenarios/assemble/scenario.h"

struct plan_told {
    const struct scenario *scenario;
    const struct search *search;
    const struct search_own *own;       /* the layout of the scenario itself */
    const struct search_verdict *why;   /* NULL: not asked */
    const char *why_text;               /* as it was asked */
    const struct search_front *front;   /* NULL: not asked */
    const struct measured_shift *shift; /* of the first leader, by steps that the user measured */
    const struct search_batch *batch;   /* another that divides better, where there is one */
    const char *line;                   /* the command that runs the first leader */
    double seconds;
};
void report_plan(const struct session *session, const struct plan_told *told);
/* "tp=8 pp=4 ...": the keys of a layout as --set takes them, with the section. */
const char *report_plan_sets(struct arena *arena, const struct configuration *base,
                             const struct plan_layout *layout);

#endif
