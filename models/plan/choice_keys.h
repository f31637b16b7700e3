/* choice_keys.h - the keys of a scenario that are chosen where it does not say them. */
#ifndef ORRERY_MODELS_PLAN_CHOICE_KEYS_H
#define ORRERY_MODELS_PLAN_CHOICE_KEYS_H

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
    CHOICE_SEQUENCE,
    CHOICE_PRECISION,
    CHOICE_DISPATCH,
    CHOICE_DISPATCH_8BIT,
    CHOICE_PROFILE,
    CHOICE_RELEASE,
    CHOICE_COUNT,
    CHOICE_RECIPE = CHOICE_COUNT /* no key: one that the recipes of the software set */
};
const char *choice_key_path(enum choice_key key); /* "layout.sharding" */

#endif
