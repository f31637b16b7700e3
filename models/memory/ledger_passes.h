/* ledger_passes.h - the entries of a step, cut where the microbatch changes, so that passes that do
 * the same to memory are found again.
 *
 * The allocator is deterministic: two moments with the same blocks under the same tensors and the
 * same segments have the same future if the same entries follow. A step of many microbatches falls
 * into such a cycle after a few of them; the ledger then goes on from cycle to cycle without
 * playing it. Relies on 64-bit hashes, as symmetry does. Workload: up to thousands of passes,
 * cycles of one to tens of passes. It knows no allocator. */
#ifndef ORRERY_MODELS_MEMORY_LEDGER_PASSES_H
#define ORRERY_MODELS_MEMORY_LEDGER_PASSES_H

#include <stdint.h>

#include "models/program/ledger_entry.h"
#include "sim/arena.h"

struct ledger_moment { /* what the future of the allocator depends on, at the start of a pass */
    uint64_t blocks;   /* sum of hashes of tensor, address and size of each block in use */
    uint64_t segments; /* how often segments were taken or given back */
};
struct ledger_pass {
    uint32_t begin, end; /* entries */
    uint64_t content;    /* hash of what its entries do */
    struct ledger_moment before;
};
struct ledger_passes {
    struct ledger_pass *passes;
    uint32_t count;
};

struct ledger_passes ledger_passes_cut(struct arena *arena, const struct ledger_entry *entries,
                                       uint32_t count);
/* Number of passes up to `at` that are about to repeat exactly; 0: none. The moments before the
 * passes up to `at` are noted. Marks the moments of the repetition. */
uint32_t ledger_passes_repeat(struct ledger_passes *passes, uint32_t at);

#endif
