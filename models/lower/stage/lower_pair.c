/* lower_pair.c - two passes take turns.
 *
 * Invariants
 * 1. A strand waits for nothing of the other: but for the order of their streams they do not know
 *    of each other.
 * 2. What a strand has not waited for when it gives way, it waits for when it goes on. */
#include "models/lower/stage/lower_pair.h"

#include "sim/check.h"

void lower_pair_begin(struct pair *pair, const struct pair_parts *parts, const struct units *units,
                      const struct pass *forward, const struct pass *backward)
{
    *pair = (struct pair){.parts = *parts, .now = STRAND_BACKWARD};
    lower_walk_begin(&pair->strands[STRAND_BACKWARD].walk, units, backward, true);
    lower_walk_begin(&pair->strands[STRAND_FORWARD].walk, units, forward, true);
    pair->strands[STRAND_FORWARD].labels = *parts->labels;
    pair->strands[STRAND_FORWARD].pending = parts->ops->pending;
    lower_tensors_strand(parts->tensors, STRAND_BACKWARD);
}

void lower_pair_take(struct pair *pair, enum strand_index strand)
{
    if (strand == pair->now)
        return;
    struct strand *from = &pair->strands[pair->now];
    const struct strand *to = &pair->strands[strand];
    from->labels = *pair->parts.labels;
    from->pending = pair->parts.ops->pending; /* 2 */
    lower_labels_set(pair->parts.labels, &to->labels);
    lower_ops_resume(pair->parts.ops, &to->pending); /* 1 */
    lower_tensors_strand(pair->parts.tensors, strand);
    pair->now = strand;
}

bool lower_pair_gives_way(const struct lowered_piece *piece)
{
    return piece->kind == OP_COLLECTIVE && piece->stream == STREAM_EP && !piece->beside;
}

void lower_pair_end(struct pair *pair)
{
    const uint32_t other = pair->strands[STRAND_COUNT - 1 - pair->now].pending.last;
    struct pending pending = pair->parts.ops->pending;
    CHECK(pending.waits.count == 0 && pending.joining.count == 0);
    pending.last = other > pending.last ? other : pending.last;
    lower_ops_resume(pair->parts.ops, &pending);
    lower_tensors_strand(pair->parts.tensors, STRAND_BACKWARD);
}
