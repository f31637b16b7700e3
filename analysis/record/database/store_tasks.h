/* store_tasks.h - execution traces that were played as rows of the results database.
 *
 * Writes meta, the record and the timeline: a row of task_slice for each node that took time or met
 * others. Errors stick in the store. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_STORE_TASKS_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_STORE_TASKS_H

#include "analysis/record/database/store.h"
#include "analysis/record/numbers/task_outcome.h"

/* `record`: of this outcome. */
void store_tasks(struct store *store, const struct task_outcome *outcome,
                 const struct record *record);

#endif
