/* job.h - the player of weeks: steps, checkpoints, failures, recovery, until the work is done.
 *
 * Between two events of the outside world (a failure, a repair, maintenance, the end) steps and
 * checkpoints advance in closed form; a law test holds that equal to event by event. One
 * replication costs its failures: memory is bounded by the cluster. The transition table of its
 * states stands at the top of job.c. Wall time is tiled by the badput classes to a relative 1e-9.
 *
 * A step's time is looked up by condition (step/simulate/condition.h). Failures strike by exposed
 * time (models/fleet/fleet.h). Work since the newest checkpoint that survives the failure is lost:
 * it moves from `useful` to `lost_work`, and so do the slow steps in it. */
#ifndef ORRERY_MODELS_JOB_PLAYER_JOB_H
#define ORRERY_MODELS_JOB_PLAYER_JOB_H

#include "models/fleet/fleet.h"
#include "models/job/parts/job_result.h"
#include "models/job/parts/job_spec.h"
#include "models/step/simulate/condition.h"

/* One replication. `observer` may be NULL. */
void job_run(const struct job_spec *spec, struct condition_table *conditions, uint64_t seed,
             const struct job_observer *observer, struct job_result *out);
/* The same on borrowed memory, which is rewound: for many replications. */
void job_run_in(struct arena *arena, const struct job_spec *spec,
                struct condition_table *conditions, uint64_t seed,
                const struct job_observer *observer, struct job_result *out);
/* Do the closed forms of Young and Daly hold: does every failure that stops the job take it back to
 * its last save, and does each save cost the same? Not where one may lose all, or older copies, or
 * the others of the job go on, nor where tiers are saved to in turns or copies wait for the one
 * before. False without saves or failures. */
bool job_closed_form_holds(const struct job_spec *spec);
/* Fills checkpoint.interval_s, `floor_s` and `found` where the interval is open (job_save_rule): by
 * the closed form where its assumptions hold, else by the best of simulated replications with
 * common random numbers (job_optimum.c says how). The search meets two million failures and saves
 * or so, whatever the job: of a longer one fewer replications are played, or its beginning alone,
 * unless it may go back to its start. `watch` may be NULL; when it stops the search, the best so
 * far is taken. */
void job_optimal_interval(struct job_spec *spec, struct condition_table *conditions, uint64_t seed,
                          const struct job_watch *watch);

#endif
