/* Invariants:
 * 1. Runs are not empty; blocks ascend by (size, address) within a run and from run to run.
 * 2. No two blocks have the same address. */
#include "models/memory/free_blocks.h"

#include <string.h>

#include "sim/check.h"
#include "sim/list.h"

struct position {
    uint32_t run, at;
};

static bool before(const struct free_block *x, uint64_t bytes, uint64_t address)
{
    return (x->bytes < bytes) | ((x->bytes == bytes) & (x->address < address));
}

/* The first block that is at least the key; of none, the end of the last run. */
static struct position find(const struct free_blocks *all, uint64_t bytes, uint64_t address)
{
    uint32_t run = 0, runs = all->run_count;
    while (runs > 1) { /* the first run whose last block is at least the key, or the last run */
        uint32_t half = runs / 2;
        const struct free_run *left = all->runs[run + half - 1];
        bool right = before(&left->blocks[left->count - 1], bytes, address);
        run = right ? run + half : run;
        runs = right ? runs - half : half;
    }
    if (runs == 0)
        return (struct position){0, 0};
    const struct free_run *r = all->runs[run];
    uint32_t low = 0, count = r->count;
    while (count > 0) {
        uint32_t half = count / 2;
        bool right = before(&r->blocks[low + half], bytes, address);
        low = right ? low + half + 1 : low;
        count = right ? count - half - 1 : half;
    }
    return (struct position){run, low};
}

/* An empty run at this place of the list. */
static struct free_run *insert_run(struct free_blocks *all, struct arena *arena, uint32_t at)
{
    struct free_run *run = all->spare;
    if (run != NULL)
        all->spare = run->next;
    else
        run = ARENA_NEW(arena, struct free_run);
    LIST_ROOM(arena, all->runs, all->run_count, 1, all->capacity);
    memmove(&all->runs[at + 1], &all->runs[at], (all->run_count - at) * sizeof *all->runs);
    all->runs[at] = run;
    all->run_count++;
    run->count = 0;
    return run;
}

static void remove_run(struct free_blocks *all, uint32_t at)
{
    struct free_run *run = all->runs[at];
    run->next = all->spare;
    all->spare = run;
    all->run_count--;
    memmove(&all->runs[at], &all->runs[at + 1], (all->run_count - at) * sizeof *all->runs);
}

/* Moves the upper half of a full run to one of its own. */
static void split(struct free_blocks *all, struct arena *arena, uint32_t at)
{
    struct free_run *upper = insert_run(all, arena, at + 1), *lower = all->runs[at];
    upper->count = lower->count / 2;
    lower->count -= upper->count;
    memcpy(upper->blocks, &lower->blocks[lower->count], upper->count * sizeof *upper->blocks);
}

void free_blocks_add(struct free_blocks *all, struct arena *arena, struct free_block block)
{
    if (all->run_count == 0)
        insert_run(all, arena, 0);
    struct position p = find(all, block.bytes, block.address);
    if (all->runs[p.run]->count == FREE_RUN_MAX) {
        split(all, arena, p.run);
        p = find(all, block.bytes, block.address);
    }
    struct free_run *r = all->runs[p.run];
    memmove(&r->blocks[p.at + 1], &r->blocks[p.at], (r->count - p.at) * sizeof *r->blocks);
    r->blocks[p.at] = block;
    r->count++;
}

static struct free_block take_at(struct free_blocks *all, struct position p)
{
    struct free_run *r = all->runs[p.run];
    struct free_block block = r->blocks[p.at];
    r->count--;
    memmove(&r->blocks[p.at], &r->blocks[p.at + 1], (r->count - p.at) * sizeof *r->blocks);
    if (r->count == 0)
        remove_run(all, p.run);
    return block;
}

static bool is_there(const struct free_blocks *all, struct position p)
{
    return p.run < all->run_count && p.at < all->runs[p.run]->count;
}

bool free_blocks_take(struct free_blocks *all, uint64_t bytes, struct free_block *out)
{
    struct position p = find(all, bytes, 0);
    if (!is_there(all, p))
        return false;
    *out = take_at(all, p);
    return true;
}

bool free_blocks_take_largest(struct free_blocks *all, uint64_t bytes, struct free_block *out)
{
    if (all->run_count == 0)
        return false;
    const struct free_run *last = all->runs[all->run_count - 1];
    if (last->blocks[last->count - 1].bytes < bytes)
        return false;
    *out = take_at(all, (struct position){all->run_count - 1, last->count - 1});
    return true;
}

void free_blocks_remove(struct free_blocks *all, struct free_block block)
{
    struct position p = find(all, block.bytes, block.address);
    CHECK(is_there(all, p) && all->runs[p.run]->blocks[p.at].row == block.row);
    take_at(all, p);
}

void free_blocks_filter(struct free_blocks *all, free_blocks_keep_fn *keep, void *context)
{
    for (uint32_t i = 0; i < all->run_count;) {
        struct free_run *r = all->runs[i];
        uint32_t kept = 0;
        for (uint32_t k = 0; k < r->count; k++)
            if (keep(context, &r->blocks[k]))
                r->blocks[kept++] = r->blocks[k];
        r->count = kept;
        if (kept == 0)
            remove_run(all, i);
        else
            i++;
    }
}
