/* Invariants:
 * 1. count <= room; spans stand by track and begin, as they came.
 * 2. The sums of count, busy and wait over the spans are those of all that were added. */
#include "analysis/page/thin.h"

#include <stddef.h>

#include "sim/check.h"

enum {
    COARSE_NS = 1 << 20 /* passes of a step last milliseconds: below that they are kept apart */
};
static const int64_t coarsest = INT64_C(1) << 61;

void thin_begin(struct thin *thin, struct thin_span *spans, uint64_t room)
{
    *thin = (struct thin){.spans = spans, .room = room, .resolution = 1};
}

static bool same_pass(const struct thin_span *a, const struct thin_span *b)
{
    return a->phase == b->phase && a->microbatch == b->microbatch && a->chunk == b->chunk;
}

/* Do both lie in one bin of time, and may they be one span? */
static bool together(const struct thin *thin, const struct thin_span *a, const struct thin_span *b)
{
    const int64_t bin = thin->resolution, last = b->end > a->end ? b->end : a->end;
    return a->track == b->track && bin > 1 && (thin->mixed || same_pass(a, b)) &&
           a->begin / bin == (last > a->begin ? last - 1 : last) / bin;
}

static void merge(struct thin_span *into, const struct thin_span *from)
{
    if (from->longest > into->longest) {
        into->longest = from->longest;
        into->name = from->name;
        into->phase = from->phase;
        into->microbatch = from->microbatch;
        into->layer = from->layer;
        into->chunk = from->chunk;
    }
    if (from->end > into->end)
        into->end = from->end;
    into->busy += from->busy;
    into->wait += from->wait;
    into->count += from->count;
}

static void place(struct thin *thin, const struct thin_span *span)
{
    struct thin_span *before = thin->count > 0 ? &thin->spans[thin->count - 1] : NULL;
    if (before != NULL && together(thin, before, span))
        merge(before, span);
    else
        thin->spans[thin->count++] = *span;
}

static void place_again(struct thin *thin)
{
    const uint64_t all = thin->count;
    thin->count = 0;
    for (uint64_t i = 0; i < all; i++) {
        const struct thin_span span = thin->spans[i]; /* place() writes at or before i */
        place(thin, &span);
    }
    CHECK(thin->count <= all); /* 1 */
}

static void coarsen(struct thin *thin)
{
    thin->resolution *= 2;
    place_again(thin);
    if (!thin->mixed && thin->resolution > COARSE_NS && thin->count > thin->room / 4 * 3) {
        thin->mixed = true;
        place_again(thin);
    }
}

static bool joins_last(const struct thin *thin, const struct thin_span *span)
{
    return thin->count > 0 && together(thin, &thin->spans[thin->count - 1], span);
}

bool thin_add(struct thin *thin, const struct thin_span *span)
{
    const struct thin_span *before = thin->count > 0 ? &thin->spans[thin->count - 1] : NULL;
    CHECK(span->end >= span->begin && span->begin >= 0);
    CHECK(before == NULL || before->track != span->track || before->begin <= span->begin);
    while (thin->count == thin->room && !joins_last(thin, span)) {
        if (thin->resolution >= coarsest)
            return false;
        coarsen(thin);
    }
    place(thin, span);
    return true;
}
