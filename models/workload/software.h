/* software.h - what a training framework does: what it fuses, overlaps, allocates, and when.
 *
 * A profile is a row of catalogue/software.yaml, filled by software_params. It is set from how that
 * software is documented to behave; each figure names its source there. Versions are profiles
 * (megatron, megatron-2021). Nothing in the models asks for a profile's name. */
#ifndef ORRERY_MODELS_WORKLOAD_SOFTWARE_H
#define ORRERY_MODELS_WORKLOAD_SOFTWARE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/gpu/precision.h"
#include "sim/kind.h"
#include "sim/param.h"

enum stage_split {
    SPLIT_EVEN,
    SPLIT_COST
}; /* layers over stages: evenly, or by cumulative cost */
enum optimizer_build {
    BUILD_EAGER,
    BUILD_FIRST_STEP
}; /* when the moments are allocated */
enum execution {
    EXECUTION_ANY,
    EXECUTION_EAGER,
    EXECUTION_COMPILED
}; /* kernels one by one, or fused by a compiler */
enum gradient_layout {
    GRADIENT_BUFFER,
    GRADIENT_TENSOR
}; /* one flat buffer kept, or by tensor */

/* What is computed again in the backward pass instead of being kept. */
enum recompute {
    RECOMPUTE_NONE,
    RECOMPUTE_SELECTIVE,    /* the attention core: arXiv:2205.05198 section 5 */
    RECOMPUTE_PER_OPERATOR, /* all but the core and every second product: torchtitan's
                               selective "op" */
    RECOMPUTE_MODULES,      /* norms, up-projections of latent attention, activations */
    RECOMPUTE_EVERY_OTHER_LAYER,
    RECOMPUTE_BLOCK,   /* the first few layers of each chunk: layout.recompute_layers */
    RECOMPUTE_UNIFORM, /* all; of as many layers together one input is kept */
    RECOMPUTE_FULL
};
extern const char *const recompute_names[]; /* NULL-ended, in that order */

/* What CUDA graphs replay, by the modules of Megatron's --cuda-graph-modules; a captured stretch
 * costs the host one launch. */
enum graph_module {
    GRAPH_ATTENTION = 1 << 0,
    GRAPH_MLP = 1 << 1,
    GRAPH_EXPERTS = 1 << 2, /* dispatch, experts, combine */
    GRAPH_ROUTER = 1 << 3,
    GRAPH_PREPROCESS = 1 << 4, /* counts and order of the rows that go to experts */
    GRAPH_LAYER = (1 << 5) - 1,
    GRAPH_ITERATION = 1 << 5 /* forward and backward of a step in one graph */
};

