/* lower_data_plan.h - data parallelism, decided once for a configuration: who holds what, when
 * weights come and gradients leave. Read-only facts, asked in place of the configuration. */
#ifndef ORRERY_MODELS_LOWER_PLAN_LOWER_DATA_PLAN_H
#define ORRERY_MODELS_LOWER_PLAN_LOWER_DATA_PLAN_H

#include "models/layout/configuration.h"
#include "models/sharding/sharding_kind.h"

/* What is held by other ranks goes into other buckets, over a stream of its own. */
enum data_part {
    DATA_ALL,
    DATA_EXPERTS, /* where they are apart */
    DATA_PART_COUNT
};
/* The ranks of a part. */
struct data_group {
    uint32_t replicas; /* that hold the same: gradients are reduced over them */
    uint32_t reducers; /* of them, that reduce on the part's stream; the others across groups */
};
/* In how many shards what all experts and all else hold is kept. */
struct shard_counts {
    uint32_t all, experts;
};
/* ... of what a rank keeps from step to step. */
struct data_shares {
    struct shard_counts weights, gradients, optimizer;
};
enum experts_held {
    EXPERTS_WITH_ALL,   /* by the ranks that hold the same of all else */
    EXPERTS_APART,      /* by others */
    EXPERTS_APART_WHOLE /* ... each whole, as its rank computes with it: none are gathered */
};
/* When weights that others have updated come to a rank. From WEIGHTS_ONCE_A_STEP on they are
 * gathered unit by unit. */
enum weights_come {
    WEIGHTS_STAY,            /* never: each rank updates all that it computes with */
    WEIGHTS_AFTER_UPDATE,    /* all at once */
    WEIGHTS_BESIDE_FORWARD,  /* bucket by bucket, beside the first forward of the step behind */
    WEIGHTS_ONCE_A_STEP,     /* stay from the first forward to the last backward of their chunk */
    WEIGHTS_EACH_MICROBATCH, /* stay from each forward to the backward of its microbatch */
    WEIGHTS_EACH_PASS /* are dropped after the forward, and gathered for the backward again */
};
/* When gradients are reduced. From GRADIENTS_EACH_BACKWARD on they are scattered, group by group of
 * units, and shards alone accumulate. */
enum gradients_leave {
    GRADIENTS_AFTER_BACKWARDS,      /* all at once, when all are made */
    GRADIENTS_IN_LAST_BACKWARD,     /* bucket by bucket */
    GRADIENTS_EACH_BACKWARD,        /* beside the compute behind */
    GRADIENTS_EACH_BACKWARD_WAITED, /* ... which waits for them */
};
struct data_plan {
    const struct sharding_kind *sharding;
    struct data_group groups[DATA_PART_COUNT];
    struct shard_counts sharded; /* of what is sharded at all */
    struct data_shares shares;
    enum experts_held experts;
    enum weights_come weights;
    enum gradients_leave gradients;
    enum comm_op reduction;        /* all-reduce, or reduce-scatter */
    bool buffers;                  /* FSDP gathers and reduces in buffers of their own streams */
    bool weights_are_master;       /* of the shards: no 16-bit ones are kept */
    double kept_bytes, wire_bytes; /* of an element of a gradient */
    struct optimizer_state state;
    double on_card;   /* share of it; the rest is on the host */
    bool adapters;    /* the model's own weights are frozen */
    bool tied_across; /* first and last stage hold the same embedding */
    bool has_world;   /* more than one rank holds a part of a copy */
};
struct data_plan lower_data_plan(const struct configuration *c);

static inline bool lower_data_plan_gathers(const struct data_plan *plan)
{
    return plan->weights >= WEIGHTS_ONCE_A_STEP;
}
/* ... anew in every pass or microbatch. */
static inline bool lower_data_plan_gathers_anew(const struct data_plan *plan)
{
    return plan->weights > WEIGHTS_ONCE_A_STEP;
}
static inline bool lower_data_plan_scatters(const struct data_plan *plan)
{
    return plan->gradients >= GRADIENTS_EACH_BACKWARD;
}

#endif
