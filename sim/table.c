/* Invariants
 * 1. slot_count is 0 or a power of two, and at most half of the slots are taken, so that a search
 *    ends at a free slot.
 * 2. From the slot that its hash chooses to the one where a thing stands no slot is free. */
#include "sim/table.h"

#include <string.h>

#include "sim/check.h"

enum {
    SLOTS_FIRST = 64
};

void table_widen(struct table *table, struct arena *arena)
{
    const struct table old = *table;
    CHECK(old.slot_count < UINT32_C(1) << 31);
    table->slot_count = old.slot_count > 0 ? 2 * old.slot_count : SLOTS_FIRST;
    table->hashes = ARENA_ARRAY(arena, uint64_t, table->slot_count);
    table->numbers = ARENA_ARRAY(arena, uint32_t, table->slot_count);
    for (uint32_t i = 0; i < old.slot_count; i++) {
        if (old.numbers[i] == 0)
            continue;
        uint32_t slot = (uint32_t)old.hashes[i] & (table->slot_count - 1);
        while (table->numbers[slot] != 0) /* all differ: invariant 2 needs no comparison */
            slot = (slot + 1) & (table->slot_count - 1);
        table->hashes[slot] = old.hashes[i];
        table->numbers[slot] = old.numbers[i];
    }
}

void table_clear(struct table *table)
{
    if (table->slot_count > 0)
        memset(table->numbers, 0, table->slot_count * sizeof *table->numbers);
    table->count = 0;
}
