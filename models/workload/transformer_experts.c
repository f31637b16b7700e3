/* transformer_experts.c - what surrounds the products of experts and of latent attention: choice,
 * copies, memory.
 *
 * A router scores each token for each expert and chooses; a copy of the token goes to each chosen
 * one (*permute*), sorted by expert where it arrives; the results come back and are added up
 * (*unpermute*). The weight of a choice is applied in the activation, so that the output of the
 * experts need not be kept (NVIDIA/Megatron-LM megatron/core/transformer/moe/token_dispatcher.py,
 * experts.py). Each copy reads and writes a row: permute reads T rows and writes one for each
 * visit, unpermute the other way round; their backward passes are each other's forward. Where a
 * rank gets a row once for all of its experts, copies are made and added up where the experts are,
 * with the sorting, and what is sent reads and writes the tokens themselves. */
#include "models/workload/transformer_piece.h"

#include "sim/check.h"

#define FP32_BYTES 4.0
#define FLAG_BYTES 1.0
/* For each token and expert, as moe_utils.py topk_routing_with_score_function writes it in PyTorch:
 * scores read for the choice (2) and for their softmax (2, written 4), two tables cleared and
 * filled (2 x 4 and 2 x 1, the second one of flags), summed for each expert (1): 19 bytes, by ten
 * kernels. */
#define CHOICE_BYTES 19.0
#define CHOICE_LAUNCHES 10.0
/* In one kernel (NVIDIA/TransformerEngine common/fused_router/fused_topk_with_score_function.cu):
 * scores read, weights, flags and the softmax written, 13 bytes, and flags summed for each expert
 * by another one; back, gradients, flags and softmax read, gradients written. */
#define FUSED_CHOICE_BYTES 14.0
#define FUSED_CHOICE_LAUNCHES 2.0
#define FUSED_GRADIENT_BYTES 13.0
#define FUSED_GRADIENT_LAUNCHES 1.0
#define COPY_LAUNCHES 1.0
/* Gate of shared experts, as megatron/core/transformer/moe/shared_experts.py writes it in PyTorch,
 * rows read and written: the input for its product, the output read and written (3), by product,
 * sigmoid and multiplication. Back: the gradient read and written times the gate, then read with
 * the output, their product written and summed, the input's gradient made and added (3), the input
 * read for the weight's: 2 + 3 + 1 + 1 + 3 + 1 rows. */
#define SHARED_GATE_ROWS 3.0
#define SHARED_GATE_LAUNCHES 3.0
#define SHARED_GATE_GRADIENT_ROWS 11.0
#define SHARED_GATE_GRADIENT_LAUNCHES 7.0
/* Operators that megatron/core/transformer/moe/experts.py (TEGroupedMLP) and core/fusions/
 * fused_bias_geglu.py write apart, 16-bit rows, in bytes of a copy that takes as long: measured on
 * an H100 (docs/measurements.md). Clamps, for each element of a gated input: both halves clamped
 * (read, written), joined again (read, written), 8 bytes that are moved; back, gradient and input
 * read and a gradient written, halves joined again, 10. Halves of a row are not read as fast. */
#define CLAMP_PASSES 6.3
#define CLAMP_GRADIENT_PASSES 12.5
#define CLAMP_LAUNCHES 3.0
/* Bias x routing weight in fp32, for each element of the output: the product, its sum with the row,
 * experts joined, a cast, 28 bytes; back: a cast, and of each expert the gradients of row, weight
 * and bias, rows joined again, 40. Two experts of a rank; 40 and 57 with sixteen. */
#define BIAS_BYTES 38.0
#define BIAS_GRADIENT_BYTES 49.0
/* For each expert; and of all. */
#define BIAS_EXPERT_LAUNCHES 2.0
#define BIAS_LAUNCHES 2.0
#define BIAS_GRADIENT_EXPERT_LAUNCHES 6.0
#define BIAS_GRADIENT_LAUNCHES 3.0
/* Rows in fp32 while it runs: summed, and joined; back, the gradient and its product. */
#define BIAS_COPIES 2.0

static double row_bytes(const struct rank_share *s)
{
    return s->experts.width * s->element.core_bytes;
}

static double token_bytes(const struct rank_share *s)
{
    return s->hidden * s->element.core_bytes;
}

/* Between this rank's tokens and the rows that leave it. */
static struct kernel copies(const struct rank_share *s, const char *name)
{
    return gpu_kernel_memory(name, (s->norm_tokens + s->experts.visited) * row_bytes(s),
                             COPY_LAUNCHES);
}

