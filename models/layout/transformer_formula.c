/* transformer_formula.c - FLOPs of a token as terms of letters. A parameter takes two FLOPs forward
 * and four backward (its input's gradient and its own), attention two for each key and element of a
 * key and of a value, and twice as many backward. */
#include "models/layout/transformer_formula.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/check.h"

/* Keys that a query meets, as a letter and its share. */
struct span {
    double share;
    char letter;
};

static void set(struct formula *f, char letter, double value, const char *what)
{
    f->letters[letter - 'A'] = (struct formula_letter){what, value};
}

struct formula_letter transformer_formula_letter(const struct formula *f, char letter)
{
    CHECK(letter >= 'A' && letter <= 'z');
    return f->letters[letter - 'A'];
}

static double product(const struct formula *f, const char *letters)
{
    double out = 1.0;
    for (; *letters != '\0'; letters++)
        out *= transformer_formula_letter(f, *letters).value;
    return out;
}

/* What is nothing is not said. */
static void add(struct formula *f, double factor, const char *letters)
{
    if (factor * product(f, letters) == 0.0)
        return;
    CHECK(f->term_count < FORMULA_TERM_MAX);
    struct formula_term *term = &f->terms[f->term_count++];
    CHECK(strlen(letters) < sizeof term->letters);
    term->factor = factor;
    snprintf(term->letters, sizeof term->letters, "%s", letters);
}

static void add_keys(struct formula *f, double factor, const char *letters, struct span keys)
{
    char all[sizeof f->terms[0].letters];
    snprintf(all, sizeof all, "%s%c", letters, keys.letter);
    add(f, factor * keys.share, all);
}

/* A module that predicts further ahead has a layer like the last, with an indexer of its own. */
static void count_layers(const struct model_shape *m, uint64_t sequence, struct formula *f)
{
    double whole = 0.0, windowed = 0.0, recurrent = 0.0, indexers = 0.0;
    const uint64_t all = m->layers + m->mtp_layers;
    const bool sparse = m->latent.indexer.heads > 0;
    for (uint64_t i = 0; i < all; i++) {
        const uint64_t layer = i < m->layers ? i : m->layers - 1;
        const enum layer_form form = transformer_form(m, layer);
        const bool attends = layer_form_attends(form);
        const bool within = !sparse && transformer_span(m, layer, sequence) > 0;
        recurrent += layer_form_mixes(form) ? 1.0 : 0.0;
        whole += attends && !within ? 1.0 : 0.0;
        windowed += attends && within ? 1.0 : 0.0;
        if (attends && sparse && (i >= m->layers || transformer_scores_keys(m, layer)))
            indexers += 1.0;
    }
    set(f, 'L', whole,
        sparse                 ? "layers of sparse attention"
        : whole == (double)all ? "layers"
                               : "layers that attend to the whole sequence");
    set(f, 'W', windowed, "layers that attend within a window");
    set(f, 'R', recurrent, "recurrent layers");
    set(f, 'I', indexers, "layers with an indexer");
    set(f, 'D', indexers * transformer_indexer_parameters(m),
        "parameters of indexers, whose input gets no gradient");
}

static void set_parameters(const struct model_shape *m, double adapters, struct formula *f)
{
    const bool experts = m->moe.experts > 0;
    set(f, 'N', transformer_active_parameters(m),
        adapters > 0.0
            ? "frozen parameters that multiply a token (the input embedding is looked up)"
        : experts ? "parameters that multiply a token (of its own experts alone; the input "
                    "embedding is looked up)"
                  : "parameters that multiply a token (the input embedding is looked up)");
    set(f, 'n', adapters, "parameters of adapters");
    set(f, 'P', transformer_prediction_active_parameters(m),
        "those of modules that predict further ahead, each with the head and counted as a layer");
}

