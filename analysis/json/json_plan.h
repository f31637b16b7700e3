/* json_plan.h - the document orrery.plan/1. */
#ifndef ORRERY_ANALYSIS_JSON_JSON_PLAN_H
#define ORRERY_ANALYSIS_JSON_JSON_PLAN_H

#include <stdio.h>

#include "analysis/export/launch_kind.h"
#include "analysis/search/search_why.h"
#include "scenarios/build/scenario.h"

struct plan_document {
    const struct scenario *scenario;
    const struct search *search;
    const struct search_verdict *why; /* NULL: not asked */
    const struct launch_kind *launch; /* of the first leader; NULL: no framework */
    const struct launch_text *launch_text;
    double seconds;
};
void json_plan(const struct plan_document *plan, FILE *out);

struct plan_machine {        /* one of several, and its best layout */
    const char *label, *gpu; /* the values that were varied; kind of GPU */
    bool found, best;        /* best: no other is both as fast and cheaper a token */
    bool stopped;
    uint64_t gpus, searched;
    struct search_row row;
    struct search_leader leader; /* its own `row` is gone with the search */
    double days, budget_usd;     /* of training.tokens; NAN: not said */
};
/* The document orrery.plan-machines/1. */
void json_plan_machines(const struct plan_machine *machines, size_t count, FILE *out);

#endif
