/* store_step.h - one simulated step as rows of the results database.
 *
 * Writes meta, the record, the cluster, the rank classes, tracks and, by `detail`, the timeline:
 * summary none; step one slice for each class; op each op with the memory curves; kernel also the
 * kernels inside ops; flow also the plan of each transfer. Errors stick in the store. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_STORE_STEP_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_STORE_STEP_H

#include "analysis/record/database/detail.h"
#include "analysis/record/database/store.h"
#include "analysis/record/numbers/record.h"
#include "analysis/record/numbers/result.h"

/* `record`: of this result. */
void store_step(struct store *store, const struct result *result, const struct record *record,
                enum detail detail);

#endif
