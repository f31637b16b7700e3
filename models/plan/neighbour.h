/* neighbour.h - the layouts one change away from a given one that hold less on each rank: what a
 * person tries when memory ends. Each is legal by the rules of configuration_check, is played on
 * the real ledger, and what fits is played as a real step.
 *
 * A change is a few keys of the scenario, spelt as --set takes them, and what it promises is what
 * who makes it gets (change.h). When no single change fits, two together are tried. Deterministic;
 * costs a few steps for each layout that fits. It knows nothing of files or reports. */
#ifndef ORRERY_MODELS_PLAN_NEIGHBOUR_H
#define ORRERY_MODELS_PLAN_NEIGHBOUR_H

#include "models/plan/change.h"

enum neighbour_move {
    MOVE_SHARDING,   /* one that holds fewer bytes of state */
    MOVE_MICROBATCH, /* half of it */
    MOVE_RECOMPUTE,  /* the next level that frees something */
    MOVE_SEQUENCE_PARALLEL,
    MOVE_SCHEDULE, /* 1f1b in place of another: none holds less of a pipeline */
    MOVE_SEGMENTS, /* expandable segments of the allocator */
    MOVE_TP,       /* twice as many, half the replicas */
    MOVE_TP_SPLIT, /* the same with sequence parallelism */
    MOVE_PP,
    MOVE_CP,
    MOVE_COUNT
};
struct neighbour {
    enum neighbour_move move;
    struct configuration c;
    struct change made; /* of what neighbour_search found */
};
struct neighbourhood {
    struct neighbour *fitting; /* fastest first; those that were not timed last */
    unsigned fitting_count, tried_count;
    unsigned changes; /* that each of them takes: 1 or 2 */
};
/* Writes the legal neighbours of `c`, at most NEIGHBOUR_MAX, and returns how many there are. */
enum {
    NEIGHBOUR_MAX = 32
};
unsigned neighbour_list(const struct configuration *c, struct neighbour *out);
void neighbour_search(struct arena *arena, const struct change_question *question,
                      struct neighbourhood *out);

#endif
