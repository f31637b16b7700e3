/* report_lesson.h - a lesson as a class reads it: what it shows, what to look for, the runs side by
 * side, questions and answers; the same as a page of the teacher's guide, and as a document. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_LESSON_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_LESSON_H

#include "analysis/record/numbers/record.h"
#include "analysis/tell/document/document.h"
#include "scenarios/assemble/scenario.h"

/* orrery.lesson/1, in the arena of a record with a lesson whose runs were played; `word`: the
 * lesson as `orrery lesson` takes it; `answers` false: in the text the questions alone. */
struct fact *report_lesson(const struct record *record, const struct scenario *scenario,
                           const char *word, bool answers);
extern const char *const report_lesson_lines[];
extern const char *const report_lesson_markdown[];

#endif
