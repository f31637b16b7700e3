/* json_plan.h - the document orrery.plan/1. */
#ifndef ORRERY_ANALYSIS_TELL_JSON_JSON_PLAN_H
#define ORRERY_ANALYSIS_TELL_JSON_JSON_PLAN_H

#include <stdio.h>

#include "analysis/exchange/launch/launch_kind.h"
#include "analysis/plan/search/search_batch.h"
#include "analysis/plan/search/search_machine.h"
#include "analysis/plan/search/search_own.h"
#include "analysis/plan/search/search_why.h"
#include "analysis/record/evidence/measured_steps.h"
#include "scenarios/assemble/scenario.h"

struct plan_document {
    const struct scenario *scenario;
    const struct search *search;
    const struct search_own *own;       /* the layout of the scenario itself */
    const struct search_verdict *why;   /* NULL: not asked */
    const struct search_front *front;   /* NULL: not asked */
    const struct measured_shift *shift; /* of the first, by steps that the user measured */
    const struct search_batch *batch;   /* another that divides better, where there is one */
    const struct launch_kind *launch;   /* of the first leader; NULL: no framework */
    const struct launch_text *launch_text;
    double seconds;
};
void json_plan(const struct plan_document *plan, FILE *out);

/* The document orrery.plan-machines/1. */
void json_plan_machines(const struct search_machines *machines, FILE *out);

#endif
