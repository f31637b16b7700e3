/* small_step.h - what must hold of the step of any scenario, for fuzz targets.
 *
 * A scenario that the reader takes and that is small is simulated, folded and rank by rank, and
 * reported: no CHECK, no hang, the same timeline both ways, parts that sum to the step. */
#ifndef ORRERY_TESTS_FUZZ_SMALL_STEP_H
#define ORRERY_TESTS_FUZZ_SMALL_STEP_H

#include "scenarios/assemble/scenario.h"

void small_step(const struct scenario *scenario);

#endif
