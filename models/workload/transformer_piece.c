/* transformer_piece.c - the kernels of the pieces of a layer.
 *
 * A linear layer of T rows, i inputs and o outputs is three products: T x i by i x o forward, T x o
 * by o x i for the gradient of its input, i x T by T x o for that of its weights. Bytes of
 * memory-bound kernels come from the software profile, for 16-bit elements; wider ones scale. */
#include "models/workload/transformer_piece.h"

#include <stddef.h>
#include <string.h>

#include "sim/check.h"

static void clear_kernels(struct segment_kernels *out)
{
    memset(out, 0, offsetof(struct segment_kernels, kernels));
}

void transformer_clear_segment(struct segment *out)
{
    memset(out, 0, offsetof(struct segment, forward));
    clear_kernels(&out->forward);
    clear_kernels(&out->dgrad);
    clear_kernels(&out->wgrad);
    clear_kernels(&out->core);
}

void transformer_clear(struct layer *out)
{
    const size_t behind = offsetof(struct layer, input_bytes);
    memset(out, 0, offsetof(struct layer, segments));
    for (unsigned i = 0; i < LAYER_SEGMENT_MAX; i++)
        transformer_clear_segment(&out->segments[i]);
    memset((char *)out + behind, 0, sizeof *out - behind);
}

/* A gated activation reads a second input forward; backward it reads and writes one more: 6 against
 * 4 and 10 against 6 bytes for each element, fused, 16 bit. */
#define GATED_FORWARD 1.5
#define GATED_BACKWARD (10.0 / 6.0)

/* A memory-bound piece: bytes for each 16-bit element, forward and backward. */
struct stream_piece {
    const char *name, *gradient_name;
    double elements, forward_bytes, backward_bytes, launches;
};

/* Output and gate read, one written; back, three read and two written: fused, 16 bit. */
#define GATE_FORWARD_BYTES 6.0
#define GATE_BACKWARD_BYTES 10.0

/* What queries and keys go through before the core: their norms, one of each, and the rotation. In
 * the latent the rotated parts are joined to what is as wide as the latent. */
static struct stream_piece rope_piece(const struct rank_share *s)
{
    const struct software_profile *p = s->context->software;
    const struct model_shape *m = s->context->model;
    const double widths = s->sparse.row > 0.0 ? (s->attention.heads + 1.0) * s->sparse.row
                                              : s->attention.query + s->attention.key;
    struct stream_piece out = {
        .name = "rope", .gradient_name = "rope gradient", .elements = s->tokens * widths};
    if (m->position == POSITION_ROPE) {
        out.forward_bytes = p->block.rope_forward_bytes;
        out.backward_bytes = p->block.rope_backward_bytes;
        out.launches = p->block.rope_launches;
    }
    if (m->norm.qk_norms) {
        out.name = "qk norm and rope";
        out.gradient_name = "qk norm and rope gradient";
        out.forward_bytes += p->block.norm_forward_bytes;
        out.backward_bytes += p->block.norm_backward_bytes;
        out.launches += 2.0 * p->block.norm_launches;
    }
    return out;
}

