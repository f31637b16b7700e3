/* A rank's share of a layer, and the tools that every piece writes with: kernels, saved tensors,
 * linear layers with their three products. */
#include "models/workload/transformer_piece.h"
#include "sim/check.h"

void transformer_share_of(const struct layer_context *c, struct rank_share *out)
{
    const struct model_shape *m = c->model;
    double tp = (double)c->tp, cp = (double)c->cp;
    double tokens = (double)(c->microbatch * c->sequence) / cp;
    double kv_heads = (double)m->kv_heads / tp;
    bool wide =
        c->precision->attention_peak == PEAK_FP32 || c->precision->attention_peak == PEAK_TF32;
    CHECK(m->experts == 0 && m->kv_rank == 0 && m->head_size > 0 && m->kv_heads > 0);
    *out = (struct rank_share){
        .context = c,
        .tokens = tokens,
        .hidden = (double)m->hidden,
        .heads = (double)m->heads / tp,
        .kv_heads = kv_heads < 1.0 ? 1.0 : kv_heads, /* a shared head is held by each rank */
        .head_size = (double)m->head_size,
        .ffn = (double)m->ffn_hidden / tp,
        .gates = transformer_gated(m) ? 2.0 : 1.0,
        .norms = (double)transformer_norms(m) / 2.0,
        .queries = (double)c->sequence / cp,
        .keys = (double)c->sequence,
        .linear_bytes = c->precision->activation_bytes,
        .core_bytes = wide ? c->precision->activation_bytes : HALF_BYTES,
        .dropout = m->dropout_ratio > 0.0,
        .gathers = c->sequence_parallel && c->tp > 1,
    };
    out->query = out->heads * out->head_size;
    out->key = out->kv_heads * out->head_size;
    out->sent_key = c->software->repeats_keys && out->heads > out->kv_heads ? out->query : out->key;
    out->norm_tokens = out->gathers ? tokens / tp : tokens;
    out->input_tokens = c->software->backward_regather ? out->norm_tokens : tokens;
}

void transformer_piece_forward(struct segment *out, struct kernel kernel)
{
    CHECK(out->forward_count < SEGMENT_KERNEL_MAX);
    out->forward[out->forward_count++] = kernel;
}

void transformer_piece_dgrad(struct segment *out, struct kernel kernel)
{
    CHECK(out->dgrad_count < SEGMENT_KERNEL_MAX);
    out->dgrad[out->dgrad_count++] = kernel;
}

void transformer_piece_wgrad(struct segment *out, struct kernel kernel)
{
    CHECK(out->wgrad_count < SEGMENT_KERNEL_MAX);
    out->wgrad[out->wgrad_count++] = kernel;
}

void transformer_piece_saved(struct segment *out, const char *name, double bytes,
                             bool attention_core)
{
    CHECK(out->saved_count < SEGMENT_SAVED_MAX);
    out->saved[out->saved_count++] =
        (struct saved_tensor){.name = name, .bytes = bytes, .attention_core = attention_core};
}

/* Operands narrower than the tensors around them are written by a cast, once as they are and once
 * transposed for the product with the gradient (NVIDIA/TransformerEngine, cast_transpose). */
static struct kernel cast(const struct rank_share *share, const char *name, double elements)
{
    return gpu_kernel_memory(name, elements * (share->core_bytes + 2.0 * share->linear_bytes), 1.0);
}

void transformer_linear_forward(const struct rank_share *share, const struct linear *l,
                                struct segment *out)
{
    enum peak_kind peak = share->context->precision->gemm_peak;
    if (share->linear_bytes < share->core_bytes && !l->shares)
        transformer_piece_forward(out, cast(share, "fp8 cast", l->rows * l->inputs));
    transformer_piece_forward(
        out, gpu_kernel_gemm(l->forward_name, peak,
                             (struct gemm_shape){l->rows, l->outputs, l->inputs, 1.0},
                             share->linear_bytes));
}

double transformer_gradient_add_bytes(const struct rank_share *share, double parameters)
{
    const struct layer_context *c = share->context;
    return parameters * (c->precision->gradient_bytes + 2.0 * c->software->gradient_kept_bytes);
}

/* The product for the weights writes a gradient of its own, which is then added to the kept one;
 * or, fused, it reads and writes the kept one itself. */
void transformer_linear_backward(const struct rank_share *share, const struct linear *l,
                                 struct segment *out)
{
    const struct layer_context *c = share->context;
    enum peak_kind peak = c->precision->gemm_peak;
    double parameters = l->inputs * l->outputs;
    if (share->linear_bytes < share->core_bytes)
        transformer_piece_dgrad(out, cast(share, "fp8 cast gradient", l->rows * l->outputs));
    transformer_piece_dgrad(
        out, gpu_kernel_gemm(l->dgrad_name, peak,
                             (struct gemm_shape){l->rows, l->inputs, l->outputs, 1.0},
                             share->linear_bytes));
    struct kernel weights = gpu_kernel_gemm(
        l->wgrad_name, peak, (struct gemm_shape){l->inputs, l->outputs, l->rows, 1.0},
        share->linear_bytes);
    if (c->accumulate && c->software->gradient_fusion)
        gpu_kernel_gemm_accumulate(&weights, c->software->gradient_kept_bytes);
    transformer_piece_wgrad(out, weights);
    if (c->accumulate && !c->software->gradient_fusion)
        transformer_piece_wgrad(
            out, gpu_kernel_memory("gradient accumulation",
                                   transformer_gradient_add_bytes(share, parameters), 1.0));
}
