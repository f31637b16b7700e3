/* sim.h - one simulation: its clock, calendar, arena, seed and the players that handle events.
 *
 * Players register one handler for each event rank; sim_run pops events in order and calls the
 * handler of each. After every instant (all events of one time handled) the settle handlers run, in
 * ascending rank: that is where the network solves its shares once for many simultaneous starts.
 * They also run once when sim_run begins, for what was set up before the first event.
 * A settle handler may set events at the same instant; then the instant goes on.
 * Many simulations may live in one process, on many threads; there are no globals (sim_run gives
 * check.h one thread-local pointer, for CHECK's message only). */
#ifndef ORRERY_SIM_SIM_H
#define ORRERY_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/arena.h"
#include "sim/calendar.h"

enum {
    SIM_RANK_MAX = 16
};

struct sim;
struct check_context;
typedef void sim_handler_fn(struct sim *sim, void *player, uint32_t slot);
typedef void sim_settle_fn(struct sim *sim, void *player);

struct sim *sim_create(uint64_t seed); /* owned by the caller; sim_destroy frees all */
/* The same in memory that is lent: sim_destroy rewinds it to where it is now. What was taken there
 * meanwhile goes too. For many simulations one after the other, whose pages need not be new. */
struct sim *sim_create_in(struct arena *arena, uint64_t seed);
void sim_destroy(struct sim *sim);
struct arena *sim_arena(struct sim *sim);
struct calendar *sim_calendar(struct sim *sim);
double sim_now_s(const struct sim *sim);
uint64_t sim_event_count(const struct sim *sim);
/* From now on CHECKs of this thread tell of this simulation, which is set up or read (sim_run does
 * so by itself). Returns the former one, for check_enter when that is over. */
const struct check_context *sim_enter(struct sim *sim);

void sim_handle(struct sim *sim, uint32_t rank, sim_handler_fn *handler, void *player);
void sim_settle(struct sim *sim, uint32_t rank, sim_settle_fn *settle, void *player);
void sim_run(struct sim *sim); /* until the calendar is empty */

#endif