static struct stream_piece stream_of(const struct rank_share *s, enum piece piece)
{
    const struct software_profile *p = s->context->software;
    double residual = s->norm_tokens * s->hidden;
    bool gated = s->gates > 1.0;
    switch (piece) {
    case PIECE_NORM1:
    case PIECE_NORM2:
        return (struct stream_piece){"norm",
                                     "norm gradient",
                                     residual * s->norms,
                                     p->block.norm_forward_bytes,
                                     p->block.norm_backward_bytes,
                                     p->block.norm_launches * s->norms};
    case PIECE_FINAL_NORM:
        return (struct stream_piece){"norm",
                                     "norm gradient",
                                     residual,
                                     p->block.norm_forward_bytes,
                                     p->block.norm_backward_bytes,
                                     p->block.norm_launches};
    case PIECE_ROPE:
        return rope_piece(s);
    case PIECE_GATE:
        return (struct stream_piece){
            "output gate",      "output gate gradient", s->tokens * s->attention.gate,
            GATE_FORWARD_BYTES, GATE_BACKWARD_BYTES,    1.0};
    case PIECE_ACTIVATE:
    case PIECE_EXPERT_ACTIVATE:
        return (struct stream_piece){
            "activation",
            "activation gradient",
            piece == PIECE_ACTIVATE ? s->tokens * s->ffn : s->experts.filled * s->experts.ffn,
            p->block.activation_forward_bytes * (gated ? GATED_FORWARD : 1.0),
            p->block.activation_backward_bytes * (gated ? GATED_BACKWARD : 1.0),
            p->block.activation_launches};
    case PIECE_CLOSE:
    case PIECE_RESIDUAL:
        return (struct stream_piece){"residual",
                                     "residual gradient",
                                     residual,
                                     p->block.residual_forward_bytes,
                                     p->block.residual_backward_bytes,
                                     p->block.residual_launches};
    case PIECE_LATENT:
    case PIECE_INDEX:
    case PIECE_QKV:
    case PIECE_RING:
    case PIECE_CHOOSE:
    case PIECE_CORE:
    case PIECE_TARGET:
    case PIECE_VALUE:
    case PIECE_PROJECT:
    case PIECE_UP:
    case PIECE_DOWN:
    case PIECE_ROUTE:
    case PIECE_PERMUTE:
    case PIECE_EXPERT_UP:
    case PIECE_EXPERT_DOWN:
    case PIECE_COMBINE:
    case PIECE_KIND_COUNT:
        break;
    }
    UNREACHABLE("the piece is one stream through memory");
}

/* A layer may be one block alone: what does not read the sequence has no first half. */
static bool half_present(const struct rank_share *share, enum piece piece)
{
    const bool mixes = share->attention.output > 0.0;
    switch (piece) {
    case PIECE_NORM1:
    case PIECE_QKV:
    case PIECE_ROPE:
    case PIECE_CORE:
    case PIECE_PROJECT:
        return mixes;
    case PIECE_RING:
        return mixes && share->mixer.kind == NULL && !(share->sparse.row > 0.0);
    case PIECE_INDEX:
    case PIECE_CHOOSE:
    case PIECE_TARGET:
        return share->sparse.index_heads > 0.0;
    case PIECE_VALUE:
        return share->sparse.row > 0.0;
    case PIECE_GATE:
        return share->mixer.kind != NULL || share->attention.gate > 0.0;
    case PIECE_RESIDUAL:
        return mixes && share->feeds;
    case PIECE_NORM2:
        return share->feeds;
    case PIECE_CLOSE:
    case PIECE_LATENT:
    case PIECE_UP:
    case PIECE_ACTIVATE:
    case PIECE_DOWN:
    case PIECE_ROUTE:
    case PIECE_PERMUTE:
    case PIECE_EXPERT_UP:
    case PIECE_EXPERT_ACTIVATE:
    case PIECE_EXPERT_DOWN:
    case PIECE_COMBINE:
    case PIECE_FINAL_NORM:
    case PIECE_KIND_COUNT:
        break;
    }
    return true;
}

bool transformer_piece_present(const struct rank_share *share, enum piece piece)
{
    if (!half_present(share, piece))
        return false;
    if (piece == PIECE_LATENT)
        return share->latent.kv_rank > 0.0;
    if (piece == PIECE_UP || piece == PIECE_ACTIVATE || piece == PIECE_DOWN)
        return share->ffn > 0.0;
    return piece < PIECE_ROUTE || piece > PIECE_COMBINE || share->experts.count > 0.0;
}

/* Megatron's graph of the router takes the norm before it and shared experts too, unless these run
 * beside the exchange, which is outside (megatron/core/transformer/transformer_layer.py and
 * moe/moe_utils.py). */
