#include "sim/list.h"

#include <string.h>

#include "sim/check.h"

enum {
    CAPACITY_FIRST = 16
};

void *list_grown(struct arena *arena, const void *rows, size_t size, uint32_t count, uint32_t more,
                 uint32_t *capacity)
{
    CHECK(count <= *capacity && more <= UINT32_MAX - count);
    uint64_t wanted = *capacity > 0 ? 2 * (uint64_t)*capacity : CAPACITY_FIRST;
    while (wanted < (uint64_t)count + more)
        wanted *= 2;
    wanted = wanted < UINT32_MAX ? wanted : UINT32_MAX;
    void *grown = arena_array(arena, size, (size_t)wanted, _Alignof(max_align_t));
    if (count > 0)
        memcpy(grown, rows, size * count);
    *capacity = (uint32_t)wanted;
    return grown;
}
