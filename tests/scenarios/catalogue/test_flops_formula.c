/* The law of the words: the formula that stands beside an MFU, read as anybody reads it, with
 * letters bound to the numbers of the model, gives the FLOPs that the MFU counts; of every preset
 * and of random models of all kinds at once. And both are the FLOPs that are counted here layer by
 * layer, query by query. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/layout/transformer_formula.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/catalogue/catalogue.h"
#include "sim/random.h"
#include "tests/test.h"

/* What a reader knows of a model. */
struct known {
    const struct model_shape *m;
    uint64_t sequence;
    double adapters;
    double letters['z' + 1]; /* NAN: not of this model */
};

static const struct model_indexer *indexer_of(const struct model_shape *m)
{
    return &m->latent.indexer;
}

static uint64_t layers_of(const struct model_shape *m)
{
    return m->layers + m->mtp_layers;
}

static struct layer_code code_of(const struct model_shape *m, uint64_t layer)
{
    const uint64_t i = layer < m->layers ? layer : m->layers - 1;
    if (m->pattern.count == 0)
        return (struct layer_code){LAYER_WHOLE, FEED_AS_MODEL};
    return m->pattern.layers[i % m->pattern.count];
}

static bool attends(const struct model_shape *m, uint64_t layer)
{
    const uint8_t form = code_of(m, layer).form;
    return form == LAYER_WHOLE || form == LAYER_ATTENTION;
}

static bool recurs(const struct model_shape *m, uint64_t layer)
{
    const uint8_t form = code_of(m, layer).form;
    return form == LAYER_MIXED || form == LAYER_MIXER;
}

/* Llama 4, Gemma 3: every Nth layer is whole; a module has a layer like the last. */
static bool in_window(const struct model_shape *m, uint64_t layer, uint64_t sequence)
{
    const uint64_t place = layer < m->layers ? layer + 1 : m->layers;
    const bool whole = m->windows.full_interval > 0 && place % m->windows.full_interval == 0;
    return attends(m, layer) && indexer_of(m)->heads == 0 && m->windows.length > 0 &&
           m->windows.length < sequence && !whole;
}

/* The first ones, then the last of each interval; modules for themselves. */
static bool scores(const struct model_shape *m, uint64_t layer)
{
    const struct model_indexer *x = indexer_of(m);
    if (x->heads == 0 || !attends(m, layer))
        return false;
    if (layer >= m->layers || x->interval <= 1 || layer < x->first || layer == 0)
        return true;
    const uint64_t first = x->first > 0 ? x->first : 1;
    return layer >= first && (layer - first) % x->interval == x->interval - 1;
}

enum meets {
    MEETS_ALL,
    MEETS_LAST,  /* `width` before a query */
    MEETS_CHUNK, /* those of its own stretch of `width` */
};
/* Keys in the mean over the queries of a sequence, counted; itself by half under a mask. */
static double met(enum meets how, uint64_t width, uint64_t sequence, bool causal)
{
    double sum = 0.0;
    if (!causal)
        return (double)(how == MEETS_ALL || width > sequence ? sequence : width);
    for (uint64_t q = 0; q < sequence; q++) {
        const double before = (double)q + 0.5;
        if (how == MEETS_CHUNK)
            sum += (double)(q % width) + 0.5;
        else
            sum += how == MEETS_LAST ? fmin(before, (double)width) : before;
    }
    return sum / (double)sequence;
}

static double counted(const struct model_shape *m, uint64_t sequence,
                      bool (*is)(const struct model_shape *, uint64_t))
{
    double sum = 0.0;
    for (uint64_t i = 0; i < layers_of(m); i++)
        sum += is(m, i) ? 1.0 : 0.0;
    return sum;
}

static double block(const struct model_shape *m)
{
    const bool gate = m->ffn == FFN_SWIGLU || m->ffn == FFN_GEGLU;
    const double h = (double)(m->moe.latent > 0 ? m->moe.latent : m->hidden);
    const double f = (double)m->moe.ffn_hidden;
    return (gate ? 3.0 : 2.0) * h * f + (m->biases ? (gate ? 2.0 : 1.0) * f + h : 0.0);
}

