/* price.h - what a stated choice costs, against its obvious neighbour that fits.
 *
 * A scenario says: recompute everything, microbatches of one, plain 1f1b, tensor parallelism across
 * nodes. For each choice that it states the layouts one change away are looked at, and those from
 * which the step could win enough are played (trial.h). A part of a step bounds what a change can
 * win: no schedule saves more than the bubble. So a good layout costs nothing to be told good, and
 * the trials of a bad one are bounded by layer passes. A size is halved or doubled as long as that
 * is faster. The best of each key is told as change.h settles it, with the step that a run has.
 * What was chosen for the user has no price, but for the exchange with experts, which is chosen
 * without a trial. */
#ifndef ORRERY_MODELS_PLAN_PRICE_H
#define ORRERY_MODELS_PLAN_PRICE_H

#include "models/plan/change.h"
#include "models/step/simulate/step.h"
#include "sim/arena.h"

enum {
    PRICE_MAX = 10
};
/* Told from here on: the step takes this much longer than the neighbour's. */
#define PRICE_RATIO 0.10
/* Half as much again as such a neighbour wins: bounds are seldom reached. */
#define PRICE_WORTH_A_LOOK (1.5 * PRICE_RATIO / (1.0 + PRICE_RATIO))

struct price {
    const char *key;   /* that was stated: "layout.recompute" */
    const char *other; /* "layout.recompute=none", and what has to be stated with it */
    double cost_ratio; /* step / the step with that - 1 */
    double step_s, other_s;
};
struct prices {
    struct price rows[PRICE_MAX]; /* the dearest first */
    unsigned count, tried;
    bool stopped; /* some that come into question were not tried */
};
struct price_question {
    struct change_question change;
    const struct step *step; /* of change.from, played */
    double win_ratio;        /* of the step: neighbours that could win more than this are tried */
    uint64_t passes_max;     /* layer passes of all trials; about 4 us each */
};
/* Nothing where the step was not timed. Texts live in `arena`. */
void price_find(struct arena *arena, const struct price_question *question, struct prices *out);

#endif
