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
/* Is the optimal interval that of a closed form (docs/models/checkpoints.md lists when)? Failures
 * come at one constant rate, as good as independent of each other; each takes the whole job back to
 * its last save; nothing but the interval and the end of the work makes it save; each save costs
 * the same, and is durable before the next; the run is many intervals long. Where failures strike
 * work alone, the mean restart is known too. False without saves or failures. Needs
 * checkpoint.run_s. */
bool job_closed_form_holds(const struct job_spec *spec);
/* The closed form for the mean cost of a save [s of work]; INFINITY without failures. Where it does
 * not hold it is where a search begins. */
double job_closed_form_s(const struct job_spec *spec);
/* The same for a save that blocks `stall_s`; NAN where it does not hold. */
double job_exact_interval_s(const struct job_spec *spec, double stall_s);
/* Of the failures that the whole job meets the rate is one and the same from its start to its end,
 * for every seed: no early rate, new units, lemons or trace. */
bool job_rate_is_steady(const struct job_spec *spec);
/* A failure may lose all, whatever was saved: how much that is depends on how long the run is. */
bool job_may_start_anew(const struct job_spec *spec);
/* The longest time until a copy is durable, and the shortest interval in which none waits for the
 * one before: a shorter one stands still for the storage and saves no more often. */
void job_storage_paces(const struct checkpoint_plan *plan, double *longest_s, double *each_s);
/* Fills checkpoint.run_s, and interval_s, `floor_s` and `found` where the interval is open
 * (job_save_rule): by the closed form where its assumptions hold, else by the best of simulated
 * replications with common random numbers (job_optimum.c says how). The search meets two million
 * failures and saves or so, whatever the job: of a longer one fewer replications are played, or its
 * beginning alone, unless it may go back to its start. `watch` may be NULL; when it stops the
 * search, the best so far is taken. */
void job_optimal_interval(struct job_spec *spec, struct condition_table *conditions, uint64_t seed,
                          const struct job_watch *watch);

#endif
