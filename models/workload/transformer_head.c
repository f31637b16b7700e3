/* transformer_head.c - the embedding (first stage) and the last norm, head and loss (last stage).
 *
 * The vocabulary is split over the tensor ranks (Shoeybi et al., arXiv:1909.08053 section 3): each
 * looks up its rows and the sum is all-reduced (scattered with sequence parallelism); each computes
 * its logits, and the loss needs three sums of one fp32 number for each token, not the logits. The
 * gradient of the embedding is dense: every microbatch clears a whole table, adds its rows, and
 * adds the table to the kept gradient (torch.nn.Embedding with sparse=False). */
#include <math.h>
#include <string.h>

#include "models/workload/transformer_piece.h"

#define FP32_BYTES 4.0
#define LOSS_REDUCTIONS 3.0 /* largest logit, logit of the target, sum of exponentials */
#define MASK_BYTES 1.0

static struct segment_transfer hidden_transfer(const struct rank_share *s, enum comm_op op)
{
    return (struct segment_transfer){
        .comm = SEGMENT_TP, .op = op, .bytes = s->tokens * s->hidden * s->element.core_bytes};
}

static double vocabulary_rows(const struct layer_context *context)
{
    return (double)(transformer_padded_vocabulary(context) / context->tp);
}

static void embedding_gradient(const struct rank_share *s, struct segment *out)
{
    const struct layer_context *c = s->context;
    double table = vocabulary_rows(c) * s->hidden;
    double rows = s->tokens * s->hidden;
    /* Cleared; each row read from the gradient, and read and written in the table. */
    double bytes = table * c->precision->gradient_bytes +
                   rows * (s->element.core_bytes + 2.0 * c->precision->gradient_bytes);
    transformer_piece_wgrad(out, gpu_kernel_memory("embedding gradient", bytes, 2.0));
    if (c->accumulate)
        transformer_piece_wgrad(out,
                                gpu_kernel_memory("gradient accumulation",
                                                  transformer_gradient_add_bytes(s, table), 1.0));
}

void transformer_embedding(const struct layer_context *context, struct segment *out)
{
    struct rank_share s;
    transformer_share_of(context, &s);
    transformer_clear_segment(out);
    out->name = "embedding";
    double looked_up = s.tokens * s.hidden, kept = s.norm_tokens * s.hidden;
    transformer_piece_forward(
        out, gpu_kernel_memory("embedding", 2.0 * looked_up * s.element.core_bytes, 1.0));
    if (context->model->position == POSITION_LEARNED) /* reads both, writes the sum */
        transformer_piece_forward(
            out, gpu_kernel_memory("position embedding", 3.0 * kept * s.element.core_bytes, 1.0));
    if (s.dropout) {
        double bytes = kept * (2.0 * s.element.core_bytes + MASK_BYTES);
        transformer_piece_forward(out, gpu_kernel_memory("embedding dropout", bytes, 1.0));
        transformer_piece_dgrad(out, gpu_kernel_memory("embedding dropout gradient", bytes, 1.0));
        transformer_piece_saved(out, "embedding dropout mask", kept * MASK_BYTES, false);
    }
    const bool frozen = context->adapter.kind != ADAPTER_NONE;
    if (!frozen)
        embedding_gradient(&s, out);
    out->memory.output_bytes = kept * s.element.core_bytes;
    if (!frozen)
        out->memory.backward_temporary_bytes =
            vocabulary_rows(context) * s.hidden * context->precision->gradient_bytes;
    if (context->tp > 1) {
        out->transfers.after =
            hidden_transfer(&s, s.gathers ? COMM_REDUCE_SCATTER : COMM_ALL_REDUCE);
        if (s.gathers && !frozen)
            out->transfers.backward_before = hidden_transfer(&s, COMM_ALL_GATHER);
    }
}

/* Gradients of the logits are of the backward pass; what else the loss holds is kept from the
 * forward. Half of the loss's traffic belongs to either pass. */
