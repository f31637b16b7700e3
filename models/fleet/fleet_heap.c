#include "models/fleet/fleet_heap.h"

#include <stdbool.h>
#include <string.h>

#include "sim/check.h"

/* Ties by unit, so that the order does not depend on how the heap was filled. */
static bool before(const struct fleet_life *a, const struct fleet_life *b)
{
    return a->due_s < b->due_s || (a->due_s == b->due_s && a->unit < b->unit);
}

static void grow(struct fleet_heap *heap, struct arena *arena)
{
    uint32_t capacity = heap->capacity > 0 ? 2 * heap->capacity : 16;
    struct fleet_life *lives = ARENA_ARRAY(arena, struct fleet_life, capacity);
    if (heap->count > 0)
        memcpy(lives, heap->lives, heap->count * sizeof *lives);
    heap->lives = lives;
    heap->capacity = capacity;
}

void fleet_heap_push(struct fleet_heap *heap, struct arena *arena, struct fleet_life life)
{
    if (heap->count == heap->capacity)
        grow(heap, arena);
    uint32_t place = heap->count++;
    for (; place > 0 && before(&life, &heap->lives[(place - 1) / 2]); place = (place - 1) / 2)
        heap->lives[place] = heap->lives[(place - 1) / 2];
    heap->lives[place] = life;
}

void fleet_heap_replace(struct fleet_heap *heap, struct fleet_life life)
{
    uint32_t place = 0;
    for (uint32_t child = 1; child < heap->count; child = 2 * place + 1) {
        if (child + 1 < heap->count && before(&heap->lives[child + 1], &heap->lives[child]))
            child++;
        if (before(&life, &heap->lives[child]))
            break;
        heap->lives[place] = heap->lives[child];
        place = child;
    }
    heap->lives[place] = life;
}

void fleet_heap_pop(struct fleet_heap *heap)
{
    CHECK(heap->count > 0);
    heap->count--;
    if (heap->count > 0)
        fleet_heap_replace(heap, heap->lives[heap->count]);
}
