/* memory_draws.h - the figures of memory (fit_draws.h) of a scenario, drawn as `run --uncertainty`
 * draws them: draw i is the same here and there. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_MEMORY_DRAWS_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_MEMORY_DRAWS_H

#include "models/plan/fit_draws.h"
#include "scenarios/assemble/scenario.h"

/* So many draws, whatever the layout of the scenario; none where no figure of memory is uncertain.
 */
void memory_draws(struct arena *arena, const struct scenario *scenario, uint32_t count,
                  struct fit_draws *out);

#endif
