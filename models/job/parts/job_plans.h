/* job_plans.h - a part of the player `job`: what is to be done at a boundary between two steps.
 *
 * Stops that are planned (maintenance, slow parts that were found, replicas that come back) and
 * other conditions of steps are due at some moment and taken up at the first boundary from there
 * on. Knows neither steps nor what a stop is for. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_PLANS_H
#define ORRERY_MODELS_JOB_PARTS_JOB_PLANS_H

#include <stdint.h>

/* Planned stops that are due, a bit set. */
enum {
    PLAN_MAINTENANCE = 1,
    PLAN_MITIGATE = 2, /* slow parts were found */
    PLAN_REJOIN = 4    /* repaired replicas come back (elastic) */
};
struct job_plans {
    double turn_s; /* at the first boundary from here on: other condition, planned stop */
    unsigned due;
    double maintenance_every_s; /* 0: none */
    uint64_t maintenances;      /* planned so far */
};

void job_plans_create(struct job_plans *plans, double maintenance_every_s);
/* When the last planned maintenance is due; INFINITY: never. */
double job_plans_maintenance_s(const struct job_plans *plans);
void job_plans_next_maintenance(struct job_plans *plans);
/* Something changes at the next boundary, or (`plan`) is to be done there. */
void job_plans_turn_at(struct job_plans *plans, double at_s);
void job_plans_add(struct job_plans *plans, unsigned plan, double at_s);
/* Steps begin: what is due is taken up at the first boundary. */
void job_plans_steps_begin(struct job_plans *plans, double at_s);
/* This is the boundary: what is due, of the plans in `wanted`. The others are given up. */
unsigned job_plans_turn(struct job_plans *plans, unsigned wanted);
unsigned job_plans_take(struct job_plans *plans); /* all that is due is done now */

#endif
