/* share_solve.h - the levels of a share's activities; called by share.c alone.
 *
 * Both functions decide the levels of all that may have changed, forget what started and which
 * links were dirty, and leave in `opened` whom they looked at, with former_level set. */
#ifndef ORRERY_SIM_SHARE_SOLVE_H
#define ORRERY_SIM_SHARE_SOLVE_H

#include "sim/share_parts.h"

/* Gives every activity that started, or whose level a dirty link puts in question, its level. */
void share_solve_region(struct share *share);
/* The same for all activities, from nothing. For tests, and where rounding defeats the region. */
void share_solve_all(struct share *share);

#endif
