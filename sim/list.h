/* list.h - an array that grows: rows that lie together, and room for more.
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

#include <stddef.h>
#include <stdint.h>

#include "sim/arena.h"

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

#endif
