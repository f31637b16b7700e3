/* evidence.h - what the times of the kernels of a step rest on: measured, interpolated,
 * extrapolated, the model; by kernel. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_EVIDENCE_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_EVIDENCE_H

#include "analysis/record/numbers/record.h"
#include "models/step/simulate/step.h"

/* Adds the rows of kernel_evidence, the longest first; none without a profile. */
void evidence_add(const struct configuration *c, const struct step *step, struct record *out);
/* A plan of what the kernels of a step would have to be measured at: each shape with the seconds of
 * the mean rank's step that rest on it. */
struct calibrate_plan;
void evidence_shapes(struct arena *arena, const struct configuration *c,
                     struct calibrate_plan *plan);

#endif
