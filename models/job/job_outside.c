/* job_outside.c - what comes from outside (repairs, faults found, maintenance, the end), in order
 * of time, then of pushing. A binary heap: a few entries, bounded by the nodes and their faults. */
#include <math.h>
#include <string.h>

#include "models/job/job_state.h"
#include "sim/check.h"

static bool before(const struct outside_event *a, const struct outside_event *b)
{
    return a->at_s < b->at_s || (a->at_s == b->at_s && a->order < b->order);
}

static void grow(struct job *job)
{
    uint32_t size = job->heap_size == 0 ? 16 : 2 * job->heap_size;
    struct outside_event *heap = ARENA_ARRAY(job->arena, struct outside_event, size);
    if (job->heap_count > 0) {
        memcpy(heap, job->heap, job->heap_count * sizeof *heap);
    }
    job->heap = heap;
    job->heap_size = size;
}

void job_push(struct job *job, double at_s, enum outside_kind kind, uint32_t id, uint64_t version)
{
    if (isinf(at_s)) {
        return;
    }
    if (job->heap_count == job->heap_size) {
        grow(job);
    }
    struct outside_event event = {at_s, job->heap_orders++, kind, id, version};
    uint32_t at = job->heap_count++;
    while (at > 0 && before(&event, &job->heap[(at - 1) / 2])) {
        job->heap[at] = job->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    job->heap[at] = event;
}

void job_pop(struct job *job, struct outside_event *out)
{
    CHECK(job->heap_count > 0);
    *out = job->heap[0];
    struct outside_event last = job->heap[--job->heap_count];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < job->heap_count; at = child) {
        if (child + 1 < job->heap_count && before(&job->heap[child + 1], &job->heap[child])) {
            child++;
        }
        if (!before(&job->heap[child], &last)) {
            break;
        }
        job->heap[at] = job->heap[child];
    }
    job->heap[at] = last;
}

double job_next_outside_s(const struct job *job)
{
    return job->heap_count > 0 ? job->heap[0].at_s : INFINITY;
}
