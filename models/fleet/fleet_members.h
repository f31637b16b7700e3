/* fleet_members.h - which physical nodes stand in the job, and in which of its slots.
 *
 * The job has as many slots as nodes at first; a node that leaves empties its slot, one that joins
 * fills the slot that was emptied last. Failures without memory strike slots: who stands in a slot
 * is without effect on when it is struck, so that policies which differ in their spares see the
 * same failures. The clocks of a cause count exposed time, faster while the cluster is young. */
#ifndef ORRERY_MODELS_FLEET_FLEET_MEMBERS_H
#define ORRERY_MODELS_FLEET_FLEET_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/arena.h"

#define SLOT_EMPTY UINT32_MAX

struct members {
    uint32_t slot_count, node_count; /* nodes: those of the job, then the spares */
    uint32_t inside_count;
    uint32_t *slot_of_node, *node_of_slot; /* or SLOT_EMPTY, both */
    double *joined_s;                      /* of a node, exposed time; 0: from the start */
    uint32_t *empty;                       /* stack of slots; made when the first node leaves */
    uint32_t empty_count;
    bool *mended; /* made when the first node is */
};

void fleet_members_create(struct arena *arena, uint32_t slot_count, uint32_t node_count,
                          struct members *out);
void fleet_members_leave(struct members *members, struct arena *arena, uint32_t node);
void fleet_members_join(struct members *members, uint32_t node, double exposed_s);

/* A repair found what was wrong with the node. */
void fleet_members_mend(struct members *members, struct arena *arena, uint32_t node);

static inline bool fleet_members_mended(const struct members *members, uint32_t node)
{
    return members->mended && members->mended[node];
}

/* Was the node in the job at that moment, which must not be before the last failure? */
static inline bool fleet_members_inside(const struct members *members, uint32_t node, double at_s)
{
    return members->slot_of_node[node] != SLOT_EMPTY && at_s >= members->joined_s[node];
}

/* Time as a cause counts it: `factor` times as fast for the first `early_s` seconds. */
struct fleet_clock {
    double factor, early_s; /* 1, 0: exposed time itself */
};

static inline double fleet_clock_age_s(struct fleet_clock clock, double exposed_s)
{
    return exposed_s < clock.early_s ? exposed_s * clock.factor
                                     : exposed_s + clock.early_s * (clock.factor - 1.0);
}

static inline double fleet_clock_exposed_s(struct fleet_clock clock, double age_s)
{
    return age_s < clock.early_s * clock.factor ? age_s / clock.factor
                                                : age_s - clock.early_s * (clock.factor - 1.0);
}

#endif
