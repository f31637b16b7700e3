/* transformer_piece.h - the pieces of a layer: norms, linear layers, attention core, activation.
 *
 * Each piece writes its kernels (forward, gradients of inputs, gradients of weights), the tensors
 * that it keeps for the backward pass and what it needs meanwhile into a segment. Which pieces
 * share a segment, and what is sent between segments, is transformer_layer.c's choice. Internal to
 * the transformer files; it knows no communication. */
#ifndef ORRERY_MODELS_WORKLOAD_TRANSFORMER_PIECE_H
#define ORRERY_MODELS_WORKLOAD_TRANSFORMER_PIECE_H

#include "models/workload/transformer.h"

#define HALF_BYTES                                                                                 \
    2.0 /* of a 16-bit element, in which the software's traffic figures are given                  \
         */

enum piece {
    PIECE_CLOSE, /* bias, dropout and addition that close the layer before */
    PIECE_NORM1,
    PIECE_LATENT, /* latent attention: down to the ranks of queries, of keys and values */
    PIECE_INDEX,  /* sparse attention: queries, key and weights of the indexer */
    PIECE_QKV,
    PIECE_ROPE,   /* norms and rotation of queries and keys; or what is before a recurrence */
    PIECE_RING,   /* attention to the keys that come round the ring */
    PIECE_CHOOSE, /* sparse attention: scores of all keys, and the best of them */
    PIECE_CORE,   /* attention; in a ring, to this rank's own keys; or a recurrence */
    PIECE_TARGET, /* sparse attention: what the indexer should have scored, and its loss */
    PIECE_VALUE,  /* sparse attention: from the latent up to the values' heads */
    PIECE_GATE,   /* of the output, with its norm in recurrent layers */
    PIECE_PROJECT,
    PIECE_RESIDUAL, /* bias, dropout and addition after attention */
    PIECE_NORM2,
    PIECE_UP, /* in a layer with experts: of those that every token visits */
    PIECE_ACTIVATE,
    PIECE_DOWN,
    PIECE_ROUTE,   /* scores of the experts, and choice */
    PIECE_PERMUTE, /* a copy of each token for each of its experts */
    PIECE_EXPERT_UP,
    PIECE_EXPERT_ACTIVATE,
    PIECE_EXPERT_DOWN,
    PIECE_COMBINE,    /* what a token's experts make of it is added up */
    PIECE_FINAL_NORM, /* before the head */
    PIECE_KIND_COUNT
};

