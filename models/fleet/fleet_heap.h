/* fleet_heap.h - the lives of a cause's units, the first to end on top; see fleet_pool.h.
 *
 * Workload: as many replacements of the top as pops; a few hundred lives at most in a run of weeks,
 * for units that have not failed yet are not in it. */
#ifndef ORRERY_MODELS_FLEET_FLEET_HEAP_H
#define ORRERY_MODELS_FLEET_FLEET_HEAP_H

#include <stdint.h>

#include "sim/arena.h"

struct fleet_life {
    double due_s; /* on the cause's clock, with the time that its carrier is known to stand still */
    double own_s; /* on the clock of its carrier */
    uint32_t unit, generation;
};
struct fleet_heap {
    struct fleet_life *lives;
    uint32_t count, capacity;
};

void fleet_heap_push(struct fleet_heap *heap, struct arena *arena, struct fleet_life life);
void fleet_heap_pop(struct fleet_heap *heap);
/* The top gets this in its stead. */
void fleet_heap_replace(struct fleet_heap *heap, struct fleet_life life);

#endif
