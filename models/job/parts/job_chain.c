/* job_chain.c - the restart chain: its order, how long its links last, in which of them failures
 * can strike.
 *
 * Invariants
 * 1. Places are passed in the order of job_chain_places, each once; a failure begins the chain
 *    anew, with fresh draws, and the end is told once.
 * 2. No link takes less than no time. */
#include "models/job/parts/job_chain.h"

#include <math.h>

#include "sim/check.h"
#include "sim/random.h"

const int job_chain_places[PLACE_COUNT] = {
    LINK_DETECT,    LINK_DIAGNOSE, LINK_CORDON,        PLACE_WAIT, LINK_ALLOCATE, LINK_SCHEDULE,
    LINK_PROVISION, LINK_START,    LINK_COMMUNICATORS, PLACE_LOAD, LINK_WARMUP};

/* Purposes of draws that belong to a chain; those below are its links. */
enum draw {
    DRAW_CORRUPT = RESTART_LINK_COUNT,
    DRAW_BLAME,
    DRAW_BLAMED
};

/* In (0, 1); the same for the same seed, draw and number, whatever the policy. */
static double uniform(const struct job_chain *chain, unsigned draw, uint64_t number)
{
    uint64_t hash = random_hash(random_hash(chain->seed, (uint64_t)draw), number);
    return ((double)(hash >> 12) + 0.5) * 0x1p-52;
}

static bool is_fixed(const struct duration *law)
{
    return law->law == DURATION_FIXED || law->mean_s == 0.0;
}

void job_chain_create(struct job_chain *chain, const struct job_spec *spec, uint64_t seed)
{
    const struct restart_spec *restart = &spec->recovery.restart;
    *chain = (struct job_chain){.spec = spec, .seed = seed, .all_exposed = true};
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        const struct duration *law = &restart->links[link];
        chain->all_exposed &= spec->strike != STRIKE_ALWAYS || !restart->sheltered[link];
        double each_s = link == LINK_COMMUNICATORS ? restart->communicators_per_rank_s : 0.0;
        chain->grown_s[link] = each_s * (double)spec->ranks;
        chain->fixed_s[link] = is_fixed(law) ? law->mean_s + chain->grown_s[link] : -1.0;
    }
    for (unsigned i = 0; i < PLACE_COUNT; i++) {
        int place = job_chain_places[i];
        if (place == PLACE_LOAD || place == LINK_DETECT ||
            (place != PLACE_WAIT && chain->fixed_s[place] != 0.0))
            chain->timed[chain->timed_count++] = place;
    }
}

void job_chain_struck(struct job_chain *chain, uint32_t cause)
{
    CHECK(cause < chain->spec->cause_count);
    chain->cause = cause;
}

void job_chain_choose(struct job_chain *chain, const bool *links, bool waits)
{
    chain->waits = waits;
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++)
        chain->links[link] = links[link];
}

void job_chain_noticed(struct job_chain *chain)
{
    chain->links[LINK_DETECT] = false;
}

bool job_chain_plans(unsigned link)
{
    return link >= LINK_SCHEDULE && link != LINK_PROVISION;
}

void job_chain_planned(struct job_chain *chain)
{
    chain->waits = false;
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++)
        chain->links[link] = job_chain_plans(link);
}

void job_chain_stop(struct job_chain *chain)
{
    CHECK(!chain->over); /* 1 */
    chain->place = 0;
}

void job_chain_begin(struct job_chain *chain)
{
    CHECK(!chain->over); /* 1 */
    chain->chains++;
    chain->place = 0;
    chain->loads = 0;
}

void job_chain_pass(struct job_chain *chain)
{
    CHECK(chain->place < PLACE_COUNT); /* 1 */
    chain->place++;
}

void job_chain_end(struct job_chain *chain)
{
    CHECK(!chain->over); /* 1 */
    chain->place = 0;
    chain->over = true;
}

void job_chain_resume(struct job_chain *chain)
{
    CHECK(chain->over); /* 1 */
    chain->over = false;
}

/* The watchdog that notices may be that of the cause. */
static double walked_s(const struct job_chain *chain, unsigned link)
{
    if (link == LINK_DETECT) {
        const struct duration *own = &chain->spec->causes[chain->cause].detect;
        if (own->mean_s >= 0.0) {
            return is_fixed(own) ? own->mean_s
                                 : duration_quantile_s(own, uniform(chain, link, chain->chains)) +
                                       chain->grown_s[link];
        }
    }
    if (chain->fixed_s[link] >= 0.0)
        return chain->fixed_s[link];
    const struct duration *law = &chain->spec->recovery.restart.links[link];
    return duration_quantile_s(law, uniform(chain, link, chain->chains)) + chain->grown_s[link];
}

double job_chain_link_s(const struct job_chain *chain, enum restart_link link)
{
    double s = chain->links[link] ? walked_s(chain, link) : 0.0;
    CHECK(s >= 0.0); /* 2 */
    return s;
}

unsigned job_chain_times(const struct job_chain *chain, double load_s, struct chain_time *out)
{
    unsigned count = 0;
    for (unsigned i = 0; i < chain->timed_count; i++) {
        int place = chain->timed[i];
        double s = place == PLACE_LOAD ? load_s : job_chain_link_s(chain, (enum restart_link)place);
        if (s > 0.0)
            out[count++] = (struct chain_time){place, s};
    }
    return count;
}

bool job_chain_exposed(const struct job_chain *chain)
{
    int place = job_chain_place(chain);
    return chain->spec->strike == STRIKE_ALWAYS &&
           (place >= RESTART_LINK_COUNT || !chain->spec->recovery.restart.sheltered[place]);
}

bool job_chain_reads(struct job_chain *chain)
{
    double corrupt_ratio = chain->spec->checkpoint.corrupt_ratio;
    if (corrupt_ratio == 0.0)
        return true;
    uint64_t number = random_hash(chain->chains, chain->loads++);
    return uniform(chain, DRAW_CORRUPT, number) >= corrupt_ratio;
}

bool job_chain_blames_other(const struct job_chain *chain, uint32_t positions, uint32_t position,
                            uint32_t *other)
{
    double ratio = chain->spec->recovery.wrong_blame_ratio;
    if (ratio == 0.0 || positions < 2 || uniform(chain, DRAW_BLAME, chain->chains) >= ratio)
        return false;
    double u = uniform(chain, DRAW_BLAMED, chain->chains);
    *other = (uint32_t)(u * (positions - 1));
    *other += *other >= position ? 1 : 0;
    CHECK(*other < positions && *other != position);
    return true;
}

double job_chain_beside(struct job_chain *chain, double *links_s)
{
    double sum_s = 0.0;
    chain->chains++;
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        links_s[link] = job_chain_link_s(chain, (enum restart_link)link);
        sum_s += links_s[link];
    }
    return sum_s;
}
