/* trace_simulated.h - the spans of one rank of a simulated step, as a trace of it would have them.
 *
 * Compute is cut into its kernels, which share the time of their op in proportion to their own, as
 * the timeline of a database does. A collective lasts from when the rank is ready for it, as the
 * kernel of a library does that waits for the others. What takes no time is no span. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_TRACE_SIMULATED_H
#define ORRERY_ANALYSIS_EXPLAIN_TRACE_SIMULATED_H

#include "models/step/simulate/step.h"
#include "scenarios/import/trace/span.h"

/* Of a step whose time was simulated, and a rank of it; by begin. Names are the programs'. Returns
 * how many. */
uint32_t trace_simulated(struct arena *arena, const struct step *step, uint32_t rank,
                         struct trace_span **out);

#endif
