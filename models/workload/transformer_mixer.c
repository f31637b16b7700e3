/* transformer_mixer.c - recurrent layers as pieces: what their kind (layer/layer_kind.h) writes
 * goes where attention's own would. Kernels and kept tensors between the products are those of
 * whole sequences and, over context ranks, of a part of the heads; the products those of this
 * rank's tokens. Selective recomputation does not repeat the core: its kinds keep no scores. */
#include "models/workload/transformer_piece.h"

unsigned transformer_mixer_linears(const struct rank_share *s, struct linear *out)
{
    const struct layer_work *work = &s->mixer.outer;
    for (unsigned i = 0; i < work->product_count; i++) {
        const struct layer_product *p = &work->products[i];
        out[i] = (struct linear){.forward_name = p->names[0],
                                 .dgrad_name = p->names[1],
                                 .wgrad_name = p->names[2],
                                 .rows = s->tokens * p->groups,
                                 .inputs = p->inputs,
                                 .outputs = p->outputs,
                                 .shares = p->shares,
                                 .column = true,
                                 .groups = p->groups};
    }
    return work->product_count;
}

static const struct layer_stream *stream_at(const struct rank_share *s, enum piece piece)
{
    return piece == PIECE_ROPE ? &s->mixer.inner.before : &s->mixer.inner.after;
}

void transformer_mixer_forward(const struct rank_share *s, enum piece piece, struct segment *out)
{
    if (piece == PIECE_CORE) {
        transformer_piece_forward(out, s->mixer.inner.core);
        return;
    }
    const struct layer_stream *stream = stream_at(s, piece);
    transformer_piece_forward(
        out, gpu_kernel_memory(stream->name, stream->forward_bytes, stream->launches));
}

void transformer_mixer_backward(const struct rank_share *s, enum piece piece, struct segment *out)
{
    if (piece == PIECE_CORE) {
        transformer_piece_dgrad(out, s->mixer.inner.core_gradient);
        return;
    }
    const struct layer_stream *stream = stream_at(s, piece);
    transformer_piece_dgrad(
        out, gpu_kernel_memory(stream->gradient, stream->backward_bytes, stream->launches));
}

void transformer_mixer_keep(const struct rank_share *s, enum piece piece, struct segment *out)
{
    const bool products = piece == PIECE_QKV;
    const struct layer_work *work = products ? &s->mixer.outer : &s->mixer.inner;
    for (unsigned i = 0; (products || piece == PIECE_CORE) && i < work->kept_count; i++)
        if (work->kept[i].products == products)
            transformer_piece_saved(out, work->kept[i].name, work->kept[i].bytes, false);
}

/* What comes over context ranks beside what was sent; backward the gradients of either side of the
 * core. */
double transformer_mixer_temporary(const struct rank_share *s, enum piece piece, bool backward)
{
    const struct layer_context *c = s->context;
    const double element = s->tokens * s->element.core_bytes;
    const double entry = element * s->mixer.outer.entry, output = element * s->mixer.outer.output;
    if (piece != PIECE_CORE)
        return 0.0;
    return (c->cp > 1 ? entry : 0.0) + (backward ? entry + output : 0.0);
}
