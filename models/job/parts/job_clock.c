/* job_clock.c - the two clocks of a job, and the next failure on them.
 *
 * Invariants
 * 1. Wall time never runs backwards; nor does exposed time, but for a rounding where a failure
 *    strikes. Nor is exposed time ever more than wall time.
 * 2. To the fleet exposed time never runs backwards, not even by a rounding.
 * 3. A phase ends no earlier than it begins; after PHASE_END comes none.
 * 4. A failure strikes a phase that is exposed, and the next one is known then. */
#include "models/job/parts/job_clock.h"

#include <math.h>

#include "models/job/parts/job_ledger.h"
#include "sim/check.h"

void job_clock_create(struct job_clock *clock, struct fleet *fleet, double limit_s)
{
    *clock = (struct job_clock){.fleet = fleet, .limit_s = limit_s};
}

void job_clock_learn(struct job_clock *clock)
{
    if (!clock->known) {
        clock->comes = fleet_next(clock->fleet, clock->limit_s, &clock->failure);
        clock->known = true;
    }
}

double job_clock_failure_s(const struct job_clock *clock)
{
    if (!clock->comes || !clock->exposed)
        return INFINITY;
    return clock->at_s + job_greater(clock->failure.at_s - clock->exposed_s, 0.0);
}

double job_clock_steps_failure_s(const struct job_clock *clock)
{
    return clock->comes ? clock->at_s + (clock->failure.at_s - clock->exposed_s) : INFINITY;
}

double job_clock_left_s(const struct job_clock *clock)
{
    return clock->comes ? clock->failure.at_s - clock->exposed_s : INFINITY;
}

void job_clock_strike(struct job_clock *clock, struct fleet_event *out)
{
    CHECK(clock->known && clock->comes && clock->exposed);           /* 4 */
    CHECK(clock->exposed_s <= clock->at_s * (1.0 + CLOCK_ROUNDING)); /* 1 */
    *out = clock->failure;
    fleet_take(clock->fleet, out);
    clock->fleet_s = job_greater(clock->fleet_s, out->at_s);
    clock->known = false;
    clock->striking = true;
}

void job_clock_struck(struct job_clock *clock)
{
    if (clock->striking) {
        double apart_s = fabs(clock->exposed_s - clock->fleet_s);
        CHECK(apart_s <= clock->at_s * CLOCK_ROUNDING); /* 1 */
        clock->exposed_s = clock->fleet_s;
        clock->striking = false;
    }
}

void job_clock_spared(struct job_clock *clock)
{
    clock->striking = false;
}

/* Exposed time at a moment within the phase at hand. */
static double tell_fleet(struct job_clock *clock, double at_s)
{
    double exposed_s = clock->exposed_s + (clock->exposed ? at_s - clock->at_s : 0.0);
    clock->fleet_s = job_greater(clock->fleet_s, exposed_s); /* 2 */
    clock->known = false;
    return clock->fleet_s;
}

void job_clock_leave(struct job_clock *clock, uint32_t node, double at_s)
{
    fleet_leave(clock->fleet, node, tell_fleet(clock, at_s));
}

void job_clock_join(struct job_clock *clock, uint32_t node, double at_s)
{
    fleet_join(clock->fleet, node, tell_fleet(clock, at_s));
}
