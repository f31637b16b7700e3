#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "bench_hold.h"
#include "sim/calendar.h"
#include "sim/check.h"
#include "sim/random.h"

enum {
    HOLDS = 400000
};

struct hold {
    struct arena *arena;
    struct calendar *calendar;
    uint64_t step;
    double steps_s[HOLD_STEPS];
};

void hold_steps(double *steps_s)
{
    struct arena *arena = arena_create();
    struct random_stream *stream = random_create(arena, 1, 0, "hold");
    for (int i = 0; i < HOLD_STEPS; i++)
        steps_s[i] = -log(random_uniform(stream));
    arena_destroy(arena);
}

double hold_first_s(const double *steps_s, uint32_t slot)
{
    return steps_s[random_hash(2, slot) % HOLD_STEPS] * (1.0 + 1e-9 * slot);
}

static void *hold_prepare(double size)
{
    struct hold *hold = calloc(1, sizeof *hold);
    CHECK(hold != NULL);
    hold->arena = arena_create();
    hold->calendar = calendar_create(hold->arena, (uint32_t)size);
    hold_steps(hold->steps_s);
    for (uint32_t i = 0; i < (uint32_t)size; i++) {
        uint32_t slot = calendar_slot(hold->calendar);
        calendar_set(hold->calendar, slot, hold_first_s(hold->steps_s, slot), 0);
    }
    return hold;
}

static double hold_run(void *state)
{
    struct hold *hold = state;
    struct calendar_event event;
    for (uint32_t i = 0; i < HOLDS && calendar_pop(hold->calendar, &event); i++)
        calendar_set(hold->calendar, event.slot,
                     event.time_s + hold->steps_s[hold->step++ % HOLD_STEPS], 0);
    return HOLDS;
}

static void hold_release(void *state)
{
    struct hold *hold = state;
    arena_destroy(hold->arena);
    free(hold);
}

const struct bench bench_hold = {hold_prepare, hold_run, hold_release};
