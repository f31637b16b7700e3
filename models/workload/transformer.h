/* transformer.h - the shape of a model: parameters, FLOPs, and the kernels and saved tensors of a
 * layer as one rank sees them.
 *
 * A layer is written as *segments*: stretches of kernels with no synchronisation inside, separated
 * by tensor- or context-parallel communication. The lowering turns segments into ops. Formulas and
 * their sources: docs/models/transformer.md and docs/models/experts.md. */
#ifndef ORRERY_MODELS_WORKLOAD_TRANSFORMER_H
#define ORRERY_MODELS_WORKLOAD_TRANSFORMER_H

#include <stdbool.h>
#include <stdint.h>

#include "models/collective/comm_op.h"
#include "models/collective/dispatch/dispatch_kind.h"
#include "models/gpu/gpu.h"
#include "models/workload/adapter.h"
#include "models/workload/fp8_recipe.h"
#include "models/workload/layer/pattern.h"
#include "models/workload/software.h"

enum ffn_kind {
    FFN_GELU,
    FFN_SWIGLU,
    FFN_SQUARED_RELU,
    FFN_GEGLU
};
enum attention_bias_kind {
    ATTENTION_BIASES_NONE,
    ATTENTION_BIASES_QKV,
    ATTENTION_BIASES_ALL
};
enum norm_kind {
    NORM_LAYERNORM,
    NORM_RMS
};
enum position_kind {
    POSITION_LEARNED,
    POSITION_ROPE,
    POSITION_ALIBI,
    POSITION_NONE
};
enum window_kind {
    WINDOW_SLIDING, /* a query sees the last `window` positions */
    WINDOW_CHUNKED  /* ... those before it in its own stretch of `window` positions */
};
extern const char *const attention_bias_names[], *const window_names[];
extern const char *const ffn_names[], *const norm_names[], *const position_names[];

struct model_attention {
    uint64_t heads, kv_heads, head_size;
    int biases; /* those of the attention have, though others have none */
    bool sinks; /* a learned score for each head beside those of the keys */
    bool gate;  /* the output passes a gate as wide, made with the queries (Qwen3-Next) */
};
struct model_norm {
    int kind;
    uint64_t count;      /* of a layer; 0: two */
    bool biases;         /* a layernorm has a shift though linear layers have no biases */
    bool qk_norms;       /* one norm of queries and one of keys, head by head */
    bool qk_norms_whole; /* ... over all heads at once, with a scale for each element */
};
struct model_moe {
    /* Mixture of experts; experts = 0: dense. */
    uint64_t experts, experts_per_token, ffn_hidden, shared_experts, dense_layers;
    uint64_t interval; /* after the dense layers, every Nth layer has experts; 0: all */
    uint64_t groups;   /* of which a token's experts lie in groups_per_token; 0: no limit */
    uint64_t groups_per_token;
    bool router_bias; /* of a score for each expert, learned or to balance their loads */
    bool clamped;     /* what enters the activation of an expert is clamped */
    uint64_t latent;  /* width of what routed experts read and write; 0: of the tokens */
    bool shared_gate; /* each token weighs what its shared experts make of it */
};
struct model_windows {
    /* Attention within a window; length = 0: over the whole sequence. */
    uint64_t length, full_interval; /* every Nth layer sees the whole sequence; 0: none does */
    int kind;
};
/* Sparse attention: an indexer of `heads` heads of `size` scores all keys for each query, and the
 * query attends to the `keys` best. heads = 0: to all of them, without an indexer. */
