/* configuration.h - everything that one step needs to know, in SI, checked: the door of this floor.
 *
 * scenarios/ fills it from a file and checks it (configuration_check gives the rules of the
 * layout); lower() turns it into programs, step_run() plays them. Owned by the arena it was built
 * in. */
#ifndef ORRERY_MODELS_LAYOUT_CONFIGURATION_H
#define ORRERY_MODELS_LAYOUT_CONFIGURATION_H

#include "models/collective/collective_measured.h"
#include "models/gpu/gpu.h"
#include "models/gpu/precision.h"
#include "models/layout/transformer_formula.h"
#include "models/workload/fp8_recipe.h"
#include "models/workload/optimizer.h"
#include "models/workload/software.h"
#include "models/workload/transformer.h"
#include "topology/topology.h"

struct schedule_kind;
struct sharding_kind;

enum cp_method {
    CP_ALL_GATHER,
    CP_RING,
    CP_ALL_TO_ALL,
    CP_ALL_TO_ALL_RING /* heads inside groups of cp_inner, keys and values round between them */
};
/* Which positions a context rank holds of a causal sequence. */
enum cp_balance {
    CP_BALANCE_AUTO,    /* as the software does */
    CP_BALANCE_ZIG_ZAG, /* a block from either end: all do the same */
    CP_BALANCE_NONE     /* neighbours: the last rank has nearly twice the mean */
};
enum placement {
    PLACEMENT_PACKED,
    PLACEMENT_SCATTERED
}; /* ranks fill nodes, or go round them */
/* Where what the host keeps lies: the optimizer's state between updates, activations between their
 * forward and their backward. */
enum offload_place {
    OFFLOAD_CPU,
    OFFLOAD_NVME
};
extern const char *const offload_names[]; /* NULL-ended, in that order */
extern const char *const cp_method_names[], *const cp_balance_names[], *const placement_names[];

struct layout_pipeline {
    uint64_t vpp; /* chunks for each stage; 1: not interleaved */
    const struct schedule_kind *schedule;
    struct kind_options schedule_options;
    uint64_t first_layers, last_layers; /* 0: by the software's split */
    bool ends_count; /* embedding and head count as a layer each in an even split */
};
struct layout_data {
    const struct sharding_kind *sharding;
    struct kind_options sharding_options;
    uint64_t shard_group;      /* hsdp: ranks that share one copy; 0: the GPUs of a node */
    uint64_t fsdp_unit_layers; /* layers in an FSDP unit */
};
struct layout_context {
    int method, balance;
    uint64_t inner; /* see configuration_context_ranks; 0: as many as a node holds */
};
struct layout_experts {
    double imbalance, capacity;           /* of struct layer_context; 0: balanced, none */
    const struct dispatch_kind *dispatch; /* NULL: alltoall */
    bool dispatch_8bit;                   /* rows go to their experts in eight bits */
    struct kind_options dispatch_options;
};
struct layout_offload {
    double optimizer; /* share of the optimizer's state that is kept and updated on the host */
    int optimizer_to; /* enum offload_place */
    /* Share of the layers of each chunk, its first, whose activations wait on the host. */
    double activations;
    int activations_to; /* enum offload_place */
};
struct layout_spec {
    uint64_t tp, pp, dp, cp;
    uint64_t ep, etp; /* see configuration_expert_ranks; 0: 1, and as tp */
    uint64_t microbatch;
    int recompute, placement;
    uint64_t recompute_layers; /* block: the first of each chunk; uniform: of a group; else 0 */
    bool sequence_parallel;
    const char *order; /* of the dimensions, fastest first: "tp-cp-dp-pp" */
    struct layout_pipeline pipeline;
    struct layout_data data;
    struct layout_context context;
    struct layout_experts experts;
    struct layout_offload offload;
};
struct training_spec {
    uint64_t sequence, global_batch;
    const struct precision *precision;
    const struct optimizer *optimizer;
    struct kind_options precision_options, optimizer_options;
    int attention; /* enum attention_kernel */
    bool causal;
    double tokens;         /* of the whole training; 0: not said */
    double gradient_bytes; /* of a kept gradient; 0: the software's */
    struct state_formats state_formats;
    struct adapter_spec adapter;
    uint64_t wide_layers_first, wide_layers_last; /* whose products are as wide as all else */
};
/* One departure from the ideal cluster. */
struct perturbation {
    enum {
        PERTURB_GPU_SPEED,
        PERTURB_LINK
    } what;
    uint64_t gpu;
    double ratio; /* speed or capacity that is left, in (0, 1] */
    int link;     /* enum link_kind, for PERTURB_LINK */
};
struct configuration {
    const char *name;
    struct model_shape model;
    struct gpu_spec gpu;
    struct topology_spec cluster;
    struct training_spec training;
    struct layout_spec layout;
    struct software_profile software;
    struct kernel_source kernels;
    struct collective_points collectives; /* measured; count 0: none */
    double kernel_jitter_sigma;           /* log-normal noise of each compute op; 0: none */
    struct perturbation *perturbations;
    uint32_t perturbation_count;
    uint64_t seed;
    uint64_t path_draw; /* 0: the paths of `seed`; else others, and all else the same */
};

