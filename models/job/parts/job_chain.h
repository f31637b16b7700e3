/* job_chain.h - a part of the player `job`: the restart chain, from a failure (or a planned stop)
 * to the first step: which links are walked, how long each lasts, where the job stands in it.
 *
 * Draws depend on (seed, link, number of the chain): policies under comparison meet the same. Knows
 * neither the clocks nor what happens at a place; job_restart.c walks it. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_CHAIN_H
#define ORRERY_MODELS_JOB_PARTS_JOB_CHAIN_H

#include "models/job/parts/job_spec.h"

/* Places of the chain that are no links. */
enum {
    PLACE_WAIT = RESTART_LINK_COUNT, /* for nodes */
    PLACE_LOAD,
    PLACE_COUNT
};
extern const int job_chain_places[PLACE_COUNT]; /* links and places in their order */

struct chain_time {
    int place; /* of job_chain_places */
    double s;
};
struct job_chain {
    const struct job_spec *spec;
    uint64_t seed;
    bool all_exposed;                   /* all of the chain, or nothing of it */
    double grown_s[RESTART_LINK_COUNT]; /* with the ranks */
    double fixed_s[RESTART_LINK_COUNT]; /* < 0: drawn */
    int timed[PLACE_COUNT];             /* places that can take time, in order; not waiting */
    unsigned timed_count;
    uint32_t cause;                 /* of the failure that began the chain at hand */
    bool links[RESTART_LINK_COUNT]; /* that are walked */
    bool waits;                     /* for nodes */
    unsigned place;                 /* at hand, of job_chain_places */
    bool over;                      /* it was walked to its end */
    uint64_t chains;                /* begun so far: key of their draws */
    uint64_t loads;                 /* tried in this chain */
};

/* Borrows `spec`. */
void job_chain_create(struct job_chain *chain, const struct job_spec *spec, uint64_t seed);
/* What the next chain is for: a failure of this cause, for which these links are walked ... */
void job_chain_struck(struct job_chain *chain, uint32_t cause);
void job_chain_choose(struct job_chain *chain, const bool *links, bool waits);
void job_chain_noticed(struct job_chain *chain); /* nothing is left to be detected */
/* ... or a planned stop: the nodes are found, and have what they need. */
void job_chain_planned(struct job_chain *chain);
bool job_chain_plans(unsigned link); /* is it walked after a planned stop? */

/* The walk: a chain stops what runs, begins, goes from place to place, and is over once. */
void job_chain_stop(struct job_chain *chain);
void job_chain_begin(struct job_chain *chain);
static inline int job_chain_place(const struct job_chain *chain) /* PLACE_COUNT: all are passed */
{
    return chain->place < PLACE_COUNT ? job_chain_places[chain->place] : PLACE_COUNT;
}
void job_chain_pass(struct job_chain *chain); /* to the next place */
void job_chain_end(struct job_chain *chain);
void job_chain_resume(struct job_chain *chain); /* what comes after it begins */

/* The places that take time, in order, if nothing is waited for: how many of PLACE_COUNT. */
unsigned job_chain_times(const struct job_chain *chain, double load_s, struct chain_time *out);
double job_chain_link_s(const struct job_chain *chain, enum restart_link link); /* 0: not walked */
/* Failures can strike the place at hand. */
bool job_chain_exposed(const struct job_chain *chain);
/* What was loaded can be read; each time it is asked another load is tried. */
bool job_chain_reads(struct job_chain *chain);
/* The wrong one of two nodes is blamed: the position of the other, in a job of `positions`. */
bool job_chain_blames_other(const struct job_chain *chain, uint32_t positions, uint32_t position,
                            uint32_t *other);
/* A chain of a single replica, beside the others: its links, and their sum. */
double job_chain_beside(struct job_chain *chain, double *links_s);

#endif
