/* Invariants:
 * 1. count <= room; spans stand by track and begin, as they came.
 * 2. The sums of count, busy and wait over the spans are those of all that were added. */
#include "analysis/replay/thin.h"

#include <stddef.h>

#include "sim/check.h"

static const int64_t coarsest = INT64_C(1) << 61;

void thin_begin(struct thin *thin, struct thin_span *spans, uint64_t room)
{
    *thin = (struct thin){.spans = spans, .room = room, .resolution = 1};
}

/* Do both lie in one bin of time? */
static bool together(const struct thin_span *a, const struct thin_span *b, int64_t resolution)
{
    const int64_t last = b->end > a->end ? b->end : a->end;
    return a->track == b->track && resolution > 1 &&
           a->begin / resolution == (last > a->begin ? last - 1 : last) / resolution;
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
    if (before != NULL && together(before, span, thin->resolution))
        merge(before, span);
    else
        thin->spans[thin->count++] = *span;
}

static void coarsen(struct thin *thin)
{
    const uint64_t all = thin->count;
    thin->resolution *= 2;
    thin->count = 0;
    for (uint64_t i = 0; i < all; i++) {
        const struct thin_span span = thin->spans[i]; /* place() writes at or before i */
        place(thin, &span);
    }
    CHECK(thin->count <= all); /* 1 */
}

static bool joins_last(const struct thin *thin, const struct thin_span *span)
{
    return thin->count > 0 && together(&thin->spans[thin->count - 1], span, thin->resolution);
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
