/* lower_labels.c - what is being written belongs to.
 *
 * Invariants
 * 1. A layer is named inside a unit only: passes begin, and end, without one.
 * 2. Outside of passes there is neither microbatch nor layer. */
#include "models/lower/stage/lower_labels.h"

#include "sim/check.h"

void lower_labels_none(struct labels *labels)
{
    *labels = (struct labels){.microbatch = UINT16_MAX, .layer = UINT16_MAX};
}

void lower_labels_pass(struct labels *labels, const struct pass *pass)
{
    CHECK(labels->layer == UINT16_MAX);    /* 1 */
    CHECK(pass->microbatch != UINT16_MAX); /* 2 */
    labels->microbatch = pass->microbatch;
    labels->chunk = pass->chunk;
}

void lower_labels_unit(struct labels *labels, uint16_t layer)
{
    CHECK(labels->layer == UINT16_MAX); /* 1 */
    labels->layer = layer;
}

void lower_labels_unit_end(struct labels *labels)
{
    labels->layer = UINT16_MAX;
}

void lower_labels_flags(struct labels *labels, uint8_t flags)
{
    labels->flags = flags;
}

struct labels lower_labels_swap(struct labels *labels, uint16_t microbatch, uint16_t layer)
{
    const struct labels before = *labels;
    labels->microbatch = microbatch;
    labels->layer = layer;
    return before;
}

void lower_labels_set(struct labels *labels, const struct labels *to)
{
    *labels = *to;
}
