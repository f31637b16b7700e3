/* report_tasks.h - execution traces that were played, for people: the step, where its time goes on
 * the mean rank, the ranks that differ most, the groups that communicate longest. */
#ifndef ORRERY_ANALYSIS_REPORT_REPORT_TASKS_H
#define ORRERY_ANALYSIS_REPORT_REPORT_TASKS_H

#include "analysis/result/task_outcome.h"
#include "analysis/terminal/session.h"

/* What the traces hold, one line or two. */
void report_task_counts(const struct session *session, const char *prefix, uint32_t rank_count,
                        uint32_t node_count, const struct chakra_counts *counts);
/* At most `top` ranks and groups. */
void report_tasks(const struct session *session, const struct task_outcome *outcome, uint64_t top);

#endif
