/* job_outside.h - a part of the player `job`: what comes to it from outside (repairs that end,
 * replicas that come back, faults that are found, maintenance, the end of the time), in order of
 * time, then of pushing.
 *
 * It keeps the order and knows nothing of what an event means: the thing that it is about may have
 * changed since, which `version` tells. A heap of a few entries, bounded by the nodes, their
 * replicas and their faults. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_OUTSIDE_H
#define ORRERY_MODELS_JOB_PARTS_JOB_OUTSIDE_H

#include <math.h>

#include "sim/list.h"

enum outside_kind {
    OUTSIDE_REPAIRED,      /* id: node */
    OUTSIDE_REJOIN,        /* id: replica, its chain is over (replica-level) */
    OUTSIDE_SLOW_END,      /* id: fault; it got well by itself */
    OUTSIDE_SLOW_FOUND,    /* id: fault */
    OUTSIDE_CORRUPT_FOUND, /* id: fault */
    OUTSIDE_MAINTENANCE,
    OUTSIDE_END /* the time is up */
};
struct outside_event {
    double at_s;
    uint64_t order; /* of pushing: ties */
    enum outside_kind kind;
    uint32_t id;
    uint64_t version; /* of the thing it is about; another one: void */
};
static inline bool outside_before(const struct outside_event *a, const struct outside_event *b)
{
    return a->at_s < b->at_s || (a->at_s == b->at_s && a->order < b->order);
}
HEAP_DEFINE(outside_heap, struct outside_event, outside_before, 2)

struct job_outside {
    struct arena *arena;
    struct outside_heap heap;
    uint64_t pushed;
    struct outside_event last; /* that came */
};

void job_outside_create(struct job_outside *outside, struct arena *arena);
/* At INFINITY nothing comes, and nothing is kept. */
void job_outside_push(struct job_outside *outside, double at_s, enum outside_kind kind, uint32_t id,
                      uint64_t version);
/* The next one comes; there is one. */
void job_outside_pop(struct job_outside *outside, struct outside_event *out);
/* Without taking it; NULL: nothing comes. Valid up to the next call of those above. */
static inline const struct outside_event *job_outside_next(const struct job_outside *outside)
{
    return outside->heap.count > 0 ? &outside->heap.items[0] : NULL;
}

static inline double job_outside_next_s(const struct job_outside *outside) /* INFINITY: nothing */
{
    return outside->heap.count > 0 ? outside->heap.items[0].at_s : INFINITY;
}

#endif
