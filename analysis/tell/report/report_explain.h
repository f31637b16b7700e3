/* report_explain.h - an explanation in words and bars. Pure output; texts come from a file and may
 * hold anything. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_EXPLAIN_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_EXPLAIN_H

#include "analysis/explain/explanation.h"
#include "analysis/output/terminal/session.h"

void report_explain(const struct session *session, const struct explanation *explanation);

#endif
