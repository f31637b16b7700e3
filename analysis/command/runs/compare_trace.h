/* compare_trace.h - `orrery compare SCENARIO --trace FILE`: a step of a PyTorch trace span by span
 * beside the simulated one. */
#ifndef ORRERY_ANALYSIS_COMMAND_RUNS_COMPARE_TRACE_H
#define ORRERY_ANALYSIS_COMMAND_RUNS_COMPARE_TRACE_H

#include "analysis/command/line/load.h"

struct compare_arguments {
    struct arguments line;
    struct scenario_arguments scenario;
    const char *trace; /* NULL: two runs or scenarios are compared */
    uint64_t rank, step;
    bool has_rank, has_step, other_card, csv, json;
};
/* An exit code; the reason was told. */
int compare_trace(const struct compare_arguments *a, struct session *session, struct arena *arena);

#endif
