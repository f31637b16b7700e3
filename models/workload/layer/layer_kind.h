/* layer_kind.h - the contract of a recurrent layer: what takes the place of attention and reads a
 * sequence through a state of fixed size (linear attention, gated delta rules, state spaces).
 *
 * Adding one: a file, a row in layer_list.h, a line in models/workload/layer/CMakeLists.txt. All of
 * them have one anatomy, which transformer_layer.c cuts into segments and splits over tensor and
 * context ranks as it does attention:
 *
 *     norm -> products of the input -> `before` (convolution, gates) -> core -> `after` (norm and
 *     gate of the output) -> product back to the width of the model
 *
 * A kind is a pure writer of sizes: from a rank's share of heads and tokens it writes the products,
 * the kernels and the tensors that are kept. With all heads it writes the whole layer, so that
 * parameters, shards and FLOPs come from one formula. It knows no communication, no precision
 * recipes, no recomputation. Formulas and sources: docs/models/layers.md and the page of each kind.
 */
#ifndef ORRERY_MODELS_WORKLOAD_LAYER_LAYER_KIND_H
#define ORRERY_MODELS_WORKLOAD_LAYER_LAYER_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "models/gpu/gpu.h"
#include "sim/kind.h"

/* As model.linear_* gives them. A head has a state of key_size by head_size. */
struct layer_sizes {
    uint64_t heads, head_size;    /* of values */
    uint64_t key_heads, key_size; /* of queries and keys, or of B and C; 0: as those of values */
    uint64_t conv;                /* taps of the convolution over positions */
    uint64_t chunk;               /* positions that a kernel takes at once; 0: the kind's usual */
    bool full_gate;               /* gates from a full matrix, not through a low rank */
};
/* What a rank has of such a layer. */
struct layer_share {
    const struct layer_sizes *sizes;
    double hidden;           /* width of the model */
    double heads, key_heads; /* on this rank */
    double tokens;           /* whose sequences are whole on this rank */
    double element_bytes;    /* of an activation */
};
/* Products of the layer's input, or of the output of the one before (`shares` false, not first). */
struct layer_product {
    const char *names[3]; /* forward, gradient of the input, gradient of the weights; literals */
    double inputs, outputs, groups;
    bool shares; /* its input with the one before */
};
/* Kernels that stream: bytes on this rank. */
struct layer_stream {
    const char *name, *gradient;
    double forward_bytes, backward_bytes, launches;
};
struct layer_kept {
    const char *name;
    double bytes;
    bool products; /* between products of the input, so of this rank's own tokens */
};
enum {
    LAYER_PRODUCT_MAX = 3,
    LAYER_KEPT_MAX = 8
};
struct layer_work {
    unsigned product_count, kept_count;
    struct layer_product products[LAYER_PRODUCT_MAX];
    struct layer_stream before, after;
    struct kernel core, core_gradient;
    /* Beside the input and what the last product reads, which are kept as any linear input is. */
    struct layer_kept kept[LAYER_KEPT_MAX];
    double entry;  /* width that goes into `before`, the core and `after` */
    double output; /* width that the last product reads */
    double split_parameters, whole_parameters; /* beside matrices: by heads; on every rank */
};
struct layer_kind {
    struct kind head;
    char letter; /* in a pattern of letters, as Megatron-LM spells it; 0: none */
    /* NULL: such sizes exist, else one sentence. */
    const char *(*refuse)(const struct layer_sizes *sizes);
    void (*write)(const struct layer_share *share, struct layer_work *out);
    /* Of a token and element of the state, forward, beside products: what the recurrence asks for,
     * not what its kernels by chunks do; so that MFU does not count their detour. */
    double state_flops;
};
#define X(name) extern const struct layer_kind layer_##name;
#include "models/workload/layer/layer_list.h"
#undef X
KIND_FAMILY(layer)

/* Sizes with the zeros that mean "the usual" replaced. */
struct layer_sizes layer_complete(const struct layer_sizes *sizes);
/* The whole layer for so many tokens, of 16-bit elements. */
struct layer_work layer_whole(const struct layer_kind *kind, const struct layer_sizes *sizes,
                              double hidden, double tokens);
/* Elements of products and of all else; of a share, or of the whole. */
double layer_parameters(const struct layer_work *work, double hidden);
/* Elements of the state that inference keeps of a sequence, in fp32 (the last inputs of the
 * convolution, below 1 % of it, are left out). */
double layer_state_elements(const struct layer_sizes *sizes);
/* NULL: `tp` ranks share the heads of a layer, and `cp` ranks of each of these exchange theirs;
 * else one sentence. */
const char *layer_refuse_split(const struct layer_sizes *sizes, uint64_t tp, uint64_t cp);

/* Tools of kinds. */
void layer_product_add(struct layer_work *work, struct layer_product product);
void layer_keep(struct layer_work *work, const char *name, double bytes);
void layer_keep_product(struct layer_work *work, const char *name, double bytes);
/* A core by chunks and its gradient, `ratio` times as long. */
void layer_core(struct layer_work *work, const char *const names[2], const struct scan_shape *shape,
                double gradient_ratio, double gradient_bytes);

#endif
