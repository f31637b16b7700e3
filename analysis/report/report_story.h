/* report_story.h - what failed and what it cost: totals by cause, then each interruption: when,
 * what, where, what was lost, and how long each link of the chain took. */
#ifndef ORRERY_ANALYSIS_REPORT_REPORT_STORY_H
#define ORRERY_ANALYSIS_REPORT_REPORT_STORY_H

#include "analysis/result/job_record.h"
#include "analysis/terminal/session.h"

void report_story(const struct session *session, const struct job_record *record, bool all);

#endif
