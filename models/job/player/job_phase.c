/* job_phase.c - entering a phase, and what the time of one is spent on. */
#include "models/job/player/job_state.h"
#include "sim/check.h"

static bool strikes(const struct job *job, enum job_phase phase)
{
    switch (phase) {
    case PHASE_STEPS:
        return true;
    case PHASE_SAVE:
    case PHASE_DURABLE:
        return job->segments.saves_exposed;
    case PHASE_LINK:
    case PHASE_WAIT:
    case PHASE_LOAD:
        return job_chain_exposed(&job->chain);
    case PHASE_MAINTENANCE:
    case PHASE_END:
        return false;
    }
    UNREACHABLE("phase is an enum job_phase");
}

void job_enter(struct job *job, enum job_phase phase, double until_s)
{
    job_clock_enter(&job->clock, phase, until_s, strikes(job, phase));
}

void job_pass(struct job *job, double to_s)
{
    double at_s = job->clock.at_s;
    switch (job->clock.phase) {
    case PHASE_SAVE:
    case PHASE_DURABLE:
        job_account_spend(&job->account, at_s, to_s, BADPUT_checkpoint);
        break;
    case PHASE_MAINTENANCE:
        job_account_spend(&job->account, at_s, to_s, BADPUT_maintenance);
        break;
    case PHASE_WAIT:
        job_account_wait(&job->account, at_s, to_s);
        break;
    case PHASE_LOAD:
        job_account_load(&job->account, at_s, to_s);
        break;
    case PHASE_LINK:
        job_account_link(&job->account, at_s, to_s,
                         (enum restart_link)job_chain_place(&job->chain));
        break;
    case PHASE_STEPS:
    case PHASE_END:
        UNREACHABLE("the time of the phase is spent at once");
    }
    job_clock_spend(&job->clock, to_s);
}

void job_end(struct job *job, enum job_end why)
{
    job_account_finished(&job->account, why);
    job_clock_enter(&job->clock, PHASE_END, job->clock.at_s, false);
}
