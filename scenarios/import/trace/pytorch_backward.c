#include "scenarios/import/trace/pytorch_backward.h"

#include <stdlib.h>
#include <string.h>

#define ENGINE "autograd::engine::evaluate_function"

struct backward_stretch {
    int64_t thread;
    double begin_s, finish_s;
};

static int by_place(const void *left, const void *right)
{
    const struct backward_stretch *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->begin_s > b->begin_s) - (a->begin_s < b->begin_s);
}

void pytorch_backward_find(struct arena *arena, const struct pytorch_events *events,
                           struct pytorch_backward *out)
{
    struct backward_stretch *rows = ARENA_ARRAY(arena, struct backward_stretch, events->count + 1);
    unsigned found = 0;
    for (unsigned i = 0; i < events->count; i++) {
        const struct pytorch_event *event = &events->rows[i];
        if (event->category == PYTORCH_OPERATOR &&
            strncmp(event->name, ENGINE, strlen(ENGINE)) == 0)
            rows[found++] = (struct backward_stretch){event->thread, event->begin_s,
                                                      event->begin_s + event->dur_s};
    }
    qsort(rows, found, sizeof *rows, by_place);
    *out = (struct pytorch_backward){rows, 0};
    for (unsigned i = 0; i < found; i++) {
        struct backward_stretch *last = &rows[out->count > 0 ? out->count - 1 : 0];
        if (out->count > 0 && last->thread == rows[i].thread && rows[i].begin_s <= last->finish_s)
            last->finish_s = rows[i].finish_s > last->finish_s ? rows[i].finish_s : last->finish_s;
        else
            rows[out->count++] = rows[i];
    }
}

bool pytorch_backward_holds(const struct pytorch_backward *backward, int64_t thread, double at_s)
{
    unsigned first = 0, behind = backward->count; /* of those that begin no later */
    while (first < behind) {
        const unsigned middle = first + (behind - first) / 2;
        const struct backward_stretch *row = &backward->rows[middle];
        if (row->thread < thread || (row->thread == thread && row->begin_s <= at_s))
            first = middle + 1;
        else
            behind = middle;
    }
    return first > 0 && backward->rows[first - 1].thread == thread &&
           at_s < backward->rows[first - 1].finish_s;
}
