/* job_clock.c - the two clocks of a job, wall time and the time in which failures can strike, and
 * what comes next on them. */
#include <math.h>

#include "models/job/job_state.h"

bool job_save_exposed(const struct job *job)
{
    return job->spec->strike != STRIKE_WORKING;
}

bool job_exposed(const struct job *job)
{
    switch (job->phase) {
    case PHASE_STEPS:
        return true;
    case PHASE_SAVE:
    case PHASE_DURABLE:
        return job_save_exposed(job);
    case PHASE_LINK:
    case PHASE_WAIT:
    case PHASE_LOAD:
        return job_chain_exposed(job);
    default:
        return false;
    }
}

void job_turn_at(struct job *job, double at_s)
{
    job->turn_s = lesser(job->turn_s, at_s);
}

void job_learn_failure(struct job *job)
{
    if (!job->failure_known) {
        double limit_s = job->spec->duration_s > 0.0 ? job->spec->duration_s : INFINITY;
        job->failure_comes = fleet_next(job->fleet, limit_s, &job->failure);
        job->failure_known = true;
    }
}

double job_failure_s(const struct job *job)
{
    if (!job->failure_comes || !job_exposed(job)) {
        return INFINITY;
    }
    return job->at_s + greater(job->failure.at_s - job->exposed_s, 0.0);
}

double job_next_stop_s(struct job *job)
{
    job_learn_failure(job);
    return lesser(job_next_outside_s(job), job_failure_s(job));
}

double job_maintenance_s(const struct job *job)
{
    double every_s = job->spec->maintenance_every_s;
    return every_s > 0.0 ? (double)job->maintenances * every_s : INFINITY;
}
