/* ledger.h - the HBM ledger: every allocation and free of a rank, in the order in which the software
 * makes them, through a model of the caching allocator.
 *
 * Two curves: allocated (rounded blocks in use) and reserved (segments taken from the card). What
 * does not go through the allocator (CUDA context, communicator buffers) counts in both. The order
 * is the host's, so peaks do not depend on times; the worker tells when each op was. Allocation
 * rules: PyTorch c10/cuda/CUDACachingAllocator.cpp (512 B rounding; small pool up to 1 MiB in 2 MiB
 * segments; 20 MiB segments up to 10 MiB; above, rounded to 2 MiB; best fit, split, merge; cached
 * segments are given back before it fails). docs/models/memory.md. */
#ifndef ORRERY_MODELS_LEDGER_H
#define ORRERY_MODELS_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/arena.h"

enum tenant {
    TENANT_WEIGHTS,
    TENANT_GRADIENTS,
    TENANT_MASTER,
    TENANT_MOMENTS,
    TENANT_ACTIVATIONS,
    TENANT_TEMPORARY,
    TENANT_COMMUNICATION, /* NCCL buffers, pipeline receive buffers, gathered units, buckets */
    TENANT_CONTEXT,
    TENANT_FRAGMENTATION, /* reserved - allocated; never in an entry */
    TENANT_COUNT
};
extern const char *const tenant_names[TENANT_COUNT];

enum ledger_action { LEDGER_ALLOCATE, LEDGER_FREE };
enum ledger_flag {
    LEDGER_OUTSIDE = 1,    /* not through the allocator: context, communicator buffers */
    LEDGER_FIRST_STEP = 2, /* happens in the first step only (moments built lazily) */
    LEDGER_STAYS = 4       /* an allocation of a step that is never freed (with FIRST_STEP) */
};
struct ledger_entry { /* 40 bytes */
    uint8_t action, tenant, flags, reserved;
    uint32_t tensor;      /* number of this block within the rank; a free names its allocation */
    double bytes;
    const char *name;     /* "qkv output", "exp_avg": a literal or in the arena */
    const char *call_site; /* "forward", "optimizer construction": where in the software */
    uint16_t layer, microbatch; /* labels; UINT16_MAX: none */
    uint32_t op;          /* index + 1 of the op of the step it hangs on; 0: setup */
};

struct ledger_failure {
    bool failed;
    struct ledger_entry entry; /* the allocation that did not fit */
    uint32_t step;             /* 0: setup; 1: first step; 2: a later step */
    double allocated_bytes, reserved_bytes; /* at that moment, before it */
    double short_bytes;        /* how much more the card would have needed */
};
struct ledger_point { /* one moment of the timeline of the last step */
    uint32_t entry;        /* row of the program's ledger */
    double allocated_bytes, reserved_bytes;
};
struct ledger_result {
    double peak_allocated_bytes, peak_reserved_bytes;
    double tenants[TENANT_COUNT];        /* at the moment of the reserved peak, fragmentation last */
    uint32_t peak_step, peak_op;         /* where the reserved peak was first reached */
    double allocated_after_setup_bytes;
    struct ledger_failure failure;
    struct ledger_point *points;         /* when asked for; of the last step played */
    uint32_t point_count;
};
struct ledger_limits {
    double usable_bytes;       /* what a process can allocate on a clean card */
    bool expandable_segments;
};

struct program;
/* Plays setup, the first step and one more on the allocator; stops at the first failure. With
 * `points`, keeps the timeline. With usable_bytes = INFINITY nothing fails: what would be needed. */
void ledger_play(struct arena *arena, const struct program *program,
                 const struct ledger_limits *limits, bool points, struct ledger_result *out);

#endif
