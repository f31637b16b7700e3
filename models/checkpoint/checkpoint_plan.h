/* checkpoint_plan.h - from a configuration, a policy and its tiers to what a save blocks, when it
 * is durable and how long a load takes: the storage player's times, laid out by the policy.
 *
 * A policy that writes in the background shares the NICs with training where a tier lies behind
 * them; what that costs a step is the step simulated with what is left of every NIC. */
#ifndef ORRERY_MODELS_CHECKPOINT_CHECKPOINT_PLAN_H
#define ORRERY_MODELS_CHECKPOINT_CHECKPOINT_PLAN_H

#include "models/checkpoint/checkpoint_kind.h"
#include "models/checkpoint/storage.h"
#include "models/step/simulate/condition.h"

struct checkpoint_request {
    const struct checkpoint_kind *kind;
    const struct kind_options *options;
    double bytes_per_parameter; /* see storage_bytes_per_parameter */
    const struct storage_tier
        *tiers; /* each passes storage_check, all storage_check_memory; as many as the kind takes */
    unsigned tier_count;
    /* What the user gives instead, in seconds; < 0: what the player finds. The stall of a save; the
     * time until its safest copy is durable (no other takes longer), which only a policy that
     * writes in the background has; a load from any level. */
    double stall_s, persist_s, load_s;
};
/* What the player found for one tier, before the policy laid it out. */
void checkpoint_tier_play(const struct configuration *c, struct condition_table *conditions,
                          const struct checkpoint_kind *kind, const struct storage_tier *tier,
                          double bytes_per_parameter, struct checkpoint_tier *out);
/* `conditions` is of `c`, or a fixed one. Costs the simulation of one step for each tier behind the
 * NICs of a background policy. Tier names are borrowed from the request. */
void checkpoint_plan_build(const struct configuration *c, struct condition_table *conditions,
                           const struct checkpoint_request *request, struct checkpoint_plan *out);

#endif
