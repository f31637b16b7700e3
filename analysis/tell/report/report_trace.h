/* report_trace.h - a measured step span by span beside the simulated one: as text, as
 * orrery.compare_trace/1, and each pair as a line of CSV. Names come from files and may hold
 * anything. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_TRACE_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_TRACE_H

#include "analysis/explain/trace_comparison.h"
#include "analysis/output/terminal/session.h"
#include "analysis/tell/document/document.h"

struct fact *report_trace(struct arena *arena, const struct compared_trace *told,
                          const struct trace_comparison *comparison);
extern const char *const report_trace_lines[];
/* A line with the largest kernels whose kind is not known, from UNKNOWN_MOST_RATIO on. */
void report_unknown(const struct session *session, const struct span_unknown *unknown);
void report_trace_csv(const struct trace_comparison *comparison, FILE *out);

#endif