/* All that there is, without the tables and the experts that a token does not visit, but with the
 * head. */
static double multiplied(const struct model_shape *m)
{
    const double table = (double)m->vocabulary * (double)m->hidden;
    double idle = 0.0, all = transformer_parameters(m, 8);
    for (uint64_t i = 0; i < m->layers; i++)
        if (transformer_has_experts(m, i))
            idle += (double)(m->moe.experts - m->moe.experts_per_token) * block(m);
    all -= m->tied_embeddings ? 0.0 : table;
    if (m->position == POSITION_LEARNED)
        all -= (double)(m->positions_max > 0 ? m->positions_max : 8) * (double)m->hidden;
    return all - idle;
}

static double of_modules(const struct model_shape *m)
{
    double one = (double)m->vocabulary * (double)m->hidden;
    if (m->mtp_layers == 0)
        return NAN;
    if (transformer_has_experts(m, m->layers - 1))
        one -= (double)(m->moe.experts - m->moe.experts_per_token) * block(m);
    return transformer_prediction_parameters(m) + (double)m->mtp_layers * one;
}

/* DeepSeek-V3.2: wq_b, wk, weights_proj and the norm of a key. */
static double of_indexer(const struct model_shape *m)
{
    const double h = (double)m->hidden, n = (double)indexer_of(m)->heads;
    const double d = (double)indexer_of(m)->size;
    const double q = m->latent.q_rank > 0 ? (double)m->latent.q_rank : h;
    return q * n * d + h * d + h * n + 2.0 * d;
}

static void know_layers(struct known *k)
{
    const struct model_shape *m = k->m;
    double windowed = 0.0;
    for (uint64_t i = 0; i < layers_of(m); i++)
        windowed += in_window(m, i, k->sequence) ? 1.0 : 0.0;
    k->letters['W'] = windowed;
    k->letters['L'] = counted(m, k->sequence, attends) - windowed;
    k->letters['R'] = counted(m, k->sequence, recurs);
    k->letters['I'] = counted(m, k->sequence, scores);
    k->letters['D'] = k->letters['I'] * of_indexer(m);
}

static void know(struct known *k)
{
    const struct model_shape *m = k->m;
    const double heads = (double)m->attention.heads, size = (double)m->attention.head_size;
    const struct layer_sizes *z = &m->pattern.sizes;
    for (unsigned i = 0; i <= 'z'; i++)
        k->letters[i] = NAN;
    know_layers(k);
    k->letters['N'] = multiplied(m);
    k->letters['P'] = of_modules(m);
    k->letters['n'] = k->adapters > 0.0 ? k->adapters : NAN;
    k->letters['s'] = (double)k->sequence;
    k->letters['w'] = (double)m->windows.length;
    k->letters['u'] = met(MEETS_LAST, m->windows.length, k->sequence, true);
    k->letters['k'] = met(MEETS_LAST, indexer_of(m)->keys, k->sequence, false);
    k->letters['j'] = met(MEETS_LAST, indexer_of(m)->keys, k->sequence, true);
    k->letters['x'] = (double)indexer_of(m)->heads * (double)indexer_of(m)->size;
    k->letters['S'] = (double)z->heads * (double)z->key_size * (double)z->head_size;
    if (m->latent.kv_rank == 0) {
        k->letters['h'] = heads * size;
        return;
    }
    const double rotated = (double)m->latent.rope_head_size, rank = (double)m->latent.kv_rank;
    k->letters['a'] = heads;
    k->letters['e'] = indexer_of(m)->heads > 0 ? (rank + rotated) + rank
                                               : (size + rotated) + (double)m->latent.v_head_size;
}

