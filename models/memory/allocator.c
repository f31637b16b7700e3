/* Invariants:
 * 1. Blocks of a segment form a list by address that tiles the segment; no two free ones adjoin.
 * 2. `order` of a pool holds exactly its free blocks, ascending by (size, number of birth).
 * 3. allocated = sum of blocks in use + outside; reserved = sum of segments + outside.
 * 4. reserved <= limit after every call. */
#include "models/memory/allocator.h"

#include <math.h>

#include "models/memory/free_blocks.h"
#include "sim/check.h"
#include "sim/list.h"
#include "sim/units.h"

enum pool_name {
    POOL_SMALL,
    POOL_LARGE,
    POOL_SIDE_SMALL, /* of another stream */
    POOL_SIDE_LARGE,
    POOL_COUNT
};
#define NO_BLOCK UINT32_MAX

static const double block_round_bytes = 512.0;
static const double small_limit_bytes = 1.0 * MIB;
static const double small_segment_bytes = 2.0 * MIB;
static const double large_segment_bytes = 20.0 * MIB;
static const double large_limit_bytes = 10.0 * MIB;
static const double segment_round_bytes = 2.0 * MIB;

struct allocator_block {
    double bytes;
    uint64_t address; /* order of birth of the segment, then offset: breaks ties like an address */
    uint32_t previous, next; /* by address, within the segment; NO_BLOCK at the ends */
    uint8_t pool;
    bool used, alive;
};
struct pool {
    struct free_blocks order;
    uint32_t tail; /* expandable: the last block of the one segment */
};
struct allocator {
    struct arena *arena;
    struct allocator_block *blocks;
    uint32_t block_count, block_capacity;
    uint32_t spare; /* list of dead block rows, by `next` */
    struct pool pools[POOL_COUNT];
    double limit_bytes, allocated_bytes, reserved_bytes, short_bytes;
    uint64_t next_address;
    uint64_t changes;
    bool expandable;
};

static double round_up(double bytes, double step)
{
    return ceil(bytes / step) * step;
}

struct allocator *allocator_create(struct arena *arena, double limit_bytes, bool expandable)
{
    struct allocator *a = ARENA_NEW(arena, struct allocator);
    a->arena = arena;
    a->limit_bytes = limit_bytes;
    a->expandable = expandable;
    a->spare = NO_BLOCK;
    for (unsigned p = 0; p < POOL_COUNT; p++)
        a->pools[p].tail = NO_BLOCK;
    return a;
}

static uint32_t block_new(struct allocator *a, struct allocator_block block)
{
    uint32_t row = a->spare;
    if (row != NO_BLOCK) {
        a->spare = a->blocks[row].next;
    } else {
        LIST_ROOM(a->arena, a->blocks, a->block_count, 1, a->block_capacity);
        row = a->block_count++;
    }
    block.alive = true;
    a->blocks[row] = block;
    return row;
}

static void block_drop(struct allocator *a, uint32_t row)
{
    a->blocks[row].alive = false;
    a->blocks[row].next = a->spare;
    a->spare = row;
}

static struct free_block free_block_of(const struct allocator *a, uint32_t row)
{
    return (struct free_block){(uint64_t)a->blocks[row].bytes, a->blocks[row].address, row};
}

static void order_add(struct allocator *a, uint32_t row)
{
    free_blocks_add(&a->pools[a->blocks[row].pool].order, a->arena, free_block_of(a, row));
}

static void order_remove(struct allocator *a, uint32_t row)
{
    free_blocks_remove(&a->pools[a->blocks[row].pool].order, free_block_of(a, row));
}

static bool is_small(unsigned pool)
{
    return pool == POOL_SMALL || pool == POOL_SIDE_SMALL;
}

static double page_bytes(unsigned pool)
{
    return is_small(pool) ? small_segment_bytes : large_segment_bytes;
}

/* Takes a free block that is not in the order out of its list. */
static void unlink_block(struct allocator *a, uint32_t row)
{
    struct allocator_block *b = &a->blocks[row];
    if (b->previous != NO_BLOCK)
        a->blocks[b->previous].next = b->next;
    if (b->next != NO_BLOCK)
        a->blocks[b->next].previous = b->previous;
    if (a->pools[b->pool].tail == row)
        a->pools[b->pool].tail = b->previous;
    block_drop(a, row);
}