/* What a switch hashes of the flows of a communicator beside their ends. */
uint64_t configuration_flow_seed(const struct configuration *c, uint64_t kind);

/* One broken rule: the key a user must look at, and the sentence. */
struct rule_break {
    const char *key; /* "layout.tp" */
    bool warning;    /* the run may go on; the sentence names the price */
    char text[320];
};
/* Checks every rule of the layout (world size, divisibility, chunks, batch, NVLink domain, ...).
 * Writes up to `capacity` breaks and returns how many there are. */
unsigned configuration_check(const struct configuration *c, struct rule_break *out,
                             unsigned capacity);
/* Is no rule broken? Warnings do not count. */
bool configuration_legal(const struct configuration *c);
/* Microbatches for each replica in a step. */
uint64_t configuration_microbatches(const struct configuration *c);
double configuration_tokens(const struct configuration *c); /* of a step */
/* Steps that train all of these tokens, the last one whole; 0: no tokens are said. */
uint64_t configuration_steps_of(double tokens, double step_tokens);
/* ... of training.tokens. */
uint64_t configuration_steps(const struct configuration *c);
/* Tokens of these steps: what a training takes in time, money and energy; NAN: none are said. */
double configuration_trained_tokens(const struct configuration *c);
/* Bytes of a kept gradient: as the scenario says, else as recipes of the software set it, but no
 * fewer than the backward pass writes. */
double configuration_gradient_bytes(const struct configuration *c);
/* Trainable parameters beside frozen weights; 0: all weights are trained. */
double configuration_adapter_parameters(const struct configuration *c);
/* Bytes of a frozen weight beside adapters, in the mean. */
double configuration_frozen_bytes(const struct configuration *c);
/* FLOPs of a token as MFU counts them, or with the keys before a query alone; their formula. With
 * adapters frozen weights have no gradients of their own (docs/models/adapters.md). */
void configuration_formula(const struct configuration *c, bool causal, struct formula *out);
double configuration_flops_per_token(const struct configuration *c, bool causal);
uint64_t configuration_ranks(const struct configuration *c);
uint64_t configuration_gpus(const struct configuration *c); /* of the cluster that are the job's */
/* Layers of the largest chunk of the pipeline, dealt out evenly but for a given first or last
 * stage. For a layout whose stages are legal. */
uint64_t configuration_chunk_layers(const struct configuration *c);
/* Does this layer (from 0) keep its linear layers wide, where others compute in eight bits or four?
 */
bool configuration_wide_layer(const struct configuration *c, uint64_t layer);
/* How 8-bit copies get their scales, with `auto` resolved (fp8_recipe_on): where software cannot
 * keep layers wide with delayed scaling and there are such, current. */
enum fp8_recipe configuration_fp8_recipe(const struct configuration *c);
/* Bytes of the narrow copies at rest beside a weight of a linear layer that is narrow; 0: none.
 * With weights of 8 bits the first is no copy: another along columns lies beside it where the card
 * or the scales want both directions. */
double configuration_weight_copy_bytes(const struct configuration *c);
/* What makes stages even that the layers do not divide into, where the software wants them so and
 * nothing is said: embedding and head count as layers; or else, with one chunk for each stage, the
 * first and the last take what is left by as many layers on each of the others as a stage has in
 * the mean, rounded up, the last one the less (it has the head, and modules that predict further
 * ahead, which count as layers). All zero: they are even, or none
 * of this helps. */
struct stage_ends {
    bool count;
    uint64_t first, last;
};
struct stage_ends configuration_stage_ends(const struct configuration *c, uint64_t pp,
                                           uint64_t vpp);
