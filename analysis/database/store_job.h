/* store_job.h - the rows of a simulation of weeks: failures, interruptions, checkpoints, where the
 * wall clock went. */
#ifndef ORRERY_ANALYSIS_DATABASE_STORE_JOB_H
#define ORRERY_ANALYSIS_DATABASE_STORE_JOB_H

#include "analysis/database/store.h"
#include "analysis/result/job_record.h"

/* Columns of the table `run` that only weeks have; nulls without a record. */
enum {
    STORE_JOB_COLUMNS = 14
};
void store_job_columns(const struct job_record *record, struct store_value *row);
void store_job(struct store *store, const struct job_record *record, int64_t run);

#endif
