/* lower_walk.h - how far a pass has been written: what comes next of it.
 *
 * A pass is walked unit by unit, a unit list by list (what is computed again, then its own), a list
 * piece by piece. The walk says what comes; whoever writes acts on it. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_WALK_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_WALK_H

#include "models/lower/plan/lower_units.h"

enum walk_step {
    WALK_UNIT,     /* a unit begins: `index` */
    WALK_LIST,     /* a list of it: `list` of the unit `each`; it may be empty */
    WALK_PIECE,    /* a piece of that: `piece`; the last one where `pieces` is its count */
    WALK_UNIT_END, /* the unit has been walked */
    WALK_END       /* the pass has */
};
struct pass_walk {
    const struct units *units;
    const struct pass *pass;
    bool paired;                       /* its kernels run beside the exchanges of another */
    uint32_t unit, unit_end;           /* walked of the chunk; all of it */
    uint32_t index;                    /* of the unit under way, in the stage */
    uint32_t lists;                    /* of that unit that were begun */
    bool begun;                        /* it is */
    const struct piece_list *list;     /* under way, NULL: none */
    const struct lowered_unit *each;   /* whose list it is */
    const struct lowered_piece *piece; /* the last one walked */
    uint32_t pieces;                   /* walked of the list */
};
void lower_walk_begin(struct pass_walk *walk, const struct units *units, const struct pass *pass,
                      bool paired);
enum walk_step lower_walk_next(struct pass_walk *walk);

#endif
