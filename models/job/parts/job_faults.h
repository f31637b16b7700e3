/* job_faults.h - a part of the player `job`: slow units and silent corruption, faults that do not
 * stop the job when they begin.
 *
 * A slow unit is found after its time of detection, and then replaced at a planned stop, or gets
 * well by itself before. A corrupt one is found after its own; all that was saved since is dropped.
 * Whoever begins one says when it is found; what comes then names it by its id and version. They
 * are few: a list, searched in order. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_FAULTS_H
#define ORRERY_MODELS_JOB_PARTS_JOB_FAULTS_H

#include "models/fleet/fleet.h"
#include "models/job/parts/job_outside.h"
#include "models/step/simulate/condition.h"

/* One of them, until it is found, well, or out of the job. */
struct fault {
    struct fleet_event event;
    double onset_s;
    uint64_t version;
    bool alive, corrupts, found;
    bool gone; /* its node left the job, what it corrupted did not */
    struct condition_slow slow;
};
struct job_faults {
    struct arena *arena;
    struct fault *faults;
    uint32_t count, capacity;
};

void job_faults_create(struct job_faults *faults, struct arena *arena);
/* A unit that is slow already does not become slow twice. */
bool job_faults_is_slow(const struct job_faults *faults, const struct fleet_event *event);
/* Their ids. Valid up to the next begin: faults->faults[id]. */
uint32_t job_faults_begin_slow(struct job_faults *faults, const struct fleet_event *event,
                               double at_s, struct condition_slow slow);
uint32_t job_faults_begin_corrupt(struct job_faults *faults, const struct fleet_event *event,
                                  double at_s);
/* Something of one comes from outside: a slow one is found, or over; a corrupt one is found. The
 * fault; NULL: there was another end to it before. */
const struct fault *job_faults_learn(struct job_faults *faults, const struct outside_event *event);
/* Its node left the job, or was mended: a slow part is gone; what a corrupt one did is not. */
void job_faults_node_gone(struct job_faults *faults, uint32_t node);
/* The job goes on from a copy of that moment: a corruption whose unit is gone is cured where the
 * copy is older than it. */
void job_faults_forget(struct job_faults *faults, double copy_s);
/* The next slow one that was found, from `*at` on, is replaced; NULL: there is none. */
const struct fault *job_faults_replace(struct job_faults *faults, uint32_t *at);
/* Adds a slow part to a condition, which keeps the worst in an order of their own. */
void job_faults_add_slow(struct condition *condition, struct condition_slow slow);

#endif
