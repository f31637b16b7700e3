/* choice_rules.h - keys of a layout that follow from its axes by rule, where they are open: nothing
 * is tried. `open` has a bit for each enum choice_key; what is stated stays. */
#ifndef ORRERY_MODELS_PLAN_CHOICE_RULES_H
#define ORRERY_MODELS_PLAN_CHOICE_RULES_H

#include "models/plan/choice_keys.h"
#include "models/plan/choice_orders.h"
#include "sim/arena.h"

struct choice_rule {
    const char *value, *why; /* as the scenario would spell it, and a few words; NULL: no choice */
};
/* Wherever tp and the software allow it. */
struct choice_rule choice_rule_sequence_parallel(struct arena *arena, unsigned open,
                                                 struct configuration *c);
/* What the software shards; under a pipeline, where gradients accumulate over the microbatches, no
 * more than the optimizer. One replica has nothing to share. */
struct choice_rule choice_rule_sharding(struct arena *arena, unsigned open,
                                        struct configuration *c);
/* Which orders of the pipeline come into question. */
struct order_question choice_rule_orders(const struct configuration *c, unsigned open);
/* All of these: sequence parallelism, sharding, and the plainest order with the ends that it asks
 * for. */
void choice_settle(struct arena *arena, unsigned open, struct configuration *c);

#endif