/* Expandable: unmaps the whole pages of free blocks, largest block first. */
static void release_pages(struct allocator *a, unsigned name)
{
    double page = page_bytes(name);
    struct free_block largest;
    while (free_blocks_take_largest(&a->pools[name].order, (uint64_t)page, &largest)) {
        uint32_t row = largest.row;
        double unmapped = floor(a->blocks[row].bytes / page) * page;
        a->reserved_bytes -= unmapped;
        a->blocks[row].bytes -= unmapped;
        if (a->blocks[row].bytes > 0.0)
            order_add(a, row);
        else
            unlink_block(a, row);
    }
}

/* Gives a segment back that is one free block (invariant 1: wholly free is one block). */
static bool keep_part(void *context, const struct free_block *block)
{
    struct allocator *a = context;
    const struct allocator_block *b = &a->blocks[block->row];
    if (b->previous != NO_BLOCK || b->next != NO_BLOCK)
        return true;
    a->reserved_bytes -= b->bytes;
    block_drop(a, block->row);
    return false;
}

static void release_cached(struct allocator *a)
{
    a->changes++;
    for (unsigned name = 0; name < POOL_COUNT; name++)
        if (a->expandable)
            release_pages(a, name);
        else
            free_blocks_filter(&a->pools[name].order, keep_part, a);
}

static bool reserve(struct allocator *a, double bytes)
{
    if (a->reserved_bytes + bytes > a->limit_bytes)
        release_cached(a);
    if (a->reserved_bytes + bytes > a->limit_bytes) {
        a->short_bytes = a->reserved_bytes + bytes - a->limit_bytes;
        return false;
    }
    a->reserved_bytes += bytes;
    a->changes++;
    return true;
}

static double segment_bytes(double bytes)
{
    if (bytes <= small_limit_bytes)
        return small_segment_bytes;
    return bytes < large_limit_bytes ? large_segment_bytes : round_up(bytes, segment_round_bytes);
}

/* A new segment as one free block that is not in the order; NO_BLOCK when the card is full. */
static uint32_t segment_new(struct allocator *a, uint8_t pool, double bytes)
{
    double size = segment_bytes(bytes);
    if (!reserve(a, size))
        return NO_BLOCK;
    struct allocator_block fresh = {.bytes = size,
                                    .address = a->next_address,
                                    .previous = NO_BLOCK,
                                    .next = NO_BLOCK,
                                    .pool = pool};
    a->next_address += (uint64_t)size;
    return block_new(a, fresh);
}

/* Free bytes at the end of an expandable pool's range. */
static double range_tail_bytes(const struct allocator *a, unsigned pool)
{
    uint32_t tail = a->pools[pool].tail;
    return tail != NO_BLOCK && !a->blocks[tail].used ? a->blocks[tail].bytes : 0.0;
}

/* A new last block of `bytes`, not in the order. */
static uint32_t range_append(struct allocator *a, uint8_t pool, double bytes)
{
    uint32_t tail = a->pools[pool].tail;
    uint64_t address = (uint64_t)pool << 60; /* each pool has a range of addresses of its own */
    if (tail != NO_BLOCK)
        address = a->blocks[tail].address + (uint64_t)a->blocks[tail].bytes;
    uint32_t row = block_new(
        a,
        (struct allocator_block){
            .bytes = bytes, .address = address, .previous = tail, .next = NO_BLOCK, .pool = pool});
    if (tail != NO_BLOCK)
        a->blocks[tail].next = row;
    a->pools[pool].tail = row;
    return row;
}

/* Expandable: lengthens the pool's range until its last block holds `bytes`. */
static uint32_t range_grow(struct allocator *a, uint8_t pool, double bytes)
{
    double page = page_bytes(pool);
    double have = range_tail_bytes(a, pool);
    if (a->reserved_bytes + round_up(bytes - have, page) > a->limit_bytes) {
        release_cached(a);
        have = range_tail_bytes(a, pool);
    }
    double more = round_up(bytes - have, page);
    if (!reserve(a, more))
        return NO_BLOCK;
    if (have == 0.0)
        return range_append(a, pool, more);
    uint32_t tail = a->pools[pool].tail;
    order_remove(a, tail);
    a->blocks[tail].bytes += more;
    return tail;
}

