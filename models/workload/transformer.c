/* transformer.c - counts of a model: parameters, FLOPs for each token, shards of embedding and
 * head.
 *
 * Matrices of a layer: attention h a d + 2 h g d + a d h, feed-forward 2 h f or 3 h f (gated:
 * Shazeer, arXiv:2002.05202). Latent attention and expert layers: DeepSeek-V2, arXiv:2405.04434
 * section 2.1, and DeepSeek-V3, arXiv:2412.19437 section 2.1. A norm has a scale; a LayerNorm of a
 * model with biases has a shift too. Norms of queries and keys have one scale for all heads
 * (Dehghani et al., arXiv:2302.05442), or over all heads at once one for each element (OLMo 2,
 * arXiv:2501.00656). Learned positions are a table of their own. */
#include "models/workload/transformer.h"

#include <math.h>

#include "sim/check.h"

void transformer_complete(struct model_shape *m)
{
    if (m->attention.kv_heads == 0)
        m->attention.kv_heads = m->attention.heads;
    if (m->attention.head_size == 0)
        m->attention.head_size = m->hidden / m->attention.heads;
    if (m->ffn_hidden == 0)
        m->ffn_hidden = 4 * m->hidden;
    if (m->latent.kv_rank > 0 && m->latent.v_head_size == 0)
        m->latent.v_head_size = m->attention.head_size;
    m->norm.qk_norms = m->norm.qk_norms || m->norm.qk_norms_whole;
    m->pattern.sizes = layer_complete(&m->pattern.sizes);
    struct error error;
    const bool read = pattern_read(m->pattern.text, &m->pattern, &error);
    CHECK(read);
}

enum layer_form transformer_form(const struct model_shape *m, uint64_t layer)
{
    return (enum layer_form)pattern_at(&m->pattern, layer).form;
}

uint64_t transformer_recurrent_layers(const struct model_shape *m)
{
    uint64_t count = 0;
    for (uint64_t layer = 0; layer < m->layers; layer++)
        count += layer_form_mixes(transformer_form(m, layer));
    return count;
}

uint64_t transformer_attention_layers(const struct model_shape *m)
{
    uint64_t count = 0;
    for (uint64_t layer = 0; layer < m->layers; layer++)
        count += layer_form_attends(transformer_form(m, layer));
    return count;
}

struct routing transformer_routing(const struct model_shape *m)
{
    return (struct routing){(uint32_t)m->moe.experts, (uint32_t)m->moe.experts_per_token,
                            (uint32_t)m->moe.groups, (uint32_t)m->moe.groups_per_token};
}

bool transformer_gates_shared(const struct model_shape *m)
{
    return m->moe.shared_gate && m->moe.shared_experts > 0;
}

bool transformer_has_experts(const struct model_shape *m, uint64_t layer)
{
    const struct layer_code code = pattern_at(&m->pattern, layer);
    if (!layer_form_feeds((enum layer_form)code.form) || code.feed != FEED_AS_MODEL)
        return m->moe.experts > 0 && code.feed == FEED_EXPERTS;
    return m->moe.experts > 0 && layer >= m->moe.dense_layers &&
           (m->moe.interval <= 1 || (layer + 1) % m->moe.interval == 0);
}

uint64_t transformer_span(const struct model_shape *m, uint64_t layer, uint64_t sequence)
{
    if (!layer_form_attends(transformer_form(m, layer)))
        return 0;
    const bool all = m->windows.full_interval > 0 && (layer + 1) % m->windows.full_interval == 0;
    return m->windows.length < sequence && !all ? m->windows.length : 0;
}

/* The first `span` queries of a sliding window see a triangle, the others `span` keys each. */
double transformer_keys_met(int window_kind, uint64_t span, double sequence, bool causal)
{
    const double width = (double)span;
    if (span == 0)
        return causal ? 0.5 * sequence : sequence;
    if (window_kind == WINDOW_CHUNKED)
        return causal ? 0.5 * width : width;
    return causal ? width - 0.5 * width * width / sequence : width;
}

bool transformer_gated(const struct model_shape *m)
{
    return m->ffn == FFN_SWIGLU || m->ffn == FFN_GEGLU;
}

uint64_t transformer_norms(const struct model_shape *m)
{
    return m->norm.count > 0 ? m->norm.count : 2;
}

double transformer_norm_parameters(const struct model_shape *m)
{
    bool shift = m->norm.kind == NORM_LAYERNORM && (m->biases || m->norm.biases);
    return (double)m->hidden * (shift ? 2.0 : 1.0);
}

/* Queries and keys are compressed to a rank (with a norm each), then spread over the heads; the
 * rotated part of the keys is one head that all share. */
