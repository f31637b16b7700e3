/* calendar.h - the events to come: at most one pending event for each slot.
 *
 * A slot belongs to something that has one next event (a flow, a stream of a rank). Setting a slot
 * that is already set moves its event, which is why a rate change needs no cancellation. Events are
 * totally ordered: time, then rank (a small number from the one enum of the players), then the
 * sequence number of the set. Workload: many sets and pops, some moves; a winner tree over slots
 * does each in about log2(slots) comparisons without any pointer. About 20 bytes for each slot.
 * It knows no clock: times may be set in any order. */
#ifndef ORRERY_SIM_CALENDAR_H
#define ORRERY_SIM_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/arena.h"

enum {
    CALENDAR_RANK_MAX = 16
};

struct calendar;
struct calendar_event {
    double time_s;
    uint32_t slot;
    uint32_t rank;
};

/* `slot_hint` slots fit without growing; growing doubles, and leaves the old arrays behind. */
struct calendar *calendar_create(struct arena *arena, uint32_t slot_hint);
uint32_t calendar_slot(struct calendar *calendar); /* a new slot, empty: the next number */
/* `time_s` is finite and not negative; `rank` < CALENDAR_RANK_MAX. */
void calendar_set(struct calendar *calendar, uint32_t slot, double time_s, uint32_t rank);
bool calendar_peek(struct calendar *calendar, struct calendar_event *event); /* false: empty */
bool calendar_pop(struct calendar *calendar, struct calendar_event *event);  /* false: empty */

#endif
