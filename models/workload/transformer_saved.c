/* transformer_saved.c - what each piece of a layer keeps for its backward pass, and what it needs
 * only while it runs.
 *
 * With dropout, 16-bit elements, one-byte masks, f = 4h and unfused attention the list adds up to
 * Korthikanti et al., arXiv:2205.05198, equations 1 to 4: s b h (34 + 5 a s / h) on one rank,
 * s b h (10 + 24/t + 5 a s / (h t)) with tensor parallelism, all of it over t with sequence
 * parallelism. As there, the statistics of norms (8 bytes a row) and the state of random numbers
 * are left out. */
#include "models/workload/transformer_piece.h"

#include "sim/check.h"

#define FP32_BYTES 4.0
#define MASK_BYTES 1.0

static double scores(const struct rank_share *s)
{
    return (double)s->context->microbatch * s->attention.heads * s->attention.queries *
           s->attention.keys;
}

/* Softmax's output, the mask and what dropout leaves; or a row statistic of the flash kernel, whose
 * output is what the projection keeps. */
static void keep_core(const struct rank_share *s, struct segment *out)
{
    if (s->context->attention != ATTENTION_MATH) {
        transformer_piece_saved(out, "log-sum-exp", s->tokens * s->attention.heads * FP32_BYTES,
                                true);
        return;
    }
    transformer_piece_saved(out, "softmax output", scores(s) * s->element.core_bytes, true);
    if (s->dropout) {
        transformer_piece_saved(out, "attention dropout mask", scores(s) * MASK_BYTES, true);
        transformer_piece_saved(out, "attention dropout output", scores(s) * s->element.core_bytes,
                                true);
    }
}

static void keep_projection(const struct rank_share *s, struct segment *out)
{
    bool flash = s->context->attention != ATTENTION_MATH;
    double elements = s->tokens * s->attention.output;
    const bool another = s->element.kept_bytes < s->element.core_bytes ||
                         s->context->ring.cp_heads || s->attention.gate > 0.0;
    if (s->element.attention_bytes > 0.0) {
        transformer_piece_saved(out, "attention output", elements * s->element.attention_bytes,
                                false);
        out->saved.tensors[out->saved.count - 1].weights = true;
        return;
    }
    if (flash && another && s->mixer.kind == NULL && !(s->sparse.row > 0.0))
        transformer_piece_saved(out, "attention output", elements * s->element.core_bytes, false);
    transformer_piece_saved(out, "projection input", elements * s->element.kept_bytes, false);
    out->saved.tensors[out->saved.count - 1].weights = true;
}

/* What recomputation per operator makes again, of what stands last. */
static void rebuilt(const struct rank_share *s, struct segment *out)
{
    out->saved.tensors[out->saved.count - 1].rebuilt =
        s->context->recompute == RECOMPUTE_PER_OPERATOR;
}

/* The output of a norm, of which the input is kept, on this rank. */
static void rebuilt_norm(const struct rank_share *s, struct segment *out)
{
    out->saved.tensors[out->saved.count - 1].rebuilt =
        s->context->recompute == RECOMPUTE_PER_OPERATOR || transformer_norms_rebuilt(s);
}

/* The output of a product is there again only if that product is repeated. */
static void keep_product(const struct rank_share *s, const char *name, double bytes,
                         enum piece piece, unsigned linear, struct segment *out)
{
    transformer_piece_saved(out, name, bytes, false);
    out->saved.tensors[out->saved.count - 1].rebuilt =
        transformer_product_repeated(s, piece, linear);
}

static void keep_gate(const struct rank_share *s, struct segment *out)
{
    if (s->attention.gate > 0.0)
        transformer_piece_saved(out, "attention gate",
                                s->tokens * s->attention.gate * s->element.core_bytes, false);
}

