/* json_explain.h - comparisons with a trace as JSON documents. */
#ifndef ORRERY_ANALYSIS_TELL_JSON_JSON_EXPLAIN_H
#define ORRERY_ANALYSIS_TELL_JSON_JSON_EXPLAIN_H

#include <stdio.h>

#include "analysis/explain/trace_comparison.h"

/* orrery.compare_trace/1 */
void json_trace(const struct compared_trace *told, const struct trace_comparison *comparison,
                FILE *out);

#endif