/* A sum of products of a number, if any, and letters. */
static double evaluate(const char *text, const struct known *k)
{
    double sum = 0.0, sign = 1.0;
    const char *at = text;
    while (*at != '\0') {
        double term = 1.0;
        if (isdigit((unsigned char)*at)) {
            char *end;
            term = strtod(at, &end);
            at = end;
        }
        if (!isalpha((unsigned char)*at))
            fail_msg("'%s' is no formula at '%s'", text, at);
        for (; isalpha((unsigned char)*at); at++)
            term *= k->letters[(unsigned char)*at];
        sum += sign * term;
        if (*at == '\0')
            break;
        if (strncmp(at, " + ", 3) != 0 && strncmp(at, " - ", 3) != 0)
            fail_msg("'%s' is no formula at '%s'", text, at);
        sign = at[1] == '-' ? -1.0 : 1.0;
        at += 3;
    }
    return sum;
}

/* FLOPs of the core of a layer, forward and backward, counted by key. */
static double core(const struct known *k, uint64_t layer, bool causal)
{
    const struct model_shape *m = k->m;
    const uint64_t s = k->sequence;
    if (recurs(m, layer)) {
        const char *kind = m->pattern.kind->head.name;
        const double each = strcmp(kind, "mamba2") == 0      ? 7.0
                            : strcmp(kind, "lightning") == 0 ? 4.0
                                                             : 8.0;
        return 3.0 * each * k->letters['S'];
    }
    if (!attends(m, layer))
        return 0.0;
    const double heads = (double)m->attention.heads, size = (double)m->attention.head_size;
    double keys = met(MEETS_ALL, 0, s, causal), elements = 2.0 * size;
    if (in_window(m, layer, s))
        keys = met(m->windows.kind == WINDOW_CHUNKED ? MEETS_CHUNK : MEETS_LAST, m->windows.length,
                   s, causal);
    if (m->latent.kv_rank > 0)
        elements = k->letters['e'];
    if (indexer_of(m)->heads == 0)
        return 3.0 * 2.0 * heads * elements * keys;
    const double chosen = met(MEETS_LAST, indexer_of(m)->keys, s, causal);
    const double scoring = 2.0 * k->letters['x'] * (keys + 2.0 * chosen);
    return 3.0 * 2.0 * heads * elements * chosen +
           (scores(m, layer) ? scoring - 2.0 * of_indexer(m) : 0.0);
}

static double flops_of(const struct known *k, bool causal)
{
    double sum = (k->adapters > 0.0 ? 4.0 : 6.0) * k->letters['N'] + 6.0 * k->adapters;
    sum += k->m->mtp_layers > 0 ? 6.0 * k->letters['P'] : 0.0;
    for (uint64_t i = 0; i < layers_of(k->m); i++)
        sum += core(k, i, causal);
    return sum;
}

static void near(const char *what, const char *text, double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%s: '%s' is %.17g, not %.17g", what, text, value, expected);
}

/* Each letter is explained, and by the number that a reader knows. */
static void check_letters(const char *what, const char *text, const struct formula *f,
                          const struct known *k)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (!isalpha((unsigned char)*at))
            continue;
        const struct formula_letter letter = transformer_formula_letter(f, *at);
        assert_non_null(letter.what);
        const char one[2] = {*at, '\0'};
        near(what, one, letter.value, k->letters[(unsigned char)*at]);
    }
}

static void check(const char *what, const struct formula *f, const struct known *k, bool causal)
{
    char text[FORMULA_TEXT_MAX];
    transformer_formula_text(f, text);
    const double flops = transformer_formula_flops(f);
    near(what, text, evaluate(text, k), flops);
    near(what, text, flops_of(k, causal), flops);
    check_letters(what, text, f, k);
}

static struct scenario *read_with(const char *model, const char *training)
{
    char text[1024];
    struct error error = {""};
    snprintf(text, sizeof text,
             "model: {preset: %s}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
             "training: {global_batch: 8%s}\n"
             "layout: {tp: 1, pp: 1, dp: 8, microbatch: 1, sharding: zero-3}\n",
             model, training);
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    return s;
}

