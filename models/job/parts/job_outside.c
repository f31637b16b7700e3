/* job_outside.c - what comes from outside, in order.
 *
 * Invariants
 * 1. The next event is the first of all.
 * 2. Events come in the order of (time, pushing): none is pushed for a time before that of the last
 *    one that came, and of one moment the one that was pushed first comes first.
 * 3. Every event has a moment. */
#include "models/job/parts/job_outside.h"

void job_outside_create(struct job_outside *outside, struct arena *arena)
{
    *outside = (struct job_outside){.arena = arena, .last.at_s = -INFINITY};
}

void job_outside_push(struct job_outside *outside, double at_s, enum outside_kind kind, uint32_t id,
                      uint64_t version)
{
    CHECK(!isnan(at_s)); /* 3 */
    if (!isinf(at_s)) {
        struct outside_event event = {at_s, outside->pushed++, kind, id, version};
        outside_heap_push(&outside->heap, outside->arena, event);
    }
}

void job_outside_pop(struct job_outside *outside, struct outside_event *out)
{
    CHECK(outside->heap.count > 0);
    *out = outside->heap.items[0];
    CHECK(outside_before(&outside->last, out)); /* 2 */
    outside_heap_pop(&outside->heap);
    const struct outside_event *next = job_outside_next(outside);
    CHECK(next == NULL || outside_before(out, next)); /* 1 */
    outside->last = *out;
}
