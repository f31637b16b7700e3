/* record_file.h - the record of a run, written to its database and read back: by column names, so
 * that neither side counts columns. What was written is read to the last bit. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_RECORD_FILE_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_RECORD_FILE_H

#include "analysis/record/database/query.h"
#include "analysis/record/database/store.h"
#include "analysis/record/numbers/record.h"

/* Every row of the record, as rows of run STORE_RUN. A failure sticks in the store. */
void record_store(struct store *store, const struct record *record);
/* Into the arena. False with a sentence where the file holds no run, or a damaged one. */
bool record_read(struct query *query, struct arena *arena, struct record *out, struct error *error);
/* The same of execution traces that were played: task_step has one row, task_rank some. */
bool record_read_tasks(struct query *query, struct arena *arena, struct record *out,
                       struct error *error);

#endif
