/* job_outside.h - a part of the player `job`: what comes to it from outside (repairs that end,
 * replicas that come back, faults that are found, maintenance, the end of the time), in order of
 * time, then of pushing.
 *
 * It keeps the order and knows nothing of what an event means: the thing that it is about may have
 * changed since, which `version` tells. A binary heap: a few entries, bounded by the nodes, their
 * replicas and their faults. */
#ifndef ORRERY_MODELS_JOB_JOB_OUTSIDE_H
#define ORRERY_MODELS_JOB_JOB_OUTSIDE_H

#include "sim/arena.h"

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
struct job_outside {
    struct arena *arena;
    struct outside_event *events; /* heap */
    uint32_t count, size;
    uint64_t pushed;
    struct outside_event last; /* that came */
};

void job_outside_create(struct job_outside *outside, struct arena *arena);
/* At INFINITY nothing comes, and nothing is kept. */
void job_outside_push(struct job_outside *outside, double at_s, enum outside_kind kind, uint32_t id,
                      uint64_t version);
/* The next one comes; there is one. */
void job_outside_pop(struct job_outside *outside, struct outside_event *out);
double job_outside_next_s(const struct job_outside *outside); /* INFINITY: nothing comes */
/* Without taking it; NULL: nothing comes. Valid up to the next call of those above. */
const struct outside_event *job_outside_next(const struct job_outside *outside);

#endif
