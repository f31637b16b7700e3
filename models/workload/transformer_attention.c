/* transformer_attention.c - the kernels of the attention core: unfused products and softmax, or one
 * flash kernel; whole, or by blocks of a context-parallel ring.
 *
 * Unfused: the scores of every query and key exist in memory. Forward moves for each, in 16 bit:
 * scores written 2, softmax 2 + 2, dropout 2 + 2 and its mask 1, read by the product with the
 * values 2: 13 bytes. Backward: gradient of the probabilities written 2, read by dropout 2 with the
 * mask 1, written 2, softmax reads it and its output 2 + 2 and writes 2, probabilities read for the
 * gradient of v 2, scores' gradient read for those of q and k 2 + 2: 19 bytes. The products' own
 * part (4 and 8) is in their operands here; the rest is one kernel. Rings: Liu et al.,
 * arXiv:2310.01889. Causal halves are balanced by giving each rank a block from either end (Llama
 * 3, arXiv:2407.21783 section 3.3.2), so every rank meets half of the keys. With neighbouring
 * positions the last of n ranks meets half of its own block and n - 1 whole ones, and the others
 * wait for it where keys or gradients go round: every rank is given the last one's work. */
#include <math.h>

#include "models/workload/transformer_piece.h"

#define HALF_BYTES 2.0
#define PRODUCTS_FORWARD_BYTES 4.0  /* of math_forward_bytes, moved by the two products */
#define PRODUCTS_BACKWARD_BYTES 8.0 /* of math_backward_bytes, by the four */
#define DROPOUT_BYTES 5.0           /* of either, not moved in a model without dropout */

/* Blocks of queries against blocks of keys: `batch` of them for each head. */
struct blocks {
    double batch, queries, keys;
    bool causal;
};

static struct blocks blocks_of(const struct rank_share *share, bool ring)
{
    const struct layer_context *c = share->context;
    double batch = (double)c->microbatch;
    bool causal = c->causal && !c->software->attention.full_square;
    bool rings = c->cp > 1 && c->ring.cp_ring;
    bool skips = causal && c->attention != ATTENTION_MATH;
    if (!rings && c->cp > 1 && skips && c->ring.cp_uneven && !c->ring.cp_heads) {
        /* The last rank sees all keys but half of its own block. */
        const double seen = share->attention.keys - 0.5 * share->attention.queries;
        return (struct blocks){batch, share->attention.queries, seen, false};
    }
    if (!rings)
        return (struct blocks){batch, share->attention.queries, share->attention.keys, causal};
    if (!ring)
        return (struct blocks){batch, share->attention.queries, share->attention.queries, causal};
    double others = transformer_ring_ranks(c) - 1.0;
    bool half = skips && !c->ring.cp_uneven;
    return (struct blocks){batch * others, share->attention.queries,
                           share->attention.queries * (half ? 0.5 : 1.0), false};
}

/* Within a window, where the kernel skips what lies outside: stretches that are whole sequences of
 * their own, or for each query the keys that it meets in the mean, as blocks without a mask. */
static struct blocks windowed(const struct rank_share *share, struct blocks b)
{
    const struct layer_context *c = share->context;
    const double width = (double)c->keys.window;
    const int kind = c->model->windows.kind;
    if (c->keys.window == 0 || c->attention == ATTENTION_MATH || c->software->attention.full_square)
        return b;
    if (kind == WINDOW_CHUNKED && b.causal && b.queries >= width)
        return (struct blocks){b.batch * b.queries / width, width, width, true};
    b.keys = transformer_keys_met(kind, c->keys.window, share->attention.keys, c->causal);
    b.causal = false;
    return b;
}

/* The core as a rank computes it: its part of the heads of whole sequences, where context ranks
 * exchange them (Jacobs et al., DeepSpeed Ulysses, arXiv:2309.14509 section 3); balanced whatever
 * positions they hold. Where groups of them pass keys round, of their group's part of a sequence.
 */
static struct rank_share core_of(const struct rank_share *share)
{
    struct rank_share core = *share;
    if (share->context->ring.cp_heads) {
        const double inner = transformer_inner_ranks(share->context);
        core.attention.heads /= inner;
        core.attention.kv_heads /= inner;
        core.attention.queries *= inner;
    }
    return core;
}

static struct kernel product(const struct rank_share *share, const char *name,
                             const struct blocks *b, double m, double n, double k)
{
    return gpu_kernel_gemm(name, share->context->precision->attention_peak,
                           (struct gemm_shape){m, n, k, b->batch * share->attention.heads},
                           share->element.core_bytes);
}

