/* report_trace.h - a measured step span by span beside the simulated one: as text, and each pair as
 * a line of CSV. Pure output; names come from files and may hold anything. */
#ifndef ORRERY_ANALYSIS_REPORT_REPORT_TRACE_H
#define ORRERY_ANALYSIS_REPORT_REPORT_TRACE_H

#include "analysis/explain/trace_comparison.h"
#include "analysis/terminal/session.h"

void report_trace(const struct session *session, const struct compared_trace *told,
                  const struct trace_comparison *comparison);
void report_trace_csv(const struct trace_comparison *comparison, FILE *out);

#endif
