/* transformer_piece.c - the kernels of the pieces of a layer.
 *
 * A linear layer of T rows, i inputs and o outputs is three products: T x i by i x o forward, T x o
 * by o x i for the gradient of its input, i x T by T x o for that of its weights. Bytes of
 * memory-bound kernels come from the software profile, for 16-bit elements; wider ones scale. */
#include "models/transformer_piece.h"

#include "sim/check.h"

#define HALF_BYTES 2.0
/* A gated activation reads a second input forward; backward it reads and writes one more: 6 against
 * 4 and 10 against 6 bytes for each element, fused, 16 bit. */
#define GATED_FORWARD 1.5
#define GATED_BACKWARD (10.0 / 6.0)

void share_of(const struct layer_context *c, struct share *out)
{
    const struct model_shape *m = c->model;
    double tp = (double)c->tp, cp = (double)c->cp;
    double tokens = (double)(c->microbatch * c->sequence) / cp;
    double kv_heads = (double)m->kv_heads / tp;
    bool wide =
        c->precision->attention_peak == PEAK_FP32 || c->precision->attention_peak == PEAK_TF32;
    CHECK(m->experts == 0 && m->kv_rank == 0 && m->head_size > 0 && m->kv_heads > 0);
    *out = (struct share){
        .context = c,
        .tokens = tokens,
        .hidden = (double)m->hidden,
        .heads = (double)m->heads / tp,
        .kv_heads = kv_heads < 1.0 ? 1.0 : kv_heads, /* a shared head is held by each rank */
        .head_size = (double)m->head_size,
        .ffn = (double)m->ffn_hidden / tp,
        .gates = m->ffn == FFN_SWIGLU ? 2.0 : 1.0,
        .queries = (double)c->sequence / cp,
        .keys = (double)c->sequence,
        .linear_bytes = c->precision->activation_bytes,
        .core_bytes = wide ? c->precision->activation_bytes : HALF_BYTES,
        .dropout = m->dropout_ratio > 0.0,
        .gathers = c->sequence_parallel && c->tp > 1,
    };
    out->query = out->heads * out->head_size;
    out->key = out->kv_heads * out->head_size;
    out->norm_tokens = out->gathers ? tokens / tp : tokens;
    out->input_tokens = c->software->backward_regather ? out->norm_tokens : tokens;
}

void piece_forward(struct segment *out, struct kernel kernel)
{
    CHECK(out->forward_count < SEGMENT_KERNEL_MAX);
    out->forward[out->forward_count++] = kernel;
}

void piece_dgrad(struct segment *out, struct kernel kernel)
{
    CHECK(out->dgrad_count < SEGMENT_KERNEL_MAX);
    out->dgrad[out->dgrad_count++] = kernel;
}

void piece_wgrad(struct segment *out, struct kernel kernel)
{
    CHECK(out->wgrad_count < SEGMENT_KERNEL_MAX);
    out->wgrad[out->wgrad_count++] = kernel;
}

void piece_saved(struct segment *out, const char *name, double bytes, bool attention_core)
{
    CHECK(out->saved_count < SEGMENT_SAVED_MAX);
    out->saved[out->saved_count++] =
        (struct saved_tensor){.name = name, .bytes = bytes, .attention_core = attention_core};
}

/* Operands narrower than the tensors around them are written by a cast, once as they are and once
 * transposed for the product with the gradient (NVIDIA/TransformerEngine, cast_transpose). */
static struct kernel cast(const struct share *share, const char *name, double elements)
{
    return kernel_memory(name, elements * (share->core_bytes + 2.0 * share->linear_bytes), 1.0);
}

void linear_forward(const struct share *share, const struct linear *l, struct segment *out)
{
    enum peak_kind peak = share->context->precision->gemm_peak;
    if (share->linear_bytes < share->core_bytes)
        piece_forward(out, cast(share, "fp8 cast", l->rows * l->inputs));
    piece_forward(out, kernel_gemm(l->forward_name, peak, l->rows, l->outputs, l->inputs, 1.0,
                                   share->linear_bytes));
}

double gradient_add_bytes(const struct share *share, double parameters)
{
    const struct layer_context *c = share->context;
    return parameters * (c->precision->gradient_bytes + 2.0 * c->software->gradient_kept_bytes);
}

/* The product for the weights writes a gradient of its own, which is then added to the kept one;
 * or, fused, it reads and writes the kept one itself. */
void linear_backward(const struct share *share, const struct linear *l, struct segment *out)
{
    const struct layer_context *c = share->context;
    enum peak_kind peak = c->precision->gemm_peak;
    double parameters = l->inputs * l->outputs;
    if (share->linear_bytes < share->core_bytes)
        piece_dgrad(out, cast(share, "fp8 cast gradient", l->rows * l->outputs));
    piece_dgrad(out, kernel_gemm(l->dgrad_name, peak, l->rows, l->inputs, l->outputs, 1.0,
                                 share->linear_bytes));
    struct kernel weights =
        kernel_gemm(l->wgrad_name, peak, l->inputs, l->outputs, l->rows, 1.0, share->linear_bytes);
    if (c->accumulate && c->software->gradient_fusion)
        weights.bytes +=
            parameters * (2.0 * c->software->gradient_kept_bytes - share->linear_bytes);
    piece_wgrad(out, weights);
    if (c->accumulate && !c->software->gradient_fusion)
        piece_wgrad(out, kernel_memory("gradient accumulation",
                                       gradient_add_bytes(share, parameters), 1.0));
}

