/* gantt_marks.h - the passes and waits of a row of the pipeline as few rectangles.
 *
 * Spans come by row and by time: ops of compute, and waits with their cause. Ops of one phase,
 * microbatch and chunk are one pass, from the first begin to the last end, with the waits between
 * them inside. What is narrower than a unit of the picture joins its neighbours to at most a unit.
 * So a row has at most two rectangles a unit, and what they say adds up to what came, to the
 * nanosecond. It knows neither database nor SVG. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_EXPORT_GANTT_MARKS_H
#define ORRERY_ANALYSIS_EXCHANGE_EXPORT_GANTT_MARKS_H

#include <stdint.h>

/* As the database has them. What is computed again is part of the backward pass. */
#define GANTT_PHASES(X)                                                                            \
    X(forward)                                                                                     \
    X(backward)                                                                                    \
    X(gradients)                                                                                   \
    X(optimizer)                                                                                   \
    X(parameters)
/* Why a GPU computes nothing: parts of the breakdown. */
#define GANTT_CAUSES(X)                                                                            \
    X(bubble)                                                                                      \
    X(straggler)                                                                                   \
    X(exposed_tp)                                                                                  \
    X(exposed_cp)                                                                                  \
    X(exposed_ep)                                                                                  \
    X(exposed_pp)                                                                                  \
    X(exposed_dp)                                                                                  \
    X(offload)                                                                                     \
    X(host)
enum gantt_kind {
#define X(name) GANTT_##name,
    GANTT_PHASES(X)
    GANTT_CAUSES(X)
#undef X
        GANTT_KIND_COUNT,
    GANTT_PHASE_COUNT = GANTT_bubble
};
enum {
    GANTT_HOLES = 64 /* waits at the end of an open pass that are kept apart */
};
extern const char *const gantt_kinds[]; /* [gantt_kind] */

struct gantt_span {
    int64_t row, begin, end; /* ns */
    enum gantt_kind kind;
    int64_t microbatch, chunk; /* -1: none */
};
struct gantt_mark {
    struct gantt_span span; /* kind: of most of its time */
    int64_t ns[GANTT_KIND_COUNT];
    unsigned passes, waits; /* that it is made of; 0 waits: all are inside passes */
};
/* `hole`: a wait inside the pass that was drawn before, wide enough to be seen. */
typedef void gantt_draw_fn(void *context, const struct gantt_mark *mark);
typedef void gantt_hole_fn(void *context, const struct gantt_span *hole);

struct gantt_marks {
    gantt_draw_fn *draw;
    gantt_hole_fn *hole;
    void *context;
    int64_t unit;                 /* ns; 0: nothing is joined */
    struct gantt_mark pass, last; /* the open pass; what is not drawn yet. Nothing: ends at begin */
    struct gantt_span waits[GANTT_HOLES], holes[GANTT_HOLES];
    unsigned wait_count, hole_count;
};
void gantt_marks_begin(struct gantt_marks *marks, int64_t unit);
void gantt_marks_add(struct gantt_marks *marks, const struct gantt_span *span);
void gantt_marks_end(struct gantt_marks *marks);

#endif
