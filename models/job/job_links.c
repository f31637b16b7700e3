/* job_links.c - the links of the restart chain: their order, how long they last, in which of them
 * failures can strike. */
#include <math.h>

#include "models/job/job_state.h"
#include "sim/random.h"

const int job_places[PLACE_COUNT] = {LINK_DETECT,        LINK_DIAGNOSE, LINK_CORDON,    PLACE_WAIT,
                                     LINK_ALLOCATE,      LINK_SCHEDULE, LINK_PROVISION, LINK_START,
                                     LINK_COMMUNICATORS, PLACE_LOAD,    LINK_WARMUP};

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

void job_links_create(struct job *job)
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
double job_link_s(const struct job *job, unsigned link)
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
bool job_chain_exposed(const struct job *job, enum phase phase)
{
    int place = job->place < PLACE_COUNT ? job_places[job->place] : PLACE_WAIT;
    if (job->spec->strike != STRIKE_ALWAYS) {
        return false;
    }
    return phase != PHASE_LINK || place >= RESTART_LINK_COUNT ||
           !job->spec->recovery.restart.sheltered[place];
}

/* How long the chain of a single replica takes, the others running: its state comes from a peer
 * that has it, as fast as the best copy would. */
double job_replica_chain_s(struct job *job)
{
    job->chains++;
    double sum_s = 0.0, links_s[RESTART_LINK_COUNT];
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        links_s[link] = job->links[link] ? job_link_s(job, link) : 0.0;
        sum_s += links_s[link];
    }
    const struct checkpoint_plan *plan = &job->spec->checkpoint.plan;
    double load_s = plan->level_count > 0 ? plan->levels[0].load_s : 0.0;
    job_account_beside(&job->account, links_s, load_s);
    return sum_s + load_s;
}
