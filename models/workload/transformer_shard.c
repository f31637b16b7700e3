/* transformer_shard.c - what a rank holds of a layer: its parameters, and its weight matrices one
 * by one, as the software keeps them and as an optimizer of whole matrices sees them. */
#include "models/workload/transformer_piece.h"
#include "sim/check.h"

/* Of latent attention what goes down is whole on every rank. */
static double attention_shard(const struct rank_share *s)
{
    const double unrotated = s->attention.heads * (s->attention.head_size - s->latent.rope_size);
    if (!(s->latent.kv_rank > 0.0))
        return s->hidden * (s->attention.query + s->attention.gate + s->attention.key +
                            s->attention.value + s->attention.output);
    const double query = s->latent.q_rank > 0.0
                             ? s->latent.q_rank * (s->hidden + 1.0 + s->attention.query)
                             : s->hidden * s->attention.query;
    return query + s->hidden * (s->latent.kv_rank + s->latent.rope_size) + s->latent.kv_rank +
           s->latent.kv_rank * (unrotated + s->attention.value) + s->attention.output * s->hidden;
}

/* An indexer is whole on every rank (NVIDIA/Megatron-LM dsa.py: "duplicated"). */
static double indexer_shard(const struct rank_share *s)
{
    const double query = s->latent.q_rank > 0.0 ? s->latent.q_rank : s->hidden;
    return s->sparse.index_size * (query * s->sparse.index_heads + s->hidden + 2.0) +
           s->hidden * s->sparse.index_heads;
}

/* With the gate of shared experts and the projections to and from a latent, which are whole on
 * every rank too (NVIDIA/Megatron-LM moe_layer.py: "duplicated"). */
static double router_shard(const struct rank_share *s)
{
    const struct model_shape *m = s->context->model;
    const bool gate = s->experts.all > 0.0 && transformer_gates_shared(m);
    return s->experts.all * (s->hidden + (m->moe.router_bias ? 1.0 : 0.0)) +
           (gate ? s->hidden : 0.0) + 2.0 * s->hidden * s->experts.latent;
}

static double experts_shard(const struct rank_share *s)
{
    const bool biases = s->context->model->biases;
    const double width = s->experts.ffn;
    const double each = (s->gates + 1.0) * s->experts.width * width +
                        (biases ? s->gates * width + s->experts.width : 0.0);
    return s->experts.count * each;
}

/* Matrices, and biases of the column-parallel layers, are split; norms and biases that are added
 * after a reduction are whole on every rank. Norms of whole queries and keys are split with them;
 * the sum of squares that ranks exchange for them, a number a token, is left out. */
static double shard_parameters(const struct rank_share *s)
{
    const struct model_shape *m = s->context->model;
    const double halves = (s->attention.output > 0.0 ? 1.0 : 0.0) + (s->feeds ? 1.0 : 0.0);
    const bool attends = layer_form_attends(s->context->form);
    double attention = attends ? attention_shard(s) + indexer_shard(s) : 0.0;
    if (s->mixer.kind != NULL)
        attention = layer_parameters(&s->mixer.outer, s->hidden);
    double ffn = (s->gates + 1.0) * s->hidden * s->ffn + router_shard(s);
    double qk_norms = !attends                 ? 0.0
                      : m->norm.qk_norms_whole ? s->attention.query + s->attention.key
                      : m->norm.qk_norms       ? 2.0 * s->attention.head_size
                                               : 0.0;
    double norms = halves * s->norms * transformer_norm_parameters(m) + qk_norms +
                   (m->attention.sinks ? s->attention.heads : 0.0);
    bool all = m->biases || m->attention.biases == ATTENTION_BIASES_ALL;
    bool some = all || m->attention.biases == ATTENTION_BIASES_QKV;
    double biases = (some ? s->attention.query + 2.0 * s->attention.key : 0.0) +
                    (all && attends ? s->hidden : 0.0) +
                    (m->biases && s->ffn > 0.0 ? s->gates * s->ffn + s->hidden : 0.0);
    return attention + ffn + norms + biases;
}

static void add_matrix(struct layer *out, enum piece piece, struct weight_matrix matrix)
{
    CHECK(out->matrix_count < LAYER_MATRIX_MAX);
    matrix.experts = piece == PIECE_EXPERT_UP || piece == PIECE_EXPERT_DOWN;
    out->matrices[out->matrix_count++] = matrix;
}

/* An adapter's two matrices are what is trained, in place of those beside them. */
static void add_adapter(const struct rank_share *s, struct layer *out, enum piece piece,
                        const struct linear *l)
{
    const struct adapter_spec *adapter = &s->context->adapter;
    const double rank = (double)adapter->rank;
    if (!transformer_adapter_targets(s, piece))
        return;
    out->adapter_parameters += adapter_parameters(adapter, l->inputs, l->outputs);
    add_matrix(out, piece, (struct weight_matrix){l->inputs, rank, 1.0, false});
    add_matrix(out, piece, (struct weight_matrix){rank, l->outputs, 1.0, false});
}

static void add_module(const struct rank_share *s, struct layer *out, enum piece piece,
                       const struct linear *l)
{
    CHECK(out->module_count < LAYER_MODULE_MAX);
    out->modules[out->module_count++] = l->inputs * l->outputs * l->groups;
    if (precision_narrow(s->context->precision) && !l->wide)
        out->narrow_parameters += l->inputs * l->outputs * l->groups;
    if (s->context->adapter.kind != ADAPTER_NONE) {
        add_adapter(s, out, piece, l);
        return;
    }
    const bool one = piece == PIECE_QKV && !(s->latent.kv_rank > 0.0) && s->mixer.kind == NULL &&
                     !s->context->software->layer.separate_projections;
    const double parts[] = {one ? s->attention.query + s->attention.gate : l->outputs,
                            s->attention.key, s->attention.value};
    for (unsigned i = 0; i < (one ? 3 : 1); i++)
        add_matrix(out, piece, (struct weight_matrix){l->inputs, parts[i], l->groups, false});
}

/* What is used head by head is kept as one matrix from the latent to keys and values. */
static struct linear stored_up(const struct rank_share *s, const struct linear *used)
{
    struct linear out = *used;
    out.inputs = s->latent.kv_rank;
    out.outputs =
        s->attention.heads * (s->attention.head_size - s->latent.rope_size) + s->attention.value;
    out.groups = 1.0;
    return out;
}

static void list_modules(const struct rank_share *s, struct layer *out)
{
    static const enum piece pieces[] = {
        PIECE_LATENT, PIECE_INDEX, PIECE_QKV,       PIECE_PROJECT,     PIECE_UP,
        PIECE_DOWN,   PIECE_ROUTE, PIECE_EXPERT_UP, PIECE_EXPERT_DOWN, PIECE_COMBINE};
    for (unsigned i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct linear linears[PIECE_LINEAR_MAX];
        unsigned count = 0;
        if (transformer_piece_present(s, pieces[i]))
            count = transformer_piece_linears(s, pieces[i], linears);
        if (pieces[i] == PIECE_QKV && s->sparse.row > 0.0)
            linears[1] = stored_up(s, &linears[1]);
        for (unsigned k = 0; k < count; k++)
            add_module(s, out, pieces[i], &linears[k]);
    }
}

void transformer_shard(const struct rank_share *s, struct layer *out)
{
    out->expert_parameters = s->experts.count > 0.0 ? experts_shard(s) : 0.0;
    out->parameters = shard_parameters(s) + out->expert_parameters;
    list_modules(s, out);
}
