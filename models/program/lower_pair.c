/* lower_pair.c - two passes take turns.
 *
 * Invariants
 * 1. A strand waits for nothing of the other: but for the order of their streams they do not know
 *    of each other.
 * 2. What a strand has not waited for when it gives way, it waits for when it goes on. */
#include "models/program/lower_parts.h"
#include "sim/check.h"

void lower_pair_begin(struct pair *pair, struct stage *s, const struct pass *forward,
                      const struct pass *backward)
{
    *pair = (struct pair){.now = STRAND_BACKWARD};
    lower_walk_begin(&pair->strands[STRAND_BACKWARD].walk, s, backward);
    lower_walk_begin(&pair->strands[STRAND_FORWARD].walk, s, forward);
    pair->strands[STRAND_BACKWARD].walk.paired = pair->strands[STRAND_FORWARD].walk.paired = true;
    pair->strands[STRAND_FORWARD].labels = s->labels;
    pair->strands[STRAND_FORWARD].pending = s->ops.pending;
    s->tensors.strand = STRAND_BACKWARD;
}

void lower_pair_take(struct pair *pair, struct stage *s, enum strand_index strand)
{
    if (strand == pair->now)
        return;
    struct strand *from = &pair->strands[pair->now];
    const struct strand *to = &pair->strands[strand];
    from->labels = s->labels;
    from->pending = s->ops.pending; /* 2 */
    s->labels = to->labels;
    s->ops.pending = to->pending; /* 1 */
    s->tensors.strand = strand;
    pair->now = strand;
}

static bool gives_way(const struct lowered_piece *piece)
{
    return piece->kind == OP_COLLECTIVE && piece->stream == STREAM_EP && !piece->beside;
}

/* Writes until rows have been sent. False: the pass is over. */
static bool turn(struct pair *pair, struct stage *s, enum strand_index strand)
{
    const struct lowered_piece *piece;
    lower_pair_take(pair, s, strand);
    do
        piece = lower_walk_piece(&pair->strands[strand].walk, s);
    while (piece != NULL && !gives_way(piece));
    return piece != NULL;
}

void lower_pair_units(struct pair *pair, struct stage *s)
{
    bool more[STRAND_COUNT] = {true, true};
    while (more[STRAND_BACKWARD] || more[STRAND_FORWARD])
        for (int i = STRAND_BACKWARD; i < STRAND_COUNT; i++)
            more[i] = more[i] && turn(pair, s, (enum strand_index)i);
}

void lower_pair_end(struct pair *pair, struct stage *s)
{
    const uint32_t other = pair->strands[STRAND_COUNT - 1 - pair->now].pending.last;
    CHECK(s->ops.pending.waits.count == 0 && s->ops.pending.joining.count == 0);
    s->ops.pending.last = other > s->ops.pending.last ? other : s->ops.pending.last;
    s->tensors.strand = STRAND_BACKWARD;
}
