/* job_account.h - a part of the player `job`: the classes of time, which tile the wall clock, the
 * interruption that is being told, and what whoever watches is told.
 *
 * It alone writes what the result says of time. Each second is spent once, on the class that it
 * belongs to then; steps are spent in the ledger (job_ledger.h), and moved here when they are
 * lost. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_ACCOUNT_H
#define ORRERY_MODELS_JOB_PARTS_JOB_ACCOUNT_H

#include "models/job/parts/job_ledger.h"
#include "models/job/parts/job_result.h"
#include "models/job/parts/job_window.h"

struct job_account {
    struct job_result *result;
    const struct job_observer *observer;
    struct job_window *window; /* NULL: nobody asks */
    struct interruption told;
    bool interrupted;   /* `told` is being filled */
    uint64_t stretches; /* of time that were spent */
};

/* Borrows all of it; `result` is all 0. */
void job_account_create(struct job_account *account, struct arena *arena,
                        const struct job_observer *observer, struct job_result *result);
void job_account_spend(struct job_account *account, double begin_s, double end_s,
                       enum badput_class of);
/* The part of a step that a failure breaks off: it never enters the ledger. */
void job_account_broken(struct job_account *account, double begin_s, double end_s);
/* A link of the restart chain, the wait for nodes, the load of a copy, or a part of them. */
void job_account_link(struct job_account *account, double begin_s, double end_s,
                      enum restart_link link);
void job_account_wait(struct job_account *account, double begin_s, double end_s);
void job_account_load(struct job_account *account, double begin_s, double end_s);
/* The stalls of many saves at once, of which the window is told one by one. */
void job_account_stalls(struct job_account *account, double stall_s);
/* Steps of the ledger are undone: all that was done from `since_s` to `now_s` was in vain. */
void job_account_lost(struct job_account *account, double lost_s, double lost_steps, double since_s,
                      double now_s);
void job_account_part_of_step(struct job_account *account, double steps); /* at the end of time */

/* A failure strikes. `repair_s` is told to whoever asks for failures. */
bool job_account_tells_failures(const struct job_account *account);
void job_account_failure(struct job_account *account, const struct fleet_event *event, double at_s,
                         double repair_s);
/* It interrupts the job at this step ... */
void job_account_interrupt(struct job_account *account, const struct fleet_event *event,
                           double at_s, uint64_t step);
void job_account_strike(struct job_account *account); /* ... or the recovery from another */
/* What was told is forgotten: the job stops as planned. */
void job_account_planned(struct job_account *account);
void job_account_decided(struct job_account *account, bool spare_taken, bool others_went_on);
/* The chain of a replica that comes back beside the others: no time of the job's. */
void job_account_beside(struct job_account *account, const double *links_s, double load_s);
/* The job runs again, from the copy of this level, which holds so many steps; or (< 0) it never
 * did: then they are those that a restart would have begun with. */
void job_account_resumed(struct job_account *account, double resumed_at_s, unsigned level,
                         uint64_t steps);

void job_account_finished(struct job_account *account, enum job_end why);
/* What was kept, and what it cost: the last of all. The classes sum to the wall clock. */
void job_account_end(struct job_account *account, const struct job_spec *spec,
                     const struct ledger_mark *kept, double ideal_step_s, double wall_s);

#endif
