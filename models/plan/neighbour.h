/* neighbour.h - the layouts one change away from a given one that hold less on each rank: what a
 * person tries when memory ends. Each is legal by the rules of configuration_check, is played on
 * the real ledger, and what fits is played as a real step.
 *
 * A change is a few keys of the scenario, spelt as --set takes them. When no single change fits,
 * two together are tried. Deterministic; costs a step for each layout that fits. It knows nothing
 * of files or reports. */
#ifndef ORRERY_MODELS_PLAN_NEIGHBOUR_H
#define ORRERY_MODELS_PLAN_NEIGHBOUR_H

#include "models/layout/configuration.h"
#include "sim/arena.h"

enum neighbour_move {
    MOVE_SHARDING,   /* one that holds fewer bytes of state */
    MOVE_MICROBATCH, /* half of it */
    MOVE_RECOMPUTE,  /* the next level that frees something */
    MOVE_SEQUENCE_PARALLEL,
    MOVE_CHUNKS,   /* 1f1b in place of an interleaved schedule */
    MOVE_SEGMENTS, /* expandable segments of the allocator */
    MOVE_TP,       /* twice as many, half the replicas */
    MOVE_TP_SPLIT, /* the same with sequence parallelism */
    MOVE_PP,
    MOVE_CP,
    MOVE_COUNT
};
struct neighbour {
    const char *set; /* "layout.tp=2 layout.dp=4"; of what neighbour_search found */
    enum neighbour_move move;
    struct configuration c;
    bool timed; /* its step was played: not when that takes too many ops */
    double step_s, tokens_per_s, peak_reserved_bytes;
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
void neighbour_search(struct arena *arena, const struct configuration *c,
                      struct neighbourhood *out);
/* The keys in which `to` differs from `from`, as --set takes them: "layout.tp=2 layout.dp=4". Of
 * those that a move changes. */
const char *neighbour_spell(struct arena *arena, const struct configuration *from,
                            const struct configuration *to);

#endif
