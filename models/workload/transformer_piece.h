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
    PIECE_QKV,
    PIECE_ROPE,
    PIECE_RING, /* attention to the keys that come round the ring */
    PIECE_CORE, /* attention; in a ring, to this rank's own keys */
    PIECE_PROJECT,
    PIECE_RESIDUAL, /* bias, dropout and addition after attention */
    PIECE_NORM2,
    PIECE_UP,
    PIECE_ACTIVATE,
    PIECE_DOWN,
    PIECE_FINAL_NORM, /* before the head */
    PIECE_KIND_COUNT
};

/* A rank's share of a layer, in elements. */
struct rank_share {
    const struct layer_context *context;
    double tokens;       /* microbatch x sequence / cp: rows of the linear layers */
    double norm_tokens;  /* the same over tp with sequence parallelism: rows of norm and residual */
    double input_tokens; /* rows of a linear input that are kept for the backward pass */
    double hidden, query, key, ffn; /* widths on this rank; key: of keys alone, as of values */
    double sent_key;                /* of keys that go to other context ranks: copied to all heads
                                       before, or not */
    double gates;                   /* matrices into the activation: 2 when gated */
    double norms;                   /* of each of the two blocks */
    double heads, kv_heads, head_size;
    double queries, keys;  /* sequence positions: this rank's, and all */
    double linear_bytes;   /* of an element that enters a linear layer */
    double core_bytes;     /* of any other element */
    bool dropout, gathers; /* gathers: sequence parallelism over more than one rank */
};
void transformer_share_of(const struct layer_context *context, struct rank_share *out);

/* Writes the pieces first .. last into `out`: forward in order, backward in reverse. */
void transformer_piece_write(const struct rank_share *share, enum piece first, enum piece last,
                             struct segment *out);
/* Parts of transformer_piece_write, each in a file of its own. */
void transformer_attention_forward(const struct rank_share *share, bool ring, struct segment *out);
void transformer_attention_backward(const struct rank_share *share, bool ring, struct segment *out);
void transformer_piece_keep(const struct rank_share *share, enum piece piece, struct segment *out);
/* Bytes that live only while the piece runs, forward or backward. */
double transformer_piece_temporary(const struct rank_share *share, enum piece piece, bool backward);
/* Of those of the backward pass: bytes of each tensor that is large and allocated by itself, and
 * how many there are. The others come and go beside them. */
double transformer_piece_apart(const struct rank_share *share, enum piece piece, unsigned *count);
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
    bool shares; /* its input with the one before, which has cast it */
    bool column; /* split by outputs over tp, its input a norm's; else by inputs */
    bool wide;   /* never in eight bits */
};
enum {
    PIECE_LINEAR_MAX = 3
};
/* The linear layers of a piece: one, or one for each of what its software keeps apart. */
unsigned transformer_piece_linears(const struct rank_share *share, enum piece piece,
                                   struct linear out[PIECE_LINEAR_MAX]);
/* Recomputation per operator runs this product of a layer again: every second one, but the last,
 * whose output no backward pass needs. */
bool transformer_product_repeated(const struct rank_share *share, enum piece piece,
                                  unsigned linear);
void transformer_linear_forward(const struct rank_share *share, const struct linear *linear,
                                struct segment *out);
void transformer_linear_backward(const struct rank_share *share, const struct linear *linear,
                                 struct segment *out);
/* Traffic of adding a finished gradient of `parameters` to the kept one: reads both, writes one. */
double transformer_gradient_add_bytes(const struct rank_share *share, double parameters);

#endif
