#include "models/program/lower_parts.h"

void lower_walk_begin(struct pass_walk *walk, const struct stage *s, const struct pass *pass)
{
    const uint32_t *first = &s->units.chunk_first[pass->chunk];
    *walk = (struct pass_walk){.pass = pass, .unit_end = first[1] - first[0]};
}

static uint32_t unit_of(const struct pass_walk *walk, const struct stage *s)
{
    const uint32_t *first = &s->units.chunk_first[walk->pass->chunk];
    return pass_is_forward(walk->pass) ? first[0] + walk->unit : first[1] - 1 - walk->unit;
}

/* The nth list of a unit in this pass; NULL: it has no more. A group of layers runs from its one
 * input up to this unit, which needs no more than its own backward reads. */
static const struct piece_list *list_of(const struct stage *s, const struct pass_walk *walk,
                                        uint32_t index, uint32_t nth,
                                        const struct lowered_unit **each)
{
    const struct lowered_unit *u = &s->units.rows[index];
    const struct pass *pass = walk->pass;
    const bool paired = walk->paired && u->block->paired_forward.count > 0;
    const bool again = pass->kind == PASS_BACKWARD || pass->kind == PASS_BACKWARD_INPUT;
    *each = u;
    if (again && nth < u->again) {
        *each = &s->units.rows[index + nth + 1 - u->again];
        return nth + 1 < u->again ? &(*each)->block->whole : &u->block->recompute;
    }
    if (nth > (again ? u->again : 0))
        return NULL;
    switch (pass->kind) {
    case PASS_BACKWARD:
        return paired ? &u->block->paired_backward : &u->block->backward;
    case PASS_BACKWARD_INPUT:
        return &u->block->input;
    case PASS_WEIGHTS:
        return &u->block->weights;
    default:
        return paired ? &u->block->paired_forward : &u->block->forward;
    }
}

static void begin_unit(struct pass_walk *walk, struct stage *s, uint32_t index)
{
    lower_labels_unit(&s->labels, s->units.rows[index].layer);
    lower_offload_unit_begin(s, walk->pass, index);
    lower_data_unit_begin(s, walk->pass, index);
    walk->begun = true;
    walk->lists = 0;
}

static void end_unit(struct pass_walk *walk, struct stage *s, uint32_t index)
{
    if (pass_ends_microbatch(walk->pass))
        lower_data_unit_gradient(s, index);
    lower_offload_unit_end(s, walk->pass, index);
    lower_data_unit_end(s, walk->pass, index);
    lower_labels_unit_end(&s->labels);
    walk->begun = false;
    walk->unit++;
}

static void begin_list(struct pass_walk *walk, struct stage *s)
{
    walk->lists++;
    walk->piece = 0;
    lower_labels_unit_end(&s->labels);
    lower_labels_unit(&s->labels, walk->each->layer);
}

static void end_list(struct pass_walk *walk, struct stage *s)
{
    lower_late_launched(&s->late, walk->list->launches);
    lower_ops_host(&s->ops, walk->list->host_left_s);
    walk->list = NULL;
}

/* Enters the next list. */
static bool advance(struct pass_walk *walk, struct stage *s)
{
    while (walk->list == NULL && walk->unit < walk->unit_end) {
        const uint32_t index = unit_of(walk, s);
        if (!walk->begun)
            begin_unit(walk, s, index);
        walk->list = list_of(s, walk, index, walk->lists, &walk->each);
        if (walk->list == NULL)
            end_unit(walk, s, index);
        else
            begin_list(walk, s);
    }
    return walk->list != NULL;
}

static void write_piece(struct stage *s, const struct lowered_piece *piece,
                        const struct lowered_unit *unit)
{
    if (s->l->runs) {
        lower_ops_new_piece(&s->ops, piece);
        return;
    }
    lower_ops_piece(&s->ops, piece);
    if (piece->kind == OP_COMPUTE)
        lower_memory_piece(s, piece, unit);
}

const struct lowered_piece *lower_walk_piece(struct pass_walk *walk, struct stage *s)
{
    while (advance(walk, s)) {
        if (walk->piece < walk->list->count) {
            const struct lowered_piece *piece = &walk->list->rows[walk->piece++];
            write_piece(s, piece, walk->each);
            if (walk->piece == walk->list->count)
                end_list(walk, s);
            return piece;
        }
        end_list(walk, s);
    }
    return NULL;
}

void lower_walk_all(struct pass_walk *walk, struct stage *s)
{
    while (lower_walk_piece(walk, s) != NULL)
        continue;
}
