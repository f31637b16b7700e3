/* slices.h - the timeline of a window as at most so many spans, as JSON.
 *
 * {"level","from","to","resolution","columns":["track","begin","dur","busy","wait","count","name",
 * "phase","microbatch","layer","chunk"],"rows":[...]}; times in ns, name and phase rows of the
 * table string, -1: no such label. Sums of count, busy and wait over the rows of a track are those
 * of the database, whatever was merged (thin.h, waits.h). */
#ifndef ORRERY_ANALYSIS_PAGE_SLICES_H
#define ORRERY_ANALYSIS_PAGE_SLICES_H

#include <stdio.h>

#include "analysis/record/database/query.h"

enum slices_level {
    SLICES_PASSES, /* compute alone: ops of one phase, microbatch and chunk that follow each other
                    */
    SLICES_OPS,
    SLICES_IDLE /* when compute stands still: pieces and rests of waits.h, a row for each cause in
                 * one: `busy` is how long, its name why. Rows of a piece have its ends, rests no
                 * length; the resolution is the unit, from a 4000th of the window on. */
};
extern const char *const slices_levels[]; /* their names, NULL-ended */
enum {
    SLICES_ALL = -1,    /* every class */
    SLICES_STAGES = -2, /* of each stage the first class and the slowest: view stage_class */
    SLICES_ROOM = 20000
};
struct slices_ask {
    enum slices_level level;
    int64_t from_ns, to_ns; /* spans that touch it, whole */
    int64_t rank_class;     /* row of rank_class, or one of the above */
    uint64_t room;          /* spans at most; SLICES_ROOM at most */
};
bool slices_write(struct query *query, const struct slices_ask *ask, FILE *out,
                  struct error *error);

#endif
