#include "analysis/exchange/launch/flavor.h"

#include <inttypes.h>

/* torchtitan/models/llama3/__init__.py */
static const struct flavor flavors[] = {
    {"llama3", "8B", 32, 4096, 32, 8, 14336, 128256},
    {"llama3", "70B", 80, 8192, 64, 8, 28672, 128256},
    {"llama3", "405B", 126, 16384, 128, 8, 53248, 128256},
};

/* A list that grows: "a, b". */
struct words {
    struct arena *arena;
    const char *text;
};

static void add(struct words *w, bool has, const char *part)
{
    if (has)
        w->text = arena_format(w->arena, "%s, %s", w->text, part);
}

static void add_number(struct words *w, const char *format, uint64_t number)
{
    if (number > 0)
        add(w, true, arena_format(w->arena, format, number));
}

static void add_experts(struct words *w, const struct model_shape *m)
{
    if (m->moe.experts == 0)
        return;
    add(w, true,
        arena_format(w->arena,
                     "%" PRIu64 " experts of inner width %" PRIu64 " with %" PRIu64 " a token",
                     m->moe.experts, m->moe.ffn_hidden, m->moe.experts_per_token));
    add_number(w, "%" PRIu64 " wide, to which tokens are projected", m->moe.latent);
    add_number(w, "%" PRIu64 " shared", m->moe.shared_experts);
    add(w, transformer_gates_shared(m), "a gate for the shared");
    add_number(w, "dense blocks in the first %" PRIu64, m->moe.dense_layers);
    if (m->moe.interval > 1)
        add_number(w, "experts in one of %" PRIu64 " layers", m->moe.interval);
    if (m->moe.groups > 1)
        add(w, true,
            arena_format(w->arena, "those of a token in %" PRIu64 " of %" PRIu64 " groups",
                         m->moe.groups_per_token, m->moe.groups));
    add(w, m->moe.router_bias, "biases of the router");
    add(w, m->moe.clamped, "clamped activations of the experts");
}

static void add_attention(struct words *w, const struct model_shape *m, uint64_t sequence)
{
    if (m->latent.kv_rank > 0)
        add(w, true,
            arena_format(w->arena,
                         "latent attention of ranks %" PRIu64 " and %" PRIu64
                         " with heads of %" PRIu64 " + %" PRIu64 " and %" PRIu64,
                         m->latent.q_rank, m->latent.kv_rank, m->attention.head_size,
                         m->latent.rope_head_size, m->latent.v_head_size));
    else if (m->attention.head_size * m->attention.heads != m->hidden)
        add_number(w, "head_dim %" PRIu64, m->attention.head_size);
    add(w, m->norm.qk_norms || m->norm.qk_norms_whole,
        m->norm.qk_norms ? "norms of queries and keys by head"
                         : "norms of queries and keys as a whole");
    if (!m->biases && m->attention.biases != ATTENTION_BIASES_NONE)
        add(w, true,
            arena_format(w->arena, "biases of the attention (%s)",
                         attention_bias_names[m->attention.biases]));
    if (m->windows.length > 0 && m->windows.length < sequence) {
        add(w, true,
            arena_format(w->arena, "a %s window of %" PRIu64, window_names[m->windows.kind],
                         m->windows.length));
        add_number(w, "none of it in one of %" PRIu64 " layers", m->windows.full_interval);
    }
    add(w, m->attention.sinks, "sinks");
}

/* What is not of the plain decoder: RMS norms, rotary positions, a SwiGLU block, no biases, an
 * embedding and a head. */
static const char *parts_of(struct arena *arena, const struct model_shape *m, uint64_t sequence)
{
    struct words w = {arena, ""};
    add_experts(&w, m);
    add_attention(&w, m, sequence);
    add(&w, m->ffn != FFN_SWIGLU, ffn_names[m->ffn]);
    add(&w, m->norm.kind != NORM_RMS, norm_names[m->norm.kind]);
    if (m->norm.kind == NORM_LAYERNORM)
        add(&w, true,
            m->biases || m->norm.biases ? "biases of the norms" : "no biases of the norms");
    if (transformer_norms(m) != 2)
        add_number(&w, "%" PRIu64 " norms a layer", transformer_norms(m));
    if (m->position != POSITION_ROPE)
        add(&w, true, arena_format(arena, "%s positions", position_names[m->position]));
    add(&w, m->biases, "biases");
    add(&w, m->tied_embeddings, "tied embeddings");
    add(&w, m->dropout_ratio > 0.0, "dropout");
    if (m->usual.facts != NULL && *m->usual.facts != '\0')
        add(&w, true, m->usual.facts);
    return w.text;
}

const struct flavor *flavor_of(const struct model_shape *m, uint64_t sequence)
{
    struct arena *arena = arena_create();
    const bool plain = *parts_of(arena, m, sequence) == '\0';
    arena_destroy(arena);
    for (unsigned i = 0; i < sizeof flavors / sizeof flavors[0] && plain; i++) {
        const struct flavor *f = &flavors[i];
        if (m->layers == f->layers && m->hidden == f->hidden && m->attention.heads == f->heads &&
            m->attention.kv_heads == f->kv_heads && m->ffn_hidden == f->ffn &&
            m->vocabulary == f->vocabulary)
            return f;
    }
    return NULL;
}

const char *flavor_words(struct arena *arena, const struct model_shape *m, uint64_t sequence)
{
    return arena_format(arena,
                        "dim %" PRIu64 ", n_layers %" PRIu64 ", n_heads %" PRIu64
                        ", n_kv_heads %" PRIu64 ", inner width %" PRIu64 ", vocab_size %" PRIu64
                        "%s",
                        m->hidden, m->layers, m->attention.heads, m->attention.kv_heads,
                        m->ffn_hidden, m->vocabulary, parts_of(arena, m, sequence));
}
