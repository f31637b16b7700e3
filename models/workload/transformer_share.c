/* A rank's share of a layer, and the tools that every piece writes with: kernels, saved tensors. */
#include <math.h>

#include "models/workload/transformer_piece.h"
#include "sim/check.h"

/* Rows that go out and come in where every source sends alike: the busiest rank has `imbalance`
 * times the mean. With a capacity each expert has room for so many rows of each source, full or
 * not (NVIDIA/Megatron-LM megatron/core/transformer/moe/token_dispatcher.py). Expert ranks of one
 * tensor group gather each other's rows. */
/* Rows of `count` experts, each filled up to a multiple. A fixed number is; where all come that
 * chose it, their number is a random one, by Poisson: what is missing is half of the multiple in
 * the mean, and an expert that anyone chose has one at least. Products round rows up to their tiles
 * themselves, and by more: they take longer only where that one multiple counts. */
static void fill_rows(const struct layer_context *c, double count, struct expert_share *out)
{
    const double multiple =
        precision_narrow(c->precision) ? fp8_recipe_facts(c->fp8_recipe)->row_multiple : 1.0;
    const double each = out->rows / count, least = multiple * (1.0 - exp(-each));
    const double whole = multiple * ceil(each / multiple);
    const bool fixed = c->experts.capacity > 0.0;
    out->filled = count * (fixed ? whole : fmax(each + (multiple - 1.0) / 2.0, least));
    out->tiled = count * (fixed ? whole : fmax(each, least));
}

static void share_experts(const struct layer_context *c, struct rank_share *out)
{
    const struct model_shape *m = c->model;
    const double all = (double)m->moe.experts, visits = (double)m->moe.experts_per_token;
    double sent = out->norm_tokens * visits * c->experts.imbalance;
    if (c->experts.capacity > 0.0)
        sent = all * ceil(out->norm_tokens * visits / all * c->experts.capacity);
    CHECK(c->experts.ep > 0 && c->experts.etp > 0 && c->experts.imbalance >= 1.0);
    const struct routing routing = transformer_routing(m);
    const bool once =
        c->experts.ep > 1 && c->experts.dispatch != NULL && c->experts.dispatch->once_per_rank;
    out->experts = (struct expert_share){
        .count = all / (double)c->experts.ep,
        .all = all,
        .ffn = (double)m->moe.ffn_hidden / (double)c->experts.etp,
        .width = m->moe.latent > 0 ? (double)m->moe.latent : out->hidden,
        .latent = (double)m->moe.latent,
        .visited = sent,
        .rows = sent * (double)c->experts.etp,
        .crossed = once ? sent * routing_places(&routing, (uint32_t)c->experts.ep) / visits : sent,
        .once = once,
    };
    fill_rows(c, out->experts.count, &out->experts);
    out->experts.held = fmax(out->experts.filled, out->norm_tokens * visits * c->experts.room);
    out->ffn = (double)(m->moe.shared_experts * m->moe.ffn_hidden) / (double)c->tp;
    out->shared_beside = c->software->experts.shared_overlap && out->ffn > 0.0 && c->experts.ep > 1;
}

/* An input that is cast again for the gradient of its weights is kept as it was. */
static double kept_bytes(const struct layer_context *c, double core_bytes)
{
    const double bytes = c->precision->activation_bytes;
    if (!precision_narrow(c->precision))
        return bytes;
    return c->software->fp8.casts_again ? core_bytes : fp8_recipe_bytes(c->fp8_recipe);
}

/* E5M6, 12 bits, and fp32 for every 128 (DeepSeek-V3, arXiv:2412.19437 section 3.3.3). */
#define ATTENTION_CACHE_BYTES (1.5 + 4.0 / 128.0)

static struct element_share share_elements(const struct layer_context *c)
{
    const struct precision *p = c->precision;
    const bool wide = p->attention_peak == PEAK_FP32 || p->attention_peak == PEAK_TF32;
    const bool narrow = precision_narrow(p);
    const bool once = narrow && c->software->fp8.attention_cache && c->attention != ATTENTION_MATH;
    const double core_bytes = wide ? p->activation_bytes : HALF_BYTES;
    return (struct element_share){
        .linear_bytes = p->activation_bytes,
        .kept_bytes = kept_bytes(c, core_bytes),
        .activation_bytes = narrow && c->software->fp8.activation_cache
                                ? fp8_recipe_bytes(c->fp8_recipe)
                                : core_bytes,
        .attention_bytes = once ? ATTENTION_CACHE_BYTES : 0.0,
        .core_bytes = core_bytes,
    };
}

