/* lesson_record.h - a lesson as rows of a record: what is asked, and, once its runs have been
 * played, what they answer. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_LESSON_RECORD_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_LESSON_RECORD_H

#include "analysis/record/evidence/formula.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/lessons/lesson.h"

/* Looks at every formula, and at every run of the lesson as the reader would (not where --set has
 * changed what the runs were written for): what is wrong becomes an error of the scenario, in
 * place. Does nothing where there is no lesson, or errors already. */
void lesson_record_check(struct scenario *scenario);
/* Another reading of the scenario, with the keys of run number `index`. NULL with a sentence. */
struct scenario *lesson_record_read(const struct scenario *scenario, unsigned index,
                                    struct error *error);
/* The rows without answers; none where there is no lesson. */
void lesson_record_ask(const struct scenario *scenario, struct record *out);
/* Fills them. `runs`: the scenario's own, then those of the lesson in their order, all played.
 * Texts live in the record's arena. False with a sentence where a formula is wrong, which
 * lesson_record_check has told. */
bool lesson_record_answer(const struct lesson *lesson, const struct formula_run *runs,
                          struct record *inout, struct error *error);

#endif
