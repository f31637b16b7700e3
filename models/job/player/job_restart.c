/* job_restart.c - the restart chain is walked: links, the wait for nodes, loading, on the clocks. A
 * failure in it begins it anew (job_recover.c). */
#include <limits.h>
#include <math.h>

#include "models/job/player/job_state.h"

/* What was loaded may turn out to be unreadable: then the one before is. */
static bool readable(struct job *job)
{
    if (job->copies.load_level == UINT_MAX || job_chain_reads(&job->chain))
        return true;
    job_drop_loaded(job);
    return false;
}

/* Without anything under repair a job that waits for nodes will not run again. */
static void wait_for_nodes(struct job *job)
{
    job_enter(job, PHASE_WAIT, INFINITY);
    if (job->nodes.busy == 0 && job->spec->duration_s == 0.0)
        job_end(job, JOB_END_no_nodes);
}

static bool stands(struct job *job, enum job_phase phase, double s)
{
    if (s > 0.0)
        job_enter(job, phase, job->clock.at_s + s);
    return s > 0.0;
}

static bool loads(struct job *job)
{
    do {
        if (stands(job, PHASE_LOAD, job_copies_load_s(&job->copies)))
            return true;
    } while (!readable(job));
    return false;
}

static bool has_to_wait(const struct job *job)
{
    return job->chain.waits && job->nodes.short_count > 0;
}

/* Enters the next place of the chain that takes time; what comes after it is for job.c to decide.
 */
static void enter(struct job *job)
{
    struct job_chain *chain = &job->chain;
    for (int place; (place = job_chain_place(chain)) != PLACE_COUNT; job_chain_pass(chain)) {
        if (place == PLACE_WAIT) {
            if (has_to_wait(job)) {
                wait_for_nodes(job);
                return;
            }
        } else if (place == PLACE_LOAD) {
            if (loads(job))
                return;
        } else if (stands(job, PHASE_LINK, job_chain_link_s(chain, (enum restart_link)place))) {
            return;
        }
    }
    job_chain_end(chain);
}

/* Nothing in the chain is decided while it is walked, but for what comes from outside. */
static bool walks_through(const struct job *job)
{
    return !has_to_wait(job) && job->chain.all_exposed &&
           job->spec->checkpoint.corrupt_ratio == 0.0;
}

/* The whole chain at once, where nothing comes before its end: the sums of the walk place by place,
 * in the same order, to the bit. */
static bool walk_through(struct job *job)
{
    struct chain_time times[PLACE_COUNT];
    unsigned count = job_chain_times(&job->chain, job_copies_load_s(&job->copies), times);
    double end_s = job->clock.at_s;
    for (unsigned i = 0; i < count; i++)
        end_s += times[i].s;
    job_enter(job, PHASE_LOAD, end_s); /* as exposed as all of the chain */
    job_clock_learn(&job->clock);
    if (end_s > job_lesser(job_outside_next_s(&job->outside), job_clock_failure_s(&job->clock)))
        return false;
    for (unsigned i = 0; i < count; i++) {
        double at_s = job->clock.at_s, until_s = at_s + times[i].s;
        if (times[i].place == PLACE_LOAD)
            job_account_load(&job->account, at_s, until_s);
        else
            job_account_link(&job->account, at_s, until_s, (enum restart_link)times[i].place);
        job_clock_spend(&job->clock, until_s);
    }
    return true;
}

void job_restart(struct job *job)
{
    job_chain_begin(&job->chain);
    if (walks_through(job) && walk_through(job)) {
        job_chain_end(&job->chain);
        return;
    }
    enter(job);
}

void job_restart_go_on(struct job *job)
{
    if (job->clock.phase != PHASE_LOAD || readable(job))
        job_chain_pass(&job->chain);
    enter(job);
}
