/* table.h - numbers for things, from 0 in the order in which they are first met.
 *
 * A hash table of open addressing that keeps hashes and numbers only: what a number stands for is a
 * row of the caller, who says by a function whether a row is the thing that is asked for. Without
 * a function the hash is the thing: two of one hash get one number. All zero is an empty table.
 *
 * Workload: asked far more often than added to, never removed from; so slots lie in two arrays that
 * are at most half full, and a row is looked at only where all 64 bits of its hash agree. The low
 * bits choose the slot: a hash must be mixed well (random_hash of sim/random.h, FNV-1a of texts).
 * It knows no rows and no keys, and gives the same numbers to the same calls on every host. */
#ifndef ORRERY_SIM_TABLE_H
#define ORRERY_SIM_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/arena.h"

#define TABLE_NONE UINT32_MAX

struct table {
    uint64_t *hashes;  /* by slot */
    uint32_t *numbers; /* by slot: the number + 1; 0: a free slot */
    uint32_t slot_count, count;
};

/* Is row `number` of `rows` the thing that `key` tells of? */
typedef bool table_same_fn(const void *rows, uint32_t number, const void *key);

void table_widen(struct table *table, struct arena *arena); /* twice the slots */
void table_clear(struct table *table);                      /* empty again, with its slots */

/* The slot of this thing, or the free one where it belongs. */
static inline uint32_t table_slot(const struct table *table, uint64_t hash, table_same_fn *same,
                                  const void *rows, const void *key)
{
    uint32_t slot = (uint32_t)hash & (table->slot_count - 1);
    while (table->numbers[slot] != 0 &&
           (table->hashes[slot] != hash ||
            (same != NULL && !same(rows, table->numbers[slot] - 1, key))))
        slot = (slot + 1) & (table->slot_count - 1);
    return slot;
}

/* The number of this thing; TABLE_NONE: it has none. */
static inline uint32_t table_find(const struct table *table, uint64_t hash, table_same_fn *same,
                                  const void *rows, const void *key)
{
    if (table->count == 0)
        return TABLE_NONE;
    uint32_t number = table->numbers[table_slot(table, hash, same, rows, key)];
    return number > 0 ? number - 1 : TABLE_NONE;
}

/* The same; a thing without a number gets the next one, which is the count before. */
static inline uint32_t table_number(struct table *table, struct arena *arena, uint64_t hash,
                                    table_same_fn *same, const void *rows, const void *key)
{
    if (table->count >= table->slot_count / 2)
        table_widen(table, arena);
    uint32_t slot = table_slot(table, hash, same, rows, key);
    if (table->numbers[slot] == 0) {
        table->hashes[slot] = hash;
        table->numbers[slot] = ++table->count;
    }
    return table->numbers[slot] - 1;
}

#endif
