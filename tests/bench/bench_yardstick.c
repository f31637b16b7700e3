/* The yardsticks: a plain memory copy, and the hold model on a textbook binary heap of pointers'
 * worth of events (time, rank, sequence, slot), without moving events. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "sim/check.h"
#include "sim/random.h"

#include "bench_hold.h"

enum {
    COPY_BYTES = 32 * 1024 * 1024,
    HEAP_HOLDS = 200000
};

static void *copy_prepare(double size)
{
    (void)size;
    char *memory = malloc(2 * (size_t)COPY_BYTES);
    CHECK(memory != NULL);
    memset(memory, 1, 2 * (size_t)COPY_BYTES);
    return memory;
}

static double copy_run(void *state)
{
    char *memory = state;
    memcpy(memory, memory + COPY_BYTES, COPY_BYTES);
    memory[COPY_BYTES]++; /* so that no copy can be left out */
    return COPY_BYTES;
}

const struct bench bench_copy = {copy_prepare, copy_run, free};

struct heap_event {
    double time_s;
    uint64_t sequence;
    uint32_t slot, rank;
};

struct heap {
    struct heap_event *events;
    uint32_t count;
    uint64_t sequence;
    double steps_s[HOLD_STEPS];
};

static bool earlier(const struct heap_event *a, const struct heap_event *b)
{
    if (a->time_s != b->time_s)
        return a->time_s < b->time_s;
    return a->rank != b->rank ? a->rank < b->rank : a->sequence < b->sequence;
}

static void heap_up(struct heap *heap, uint32_t place, struct heap_event event)
{
    while (place > 0 && earlier(&event, &heap->events[(place - 1) / 2])) {
        heap->events[place] = heap->events[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap->events[place] = event;
}

static void heap_down(struct heap *heap, struct heap_event event)
{
    uint32_t place = 0;
    for (uint32_t child; (child = 2 * place + 1) < heap->count; place = child) {
        if (child + 1 < heap->count && earlier(&heap->events[child + 1], &heap->events[child]))
            child++;
        if (!earlier(&heap->events[child], &event))
            break;
        heap->events[place] = heap->events[child];
    }
    heap->events[place] = event;
}

static void *heap_prepare(double size)
{
    struct heap *heap = calloc(1, sizeof *heap);
    CHECK(heap != NULL);
    heap->events = calloc((size_t)size, sizeof *heap->events);
    CHECK(heap->events != NULL);
    hold_steps(heap->steps_s);
    for (uint32_t slot = 0; slot < (uint32_t)size; slot++) {
        struct heap_event event = {hold_first_s(heap->steps_s, slot), heap->sequence++, slot, 0};
        heap_up(heap, heap->count++, event);
    }
    return heap;
}

static double heap_run(void *state)
{
    struct heap *heap = state;
    for (uint32_t i = 0; i < HEAP_HOLDS; i++) {
        struct heap_event event = heap->events[0];
        event.time_s += heap->steps_s[heap->sequence % HOLD_STEPS];
        event.sequence = heap->sequence++;
        heap_down(heap, event);
    }
    return HEAP_HOLDS;
}

static void heap_release(void *state)
{
    struct heap *heap = state;
    free(heap->events);
    free(heap);
}

const struct bench bench_heap = {heap_prepare, heap_run, heap_release};