/* A layer without attention: what its mixer, if it has one, reads and writes. */
static void share_mixer(const struct layer_context *c, struct rank_share *out)
{
    const struct model_shape *m = c->model;
    const double tp = (double)c->tp, cp = (double)c->cp;
    struct layer_share share = {.sizes = &m->pattern.sizes,
                                .hidden = out->hidden,
                                .heads = (double)m->pattern.sizes.heads / tp,
                                .key_heads = (double)m->pattern.sizes.key_heads / tp,
                                .tokens = out->tokens,
                                .element_bytes = out->element.core_bytes};
    if (!layer_form_mixes(c->form))
        return;
    out->mixer.kind = m->pattern.kind;
    out->mixer.kind->write(&share, &out->mixer.outer);
    share.heads /= cp;
    share.key_heads = fmax(share.key_heads / cp, 1.0); /* a shared one is held by each rank */
    share.tokens *= cp;
    out->mixer.kind->write(&share, &out->mixer.inner);
    out->mixer.inner.core.scan.time_ratio = c->software->layer.scan_time_ratio;
    out->mixer.inner.core_gradient.scan.time_ratio = c->software->layer.scan_time_ratio;
    out->attention.output = out->mixer.outer.output;
}

static void share_attention(const struct layer_context *c, struct attention_share *out)
{
    const struct model_shape *m = c->model;
    const double tp = (double)c->tp, kv_heads = (double)m->attention.kv_heads / tp;
    const bool latent = m->latent.kv_rank > 0;
    CHECK(m->attention.head_size > 0 && m->attention.kv_heads > 0);
    *out = (struct attention_share){
        .heads = (double)m->attention.heads / tp,
        .kv_heads = kv_heads < 1.0 ? 1.0 : kv_heads, /* a shared head is held by each rank */
        .head_size = (double)(m->attention.head_size + (latent ? m->latent.rope_head_size : 0)),
        .value_size = (double)(latent ? m->latent.v_head_size : m->attention.head_size),
        .queries = (double)c->sequence / (double)c->cp,
        .keys = (double)c->sequence,
    };
    out->query = out->heads * out->head_size;
    out->key = out->kv_heads * out->head_size;
    out->value = out->kv_heads * out->value_size;
    out->output = out->heads * out->value_size;
    out->gate = m->attention.gate ? out->output : 0.0;
    const bool repeats = c->software->attention.repeats_keys && out->heads > out->kv_heads;
    out->sent_key = repeats ? out->query : out->key;
    out->sent_value = repeats ? out->output : out->value;
}

/* Keys that a query meets which sees at most `span` of those before it: the mean over this rank's
 * positions. Context ranks hold a block from either end of a sequence, which is balanced; those
 * that hold neighbouring ones wait for the last. */
static double keys_seen(const struct layer_context *c, uint64_t span)
{
    const double all = (double)c->sequence, own = all / (double)c->cp, before = all - own;
    const double mean = transformer_keys_met(WINDOW_SLIDING, span, all, c->causal);
    if (!c->causal || c->cp == 1 || !c->ring.cp_uneven)
        return mean;
    const uint64_t early = (double)span < before ? span : 0;
    return (mean * all - transformer_keys_met(WINDOW_SLIDING, early, before, true) * before) / own;
}

static void share_sparse(const struct layer_context *c, struct rank_share *out)
{
    const struct model_indexer *indexer = &c->model->latent.indexer;
    const uint64_t span = indexer->keys < c->sequence ? indexer->keys : 0;
    const double own = c->keys.taken ? 0.0 : 1.0;
    out->sparse = (struct sparse_share){
        .row = (double)(c->model->latent.kv_rank + c->model->latent.rope_head_size),
        .chosen = keys_seen(c, span),
        .room = (double)(span > 0 ? span : c->sequence),
        .scored = keys_seen(c, 0),
        .index_heads = own * (double)indexer->heads,
        .index_size = own * (double)indexer->size,
        .lends = !c->keys.taken && indexer->interval > 1,
    };
    out->attention.sent_key = out->sparse.row;
    out->attention.sent_value = out->sparse.index_size;
}