/* Cuts what is not needed off a block that is not in the order, and puts the rest there. */
static void split(struct allocator *a, uint32_t row, double bytes)
{
    double rest = a->blocks[row].bytes - bytes;
    bool worth = is_small(a->blocks[row].pool) || a->expandable ? rest >= block_round_bytes
                                                                : rest > small_limit_bytes;
    if (!worth)
        return;
    struct allocator_block tail = a->blocks[row];
    tail.bytes = rest;
    tail.address += (uint64_t)bytes;
    tail.previous = row;
    uint32_t fresh = block_new(a, tail);
    struct allocator_block *b = &a->blocks[row];
    if (b->next != NO_BLOCK)
        a->blocks[b->next].previous = fresh;
    if (a->pools[b->pool].tail == row)
        a->pools[b->pool].tail = fresh;
    b->next = fresh;
    b->bytes = bytes;
    order_add(a, fresh);
}

uint32_t allocator_take(struct allocator *a, double bytes)
{
    return allocator_take_on(a, bytes, false);
}

uint32_t allocator_take_on(struct allocator *a, double bytes, bool side)
{
    double size = round_up(bytes < 1.0 ? 1.0 : bytes, block_round_bytes);
    const bool small = size <= small_limit_bytes;
    const uint8_t name =
        side ? (small ? POOL_SIDE_SMALL : POOL_SIDE_LARGE) : (small ? POOL_SMALL : POOL_LARGE);
    struct free_block found;
    uint32_t row;
    if (free_blocks_take(&a->pools[name].order, (uint64_t)size, &found)) {
        row = found.row;
    } else {
        row = a->expandable ? range_grow(a, name, size) : segment_new(a, name, size);
        if (row == NO_BLOCK)
            return ALLOCATOR_FAILED;
    }
    split(a, row, size);
    a->blocks[row].used = true;
    a->allocated_bytes += a->blocks[row].bytes;
    return row;
}

/* Merges the free block `row` with the block after it. */
static void merge_next(struct allocator *a, uint32_t row)
{
    struct allocator_block *b = &a->blocks[row];
    uint32_t next = b->next;
    b->bytes += a->blocks[next].bytes;
    b->next = a->blocks[next].next;
    if (b->next != NO_BLOCK)
        a->blocks[b->next].previous = row;
    if (a->pools[b->pool].tail == next)
        a->pools[b->pool].tail = row;
    block_drop(a, next);
}

void allocator_give(struct allocator *a, uint32_t row)
{
    CHECK(row < a->block_count && a->blocks[row].alive && a->blocks[row].used);
    a->blocks[row].used = false;
    a->allocated_bytes -= a->blocks[row].bytes;
    uint32_t next = a->blocks[row].next;
    if (next != NO_BLOCK && !a->blocks[next].used) {
        order_remove(a, next);
        merge_next(a, row);
    }
    uint32_t previous = a->blocks[row].previous;
    if (previous != NO_BLOCK && !a->blocks[previous].used) {
        order_remove(a, previous);
        merge_next(a, previous);
        row = previous;
    }
    order_add(a, row);
}

double allocator_block_bytes(const struct allocator *a, uint32_t row)
{
    return a->blocks[row].bytes;
}

uint64_t allocator_block_address(const struct allocator *a, uint32_t row)
{
    return a->blocks[row].address;
}

uint64_t allocator_changes(const struct allocator *a)
{
    return a->changes;
}

bool allocator_take_outside(struct allocator *a, double bytes)
{
    if (!reserve(a, bytes))
        return false;
    a->allocated_bytes += bytes;
    return true;
}

void allocator_give_outside(struct allocator *a, double bytes)
{
    a->allocated_bytes -= bytes;
    a->reserved_bytes -= bytes;
    a->changes++;
}

double allocator_allocated_bytes(const struct allocator *a)
{
    return a->allocated_bytes;
}

double allocator_reserved_bytes(const struct allocator *a)
{
    return a->reserved_bytes;
}

double allocator_short_bytes(const struct allocator *a)
{
    return a->short_bytes;
}
