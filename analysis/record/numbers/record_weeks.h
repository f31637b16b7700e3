/* record_weeks.h - what weeks of training tell, as rows: causes, interruptions, classes of time,
 * levels of checkpoints, and rows of a failure trace that struck nothing. */
#ifndef ORRERY_ANALYSIS_RECORD_NUMBERS_RECORD_WEEKS_H
#define ORRERY_ANALYSIS_RECORD_NUMBERS_RECORD_WEEKS_H

struct job_record;
struct record;
void record_of_weeks(const struct job_record *job, struct record *out);

#endif
