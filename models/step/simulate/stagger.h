/* stagger.h - does a step rest on lock-step? The step played again with ranks that start apart.
 *
 * Groups that are exactly alike send at the same moments, all slowly, and compute at the same
 * moments, while the wires stand idle. Fair sharing keeps them so, as it keeps every other offset;
 * a real machine has no reason to be at this one (docs/models/players.md has the closed form). So
 * every rank starts a little later, by chance, up to the time of one transfer: without lock-step
 * the step is longer by about as much, with it shorter by as much in every round.
 *
 * Ranks that start apart differ, so all are played: small steps only, STAGGER_OPS_MAX. */
#ifndef ORRERY_MODELS_STEP_SIMULATE_STAGGER_H
#define ORRERY_MODELS_STEP_SIMULATE_STAGGER_H

#include "models/step/simulate/step.h"

#define STAGGER_WORTH_RATIO                                                                        \
    0.01 /* of the step: what lock-step costs less than that is no matter                          \
          */
enum {
    STAGGER_OPS_MAX = 1 << 21, /* of all ranks and draws: some tenths of a second */
    STAGGER_DRAWS_MAX = 8
};

struct stagger {
    double lost_s;     /* by the group that loses most to sharing wires; 0: nothing is shared */
    double apart_s;    /* ranks start up to so much apart: a shared transfer */
    uint32_t draws;    /* 0: not tried: too little is lost, it varies already, or it is too large */
    double shortest_s; /* of the draws */
    double spared_ratio; /* 1 - shortest_s / the step in lock-step; below 0: they are longer */
};
/* `step` is c, played to its end. The draws depend on c->seed. */
void stagger_try(const struct configuration *c, const struct step *step, struct stagger *out);
/* Is it worth a warning? */
bool stagger_matters(const struct stagger *stagger);

#endif
