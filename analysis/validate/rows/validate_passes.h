/* validate_passes.h - a schedule played with given times of its passes and transfers. */
#ifndef ORRERY_ANALYSIS_VALIDATE_ROWS_VALIDATE_PASSES_H
#define ORRERY_ANALYSIS_VALIDATE_ROWS_VALIDATE_PASSES_H

#include "analysis/validate/rows/validate_run.h"
#include "models/step/simulate/worker.h"

struct validate_passes { /* of a whole stage and one microbatch */
    double forward_s, backward_s, weights_s, transfer_s;
    const double *kept_bytes, *late_bytes; /* of schedules that go by them: struct pass_costs */
};
/* Stages stand in one node, so that all transfers are alike; messages are so large that one alone
 * takes transfer_s. Stages block on them where the software does. A step lasts until the next one
 * may begin: where stages step alone, from the first pass of the slowest rank to its last. False
 * with the row refused. */
bool validate_passes_play(const struct validation *v, const struct validate_run *run,
                          const struct validate_passes *passes, double *step_s,
                          struct validate_row *row);
/* From the start of a step that has been played to where the next one may start. */
double validate_passes_period_s(const struct configuration *c, const struct worker *worker,
                                const struct symmetry *symmetry, const struct lowered *lowered);

#endif
