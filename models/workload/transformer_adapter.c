/* transformer_adapter.c - low-rank adapters beside the linear layers of a piece.
 *
 * For T rows, i inputs, o outputs and rank r, forward: u = A x, B u, and the sum with what the
 * frozen weights make; backward: B^T g, A^T of that, added to the input's gradient, and the two
 * gradients g u^T and B^T g x^T. Frozen weights have no gradient of their own. The layers of a
 * piece that are kept apart have an adapter each, here one kernel of as many. An adapter's output
 * is a tensor of its own (huggingface/peft src/peft/tuners/lora/layer.py): written, read, and added
 * to the layer's, which is read and written. */
#include "models/workload/transformer_piece.h"

#define SUM_BYTES                                                                                  \
    4.0 /* half of what a sum moves an element in 16 bit: 2 written, 4 read, 2 written */

struct adapted {
    unsigned count;
    double rank, rows, inputs, outputs; /* of one, in the mean */
    double elements;                    /* of their frozen weights */
};

bool transformer_adapter_targets(const struct rank_share *share, enum piece piece)
{
    const struct adapter_spec *a = &share->context->adapter;
    const bool attention = piece == PIECE_LATENT || piece == PIECE_QKV || piece == PIECE_PROJECT;
    const bool block = piece == PIECE_UP || piece == PIECE_DOWN;
    return a->kind != ADAPTER_NONE && (attention || (block && a->targets == ADAPTER_ON_ALL));
}

static struct adapted adapted_of(const struct rank_share *share, enum piece piece)
{
    struct linear linears[PIECE_LINEAR_MAX];
    struct adapted out = {.count = transformer_piece_linears(share, piece, linears),
                          .rank = (double)share->context->adapter.rank};
    for (unsigned i = 0; i < out.count; i++) {
        out.rows += linears[i].rows / out.count;
        out.inputs += linears[i].inputs / out.count;
        out.outputs += linears[i].outputs / out.count;
        out.elements += linears[i].inputs * linears[i].outputs;
    }
    return out;
}

static struct kernel product(const struct rank_share *share, const struct adapted *a,
                             const char *name, double m, double n, double k)
{
    const struct gemm_shape shape = {m, n, k, a->count};
    struct kernel kernel = gpu_kernel_gemm(name, share->context->precision->attention_peak, shape,
                                           ADAPTER_WEIGHT_BYTES);
    kernel.launches = a->count;
    return kernel;
}

/* ... whose result is then added to one that is there. */
static struct kernel added(struct kernel kernel)
{
    gpu_kernel_gemm_accumulate(&kernel, SUM_BYTES);
    kernel.launches *= 2.0;
    return kernel;
}

static struct kernel dequantise(const struct adapted *a)
{
    return gpu_kernel_memory("dequantise weights",
                             a->elements * (ADAPTER_NF4_BYTES + ADAPTER_WEIGHT_BYTES), a->count);
}

static bool quantised(const struct rank_share *share, enum piece piece)
{
    return share->context->adapter.kind == ADAPTER_QLORA && piece != PIECE_ROUTE;
}

void transformer_adapter_forward(const struct rank_share *share, enum piece piece,
                                 struct segment *out)
{
    const struct adapted a = adapted_of(share, piece);
    if (quantised(share, piece))
        transformer_piece_forward(out, dequantise(&a));
    if (!transformer_adapter_targets(share, piece))
        return;
    transformer_piece_forward(out, product(share, &a, "adapter down", a.rows, a.rank, a.inputs));
    transformer_piece_forward(out,
                              added(product(share, &a, "adapter up", a.rows, a.outputs, a.rank)));
    transformer_piece_saved(out, "adapter hidden",
                            a.count * a.rows * a.rank * share->element.core_bytes, false);
    out->saved.tensors[out->saved.count - 1].weights = true;
}

void transformer_adapter_backward(const struct rank_share *share, enum piece piece,
                                  struct segment *out)
{
    const struct adapted a = adapted_of(share, piece);
    const double kept_bytes = share->context->software->data.gradient_kept_bytes;
    if (quantised(share, piece))
        transformer_piece_dgrad(out, dequantise(&a));
    if (!transformer_adapter_targets(share, piece))
        return;
    transformer_piece_dgrad(out, product(share, &a, "adapter up dgrad", a.rows, a.rank, a.outputs));
    transformer_piece_dgrad(
        out, added(product(share, &a, "adapter down dgrad", a.rows, a.inputs, a.rank)));
    struct kernel up = product(share, &a, "adapter up wgrad", a.rank, a.outputs, a.rows);
    struct kernel down = product(share, &a, "adapter down wgrad", a.inputs, a.rank, a.rows);
    if (share->context->accumulate) {
        gpu_kernel_gemm_accumulate(&up, kept_bytes);
        gpu_kernel_gemm_accumulate(&down, kept_bytes);
    }
    transformer_piece_wgrad(out, up);
    transformer_piece_wgrad(out, down);
}

double transformer_adapter_temporary(const struct rank_share *share, enum piece piece)
{
    return quantised(share, piece) ? adapted_of(share, piece).elements * ADAPTER_WEIGHT_BYTES : 0.0;
}
