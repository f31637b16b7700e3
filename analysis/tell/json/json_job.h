/* json_job.h - what a document says of weeks of training. For the json_*.c files. */
#ifndef ORRERY_ANALYSIS_TELL_JSON_JSON_JOB_H
#define ORRERY_ANALYSIS_TELL_JSON_JSON_JOB_H

#include "analysis/record/numbers/job_record.h"
#include "analysis/tell/json/json_parts.h"

/* Adds the keys of a run to the document of its step. */
void json_job(const struct job_record *record, json_t *document);

#endif