static void write_loss(const struct rank_share *s, double logits, struct segment *out)
{
    const struct software_profile *p = s->context->software;
    double gradient = fmin(p->head.gradient_bytes, p->head.memory_bytes);
    double half = logits * p->head.traffic_bytes / 2.0;
    const double parts = fmax((double)p->head.chunks, 1.0);
    transformer_piece_forward(out, gpu_kernel_memory("loss", half, parts));
    transformer_piece_dgrad(out, gpu_kernel_memory("loss gradient", half, parts));
    if (parts > 1.0) { /* one part at a time; what stays is the gradient of the head's input */
        out->memory.forward_temporary_bytes =
            fmax(out->memory.forward_temporary_bytes, logits / parts * p->head.memory_bytes);
        transformer_piece_saved(out, "head input gradient",
                                s->tokens * s->hidden * s->element.core_bytes, false);
        return;
    }
    transformer_piece_saved(out, "logits and softmax", logits * (p->head.memory_bytes - gradient),
                            false);
    out->memory.backward_temporary_bytes =
        fmax(out->memory.backward_temporary_bytes, logits * gradient);
}

static void write_logits(const struct rank_share *s, struct segment *out)
{
    const struct layer_context *c = s->context;
    double rows = vocabulary_rows(c);
    struct linear linear = {"logits", "logits dgrad", "logits wgrad", s->tokens, s->hidden, rows,
                            false,    true,           true,           1.0,       0.0,       0.0,
                            false,    false,          false,          false};
    transformer_linear_forward(s, &linear, out);
    if (c->adapter.kind == ADAPTER_NONE) {
        transformer_piece_saved(out, "head input",
                                s->input_tokens * s->hidden * s->element.core_bytes, false);
        out->saved.tensors[out->saved.count - 1].weights = true;
    }
    write_loss(s, s->tokens * rows, out);
    transformer_linear_backward(s, &linear, out);
    out->memory.output_bytes = s->tokens * FP32_BYTES;
    if (c->tp == 1)
        return;
    out->transfers.after =
        (struct segment_transfer){.comm = SEGMENT_TP,
                                  .op = COMM_ALL_REDUCE,
                                  .bytes = LOSS_REDUCTIONS * FP32_BYTES * s->tokens};
    out->transfers.backward_after =
        hidden_transfer(s, s->gathers ? COMM_REDUCE_SCATTER : COMM_ALL_REDUCE);
    out->wgrad_beside_count = out->wgrad.count;
    if (!s->gathers)
        return;
    out->transfers.before = hidden_transfer(s, COMM_ALL_GATHER);
    out->memory.forward_temporary_bytes =
        fmax(out->memory.forward_temporary_bytes, s->tokens * s->hidden * s->element.core_bytes);
    if (c->software->tensor.backward_regather && c->adapter.kind == ADAPTER_NONE)
        out->transfers.backward_gather = hidden_transfer(s, COMM_ALL_GATHER);
}

void transformer_head(const struct layer_context *context, struct layer *out)
{
    struct rank_share s;
    transformer_share_of(context, &s);
    transformer_clear(out);
    struct segment *segment = &out->segments[out->segment_count++];
    segment->name = "head";
    out->input_bytes = s.norm_tokens * s.hidden * s.element.core_bytes;
    out->parameters = transformer_head_shard(context);
    if (s.gathers) {
        segment->name = "norm";
        segment->memory.output_bytes = out->input_bytes;
        transformer_piece_write(&s, PIECE_FINAL_NORM, PIECE_FINAL_NORM, segment);
        segment = &out->segments[out->segment_count++];
        segment->name = "head";
        write_logits(&s, segment);
        return;
    }
    /* Backward runs from the loss to the norm, so the norm's gradient is written last. */
    struct segment norm;
    transformer_clear_segment(&norm);
    norm.name = "norm";
    transformer_piece_write(&s, PIECE_FINAL_NORM, PIECE_FINAL_NORM, &norm);
    transformer_piece_forward(segment, norm.forward.kernels[0]);
    for (unsigned i = 0; i < norm.saved.count; i++)
        transformer_piece_saved(segment, norm.saved.tensors[i].name, norm.saved.tensors[i].bytes,
                                false);
    write_logits(&s, segment);
    transformer_piece_dgrad(segment, norm.dgrad.kernels[0]);
}
