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

/* An 8-bit row has an fp32 scale for every 128 elements (arXiv:2412.19437 section 3.3). */
#define SCALED_ELEMENTS 128.0
#define SCALE_BYTES 4.0
#define TARGET_BYTES 4.0 /* of a probability that the indexer learns */

struct layer_writer {
    struct rank_share share;
    struct layer *layer;
    bool tensor, sequence, context, ring, experts;
};

static struct segment *segment_add(struct layer_writer *w, const char *name, enum piece first,
                                   enum piece last, double output_bytes)
{
    CHECK(w->layer->segment_count < LAYER_SEGMENT_MAX);
    struct segment *segment = &w->layer->segments[w->layer->segment_count++];
    segment->name = name;
    segment->memory.output_bytes = output_bytes;
    transformer_piece_write(&w->share, first, last, segment);
    return segment;
}

static struct segment_transfer tensor_transfer(const struct layer_writer *w, enum comm_op op)
{
    double bytes = w->share.tokens * w->share.hidden * w->share.element.core_bytes;
    return (struct segment_transfer){.comm = SEGMENT_TP, .op = op, .bytes = bytes};
}

/* What goes into the products of queries, keys and values is as wide as the latents are. */
static double entry_width_ratio(const struct layer_writer *w)
{
    const struct rank_share *s = &w->share;
    const double query = s->latent.q_rank > 0.0 ? s->latent.q_rank : s->hidden;
    return s->latent.kv_rank > 0.0 ? (query + s->latent.kv_rank + s->latent.rope_size) / s->hidden
                                   : 1.0;
}

/* What an 8-bit product reads, or one of four, is sent so with its scales; by block once for each
 * use. */
static struct segment_transfer tensor_gather(const struct layer_writer *w, bool both_ways)
{
    const struct rank_share *s = &w->share;
    struct segment_transfer out = tensor_transfer(w, COMM_ALL_GATHER);
    const enum fp8_recipe recipe = s->context->fp8_recipe;
    if (s->element.linear_bytes < s->element.core_bytes && s->context->software->fp8.gathers)
        out.bytes *= fp8_recipe_bytes(recipe) / s->element.core_bytes *
                     (both_ways && fp8_recipe_facts(recipe)->by_direction ? 2.0 : 1.0);
    return out;
}

/* Keys and values of the whole sequence: the full buffer of the context ranks, or of those that
 * pass them round, with as much of fewer heads. */
static double keys_bytes(const struct layer_writer *w)
{
    const struct layer_context *c = w->share.context;
    double rows = w->share.tokens * (w->ring ? transformer_ring_ranks(c) : (double)c->cp);
    return rows * (w->share.attention.sent_key + w->share.attention.sent_value) *
           w->share.element.core_bytes;
}

static struct segment_transfer context_transfer(enum comm_op op, double bytes)
{
    return (struct segment_transfer){.comm = SEGMENT_CP, .op = op, .bytes = bytes};
}

/* The segment starts with a column-parallel linear layer, whose weight gradient comes last; its
 * input is `ratio` times as wide as the residual. */
static void opens_tensor(const struct layer_writer *w, struct segment *segment, unsigned beside,
                         double ratio)
{
    if (!w->tensor)
        return;
    segment->wgrad_beside_count = beside;
    if (!w->sequence) {
        segment->transfers.backward_after = tensor_transfer(w, COMM_ALL_REDUCE);
        segment->transfers.backward_after.bytes *= ratio;
        return;
    }
    segment->transfers.before = tensor_gather(w, false);
    segment->transfers.before.bytes *= ratio;
    segment->transfers.backward_after = tensor_transfer(w, COMM_REDUCE_SCATTER);
    segment->transfers.backward_after.bytes *= ratio;
    segment->transfers.pipelined = w->share.context->software->tensor.pipelines;
    if (w->share.context->software->tensor.backward_regather && beside > 0)
        segment->transfers.backward_gather = segment->transfers.before;
}

/* The segment ends with a row-parallel linear layer. */
static void closes_tensor(const struct layer_writer *w, struct segment *segment)
{
    if (!w->tensor)
        return;
    segment->transfers.after =
        tensor_transfer(w, w->sequence ? COMM_REDUCE_SCATTER : COMM_ALL_REDUCE);
    if (!w->sequence)
        return;
    segment->transfers.backward_before = tensor_gather(w, true);
    segment->transfers.pipelined = w->share.context->software->tensor.pipelines;
}

