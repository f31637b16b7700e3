/* Invariant 1: a group that reduces is no larger than the replicas, and no shard is empty of ranks.
 */
#include "models/lower/plan/lower_data_plan.h"

#include "models/schedule/schedule_kind.h"
#include "sim/check.h"

/* A stage's microbatches follow each other closely: whoever shards under a pipeline gathers weights
 * once, accumulates in full, and reduces after the last backward. */
static bool once_a_step(const struct configuration *c)
{
    return c->layout.pp > 1;
}

static enum weights_come weights_come(const struct configuration *c, uint32_t replicas,
                                      uint32_t shards)
{
    const struct sharding_kind *sharding = c->layout.data.sharding;
    switch (sharding->gather) {
    case GATHER_NEVER:
        return WEIGHTS_STAY;
    case GATHER_AFTER_UPDATE:
        return c->software.data.overlap_parameters ? WEIGHTS_BESIDE_FORWARD
               : replicas > 1                      ? WEIGHTS_AFTER_UPDATE
                                                   : WEIGHTS_STAY;
    case GATHER_UNITS:
        break;
    }
    if (shards == 1)
        return WEIGHTS_STAY;
    if (once_a_step(c))
        return WEIGHTS_ONCE_A_STEP;
    return c->software.shards.reshard || !sharding->units ? WEIGHTS_EACH_PASS
                                                          : WEIGHTS_EACH_MICROBATCH;
}

static enum gradients_leave gradients_leave(const struct configuration *c, uint32_t replicas)
{
    const bool overlaps = c->software.data.overlap_gradients;
    const bool each = c->layout.data.sharding->reduce == REDUCE_EACH_MICROBATCH;
    if (each && replicas > 1 && !once_a_step(c))
        return overlaps ? GRADIENTS_EACH_BACKWARD : GRADIENTS_EACH_BACKWARD_WAITED;
    return overlaps ? GRADIENTS_IN_LAST_BACKWARD : GRADIENTS_AFTER_BACKWARDS;
}

static void plan_groups(const struct configuration *c, struct data_plan *out)
{
    const struct sharding_kind *sharding = c->layout.data.sharding;
    const uint32_t replicas = (uint32_t)configuration_holders(c);
    const uint32_t holders = (uint32_t)configuration_expert_ranks(c).holders;
    const struct shard_counts sharded = {(uint32_t)configuration_shards(c),
                                         (uint32_t)configuration_expert_shards(c)};
    const struct shard_counts whole = {1, 1};
    CHECK(sharded.all > 0 && sharded.all <= replicas); /* 1 */
    out->sharded = sharded;
    out->groups[DATA_ALL] =
        (struct data_group){replicas, sharding->hybrid ? sharded.all : replicas};
    out->groups[DATA_EXPERTS] =
        (struct data_group){holders, sharding->hybrid ? sharded.experts : holders};
    out->shares.weights = sharding->shards_weights ? sharded : whole;
    out->shares.gradients = sharding->shards_gradients && !once_a_step(c) ? sharded : whole;
    out->shares.optimizer = sharding->shards_optimizer ? sharded : whole;
}

static enum experts_held experts_held(const struct configuration *c, const struct data_plan *plan)
{
    if (!configuration_expert_ranks(c).apart)
        return EXPERTS_WITH_ALL;
    return plan->sharded.experts == 1 && !plan->weights_are_master ? EXPERTS_APART_WHOLE
                                                                   : EXPERTS_APART;
}

struct data_plan lower_data_plan(const struct configuration *c)
{
    const struct software_profile *software = &c->software;
    const double kept_bytes = configuration_gradient_bytes(c);
    struct data_plan plan = {
        .sharding = c->layout.data.sharding,
        .reduction =
            c->layout.data.sharding->reduce_scatter ? COMM_REDUCE_SCATTER : COMM_ALL_REDUCE,
        .kept_bytes = kept_bytes,
        .wire_bytes = software->data.gradient_reduce_bytes > 0.0
                          ? software->data.gradient_reduce_bytes
                          : kept_bytes,
        .state = optimizer_state(c->training.optimizer, c->training.precision,
                                 &c->training.state_formats),
        .on_card = 1.0 - c->layout.offload.optimizer,
        .adapters = c->training.adapter.kind != ADAPTER_NONE,
        .tied_across = (c->model.tied_embeddings || c->model.mtp_layers > 0) && c->layout.pp > 1 &&
                       c->layout.pipeline.schedule->placement == PLACED_ROUND,
    };
    plan_groups(c, &plan);
    plan.weights = weights_come(c, plan.groups[DATA_ALL].replicas, plan.sharded.all);
    plan.gradients = gradients_leave(c, plan.groups[DATA_ALL].replicas);
    plan.buffers = lower_data_plan_gathers(&plan) && software->shards.buffers;
    plan.weights_are_master = lower_data_plan_gathers(&plan) &&
                              software->shards.weights_are_master &&
                              c->training.precision->master_weights;
    plan.experts = experts_held(c, &plan);
    plan.has_world = c->layout.tp * c->layout.pp * plan.sharded.all > 1;
    return plan;
}