static void set_widths(const struct model_shape *m, struct formula *f)
{
    const double heads = (double)m->attention.heads, size = (double)m->attention.head_size;
    const double rotated = (double)m->latent.rope_head_size;
    const bool sparse = m->latent.indexer.heads > 0;
    set(f, 'h', heads * size, "(heads x head size)");
    set(f, 'a', heads, "heads");
    set(f, 'e',
        sparse ? 2.0 * (double)m->latent.kv_rank + rotated
               : size + rotated + (double)m->latent.v_head_size,
        sparse ? "elements of a key and of a value in the latent"
               : "elements of a key and of a value of a head");
    set(f, 'x', (double)(m->latent.indexer.heads * m->latent.indexer.size),
        "elements of an indexer's query");
    set(f, 'S', m->pattern.kind != NULL ? layer_state_elements(&m->pattern.sizes) : 0.0,
        "elements of the state of such a layer");
}

static void set_keys(const struct model_shape *m, uint64_t sequence, struct formula *f)
{
    const double all = (double)sequence;
    set(f, 's', all, "tokens of a sequence");
    set(f, 'w', (double)m->windows.length, "tokens of a window");
    set(f, 'u', transformer_keys_met(WINDOW_SLIDING, m->windows.length, all, true),
        "tokens of a window that a query sees in the mean");
    set(f, 'k', transformer_keys_chosen(m, all, false), "keys that are chosen for a query");
    set(f, 'j', transformer_keys_chosen(m, all, true), "chosen keys that a query sees in the mean");
}

static void add_attention(const struct model_shape *m, uint64_t sequence, bool causal,
                          struct formula *f)
{
    const bool latent = m->latent.kv_rank > 0, sparse = m->latent.indexer.heads > 0;
    const struct span whole = {causal ? 0.5 : 1.0, 's'};
    const bool chunked = m->windows.kind == WINDOW_CHUNKED;
    const struct span window = {causal && chunked ? 0.5 : 1.0, causal && !chunked ? 'u' : 'w'};
    const bool chooses = sparse && m->latent.indexer.keys < sequence;
    const struct span chosen = {1.0, causal ? 'j' : 'k'}, met = chooses ? chosen : whole;
    const double factor = latent ? 6.0 : 12.0;
    add_keys(f, factor, latent ? "Lae" : "Lh", met);
    add_keys(f, factor, latent ? "Wae" : "Wh", window);
    /* Scores of all keys forward, their gradients of chosen ones. */
    add_keys(f, 2.0, "Ix", whole);
    add_keys(f, 4.0, "Ix", met);
}

void transformer_formula(const struct model_shape *m, uint64_t sequence, bool causal,
                         double adapters, struct formula *out)
{
    *out = (struct formula){0};
    set_parameters(m, adapters, out);
    count_layers(m, sequence, out);
    set_widths(m, out);
    set_keys(m, sequence, out);
    add(out, adapters > 0.0 ? 4.0 : 6.0, "N"); /* frozen weights have no gradients of their own */
    add(out, 6.0, "n");
    add(out, 6.0, "P");
    add(out, -2.0, "D");
    add_attention(m, sequence, causal, out);
    if (m->pattern.kind != NULL)
        add(out, 3.0 * m->pattern.kind->state_flops, "RS");
}

double transformer_formula_flops(const struct formula *f)
{
    double sum = 0.0;
    for (unsigned i = 0; i < f->term_count; i++)
        sum += f->terms[i].factor * product(f, f->terms[i].letters);
    return sum;
}

void transformer_formula_text(const struct formula *f, char text[FORMULA_TEXT_MAX])
{
    size_t length = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < f->term_count; i++) {
        const struct formula_term *term = &f->terms[i];
        const double size = fabs(term->factor);
        char factor[16] = "";
        if (size != 1.0)
            snprintf(factor, sizeof factor, "%g", size);
        const char *sign = term->factor < 0.0 ? (i > 0 ? " - " : "-") : i > 0 ? " + " : "";
        length += (size_t)snprintf(text + length, FORMULA_TEXT_MAX - length, "%s%s%s", sign, factor,
                                   term->letters);
        CHECK(length < FORMULA_TEXT_MAX);
    }
}

double transformer_flops_per_token(const struct model_shape *m, uint64_t sequence, bool causal)
{
    struct formula formula;
    transformer_formula(m, sequence, causal, 0.0, &formula);
    return transformer_formula_flops(&formula);
}