static double latent_attention_parameters(const struct model_shape *m)
{
    double hidden = (double)m->hidden, heads = (double)m->attention.heads;
    double query_size = (double)(m->attention.head_size + m->latent.rope_head_size);
    double q_rank = (double)m->latent.q_rank, kv_rank = (double)m->latent.kv_rank;
    double query = m->latent.q_rank > 0 ? hidden * q_rank + q_rank + q_rank * heads * query_size
                                        : hidden * heads * query_size;
    double key_value = hidden * (kv_rank + (double)m->latent.rope_head_size) + kv_rank +
                       kv_rank * heads * (double)(m->attention.head_size + m->latent.v_head_size);
    return query + key_value + heads * (double)m->latent.v_head_size * hidden;
}

static double attention_parameters(const struct model_shape *m)
{
    if (m->latent.kv_rank > 0)
        return latent_attention_parameters(m);
    double hidden = (double)m->hidden;
    double query = (double)(m->attention.heads * m->attention.head_size),
           key = (double)(m->attention.kv_heads * m->attention.head_size);
    bool all = m->biases || m->attention.biases == ATTENTION_BIASES_ALL;
    bool some = all || m->attention.biases == ATTENTION_BIASES_QKV;
    double biases = (some ? query + 2.0 * key : 0.0) + (all ? hidden : 0.0);
    double norms = m->norm.qk_norms_whole ? query + key
                   : m->norm.qk_norms     ? 2.0 * (double)m->attention.head_size
                                          : 0.0;
    double sinks = m->attention.sinks ? (double)m->attention.heads : 0.0;
    double gate = m->attention.gate ? hidden * query : 0.0;
    return 2.0 * hidden * query + 2.0 * hidden * key + biases + norms + sinks + gate;
}

static double mixer_parameters(const struct model_shape *m)
{
    const double hidden = (double)m->hidden;
    const struct layer_work work = layer_whole(m->pattern.kind, &m->pattern.sizes, hidden, 1.0);
    return layer_parameters(&work, hidden);
}

static double block_of(const struct model_shape *m, uint64_t outer, uint64_t inner)
{
    double rows = (double)outer, width = (double)inner;
    double inputs = transformer_gated(m) ? 2.0 : 1.0;
    double biases = m->biases ? inputs * width + rows : 0.0;
    return (inputs + 1.0) * rows * width + biases;
}

static double block_parameters(const struct model_shape *m, uint64_t inner)
{
    return block_of(m, m->hidden, inner);
}

static double expert_parameters(const struct model_shape *m)
{
    return block_of(m, m->moe.latent > 0 ? m->moe.latent : m->hidden, m->moe.ffn_hidden);
}

/* `routed` experts of a layer: all for a count, those that a token visits for FLOPs. */
static double ffn_parameters(const struct model_shape *m, uint64_t layer, uint64_t routed)
{
    if (!transformer_has_experts(m, layer))
        return block_parameters(m, m->ffn_hidden);
    double router =
        (double)(m->hidden * m->moe.experts + (m->moe.router_bias ? m->moe.experts : 0));
    double gate = transformer_gates_shared(m) ? (double)m->hidden : 0.0;
    return router + gate + 2.0 * (double)(m->hidden * m->moe.latent) +
           (double)routed * expert_parameters(m) +
           (double)m->moe.shared_experts * block_parameters(m, m->moe.ffn_hidden);
}

double transformer_indexer_parameters(const struct model_shape *m)
{
    const double hidden = (double)m->hidden, size = (double)m->latent.indexer.size;
    const double heads = (double)m->latent.indexer.heads;
    const double query = m->latent.q_rank > 0 ? (double)m->latent.q_rank : hidden;
    return query * heads * size + hidden * size + hidden * heads + 2.0 * size;
}

static double parameters_of(const struct model_shape *m, uint64_t layer, uint64_t routed)
{
    const enum layer_form form = transformer_form(m, layer);
    const double norms = (double)(transformer_norms(m) * layer_form_blocks(form)) / 2.0;
    return (layer_form_attends(form) ? attention_parameters(m) : 0.0) +
           (transformer_scores_keys(m, layer) ? transformer_indexer_parameters(m) : 0.0) +
           (layer_form_mixes(form) ? mixer_parameters(m) : 0.0) +
           (layer_form_feeds(form) ? ffn_parameters(m, layer, routed) : 0.0) +
           norms * transformer_norm_parameters(m);
}

double transformer_layer_parameters(const struct model_shape *m, uint64_t layer)
{
    return parameters_of(m, layer, m->moe.experts);
}