static void keep_qkv(const struct rank_share *s, struct segment *out)
{
    const unsigned apart = s->context->software->layer.separate_projections ? 1 : 0;
    const double key = s->tokens * s->attention.key * s->element.core_bytes;
    const double inputs =
        s->latent.kv_rank > 0.0
            ? (s->latent.q_rank > 0.0 ? s->latent.q_rank : s->hidden) + s->latent.kv_rank
            : s->hidden;
    transformer_piece_saved(out, "qkv input", s->input_tokens * inputs * s->element.kept_bytes,
                            false);
    out->saved.tensors[out->saved.count - 1].weights = true;
    rebuilt_norm(s, out);
    if (s->mixer.kind != NULL) {
        transformer_mixer_keep(s, PIECE_QKV, out);
        return;
    }
    keep_product(s, "query", s->tokens * s->attention.query * s->element.core_bytes, PIECE_QKV, 0,
                 out);
    keep_product(s, "key", key, PIECE_QKV, apart, out);
    keep_product(s, "value", s->tokens * s->attention.value * s->element.core_bytes, PIECE_QKV,
                 2 * apart, out);
}

/* Copies of keys and values for every head: the core's backward reads them. */
static void keep_repeated_keys(const struct rank_share *s, struct segment *out)
{
    if (!s->context->software->attention.repeats_keys ||
        s->attention.heads <= s->attention.kv_heads)
        return;
    transformer_piece_saved(
        out, "repeated keys and values",
        2.0 * s->tokens * (s->attention.query - s->attention.key) * s->element.core_bytes, false);
    rebuilt(s, out);
}

static void keep_norm(const struct rank_share *s, const char *name, double norms,
                      struct segment *out)
{
    if (s->context->software->layer.save_norm_input)
        transformer_piece_saved(out, name,
                                norms * s->norm_tokens * s->hidden * s->element.core_bytes, false);
}

/* Sines and cosines are shared by all layers; norms keep what comes from the projection. */
static void keep_rope(const struct rank_share *s, struct segment *out)
{
    const struct layer_context *c = s->context;
    if (c->model->norm.qk_norms && c->software->layer.save_norm_input)
        transformer_piece_saved(
            out, "qk norm input",
            s->tokens * (s->attention.query + s->attention.key) * s->element.core_bytes, false);
}

static void keep_mask(const struct rank_share *s, const char *name, struct segment *out)
{
    if (s->dropout)
        transformer_piece_saved(out, name, s->norm_tokens * s->hidden * MASK_BYTES, false);
}

/* Unfused, a gate's activation is a tensor of its own, which the product keeps as an input. */
static void keep_activation(const struct rank_share *s, struct segment *out)
{
    const struct software_profile *p = s->context->software;
    const double factor = s->gates > 1.0 ? p->layer.activation_saved_factor : 1.0;
    const double elements = s->tokens * s->gates * s->ffn;
    if (!(p->layer.separate_projections && s->gates > 1.0)) {
        keep_product(s, "activation input", elements * s->element.activation_bytes * factor,
                     PIECE_UP, 0, out);
        return;
    }
    const double each = s->tokens * s->ffn * s->element.activation_bytes;
    keep_product(s, "gate", each, PIECE_UP, 0, out);
    keep_product(s, "up", each, PIECE_UP, 1, out);
    transformer_piece_saved(out, "activated gate", 2.0 * each * (factor - 1.0), false);
    out->saved.tensors[out->saved.count - 1].rebuilt =
        s->context->recompute == RECOMPUTE_PER_OPERATOR ||
        s->context->recompute == RECOMPUTE_MODULES;
}

/* A frozen product without an adapter does not read its input again. */
static bool reads_input(const struct rank_share *s, enum piece piece)
{
    return s->context->adapter.kind == ADAPTER_NONE || transformer_adapter_targets(s, piece);
}

static void keep_down(const struct rank_share *s, struct segment *out)
{
    if (!reads_input(s, PIECE_DOWN))
        return;
    transformer_piece_saved(out, "activation output", s->tokens * s->ffn * s->element.kept_bytes,
                            false);
    out->saved.tensors[out->saved.count - 1].weights = true;
    out->saved.tensors[out->saved.count - 1].rebuilt =
        s->context->recompute == RECOMPUTE_PER_OPERATOR ||
        s->context->recompute == RECOMPUTE_MODULES;
    if (s->context->recompute == RECOMPUTE_PER_OPERATOR &&
        s->context->software->layer.recompute_keeps_last)
        transformer_piece_saved(out, "mlp output", s->tokens * s->hidden * s->element.core_bytes,
                                false);
}