static void check_preset(const char *name, const char *training)
{
    struct scenario *s = read_with(name, training);
    const struct configuration *c = &s->configuration;
    struct known known = {.m = &c->model,
                          .sequence = c->training.sequence,
                          .adapters = configuration_adapter_parameters(c)};
    know(&known);
    for (int causal = 0; causal < 2; causal++) {
        struct formula f;
        configuration_formula(c, causal, &f);
        assert_true(transformer_formula_flops(&f) == configuration_flops_per_token(c, causal));
        check(name, &f, &known, causal);
    }
    scenario_destroy(s);
}

static void test_presets(void **state)
{
    struct arena *arena = arena_create();
    struct problems *problems = ARENA_NEW(arena, struct problems);
    struct catalogue catalogue;
    problems->arena = arena;
    catalogue_open(&catalogue, arena, NULL, problems);
    const struct name_list names = catalogue_names(&catalogue, FAMILY_MODELS);
    assert_true(names.count > 60);
    for (unsigned i = 0; i < names.count; i++) {
        check_preset(names.names[i], ", sequence: 1024");
        check_preset(names.names[i], ", sequence: 16384");
    }
    check_preset("llama3-8b", ", sequence: 4096, adapter: lora, adapter_rank: 16");
    check_preset("gemma2-9b", ", sequence: 8192, adapter: qlora, adapter_targets: attention");
    arena_destroy(arena);
}

struct draw {
    uint64_t key, count;
};

static uint64_t pick(struct draw *draw, uint64_t below)
{
    return random_hash(draw->key, draw->count++) % below;
}

static void draw_kinds(struct draw *draw, struct model_shape *m)
{
    static const char *const patterns[] = {"",       "",    "2*gdn,attention",
                                           "MEM*-E", "kda", "attention,lightning,lightning",
                                           "G*-",    "*-M", "3*mamba2,attention"};
    m->pattern.text = patterns[pick(draw, sizeof patterns / sizeof *patterns)];
    m->pattern.sizes = (struct layer_sizes){.heads = 4, .conv = 4};
    m->pattern.sizes.head_size = 6 + pick(draw, 3);
    if (pick(draw, 2) == 0) {
        m->windows.length = 1 + pick(draw, 80);
        m->windows.kind = (int)pick(draw, 2);
        m->windows.full_interval = pick(draw, 4);
    }
    if (pick(draw, 2) == 0) {
        m->latent.kv_rank = 3 + pick(draw, 20);
        m->latent.q_rank = pick(draw, 2) * 11;
        m->latent.rope_head_size = 1 + pick(draw, 5);
        m->latent.v_head_size = 1 + pick(draw, 9);
    }
    if (m->latent.kv_rank > 0 && pick(draw, 2) == 0) {
        struct model_indexer *x = &m->latent.indexer;
        x->heads = 1 + pick(draw, 4);
        x->size = 1 + pick(draw, 6);
        x->keys = 1 + pick(draw, 80);
        x->interval = pick(draw, 4);
        x->first = pick(draw, 4);
    }
}

static void draw_experts(struct draw *draw, struct model_shape *m)
{
    if (pick(draw, 2) == 0)
        return;
    m->moe.experts = 8;
    m->moe.experts_per_token = 1 + pick(draw, 3);
    m->moe.ffn_hidden = 5 + pick(draw, 9);
    m->moe.shared_experts = pick(draw, 2);
    m->moe.shared_gate = pick(draw, 2) > 0;
    m->moe.latent = 3 * pick(draw, 2);
    m->moe.dense_layers = pick(draw, 3);
    m->moe.interval = pick(draw, 3);
}

