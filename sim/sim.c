/* Invariants
 * 1. now never falls; it is the time of the last event handled (0 before the first).
 * 2. Settle handlers run when no event of the present instant is left in the calendar, and again
 *    if one of them set such an event. */
#include "sim/sim.h"

#include "sim/check.h"

enum {
    SLOT_HINT = 64
};

struct handler {
    sim_handler_fn *call;
    void *player;
};

struct settler {
    sim_settle_fn *call;
    void *player;
};

struct sim {
    struct check_context context; /* clock, event number, seed: kept where CHECK reads them */
    struct calendar *calendar;
    struct arena *arena;
    struct arena_mark mark; /* of a lent arena: where it began */
    bool lent;
    struct handler handlers[SIM_RANK_MAX];
    struct settler settlers[SIM_RANK_MAX];
};

_Static_assert((int)SIM_RANK_MAX <= (int)CALENDAR_RANK_MAX, "each rank fits an event");

struct sim *sim_create_in(struct arena *arena, uint64_t seed)
{
    struct arena_mark mark = arena_mark(arena);
    struct sim *sim = ARENA_NEW(arena, struct sim);
    sim->arena = arena;
    sim->mark = mark;
    sim->lent = true;
    sim->calendar = calendar_create(arena, SLOT_HINT);
    sim->context.seed = seed;
    return sim;
}

struct sim *sim_create(uint64_t seed)
{
    struct sim *sim = sim_create_in(arena_create(), seed);
    sim->lent = false;
    return sim;
}

void sim_destroy(struct sim *sim)
{
    if (sim == NULL)
        return;
    if (sim->lent)
        arena_rewind(sim->arena, sim->mark);
    else
        arena_destroy(sim->arena);
}

struct arena *sim_arena(struct sim *sim)
{
    return sim->arena;
}

struct calendar *sim_calendar(struct sim *sim)
{
    return sim->calendar;
}

double sim_now_s(const struct sim *sim)
{
    return sim->context.time_s;
}

uint64_t sim_event_count(const struct sim *sim)
{
    return sim->context.event_count;
}

const struct check_context *sim_enter(struct sim *sim)
{
    return check_enter(&sim->context);
}

void sim_handle(struct sim *sim, uint32_t rank, sim_handler_fn *handler, void *player)
{
    CHECK(rank < SIM_RANK_MAX && sim->handlers[rank].call == NULL);
    sim->handlers[rank] = (struct handler){.call = handler, .player = player};
}

void sim_settle(struct sim *sim, uint32_t rank, sim_settle_fn *settle, void *player)
{
    CHECK(rank < SIM_RANK_MAX && sim->settlers[rank].call == NULL);
    sim->settlers[rank] = (struct settler){.call = settle, .player = player};
}

static void settle_all(struct sim *sim)
{
    for (uint32_t rank = 0; rank < SIM_RANK_MAX; rank++)
        if (sim->settlers[rank].call != NULL)
            sim->settlers[rank].call(sim, sim->settlers[rank].player);
}

static void handle_next(struct sim *sim)
{
    struct calendar_event event;
    calendar_pop(sim->calendar, &event);
    CHECK(event.time_s >= sim->context.time_s);
    sim->context.time_s = event.time_s;
    sim->context.event_count++;
    const struct handler *handler = &sim->handlers[event.rank];
    CHECK(handler->call != NULL);
    handler->call(sim, handler->player, event.slot);
}

void sim_run(struct sim *sim)
{
    const struct check_context *former = sim_enter(sim);
    struct calendar_event next;
    settle_all(sim);
    while (calendar_peek(sim->calendar, &next)) {
        do
            handle_next(sim);
        while (calendar_peek(sim->calendar, &next) && next.time_s == sim->context.time_s);
        settle_all(sim);
    }
    check_enter(former);
}