/* Host time. */
struct software_host {
    double launch_s;         /* host time to launch one kernel */
    double launch_tp_growth; /* the launch time grows by (1 + this x log2 tp) */
    double pass_s;           /* host time for each forward or backward pass of a stage */
    double optimizer_s;      /* host time of one optimizer step */
    double data_s;           /* host time to fetch a microbatch */
};
/* CUDA graphs. */
struct software_graphs {
    const char *modules; /* as software_graphs reads it; NULL: none */
};
/* Memory-bound kernels of a block: HBM bytes an element, kernels launched. */
struct software_block {
    double norm_forward_bytes, norm_backward_bytes; /* HBM bytes for each element of b s h */
    double residual_forward_bytes, residual_backward_bytes; /* bias, dropout, add; each element */
    /* each element of b s f, ungated; a gated block also moves the gate: x 3/2 and x 5/3 */
    double activation_forward_bytes, activation_backward_bytes;
    double rope_forward_bytes, rope_backward_bytes; /* each element of q and k */
    double norm_launches, activation_launches, residual_launches, rope_launches; /* kernels each */
};
/* Output head and loss. */
struct software_head {
    double traffic_bytes;         /* HBM bytes moved for each logit, forward and backward */
    double memory_bytes;          /* bytes kept for each logit at the loss, the logits included */
    double gradient_bytes;        /* of them in the backward pass alone */
    uint64_t chunks;              /* head and loss see so many parts of the tokens one by one */
    uint64_t vocabulary_multiple; /* the vocabulary is padded to this x tp; 0: to tp only */
};
/* Unfused attention, each score. */
struct software_attention {
    double math_forward_bytes, math_backward_bytes; /* unfused attention, each score */
    double math_mask_bytes; /* forward, where the mask is a kernel of its own; causal only */
    bool full_square;       /* the kernel does not skip the causal half */
    bool repeats_keys;      /* grouped keys and values are copied to all heads for the core */
};
/* Linear layers, what is kept of a layer and what is computed again. */
struct software_layer {
    bool save_norm_input;           /* norm input kept beside its output (unfused: also in fp32) */
    double activation_saved_factor; /* saved inputs of a gated activation against the fused ideal */
    bool gradient_fusion;           /* weight gradients accumulate inside the GEMM */
    bool separate_projections;      /* q, k, v are products of their own, and so are gate and up */
    bool recompute_stops_early;     /* full: not beyond the last tensor that the backward needs */
    double scan_time_ratio; /* of recurrent layers' cores over the published kernels; 0: no such */
    double sparse_time_ratio;  /* of attention with an indexer over published kernels; 0: no such */
    bool recompute_keeps_last; /* per_operator: also the last product's output, needed or not */
};
/* 8-bit linear layers. */
struct software_fp8 {
    int recipe;            /* enum fp8_recipe */
    bool split_backward;   /* both products of the backward pass sum up in fp32 by parts */
    bool norm_fused;       /* a norm before a linear layer writes eight bits */
    bool gathers;          /* tensor-parallel gathers carry eight bits */
    bool weights_each;     /* weights are cast in every microbatch, not once a step */
    bool casts_again;      /* 16-bit inputs are kept, and cast again for the weight gradient */
    bool activation_cache; /* inputs of activations are kept in eight bits */
    bool attention_cache;  /* the attention's output is kept once, in twelve */
    bool attention;        /* the products of the attention core are of eight bits */
    bool delayed_whole;    /* with delayed scaling no layer stays in 16 bits */
};
/* Mixtures of experts. */
struct software_experts {
    bool router_fusion;  /* one kernel chooses experts */
    bool fused_mlp;      /* grouped products end in the activation and in their own casts */
    bool paged_stash;    /* rows that came are kept for the backward pass, not room for all */
    bool shared_overlap; /* shared experts run beside the exchanges with the routed ones */
    bool padding_copies; /* narrow rows are copied to where each expert's are filled up */
    bool bias_fusion;    /* products and the activation apply biases and clamps themselves */
};
/* Tensor parallelism. */
struct software_tensor {
    /* gathers and scatters of sequence parallelism run by parts beside the products that they
     * feed or empty, inside an NVLink domain */
    bool pipelines;
    bool backward_overlap;  /* the backward all-reduce or scatter runs beside wgrad */
    bool backward_regather; /* with sequence parallelism the input is gathered again */
    /* each element of a linear input, for each separate projection after the first: their
     * gradients are added up */
    double input_gradient_bytes;
    double exposed_host_s; /* host synchronisation for each tp collective */
    /* tp or cp traffic and compute, both beside each other for a second, end this much later; of
     * tp see configuration_tensor_overlap_cost */
    double overlap_cost_ratio;
    uint64_t scatter_splits; /* parts of a pipelined scatter; a gather has tp */
    uint64_t scatter_sms;    /* SMs that its copies hold beside the product */
    uint64_t bulk_sms; /* the same of what runs whole beside a product that does not need it */
};
/* Context parallelism. */
struct software_context {
    bool uneven; /* context ranks hold neighbouring positions */
    /* each element of the output, for each block of keys that comes from another rank */
    double merge_forward_bytes, merge_backward_bytes;
    double gradient_bytes; /* of an element of the gradients of keys and values on the wire */
    bool mixers;           /* it splits recurrent layers too */
};
/* Data parallelism. */
struct software_data {
    bool overlap_gradients;       /* buckets leave during the last backward */
    bool overlap_parameters;      /* the gather after the update hides under the next forward */
    double bucket_bytes;          /* 0: one bucket for each layer */
    double gradient_reduce_bytes; /* bytes of an element on the wire; 0: as kept */
    double gradient_kept_bytes;   /* of an accumulated gradient element (2 or 4) */
    bool gradient_copy;           /* bf16 gradients live beside the accumulated ones */
    int gradients;                /* enum gradient_layout */
    bool gradients_after_pass;    /* a pass's own gradients stay until it has ended */
    double copy_bytes_per_s;      /* pack and unpack the buffers of dp collectives; 0: in place */
    double partition_copy_s;      /* each rank's part of a dp collective, copied apart; 0: is not */
    double interference_ratio;    /* share of compute speed lost while dp traffic runs beside it */
};
/* Fully sharded data parallelism. */
struct software_shards {
    uint64_t gather_parts; /* collectives that gather the parameters of a unit; 0: one */
    uint64_t prefetch;     /* units gathered ahead */
    /* none is when two layers have more than these, and a layer with more is there by modules
     * (lower_alive.h); 0: no bound */
    uint64_t live_parameters;
    bool reshard; /* parameters are freed after the forward of a unit */
    /* gathers and reductions go through buffers of their own streams, from and into which the
     * compute stream copies */
    bool buffers;
    bool weights_are_master; /* sharded weights are kept in fp32 alone, cast where gathered */
};
/* Pipeline parallelism. */
struct software_pipeline {
    bool blocking; /* 1f1b and gpipe wait for a send to finish */
    bool blocking_interleaved;
    double sync_s;       /* host time of each send and receive, beside its launch */
    bool host_wait;      /* 1f1b and gpipe: the host waits for an exchange that blocks */
    bool scatter;        /* without sequence parallelism each tp rank sends its 1/tp of a message */
    int split;           /* enum stage_split */
    bool refuses_shards; /* of gradients or weights */
    bool interleaves;    /* it offers the interleaved schedule */
    bool makers_recipe;  /* it stands for what runs the schedule and recomputation of the model */
    bool even_stages;    /* it refuses layers that do not divide over the chunks of a pipeline */
};
/* HBM beside tensors. */
struct software_memory {
    int build;                    /* enum optimizer_build */
    double communicator_bytes;    /* of one communicator's buffers on a rank */
    bool expandable_segments;     /* of the caching allocator */
    double workspace_bytes;       /* cuBLAS and friends */
    double optimizer_extra_bytes; /* HBM bytes a parameter that passes beside the update move */
    bool clip_gradients;          /* a norm all-reduce before the update */
    bool record_streams;          /* buffers of tp collectives come back when the GPU has passed */
    bool states_as_weights;       /* states have the weights' format; these are updated in place */
};
/* What this software can do. */
struct software_offers {
    bool sequence_parallelism; /* it can split norms and residuals over tp */
    bool selective_recompute;  /* it can repeat the attention core alone */
    bool operator_recompute;   /* it offers per_operator and every_other_layer */
    bool block_recompute;      /* it offers block and uniform */
    bool module_recompute;     /* it offers modules; a fact that brings it says since when */
    bool whole_parameters;     /* it shards no parameters yet: a fact brings that later */
    bool flash3;               /* it can call FlashAttention-3 */
    bool native;               /* PyTorch's own: its data parallelism is called ddp or fsdp */
    bool experts_alone;        /* published runs of it are taken for mixtures of experts alone */
    const char *sharded_optimizers; /* whose state it shards, joined by +; NULL, "any": of all */
    const char *dispatches; /* kinds of dispatch/ that it has, joined by +; NULL, "any": all */
    bool narrow_rows;       /* it can send rows to their experts in eight bits */
    /* Its context ranks exchange heads alone (DeepSpeed Ulysses, arXiv:2309.14509), which does not
     * go with sequence parallelism over tp. */
    bool heads_alone;
};
/* What a run of it means by what it does not say (models/plan/choice.h). */
struct software_usual {
    int execution; /* enum execution; any: its versions do not differ in it */
    int attention; /* enum attention_kernel; math: it has no fused kernel */
    double dropout_ratio;
    uint64_t chunks;                      /* of a pipeline stage */
    double gradient_bytes;                /* that its recipes keep; 0: gradient_kept_bytes */
    const char *sharding, *full_sharding; /* kinds of sharding/ */
};
/* Which software it is, and of when. */
struct software_version {
    const char *framework; /* whose version this is; "": the profile's own */
    uint64_t year;         /* of the version; 0: not said */
    unsigned month;        /* of the release that is simulated, since year 0; 0: not known */
};
struct software_profile {
    const char *name;
    bool pxn; /* its NCCL reaches the NIC of another GPU over NVLink, not through the CPUs */
    struct software_version version;
    struct software_host host;
    struct software_graphs graphs;
    struct software_block block;
    struct software_head head;
    struct software_attention attention;
    struct software_layer layer;
    struct software_fp8 fp8;
    struct software_experts experts;
    struct software_tensor tensor;
    struct software_context context;
    struct software_data data;
    struct software_shards shards;
    struct software_pipeline pipeline;
    struct software_memory memory;
    struct software_offers offers;
    struct software_usual usual;
};
/* Reads "none", "full" (GRAPH_ITERATION), "layer" or "on" (GRAPH_LAYER: what Transformer Engine
 * captures unless told), or modules joined by + (attn, mlp, moe, moe_router, moe_preprocess) into
 * bits of enum graph_module; false: it is none of these. NULL: none. */
bool software_graphs(const char *text, unsigned *modules);
/* Does it shard the state of this optimizer, has it this kind of dispatch? */
bool software_shards(const struct software_profile *profile, const char *optimizer);
bool software_dispatches(const struct software_profile *profile, const char *dispatch);
/* Where a word of such a list (sharded_optimizers, dispatches) is no kind of this family; NULL: all
 * are. */
const char *software_unknown(const char *list, kind_at_fn *family);
/* The format of the operands of a fused attention kernel: fp8 where fp8_attention is set and the
 * linear layers compute in fewer bits than all else; else that of the precision. */
enum peak_kind software_attention_operands(const struct software_profile *profile,
                                           const struct precision *precision);
/* The name of the framework that a profile is a version of. */
const char *software_framework(const struct software_profile *profile);
/* Why a framework that people ask for has no profile, in a sentence; NULL: nothing is known of it.
 */
const char *software_not_modelled(const char *name);
extern const struct param software_params[];
extern const unsigned software_param_count;

#endif
