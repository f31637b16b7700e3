/* refusal.h - what `run` refuses although every key of the scenario is in order: a step that cannot
 * be played or recorded. `check` and `run` say the same. */
#ifndef ORRERY_ANALYSIS_COMMAND_LINE_REFUSAL_H
#define ORRERY_ANALYSIS_COMMAND_LINE_REFUSAL_H

#include "models/step/simulate/step.h"
#include "scenarios/assemble/scenario.h"

/* True with the sentence for a reason that `run` would find. Plays the step, unless that takes
 * long: then it goes as far as counting what would be played. `step`: what was played, to be
 * destroyed; NULL where it is refused. */
bool refusal_find(const struct scenario *scenario, struct step **step, struct error *error);

#endif
