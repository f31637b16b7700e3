/* job_chain.c - the restart chain is walked: links, the wait for nodes, loading, in the order
 * of job_places. A failure in it begins it anew with fresh draws (job_recover.c). */
#include <limits.h>
#include <math.h>

#include "models/job/job_state.h"
#include "sim/random.h"

static enum badput_class class_of(const struct job *job)
{
    if (job->phase == PHASE_WAIT) {
        return BADPUT_wait;
    }
    return job->phase == PHASE_LINK && job_places[job->place] == LINK_DETECT ? BADPUT_detect
                                                                             : BADPUT_restart;
}

/* Time of the chain goes by, up to the end of its phase or a failure. */
void job_chain_spend(struct job *job, double end_s)
{
    double s = end_s - job->at_s;
    job_spend(job, job->at_s, end_s, class_of(job));
    if (job->phase == PHASE_WAIT) {
        job->told.wait_s += s;
    } else if (job->phase == PHASE_LOAD) {
        job->told.load_s += s;
        job->result->load_s += s;
    } else {
        job->told.links_s[job_places[job->place]] += s;
        job->result->restart_link_s[job_places[job->place]] += s;
    }
    job->exposed_s += job_chain_exposed(job) ? s : 0.0;
    job->at_s = end_s;
}

/* What was loaded may turn out to be unreadable: then the one before is. */
static bool readable(struct job *job)
{
    if (job->load_level == UINT_MAX || job->spec->checkpoint.corrupt_ratio == 0.0) {
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
    job->phase = PHASE_WAIT;
    job->until_s = INFINITY;
    if (!job_repairs_pending(job) && job->spec->duration_s == 0.0) {
        job->phase = PHASE_END;
        job->result->end = JOB_END_no_nodes;
    }
}

static bool stands(struct job *job, enum phase phase, double s)
{
    job->phase = phase;
    job->until_s = job->at_s + s;
    return s > 0.0;
}

/* How long the place of the chain takes; < 0: it is passed over. */
static double place_s(const struct job *job, int place)
{
    if (place == PLACE_LOAD) {
        return job_load_s(job);
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
    double s[PLACE_COUNT], end_s = job->at_s;
    for (unsigned i = 0; i < PLACE_COUNT; i++) {
        s[i] = job_places[i] == PLACE_WAIT ? 0.0 : greater(place_s(job, job_places[i]), 0.0);
        end_s += s[i];
    }
    job->phase = PHASE_LOAD; /* as exposed as all of the chain */
    if (end_s > job_next_stop_s(job)) {
        return false;
    }
    for (job->place = 0; job->place < PLACE_COUNT; job->place++) {
        if (s[job->place] > 0.0) {
            job->phase = job_places[job->place] == PLACE_LOAD ? PHASE_LOAD : PHASE_LINK;
            job_chain_spend(job, job->at_s + s[job->place]);
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
    if (job->phase != PHASE_LOAD || readable(job)) {
        job->place++;
    }
    enter(job);
}