/* Gradients of keys and values over their own size. */
static double gradient_ratio(const struct layer_writer *w)
{
    return w->share.context->software->context.gradient_bytes / HALF_BYTES;
}

static void gathers_keys(const struct layer_writer *w, struct segment *segment)
{
    segment->transfers.before = context_transfer(COMM_ALL_GATHER, keys_bytes(w));
    segment->transfers.backward_before = segment->transfers.before;
    segment->transfers.backward_after =
        context_transfer(COMM_REDUCE_SCATTER, keys_bytes(w) * gradient_ratio(w));
}

/* Queries, keys and values of a part of the sequence become those of a part of the heads, before
 * the first segment of the core, and the output goes back behind its last; gradients take the same
 * ways the other way round. Each rank has (n - 1)/n of what it sends for others (DeepSpeed Ulysses,
 * arXiv:2309.14509 section 3.2). */
static void exchanges_heads(const struct layer_writer *w, struct segment *first,
                            struct segment *last)
{
    const struct rank_share *s = &w->share;
    const enum segment_comm comm = w->ring ? SEGMENT_CP_HEADS : SEGMENT_CP;
    first->transfers.before = context_transfer(
        COMM_ALL_TO_ALL,
        s->tokens * (s->attention.query + s->attention.sent_key + s->attention.sent_value) *
            s->element.core_bytes);
    last->transfers.after =
        context_transfer(COMM_ALL_TO_ALL, s->tokens * s->attention.output * s->element.core_bytes);
    first->transfers.before.comm = last->transfers.after.comm = comm;
    last->transfers.backward_before = last->transfers.after;
    first->transfers.backward_after = first->transfers.before;
}

/* Keys and values make n - 1 moves forward; backward again, and their gradients n, back home. */
static struct segment *rings_keys(struct layer_writer *w)
{
    const struct rank_share *s = &w->share;
    double ranks = transformer_ring_ranks(s->context);
    struct segment *segment = segment_add(w, "ring", PIECE_RING, PIECE_RING,
                                          s->tokens * s->attention.output * s->element.core_bytes);
    segment->transfers.beside = context_transfer(COMM_RING_EXCHANGE, keys_bytes(w));
    segment->transfers.backward_beside = context_transfer(
        COMM_RING_EXCHANGE, keys_bytes(w) * (1.0 + gradient_ratio(w) * ranks / (ranks - 1.0)));
    return segment;
}

/* Up-projections that run again read the latents of all tensor ranks, of which each keeps its part;
 * the part of the keys that all heads share is kept whole (NVIDIA/Megatron-LM
 * megatron/core/transformer/multi_latent_attention.py, recompute_up_proj). */
static void gathers_again(const struct layer_writer *w, struct segment *segment)
{
    const struct rank_share *s = &w->share;
    const double query = s->latent.q_rank > 0.0 ? s->latent.q_rank : s->hidden;
    if (!transformer_product_repeated(s, PIECE_QKV, 0) || s->input_tokens == s->tokens)
        return;
    segment->transfers.again = tensor_gather(w, false);
    segment->transfers.again.bytes *= (query + s->latent.kv_rank) / s->hidden;
}

/* From the layer's input to the queries, keys and values. */
static void write_entry(struct layer_writer *w, enum piece last, double output_bytes)
{
    const struct rank_share *s = &w->share;
    double norm_bytes = s->norm_tokens * s->hidden * s->element.core_bytes;
    enum piece first = PIECE_CLOSE;
    const bool apart = w->sequence || (w->tensor && s->latent.kv_rank > 0.0);
    if (apart) {
        segment_add(w, "norm", PIECE_CLOSE, s->latent.kv_rank > 0.0 ? PIECE_LATENT : PIECE_NORM1,
                    norm_bytes * entry_width_ratio(w));
        first = PIECE_QKV;
    }
    const char *name = last == PIECE_DOWN   ? "layer"
                       : last == PIECE_ROPE ? "qkv"
                       : last == PIECE_QKV  ? "mixer in"
                                            : "attention";
    if (s->mixer.kind != NULL && last == PIECE_PROJECT)
        name = s->mixer.kind->head.name;
    struct segment *segment = segment_add(w, name, first, last, output_bytes);
    opens_tensor(w, segment, transformer_piece_wgrads(&w->share, PIECE_QKV), entry_width_ratio(w));
    if (last == PIECE_PROJECT)
        closes_tensor(w, segment);
    if (s->context->recompute == RECOMPUTE_MODULES && w->sequence)
        gathers_again(w, segment);
}

