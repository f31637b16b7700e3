/* report_compare.h - two runs side by side, and where their difference comes from. Pure output;
 * texts come from files and may hold anything. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_COMPARE_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_COMPARE_H

#include "analysis/explain/comparison.h"
#include "analysis/output/terminal/session.h"

void report_compare(const struct session *session, const struct compared_side sides[2],
                    const struct comparison *comparison);

#endif
