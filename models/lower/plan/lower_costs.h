/* lower_costs.h - what is paid beside the kernels of a program, worked out of the configuration
 * once: host time, the wires of a layer's collectives, copies to and from the host. */
#ifndef ORRERY_MODELS_LOWER_PLAN_LOWER_COSTS_H
#define ORRERY_MODELS_LOWER_PLAN_LOWER_COSTS_H

#include "models/layout/configuration.h"

/* The ranks of a collective of a layer, and the rate that is promised to them; 0: none is. */
struct least_wire {
    double ranks, bytes_per_s;
};
/* What all blocks pay beside their kernels. */
struct block_costs {
    struct gpu_spec gpu;  /* at the clock that its power cap leaves (lower_plan.c) */
    double launch_s;      /* of one kernel, at this tp */
    double tensor_host_s; /* of one tensor-parallel collective */
    double exchange_sms;  /* that rows of experts hold on their way */
    bool tensor_inside;   /* the tensor-parallel ranks share a node */
    unsigned graphs;      /* enum graph_module: what CUDA graphs replay */
    struct least_wire wires[SEGMENT_CP_HEADS + 1];
};
struct block_costs lower_costs_block(const struct configuration *c);

/* Host time of a stage beside that of its kernels, s. */
struct host_plan {
    double launch_s;    /* of a message, copy or collective that no block has */
    double message_s;   /* of a send or receive, beside its launch */
    double pass_s;      /* of each pass, but for those of weights alone */
    double data_s;      /* of a microbatch's data, on the first stage */
    double optimizer_s; /* of the update */
};
struct host_plan lower_costs_host(const struct configuration *c);

/* What waits on the host, and how fast it gets there. */
struct offload_plan {
    bool activations, optimizer; /* there is some */
    struct activation_rates activation_rates;
    struct offload_rates optimizer_rates;
};
struct offload_plan lower_costs_offload(const struct configuration *c);

#endif