struct model_indexer {
    uint64_t heads, size, keys;
    uint64_t interval; /* one layer of so many scores, the others take its choice; 0, 1: each */
    uint64_t first;    /* ... behind the first layers, which all score */
};
struct model_latent {
    /* Multi-head latent attention; kv_rank = 0: ordinary attention. */
    uint64_t q_rank, kv_rank, rope_head_size, v_head_size;
    struct model_indexer indexer; /* of its rows */
};
/* What its makers trained it with; "" or NULL: not known. */
struct model_usual {
    const char *precision, *dispatch, *schedule;
    bool dispatch_8bit;
    int recompute; /* enum recompute; none: not known */
    /* Of the function that they trained, what no time depends on: words "key=value", of which
     * launch scripts say each or refuse the model. */
    const char *facts;
};
struct model_shape {
    const char *name;
    uint64_t layers, hidden, ffn_hidden, vocabulary;
    uint64_t positions_max; /* made for so many; 0: not known, a learned table as the sequence */
    int ffn, position;      /* the enums above */
    bool tied_embeddings;
    bool biases;               /* linear layers have biases */
    double dropout_ratio;      /* 0: no dropout ops and no masks */
    uint64_t mtp_layers;       /* modules that each predict a token further ahead; 0: none */
    double nominal_parameters; /* the number in its name, for the rule of thumb; 0: exact */
    struct model_attention attention;
    struct model_norm norm;
    struct model_moe moe;
    struct model_windows windows;
    struct model_latent latent;
    struct layer_pattern pattern;
    struct model_usual usual;
};
extern const struct param model_params[];
extern const unsigned model_param_count;

/* Replaces the zeros that mean "the usual": kv_heads, head_size, ffn_hidden, and reads the text of
 * the pattern, which must be one. Call after reading. */
void transformer_complete(struct model_shape *m);

/* What this layer (from 0) consists of. */
enum layer_form transformer_form(const struct model_shape *m, uint64_t layer);
/* Layers that read a sequence through a state, and those that attend to it. */
uint64_t transformer_recurrent_layers(const struct model_shape *m);
uint64_t transformer_attention_layers(const struct model_shape *m);
/* Has this layer (from 0) experts; an ordinary feed-forward block otherwise. */
bool transformer_has_experts(const struct model_shape *m, uint64_t layer);
/* Do its layers with experts have a gate for the shared ones? */
bool transformer_gates_shared(const struct model_shape *m);
/* Which of its experts a token may visit together. */
struct routing transformer_routing(const struct model_shape *m);
/* Positions that a query of this layer sees at most, below `sequence`; 0: all. */
uint64_t transformer_span(const struct model_shape *m, uint64_t layer, uint64_t sequence);
/* Keys that a query meets, in the mean over a sequence, within such a span (0: none). Causal: those
 * before it and itself, which counts half, as in the square of a whole sequence. */
double transformer_keys_met(int window_kind, uint64_t span, double sequence, bool causal);
/* Does this layer (from 0) score keys itself? Those that attend sparsely and do not take the choice
 * of the nearest before them that does (NVIDIA/Megatron-LM dsa.py, is_dsa_skip_topk_layer). A
 * module that predicts further ahead scores for itself. */
bool transformer_scores_keys(const struct model_shape *m, uint64_t layer);
/* Keys of those chosen that a query attends to, in the mean over a sequence. */
double transformer_keys_chosen(const struct model_shape *m, double sequence, bool causal);
/* Of an indexer: products of the query's latent, of the input to one key and to a weight for each
 * head, and the LayerNorm of the key. */
double transformer_indexer_parameters(const struct model_shape *m);
/* The sequence from which sparse attention takes fewer FLOPs than dense does. */
double transformer_sparse_worth(const struct model_shape *m, bool causal);
bool transformer_gated(const struct model_shape *m); /* the feed-forward block has a gate */
double transformer_norm_parameters(const struct model_shape *m); /* of one norm of the residual */
uint64_t transformer_norms(const struct model_shape *m);         /* of a mixer and a block */
double transformer_embedding_parameters(const struct model_shape *m, uint64_t sequence);
double transformer_layer_parameters(const struct model_shape *m, uint64_t layer);
double transformer_final_parameters(const struct model_shape *m); /* last norm, untied head */
double transformer_parameters(const struct model_shape *m, uint64_t sequence); /* all, unpadded */
double transformer_expert_parameters(const struct model_shape *m); /* of all routed experts */
double transformer_active_parameters(const struct model_shape *m); /* with head, without lookup */
/* Of the modules that predict further tokens (mtp_layers), which the counts above leave out: what
 * they have beside the embedding and head that they share with the model, a layer like its last,
 * 2 h h + 3 norms each (DeepSeek-V3, arXiv:2412.19437 section 2.2); those of routed experts of it;
 * those that a token is multiplied by, the shared head included. */
