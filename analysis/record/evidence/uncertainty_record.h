/* uncertainty_record.h - how sure a step is, for JSON and as rows of the record. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_UNCERTAINTY_RECORD_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_UNCERTAINTY_RECORD_H

#include "analysis/record/evidence/measured_steps.h"
#include "analysis/record/evidence/uncertainty.h"
#include "analysis/record/numbers/record.h"
#include "analysis/record/numbers/result.h"

/* What `run --uncertainty` has found out, besides the step itself. */
struct uncertainty {
    struct uncertain_step step;
    const struct influence *influences;
    uint32_t influence_count;
    const struct uncertain_step *against; /* NULL: nothing to compare with */
    struct uncertain_comparison comparison;
    struct measured_shift shift; /* no steps: nothing was measured by the user */
};
/* The quantities that follow from a step time: what is whole for a step, over it. */
double uncertainty_tokens_per_s(const struct result *result, double step_s);
double uncertainty_mfu_ratio(const struct result *result, double step_s);
/* Adds the tables uncertainty and influence. */
void uncertainty_record(const struct uncertainty *uncertainty, struct record *record);

#endif
