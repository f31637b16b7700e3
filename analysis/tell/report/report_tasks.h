/* report_tasks.h - execution traces that were played, for people: the step, where its time goes on
 * the mean rank, the ranks that differ most, the groups that communicate longest. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_TASKS_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_TASKS_H

#include "analysis/output/terminal/session.h"
#include "analysis/record/numbers/record.h"
#include "scenarios/import/chakra/chakra_tasks.h"

enum {
    REPORT_TASKS_SHOWN = 8 /* ranks and groups, where nothing else is asked */
};

/* What the traces hold, one line or two. */
void report_task_counts(const struct session *session, const char *prefix, uint64_t rank_count,
                        uint64_t node_count, const struct chakra_counts *counts);
/* At most `top` ranks and groups. `record`: of traces that were played, or read back of them. */
void report_tasks(const struct session *session, const struct record *record, uint64_t top);

#endif
