/* power_error.h - the model's own error of the mean power of a step.
 *
 * Steps whose power was measured are few: of each the list has the card, the cooling and how far
 * off the prediction was. The mean size of these errors, times 1.25 (the deviation of a normal),
 * is the own error where such a card in such a node was measured; a card, and a cooling, of which
 * no step was measured each add an independent error of the same size (docs/models/uncertainty.md).
 * It is independent of the error of time. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_POWER_ERROR_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_POWER_ERROR_H

#include "models/layout/configuration.h"

/* Standard deviation of log(measured / predicted) of W, at the node's inlet and at the wall. */
double power_error_log_spread(const struct configuration *c);
/* What was measured that is like it, in words. */
const char *power_error_evidence(const struct configuration *c);

#endif
