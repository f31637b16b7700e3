/* job_clock.h - a part of the player `job`: its two clocks, the phase that runs on them, and the
 * next failure of the fleet.
 *
 * The clocks stand at the last boundary (of a step, a save, a link): what comes from outside falls
 * between two. Wall time runs always, exposed time while failures can strike, which whoever enters
 * a phase says of it. The fleet counts exposed time; here alone it is told of it. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_CLOCK_H
#define ORRERY_MODELS_JOB_PARTS_JOB_CLOCK_H

#include "models/fleet/fleet.h"
#include "sim/check.h"

enum job_phase {
    PHASE_STEPS,
    PHASE_SAVE,    /* training stands still for a checkpoint */
    PHASE_DURABLE, /* ... or until the copy before is durable, or the last one */
    PHASE_MAINTENANCE,
    PHASE_LINK, /* the restart chain; its place says where */
    PHASE_WAIT, /* for a spare or a repair */
    PHASE_LOAD,
    PHASE_END
};
struct job_clock {
    double at_s, exposed_s;
    enum job_phase phase;
    double until_s; /* end of the phase; PHASE_STEPS, PHASE_END: not used */
    bool exposed;   /* failures strike the phase at hand */
    struct fleet *fleet;
    double limit_s;             /* no failure after this exposed time is asked for */
    struct fleet_event failure; /* the next one */
    bool known, comes;          /* `failure` was asked for; there is one */
    double fleet_s;             /* the last exposed time that the fleet was told */
    bool striking;              /* a failure happens now: its exposed time is fleet_s */
};

/* Borrows the fleet. */
void job_clock_create(struct job_clock *clock, struct fleet *fleet, double limit_s);
/* At this moment another phase begins. `until_s` may be INFINITY. Inline, as the next: several
 * times for each failure. */
static inline void job_clock_enter(struct job_clock *clock, enum job_phase phase, double until_s,
                                   bool exposed)
{
    CHECK(clock->phase != PHASE_END && until_s >= clock->at_s);
    clock->phase = phase;
    clock->until_s = until_s;
    clock->exposed = exposed;
}

/* More than all additions to a clock round it by, as a share of it. */
#define CLOCK_ROUNDING 1e-9

/* Time of several phases goes by at once, `exposed_s` of it exposed. */
static inline void job_clock_leap(struct job_clock *clock, double to_s, double exposed_s)
{
    CHECK(to_s >= clock->at_s * (1.0 - CLOCK_ROUNDING)); /* it never runs backwards */
    clock->exposed_s += exposed_s;
    clock->at_s = to_s;
}

/* Time of the phase at hand goes by. */
static inline void job_clock_spend(struct job_clock *clock, double to_s)
{
    job_clock_leap(clock, to_s, clock->exposed ? to_s - clock->at_s : 0.0);
}

/* Steps are made, or a save among them. */
static inline bool job_clock_runs(const struct job_clock *clock)
{
    return clock->phase == PHASE_STEPS || clock->phase == PHASE_SAVE ||
           clock->phase == PHASE_DURABLE;
}

/* Asks for the next failure where it is not known; the questions below need it. */
void job_clock_learn(struct job_clock *clock);
/* When it strikes the phase at hand, or steps if those ran now; INFINITY: it does not. */
double job_clock_failure_s(const struct job_clock *clock);
double job_clock_steps_failure_s(const struct job_clock *clock);
/* How much exposed time is left until it. */
double job_clock_left_s(const struct job_clock *clock);
/* It happens now, in the phase at hand: the fleet is told. */
void job_clock_strike(struct job_clock *clock, struct fleet_event *out);
/* The phase was broken off for it: exposed time is that of the failure, from which it differs by
 * rounding. */
void job_clock_struck(struct job_clock *clock);
/* It is over without that. */
void job_clock_spared(struct job_clock *clock);
/* A node leaves the job or joins it, at a moment within the phase at hand. */
void job_clock_leave(struct job_clock *clock, uint32_t node, double at_s);
void job_clock_join(struct job_clock *clock, uint32_t node, double at_s);

#endif