static double position_parameters(const struct model_shape *m, uint64_t sequence)
{
    if (m->position != POSITION_LEARNED)
        return 0.0;
    return (double)((m->positions_max > 0 ? m->positions_max : sequence) * m->hidden);
}

double transformer_embedding_parameters(const struct model_shape *m, uint64_t sequence)
{
    return (double)(m->vocabulary * m->hidden) + position_parameters(m, sequence);
}

double transformer_final_parameters(const struct model_shape *m)
{
    double head = m->tied_embeddings ? 0.0 : (double)(m->vocabulary * m->hidden);
    return transformer_norm_parameters(m) + head;
}

double transformer_parameters(const struct model_shape *m, uint64_t sequence)
{
    double sum = transformer_embedding_parameters(m, sequence) + transformer_final_parameters(m);
    for (uint64_t layer = 0; layer < m->layers; layer++)
        sum += transformer_layer_parameters(m, layer);
    return sum;
}

double transformer_expert_parameters(const struct model_shape *m)
{
    double layers = 0.0;
    for (uint64_t layer = 0; layer < m->layers; layer++)
        layers += transformer_has_experts(m, layer) ? 1.0 : 0.0;
    return layers * (double)m->moe.experts * expert_parameters(m);
}

static double layer_active_parameters(const struct model_shape *m, uint64_t layer)
{
    return parameters_of(m, layer, m->moe.experts_per_token);
}

/* Of a module that predicts further ahead (transformer_prediction.c), beside what the model's last
 * layer has: 2 h by h, three norms, and an indexer where that layer has none of its own. */
static double prediction_own(const struct model_shape *m)
{
    const double hidden = (double)m->hidden;
    const bool takes = m->latent.indexer.heads > 0 && !transformer_scores_keys(m, m->layers - 1) &&
                       layer_form_attends(transformer_form(m, m->layers - 1));
    return 2.0 * hidden * hidden + 3.0 * transformer_norm_parameters(m) +
           (takes ? transformer_indexer_parameters(m) : 0.0);
}

double transformer_prediction_parameters(const struct model_shape *m)
{
    if (m->mtp_layers == 0)
        return 0.0;
    return (double)m->mtp_layers *
           (prediction_own(m) + transformer_layer_parameters(m, m->layers - 1));
}

double transformer_prediction_active_parameters(const struct model_shape *m)
{
    if (m->mtp_layers == 0)
        return 0.0;
    return (double)m->mtp_layers * (prediction_own(m) + layer_active_parameters(m, m->layers - 1) +
                                    (double)(m->vocabulary * m->hidden));
}

double transformer_prediction_expert_parameters(const struct model_shape *m)
{
    if (m->mtp_layers == 0 || !transformer_has_experts(m, m->layers - 1))
        return 0.0;
    return (double)(m->mtp_layers * m->moe.experts) * expert_parameters(m);
}

double transformer_trained_parameters(const struct model_shape *m, uint64_t sequence)
{
    return transformer_parameters(m, sequence) + transformer_prediction_parameters(m);
}

double transformer_active_parameters(const struct model_shape *m)
{
    double sum = transformer_norm_parameters(m) + (double)(m->vocabulary * m->hidden);
    for (uint64_t layer = 0; layer < m->layers; layer++)
        sum += layer_active_parameters(m, layer);
    return sum;
}

double transformer_cache_elements(const struct model_shape *m, uint64_t sequence)
{
    const uint64_t row = m->latent.kv_rank > 0 ? m->latent.kv_rank + m->latent.rope_head_size
                                               : 2 * m->attention.kv_heads * m->attention.head_size;
    double positions = 0.0, index_keys = 0.0;
    for (uint64_t layer = 0; layer < m->layers; layer++) {
        index_keys +=
            transformer_scores_keys(m, layer) ? (double)(sequence * m->latent.indexer.size) : 0;
        const uint64_t span = transformer_span(m, layer, sequence);
        if (layer_form_attends(transformer_form(m, layer)))
            positions += (double)(span > 0 ? span : sequence);
    }
    return positions * (double)row + index_keys;
}

double transformer_state_elements(const struct model_shape *m)
{
    return (double)transformer_recurrent_layers(m) * layer_state_elements(&m->pattern.sizes);
}

uint64_t transformer_padded_vocabulary(const struct layer_context *context)
{
    uint64_t multiple = context->software->head.vocabulary_multiple;
    uint64_t step = (multiple > 0 ? multiple : 1) * context->tp;
    return (context->model->vocabulary + step - 1) / step * step;
}

static double vocabulary_shard(const struct layer_context *context)
{
    uint64_t rows = transformer_padded_vocabulary(context) / context->tp;
    return (double)(rows * context->model->hidden);
}

