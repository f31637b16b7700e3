/* fleet.h - who fails when: the failures of all units of a job, one after the other.
 *
 * The clock of the fleet is exposed time: it runs only while failures can strike. Units keep their
 * age; at a failure only the struck unit is renewed. Nodes may leave the job (repair) and others
 * join (spares); the clocks of units outside stand still. Nothing is drawn before it is needed:
 * the units of a cause that have not failed yet are drawn in the order of their failures (order
 * statistics of uniforms), so a replication costs its failures, not its units.
 *
 * The draws of a cause depend on (seed, cause name) alone, not on what the job makes of them: the
 * same seed gives the same failures to every policy under comparison. */
#ifndef ORRERY_MODELS_FLEET_FLEET_H
#define ORRERY_MODELS_FLEET_FLEET_H

#include "models/fleet/fleet_spec.h"
#include "sim/arena.h"

struct fleet;
struct fleet_event {
    double at_s;    /* exposed time */
    uint32_t cause; /* index in fleet_spec.causes */
    uint32_t unit;  /* number of the unit in the fleet; UNIT_JOB: 0 */
    uint32_t node; /* physical node of the unit, or the first of its domain; UNIT_JOB: UINT32_MAX */
    /* Nodes from `node` on that may go down: 1, 0 for UNIT_JOB, those of the domain (some may be
     * out of the job; ask fleet_hit for each). */
    uint32_t node_count;
    uint64_t number; /* names this failure among those of its cause: key of further draws */
    double repair_s; /* given by a trace (0: a restart mends it); < 0: by the law */
};
/* Physical nodes: 0 .. spec.nodes - 1 stand in the job at first, then spec.spares. */
struct fleet *fleet_create(struct arena *arena, struct fleet_spec spec, uint64_t seed);
/* The next failure at or after the last taken one; false when none comes before `limit_s`. Pure
 * look: stays the same until fleet_take, fleet_leave or fleet_join. */
bool fleet_next(struct fleet *fleet, double limit_s, struct fleet_event *out);
/* The failure has happened: its unit is renewed. `event` is the last answer of fleet_next. */
void fleet_take(struct fleet *fleet, const struct fleet_event *event);
/* A node leaves or joins the job at this exposed time, which is not before that of the last call of
 * these three. At most spec.nodes are in the job at a time. */
void fleet_leave(struct fleet *fleet, uint32_t node, double exposed_s);
void fleet_join(struct fleet *fleet, uint32_t node, double exposed_s);
/* A repair of this node, which is out of the job, found what was wrong: a lemon is one no more. */
void fleet_mend(struct fleet *fleet, uint32_t node);
/* Does this node of the domain go down with it? */
bool fleet_hit(const struct fleet *fleet, const struct fleet_event *event, uint32_t node);
/* A uniform number in (0, 1) that belongs to this failure and purpose ("repair", "detect"). */
double fleet_uniform(const struct fleet *fleet, const struct fleet_event *event,
                     const char *purpose);
/* Incidents of traces up to this exposed time that struck nothing, their unit being out of the job;
 * the first of them in `cause` and `first`, where there are any. */
struct fleet_skipped {
    uint64_t count;
    uint32_t cause;
    const struct trace_event *first;
};
void fleet_skipped(const struct fleet *fleet, double end_s, struct fleet_skipped *out);
/* Mean time between failures that stop the job, now (EFFECT_STOP) or when they are found
 * (EFFECT_CORRUPT), all its first nodes in place, no lemon repaired yet, stationary ages: 1 /
 * sum(units / mtbf). Lemons, blows that hit nobody and cascades are counted, the early rate is not;
 * a trace counts its incidents over the duration. INFINITY without failures. */
double fleet_job_mtbf_s(struct fleet_spec spec);

#endif
