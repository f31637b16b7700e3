/* transformer_product.c - the linear layers of each piece of a layer, and which of their products
 * are computed again. What is kept (transformer_saved.c) and what runs (transformer_piece.c) both
 * follow it. */
#include "models/workload/transformer_piece.h"

#include "sim/check.h"

/* One linear layer after another that read the same input. */
static unsigned separate(const struct rank_share *s, const char *const names[][3],
                         const double outputs[], unsigned count, struct linear *out)
{
    for (unsigned i = 0; i < count; i++)
        out[i] = (struct linear){
            names[i][0], names[i][1], names[i][2], s->tokens, s->hidden, outputs[i], i > 0, true,
            false,       1.0,         0.0,         0.0,       false,     false,      false, false};
    return count;
}

/* A linear layer of all tokens, whose input is a norm's when it is split by outputs. */
static struct linear whole(const struct rank_share *s, const char *const names[3], double inputs,
                           double outputs, bool column)
{
    return (struct linear){names[0], names[1], names[2], s->tokens, inputs, outputs, false, column,
                           false,    1.0,      0.0,      0.0,       false,  false,   false, false};
}

/* Latent attention: what goes down is not split, and reads this rank's part of the sequence
 * (NVIDIA/Megatron-LM megatron/core/transformer/multi_latent_attention.py). */
static unsigned latent_linears(const struct rank_share *s, struct linear *out)
{
    static const char *const query[3] = {"query down", "query down dgrad", "query down wgrad"};
    static const char *const keys[3] = {"key down", "key down dgrad", "key down wgrad"};
    unsigned count = 0;
    if (s->latent.q_rank > 0.0)
        out[count++] = whole(s, query, s->hidden, s->latent.q_rank, true);
    out[count] = whole(s, keys, s->hidden, s->latent.kv_rank + s->latent.rope_size, true);
    out[count].shares = count > 0;
    count++;
    for (unsigned i = 0; i < count; i++)
        out[i].rows = s->norm_tokens;
    return count;
}

static unsigned qkv_linears(const struct rank_share *s, struct linear *out)
{
    if (s->mixer.kind != NULL)
        return transformer_mixer_linears(s, out);
    if (s->sparse.row > 0.0)
        return transformer_sparse_linears(s, PIECE_QKV, out);
    static const char *const qkv[][3] = {{"query", "query dgrad", "query wgrad"},
                                         {"key", "key dgrad", "key wgrad"},
                                         {"value", "value dgrad", "value wgrad"}};
    static const char *const one[3] = {"qkv", "qkv dgrad", "qkv wgrad"};
    static const char *const up[3] = {"key up", "key up dgrad", "key up wgrad"};
    if (s->latent.kv_rank > 0.0) {
        const double unrotated =
            s->attention.heads * (s->attention.head_size - s->latent.rope_size);
        out[0] = whole(s, qkv[0], s->latent.q_rank > 0.0 ? s->latent.q_rank : s->hidden,
                       s->attention.query, true);
        out[1] = whole(s, up, s->latent.kv_rank, unrotated + s->attention.value, true);
        return 2;
    }
    if (s->context->software->layer.separate_projections)
        return separate(s, qkv,
                        (double[]){s->attention.query + s->attention.gate, s->attention.key,
                                   s->attention.value},
                        3, out);
    out[0] =
        whole(s, one, s->hidden,
              s->attention.query + s->attention.gate + s->attention.key + s->attention.value, true);
    return 1;
}

static unsigned up_linears(const struct rank_share *s, struct linear *out)
{
    static const char *const up[][3] = {{"gate", "gate dgrad", "gate wgrad"},
                                        {"up", "up dgrad", "up wgrad"}};
    if (s->context->software->layer.separate_projections && s->gates > 1.0)
        return separate(s, up, (double[]){s->ffn, s->ffn}, 2, out);
    out[0] = whole(s, up[1], s->hidden, s->gates * s->ffn, true);
    return 1;
}

bool transformer_fused_experts(const struct rank_share *share)
{
    return share->context->software->experts.fused_mlp &&
           share->element.linear_bytes < share->element.core_bytes;
}

