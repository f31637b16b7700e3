/* ledger.h - the HBM ledger: every allocation and free of a rank, in the order in which the
 * software makes them, through a model of the caching allocator.
 *
 * Two curves: allocated (rounded blocks in use) and reserved (segments taken from the card). What
 * does not go through the allocator (CUDA context, communicator buffers) counts in both. The order
 * is the host's, so peaks do not depend on times; the worker tells when each op was. Allocation
 * rules: PyTorch c10/cuda/CUDACachingAllocator.cpp (512 B rounding; small pool up to 1 MiB in 2 MiB
 * segments; 20 MiB segments up to 10 MiB; above, rounded to 2 MiB; best fit, split, merge; cached
 * segments are given back before it fails). docs/models/memory.md. */
#ifndef ORRERY_MODELS_MEMORY_LEDGER_H
#define ORRERY_MODELS_MEMORY_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "models/program/ledger_entry.h"
#include "sim/arena.h"

extern const char *const tenant_names[TENANT_COUNT];

struct ledger_failure {
    bool failed;
    struct ledger_entry entry;              /* the allocation that did not fit */
    uint32_t step;                          /* 0: setup; 1: first step; 2: a later step */
    double allocated_bytes, reserved_bytes; /* at that moment, before it */
    double short_bytes;                     /* how much more the card would have needed */
};
struct ledger_point { /* one moment of the timeline of the last step */
    uint32_t entry;   /* row of the program's ledger */
    uint8_t tenant;   /* whose bytes it changed */
    double allocated_bytes, reserved_bytes;
};
struct ledger_result {
    double peak_allocated_bytes, peak_reserved_bytes;
    double tenants[TENANT_COUNT]; /* at the moment of the reserved peak, fragmentation last */
    double before[TENANT_COUNT];  /* as the last step played began: their sum is allocated */
    uint32_t peak_step, peak_op;  /* where the reserved peak was first reached */
    double allocated_after_setup_bytes;
    double outside_bytes; /* in both curves, but not through the allocator: at the end */
    struct ledger_failure failure;
    struct ledger_point *points; /* when asked for; of the last step played */
    uint32_t point_count;
};
struct ledger_limits {
    double usable_bytes; /* what a process can allocate on a clean card */
    bool expandable_segments;
};

struct program;
/* Plays setup, the first step and one more on the allocator; stops at the first failure. With
 * `points`, keeps the timeline. With usable_bytes = INFINITY nothing fails: what would be needed.
 */
void ledger_play(struct arena *arena, const struct program *program,
                 const struct ledger_limits *limits, bool points, struct ledger_result *out);

#endif
