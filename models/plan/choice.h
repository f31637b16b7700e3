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
#include "sim/arena.h"

enum choice_key {
    CHOICE_ATTENTION,
    CHOICE_TP,
    CHOICE_PP,
    CHOICE_CP,
    CHOICE_SEQUENCE_PARALLEL,
    CHOICE_SHARDING,
    CHOICE_EP,
    CHOICE_ETP,
    CHOICE_SCHEDULE,
    CHOICE_CHUNKS,
    CHOICE_ENDS,
    CHOICE_FIRST_STAGE,
    CHOICE_LAST_STAGE,
    CHOICE_RECOMPUTE,
    CHOICE_RECOMPUTE_LAYERS,
    CHOICE_MICROBATCH,
    CHOICE_LAYOUT_END, /* those above are choice_make's; those below the reader's, from the
                          catalogue */
    CHOICE_NODE = CHOICE_LAYOUT_END,
    CHOICE_FABRIC,
    CHOICE_NODES,
    CHOICE_ORDER,
    CHOICE_PRECISION,
    CHOICE_DISPATCH,
    CHOICE_DISPATCH_8BIT,
    CHOICE_PROFILE,
    CHOICE_RELEASE,
    CHOICE_COUNT
};
struct made_choice {
    enum choice_key key;
    const char *value; /* as the scenario would spell it */
    const char *why;   /* a few words */
};
struct choices {
    struct made_choice rows[CHOICE_COUNT];
    unsigned count;
    unsigned open; /* a bit for each key that was not stated, told or not */
};
const char *choice_key_path(enum choice_key key); /* "layout.sharding" */

/* Fills the open keys of `c` (a bit for each enum choice_key, those of the layout), whose other
 * keys, dp among them, are set, and writes each that it filled, in the order of the enum; texts
 * live in `arena`. A configuration that breaks a rule whatever is chosen gets the plainest choices;
 * the rules will name what it breaks. */
void choice_make(struct arena *arena, struct configuration *c, unsigned open, struct choices *out);
/* The kernel that is taken where training.attention says nothing: the software's, or the newest one
 * that the card has. */
enum attention_kernel choice_attention(const struct configuration *c);
/* Why `c`, which has it, has it; lives in `arena` or for ever. */
const char *choice_attention_why(struct arena *arena, const struct configuration *c);

#endif
