/* choice_axes.h - tp, pp and cp where a scenario says nothing of them and a replica does not fit on
 * one rank, or only by recomputing everything.
 *
 * An operator splits a model over as few ranks as hold it: tensor parallelism inside the NVLink
 * domain, then stages, and the sequence where even these do not help. Sizes go up from one rank;
 * layouts of the first that holds the model at all, and of the first that holds it without full
 * recomputation, are played (trial.h) with microbatches of one, pipelines also interleaved by the
 * most chunks that fit; the fastest is taken, or the second where it turns out faster once all
 * else is chosen too. Sizes, and parts of a sequence, go on where no pipeline has as many
 * microbatches as stages, and sizes, where one of tp and pp is stated, while a larger one is
 * faster.
 * Experts are spread over the fewest ranks with which a split holds the model, inside the NVLink
 * domain unless no split holds it so. */
#ifndef ORRERY_MODELS_PLAN_CHOICE_AXES_H
#define ORRERY_MODELS_PLAN_CHOICE_AXES_H

#include "models/plan/trial.h"

struct axes_question {
    bool tp, pp, cp; /* open */
    bool ep, etp; /* of a mixture of experts: open too, each split with the share that it needs */
    bool microbatch, recompute; /* open too */
    /* Fills what follows from the axes by rule: sequence parallelism, sharding, chunks. */
    void (*settle)(const void *context, struct configuration *c);
    /* Turns a pipeline in its plain order into an interleaved one of the most chunks, or one of
     * chunks into one of fewer; false: there is none. */
    bool (*interleave)(const void *context, struct configuration *c);
    const void *context;
    struct trial_budget budget; /* of all trials */
};
enum {
    CHOICE_SPLITS_MAX = 2
};
struct axes_found {
    unsigned fitting, timed;
    struct choice_split {
        uint64_t tp, pp, cp, dp; /* dp is what is left of the GPUs */
    } best[CHOICE_SPLITS_MAX];   /* the fastest first, and one that is about as fast */
    unsigned count;              /* 0: nothing better than what `c` has */
    bool by_1f1b;                /* not by the stated schedule, which holds all microbatches */
    bool stays;                  /* which holds the model as it is, or is left to the rules */
};
void choice_axes(const struct configuration *c, const struct axes_question *question,
                 struct axes_found *out);

#endif
