/* plan_arguments.h - what a line of `orrery plan` says. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_ARGUMENTS_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_ARGUMENTS_H

#include "analysis/command/line/stated_scenario.h"
#include "analysis/command/shared/emit.h"
#include "analysis/plan/search/search.h"

/* How the result is told, and where it goes. */
struct plan_output {
    struct database_arguments database;
    const char *why; /* keys of a layout; NULL: not asked */
    int launch;      /* of launch_kinds */
    bool has_launch, pareto, json;
};
/* What it is for, and must keep to; 0: not said. */
struct plan_terms {
    enum search_best best;
    bool has_best;
    double deadline_s, budget_usd, power_w;
    uint64_t gpus_max;
};
struct plan_arguments {
    struct arguments line;
    struct stated_arguments stated;
    struct scenario_arguments scenario;
    struct plan_terms terms;
    struct plan_output output;
    struct share_arguments share;
    struct option_list varies, measured;
    const char *hold, *mtbf; /* NULL: not said */
    double headroom_ratio;
    uint64_t top, seeds;
    bool has_seeds;
    const char *text; /* what the scenario's file holds, once it has been read; NULL */
    size_t text_bytes;
};

#endif