/* One draw a statement: the arguments of one have no order. */
static struct model_shape draw_model(struct draw *draw)
{
    struct model_shape m = {.name = "drawn"};
    m.layers = 1 + pick(draw, 12);
    m.hidden = 24 + pick(draw, 9);
    m.vocabulary = 50 + pick(draw, 50);
    m.ffn = (int)pick(draw, 4);
    m.position = (int)pick(draw, 4);
    m.tied_embeddings = pick(draw, 2);
    m.biases = pick(draw, 2);
    m.mtp_layers = pick(draw, 3);
    m.attention.heads = 2 + 2 * pick(draw, 3);
    m.attention.head_size = 5 + pick(draw, 9);
    draw_kinds(draw, &m);
    draw_experts(draw, &m);
    return m;
}

/* Chunks that do not divide a sequence have fewer keys than half of them in the last one: those
 * that do are drawn. */
static uint64_t draw_sequence(struct draw *draw, const struct model_shape *m)
{
    const uint64_t sequence = 40 + pick(draw, 60);
    return m->windows.kind == WINDOW_CHUNKED && m->windows.length > 0
               ? m->windows.length * (1 + pick(draw, 5))
               : sequence;
}

static void test_random(void **state)
{
    unsigned seen['z' + 1] = {0};
    for (uint64_t number = 0; number < 4000; number++) {
        struct draw draw = {.key = random_key(number, "formula")};
        struct model_shape m = draw_model(&draw);
        transformer_complete(&m);
        struct known known = {.m = &m, .sequence = draw_sequence(&draw, &m)};
        known.adapters = m.mtp_layers == 0 && pick(&draw, 2) == 0 ? 17.0 : 0.0;
        know(&known);
        for (int causal = 0; causal < 2; causal++) {
            struct formula f;
            char what[32], text[FORMULA_TEXT_MAX];
            snprintf(what, sizeof what, "model %u", (unsigned)number);
            transformer_formula(&m, known.sequence, causal, known.adapters, &f);
            check(what, &f, &known, causal);
            transformer_formula_text(&f, text);
            for (const char *at = text; *at != '\0'; at++)
                seen[(unsigned char)*at]++;
            if (known.adapters == 0.0)
                assert_true(transformer_flops_per_token(&m, known.sequence, causal) ==
                            transformer_formula_flops(&f));
        }
    }
    for (const char *letter = "NnPDLWRISahexswukj"; *letter != '\0'; letter++)
        if (seen[(unsigned char)*letter] < 50)
            fail_msg("%c was drawn %u times", *letter, seen[(unsigned char)*letter]);
}

/* As they are published, and of each kind one. */
static void test_texts(void **state)
{
    static const struct {
        const char *preset, *mfu, *causal;
    } rows[] = {
        {"llama3-8b", "6N + 12Lhs", "6N + 6Lhs"},
        {"mixtral-8x7b", "6N + 12Lhs", "6N + 6Lhs"},
        {"gemma3-27b", "6N + 12Lhs + 12Whw", "6N + 6Lhs + 12Whu"},
        {"llama4-scout", "6N + 12Lhs + 12Whw", "6N + 6Lhs + 6Whw"},
        {"deepseek-v2-236b", "6N + 6Laes", "6N + 3Laes"},
        {"deepseek-v3.2", "6N + 6P - 2D + 6Laek + 2Ixs + 4Ixk",
         "6N + 6P - 2D + 6Laej + Ixs + 4Ixj"},
        {"nemotron-h-56b", "6N + 12Lhs + 21RS", "6N + 6Lhs + 21RS"},
        {"kimi-linear-48b-a3b", "6N + 6Laes + 24RS", "6N + 3Laes + 24RS"},
        {"minimax-text-01-456b", "6N + 12Lhs + 12RS", "6N + 6Lhs + 12RS"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scenario *s = read_with(rows[i].preset, ", sequence: 32768");
        for (int causal = 0; causal < 2; causal++) {
            struct formula f;
            char text[FORMULA_TEXT_MAX];
            configuration_formula(&s->configuration, causal, &f);
            transformer_formula_text(&f, text);
            assert_string_equal(text, causal ? rows[i].causal : rows[i].mfu);
        }
        scenario_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