double transformer_prediction_parameters(const struct model_shape *m);
double transformer_prediction_expert_parameters(const struct model_shape *m);
double transformer_prediction_active_parameters(const struct model_shape *m);
/* All that is trained: of the model and these modules. */
double transformer_trained_parameters(const struct model_shape *m, uint64_t sequence);

/* Of adapters of the whole model, whose software keeps projections `separate` or as one; 0: none.
 */
double transformer_adapter_parameters(const struct model_shape *m,
                                      const struct adapter_spec *adapter, bool separate);
/* Elements in linear layers of all layers, which QLoRA keeps in four bits. */
double transformer_linear_parameters(const struct model_shape *m);

/* Elements that inference keeps of a sequence, all layers: keys and values of what a query may
 * still meet, a layer's window at most. Latent attention keeps the latent and the shared rotated
 * key (arXiv:2405.04434, section 2.1). */
double transformer_cache_elements(const struct model_shape *m, uint64_t sequence);
/* ... and the states of its recurrent layers, of fp32, however long it is. */
double transformer_state_elements(const struct model_shape *m);

/* What a rank's share of a layer looks like. */
struct layer_experts {
    bool dense;       /* this kind of layer has no experts, though others of the model have */
    uint64_t ep, etp; /* ranks that share the experts of a layer, and one expert; etp is 1 or tp */
    double imbalance; /* rows of the busiest expert rank over the mean, >= 1 */
    double capacity;  /* rows that an expert takes of a source over the mean; 0: all that come */
    const struct dispatch_kind *dispatch;
    double room;        /* for rows of a rank's experts over their mean; 0: for all that come */
    uint32_t nodes;     /* in which the `ep` ranks of a layer's experts stand; 0: one */
    bool dispatch_8bit; /* rows go to their experts in eight bits, with a scale for every 128 */
};
struct layer_ring {
    bool cp_ring;      /* keys and values circulate instead of being gathered */
    bool cp_heads;     /* context ranks take more of the sequence of part of the heads, and back: */
    uint64_t cp_inner; /* ... so many, the others pass keys and values round; 0: all of cp */
    bool cp_uneven;    /* context ranks hold neighbouring positions: work is that of the last one */
};
struct layer_keys {  /* of this kind of layer */
    uint64_t window; /* below the sequence; 0: none */
    bool taken;      /* those that a layer before it chose */
};
struct layer_context {
    const struct model_shape *model;
    const struct software_profile *software;
    const struct precision *precision;
    enum attention_kernel attention;
    enum layer_form form;          /* of this kind of layer */
    uint64_t microbatch, sequence; /* whole sequence; local tokens = microbatch x sequence / cp */
    uint64_t tp, cp;
    struct layer_keys keys;
    bool sequence_parallel;
    bool causal;
    enum fp8_recipe fp8_recipe; /* resolved, of linear layers of eight bits or four */
    bool gathers_weights;       /* whole weights come anew in every pass */
    bool transposed_copies;     /* the card wants 8-bit operands along k */
    struct adapter_spec adapter;
    /* By operator: see `rebuilt` and `repeated`; by modules: the same of norms, up-projections of
     * latents and activations. Others concern whole layers, not what is in them. */
    enum recompute recompute;
    /* Each microbatch's weight gradients are added to kept ones (false: one microbatch, or the
     * gradients of each microbatch are reduced before they are added). */
    bool accumulate;
    struct layer_experts experts;
    struct layer_ring ring;
};