/* A rank's share of a layer, in elements. */
struct rank_share {
    const struct layer_context *context;
    double tokens;       /* microbatch x sequence / cp: rows of the linear layers */
    double norm_tokens;  /* the same over tp with sequence parallelism: rows of norm and residual */
    double input_tokens; /* rows of a linear input that are kept for the backward pass */
    double hidden, ffn;  /* widths on this rank; ffn: of the block for all */
    double gates;        /* matrices into the activation: 2 when gated */
    double norms;        /* of each of the two blocks */
    struct attention_share {
        double query, key, value;    /* widths on this rank */
        double output;               /* the same, which the projection reads */
        double sent_key, sent_value; /* that go to other context ranks: copied to all heads before,
                                        or not */
        double heads, kv_heads, head_size, value_size;
        double queries, keys; /* sequence positions: this rank's, and all */
        double gate;          /* of the output, width on this rank; 0: it has none */
    } attention;
    struct mixer_share { /* of a recurrent layer; kind NULL: it is none */
        const struct layer_kind *kind;
        struct layer_work outer; /* of this rank's tokens: products, parameters */
        struct layer_work inner; /* of whole sequences: what context ranks exchange heads for */
    } mixer;
    struct latent_share { /* of latent attention; kv_rank 0: none */
        double q_rank, kv_rank, rope_size;
    } latent;
    struct sparse_share { /* of sparse attention; row 0: none */
        double row;       /* width of a latent key: kv_rank and the rotated part */
        double chosen;    /* keys that a query attends to, in the mean */
        double room;      /* indices kept for a query */
        double scored;    /* keys that a query's are chosen of, in the mean */
        double index_heads,
            index_size; /* whole on every rank; 0: another layer's choice is taken */
        bool lends;     /* later layers take the choice of this one */
    } sparse;
    struct expert_share {
        double count;   /* experts on this rank; 0: the layer has none */
        double all;     /* scores of the router */
        double ffn;     /* width of one on this rank */
        double width;   /* of the rows that they read and write */
        double latent;  /* the same where tokens are projected to it; 0: it is theirs */
        double visited; /* rows that this rank sends: its tokens, once for each of their experts */
        double rows;    /* that its experts compute, of the busiest rank */
        double filled;  /* the same, each expert's filled up to what its products want */
        double tiled;   /* of which tiles are counted */
        double held;    /* that memory is made for */
        double crossed; /* rows that this rank sends or gets where each rank gets a row once */
        bool once;      /* so it is: copies are made where rows arrive */
    } experts;
    bool shared_beside;          /* shared experts run beside the exchanges with the routed ones */
    struct element_share {       /* bytes of an element */
        double linear_bytes;     /* that enters a linear layer, without scales */
        double kept_bytes;       /* of such an input from forward to backward, with them */
        double activation_bytes; /* ... of an input of an activation */
        double attention_bytes;  /* ... of the attention's output where it is kept once; else 0 */
        double core_bytes;       /* any other */
    } element;
    bool feeds;            /* it has a feed-forward block or experts */
    bool dropout, gathers; /* gathers: sequence parallelism over more than one rank */
};
void transformer_share_of(const struct layer_context *context, struct rank_share *out);
/* Fills the counts of parameters, the modules and the matrices. */
void transformer_shard(const struct rank_share *share, struct layer *out);
/* Context ranks that exchange heads, and those that pass keys and values round; 1: none do. */
double transformer_inner_ranks(const struct layer_context *context);
double transformer_ring_ranks(const struct layer_context *context);

/* Writes the pieces first .. last into `out`: forward in order, backward in reverse. */
void transformer_piece_write(const struct rank_share *share, enum piece first, enum piece last,
                             struct segment *out);
/* Parts of transformer_piece_write, each in a file of its own. */
struct linear;
void transformer_mixer_forward(const struct rank_share *share, enum piece piece,
                               struct segment *out);
void transformer_mixer_backward(const struct rank_share *share, enum piece piece,
                                struct segment *out);
void transformer_mixer_keep(const struct rank_share *share, enum piece piece, struct segment *out);
double transformer_mixer_temporary(const struct rank_share *share, enum piece piece, bool backward);
unsigned transformer_mixer_linears(const struct rank_share *share, struct linear *out);
/* Kernels of a piece of sparse attention beside its products; what it keeps, needs while it runs,
 * and what of that is allocated by itself. */
void transformer_sparse_forward(const struct rank_share *share, enum piece piece,
                                struct segment *out);
void transformer_sparse_backward(const struct rank_share *share, enum piece piece,
                                 struct segment *out);
/* `repeated`: the products of PIECE_QKV are (transformer_product_repeated). */
void transformer_sparse_keep(const struct rank_share *share, enum piece piece, bool repeated,
                             struct segment *out);
double transformer_sparse_temporary(const struct rank_share *share, enum piece piece,
                                    bool backward);
double transformer_sparse_apart(const struct rank_share *share);
unsigned transformer_sparse_linears(const struct rank_share *share, enum piece piece,
                                    struct linear *out);
/* Bytes of the choice of keys of this rank's queries. */
double transformer_sparse_choice_bytes(const struct rank_share *share);
void transformer_attention_forward(const struct rank_share *share, bool ring, struct segment *out);
void transformer_attention_backward(const struct rank_share *share, bool ring, struct segment *out);
/* What stands before (`opens`) or behind the products of a piece of experts, or in place of them;
 * and the norms of the latents. Nothing for other pieces. */
void transformer_experts_forward(const struct rank_share *share, enum piece piece, bool opens,
                                 struct segment *out);
void transformer_experts_backward(const struct rank_share *share, enum piece piece, bool opens,
                                  struct segment *out);
/* What such a piece keeps, and what it needs while it runs. */
void transformer_experts_keep(const struct rank_share *share, enum piece piece,
                              struct segment *out);
double transformer_experts_temporary(const struct rank_share *share, enum piece piece,
                                     bool backward);