static void keep_up(const struct rank_share *s, struct segment *out)
{
    /* Where norms keep nothing else, it is their output. */
    if (!reads_input(s, PIECE_UP) && s->context->software->layer.save_norm_input)
        return;
    /* Beside exchanges it is gathered outside of the product, which keeps what it reads (NVIDIA/
     * Megatron-LM megatron/core/transformer/moe/shared_experts.py). */
    const double rows = s->shared_beside ? s->tokens : s->input_tokens;
    transformer_piece_saved(out, "mlp input", rows * s->hidden * s->element.kept_bytes, false);
    out->saved.tensors[out->saved.count - 1].weights = true;
    rebuilt_norm(s, out);
}

void transformer_piece_keep(const struct rank_share *s, enum piece piece, struct segment *out)
{
    if (s->mixer.kind != NULL &&
        (piece == PIECE_ROPE || piece == PIECE_CORE || piece == PIECE_GATE)) {
        transformer_mixer_keep(s, piece, out);
        return;
    }
    if (s->sparse.row > 0.0 && piece >= PIECE_INDEX && piece <= PIECE_VALUE) {
        transformer_sparse_keep(s, piece, transformer_product_repeated(s, PIECE_QKV, 0), out);
        return;
    }
    switch (piece) {
    case PIECE_CLOSE:
        keep_mask(s, "mlp output dropout mask", out);
        break;
    case PIECE_NORM1:
        keep_norm(s, "attention norm input", s->norms, out);
        break;
    case PIECE_QKV:
        keep_qkv(s, out);
        break;
    case PIECE_CORE:
        keep_repeated_keys(s, out);
        keep_core(s, out);
        break;
    case PIECE_GATE:
        keep_gate(s, out);
        break;
    case PIECE_PROJECT:
        keep_projection(s, out);
        break;
    case PIECE_RESIDUAL:
        keep_mask(s, "attention output dropout mask", out);
        break;
    case PIECE_NORM2:
        keep_norm(s, "mlp norm input", s->norms, out);
        if (s->context->software->layer.save_norm_input)
            rebuilt(s, out);
        break;
    case PIECE_UP:
        keep_up(s, out);
        break;
    case PIECE_ACTIVATE:
        keep_activation(s, out);
        break;
    case PIECE_DOWN:
        keep_down(s, out);
        transformer_experts_keep(s, piece, out);
        break;
    case PIECE_FINAL_NORM:
        keep_norm(s, "final norm input", 1.0, out);
        break;
    case PIECE_ROPE:
        keep_rope(s, out);
        break;
    case PIECE_LATENT:
    case PIECE_ROUTE:
    case PIECE_PERMUTE:
    case PIECE_EXPERT_UP:
    case PIECE_EXPERT_ACTIVATE:
    case PIECE_EXPERT_DOWN:
    case PIECE_COMBINE:
        transformer_experts_keep(s, piece, out);
        break;
    case PIECE_RING: /* blocks that pass by are not kept */
    case PIECE_INDEX:
    case PIECE_CHOOSE:
    case PIECE_TARGET:
    case PIECE_VALUE:
    case PIECE_KIND_COUNT:
        break;
    }
}

/* Unfused scores exist before the softmax; keys and values gathered over context ranks, or the
 * block that is under way in a ring, live while the core runs; so does what is exchanged. */
