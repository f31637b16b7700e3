/* report_tasks.h - execution traces that were played: the step, where its time goes on the mean
 * rank, the ranks that differ most, the groups that communicate longest. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_TASKS_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_TASKS_H

#include "analysis/record/numbers/task_outcome.h"
#include "analysis/tell/document/document_lines.h"

enum {
    REPORT_TASKS_SHOWN = 8 /* ranks and groups, where nothing else is asked */
};

/* What the traces hold, one line or two. */
void report_task_counts(const struct session *session, const char *prefix,
                        const struct task_graph *graph, const struct chakra_counts *counts);
/* orrery.chakra/1, in the arena of the record, with at most `top` ranks and groups for the lines.
 * `outcome` NULL: not known, of a database; then no group has its ranks. */
struct fact *report_tasks(const struct record *record, const struct task_outcome *outcome,
                          uint64_t top);
extern const char *const report_tasks_lines[];

#endif
