/* transformer_layer.c - which pieces share a segment, and what is sent between segments.
 *
 * Tensor parallelism: Shoeybi et al., arXiv:1909.08053 section 3: an all-reduce of b s h after the
 * projection and after the feed-forward block, and of the gradient of either's input. With sequence
 * parallelism (Korthikanti et al., arXiv:2205.05198 section 4.2.2) each all-reduce becomes an
 * all-gather before and a reduce-scatter after; the backward pass mirrors them and gathers the kept
 * shard of each input again for the gradients of the weights. Context parallelism gathers the keys
 * and values of all ranks before the core (Llama 3, arXiv:2407.21783 section 3.3.2), again in the
 * backward pass, and scatters the sums of their gradients; or passes them round a ring. */
#include <string.h>

#include "models/workload/transformer_piece.h"
#include "sim/check.h"

struct layer_writer {
    struct rank_share share;
    struct layer *layer;
    bool tensor, sequence, context, ring;
};

static struct segment *segment_add(struct layer_writer *w, const char *name, enum piece first,
                                   enum piece last, double output_bytes)
{
    CHECK(w->layer->segment_count < LAYER_SEGMENT_MAX);
    struct segment *segment = &w->layer->segments[w->layer->segment_count++];
    segment->name = name;
    segment->output_bytes = output_bytes;
    transformer_piece_write(&w->share, first, last, segment);
    return segment;
}

static struct segment_transfer tensor_transfer(const struct layer_writer *w, enum comm_op op)
{
    double bytes = w->share.tokens * w->share.hidden * w->share.core_bytes;
    return (struct segment_transfer){.comm = SEGMENT_TP, .op = op, .bytes = bytes};
}

/* What an 8-bit product reads is sent so; with scales by block once for each use. */
static struct segment_transfer tensor_gather(const struct layer_writer *w, bool both_ways)
{
    const struct rank_share *s = &w->share;
    struct segment_transfer out = tensor_transfer(w, COMM_ALL_GATHER);
    if (s->linear_bytes < s->core_bytes && s->context->software->fp8_gathers)
        out.bytes *= s->linear_bytes / s->core_bytes *
                     (both_ways && s->context->fp8_recipe == FP8_MX ? 2.0 : 1.0);
    return out;
}

/* Keys and values of the whole sequence: the full buffer of the context ranks. */
static double keys_bytes(const struct layer_writer *w)
{
    double rows = w->share.tokens * (double)w->share.context->cp;
    return rows * 2.0 * w->share.sent_key * w->share.core_bytes;
}

static struct segment_transfer context_transfer(enum comm_op op, double bytes)
{
    return (struct segment_transfer){.comm = SEGMENT_CP, .op = op, .bytes = bytes};
}

/* The segment starts with a column-parallel linear layer, whose weight gradient comes last. */
static void opens_tensor(const struct layer_writer *w, struct segment *segment, unsigned beside)
{
    if (!w->tensor)
        return;
    segment->wgrad_beside_count = beside;
    if (!w->sequence) {
        segment->backward_after = tensor_transfer(w, COMM_ALL_REDUCE);
        return;
    }
    segment->before = tensor_gather(w, false);
    segment->backward_after = tensor_transfer(w, COMM_REDUCE_SCATTER);
    segment->pipelined = w->share.context->software->tp_pipelines;
    if (w->share.context->software->backward_regather)
        segment->backward_gather = tensor_gather(w, false);
}

/* The segment ends with a row-parallel linear layer. */
static void closes_tensor(const struct layer_writer *w, struct segment *segment)
{
    if (!w->tensor)
        return;
    segment->after = tensor_transfer(w, w->sequence ? COMM_REDUCE_SCATTER : COMM_ALL_REDUCE);
    if (!w->sequence)
        return;
    segment->backward_before = tensor_gather(w, true);
    segment->pipelined = w->share.context->software->tp_pipelines;
}

/* Gradients of keys and values over their own size. */
static double gradient_ratio(const struct layer_writer *w)
{
    return w->share.context->software->cp_gradient_bytes / HALF_BYTES;
}

static void gathers_keys(const struct layer_writer *w, struct segment *segment)
{
    segment->before = context_transfer(COMM_ALL_GATHER, keys_bytes(w));
    segment->backward_before = segment->before;
    segment->backward_after =
        context_transfer(COMM_REDUCE_SCATTER, keys_bytes(w) * gradient_ratio(w));
}

/* Keys and values make n - 1 moves forward; backward again, and their gradients n, back home. */
static void rings_keys(struct layer_writer *w)
{
    const struct rank_share *s = &w->share;
    double ranks = (double)s->context->cp;
    struct segment *segment =
        segment_add(w, "ring", PIECE_RING, PIECE_RING, s->tokens * s->query * s->core_bytes);
    segment->beside = context_transfer(COMM_RING_EXCHANGE, keys_bytes(w));
    segment->backward_beside = context_transfer(
        COMM_RING_EXCHANGE, keys_bytes(w) * (1.0 + gradient_ratio(w) * ranks / (ranks - 1.0)));
}

/* Kernels of the weight gradients of the linear layers that open a segment. */
static unsigned wgrad_kernels(const struct layer_writer *w, enum piece piece)
{
    const struct layer_context *c = w->share.context;
    struct linear ignored[PIECE_LINEAR_MAX];
    const unsigned each = c->accumulate && !c->software->gradient_fusion ? 2 : 1;
    return each * transformer_piece_linears(&w->share, piece, ignored);
}