static double core_temporary(const struct rank_share *s, bool backward)
{
    const struct layer_context *c = s->context;
    double held = c->ring.cp_ring ? 2.0 * s->tokens : (double)(c->microbatch * c->sequence);
    double gathered =
        c->cp > 1 ? held * (s->attention.sent_key + s->attention.sent_value) * s->element.core_bytes
                  : 0.0;
    if (c->ring.cp_heads) /* what is sent, beside what comes */
        gathered = s->tokens *
                       (s->attention.query + s->attention.sent_key + s->attention.sent_value) *
                       s->element.core_bytes +
                   (c->ring.cp_ring ? gathered : 0.0);
    bool math = c->attention == ATTENTION_MATH;
    if (!backward)
        return gathered + (math ? scores(s) * s->element.core_bytes : 0.0);
    double gradients =
        s->tokens *
        (s->attention.query + s->attention.output + s->attention.key + s->attention.value) *
        s->element.core_bytes;
    /* Two gradients of the scores, or the fp32 accumulator of dq (arXiv:2307.08691 section 3.1). */
    double inner = math ? 2.0 * scores(s) * s->element.core_bytes
                        : s->tokens * s->attention.query * FP32_BYTES;
    return 2.0 * gathered + gradients + inner;
}

/* Gathered inputs are dropped after the forward pass; the backward pass gathers them and the
 * gradient of the output. */
static double gathered_input(const struct rank_share *s)
{
    return s->gathers ? s->tokens * s->hidden * s->element.core_bytes : 0.0;
}

double transformer_piece_temporary(const struct rank_share *s, enum piece piece, bool backward)
{
    double row = s->tokens * s->element.core_bytes;
    if (s->mixer.kind != NULL &&
        (piece == PIECE_ROPE || piece == PIECE_CORE || piece == PIECE_GATE))
        return transformer_mixer_temporary(s, piece, backward);
    if (s->sparse.row > 0.0 && piece >= PIECE_INDEX && piece <= PIECE_VALUE)
        return transformer_sparse_temporary(s, piece, backward);
    switch (piece) {
    case PIECE_QKV:
        return gathered_input(s) +
               (backward ? row * (s->hidden + s->attention.query + s->attention.gate +
                                  s->attention.key + s->attention.value + s->mixer.outer.entry)
                         : 0.0);
    case PIECE_GATE:
        return backward ? 2.0 * row * s->attention.gate : 0.0;
    case PIECE_ROPE:
        return row * (s->attention.query + s->attention.key);
    case PIECE_RING:
    case PIECE_CORE:
        return core_temporary(s, backward);
    case PIECE_PROJECT:
        return backward ? gathered_input(s) + row * s->attention.output : 0.0;
    case PIECE_UP:
        return gathered_input(s) + (backward ? row * (s->hidden + s->gates * s->ffn) : 0.0);
    case PIECE_ACTIVATE:
        return backward ? gathered_input(s) + row * (1.0 + s->gates) * s->ffn : 0.0;
    case PIECE_DOWN:
        return backward ? gathered_input(s) + row * s->ffn : 0.0;
    case PIECE_LATENT:
    case PIECE_ROUTE:
    case PIECE_PERMUTE:
    case PIECE_EXPERT_UP:
    case PIECE_EXPERT_ACTIVATE:
    case PIECE_EXPERT_DOWN:
    case PIECE_COMBINE:
        return transformer_experts_temporary(s, piece, backward);
    case PIECE_CLOSE:
    case PIECE_NORM1:
    case PIECE_RESIDUAL:
    case PIECE_NORM2:
    case PIECE_FINAL_NORM:
        return 0.0;
    case PIECE_INDEX:
    case PIECE_CHOOSE:
    case PIECE_TARGET:
    case PIECE_VALUE:
    case PIECE_KIND_COUNT:
        break;
    }
    UNREACHABLE("piece is one of this layer's");
}

double transformer_piece_apart(const struct rank_share *s, enum piece piece, unsigned *count)
{
    const bool math = s->context->attention == ATTENTION_MATH;
    const bool core = piece == PIECE_CORE || piece == PIECE_RING;
    const bool own = core && s->mixer.kind == NULL;
    *count = !own ? 0 : math && !(s->sparse.row > 0.0) ? 2 : 1;
    if (!own)
        return 0.0;
    if (s->sparse.row > 0.0)
        return transformer_sparse_apart(s);
    /* Two gradients of the scores, or the accumulator of dq. */
    return math ? scores(s) * s->element.core_bytes : s->tokens * s->attention.query * FP32_BYTES;
}
