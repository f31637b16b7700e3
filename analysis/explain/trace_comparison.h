/* trace_comparison.h - a measured step span by span beside a simulated one.
 *
 * Compute of all streams is one sequence, each operation of communication one of its own; both are
 * aligned (trace_align.h). Told are counts and times by kind, what is exposed and idle, the sums of
 * pairs by the simulated kernel, each pair by its difference, and what has no partner. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_TRACE_COMPARISON_H
#define ORRERY_ANALYSIS_EXPLAIN_TRACE_COMPARISON_H

#include "analysis/explain/trace_align.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/import/trace/pytorch_spans.h"
#include "scenarios/import/trace/span_unknown.h"

enum trace_side {
    TRACE_MEASURED,
    TRACE_SIMULATED,
    TRACE_SIDES
};

struct trace_pair {
    const struct trace_span *of[TRACE_SIDES]; /* NULL: that side has none */
    double difference_s;                      /* measured less simulated */
};
struct trace_sum {
    uint32_t count[TRACE_SIDES], left[TRACE_SIDES]; /* spans; those without a partner */
    double seconds[TRACE_SIDES], left_s[TRACE_SIDES];
};
/* Pairs of one simulated kernel in one phase; or spans without a partner of one name. */
struct trace_part {
    enum span_kind kind;
    const char *name, *phase;
    uint32_t count;
    double seconds[TRACE_SIDES], difference_s;
};
struct trace_times {
    double step_s;                     /* from the begin of the first span to the end of the last */
    double compute_s, communication_s; /* at least one span of the kind runs */
    double exposed_s;                  /* communication beside no compute */
    double idle_s;                     /* neither */
};
struct trace_comparison {
    struct trace_sum kinds[SPAN_KIND_COUNT], all;
    struct trace_times times[TRACE_SIDES];
    struct trace_pair *pairs; /* by the begin of the measured span, or of the simulated one */
    const struct trace_pair **worst; /* pairs with both sides, the largest difference first */
    uint32_t pair_count, worst_count;
    struct trace_part *parts, *left; /* the largest difference, the longest first */
    uint32_t part_count, left_count;
};
/* What was compared. */
struct compared_trace {
    const char *path; /* of the trace */
    const struct scenario *scenario;
    const struct pytorch_step *step;
    struct span_unknown unknown; /* of the measured step */
    uint32_t rank, ranks;
    double simulated_step_s; /* of the whole job */
};
/* Borrows the spans, each list by begin. False with a sentence where they are too many. */
bool trace_compare(struct arena *arena, const struct trace_span *const spans[TRACE_SIDES],
                   const uint32_t counts[TRACE_SIDES], struct trace_comparison *out,
                   struct error *error);

#endif
