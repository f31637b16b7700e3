/* json_explain.h - walls, explanations and comparisons as JSON documents. */
#ifndef ORRERY_ANALYSIS_TELL_JSON_JSON_EXPLAIN_H
#define ORRERY_ANALYSIS_TELL_JSON_JSON_EXPLAIN_H

#include <stdio.h>

#include "analysis/explain/comparison.h"
#include "analysis/explain/explanation.h"
#include "analysis/explain/trace_comparison.h"
#include "analysis/explain/walls_rows.h"

/* orrery.walls/1 */
void json_walls(const struct scenario *scenario, const struct walls *walls, FILE *out);
/* orrery.explain/1 */
void json_explanation(const struct explanation *explanation, FILE *out);
/* orrery.compare/1 */
void json_compare(const struct compared_side sides[2], const struct comparison *comparison,
                  FILE *out);
/* orrery.compare_trace/1 */
void json_trace(const struct compared_trace *told, const struct trace_comparison *comparison,
                FILE *out);

#endif
