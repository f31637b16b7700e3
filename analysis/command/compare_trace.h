/* compare_trace.h - `orrery compare SCENARIO --trace FILE`: a step of a PyTorch trace span by span
 * beside the simulated one. */
#ifndef ORRERY_ANALYSIS_COMMAND_COMPARE_TRACE_H
#define ORRERY_ANALYSIS_COMMAND_COMPARE_TRACE_H

#include "analysis/line/arguments.h"
#include "analysis/terminal/session.h"

/* An exit code; the reason was told. */
int compare_trace(const struct arguments *arguments, struct session *session, struct arena *arena);

#endif