/* Context ranks take a part of the heads of whole sequences for all between the products of a
 * recurrent layer, and give the output back (NVIDIA/Megatron-LM
 * megatron/core/ssm/mamba_context_parallel.py). */
static void write_mixer_context(struct layer_writer *w, enum piece last, double output_bytes)
{
    const struct rank_share *s = &w->share;
    const double element = s->tokens * s->element.core_bytes;
    const double entry = element * s->mixer.outer.entry, output = element * s->mixer.outer.output;
    write_entry(w, PIECE_QKV, entry);
    struct segment *core = segment_add(w, s->mixer.kind->head.name, PIECE_ROPE, PIECE_GATE, output);
    core->transfers.before = context_transfer(COMM_ALL_TO_ALL, entry);
    core->transfers.after = context_transfer(COMM_ALL_TO_ALL, output);
    core->transfers.backward_before = core->transfers.after;
    core->transfers.backward_after = core->transfers.before;
    closes_tensor(w, segment_add(w, "projection", PIECE_PROJECT, last, output_bytes));
}

/* The core and what follows it up to `last`, when the keys come from other ranks. */
static void write_context(struct layer_writer *w, enum piece last, double output_bytes)
{
    const struct rank_share *s = &w->share;
    struct segment *first = w->ring ? rings_keys(w) : NULL;
    const bool heads = s->context->ring.cp_heads;
    /* Both ends of core + projection would be taken. */
    const bool apart = heads || (w->sequence && !w->ring);
    if (apart) {
        struct segment *core = segment_add(w, "attention", PIECE_CORE, PIECE_CORE,
                                           s->tokens * s->attention.output * s->element.core_bytes);
        if (heads)
            exchanges_heads(w, first ? first : core, core);
        else
            gathers_keys(w, core);
        closes_tensor(w, segment_add(w, "projection", PIECE_GATE, last, output_bytes));
        return;
    }
    struct segment *segment = segment_add(w, "attention", PIECE_CORE, last, output_bytes);
    closes_tensor(w, segment);
    if (!w->ring)
        gathers_keys(w, segment);
}

/* The indexer is whole on every rank, so that with sequence parallelism it gathers what the
 * products of latents had in parts; no gradient goes back (dsa.py). */
static void write_indexer(struct layer_writer *w)
{
    const struct rank_share *s = &w->share;
    const double widths = (s->sparse.index_heads + 1.0) * s->sparse.index_size;
    const double query = s->latent.q_rank > 0.0 ? s->latent.q_rank : s->hidden;
    struct segment *segment = segment_add(w, "indexer", PIECE_INDEX, PIECE_INDEX,
                                          s->tokens * widths * s->element.core_bytes);
    segment->transfers.before = tensor_transfer(w, COMM_ALL_GATHER);
    segment->transfers.before.bytes *= (s->hidden + query) / s->hidden;
}

/* Probabilities of the chosen keys are summed over the heads of all tensor ranks. */
static void sums_target(const struct layer_writer *w, struct segment *segment)
{
    const struct rank_share *s = &w->share;
    segment->transfers.pipelined = false;
    if (w->tensor && s->sparse.index_heads > 0.0)
        segment->transfers.after = (struct segment_transfer){
            SEGMENT_TP, COMM_ALL_REDUCE, s->tokens * s->sparse.room * TARGET_BYTES};
}

/* Sparse attention where its parts exchange something: context ranks gather the rows of the latent
 * and the indexer's keys of a sequence before scores are made. */
static void write_sparse(struct layer_writer *w, enum piece last, double output_bytes)
{
    const struct rank_share *s = &w->share;
    const double element = s->tokens * s->element.core_bytes;
    const double queries = element * (s->attention.heads + 1.0) * s->sparse.row;
    const bool indexes = s->sparse.index_heads > 0.0;
    enum piece first = PIECE_CLOSE;
    if (w->tensor) {
        segment_add(w, "norm", PIECE_CLOSE, PIECE_LATENT,
                    s->norm_tokens * s->hidden * s->element.core_bytes * entry_width_ratio(w));
        first = PIECE_INDEX;
    }
    if (w->sequence && indexes)
        write_indexer(w);
    if (w->sequence)
        first = PIECE_QKV;
    struct segment *core = segment_add(w, w->context ? "qkv" : "attention", first,
                                       w->context ? PIECE_ROPE : PIECE_TARGET, queries);
    opens_tensor(w, core, transformer_piece_wgrads(s, PIECE_QKV), entry_width_ratio(w));
    if (s->context->recompute == RECOMPUTE_MODULES && w->sequence)
        gathers_again(w, core);
    if (w->context) {
        core = segment_add(w, "attention", PIECE_CHOOSE, PIECE_TARGET, queries);
        gathers_keys(w, core);
    }
    core->memory.output_bytes = element * s->attention.heads * s->latent.kv_rank;
    sums_target(w, core);
    closes_tensor(w, segment_add(w, "projection", PIECE_VALUE, last, output_bytes));
}

