/* report_tasks.h - execution traces that were played: the step, where its time goes on the mean
 * rank, the ranks that differ most, the groups that communicate longest. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_TASKS_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_TASKS_H

#include "analysis/record/database/query.h"
#include "analysis/record/numbers/task_outcome.h"
#include "analysis/tell/document/document_lines.h"

enum {
    REPORT_TASKS_SHOWN = 8 /* ranks and groups, where nothing else is asked */
};

/* What the traces hold, one line or two. */
void report_task_counts(const struct session *session, const char *prefix,
                        const struct task_graph *graph, const struct chakra_counts *counts);
struct report_tasks_told {           /* beside the record; all is borrowed */
    const struct scenario *scenario; /* NULL: of a database */
    const char *name;                /* of its scenario; NULL: not known */
    uint64_t seed;
    const struct task_group *groups; /* [row of task_group]; NULL: ranks of groups are not told */
    const uint32_t *members;         /* that the groups refer to */
};
/* orrery.chakra/1, in the arena of the record, with at most `top` ranks and groups for the lines.
 */
struct fact *report_tasks(const struct record *record, const struct report_tasks_told *told,
                          uint64_t top);
/* What the database of the record holds of it, `name`, `seed` and groups, into the arena. False
 * with a sentence where its tables are damaged. */
bool report_tasks_recall(struct query *query, struct arena *arena, const struct record *record,
                         struct report_tasks_told *out, struct error *error);
extern const char *const report_tasks_lines[];

#endif
