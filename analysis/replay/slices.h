/* slices.h - the timeline of a window as at most so many spans, as JSON.
 *
 * {"level","from","to","resolution","columns":["track","begin","dur","busy","wait","count","name",
 * "phase","microbatch","layer","chunk"],"rows":[...]}; times in ns, name and phase rows of the
 * table string, -1: no such label. Sums of count, busy and wait over the rows of a track are those
 * of the database, whatever was merged (thin.h). */
#ifndef ORRERY_ANALYSIS_REPLAY_SLICES_H
#define ORRERY_ANALYSIS_REPLAY_SLICES_H

#include <stdio.h>

#include "analysis/database/query.h"

enum slices_level {
    SLICES_PASSES, /* compute alone: ops of one phase, microbatch and chunk that follow each other
                    */
    SLICES_OPS
};
enum {
    SLICES_ALL = -1,    /* every class */
    SLICES_STAGES = -2, /* the first class of each stage */
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
