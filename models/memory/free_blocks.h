/* free_blocks.h - the free blocks of a pool, in ascending order of (size, address).
 *
 * Runs of at most FREE_RUN_MAX places, each sorted and all in order: to put one in or take one out
 * moves a run, not the whole list. Workload: hundreds of free blocks, a thousand where many
 * microbatches are in flight; one search and one change for each request. It knows no segments. */
#ifndef ORRERY_MODELS_MEMORY_FREE_BLOCKS_H
#define ORRERY_MODELS_MEMORY_FREE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/arena.h"

enum {
    FREE_RUN_MAX = 64
};
struct free_block {
    uint64_t bytes;
    uint64_t address;
    uint32_t row; /* the owner's name for it */
};
struct free_run {
    uint32_t count;        /* never 0 in the list */
    struct free_run *next; /* of the spare ones */
    struct free_block blocks[FREE_RUN_MAX];
};
struct free_blocks { /* all 0: none */
    struct free_run **runs;
    uint32_t run_count, capacity;
    struct free_run *spare;
};

/* What it grows by lives in `arena`. */
void free_blocks_add(struct free_blocks *all, struct arena *arena, struct free_block block);
/* Takes the first block of at least `bytes` out; false when there is none. */
bool free_blocks_take(struct free_blocks *all, uint64_t bytes, struct free_block *out);
/* Takes the last block out when it has at least `bytes`. */
bool free_blocks_take_largest(struct free_blocks *all, uint64_t bytes, struct free_block *out);
/* Takes this block out, which must be there. */
void free_blocks_remove(struct free_blocks *all, struct free_block block);
/* Keeps those of which `keep` says so, asked in order. */
typedef bool free_blocks_keep_fn(void *context, const struct free_block *block);
void free_blocks_filter(struct free_blocks *all, free_blocks_keep_fn *keep, void *context);

#endif
