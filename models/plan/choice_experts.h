/* choice_experts.h - over how many ranks the experts of a layer are spread where a scenario says
 * nothing of it: what fits first, then what is fastest.
 *
 * Every share that divides the experts and the ranks of a stage and that the rules accept is a
 * candidate. What its state alone leaves no room for is not tried; the others are played (trial.h)
 * with each microbatch and the recomputation that it needs: small microbatches favour large shares,
 * whose weights take less time to gather, and large ones small shares, whose rows stay within a
 * node. */
#ifndef ORRERY_MODELS_PLAN_CHOICE_EXPERTS_H
#define ORRERY_MODELS_PLAN_CHOICE_EXPERTS_H

#include "models/plan/trial.h"

enum {
    CHOICE_SHARES_MAX = 2
};
struct shares_question {
    bool ep;                      /* open; else what is said is the only candidate */
    bool etp;                     /* open: where ranks share the experts, each has whole ones */
    bool recompute;               /* open too */
    struct trial_budget budget;   /* of all trials */
    const uint64_t *microbatches; /* that come into question, from the largest down */
    unsigned microbatch_count;    /* one at least */
};
struct shares_found {
    unsigned legal, fitting, timed;
    struct choice_share {
        uint64_t ep, etp;      /* as layout.ep and layout.etp */
    } best[CHOICE_SHARES_MAX]; /* the fastest first; where nothing fits that of the least state */
    unsigned count;            /* of best, one at least */
};
/* The shares that come into question for `c`, whose other keys stay as they are. A dense model, or
 * one for which no share is legal: what `c` has. */
void choice_shares(const struct configuration *c, const struct shares_question *question,
                   struct shares_found *out);

#endif