double transformer_embedding_shard(const struct layer_context *context)
{
    return vocabulary_shard(context) + position_parameters(context->model, context->sequence);
}

double transformer_head_shard(const struct layer_context *context)
{
    return vocabulary_shard(context) + transformer_norm_parameters(context->model);
}

/* Linear layers of a layer: inputs and outputs of each; the attention's stand first. */
struct shape_pair {
    double inputs, outputs;
};
enum {
    PAIR_MAX = 7
};
static unsigned linear_pairs(const struct model_shape *m, bool separate, bool attention_only,
                             struct shape_pair out[PAIR_MAX])
{
    const double h = (double)m->hidden, f = (double)m->ffn_hidden;
    const double query = (double)(m->attention.heads * m->attention.head_size);
    const double key = (double)(m->attention.kv_heads * m->attention.head_size);
    unsigned count = 0;
    out[count++] = (struct shape_pair){h, separate ? query : query + 2.0 * key};
    if (separate) {
        out[count++] = (struct shape_pair){h, key};
        out[count++] = (struct shape_pair){h, key};
    }
    out[count++] = (struct shape_pair){query, h};
    if (attention_only)
        return count;
    const bool two = transformer_gated(m) && separate;
    out[count++] = (struct shape_pair){h, transformer_gated(m) && !separate ? 2.0 * f : f};
    if (two)
        out[count++] = (struct shape_pair){h, f};
    out[count++] = (struct shape_pair){f, h};
    return count;
}

double transformer_adapter_parameters(const struct model_shape *m,
                                      const struct adapter_spec *adapter, bool separate)
{
    struct shape_pair pairs[PAIR_MAX];
    double sum = 0.0;
    if (adapter->kind == ADAPTER_NONE)
        return 0.0;
    const unsigned count =
        linear_pairs(m, separate, adapter->targets == ADAPTER_ON_ATTENTION, pairs);
    for (unsigned i = 0; i < count; i++)
        sum += adapter_parameters(adapter, pairs[i].inputs, pairs[i].outputs);
    return sum * (double)m->layers;
}

double transformer_linear_parameters(const struct model_shape *m)
{
    struct shape_pair pairs[PAIR_MAX];
    double sum = 0.0;
    const unsigned count = linear_pairs(m, false, false, pairs);
    for (unsigned i = 0; i < count; i++)
        sum += pairs[i].inputs * pairs[i].outputs;
    return sum * (double)m->layers;
}

/* Sparse attention with an indexer, whose pieces on a rank are transformer_sparse.c. */
bool transformer_scores_keys(const struct model_shape *m, uint64_t layer)
{
    const struct model_indexer *x = &m->latent.indexer;
    const uint64_t first = x->first > 0 ? x->first : 1;
    if (x->heads == 0 || !layer_form_attends(transformer_form(m, layer)))
        return false;
    return x->interval <= 1 || layer < first || (layer + 1 - first) % x->interval == 0;
}

double transformer_keys_chosen(const struct model_shape *m, double sequence, bool causal)
{
    const bool some = (double)m->latent.indexer.keys < sequence;
    return transformer_keys_met(WINDOW_SLIDING, some ? m->latent.indexer.keys : 0, sequence,
                                causal);
}

static double latent_key_flops(const struct model_shape *m)
{
    return 2.0 * (double)m->attention.heads *
           (double)(2 * m->latent.kv_rank + m->latent.rope_head_size);
}

static double dense_key_flops(const struct model_shape *m)
{
    return 2.0 * (double)m->attention.heads *
           (double)(m->attention.head_size + m->latent.rope_head_size + m->latent.v_head_size);
}

static double score_flops(const struct model_shape *m)
{
    return 2.0 * (double)(m->latent.indexer.heads * m->latent.indexer.size);
}

/* Where A (k - k^2 / 2s) + B s / 2 = D s / 2, without a mask A k + B s = D s; A, D a key, B a score
 * in the mean over the layers that attend. */
double transformer_sparse_worth(const struct model_shape *m, bool causal)
{
    double scoring = 0.0;
    for (uint64_t layer = 0; layer < m->layers; layer++)
        scoring += transformer_scores_keys(m, layer) ? 1.0 : 0.0;
    const double share = scoring / (double)transformer_attention_layers(m);
    const double saved = dense_key_flops(m) - score_flops(m) * share;
    const double latent = latent_key_flops(m), keys = (double)m->latent.indexer.keys;
    if (!(saved > 0.0))
        return INFINITY;
    const double root = causal ? sqrt(fmax(1.0 - saved / latent, 0.0)) : 0.0;
    return latent * keys * (1.0 + root) / saved;
}
