/* job_window.c - the worst hour: the least share of steps whose result was kept in any one hour.
 *
 * Invariants
 * 1. The idle stretches (everything but kept steps) are disjoint, in order, and end at or before
 *    now; adjacent ones are one.
 * 2. A rollback makes all of the time since the save of its copy idle: the stretches after that
 *    moment are taken back and replaced by one.
 *
 * The least share is that of an hour which begins with an idle stretch or ends with one. */
#include "models/job/parts/job_window.h"

#include <math.h>

#include "models/job/parts/job_ledger.h"
#include "sim/check.h"
#include "sim/list.h"
#include "sim/units.h"

struct standing {
    double begin_s, end_s;
    double before_s; /* idle time before it, filled at the end */
};
struct job_window {
    struct arena *arena;
    struct standing *stretches;
    uint32_t count, capacity;
    bool full; /* more came than are kept */
};

struct job_window *job_window_create(struct arena *arena)
{
    struct job_window *window = ARENA_NEW(arena, struct job_window);
    window->arena = arena;
    return window;
}

bool job_window_is_open(const struct job_window *window)
{
    return window != NULL && !window->full;
}

void job_window_idle(struct job_window *window, double begin_s, double end_s)
{
    if (window == NULL || end_s <= begin_s)
        return;
    struct standing *last = window->count > 0 ? &window->stretches[window->count - 1] : NULL;
    CHECK(last == NULL || (begin_s >= last->begin_s && last->end_s > last->begin_s)); /* 1 */
    if (last != NULL && begin_s <= last->end_s) {
        last->end_s = end_s;
        return;
    }
    if (window->count == JOB_STRETCHES_MAX) {
        window->full = true;
        return;
    }
    LIST_ROOM(window->arena, window->stretches, window->count, 1, window->capacity);
    window->stretches[window->count++] = (struct standing){begin_s, end_s, 0.0};
}

void job_window_lost(struct job_window *window, double since_s, double now_s)
{
    if (window == NULL)
        return;
    while (window->count > 0 && window->stretches[window->count - 1].begin_s >= since_s)
        window->count--;
    job_window_idle(window, since_s, now_s);
}

/* Idle time up to `t_s`. */
static double idle_until(const struct job_window *window, double t_s)
{
    uint64_t low = 0, high = window->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (window->stretches[middle].begin_s < t_s)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0.0;
    const struct standing *last = &window->stretches[low - 1];
    return last->before_s + job_lesser(last->end_s, t_s) - last->begin_s;
}

/* An hour that reaches out of the run is no more idle than the one within that holds its part. */
static double idle_hour(const struct job_window *window, double begin_s)
{
    return idle_until(window, begin_s + HOUR) - idle_until(window, begin_s);
}

double job_window_worst_hour(const struct job_window *window, double run_s)
{
    double idle_s = 0.0, worst_s = 0.0;
    if (window == NULL || window->full || run_s < HOUR)
        return NAN;
    for (uint64_t i = 0; i < window->count; i++) {
        window->stretches[i].before_s = idle_s;
        idle_s += window->stretches[i].end_s - window->stretches[i].begin_s;
    }
    CHECK(idle_s <= run_s * (1.0 + 1e-9)); /* 1: they are disjoint, and within the run */
    for (uint64_t i = 0; i < window->count; i++) {
        const struct standing *at = &window->stretches[i];
        worst_s = job_greater(worst_s, idle_hour(window, at->begin_s));
        worst_s = job_greater(worst_s, idle_hour(window, at->end_s - HOUR));
    }
    return job_greater(1.0 - worst_s / HOUR, 0.0);
}
