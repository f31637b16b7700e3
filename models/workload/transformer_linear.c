/* transformer_linear.c - a linear layer: its three products, what they cast, and how the gradient
 * of its weights is kept.
 *
 * A cast reads a 16-bit tensor as often as its recipe says (fp8_recipe.h) and writes a copy for
 * each direction of use: along rows for the product with the weights, along columns for the
 * gradient of the weights. Cards that read both from one copy (transposed_copies false) write one,
 * but two with block scales, which differ by direction. docs/models/fp8.md. */
#include "models/workload/transformer_piece.h"

static bool narrow(const struct rank_share *share)
{
    return share->element.linear_bytes < share->element.core_bytes;
}

static const struct fp8_facts *facts_of(const struct rank_share *share)
{
    return fp8_recipe_facts(share->context->fp8_recipe);
}

static double cast_copies(const struct rank_share *share)
{
    return facts_of(share)->by_direction || share->context->transposed_copies ? 2.0 : 1.0;
}

static double copy_bytes(const struct rank_share *share)
{
    return fp8_recipe_bytes(share->context->fp8_recipe);
}

/* Of a cast of what `groups` experts have; `more` copies along columns. */
static double cast_launches(const struct fp8_facts *facts, double groups, double more)
{
    return (facts->launches + more * facts->column_launches) *
               (facts->fused_experts ? 1.0 : groups) +
           facts->order_launches;
}

/* Reads `elements` of 16 bit, of so many experts, and writes `copies` of eight or four. */
static struct kernel cast(const struct rank_share *share, const char *name, const struct linear *l,
                          double elements, double copies)
{
    const struct fp8_facts *facts = facts_of(share);
    const double more = copies - 1.0;
    double bytes = (facts->reads + more * facts->column_reads) * share->element.core_bytes +
                   copies * copy_bytes(share);
    return gpu_kernel_memory(name, elements * bytes, cast_launches(facts, l->groups, more));
}

/* Both copies of a weight, of which none is rotated. */
static struct kernel cast_weights(const struct rank_share *share, const struct linear *l)
{
    const struct fp8_facts *facts = facts_of(share);
    const double elements = l->inputs * l->outputs * l->groups;
    const double bytes =
        facts->reads * share->element.core_bytes + cast_copies(share) * copy_bytes(share);
    return gpu_kernel_memory("fp8 cast weights", elements * bytes,
                             facts->launches * l->groups + facts->order_launches);
}

/* Weights of 16 bits that come anew are cast anew. */
static bool casts_gathered(const struct rank_share *share)
{
    const struct layer_context *c = share->context;
    return c->gathers_weights && c->precision->copy_bytes > 0.0;
}

/* Does the other direction of a gathered tensor come from the copy that was sent? Scales by block
 * do not allow it: both copies are sent. */
static bool transposes(const struct rank_share *share)
{
    return share->context->transposed_copies && !facts_of(share)->by_direction;
}

static struct kernel transpose(const struct rank_share *share, const char *name, double elements)
{
    return gpu_kernel_memory(name, elements * 2.0 * copy_bytes(share), 1.0);
}

static bool gathered(const struct rank_share *share)
{
    return share->gathers && share->context->software->fp8.gathers;
}

/* What a norm writes for a linear layer; largest values of the tensor itself come too late. */
static bool norm_casts(const struct rank_share *share)
{
    return share->context->software->fp8.norm_fused && facts_of(share)->norm_writes;
}

static void cast_input(const struct rank_share *share, const struct linear *l, struct segment *out)
{
    bool sent = l->column && gathered(share);
    double rows = sent ? share->norm_tokens : l->rows;
    const bool once =
        share->context->software->fp8.casts_again || l->cached > 0.0 || (sent && transposes(share));
    double copies = once ? 1.0 : cast_copies(share);
    if (!l->shares && !l->input_narrow && !(l->column && norm_casts(share)))
        transformer_piece_forward(out, cast(share, "fp8 cast", l, rows * l->inputs, copies));
    if (share->context->software->fp8.weights_each || casts_gathered(share))
        transformer_piece_forward(out, cast_weights(share, l));
}

static struct kernel product(const struct rank_share *share, const struct linear *l,
                             const char *name, struct gemm_shape shape, bool backward)
{
    const struct layer_context *c = share->context;
    bool eight = narrow(share) && !l->wide;
    struct kernel kernel =
        gpu_kernel_gemm(name, eight ? c->precision->gemm_peak : c->precision->attention_peak, shape,
                        eight ? share->element.linear_bytes : share->element.core_bytes);
    kernel.launches = l->batched ? 1.0 : l->groups;
    kernel.split_sums =
        eight && (facts_of(share)->exact_sums || (backward && c->software->fp8.split_backward));
    kernel.block_scales = eight && facts_of(share)->block_scales;
    return kernel;
}

