/* list.h - an array that grows: rows that lie together, and room for more; and such an array kept
 * as a heap (HEAP_DEFINE below).
 *
 * A list is three plain members of its owner's struct: a pointer to rows, their count, and the
 * capacity (rows that fit). All zero is an empty list. Readers need nothing of this header:
 *
 *     LIST_ROOM(arena, o->rows, o->count, 1, o->capacity);
 *     o->rows[o->count++] = row;
 *
 * Capacities double, so that appending is linear in all, and what stays behind in the arena is no
 * more than what is used. Rows move when there is no room: keep their index, not their address.
 * Rows behind the count are zero until they are written. It knows no type. */
#ifndef ORRERY_SIM_LIST_H
#define ORRERY_SIM_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/arena.h"
#include "sim/check.h"

/* Larger rows, with the first `count` copied; `capacity` becomes at least count + more. */
void *list_grown(struct arena *arena, const void *rows, size_t size, uint32_t count, uint32_t more,
                 uint32_t *capacity);

/* Rows of `size` bytes with room for `more` behind the first `count`; aligned for any type. */
static inline void *list_room(struct arena *arena, void *rows, size_t size, uint32_t count,
                              uint32_t more, uint32_t *capacity)
{
    return more <= *capacity - count ? rows : list_grown(arena, rows, size, count, more, capacity);
}

/* The same for typed `rows` of a list whose capacity is the lvalue `capacity`. Several arrays of
 * one count (columns) are grown each with its own copy of the former capacity. */
#define LIST_ROOM(arena, rows, count, more, capacity)                                              \
    ((void)((rows) = list_room((arena), (rows), sizeof *(rows), (count), (more), &(capacity))))

/* A heap: of many items the first on top; typed where it is defined:
 *
 *     static inline bool life_before(const struct life *a, const struct life *b) {...}
 *     HEAP_DEFINE(lives, struct life, life_before, 2)
 *
 * gives struct lives {items, count, capacity}, which is empty when all zero and has the first item
 * in items[0], with lives_push, lives_pop and lives_replace (the top gets an item in its stead).
 *
 * `before` is a strict order. Where it is total (no two items that are together in the heap are
 * equal) what comes out next depends on what is in the heap alone; else equal items come in an
 * order that the same calls repeat.
 *
 * Workload: as many replacements of the top as pops. The last argument is how many children a node
 * has: 2 where there are dozens of items, 4 where there are thousands, which halves the depth, and
 * finds the least of four without a branch where `before` has none. It stands whole in the header
 * because it must be inlined into the solver of shares. An item is never found again: who wants to
 * come earlier is pushed once more, and the item that is stale then is known by its key. Events
 * that move at every turn stand in sim/calendar.h, a winner tree over slots. */
#define HEAP_DEFINE(name, type, before, fanout)                                                    \
    struct name {                                                                                  \
        type *items;                                                                               \
        uint32_t count, capacity;                                                                  \
    };                                                                                             \
    HEAP_UP(name, type, before, fanout)                                                            \
    HEAP_LEAST(name, type, before, fanout)                                                         \
    HEAP_DOWN(name, type, before, fanout)

/* Not every user calls every function. */
#define HEAP_FUNCTION __attribute__((unused)) static inline

#define HEAP_UP(name, type, before, fanout)                                                        \
    HEAP_FUNCTION void name##_push(struct name *heap, struct arena *arena, type item)              \
    {                                                                                              \
        LIST_ROOM(arena, heap->items, heap->count, 1, heap->capacity);                             \
        type *items = heap->items;                                                                 \
        uint32_t place = heap->count++;                                                            \
        for (; place > 0 && before(&item, &items[(place - 1) / (fanout)]);                         \
             place = (place - 1) / (fanout))                                                       \
            items[place] = items[(place - 1) / (fanout)];                                          \
        items[place] = item;                                                                       \
    }

/* The place of the least of the items from `first` on, at most `fanout` of them. */
#define HEAP_LEAST(name, type, before, fanout)                                                     \
    HEAP_FUNCTION uint32_t name##_least(const type *items, uint32_t first, uint32_t count)         \
    {                                                                                              \
        if ((fanout) == 4 && first + 4 <= count) {                                                 \
            uint32_t a = first + before(&items[first + 1], &items[first]);                         \
            uint32_t b = first + 2 + before(&items[first + 3], &items[first + 2]);                 \
            return before(&items[b], &items[a]) ? b : a;                                           \
        }                                                                                          \
        uint32_t least = first;                                                                    \
        for (uint32_t child = first + 1; child < first + (fanout) && child < count; child++)       \
            least = before(&items[child], &items[least]) ? child : least;                          \
        return least;                                                                              \
    }

#define HEAP_DOWN(name, type, before, fanout)                                                      \
    HEAP_FUNCTION void name##_replace(struct name *heap, type item)                                \
    {                                                                                              \
        type *items = heap->items;                                                                 \
        uint32_t place = 0, count = heap->count;                                                   \
        CHECK(count > 0);                                                                          \
        for (uint32_t first; (first = (fanout)*place + 1) < count;) {                              \
            uint32_t least = name##_least(items, first, count);                                    \
            if (!before(&items[least], &item))                                                     \
                break;                                                                             \
            items[place] = items[least];                                                           \
            place = least;                                                                         \
        }                                                                                          \
        items[place] = item;                                                                       \
    }                                                                                              \
    HEAP_FUNCTION void name##_pop(struct name *heap)                                               \
    {                                                                                              \
        CHECK(heap->count > 0);                                                                    \
        type last = heap->items[--heap->count];                                                    \
        if (heap->count > 0)                                                                       \
            name##_replace(heap, last);                                                            \
    }

#endif
