/* report_plan.h - a search of layouts told: the leaders, how sure they are, and what became of the
 * others. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_PLAN_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_PLAN_H

#include "analysis/exchange/launch/launch_kind.h"
#include "analysis/plan/search/search_batch.h"
#include "analysis/plan/search/search_front.h"
#include "analysis/plan/search/search_own.h"
#include "analysis/plan/search/search_why.h"
#include "analysis/record/evidence/measured_steps.h"
#include "analysis/tell/document/document.h"
#include "scenarios/assemble/scenario.h"

/* A larger cluster, where no layout of this one keeps the deadline. */
struct plan_larger {
    bool known, keeps;           /* keeps: the deadline; else `leader` is the soonest */
    uint64_t gpus, nodes;        /* 0: no larger one takes this batch and split */
    struct search_leader leader; /* its best with the split of the fastest here */
};
struct plan_told {
    const struct scenario *scenario;
    const struct search *search;
    const struct search_own *own;       /* the layout of the scenario itself */
    const struct search_verdict *why;   /* NULL: not asked */
    const char *why_text;               /* as it was asked */
    const struct search_front *front;   /* NULL: not asked */
    const struct measured_shift *shift; /* of the first leader, by steps that the user measured */
    const struct search_batch *batch;   /* another that divides better, where there is one */
    const struct plan_larger *larger;
    const struct search_more *more;   /* with more power */
    const char *line;                 /* the command that runs the first leader */
    const struct launch_kind *launch; /* of the first leader; NULL: no framework */
    const struct launch_text *launch_text;
    double seconds;
};
/* orrery.plan/1. */
struct fact *report_plan(struct arena *arena, const struct plan_told *told);
extern const char *const report_plan_lines[];
/* `best` and `terms` of a search. */
void report_terms_facts(struct fact *in, const struct search_question *question);
/* "tp=8 pp=4 ...": the keys of a layout as --set takes them, with the section. */
const char *report_plan_sets(struct arena *arena, const struct configuration *base,
                             const struct plan_layout *layout);

#endif
