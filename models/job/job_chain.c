/* job_chain.c - the restart chain is walked: links, the wait for nodes, loading, in the order
 * of job_places. A failure in it begins it anew with fresh draws (job_recover.c). */
#include <limits.h>
#include <math.h>

#include "models/job/job_state.h"
#include "sim/random.h"

/* What was loaded may turn out to be unreadable: then the one before is. */
static bool readable(struct job *job)
{
    if (job->copies.load_level == UINT_MAX || job->spec->checkpoint.corrupt_ratio == 0.0) {
        return true;
    }
    uint64_t number = random_hash(job->chains, job->loads++);
    if (job_uniform(job, DRAW_CORRUPT, number) >= job->spec->checkpoint.corrupt_ratio) {
        return true;
    }
    job_drop_loaded(job);
    return false;
}

/* What comes after it is for job.c to decide. */
static void end(struct job *job)
{
    job->place = 0;
    job->chain_over = true;
}

/* Without anything under repair a job that waits for nodes will not run again. */
static void wait_for_nodes(struct job *job)
{
    job_enter(job, PHASE_WAIT, INFINITY);
    if (!job_repairs_pending(job) && job->spec->duration_s == 0.0) {
        job_end(job, JOB_END_no_nodes);
    }
}

static bool stands(struct job *job, enum phase phase, double s)
{
    if (s > 0.0) {
        job_enter(job, phase, job->clock.at_s + s);
    }
    return s > 0.0;
}

/* How long the place of the chain takes; < 0: it is passed over. */
static double place_s(const struct job *job, int place)
{
    if (place == PLACE_LOAD) {
        return job_copies_load_s(&job->copies);
    }
    return job->links[place] ? job_link_s(job, (unsigned)place) : -1.0;
}

/* Enters the next place of the chain that takes time, or the steps after it. */
static void enter(struct job *job)
{
    for (; job->place < PLACE_COUNT; job->place++) {
        int place = job_places[job->place];
        if (place == PLACE_WAIT) {
            if (job->waits && job->nodes_short > 0) {
                wait_for_nodes(job);
                return;
            }
        } else if (place == PLACE_LOAD) {
            do {
                if (stands(job, PHASE_LOAD, place_s(job, place))) {
                    return;
                }
            } while (!readable(job));
        } else if (stands(job, PHASE_LINK, place_s(job, place))) {
            return;
        }
    }
    end(job);
}

/* Nothing in the chain is decided while it is walked, but for what comes from outside. */
static bool walks_through(const struct job *job)
{
    return !(job->waits && job->nodes_short > 0) && job->all_exposed &&
           job->spec->checkpoint.corrupt_ratio == 0.0;
}

/* The whole chain at once, where nothing comes before its end: the sums of the walk place by place,
 * in the same order, to the bit. */
static bool walk_through(struct job *job)
{
    double s[PLACE_COUNT], end_s = job->clock.at_s;
    for (unsigned i = 0; i < PLACE_COUNT; i++) {
        s[i] = job_places[i] == PLACE_WAIT ? 0.0 : greater(place_s(job, job_places[i]), 0.0);
        end_s += s[i];
    }
    job_enter(job, PHASE_LOAD, end_s); /* as exposed as all of the chain */
    job_clock_learn(&job->clock);
    if (end_s > lesser(job_outside_next_s(&job->outside), job_clock_failure_s(&job->clock))) {
        return false;
    }
    for (unsigned i = 0; i < PLACE_COUNT; i++) {
        if (s[i] > 0.0) {
            double at_s = job->clock.at_s, until_s = at_s + s[i];
            if (job_places[i] == PLACE_LOAD) {
                job_account_load(&job->account, at_s, until_s);
            } else {
                job_account_link(&job->account, at_s, until_s, (enum restart_link)job_places[i]);
            }
            job_clock_spend(&job->clock, until_s);
        }
    }
    return true;
}

void job_chain_begin(struct job *job)
{
    job->chains++;
    job->place = 0;
    job->loads = 0;
    if (walks_through(job) && walk_through(job)) {
        end(job);
        return;
    }
    job->place = 0;
    enter(job);
}

/* The phase at hand is over. */
void job_chain_go_on(struct job *job)
{
    if (job->clock.phase != PHASE_LOAD || readable(job)) {
        job->place++;
    }
    enter(job);
}
