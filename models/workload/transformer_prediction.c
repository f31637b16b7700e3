/* transformer_prediction.c - modules that predict tokens further ahead (DeepSeek-V3,
 * arXiv:2412.19437 section 2.2; NVIDIA/Megatron-LM
 * megatron/core/transformer/multi_token_prediction.py).
 *
 * A module norms what the model, or the module before, made of a token and the embedding of a token
 * further on, joins the two, projects 2 h to h, runs a layer like the model's last, and norms its
 * output for the head. Embedding and head are the model's own: a module has a layer, a matrix
 * of 2 h by h and three norms. The matrix is split by outputs over tensor ranks, which gather them;
 * with sequence parallelism its input is gathered first and its output cut after. */
#include <string.h>

#include "models/workload/transformer_piece.h"

#define JOINED 2.0 /* widths of the model in what is projected */
#define NORMS 2.0  /* of what is joined */

/* Norms, and a copy of both beside each other. Backward, where what the model made of a token goes
 * two ways, two gradients are added. */
static void write_norms(const struct rank_share *s, struct segment *out)
{
    const double rows = s->norm_tokens * s->hidden, bytes = JOINED * rows * s->element.core_bytes;
    struct segment norm = {.name = "norm"};
    transformer_piece_write(s, PIECE_FINAL_NORM, PIECE_FINAL_NORM, &norm);
    for (unsigned i = 0; i < (unsigned)NORMS; i++)
        transformer_piece_forward(out, norm.forward.kernels[0]);
    transformer_piece_forward(out, gpu_kernel_memory("join", 2.0 * bytes, 1.0));
    transformer_piece_saved(out, "prediction norm inputs", bytes, false);
}

static void write_norms_backward(const struct rank_share *s, struct segment *out)
{
    const double add_bytes = s->context->software->tensor.input_gradient_bytes *
                             s->element.core_bytes / HALF_BYTES * s->norm_tokens * s->hidden;
    struct segment norm = {.name = "norm"};
    transformer_piece_write(s, PIECE_FINAL_NORM, PIECE_FINAL_NORM, &norm);
    for (unsigned i = 0; i < (unsigned)NORMS; i++)
        transformer_piece_dgrad(out, norm.dgrad.kernels[0]);
    transformer_piece_dgrad(out, gpu_kernel_memory("add input gradients", add_bytes, 1.0));
}

static struct linear projection(const struct rank_share *s)
{
    return (struct linear){.forward_name = "prediction projection",
                           .dgrad_name = "prediction projection dgrad",
                           .wgrad_name = "prediction projection wgrad",
                           .rows = s->tokens,
                           .inputs = JOINED * s->hidden,
                           .outputs = s->hidden / (double)s->context->tp,
                           .groups = 1.0};
}

static void write_projection(const struct rank_share *s, struct segment *out)
{
    const struct linear linear = projection(s);
    const double row = s->tokens * s->hidden * s->element.core_bytes;
    transformer_linear_forward(s, &linear, out);
    transformer_piece_saved(out, "prediction input",
                            s->input_tokens * JOINED * s->hidden * s->element.kept_bytes, false);
    out->saved.tensors[out->saved.count - 1].weights = true;
    transformer_linear_backward(s, &linear, out);
    out->memory.forward_temporary_bytes =
        (s->gathers ? JOINED * row : 0.0) + (s->context->tp > 1 ? row : 0.0);
    out->memory.backward_temporary_bytes = JOINED * row * (s->gathers ? 2.0 : 1.0);
}

static void split_projection(const struct rank_share *s, struct segment *out)
{
    const double row = s->tokens * s->hidden * s->element.core_bytes;
    const struct segment_transfer joined = {SEGMENT_TP, COMM_ALL_GATHER, JOINED * row};
    const struct segment_transfer each = {SEGMENT_TP, COMM_ALL_GATHER, row};
    out->transfers.after = each;
    out->transfers.backward_after = joined;
    out->transfers.backward_after.op = s->gathers ? COMM_REDUCE_SCATTER : COMM_ALL_REDUCE;
    out->wgrad_beside_count = out->wgrad.count;
    if (!s->gathers)
        return;
    out->transfers.before = joined;
    out->transfers.backward_before = each;
    if (s->context->software->tensor.backward_regather)
        out->transfers.backward_gather = joined;
}

void transformer_prediction(const struct layer_context *context, struct layer *out)
{
    struct rank_share s;
    transformer_share_of(context, &s);
    transformer_clear(out);
    const struct linear linear = projection(&s);
    const double output = s.norm_tokens * s.hidden * s.element.core_bytes;
    const double elements = linear.inputs * linear.outputs;
    struct segment *norms = &out->segments[out->segment_count++], *last = norms;
    norms->name = "prediction";
    write_norms(&s, norms);
    if (context->tp > 1) {
        norms->memory.output_bytes = JOINED * output;
        last = &out->segments[out->segment_count++];
        last->name = "prediction projection";
    }
    write_projection(&s, last);
    write_norms_backward(&s, norms);
    if (context->tp > 1)
        split_projection(&s, last);
    last->memory.output_bytes = output;
    out->input_bytes = JOINED * output;
    out->parameters = elements + NORMS * transformer_norm_parameters(context->model);
    out->narrow_parameters = precision_narrow(context->precision) ? elements : 0.0;
    out->module_count = out->matrix_count = 1;
    out->modules[0] = elements;
    out->matrices[0] = (struct weight_matrix){linear.inputs, linear.outputs, 1.0, false};
}

/* Gradients of the shared matrix are added to those that the model's own head makes. */
void transformer_prediction_head(const struct layer_context *context, struct layer *out)
{
    struct layer_context shared = *context;
    shared.accumulate = true;
    transformer_head(&shared, out);
    out->parameters = transformer_norm_parameters(context->model);
}