/* Rows that came from several sources, by source, are put in the order of several experts, and
 * copied for each of them where a rank gets a row once. */
static bool sorts(const struct rank_share *s)
{
    return s->experts.once ||
           (s->experts.count > 1.0 && (s->context->experts.ep > 1 || s->context->experts.etp > 1));
}

static struct kernel sort(const struct rank_share *s, const char *name)
{
    const double come = s->experts.once ? s->experts.crossed : s->experts.rows;
    return gpu_kernel_memory(name, (come + s->experts.rows) * row_bytes(s), COPY_LAUNCHES);
}

/* Rows are copied to where each expert's are filled up to what narrow products want, and results
 * back. A fixed number that is filled already is left where it is (NVIDIA/TransformerEngine
 * transformer_engine/pytorch/module/fp8_padding.py: "no padding needed"). */
static bool pads(const struct rank_share *s)
{
    return s->context->software->experts.padding_copies &&
           precision_narrow(s->context->precision) && !transformer_fused_experts(s) &&
           s->experts.filled > s->experts.rows;
}

static struct kernel pad(const struct rank_share *s, const char *name)
{
    return gpu_kernel_memory(name, (s->experts.rows + s->experts.filled) * row_bytes(s),
                             COPY_LAUNCHES);
}

/* Biases and clamps have operators of their own. */
static bool apart(const struct rank_share *s, bool has)
{
    return has && !s->context->software->experts.bias_fusion && !transformer_fused_experts(s);
}

static bool adds_bias(const struct rank_share *s)
{
    return apart(s, s->context->model->biases);
}

static bool clamps(const struct rank_share *s)
{
    return apart(s, s->context->model->moe.clamped);
}

static double clamp_bytes(const struct rank_share *s)
{
    return s->experts.filled * s->gates * s->experts.ffn * s->element.core_bytes;
}

static struct kernel clamp(const struct rank_share *s, bool backward)
{
    return gpu_kernel_memory(backward ? "clamp gradient" : "clamp",
                             clamp_bytes(s) * (backward ? CLAMP_GRADIENT_PASSES : CLAMP_PASSES),
                             CLAMP_LAUNCHES);
}

static struct kernel bias(const struct rank_share *s, bool backward)
{
    const double elements = s->experts.rows * s->experts.width, count = s->experts.count;
    return backward
               ? gpu_kernel_memory("expert bias gradient", elements * BIAS_GRADIENT_BYTES,
                                   BIAS_GRADIENT_EXPERT_LAUNCHES * count + BIAS_GRADIENT_LAUNCHES)
               : gpu_kernel_memory("expert bias", elements * BIAS_BYTES,
                                   BIAS_EXPERT_LAUNCHES * count + BIAS_LAUNCHES);
}

/* Of the rows that a tensor rank has after the reduction that ends the shared experts; told behind
 * their last product. */
static bool gates_shared(const struct rank_share *s)
{
    return s->experts.all > 0.0 && transformer_gates_shared(s->context->model);
}

static struct kernel shared_gate(const struct rank_share *s, bool backward)
{
    const double rows = backward ? SHARED_GATE_GRADIENT_ROWS : SHARED_GATE_ROWS;
    return gpu_kernel_memory(backward ? "shared expert gate gradient" : "shared expert gate",
                             s->norm_tokens * token_bytes(s) * rows,
                             backward ? SHARED_GATE_GRADIENT_LAUNCHES : SHARED_GATE_LAUNCHES);
}

static struct kernel choice(const struct rank_share *s, bool backward)
{
    const char *name = backward ? "choice gradient" : "choose experts";
    const double elements = s->norm_tokens * s->experts.all;
    if (!s->context->software->experts.router_fusion)
        return gpu_kernel_memory(name, elements * CHOICE_BYTES, CHOICE_LAUNCHES);
    return backward
               ? gpu_kernel_memory(name, elements * FUSED_GRADIENT_BYTES, FUSED_GRADIENT_LAUNCHES)
               : gpu_kernel_memory(name, elements * FUSED_CHOICE_BYTES, FUSED_CHOICE_LAUNCHES);
}

static struct kernel latent_norms(const struct rank_share *s, bool backward)
{
    const struct software_profile *p = s->context->software;
    const double norms = s->latent.q_rank > 0.0 ? 2.0 : 1.0;
    const double each = backward ? p->block.norm_backward_bytes : p->block.norm_forward_bytes;
    const double elements = s->norm_tokens * (s->latent.q_rank + s->latent.kv_rank);
    return gpu_kernel_memory(backward ? "latent norm gradient" : "latent norm",
                             elements * each * s->element.core_bytes / HALF_BYTES,
                             norms * p->block.norm_launches);
}

