/* What comes next of a pass. */
#include "models/lower/stage/lower_walk.h"

void lower_walk_begin(struct pass_walk *walk, const struct units *units, const struct pass *pass,
                      bool paired)
{
    const uint32_t *first = &units->chunk_first[pass->chunk];
    *walk = (struct pass_walk){
        .units = units, .pass = pass, .paired = paired, .unit_end = first[1] - first[0]};
}

static uint32_t unit_of(const struct pass_walk *walk)
{
    const uint32_t *first = &walk->units->chunk_first[walk->pass->chunk];
    return pass_is_forward(walk->pass) ? first[0] + walk->unit : first[1] - 1 - walk->unit;
}

/* The nth list of a unit in this pass; NULL: it has no more. A group of layers runs from its one
 * input up to this unit, which needs no more than its own backward reads. */
static const struct piece_list *list_of(const struct pass_walk *walk, uint32_t nth,
                                        const struct lowered_unit **each)
{
    const struct lowered_unit *u = &walk->units->rows[walk->index];
    const struct pass *pass = walk->pass;
    const bool paired = walk->paired && u->block->lists[PIECES_PAIRED_FORWARD].count > 0;
    const bool again = pass->kind == PASS_BACKWARD || pass->kind == PASS_BACKWARD_INPUT;
    *each = u;
    if (again && nth < u->again) {
        *each = &walk->units->rows[walk->index + nth + 1 - u->again];
        return nth + 1 < u->again ? &(*each)->block->lists[PIECES_WHOLE]
                                  : &u->block->lists[PIECES_RECOMPUTE];
    }
    if (nth > (again ? u->again : 0))
        return NULL;
    const enum block_pieces pieces = lower_block_pieces((enum pass_kind)pass->kind);
    if (paired && pieces <= PIECES_BACKWARD)
        return &u->block->lists[pieces == PIECES_FORWARD ? PIECES_PAIRED_FORWARD
                                                         : PIECES_PAIRED_BACKWARD];
    return &u->block->lists[pieces];
}

static enum walk_step begin_unit(struct pass_walk *walk)
{
    if (walk->unit == walk->unit_end)
        return WALK_END;
    walk->index = unit_of(walk);
    walk->begun = true;
    walk->lists = 0;
    walk->list = NULL;
    return WALK_UNIT;
}

static enum walk_step begin_list(struct pass_walk *walk)
{
    walk->list = list_of(walk, walk->lists, &walk->each);
    walk->lists++;
    walk->pieces = 0;
    if (walk->list != NULL)
        return WALK_LIST;
    walk->begun = false;
    walk->unit++;
    return WALK_UNIT_END;
}

enum walk_step lower_walk_next(struct pass_walk *walk)
{
    if (!walk->begun)
        return begin_unit(walk);
    if (walk->list == NULL || walk->pieces == walk->list->count)
        return begin_list(walk);
    walk->piece = &walk->list->rows[walk->pieces++];
    return WALK_PIECE;
}
