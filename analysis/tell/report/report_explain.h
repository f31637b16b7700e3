/* report_explain.h - why a step takes what it takes: in words and bars, or as orrery.explain/1.
 * Texts come from a file and may hold anything. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_EXPLAIN_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_EXPLAIN_H

#include "analysis/explain/explanation.h"
#include "analysis/tell/document/document.h"

/* orrery.explain/1, in the arena of the record. */
struct fact *report_explain(const struct explanation *explanation);
extern const char *const report_explain_lines[];

#endif