void transformer_experts_forward(const struct rank_share *s, enum piece piece, bool opens,
                                 struct segment *out)
{
    if (piece == PIECE_LATENT && !opens) {
        transformer_piece_forward(out, latent_norms(s, false));
        if (transformer_norms_rebuilt(s))
            out->forward.repeated[out->forward.count - 1] = true;
    }
    if (piece == PIECE_ROUTE && !opens)
        transformer_piece_forward(out, choice(s, false));
    if (piece == PIECE_PERMUTE && opens && !s->experts.once)
        transformer_piece_forward(out, copies(s, "permute"));
    if (piece == PIECE_DOWN && !opens && gates_shared(s))
        transformer_piece_forward(out, shared_gate(s, false));
    if (piece == PIECE_EXPERT_UP && opens && sorts(s))
        transformer_piece_forward(out, sort(s, "sort by expert"));
    if (piece == PIECE_EXPERT_UP && opens && pads(s))
        transformer_piece_forward(out, pad(s, "pad rows"));
    if (piece == PIECE_EXPERT_ACTIVATE && opens && clamps(s))
        transformer_piece_forward(out, clamp(s, false));
    if (piece == PIECE_EXPERT_DOWN && !opens && pads(s))
        transformer_piece_forward(out, pad(s, "unpad rows"));
    if (piece == PIECE_EXPERT_DOWN && !opens && adds_bias(s))
        transformer_piece_forward(out, bias(s, false));
    if (piece == PIECE_EXPERT_DOWN && !opens && sorts(s))
        transformer_piece_forward(out, sort(s, "sort by source"));
    if (piece == PIECE_COMBINE && opens && !s->experts.once)
        transformer_piece_forward(out, copies(s, "unpermute"));
}

void transformer_experts_backward(const struct rank_share *s, enum piece piece, bool opens,
                                  struct segment *out)
{
    if (piece == PIECE_LATENT && opens)
        transformer_piece_dgrad(out, latent_norms(s, true));
    if (piece == PIECE_PERMUTE && opens && !s->experts.once)
        transformer_piece_dgrad(out, copies(s, "permute gradient"));
    if (piece == PIECE_ROUTE && opens)
        transformer_piece_dgrad(out, choice(s, true));
    if (piece == PIECE_DOWN && opens && gates_shared(s))
        transformer_piece_dgrad(out, shared_gate(s, true));
    if (piece == PIECE_EXPERT_UP && !opens && pads(s))
        transformer_piece_dgrad(out, pad(s, "unpad rows"));
    if (piece == PIECE_EXPERT_UP && !opens && sorts(s))
        transformer_piece_dgrad(out, sort(s, "sort by source"));
    if (piece == PIECE_EXPERT_ACTIVATE && !opens && clamps(s))
        transformer_piece_dgrad(out, clamp(s, true));
    if (piece == PIECE_EXPERT_DOWN && opens && sorts(s))
        transformer_piece_dgrad(out, sort(s, "sort by expert"));
    if (piece == PIECE_EXPERT_DOWN && opens && adds_bias(s))
        transformer_piece_dgrad(out, bias(s, true));
    if (piece == PIECE_EXPERT_DOWN && opens && pads(s))
        transformer_piece_dgrad(out, pad(s, "pad rows"));
    if (piece == PIECE_COMBINE && opens && !s->experts.once)
        transformer_piece_dgrad(out, copies(s, "unpermute gradient"));
}

/* Of an input of a linear layer, which the gradient of its weights needs. */
static void keep_input(struct segment *out, const char *name, double bytes)
{
    transformer_piece_saved(out, name, bytes, false);
    out->saved.tensors[out->saved.count - 1].weights = true;
}

/* The router reads what the shared experts read, of which a copy is kept with them where they see
 * the same rows. */
static void keep_route(const struct rank_share *s, struct segment *out)
{
    if (s->experts.latent > 0.0 && s->element.kept_bytes != s->element.core_bytes)
        keep_input(out, "expert latent input", s->norm_tokens * s->hidden * s->element.kept_bytes);
    const double shared = s->shared_beside ? s->tokens : s->input_tokens;
    if (!(s->ffn > 0.0) || shared != s->norm_tokens) {
        keep_input(out, "router input", s->norm_tokens * token_bytes(s));
        out->saved.tensors[out->saved.count - 1].rebuilt = transformer_norms_rebuilt(s);
    }
    transformer_piece_saved(out, "expert weights",
                            s->norm_tokens * s->experts.all * (FP32_BYTES + FLAG_BYTES), false);
}

