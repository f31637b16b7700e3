/* report_compare.h - two runs side by side, and where their difference comes from: as text, or as
 * orrery.compare/1. Texts come from files and may hold anything. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_COMPARE_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_COMPARE_H

#include "analysis/explain/comparison.h"
#include "analysis/tell/document/document.h"

/* orrery.compare/1, in the arena of A's record. */
struct fact *report_compare(const struct compared_side sides[2],
                            const struct comparison *comparison);
extern const char *const report_compare_lines[];

#endif
