/* report_job.h - weeks of training in words and bars: what was kept, where the wall clock went,
 * what failed, and the story of each interruption. */
#ifndef ORRERY_ANALYSIS_REPORT_REPORT_JOB_H
#define ORRERY_ANALYSIS_REPORT_REPORT_JOB_H

#include "analysis/result/job_record.h"
#include "analysis/terminal/session.h"

/* `all`: every interruption, not only the first ones and the worst. */
void report_job(const struct session *session, const struct scenario *scenario,
                const struct job_record *record, bool all);

#endif
