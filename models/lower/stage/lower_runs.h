/* lower_runs.h - a part of a stage that is lowered: its blocks as runs, one op each.
 *
 * A run is as long as what it stands for and leaves the host as late; what of its last block runs
 * on behind its last compute (the transfer of its output) is written as ops of its own. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_RUNS_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_RUNS_H

#include "models/lower/stage/lower_ops.h"

struct written_run {
    const struct piece_list **lists; /* whole */
    uint32_t list_count;
    bool none;                 /* no piece of it settles: it is written piece by piece */
    struct run run;            /* its first part */
    bool written;              /* once at least: the program has its rows */
    struct op op;              /* without labels and waits */
    double host_s;             /* before the first op of the run */
    struct written_run *later; /* of this stage */
};
struct runs {
    const struct lowering *l;
    struct ops *ops;
    struct written_run *first; /* all that were asked for */
    struct written_run *
        *pass; /* [chunk x PASS_KIND_COUNT]: of a whole pass, NULL: not asked for yet */
};

/* Borrows all of it. */
void lower_runs_begin(struct runs *r, const struct lowering *l, struct ops *ops);
/* Neighbouring units in the direction of the pass, from `first` on; backward with what is computed
 * again. */
void lower_runs_units(struct runs *r, const struct units *units, uint32_t first, uint32_t count,
                      enum pass_kind kind);
/* All units of a pass. */
void lower_runs_pass(struct runs *r, const struct units *units, const struct pass *pass);

#endif