static struct kernel softmax(const struct rank_share *share, const char *name,
                             const struct blocks *b, double all_bytes, double products_bytes)
{
    double bytes = all_bytes - products_bytes - (share->dropout ? 0.0 : DROPOUT_BYTES);
    double scores = b->batch * share->attention.heads * b->queries * b->keys;
    double scale = share->element.core_bytes / HALF_BYTES;
    return gpu_kernel_memory(name, scores * fmax(bytes, 0.0) * scale, share->dropout ? 2.0 : 1.0);
}

/* What lies between the products forward. Eager frameworks add the causal mask in a kernel. */
static double between_forward_bytes(const struct rank_share *share, const struct blocks *b)
{
    const struct software_profile *software = share->context->software;
    return software->attention.math_forward_bytes +
           (b->causal ? software->attention.math_mask_bytes : 0.0);
}

/* Operands of the core in eight bits, as those of the linear layers are. */
static bool eight_bit(const struct rank_share *share)
{
    const struct layer_context *c = share->context;
    return software_attention_operands(c->software, c->precision) == PEAK_FP8;
}

/* Read in 16 bits, written in eight: queries, keys and values forward, the gradient of the output
 * backward. */
static void cast_operands(const struct rank_share *share, bool backward, struct segment *out)
{
    const double width =
        backward ? share->attention.output
                 : share->attention.query + share->attention.key + share->attention.value;
    const struct kernel cast =
        gpu_kernel_memory(backward ? "fp8 cast attention gradient" : "fp8 cast attention",
                          share->tokens * width * (share->element.core_bytes + 1.0), 1.0);
    if (backward)
        transformer_piece_dgrad(out, cast);
    else
        transformer_piece_forward(out, cast);
}

static struct kernel flash(const struct rank_share *share, const struct blocks *b, bool backward)
{
    const struct layer_context *c = share->context;
    return gpu_kernel_attention(
        backward ? "attention gradient" : "attention",
        software_attention_operands(c->software, c->precision),
        &(struct attention_shape){.kernel = c->attention,
                                  .causal = b->causal,
                                  .backward = backward,
                                  .batch = b->batch,
                                  .query_tokens = b->queries,
                                  .key_tokens = b->keys,
                                  .heads = share->attention.heads,
                                  .kv_heads = share->attention.kv_heads,
                                  .head_size = share->attention.head_size,
                                  .value_size = share->attention.value_size},
        share->element.core_bytes);
}

void transformer_attention_forward(const struct rank_share *all, bool ring, struct segment *out)
{
    const struct rank_share core = core_of(all), *share = &core;
    const struct layer_context *c = share->context;
    struct blocks b = windowed(share, blocks_of(share, ring));
    unsigned first = out->forward.count;
    if (c->attention == ATTENTION_MATH) {
        transformer_piece_forward(
            out, product(share, "scores", &b, b.queries, b.keys, share->attention.head_size));
        transformer_piece_forward(out,
                                  softmax(share, "softmax", &b, between_forward_bytes(share, &b),
                                          PRODUCTS_FORWARD_BYTES));
        transformer_piece_forward(
            out, product(share, "context", &b, b.queries, share->attention.value_size, b.keys));
    } else {
        if (eight_bit(share))
            cast_operands(share, false, out);
        transformer_piece_forward(out, flash(share, &b, false));
    }
    out->attention_core = true;
    for (unsigned i = first; i < out->forward.count; i++)
        out->core.kernels[out->core.count++] = out->forward.kernels[i];
}

void transformer_attention_backward(const struct rank_share *all, bool ring, struct segment *out)
{
    const struct rank_share core = core_of(all), *share = &core;
    const struct layer_context *c = share->context;
    struct blocks b = windowed(share, blocks_of(share, ring));
    double size = share->attention.head_size, values = share->attention.value_size;
    if (c->attention != ATTENTION_MATH) {
        if (eight_bit(share))
            cast_operands(share, true, out);
        transformer_piece_dgrad(out, flash(share, &b, true));
        return;
    }
    transformer_piece_dgrad(out,
                            product(share, "probability gradient", &b, b.queries, b.keys, values));
    transformer_piece_dgrad(out, product(share, "value gradient", &b, b.keys, values, b.queries));
    transformer_piece_dgrad(out, softmax(share, "softmax gradient", &b,
                                         c->software->attention.math_backward_bytes,
                                         PRODUCTS_BACKWARD_BYTES));
    transformer_piece_dgrad(out, product(share, "query gradient", &b, b.queries, size, b.keys));
    transformer_piece_dgrad(out, product(share, "key gradient", &b, b.keys, size, b.queries));
}
