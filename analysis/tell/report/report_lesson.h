/* report_lesson.h - a lesson as a class reads it: what it shows, what to look for, the runs side by
 * side, questions and answers; and the same as a page of the teacher's guide. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_LESSON_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_LESSON_H

#include "analysis/output/terminal/session.h"
#include "analysis/record/numbers/record.h"

/* Of a record with a lesson whose runs were played; `answers` false: the questions alone. */
void report_lesson(const struct session *session, const struct record *record, bool answers);
/* In Markdown; `name` as `orrery lesson` takes it. */
void report_lesson_markdown(const struct record *record, const char *name, FILE *out);

#endif