void transformer_experts_keep(const struct rank_share *s, enum piece piece, struct segment *out)
{
    const bool paged = s->context->software->experts.paged_stash;
    const double rows = paged ? s->experts.filled : s->experts.held;
    const double latents = s->latent.q_rank + s->latent.kv_rank;
    if (piece == PIECE_LATENT) {
        keep_input(out, "latent input", s->norm_tokens * s->hidden * s->element.kept_bytes);
        out->saved.tensors[out->saved.count - 1].rebuilt = transformer_norms_rebuilt(s);
        /* The shared part of the keys is rotated again where they are made again. */
        const double rotated =
            s->context->recompute == RECOMPUTE_MODULES ? s->tokens * s->latent.rope_size : 0.0;
        if (s->context->software->layer.save_norm_input)
            transformer_piece_saved(out, "latents",
                                    (s->norm_tokens * latents + rotated) * s->element.core_bytes,
                                    false);
    }
    if (piece == PIECE_DOWN && gates_shared(s))
        transformer_piece_saved(out, "shared expert output", s->norm_tokens * token_bytes(s),
                                false);
    if (piece == PIECE_ROUTE)
        keep_route(s, out);
    if (piece == PIECE_EXPERT_UP)
        keep_input(out, "expert input", rows * s->experts.width * s->element.kept_bytes);
    if (piece == PIECE_EXPERT_ACTIVATE) {
        const double factor =
            s->gates > 1.0 ? s->context->software->layer.activation_saved_factor : 1.0;
        transformer_piece_saved(
            out, "expert activation input",
            rows * s->gates * s->experts.ffn * s->element.activation_bytes * factor, false);
        if (clamps(s)) { /* their gradient asks for what came in, the activation's for this */
            transformer_piece_saved(out, "clamped input",
                                    rows * s->gates * s->experts.ffn * s->element.core_bytes,
                                    false);
            out->saved.tensors[out->saved.count - 1].rebuilt =
                s->context->recompute == RECOMPUTE_MODULES;
        }
    }
    if (piece == PIECE_EXPERT_DOWN)
        keep_input(out, "expert activation output", rows * s->experts.ffn * s->element.kept_bytes);
    if (piece == PIECE_EXPERT_DOWN)
        out->saved.tensors[out->saved.count - 1].rebuilt =
            s->context->recompute == RECOMPUTE_MODULES;
    if (piece == PIECE_COMBINE && s->experts.latent > 0.0)
        keep_input(out, "expert output latent",
                   s->norm_tokens * s->experts.latent * s->element.kept_bytes);
}

double transformer_experts_temporary(const struct rank_share *s, enum piece piece, bool backward)
{
    const double rows = s->experts.held;
    const double visited =
        (s->experts.once ? s->experts.crossed : s->experts.visited) * row_bytes(s);
    const double inner = rows * s->experts.ffn * s->element.core_bytes;
    switch (piece) {
    case PIECE_LATENT:
        return backward
                   ? s->norm_tokens *
                         (s->hidden + s->latent.q_rank + s->latent.kv_rank + s->latent.rope_size) *
                         s->element.core_bytes
                   : 0.0;
    case PIECE_ROUTE:
        return 0.0;
    case PIECE_PERMUTE:
    case PIECE_COMBINE:
        return visited;
    case PIECE_EXPERT_UP:
        return (sorts(s) || backward ? rows * row_bytes(s) : 0.0) +
               (backward ? s->gates * inner : 0.0);
    case PIECE_EXPERT_ACTIVATE:
        return backward ? (1.0 + s->gates) * inner : 0.0;
    case PIECE_EXPERT_DOWN:
        return rows * row_bytes(s) * (sorts(s) ? 2.0 : 1.0) +
               (adds_bias(s) ? rows * s->experts.width * FP32_BYTES * BIAS_COPIES : 0.0) +
               (backward ? inner : 0.0);
    case PIECE_CLOSE:
    case PIECE_NORM1:
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
    case PIECE_NORM2:
    case PIECE_UP:
    case PIECE_ACTIVATE:
    case PIECE_DOWN:
    case PIECE_FINAL_NORM:
    case PIECE_KIND_COUNT:
        break;
    }
    UNREACHABLE("the piece is one of experts or latents");
}
