/* trace_align.h - which span of one list stands for which of another, both in order.
 *
 * The cheapest alignment: a pair of one group costs what its two differ in kind, amount and time,
 * as far as these count; a span that is left over costs PAIR_GAP; spans of different groups, of
 * different roles, of opposed passes, and such whose kind is not known make no pair. By dynamic
 * programming in linear memory (Hirschberg, A linear space algorithm for computing maximal common
 * subsequences, CACM 18(6), 1975). Of alignments as cheap as each other it takes the same one
 * always. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_TRACE_ALIGN_H
#define ORRERY_ANALYSIS_EXPLAIN_TRACE_ALIGN_H

#include "scenarios/import/trace/span.h"
#include "sim/arena.h"

#define TRACE_NONE UINT32_MAX
/* Products of both counts, which take seconds; no more is aligned. */
#define TRACE_CELLS_MAX 2e9

struct trace_list {
    const struct trace_span *const *spans;
    uint32_t count;
};
/* Sets partner[i], of each of `a`, to its index in `b` or TRACE_NONE. The product of the counts is
 * at most TRACE_CELLS_MAX (CHECKed). */
void trace_align(struct arena *arena, struct trace_list a, struct trace_list b, uint32_t *partner);

#endif
