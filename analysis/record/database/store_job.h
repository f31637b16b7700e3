/* store_job.h - of a simulation of weeks, what the record does not hold: every failure, every
 * durable copy of a checkpoint. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_STORE_JOB_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_STORE_JOB_H

#include "analysis/record/database/store.h"
#include "analysis/record/numbers/job_record.h"

void store_job(struct store *store, const struct job_record *record, int64_t run);

#endif
