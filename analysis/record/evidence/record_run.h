/* record_run.h - the record of what `run` has simulated. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_RECORD_RUN_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_RECORD_RUN_H

#include "analysis/record/numbers/record.h"
#include "analysis/record/numbers/result.h"

/* All that the result holds: of a step, of weeks, of the scenario. The record borrows both.
 * `every_link`: as a database keeps them; else of each kind of wire the busiest class, which is all
 * that a report tells. */
void record_of_run(struct arena *arena, const struct result *result, bool every_link,
                   struct record *out);

#endif