static struct latent_share share_latent(const struct model_latent *latent)
{
    if (latent->kv_rank == 0)
        return (struct latent_share){0};
    return (struct latent_share){
        .q_rank = (double)latent->q_rank,
        .kv_rank = (double)latent->kv_rank,
        .rope_size = (double)latent->rope_head_size,
    };
}

void transformer_share_of(const struct layer_context *c, struct rank_share *out)
{
    const struct model_shape *m = c->model;
    const double tp = (double)c->tp;
    const double tokens = (double)(c->microbatch * c->sequence) / (double)c->cp;
    *out = (struct rank_share){
        .context = c,
        .tokens = tokens,
        .hidden = (double)m->hidden,
        .ffn = layer_form_feeds(c->form) ? (double)m->ffn_hidden / tp : 0.0,
        .gates = transformer_gated(m) ? 2.0 : 1.0,
        .norms = (double)transformer_norms(m) / 2.0,
        .latent = layer_form_attends(c->form) ? share_latent(&m->latent) : (struct latent_share){0},
        .element = share_elements(c),
        .feeds = layer_form_feeds(c->form),
        .dropout = m->dropout_ratio > 0.0,
        .gathers = c->sequence_parallel && c->tp > 1,
    };
    if (layer_form_attends(c->form))
        share_attention(c, &out->attention);
    if (layer_form_attends(c->form) && m->latent.indexer.heads > 0)
        share_sparse(c, out);
    if (!layer_form_attends(c->form))
        share_mixer(c, out);
    out->norm_tokens = out->gathers ? tokens / tp : tokens;
    out->input_tokens = c->software->tensor.backward_regather ? out->norm_tokens : tokens;
    if (m->moe.experts > 0 && !c->experts.dense && out->feeds)
        share_experts(c, out);
}

double transformer_inner_ranks(const struct layer_context *c)
{
    return !c->ring.cp_heads      ? 1.0
           : c->ring.cp_inner > 0 ? (double)c->ring.cp_inner
                                  : (double)c->cp;
}

double transformer_ring_ranks(const struct layer_context *c)
{
    return c->ring.cp_ring ? (double)c->cp / transformer_inner_ranks(c) : 1.0;
}

void transformer_piece_forward(struct segment *out, struct kernel kernel)
{
    CHECK(out->forward.count < SEGMENT_KERNEL_MAX);
    out->forward.kernels[out->forward.count++] = kernel;
}

void transformer_piece_dgrad(struct segment *out, struct kernel kernel)
{
    CHECK(out->dgrad.count < SEGMENT_KERNEL_MAX);
    out->dgrad.kernels[out->dgrad.count++] = kernel;
}

void transformer_piece_wgrad(struct segment *out, struct kernel kernel)
{
    CHECK(out->wgrad.count < SEGMENT_KERNEL_MAX);
    out->wgrad.kernels[out->wgrad.count++] = kernel;
}

bool transformer_repeats(const struct segment *segment)
{
    for (unsigned k = 0; k < segment->forward.count; k++)
        if (segment->forward.repeated[k])
            return true;
    return false;
}

unsigned transformer_gathering_kernel(const struct segment *segment, unsigned from)
{
    const struct segment_kernels *dgrad = &segment->dgrad, *wgrad = &segment->wgrad;
    unsigned products = 0, first = dgrad->count;
    if (segment->transfers.backward_gather.comm == SEGMENT_NONE)
        return from;
    for (unsigned i = wgrad->count - segment->wgrad_beside_count; i < wgrad->count; i++)
        products += wgrad->kernels[i].kind == KERNEL_GEMM;
    while (first > from && products > 0)
        products -= dgrad->kernels[--first].kind == KERNEL_GEMM;
    return first;
}

void transformer_piece_saved(struct segment *out, const char *name, double bytes,
                             bool attention_core)
{
    CHECK(out->saved.count < SEGMENT_SAVED_MAX);
    out->saved.tensors[out->saved.count++] =
        (struct saved_tensor){.name = name, .bytes = bytes, .attention_core = attention_core};
}

bool transformer_norms_rebuilt(const struct rank_share *s)
{
    return s->context->recompute == RECOMPUTE_MODULES &&
           s->context->software->layer.save_norm_input && s->input_tokens == s->norm_tokens;
}