/* Host time that the software takes on this node's CPUs, of what its figures say, s. */
double configuration_host_s(const struct configuration *c, double software_s);
/* Of a rank, with layout.optimizer_offload: what a copy between card and host moves, and what its
 * share of the CPUs' memory gives while all ranks of its node update. */
struct offload_rates {
    double link_bytes_per_s, dram_bytes_per_s;
    double nvme_read_bytes_per_s, nvme_write_bytes_per_s; /* of the drives, in the same way */
};
struct offload_rates configuration_offload_rates(const struct configuration *c);
/* Of a rank, with layout.activation_offload: what a copy of activations to the host moves, and one
 * back: the link's rate, or less where its share of the CPUs' memory (or of the drives) gives less.
 */
struct activation_rates {
    double out_bytes_per_s, back_bytes_per_s;
};
struct activation_rates configuration_activation_rates(const struct configuration *c);
/* Software whose sharded weights are the fp32 master copy keeps no 16-bit ones beside it. */
bool configuration_weights_are_master(const struct configuration *c);
/* Layers of a chunk of so many whose activations go to the host, its first: all but those that the
 * share leaves, rounded down (NVIDIA/Megatron-LM
 * megatron/core/pipeline_parallel/fine_grained_activation_offload.py, activation_offload_fraction).
 */
uint32_t configuration_offloaded_layers(const struct configuration *c, uint32_t layers);
/* Ranks over which gradients are reduced: dp x cp (cp peers see other tokens, the same weights). */
uint64_t configuration_replicas(const struct configuration *c);
/* ... and of those that hold the same part of the model: as many, or twice as many where the
 * schedule puts each part on two ranks of a pipeline. Gradients are reduced over them. */
uint64_t configuration_holders(const struct configuration *c);
/* The tp x cp x dp ranks of a stage as the experts see them: `ep` share the experts of a layer,
 * `etp` an expert, and edp = tp x cp x dp / (etp x ep) hold the same (NVIDIA/Megatron-LM
 * megatron/core/parallel_state.py). `apart`: these are others than the replicas of the rest, so
 * their gradients and state go their own ways. A dense model: 1 and tp. */
struct expert_ranks {
    uint64_t ep, etp, edp;
    uint64_t holders; /* of the same experts: edp, or twice where each part is on two stages */
    bool apart;
};
struct expert_ranks configuration_expert_ranks(const struct configuration *c);
/* The context ranks: `heads` of them, neighbours, exchange heads (1: none do), and `ring` pass keys
 * and values round, each of another such group (1: none do). Of all_to_all_ring layout.cp_inner, or
 * else the most that divide cp, find whole heads and, with their tensor ranks, share a node
 * (NVIDIA/TransformerEngine transformer_engine/pytorch/attention/dot_product_attention/
 * context_parallel.py, cp_comm_type a2a+p2p). */
struct context_ranks {
    uint64_t heads, ring;
};
struct context_ranks configuration_context_ranks(const struct configuration *c);
/* Do gathers and scatters of tensor ranks run by userbuffers? Those of sequence parallelism, in a
 * node. */
bool configuration_tensor_pipelines(const struct configuration *c);
/* What a second costs that tensor traffic and products spend beside each other, in seconds. By
 * userbuffers (tp_pipelines) the product runs without the SMs that copies hold (tp_bulk_sms), and
 * takes that share longer (NVIDIA/TransformerEngine comm_gemm_overlap: num_comm_sm). By
 * NCCL, beside a persistent product (gpu.persistent_products), the blocks whose SMs its channels
 * hold run after the others, and the overlap gains nothing: 1. Else software.tp_overlap_cost. */
double configuration_tensor_overlap_cost(const struct configuration *c);
/* Does the software split sequences by the method of the layout? */
bool configuration_splits_sequences(const struct configuration *c);
/* How rows come to them, and which of the experts a token may choose. */
const struct dispatch_kind *configuration_dispatch(const struct configuration *c);
struct routing configuration_routing(const struct configuration *c);
/* Room for rows of a rank's experts over their mean, made before they come; 0: as many as come. */
double configuration_expert_room(const struct configuration *c);
/* Ranks that share one copy of the sharded state of experts, where they are apart: those that hold
 * the same, with hsdp inside a shard group. */
uint64_t configuration_expert_shards(const struct configuration *c);
/* Ranks that share one copy of the sharded state: all holders, 1 (zero-0), or for hsdp
 * layout.shard_group, else the replicas inside a node. */
uint64_t configuration_shards(const struct configuration *c);

#endif
