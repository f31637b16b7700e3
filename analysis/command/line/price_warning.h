/* price_warning.h - a warning for each choice that a scenario states and that makes its step more
 * than a tenth longer than the obvious neighbour's (models/plan/price.h). */
#ifndef ORRERY_ANALYSIS_COMMAND_LINE_PRICE_WARNING_H
#define ORRERY_ANALYSIS_COMMAND_LINE_PRICE_WARNING_H

#include "analysis/output/terminal/session.h"
#include "models/step/simulate/step.h"
#include "scenarios/assemble/scenario.h"

/* How hard it is looked for: `run` tries what its own step makes probable, `check` all. */
enum price_effort {
    PRICE_OF_RUN,
    PRICE_OF_CHECK
};
/* `step` is the scenario's own; nothing is tried where it was not timed. The warnings become
 * problems of the scenario, each with its place, and are printed as the others were. */
void price_warn(const struct session *session, struct scenario *scenario, const struct step *step,
                enum price_effort effort);

#endif