static unsigned modules_of(const struct rank_share *share, enum piece piece)
{
    const bool routes = share->experts.count > 0.0;
    const unsigned second = routes ? GRAPH_ROUTER : GRAPH_MLP;
    switch (piece) {
    case PIECE_CLOSE:
        return share->attention.output > 0.0 ? GRAPH_ATTENTION : second;
    case PIECE_NORM1:
    case PIECE_LATENT:
    case PIECE_INDEX:
    case PIECE_QKV:
    case PIECE_ROPE:
    case PIECE_RING:
    case PIECE_CHOOSE:
    case PIECE_CORE:
    case PIECE_TARGET:
    case PIECE_VALUE:
    case PIECE_GATE:
    case PIECE_PROJECT:
    case PIECE_RESIDUAL:
        return GRAPH_ATTENTION;
    case PIECE_NORM2:
        return second;
    case PIECE_UP:
    case PIECE_ACTIVATE:
    case PIECE_DOWN:
        return share->shared_beside ? GRAPH_EXPERTS : second;
    case PIECE_ROUTE:
        return GRAPH_ROUTER;
    case PIECE_PERMUTE:
        return GRAPH_PREPROCESS;
    case PIECE_EXPERT_UP:
    case PIECE_EXPERT_ACTIVATE:
    case PIECE_EXPERT_DOWN:
    case PIECE_COMBINE:
        return GRAPH_EXPERTS;
    case PIECE_FINAL_NORM:
    case PIECE_KIND_COUNT:
        break;
    }
    return 0;
}

static bool absent(const struct rank_share *share, enum piece piece)
{
    const struct layer_context *c = share->context;
    if (!transformer_piece_present(share, piece))
        return true;
    if (piece == PIECE_EXPERT_ACTIVATE && transformer_fused_experts(share))
        return true;
    if (piece == PIECE_ROPE && share->mixer.kind == NULL)
        return c->model->position != POSITION_ROPE && !c->model->norm.qk_norms;
    return piece == PIECE_RING && (c->cp == 1 || !c->ring.cp_ring);
}

static bool is_linear(const struct rank_share *share, enum piece piece)
{
    return (piece == PIECE_COMBINE && share->experts.latent > 0.0) || piece == PIECE_LATENT ||
           piece == PIECE_INDEX || piece == PIECE_QKV || piece == PIECE_VALUE ||
           piece == PIECE_PROJECT || piece == PIECE_UP || piece == PIECE_DOWN ||
           piece == PIECE_ROUTE || piece == PIECE_EXPERT_UP || piece == PIECE_EXPERT_DOWN;
}

/* The kernels from `first` on run again under recomputation of a part. */
static void mark_repeated(struct segment *out, unsigned first)
{
    for (unsigned i = first; i < out->forward.count; i++)
        out->forward.repeated[i] = true;
}

/* A kernel that is no product: all but the last residual run again per operator, which makes the
 * input of the layer, which is kept; by modules norms, activations and the rotation of latent
 * attention's queries and keys. */
static bool stream_repeated(const struct rank_share *share, enum piece piece)
{
    if (share->context->recompute == RECOMPUTE_PER_OPERATOR)
        return piece != PIECE_CLOSE;
    return (piece == PIECE_ROPE && transformer_product_repeated(share, PIECE_QKV, 0)) ||
           (transformer_norms_rebuilt(share) && (piece == PIECE_NORM1 || piece == PIECE_NORM2)) ||
           (share->context->recompute == RECOMPUTE_MODULES &&
            (piece == PIECE_ACTIVATE || piece == PIECE_EXPERT_ACTIVATE));
}

static void write_linears(const struct rank_share *share, enum piece piece, struct segment *out)
{
    struct linear linears[PIECE_LINEAR_MAX];
    const unsigned count = transformer_piece_linears(share, piece, linears);
    for (unsigned i = 0; i < count; i++) {
        const unsigned first = out->forward.count;
        transformer_linear_forward(share, &linears[i], out);
        if (transformer_product_repeated(share, piece, i))
            mark_repeated(out, first);
    }
    const unsigned first = out->forward.count;
    if (share->context->adapter.kind != ADAPTER_NONE)
        transformer_adapter_forward(share, piece, out);
    if (transformer_product_repeated(share, piece, 0))
        mark_repeated(out, first);
}

unsigned transformer_piece_wgrads(const struct rank_share *share, enum piece piece)
{
    const struct layer_context *c = share->context;
    struct linear ignored[PIECE_LINEAR_MAX];
    const unsigned each = c->accumulate && !c->software->layer.gradient_fusion ? 2 : 1;
    if (c->adapter.kind != ADAPTER_NONE)
        return transformer_adapter_targets(share, piece) ? 2 : 0;
    return each * transformer_piece_linears(share, piece, ignored);
}