/* Communication of a segment. A transfer with comm = SEGMENT_NONE is absent.
 *
 * Forward of a segment:  `before` -> forward kernels, `beside` meanwhile -> `after` -> the next.
 *   The next segment starts when kernels, `beside` and `after` have finished.
 * Backward of a segment: `backward_before` -> dgrad kernels, `backward_beside` and
 * `backward_gather` meanwhile -> `backward_after` -> the segment before. wgrad kernels need dgrad
 * and `backward_gather`; nobody waits for them but the gradient reduction. Where the software
 * overlaps (backward_tp_overlap) the last `wgrad_beside_count` of them run while `backward_after`
 * is on the wire, the others before it starts; without overlap all run before `backward_after`. In
 * a ring of context parallelism `beside` carries the exchange of keys and values; its bytes are the
 * full buffer over all ranks, as for an all-gather, which sends as much over a port.
 *
 * The bias, dropout and addition that close a layer stand at the start of the next one's first
 * segment (and of the first's, instead of the head): a stage does as many, and no op is needed for
 * them alone. */
enum segment_comm {
    SEGMENT_NONE,
    SEGMENT_TP,
    SEGMENT_CP,
    SEGMENT_EP,
    SEGMENT_CP_HEADS /* among the context ranks that exchange heads, where others pass keys round */
};
struct segment_transfer {
    enum segment_comm comm;
    enum comm_op op;
    double bytes; /* full buffer, as nccl-tests counts */
};
/* A tensor kept from forward to backward. */
struct saved_tensor {
    const char *name;    /* "softmax output", a literal */
    double bytes;        /* on this rank */
    bool attention_core; /* dropped by selective recomputation */
    bool rebuilt;        /* dropped by recomputation per operator or by modules */
    bool weights;        /* the gradients of weights read it: the input of a linear layer */
};
/* The longest segment is a whole layer without tensor parallelism up to its block for all tokens
 * (transformer_layer.c): its linear layers are at most the latents' 2, the indexer's 3, 2 of
 * queries and keys, 1 of values, the projection, gate, up and down. A linear layer writes at most
 * four kernels into a list (its product, two casts, a transpose), a piece that has some another
 * four (an adapter's three, gradients of one input added), and a piece without at most a few. */