static void write_mlp(struct layer_writer *w, double output_bytes)
{
    const struct rank_share *s = &w->share;
    enum piece first = s->attention.output > 0.0 ? PIECE_RESIDUAL : PIECE_CLOSE;
    if (!s->feeds)
        return;
    if (w->sequence) {
        segment_add(w, "norm", first, PIECE_NORM2,
                    s->norm_tokens * s->hidden * s->element.core_bytes);
        first = PIECE_UP;
    }
    if (w->experts && (!(s->ffn > 0.0) || s->shared_beside))
        return;
    struct segment *segment = segment_add(w, "mlp", first, PIECE_DOWN, output_bytes);
    opens_tensor(w, segment, transformer_piece_wgrads(&w->share, PIECE_UP), 1.0);
    closes_tensor(w, segment);
}

/* What goes with a row, to its experts and with the gradient that comes back: its choices. */
static double with_row_bytes(const struct rank_share *s)
{
    const struct dispatch_kind *kind = s->context->experts.dispatch;
    const uint32_t nodes = s->context->experts.nodes > 0 ? s->context->experts.nodes : 1;
    return kind->row_extra_bytes +
           kind->choice_extra_bytes * (double)s->context->model->moe.experts_per_token +
           kind->expert_extra_bytes * s->experts.all / nodes;
}

static double sent_row_bytes(const struct rank_share *s)
{
    return s->context->experts.dispatch_8bit
               ? s->experts.width * (1.0 + SCALE_BYTES / SCALED_ELEMENTS)
               : s->experts.width * s->element.core_bytes;
}

/* Rows to the ranks of their experts, or back. */
static struct segment_transfer expert_transfer(const struct layer_writer *w, double row_bytes)
{
    const struct rank_share *s = &w->share;
    struct segment_transfer out = {.comm = SEGMENT_EP, .op = COMM_ALL_TO_ALL};
    if (s->context->experts.dispatch->relays)
        out.op = COMM_EXPERT_EXCHANGE;
    out.bytes = s->experts.visited * row_bytes;
    return out;
}

/* Who chose which expert, of all tokens, to every rank. */
static struct segment_transfer expert_map(const struct rank_share *s)
{
    const double each = s->norm_tokens * s->experts.all * s->context->experts.dispatch->map_bytes;
    return (struct segment_transfer){
        .comm = SEGMENT_EP, .op = COMM_ALL_GATHER, .bytes = each * (double)s->context->experts.ep};
}

/* Tensor ranks that share each expert compute each other's rows. */
static struct segment_transfer expert_rows(const struct layer_writer *w, enum comm_op op)
{
    const struct rank_share *s = &w->share;
    return (struct segment_transfer){.comm = SEGMENT_TP,
                                     .op = op,
                                     .bytes = s->experts.rows * s->experts.width *
                                              s->element.core_bytes};
}

/* The part of the shared experts that runs while rows travel, which are there twice meanwhile. What
 * tensor ranks send for it runs outside of its products (NVIDIA/Megatron-LM
 * megatron/core/transformer/moe/shared_experts.py). */
static struct segment *add_shared(struct layer_writer *w, enum piece first, enum piece last,
                                  double output_bytes)
{
    const struct rank_share *s = &w->share;
    const double moving =
        (s->experts.visited + s->experts.crossed) * s->experts.width * s->element.core_bytes;
    struct segment *segment = segment_add(w, "shared experts", first, last, output_bytes);
    if (first == PIECE_UP)
        opens_tensor(w, segment, 0, 1.0);
    else
        closes_tensor(w, segment);
    segment->transfers.pipelined = false;
    segment->memory.forward_temporary_bytes += moving;
    segment->memory.backward_temporary_bytes += moving;
    return segment;
}