/* Every head gets a copy of its group's keys and values: a read, and as many writes as heads. */
static double repeat_bytes(const struct rank_share *share)
{
    if (!share->context->software->attention.repeats_keys ||
        share->attention.heads <= share->attention.kv_heads)
        return 0.0;
    return 2.0 * share->tokens * (share->attention.key + share->attention.query) *
           share->element.core_bytes;
}

/* Software that calls its kernel for each block of keys merges what comes out of it; who exchanges
 * heads alone has all keys in one. */
static void write_merge(const struct rank_share *share, double each_bytes, bool backward,
                        struct segment *out)
{
    const struct layer_context *c = share->context;
    const bool round = c->ring.cp_ring || c->ring.cp_heads;
    const double blocks = (round ? transformer_ring_ranks(c) : (double)c->cp) - 1.0;
    const double bytes = blocks * share->tokens * share->attention.output * each_bytes;
    if (!(bytes > 0.0))
        return;
    if (backward)
        transformer_piece_dgrad(out, gpu_kernel_memory("merge gradients", bytes, blocks));
    else
        transformer_piece_forward(out, gpu_kernel_memory("merge blocks", bytes, blocks));
}

/* Of a recurrent layer's own: all between its products. */
static bool of_mixer(const struct rank_share *share, enum piece piece)
{
    return share->mixer.kind != NULL &&
           (piece == PIECE_ROPE || piece == PIECE_CORE || piece == PIECE_GATE);
}

/* Of sparse attention's own: what is no product. */
static bool of_sparse(const struct rank_share *share, enum piece piece)
{
    return share->sparse.row > 0.0 &&
           (piece == PIECE_CHOOSE || piece == PIECE_CORE || piece == PIECE_TARGET);
}

static void write_forward(const struct rank_share *share, enum piece piece, struct segment *out)
{
    if (absent(share, piece))
        return;
    if (of_sparse(share, piece)) {
        transformer_sparse_forward(share, piece, out);
        return;
    }
    const unsigned first = out->forward.count;
    if (of_mixer(share, piece)) {
        transformer_mixer_forward(share, piece, out);
        return;
    }
    transformer_experts_forward(share, piece, true, out);
    if (is_linear(share, piece)) {
        write_linears(share, piece, out);
        transformer_experts_forward(share, piece, false, out);
        if (piece == PIECE_INDEX)
            transformer_sparse_forward(share, piece, out);
        return;
    }
    if (piece == PIECE_COMBINE || piece == PIECE_PERMUTE)
        return;
    if (piece == PIECE_CORE && repeat_bytes(share) > 0.0) {
        transformer_piece_forward(out, gpu_kernel_memory("repeat keys", repeat_bytes(share), 2.0));
        if (share->context->recompute == RECOMPUTE_PER_OPERATOR)
            mark_repeated(out, first);
    }
    if (piece == PIECE_RING || piece == PIECE_CORE) {
        transformer_attention_forward(share, piece == PIECE_RING, out);
        if (piece == PIECE_CORE)
            write_merge(share, share->context->software->context.merge_forward_bytes, false, out);
        transformer_cache_forward(share, piece, out);
        return;
    }
    struct stream_piece s = stream_of(share, piece);
    double bytes = s.elements * s.forward_bytes * share->element.core_bytes / HALF_BYTES;
    transformer_piece_forward(out, gpu_kernel_memory(s.name, bytes, s.launches));
    if (stream_repeated(share, piece))
        mark_repeated(out, first);
    transformer_cache_forward(share, piece, out);
}

