/* job_plans.c - what is to be done at a boundary between two steps.
 *
 * Invariants
 * 1. While steps run and a stop is due that was not given up, turn_s is no later than the moment
 *    at which it became due.
 * 2. Maintenance number n is due at n times its period, however long the one before took. */
#include "models/job/parts/job_plans.h"

#include <math.h>

#include "models/job/parts/job_ledger.h"
#include "sim/check.h"

static const unsigned ALL_PLANS = PLAN_MAINTENANCE | PLAN_MITIGATE | PLAN_REJOIN;

void job_plans_create(struct job_plans *plans, double maintenance_every_s)
{
    CHECK(maintenance_every_s >= 0.0);
    *plans = (struct job_plans){.turn_s = INFINITY, .maintenance_every_s = maintenance_every_s};
}

double job_plans_maintenance_s(const struct job_plans *plans)
{
    double every_s = plans->maintenance_every_s;
    return every_s > 0.0 ? (double)plans->maintenances * every_s : INFINITY; /* 2 */
}

void job_plans_next_maintenance(struct job_plans *plans)
{
    plans->maintenances++;
}

void job_plans_turn_at(struct job_plans *plans, double at_s)
{
    plans->turn_s = job_lesser(plans->turn_s, at_s);
}

void job_plans_add(struct job_plans *plans, unsigned plan, double at_s)
{
    CHECK((plan & ALL_PLANS) != 0 && (plan & ~ALL_PLANS) == 0);
    plans->due |= plan;
    job_plans_turn_at(plans, at_s); /* 1 */
}

void job_plans_steps_begin(struct job_plans *plans, double at_s)
{
    plans->turn_s = plans->due != 0 ? at_s : INFINITY; /* 1 */
}

unsigned job_plans_turn(struct job_plans *plans, unsigned wanted)
{
    CHECK(plans->turn_s < INFINITY); /* there was something to turn for */
    plans->turn_s = INFINITY;
    plans->due &= wanted;
    return plans->due;
}

unsigned job_plans_take(struct job_plans *plans)
{
    unsigned due = plans->due;
    plans->due = 0;
    plans->turn_s = INFINITY;
    return due;
}