static struct linear linear_of(const struct share *s, enum piece piece)
{
    switch (piece) {
    case PIECE_QKV:
        return (struct linear){"qkv",     "qkv dgrad", "qkv wgrad",
                               s->tokens, s->hidden,   s->query + 2.0 * s->key};
    case PIECE_PROJECT:
        return (struct linear){"projection", "projection dgrad", "projection wgrad",
                               s->tokens,    s->query,           s->hidden};
    case PIECE_UP:
        return (struct linear){"up",      "up dgrad", "up wgrad",
                               s->tokens, s->hidden,  s->gates * s->ffn};
    default:
        CHECK(piece == PIECE_DOWN);
        return (struct linear){"down", "down dgrad", "down wgrad", s->tokens, s->ffn, s->hidden};
    }
}

/* A memory-bound piece: bytes for each 16-bit element, forward and backward. */
struct stream_piece {
    const char *name, *gradient_name;
    double elements, forward_bytes, backward_bytes, launches;
};
static struct stream_piece stream_of(const struct share *s, enum piece piece)
{
    const struct software_profile *p = s->context->software;
    double residual = s->norm_tokens * s->hidden;
    bool gated = s->gates > 1.0;
    switch (piece) {
    case PIECE_NORM1:
    case PIECE_NORM2:
    case PIECE_FINAL_NORM:
        return (struct stream_piece){"norm",
                                     "norm gradient",
                                     residual,
                                     p->norm_forward_bytes,
                                     p->norm_backward_bytes,
                                     p->norm_launches};
    case PIECE_ROPE:
        return (struct stream_piece){"rope",
                                     "rope gradient",
                                     s->tokens * (s->query + s->key),
                                     p->rope_forward_bytes,
                                     p->rope_backward_bytes,
                                     p->rope_launches};
    case PIECE_ACTIVATE:
        return (struct stream_piece){"activation",
                                     "activation gradient",
                                     s->tokens * s->ffn,
                                     p->activation_forward_bytes * (gated ? GATED_FORWARD : 1.0),
                                     p->activation_backward_bytes * (gated ? GATED_BACKWARD : 1.0),
                                     p->activation_launches};
    default:
        CHECK(piece == PIECE_CLOSE || piece == PIECE_RESIDUAL);
        return (struct stream_piece){"residual",
                                     "residual gradient",
                                     residual,
                                     p->residual_forward_bytes,
                                     p->residual_backward_bytes,
                                     p->residual_launches};
    }
}

static bool absent(const struct share *share, enum piece piece)
{
    const struct layer_context *c = share->context;
    if (piece == PIECE_ROPE)
        return c->model->position != POSITION_ROPE;
    return piece == PIECE_RING && (c->cp == 1 || !c->cp_ring);
}

static bool is_linear(enum piece piece)
{
    return piece == PIECE_QKV || piece == PIECE_PROJECT || piece == PIECE_UP || piece == PIECE_DOWN;
}

static void write_forward(const struct share *share, enum piece piece, struct segment *out)
{
    if (absent(share, piece))
        return;
    if (piece == PIECE_RING || piece == PIECE_CORE) {
        attention_forward(share, piece == PIECE_RING, out);
    } else if (is_linear(piece)) {
        struct linear linear = linear_of(share, piece);
        linear_forward(share, &linear, out);
    } else {
        struct stream_piece s = stream_of(share, piece);
        double bytes = s.elements * s.forward_bytes * share->core_bytes / HALF_BYTES;
        piece_forward(out, kernel_memory(s.name, bytes, s.launches));
    }
}

static void write_backward(const struct share *share, enum piece piece, struct segment *out)
{
    if (absent(share, piece))
        return;
    if (piece == PIECE_RING || piece == PIECE_CORE) {
        attention_backward(share, piece == PIECE_RING, out);
    } else if (is_linear(piece)) {
        struct linear linear = linear_of(share, piece);
        linear_backward(share, &linear, out);
    } else {
        struct stream_piece s = stream_of(share, piece);
        double bytes = s.elements * s.backward_bytes * share->core_bytes / HALF_BYTES;
        piece_dgrad(out, kernel_memory(s.gradient_name, bytes, s.launches));
    }
}

void piece_write(const struct share *share, enum piece first, enum piece last, struct segment *out)
{
    for (int piece = (int)first; piece <= (int)last; piece++) {
        write_forward(share, (enum piece)piece, out);
        piece_keep(share, (enum piece)piece, out);
        double forward = piece_temporary(share, (enum piece)piece, false);
        double backward = piece_temporary(share, (enum piece)piece, true);
        if (forward > out->forward_temporary_bytes)
            out->forward_temporary_bytes = forward;
        if (backward > out->backward_temporary_bytes)
            out->backward_temporary_bytes = backward;
    }
    for (int piece = (int)last; piece >= (int)first; piece--)
        write_backward(share, (enum piece)piece, out);
}