/* One product for each expert of this rank, of its part of the rows. */
static unsigned expert_linear(const struct rank_share *s, bool up, struct linear *out)
{
    static const char *const names[][3] = {
        {"expert up", "expert up dgrad", "expert up wgrad"},
        {"expert down", "expert down dgrad", "expert down wgrad"}};
    const double width = s->experts.ffn, rows = s->experts.width;
    out[0] = whole(s, names[up ? 0 : 1], up ? rows : width, up ? s->gates * width : rows, false);
    out[0].rows = s->experts.filled;
    out[0].tiled = s->experts.tiled;
    out[0].groups = s->experts.count;
    out[0].input_narrow = !up && transformer_fused_experts(s);
    out[0].gradient_narrow = up && transformer_fused_experts(s);
    return 1;
}

/* The router; and where experts work in a latent the way there, of the same input, and back
 * (NVIDIA/Megatron-LM megatron/core/transformer/moe/moe_layer.py, fc1_latent_proj). */
static unsigned route_linears(const struct rank_share *s, struct linear *out)
{
    static const char *const router[3] = {"router", "router dgrad", "router wgrad"};
    static const char *const there[3] = {"expert latent", "expert latent dgrad",
                                         "expert latent wgrad"};
    out[0] = whole(s, router, s->hidden, s->experts.all, true);
    out[0].wide = true;
    out[1] = whole(s, there, s->hidden, s->experts.latent, true);
    out[1].shares = true;
    out[0].rows = out[1].rows = s->norm_tokens;
    return s->experts.latent > 0.0 ? 2 : 1;
}

static unsigned combine_linears(const struct rank_share *s, struct linear *out)
{
    static const char *const back[3] = {"expert output", "expert output dgrad",
                                        "expert output wgrad"};
    out[0] = whole(s, back, s->experts.latent, s->hidden, false);
    out[0].rows = s->norm_tokens;
    return s->experts.latent > 0.0 ? 1 : 0;
}

unsigned transformer_piece_linears(const struct rank_share *s, enum piece piece,
                                   struct linear out[PIECE_LINEAR_MAX])
{
    static const char *const project[3] = {"projection", "projection dgrad", "projection wgrad"};
    static const char *const down[3] = {"down", "down dgrad", "down wgrad"};
    switch (piece) {
    case PIECE_LATENT:
        return latent_linears(s, out);
    case PIECE_INDEX:
    case PIECE_VALUE:
        return transformer_sparse_linears(s, piece, out);
    case PIECE_QKV:
        return qkv_linears(s, out);
    case PIECE_PROJECT:
        out[0] = whole(s, project, s->attention.output, s->hidden, false);
        out[0].cached = s->element.attention_bytes;
        return 1;
    case PIECE_UP:
        return up_linears(s, out);
    case PIECE_ROUTE:
        return route_linears(s, out);
    case PIECE_COMBINE:
        return combine_linears(s, out);
    case PIECE_EXPERT_UP:
    case PIECE_EXPERT_DOWN:
        return expert_linear(s, piece == PIECE_EXPERT_UP, out);
    case PIECE_DOWN:
        out[0] = whole(s, down, s->ffn, s->hidden, false);
        return 1;
    case PIECE_PERMUTE:
    case PIECE_CLOSE:
    case PIECE_NORM1:
    case PIECE_ROPE:
    case PIECE_RING:
    case PIECE_CHOOSE:
    case PIECE_CORE:
    case PIECE_TARGET:
    case PIECE_GATE:
    case PIECE_RESIDUAL:
    case PIECE_NORM2:
    case PIECE_ACTIVATE:
    case PIECE_EXPERT_ACTIVATE:
    case PIECE_FINAL_NORM:
    case PIECE_KIND_COUNT:
        break;
    }
    UNREACHABLE("the piece has linear layers");
}

/* Which product of a layer it is, counted from 1. */
static unsigned product_of(const struct rank_share *s, enum piece piece, unsigned linear)
{
    static const enum piece order[] = {PIECE_QKV, PIECE_PROJECT, PIECE_UP, PIECE_DOWN};
    struct linear ignored[PIECE_LINEAR_MAX];
    unsigned before = 0;
    for (unsigned i = 0; order[i] != piece; i++) {
        CHECK(order[i] != PIECE_DOWN);
        before += transformer_piece_linears(s, order[i], ignored);
    }
    return before + linear + 1;
}

bool transformer_product_repeated(const struct rank_share *s, enum piece piece, unsigned linear)
{
    if (s->context->recompute == RECOMPUTE_MODULES)
        return piece == PIECE_QKV && s->latent.kv_rank > 0.0;
    return s->context->recompute == RECOMPUTE_PER_OPERATOR && piece != PIECE_DOWN &&
           product_of(s, piece, linear) % 2 == 0;
}