/* Dispatch (NVIDIA/Megatron-LM megatron/core/transformer/moe/token_dispatcher.py,
 * MoEAlltoAllTokenDispatcher): rows to the expert ranks, gathered by those that share an expert,
 * and back the same way; rows of eight bits go to the experts, and gradients of what they gave,
 * while what is added up goes in sixteen (arXiv:2412.19437 section 3.3.3). Unless each expert takes
 * a fixed number of rows, or memory is made for enough of them, the host must know how many come
 * before it can launch what computes them.
 */
static void write_experts(struct layer_writer *w, double output_bytes)
{
    const struct rank_share *s = &w->share;
    const struct layer_context *c = s->context;
    const double arrived = s->experts.rows * s->experts.width * s->element.core_bytes;
    struct segment *router =
        segment_add(w, "router", PIECE_ROUTE, PIECE_PERMUTE,
                    s->experts.visited * s->experts.width * s->element.core_bytes);
    router->host_waits = !(c->experts.capacity > 0.0 || c->experts.room > 0.0);
    struct segment *up = NULL, *down = NULL;
    if (s->shared_beside)
        up = add_shared(w, PIECE_UP, PIECE_ACTIVATE, s->tokens * s->ffn * s->element.core_bytes);
    struct segment *experts =
        segment_add(w, "experts", PIECE_EXPERT_UP, PIECE_EXPERT_DOWN, arrived);
    if (s->shared_beside)
        down = add_shared(w, PIECE_DOWN, PIECE_DOWN, output_bytes);
    struct segment *combine = segment_add(w, "combine", PIECE_COMBINE, PIECE_COMBINE, output_bytes);
    if (c->experts.ep > 1) {
        const double back = s->experts.width * s->element.core_bytes;
        const bool maps = c->experts.dispatch->map_bytes > 0.0;
        CHECK(!maps || (up == NULL && c->experts.etp == 1));
        if (maps)
            router->transfers.after = expert_map(s);
        *(up     ? &up->transfers.exchange
          : maps ? &experts->transfers.before
                 : &router->transfers.after) =
            expert_transfer(w, sent_row_bytes(s) + with_row_bytes(s));
        *(up ? &up->transfers.backward_exchange : &router->transfers.backward_before) =
            expert_transfer(w, back + with_row_bytes(s));
        *(down ? &down->transfers.exchange : &combine->transfers.before) = expert_transfer(w, back);
        *(down ? &down->transfers.backward_exchange : &combine->transfers.backward_after) =
            expert_transfer(w, sent_row_bytes(s));
    }
    if (c->experts.etp > 1) {
        experts->transfers.before = expert_rows(w, COMM_ALL_GATHER);
        experts->transfers.after = expert_rows(w, COMM_REDUCE_SCATTER);
        experts->transfers.backward_before = expert_rows(w, COMM_ALL_GATHER);
        experts->transfers.backward_after = expert_rows(w, COMM_REDUCE_SCATTER);
    }
}

void transformer_layer(const struct layer_context *context, struct layer *out)
{
    transformer_clear(out);
    struct layer_writer w = {.layer = out,
                             .tensor = context->tp > 1,
                             .context = context->cp > 1,
                             .ring = context->cp > 1 && context->ring.cp_ring};
    transformer_share_of(context, &w.share);
    w.sequence = w.share.gathers;
    const struct rank_share *s = &w.share;
    double output = s->norm_tokens * s->hidden * s->element.core_bytes;
    double qkv = s->tokens *
                 (s->attention.query + s->attention.gate + s->attention.key + s->attention.value) *
                 s->element.core_bytes;
    const enum piece whole = s->shared_beside ? PIECE_NORM2 : PIECE_DOWN;
    enum piece last = w.tensor ? PIECE_PROJECT : whole;
    w.experts = s->experts.count > 0.0;
    const bool mixes = s->attention.output > 0.0;
    if (w.context && s->mixer.kind != NULL) {
        write_mixer_context(&w, last, output);
    } else if (s->sparse.row > 0.0 && (w.context || (w.tensor && s->sparse.index_heads > 0.0))) {
        write_sparse(&w, last, output);
    } else if (w.context && mixes) {
        write_entry(&w, PIECE_ROPE, qkv);
        write_context(&w, last, output);
    } else if (mixes || !w.tensor) {
        write_entry(&w, last, output);
    }
    if (w.tensor)
        write_mlp(&w, output);
    if (w.experts)
        write_experts(&w, output);
    out->input_bytes = output + (s->sparse.lends ? transformer_sparse_choice_bytes(s) : 0.0);
    transformer_shard(s, out);
}