void transformer_piece_keep(const struct rank_share *share, enum piece piece, struct segment *out);
/* Bytes that live only while the piece runs, forward or backward. */
double transformer_piece_temporary(const struct rank_share *share, enum piece piece, bool backward);
/* Of those of the backward pass: bytes of each tensor that is large and allocated by itself, and
 * how many there are. The others come and go beside them. */
double transformer_piece_apart(const struct rank_share *share, enum piece piece, unsigned *count);
/* Adapters: does a linear layer of this piece have one? What they, and frozen weights in four bits,
 * add to its forward and backward pass, and what lives while it runs. Without adapters: nothing. */
bool transformer_adapter_targets(const struct rank_share *share, enum piece piece);
void transformer_adapter_forward(const struct rank_share *share, enum piece piece,
                                 struct segment *out);
void transformer_adapter_backward(const struct rank_share *share, enum piece piece,
                                  struct segment *out);
double transformer_adapter_temporary(const struct rank_share *share, enum piece piece);
/* Kernels that make gradients of the weights of a piece's linear layers. */
unsigned transformer_piece_wgrads(const struct rank_share *share, enum piece piece);
/* Tools for the embedding and the head, which are no pieces of a layer. */
void transformer_piece_forward(struct segment *out, struct kernel kernel);
void transformer_piece_dgrad(struct segment *out, struct kernel kernel);
void transformer_piece_wgrad(struct segment *out, struct kernel kernel);
void transformer_piece_saved(struct segment *out, const char *name, double bytes,
                             bool attention_core);
/* A linear layer of `rows` x `inputs` to `outputs`: its three products, casts and accumulation. */
struct linear {
    const char *forward_name, *dgrad_name, *wgrad_name;
    double rows, inputs, outputs;
    bool shares;   /* its input with the one before, which has cast it */
    bool column;   /* split by outputs over tp, its input a norm's; else by inputs */
    bool wide;     /* never in eight bits */
    double groups; /* so many alike, one for each expert, which share the rows */
    double tiled;  /* rows of which tiles are counted; 0: all */
    double cached; /* bytes of an element that its input is kept in apart; 0: as a copy of it */
    bool input_narrow, gradient_narrow; /* the kernel before has cast it: its input, its gradient */
    bool batched;                       /* the groups are one launch */
    bool detached;                      /* no gradient of its input is made */
};
enum {
    PIECE_LINEAR_MAX = 3
};
/* The linear layers of a piece: one, or one for each of what its software keeps apart. */
unsigned transformer_piece_linears(const struct rank_share *share, enum piece piece,
                                   struct linear out[PIECE_LINEAR_MAX]);
/* The grouped products of experts end in the activation and in casts of what they write (TE 2.14,
 * cuDNN front end 1.19: grouped GEMM + SwiGLU, + dSwiGLU), where linear layers are narrow. */
bool transformer_fused_experts(const struct rank_share *share);
/* Is there anything to do in this piece of such a layer, of those that not every layer has? */
bool transformer_piece_present(const struct rank_share *share, enum piece piece);
/* Recomputation by modules makes the outputs of norms again: where their inputs are kept, and where
 * no other rank's part is needed. */
bool transformer_norms_rebuilt(const struct rank_share *share);
/* This product of a layer runs again. Per operator every second one, but the last, whose output no
 * backward pass needs; by modules the up-projections of latent attention. */
bool transformer_product_repeated(const struct rank_share *share, enum piece piece,
                                  unsigned linear);
/* What is kept narrower than it is computed: its cast where it is made, and back where it is read.
 */
void transformer_cache_forward(const struct rank_share *share, enum piece piece,
                               struct segment *out);
void transformer_cache_backward(const struct rank_share *share, enum piece piece,
                                struct segment *out);
void transformer_linear_forward(const struct rank_share *share, const struct linear *linear,
                                struct segment *out);
void transformer_linear_backward(const struct rank_share *share, const struct linear *linear,
                                 struct segment *out);
/* Traffic of adding a finished gradient of `parameters` to the kept one: reads both, writes one. */
double transformer_gradient_add_bytes(const struct rank_share *share, double parameters);

#endif