/* Elements that a piece keeps so, and the bytes of each; 0: it does not. */
static double cached_elements(const struct rank_share *share, enum piece piece, double *bytes)
{
    *bytes = piece == PIECE_CORE ? share->element.attention_bytes : share->element.activation_bytes;
    if (piece == PIECE_CORE)
        return share->element.attention_bytes > 0.0 ? share->tokens * share->attention.output : 0.0;
    if (!(share->element.activation_bytes < share->element.core_bytes))
        return 0.0;
    const double factor =
        share->gates > 1.0 ? share->context->software->layer.activation_saved_factor : 1.0;
    if (piece == PIECE_ACTIVATE)
        return share->tokens * share->gates * share->ffn * factor;
    return piece == PIECE_EXPERT_ACTIVATE
               ? share->experts.filled * share->gates * share->experts.ffn * factor
               : 0.0;
}

void transformer_cache_forward(const struct rank_share *share, enum piece piece,
                               struct segment *out)
{
    double bytes = 0.0;
    const double elements = cached_elements(share, piece, &bytes);
    if (elements > 0.0)
        transformer_piece_forward(
            out,
            gpu_kernel_memory("fp8 cache", elements * (share->element.core_bytes + bytes), 1.0));
}

void transformer_cache_backward(const struct rank_share *share, enum piece piece,
                                struct segment *out)
{
    double bytes = 0.0;
    const double elements = cached_elements(share, piece, &bytes);
    if (elements > 0.0)
        transformer_piece_dgrad(
            out, gpu_kernel_memory("fp8 cache read", elements * (share->element.core_bytes + bytes),
                                   1.0));
}

/* Of one of the products that are alike. */
static double tiled_rows(const struct linear *l)
{
    return (l->tiled > 0.0 ? l->tiled : l->rows) / l->groups;
}

void transformer_linear_forward(const struct rank_share *share, const struct linear *l,
                                struct segment *out)
{
    if (narrow(share) && !l->wide)
        cast_input(share, l, out);
    const struct gemm_shape shape = {tiled_rows(l), l->outputs, l->inputs, l->groups};
    transformer_piece_forward(out, product(share, l, l->forward_name, shape, false));
}

double transformer_gradient_add_bytes(const struct rank_share *share, double parameters)
{
    const struct layer_context *c = share->context;
    return parameters *
           (c->precision->gradient_bytes + 2.0 * c->software->data.gradient_kept_bytes);
}

/* The gradient of the output; and, where weights come anew, their copy along columns. */
static void cast_gradient(const struct rank_share *share, const struct linear *l,
                          struct segment *out)
{
    bool sent = !l->column && gathered(share);
    double rows = sent ? share->norm_tokens : l->rows;
    double copies = sent && transposes(share) ? 1.0 : cast_copies(share);
    if (!l->gradient_narrow)
        transformer_piece_dgrad(out,
                                cast(share, "fp8 cast gradient", l, rows * l->outputs, copies));
    if (casts_gathered(share))
        transformer_piece_dgrad(out, cast_weights(share, l));
    if (share->context->gathers_weights && transposes(share) &&
        !share->context->software->fp8.weights_each)
        transformer_piece_dgrad(
            out, transpose(share, "fp8 transpose weights", l->inputs * l->outputs * l->groups));
}

/* What was gathered along rows is wanted along columns. */
static void transpose_gathered(const struct rank_share *share, const struct linear *l,
                               struct segment *out)
{
    if (gathered(share) && transposes(share))
        transformer_piece_wgrad(
            out, transpose(share, "fp8 transpose", l->rows * (l->column ? l->inputs : l->outputs)));
}

/* The product for the weights writes a gradient of its own, which is then added to the kept one;
 * or, fused, it reads and writes the kept one itself. */
void transformer_linear_backward(const struct rank_share *share, const struct linear *l,
                                 struct segment *out)
{
    const struct layer_context *c = share->context;
    const double rows = l->rows / l->groups, parameters = l->inputs * l->outputs * l->groups;
    bool eight = narrow(share) && !l->wide;
    out->memory.gradient_bytes +=
        l->rows * l->outputs * (eight ? share->element.linear_bytes : share->element.core_bytes);
    if (eight)
        cast_gradient(share, l, out);
    const struct gemm_shape inputs = {tiled_rows(l), l->inputs, l->outputs, l->groups};
    if (!l->detached)
        transformer_piece_dgrad(out, product(share, l, l->dgrad_name, inputs, true));
    if (c->adapter.kind != ADAPTER_NONE) /* frozen */
        return;
    if (eight)
        transpose_gathered(share, l, out);
    if (eight && l->cached > 0.0)
        transformer_piece_wgrad(
            out, gpu_kernel_memory("fp8 cast again",
                                   l->rows * l->inputs * (l->cached + copy_bytes(share)), 1.0));
    else if (eight && c->software->fp8.casts_again && !l->shares)
        transformer_piece_wgrad(out, cast(share, "fp8 cast again", l, l->rows * l->inputs, 1.0));
    const struct gemm_shape sums = {l->inputs, l->outputs, rows, l->groups};
    struct kernel weights = product(share, l, l->wgrad_name, sums, true);
    if (c->accumulate && c->software->layer.gradient_fusion)
        gpu_kernel_gemm_accumulate(&weights, c->software->data.gradient_kept_bytes);
    transformer_piece_wgrad(out, weights);
    if (c->accumulate && !c->software->layer.gradient_fusion)
        transformer_piece_wgrad(
            out, gpu_kernel_memory("gradient accumulation",
                                   transformer_gradient_add_bytes(share, parameters), 1.0));
}
