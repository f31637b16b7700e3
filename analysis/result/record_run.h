/* record_run.h - the record of what `run` has simulated. */
#ifndef ORRERY_ANALYSIS_RESULT_RECORD_RUN_H
#define ORRERY_ANALYSIS_RESULT_RECORD_RUN_H

#include "analysis/result/record.h"
#include "analysis/result/result.h"

/* All that the result holds: of a step, of weeks, of the scenario. The record borrows both. */
void record_of_run(struct arena *arena, const struct result *result, struct record *out);

#endif