/* From the layer's input to the queries, keys and values. */
static void write_entry(struct layer_writer *w, enum piece last, double output_bytes)
{
    const struct rank_share *s = &w->share;
    double norm_bytes = s->norm_tokens * s->hidden * s->core_bytes;
    enum piece first = PIECE_CLOSE;
    if (w->sequence) {
        segment_add(w, "norm", PIECE_CLOSE, PIECE_NORM1, norm_bytes);
        first = PIECE_QKV;
    }
    const char *name = last == PIECE_DOWN ? "layer" : last == PIECE_ROPE ? "qkv" : "attention";
    struct segment *segment = segment_add(w, name, first, last, output_bytes);
    opens_tensor(w, segment, wgrad_kernels(w, PIECE_QKV));
    if (last == PIECE_PROJECT)
        closes_tensor(w, segment);
}

/* The core and what follows it up to `last`, when the keys come from other ranks. */
static void write_context(struct layer_writer *w, enum piece last, double output_bytes)
{
    const struct rank_share *s = &w->share;
    if (w->ring)
        rings_keys(w);
    bool apart = w->sequence && !w->ring; /* both ends of core + projection would be taken */
    if (apart) {
        gathers_keys(w, segment_add(w, "attention", PIECE_CORE, PIECE_CORE,
                                    s->tokens * s->query * s->core_bytes));
        closes_tensor(w, segment_add(w, "projection", PIECE_PROJECT, last, output_bytes));
        return;
    }
    struct segment *segment = segment_add(w, "attention", PIECE_CORE, last, output_bytes);
    closes_tensor(w, segment);
    if (!w->ring)
        gathers_keys(w, segment);
}

static void write_mlp(struct layer_writer *w, double output_bytes)
{
    const struct rank_share *s = &w->share;
    enum piece first = PIECE_RESIDUAL;
    if (w->sequence) {
        segment_add(w, "norm", PIECE_RESIDUAL, PIECE_NORM2,
                    s->norm_tokens * s->hidden * s->core_bytes);
        first = PIECE_UP;
    }
    struct segment *segment = segment_add(w, "mlp", first, PIECE_DOWN, output_bytes);
    opens_tensor(w, segment, wgrad_kernels(w, PIECE_UP));
    closes_tensor(w, segment);
}

/* Matrices, and biases of the column-parallel layers, are split; norms and biases that are added
 * after a reduction are whole on every rank. Norms of whole queries and keys are split with them;
 * the sum of squares that ranks exchange for them, a number a token, is left out. */
static double shard_parameters(const struct rank_share *s)
{
    const struct model_shape *m = s->context->model;
    double attention = 2.0 * s->hidden * (s->query + s->key);
    double ffn = (s->gates + 1.0) * s->hidden * s->ffn;
    double qk_norms = m->qk_norms_whole ? s->query + s->key
                      : m->qk_norms     ? 2.0 * s->head_size
                                        : 0.0;
    double norms = (double)transformer_norms(m) * transformer_norm_parameters(m) + qk_norms +
                   (m->sinks ? s->heads : 0.0);
    bool all = m->biases || m->attention_biases == ATTENTION_BIASES_ALL;
    bool some = all || m->attention_biases == ATTENTION_BIASES_QKV;
    double biases = (some ? s->query + 2.0 * s->key : 0.0) + (all ? s->hidden : 0.0) +
                    (m->biases ? s->gates * s->ffn + s->hidden : 0.0);
    return attention + ffn + norms + biases;
}

static void add_modules(struct layer *out, unsigned count, double inputs, double outputs)
{
    for (unsigned i = 0; i < count; i++)
        out->modules[out->module_count++] = inputs * outputs;
}

static void list_modules(const struct rank_share *s, struct layer *out)
{
    const bool apart = s->context->software->separate_projections;
    add_modules(out, 1, s->hidden, apart ? s->query : s->query + 2.0 * s->key);
    add_modules(out, apart ? 2 : 0, s->hidden, s->key);
    add_modules(out, 1, s->query, s->hidden);
    add_modules(out, apart ? (unsigned)s->gates : 1, s->hidden, (apart ? 1.0 : s->gates) * s->ffn);
    add_modules(out, 1, s->ffn, s->hidden);
}

void transformer_layer(const struct layer_context *context, struct layer *out)
{
    memset(out, 0, sizeof *out);
    struct layer_writer w = {.layer = out,
                             .tensor = context->tp > 1,
                             .context = context->cp > 1,
                             .ring = context->cp > 1 && context->cp_ring};
    transformer_share_of(context, &w.share);
    w.sequence = w.share.gathers;
    const struct rank_share *s = &w.share;
    double output = s->norm_tokens * s->hidden * s->core_bytes;
    double qkv = s->tokens * (s->query + 2.0 * s->key) * s->core_bytes;
    enum piece last = w.tensor ? PIECE_PROJECT : PIECE_DOWN;
    if (w.context) {
        write_entry(&w, PIECE_ROPE, qkv);
        write_context(&w, last, output);
    } else {
        write_entry(&w, last, output);
    }
    if (w.tensor)
        write_mlp(&w, output);
    out->input_bytes = output;
    out->parameters = shard_parameters(s);
    list_modules(s, out);
}
