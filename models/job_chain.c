/* job_chain.c - the restart chain: links, the wait for nodes, loading, in the order of `chain`.
 * A failure in it begins it anew with fresh draws (job_recover.c). */
#include <limits.h>
#include <math.h>

#include "models/job_state.h"
#include "sim/random.h"

enum {
    PLACE_WAIT = RESTART_LINK_COUNT,
    PLACE_LOAD,
    PLACE_COUNT
};
static const int chain[PLACE_COUNT] = {
    LINK_DETECT,    LINK_DIAGNOSE, LINK_CORDON,        PLACE_WAIT, LINK_ALLOCATE, LINK_SCHEDULE,
    LINK_PROVISION, LINK_START,    LINK_COMMUNICATORS, PLACE_LOAD, LINK_WARMUP};

/* In (0, 1); the same for the same seed, draw and number, whatever the policy. */
double job_uniform(const struct job *job, enum draw draw, uint64_t number)
{
    uint64_t hash = random_hash(random_hash(job->seed, (uint64_t)draw), number);
    return ((double)(hash >> 12) + 0.5) * 0x1p-52;
}

static bool is_fixed(const struct duration *law)
{
    return law->law == DURATION_FIXED || law->mean_s == 0.0;
}

void job_chain_create(struct job *job)
{
    const struct restart_spec *restart = &job->spec->recovery.restart;
    job->all_exposed = true;
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        const struct duration *law = &restart->links[link];
        job->all_exposed &= job->spec->strike != STRIKE_ALWAYS || !restart->sheltered[link];
        double each_s = link == LINK_COMMUNICATORS ? restart->communicators_per_rank_s : 0.0;
        job->grown_s[link] = each_s * (double)job->spec->ranks;
        job->fixed_link_s[link] = is_fixed(law) ? law->mean_s + job->grown_s[link] : -1.0;
    }
}

/* Of the chain at hand; the watchdog that notices may be that of the cause. */
static double link_s(const struct job *job, unsigned link)
{
    const struct duration *own = &job->spec->causes[job->cause].detect;
    const struct duration *law = &job->spec->recovery.restart.links[link];
    if (link == LINK_DETECT && own->mean_s >= 0.0) {
        law = own;
    } else if (job->fixed_link_s[link] >= 0.0) {
        return job->fixed_link_s[link];
    }
    if (is_fixed(law)) {
        return law->mean_s;
    }
    return duration_quantile_s(law, job_uniform(job, (enum draw)link, job->chains)) +
           job->grown_s[link];
}

/* Between two phases, where no time goes by, the place may be none of a link: either answer is
 * right there. */
bool job_chain_exposed(const struct job *job)
{
    int place = job->place < PLACE_COUNT ? chain[job->place] : PLACE_WAIT;
    if (job->spec->strike != STRIKE_ALWAYS) {
        return false;
    }
    return job->phase != PHASE_LINK || place >= RESTART_LINK_COUNT ||
           !job->spec->recovery.restart.sheltered[place];
}

static enum badput_class class_of(const struct job *job)
{
    if (job->phase == PHASE_WAIT) {
        return BADPUT_wait;
    }
    return job->phase == PHASE_LINK && chain[job->place] == LINK_DETECT ? BADPUT_detect
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
        job->told.links_s[chain[job->place]] += s;
        job->result->restart_link_s[chain[job->place]] += s;
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

static void running_again(struct job *job)
{
    job->place = 0;
    if (job->strikes_again) {
        job_strike_again(job);
        return;
    }
    job_replicas_return(job);
    job->told.level = job->load_level;
    job_faults_forgotten(job);
    job_tell_interruption(job, job->at_s);
    job_enter_steps(job);
}

/* Without anything under repair a job that waits for nodes will not run again. */
static void wait_for_nodes(struct job *job)
{
    job->phase = PHASE_WAIT;
    job->until_s = INFINITY;
    if (!job_repairs_pending(job) && job->spec->duration_s == 0.0) {
        job->phase = PHASE_END;
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
    return job->links[place] ? link_s(job, (unsigned)place) : -1.0;
}

/* Enters the next place of the chain that takes time, or the steps after it. */
static void enter(struct job *job)
{
    for (; job->place < PLACE_COUNT; job->place++) {
        int place = chain[job->place];
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
    running_again(job);
}

/* Nothing in the chain is decided while it is walked, but for what comes from outside. */
static bool walks_through(const struct job *job)
{
    return !(job->waits && job->nodes_short > 0) && job->all_exposed &&
           job->spec->checkpoint.corrupt_ratio == 0.0 && job->observer->span == NULL;
}

/* The whole chain at once, where nothing comes before its end: the sums of the walk place by place,
 * in the same order, to the bit. */
static bool walk_through(struct job *job)
{
    double s[PLACE_COUNT], end_s = job->at_s;
    for (unsigned i = 0; i < PLACE_COUNT; i++) {
        s[i] = chain[i] == PLACE_WAIT ? 0.0 : greater(place_s(job, chain[i]), 0.0);
        end_s += s[i];
    }
    job->phase = PHASE_LOAD; /* as exposed as all of the chain */
    if (end_s > job_next_stop_s(job)) {
        return false;
    }
    for (job->place = 0; job->place < PLACE_COUNT; job->place++) {
        if (s[job->place] > 0.0) {
            job->phase = chain[job->place] == PLACE_LOAD ? PHASE_LOAD : PHASE_LINK;
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
        running_again(job);
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

/* How long the chain of a single replica takes, the others running: its state comes from a peer
 * that has it, as fast as the best copy would. */
double job_replica_chain_s(struct job *job)
{
    job->chains++;
    double sum_s = 0.0;
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        double s = job->links[link] ? link_s(job, link) : 0.0;
        job->told.links_s[link] += s;
        sum_s += s;
    }
    const struct checkpoint_plan *plan = &job->spec->checkpoint.plan;
    double load_s = plan->level_count > 0 ? plan->levels[0].load_s : 0.0;
    job->told.load_s += load_s;
    return sum_s + load_s;
}