/* Products of the same input each give a gradient of it; all but the first are added. */
static void write_linears_backward(const struct rank_share *share, enum piece piece,
                                   struct segment *out)
{
    struct linear linears[PIECE_LINEAR_MAX];
    const unsigned count = transformer_piece_linears(share, piece, linears);
    if (share->context->adapter.kind != ADAPTER_NONE)
        transformer_adapter_backward(share, piece, out);
    for (unsigned i = count; i-- > 0;)
        transformer_linear_backward(share, &linears[i], out);
    const double each = share->context->software->tensor.input_gradient_bytes *
                        share->element.core_bytes / HALF_BYTES * linears[0].rows *
                        linears[0].inputs;
    double sharing = 0.0;
    for (unsigned i = 1; i < count; i++)
        sharing += linears[i].shares && !linears[i].detached ? 1.0 : 0.0;
    if (sharing > 0.0)
        transformer_piece_dgrad(out,
                                gpu_kernel_memory("add input gradients", each * sharing, sharing));
}

static void write_backward(const struct rank_share *share, enum piece piece, struct segment *out)
{
    if (absent(share, piece))
        return;
    if (of_sparse(share, piece) || (piece == PIECE_INDEX && share->sparse.row > 0.0))
        transformer_sparse_backward(share, piece, out);
    if (of_sparse(share, piece))
        return;
    if (of_mixer(share, piece)) {
        transformer_mixer_backward(share, piece, out);
        return;
    }
    transformer_experts_backward(share, piece, true, out);
    if (is_linear(share, piece)) {
        write_linears_backward(share, piece, out);
        transformer_experts_backward(share, piece, false, out);
        return;
    }
    if (piece == PIECE_COMBINE || piece == PIECE_PERMUTE)
        return;
    transformer_cache_backward(share, piece, out);
    if (piece == PIECE_RING || piece == PIECE_CORE) {
        transformer_attention_backward(share, piece == PIECE_RING, out);
        if (piece == PIECE_CORE)
            write_merge(share, share->context->software->context.merge_backward_bytes, true, out);
        if (piece == PIECE_CORE && repeat_bytes(share) > 0.0)
            transformer_piece_dgrad(
                out, gpu_kernel_memory("sum key gradients", repeat_bytes(share), 2.0));
        return;
    }
    struct stream_piece s = stream_of(share, piece);
    double bytes = s.elements * s.backward_bytes * share->element.core_bytes / HALF_BYTES;
    transformer_piece_dgrad(out, gpu_kernel_memory(s.gradient_name, bytes, s.launches));
    transformer_experts_backward(share, piece, false, out);
}

static void mark_modules(const struct rank_share *share, enum piece piece,
                         struct segment_kernels *list, unsigned first)
{
    for (unsigned i = first; i < list->count; i++)
        list->modules[i] = (uint8_t)modules_of(share, piece);
}

void transformer_piece_write(const struct rank_share *share, enum piece first, enum piece last,
                             struct segment *out)
{
    out->modules = modules_of(share, first);
    for (int piece = (int)first; piece <= (int)last; piece++) {
        if (!transformer_piece_present(share, (enum piece)piece))
            continue;
        const unsigned from = out->forward.count, cores = out->core.count;
        write_forward(share, (enum piece)piece, out);
        mark_modules(share, (enum piece)piece, &out->forward, from);
        mark_modules(share, (enum piece)piece, &out->core, cores);
        transformer_piece_keep(share, (enum piece)piece, out);
        double weights = is_linear(share, (enum piece)piece)
                             ? transformer_adapter_temporary(share, (enum piece)piece)
                             : 0.0;
        double forward = weights + transformer_piece_temporary(share, (enum piece)piece, false);
        double backward = weights + transformer_piece_temporary(share, (enum piece)piece, true);
        if (forward > out->memory.forward_temporary_bytes)
            out->memory.forward_temporary_bytes = forward;
        if (backward > out->memory.backward_temporary_bytes) {
            out->memory.backward_temporary_bytes = backward;
            out->memory.apart_bytes =
                transformer_piece_apart(share, (enum piece)piece, &out->memory.apart_count);
        }
    }
    for (int piece = (int)last; piece >= (int)first; piece--) {
        const unsigned dgrads = out->dgrad.count, wgrads = out->wgrad.count;
        write_backward(share, (enum piece)piece, out);
        mark_modules(share, (enum piece)piece, &out->dgrad, dgrads);
        mark_modules(share, (enum piece)piece, &out->wgrad, wgrads);
    }
}
