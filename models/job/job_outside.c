/* job_outside.c - a heap of what comes from outside.
 *
 * Invariants
 * 1. No event is before its parent: events[0] comes first of all.
 * 2. Events come in the order of (time, pushing): none is pushed for a time before that of the last
 *    one that came, but for rounding, and of one moment the one that was pushed first comes first.
 * 3. Every event has a moment. */
#include "models/job/job_outside.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "sim/check.h"

static bool before(const struct outside_event *a, const struct outside_event *b)
{
    return a->at_s < b->at_s || (a->at_s == b->at_s && a->order < b->order);
}

void job_outside_create(struct job_outside *outside, struct arena *arena)
{
    *outside = (struct job_outside){.arena = arena, .last.at_s = -INFINITY};
}

static void grow(struct job_outside *outside)
{
    uint32_t size = outside->size == 0 ? 16 : 2 * outside->size;
    struct outside_event *events = ARENA_ARRAY(outside->arena, struct outside_event, size);
    if (outside->count > 0) {
        memcpy(events, outside->events, outside->count * sizeof *events);
    }
    outside->events = events;
    outside->size = size;
}

void job_outside_push(struct job_outside *outside, double at_s, enum outside_kind kind, uint32_t id,
                      uint64_t version)
{
    CHECK(!isnan(at_s)); /* 3 */
    if (isinf(at_s)) {
        return;
    }
    if (outside->count == outside->size) {
        grow(outside);
    }
    struct outside_event event = {at_s, outside->pushed++, kind, id, version};
    uint32_t at = outside->count++;
    while (at > 0 && before(&event, &outside->events[(at - 1) / 2])) {
        outside->events[at] = outside->events[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    outside->events[at] = event;
}

void job_outside_pop(struct job_outside *outside, struct outside_event *out)
{
    CHECK(outside->count > 0);
    *out = outside->events[0];
    CHECK(before(&outside->last, out)); /* 2 */
    struct outside_event last = outside->events[--outside->count];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < outside->count; at = child) {
        if (child + 1 < outside->count &&
            before(&outside->events[child + 1], &outside->events[child])) {
            child++;
        }
        if (!before(&outside->events[child], &last)) {
            break;
        }
        outside->events[at] = outside->events[child];
    }
    outside->events[at] = last;
    CHECK(outside->count == 0 || before(out, &outside->events[0])); /* 1 */
    outside->last = *out;
}

double job_outside_next_s(const struct job_outside *outside)
{
    return outside->count > 0 ? outside->events[0].at_s : INFINITY;
}

const struct outside_event *job_outside_next(const struct job_outside *outside)
{
    return outside->count > 0 ? &outside->events[0] : NULL;
}
