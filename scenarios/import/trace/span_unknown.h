/* span_unknown.h - how much of a trace is in kernels whose kind is not known, and which they are.
 *
 * Such kernels count as compute, so what they hold is said from UNKNOWN_MOST_RATIO on. */
#ifndef ORRERY_SCENARIOS_IMPORT_TRACE_SPAN_UNKNOWN_H
#define ORRERY_SCENARIOS_IMPORT_TRACE_SPAN_UNKNOWN_H

#include "scenarios/import/trace/span.h"
#include "sim/arena.h"

#define UNKNOWN_MOST_RATIO 0.05
enum {
    UNKNOWN_NAMES = 3
};
struct span_unknown {
    double ratio; /* of all seconds that kernels are busy; 0: of none */
    unsigned count;
    struct {
        const char *name;
        double s;
    } largest[UNKNOWN_NAMES]; /* `count` of them, the largest first */
};
void span_unknown(struct arena *arena, const struct trace_span *spans, unsigned count,
                  struct span_unknown *out);

#endif
