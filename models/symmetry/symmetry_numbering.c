/* symmetry_numbering.c - numbers keys in the order in which they are met: a hash table of open
 * addresses that starts small and doubles. Most tables hold few classes, one holds those of every
 * rank. */
#include <string.h>

#include "models/symmetry/symmetry_state.h"

struct numbering numbering_create(struct arena *arena)
{
    const uint64_t size = 64;
    return (struct numbering){.arena = arena,
                              .keys = ARENA_ARRAY(arena, uint64_t, size),
                              .values = ARENA_ARRAY(arena, uint32_t, size),
                              .mask = size - 1};
}

void numbering_clear(struct numbering *n)
{
    memset(n->values, 0, (size_t)(n->mask + 1) * sizeof *n->values);
    n->count = 0;
}

/* Where this key stands, or the free place where it belongs. */
static uint64_t place_of(const struct numbering *n, uint64_t key)
{
    uint64_t at = key & n->mask;
    while (n->values[at] != 0 && n->keys[at] != key) {
        at = (at + 1) & n->mask;
    }
    return at;
}

static void widen(struct numbering *n)
{
    const struct numbering old = *n;
    n->mask = 2 * n->mask + 1;
    n->keys = ARENA_ARRAY(n->arena, uint64_t, n->mask + 1);
    n->values = ARENA_ARRAY(n->arena, uint32_t, n->mask + 1);
    for (uint64_t i = 0; i <= old.mask; i++) {
        if (old.values[i] != 0) {
            const uint64_t at = place_of(n, old.keys[i]);
            n->keys[at] = old.keys[i];
            n->values[at] = old.values[i];
        }
    }
}

uint32_t numbering_of(struct numbering *n, uint64_t key)
{
    uint64_t at = place_of(n, key);
    if (n->values[at] != 0) {
        return n->values[at] - 1;
    }
    if (n->count > n->mask / 2) {
        widen(n);
        at = place_of(n, key);
    }
    n->keys[at] = key;
    n->values[at] = ++n->count;
    return n->count - 1;
}
