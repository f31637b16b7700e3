/* report_trace.h - a measured step span by span beside the simulated one: as text, and each pair as
 * a line of CSV. Pure output; names come from files and may hold anything. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_TRACE_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_TRACE_H

#include "analysis/explain/trace_comparison.h"
#include "analysis/output/terminal/session.h"

void report_trace(const struct session *session, const struct compared_trace *told,
                  const struct trace_comparison *comparison);
/* A line with the largest kernels whose kind is not known, from UNKNOWN_MOST_RATIO on. */
void report_unknown(FILE *out, const struct span_unknown *unknown);
void report_trace_csv(const struct trace_comparison *comparison, FILE *out);

#endif
