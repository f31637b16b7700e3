/* share_heap.h - the least key first, for share_solve.c: what happens next as levels rise.
 *
 * Items are never moved for a new key: who wants to come earlier is pushed again, and the item that
 * stands for it then is known by its key. Workload: as many replacements of the top as pops; four
 * children a node, which halves the depth. It is here whole, because it is half of the solver's
 * work and must be inlined. */
#ifndef ORRERY_SIM_SHARE_HEAP_H
#define ORRERY_SIM_SHARE_HEAP_H

#include "sim/share_parts.h"

enum {
    SHARE_HEAP_FANOUT = 4
};

static inline void share_heap_push(struct share *share, uint32_t thing, double key)
{
    if (share->heap_count == share->heap_capacity)
        share->heap = share_grow(share, share->heap, sizeof *share->heap, &share->heap_capacity,
                                 share->heap_count + 1);
    struct share_item *heap = share->heap;
    uint32_t place = share->heap_count++;
    for (; place > 0 && key < heap[(place - 1) / SHARE_HEAP_FANOUT].key;
         place = (place - 1) / SHARE_HEAP_FANOUT)
        heap[place] = heap[(place - 1) / SHARE_HEAP_FANOUT];
    heap[place] = (struct share_item){.key = key, .thing = thing};
}

/* The place of the least of the items from `first` on, at most SHARE_HEAP_FANOUT of them. */
static inline uint32_t share_heap_least(const struct share_item *heap, uint32_t first,
                                        uint32_t count)
{
    if (first + SHARE_HEAP_FANOUT <= count) {
        uint32_t a = first + (heap[first + 1].key < heap[first].key);
        uint32_t b = first + 2 + (heap[first + 3].key < heap[first + 2].key);
        return heap[b].key < heap[a].key ? b : a;
    }
    uint32_t least = first;
    for (uint32_t child = first + 1; child < count; child++)
        least = heap[child].key < heap[least].key ? child : least;
    return least;
}

/* Puts `item` in the place of the top. */
static inline void share_heap_replace(struct share *share, struct share_item item)
{
    struct share_item *heap = share->heap;
    uint32_t place = 0, count = share->heap_count;
    for (uint32_t first; (first = SHARE_HEAP_FANOUT * place + 1) < count;) {
        uint32_t least = share_heap_least(heap, first, count);
        if (heap[least].key >= item.key)
            break;
        heap[place] = heap[least];
        place = least;
    }
    heap[place] = item;
}

static inline void share_heap_pop(struct share *share)
{
    struct share_item last = share->heap[--share->heap_count];
    if (share->heap_count > 0)
        share_heap_replace(share, last);
}

#endif