enum {
    SEGMENT_LINEAR_MAX = 12,
    SEGMENT_LINEAR_PIECE_MAX = 7,
    SEGMENT_STREAM_MAX = 20,
    SEGMENT_KERNEL_MAX = 4 * (SEGMENT_LINEAR_MAX + SEGMENT_LINEAR_PIECE_MAX) + SEGMENT_STREAM_MAX,
    SEGMENT_SAVED_MAX = 24,
    SEGMENT_APART_MAX = 2,
    LAYER_SEGMENT_MAX = 12,
    LAYER_MODULE_MAX = 16,
    LAYER_MATRIX_MAX = LAYER_MODULE_MAX + 2
};
struct segment_transfers {
    struct segment_transfer before, beside, after;
    struct segment_transfer backward_before, backward_beside, backward_gather, backward_after;
    /* Rows of experts on their way while all kernels of this segment run, whose input they are not:
     * sent before anything else of it, waited for by the segment behind (before it, backward). */
    struct segment_transfer exchange, backward_exchange;
    /* Input of what runs again by modules, which is not kept whole. */
    struct segment_transfer again;
    /* `before` comes by parts beside the first product, `after` leaves by parts beside the last;
     * backward_before as `before`, beside the first product of dgrad. */
    bool pipelined;
};
struct segment_kernels {
    unsigned count;
    uint8_t modules[SEGMENT_KERNEL_MAX]; /* enum graph_module of each; 0: of none of a layer */
    bool repeated[SEGMENT_KERNEL_MAX];   /* of forward: recomputation of a part runs it again */
    struct kernel kernels[SEGMENT_KERNEL_MAX]; /* last: transformer_clear leaves them */
};
/* Bytes on this rank. */
struct segment_memory {
    double forward_temporary_bytes, backward_temporary_bytes; /* live only inside the segment */
    double apart_bytes;   /* of the backward ones: tensors that are allocated by themselves, */
    unsigned apart_count; /* so many (at most SEGMENT_APART_MAX) of that size */
    /* Of the outputs of its linear layers: the weights' gradients read them. */
    double gradient_bytes;
    double output_bytes; /* the next segment's input */
};
struct segment {
    const char *name;    /* "attention", "mlp", "norm" */
    bool attention_core; /* selective recomputation repeats this segment's core kernels */
    bool host_waits;     /* forward: the host reads a result of its kernels before it goes on */
    unsigned modules;    /* the same of a segment without a kernel */
    unsigned wgrad_beside_count; /* the last of wgrad, that may run beside backward_after */
    struct segment_transfers transfers;
    struct segment_memory memory;
    struct {
        unsigned count;
        struct saved_tensor tensors[SEGMENT_SAVED_MAX];
    } saved;
    struct segment_kernels forward; /* and all behind it: transformer_clear */
    struct segment_kernels dgrad;   /* backward for inputs, norms, attention */
    struct segment_kernels wgrad;   /* backward for weights */
    struct segment_kernels core;    /* the part that selective recomputation repeats */
};
/* Weight matrices that are alike, on this rank. */
struct weight_matrix {
    double inputs, outputs, count;
    bool experts; /* of routed ones */
};
struct layer {
    unsigned segment_count;
    struct segment segments[LAYER_SEGMENT_MAX];
    /* Of the layer's input on this rank: all that full recompute keeps; and of the choice of keys
     * that later layers take, which run again before this one does. */
    double input_bytes;
    double parameters;         /* of this rank's shard (1/tp of the matrices, whole norms) */
    double expert_parameters;  /* of those, of routed experts */
    double adapter_parameters; /* beside them, of adapters: then these alone are trained */
    double narrow_parameters;  /* of matrices whose products are of eight bits or four */
    unsigned module_count; /* of a layer: weight matrices, as the software keeps and uses them */
    double modules[LAYER_MODULE_MAX]; /* their elements on this rank */
    unsigned matrix_count;            /* the same, queries, keys and values apart */
    struct weight_matrix matrices[LAYER_MATRIX_MAX];
};
/* Empties a layer, or a segment of one: all zero, but for rows of kernels, of which the layer has a
 * megabyte and uses a few. */
void transformer_clear(struct layer *out);
void transformer_clear_segment(struct segment *out);
/* Pure; deterministic. */
void transformer_layer(const struct layer_context *context, struct layer *out);
bool transformer_repeats(const struct segment *segment); /* recomputation of a part: any of it */
/* The dgrad kernel, from `from` on, that what is gathered again leaves with: the first product of
 * the column-parallel layer, which has as many as gradients of its weights, and they come last
 * (NVIDIA/Megatron-LM megatron/core/tensor_parallel/layers.py,
 * LinearWithGradAccumulationAndAsyncCommunication.backward). `from` where nothing is. */
unsigned transformer_gathering_kernel(const struct segment *segment, unsigned from);
/* The embedding (first stage) and the last norm, head and loss (last stage), as segments too. */
void transformer_embedding(const struct layer_context *context, struct segment *out);
void transformer_head(const struct layer_context *context, struct layer *out);
/* A module that predicts a token further ahead, without its layer: two norms and the projection of
 * what they join (NVIDIA/Megatron-LM megatron/core/transformer/multi_token_prediction.py); and its
 * last norm with head and loss, of which the norm alone counts as parameters. The embedding is
 * looked up as transformer_embedding does. */
void transformer_prediction(const struct layer_context *context, struct layer *out);
void transformer_prediction_head(const struct layer_context *context, struct layer *out);
/* Vocabulary after the software's padding, for memory and kernels (never for parameters or MFU). */
uint64_t transformer_padded_vocabulary(const struct layer_context *context);
/* Parameters of this rank's share of the embedding and of the head (padded, split over tp). */
double transformer_embedding_shard(const struct layer_context *context);
double transformer_head_shard(const struct layer_context *context);

#endif
