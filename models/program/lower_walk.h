/* lower_walk.h - a part of a stage that is lowered: how far a pass has been written.
 *
 * A pass is walked unit by unit, a unit list by list (what is computed again, then its own), a list
 * piece by piece. Two walks may take turns (lower_pair.c). */
#ifndef ORRERY_MODELS_PROGRAM_LOWER_WALK_H
#define ORRERY_MODELS_PROGRAM_LOWER_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "models/schedule/schedule_kind.h"

struct stage;
struct lowered_piece;
struct lowered_unit;
struct piece_list;

struct walk {
    const struct pass *pass;
    uint32_t unit, unit_end;  /* written of the chunk; all of it */
    uint32_t lists;           /* of the unit under way that were begun */
    bool begun;               /* it is */
    const struct piece_list *list; /* under way, NULL: none */
    const struct lowered_unit *each; /* whose list it is */
    uint32_t piece;           /* written of it */
};

void lower_walk_begin(struct walk *walk, const struct stage *s, const struct pass *pass);
/* Writes the next piece, what its units send and allocate around it included. NULL: the pass is
 * over, and everything around its last piece is written too. */
const struct lowered_piece *lower_walk_piece(struct walk *walk, struct stage *s);
/* All that is left. */
void lower_walk_all(struct walk *walk, struct stage *s);

#endif
