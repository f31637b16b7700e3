/* choice.h - what a competent operator takes where a scenario says nothing: what fits first, then
 * what is fastest, among what the software offers. Found with the ledger and the step itself.
 *
 * By rule: the attention kernel of the software (never an unfused one on a card with FP8 units,
 * Hopper and later), sequence parallelism wherever tp and the software allow it, the sharding of
 * the software, zero-1 in place of more under a pipeline, the layers that embedding and head count
 * as, or those of the first and the last stage, where only so they divide. By trial: tp, pp and cp
 * where a replica does not fit on one rank (choice_axes.h); ep, and whole experts where ranks share
 * them (choice_experts.h); the pipeline's order (1f1b, or interleaved with the most chunks that
 * divide the layers, or with fewer where something would be computed again), the microbatch, and
 * for each the least recomputation that fits. A trial is a step of the ideal cluster: an operator
 * does not know which card will be slow. Trials stop after a bounded number of layer passes; the
 * sentence of a choice says what was compared. */
#ifndef ORRERY_MODELS_PLAN_CHOICE_H
#define ORRERY_MODELS_PLAN_CHOICE_H

#include "models/layout/configuration.h"
#include "models/plan/choice_keys.h"
#include "sim/arena.h"

enum {
    RELEASE_SETS_MAX = 16
};
struct made_choice {
    enum choice_key key;
    const char *value; /* as the scenario would spell it */
    const char *why;   /* a few words */
    const char *path;  /* of a key that recipes of the release set (CHOICE_RECIPE); else NULL */
};
const char *choice_path(const struct made_choice *choice); /* "layout.sharding" */
struct choices {
    struct made_choice rows[CHOICE_COUNT + RELEASE_SETS_MAX];
    unsigned count;
    unsigned open; /* a bit for each key that was not stated, told or not */
    bool made;     /* every open key has a value; by the reader of a scenario */
};

/* Fills the open keys of `c` (a bit for each enum choice_key, those of the layout), whose other
 * keys, dp among them, are set, and writes each that it filled, in the order of the enum; texts
 * live in `arena`. A configuration that breaks a rule whatever is chosen gets the plainest choices;
 * the rules will name what it breaks. */
void choice_make(struct arena *arena, struct configuration *c, unsigned open, struct choices *out);

#endif
