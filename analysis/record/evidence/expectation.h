/* expectation.h - what a scenario says must hold of its results (its section `expect`).
 *
 * A name is the key that a number of metrics.h has in JSON; a unit at its end may be left out
 * (step_time of step_time_s). Behind it stands a value, or bounds >=, <=, >, <, = with commas
 * between them, in the units that the language has for such a number. Of the relations that hold
 * where both are equal (=, >=, <=) a bound of at least three digits is compared with the number at
 * as many digits, so that what a report prints holds of the run that it reports; the rule moves a
 * bound by .5 % at most. Strict bounds, shorter ones, and counts are compared exactly. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_EXPECTATION_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_EXPECTATION_H

#include "analysis/record/numbers/record.h"
#include "scenarios/assemble/scenario.h"

/* What is no name or no bound becomes an error of the scenario, in place. Does nothing where it has
 * errors already. */
void expectation_check(struct scenario *scenario);
/* Does it expect anything of the number with this key? */
bool expectation_is_of(const struct scenario *scenario, const char *key);
/* Of a checked scenario: prints what does not hold of this run of it, each at its place with what
 * was expected and what it is, and returns how many names that are. */
unsigned expectation_tell(const struct scenario *scenario, const struct run_row *run, FILE *out,
                          bool colour);

/* Of a checked scenario that has the section: each of its names, in the order of the file, and
 * whether all its bounds hold. Texts are the scenario's, the rows live in the arena. */
struct expectation_answer {
    const char *key, *expected;      /* as they are written */
    const struct row_column *column; /* of `run` */
    bool holds;
};
unsigned expectation_answers(const struct scenario *scenario, const struct run_row *run,
                             struct arena *arena, struct expectation_answer **out);

#endif
