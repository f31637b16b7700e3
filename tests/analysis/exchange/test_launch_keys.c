/* Every key of a model, with every value that the catalogue or its table has: each framework's
 * script or its notes say it, or the model is refused. Keys come from model_params, so that a new
 * one is under this law from its row on. */
#include <stdio.h>
#include <string.h>

#include "scenarios/catalogue/catalogue.h"
#include "tests/analysis/exchange/launch_case.h"
#include "tests/test.h"

/* A model in which the keys of one struct have an effect. */
struct home {
    const char *name;
    size_t first, bytes; /* of struct model_shape; the last home takes all others */
    void (*build)(struct model_shape *m);
    const char *takers; /* frameworks that can train it (docs/launch.md) */
};
static void build_layernorm(struct model_shape *m)
{
    m->norm = (struct model_norm){.kind = NORM_LAYERNORM, .count = 2, .biases = true};
}
static void build_experts(struct model_shape *m)
{
    m->moe = (struct model_moe){.experts = 16,
                                .experts_per_token = 4,
                                .ffn_hidden = 14336,
                                .shared_experts = 1,
                                .interval = 1,
                                .groups = 8,
                                .groups_per_token = 4};
}
static void build_latent(struct model_shape *m)
{
    m->latent = (struct model_latent){
        .q_rank = 1536, .kv_rank = 512, .rope_head_size = 64, .v_head_size = 128};
}
static void build_indexer(struct model_shape *m)
{
    build_latent(m);
    m->latent.indexer =
        (struct model_indexer){.heads = 64, .size = 128, .keys = 2048, .interval = 4, .first = 3};
}
static void build_windows(struct model_shape *m)
{
    m->windows = (struct model_windows){.length = 1024, .full_interval = 4};
}
static void build_pattern(struct model_shape *m)
{
    m->pattern.text = "3*gdn,attention";
    m->pattern.sizes.heads = 32;
    m->pattern.sizes.head_size = 128;
}
static void build_dense(struct model_shape *m)
{
    (void)m;
}
#define OF(member)                                                                                 \
    offsetof(struct model_shape, member), sizeof(((const struct model_shape *)0)->member)
static const struct home homes[] = {
    {"norms", OF(norm), build_layernorm, "megatron torchtitan deepspeed nemo"},
    {"experts", OF(moe), build_experts, "megatron torchtitan"},
    {"indexer", OF(latent.indexer), build_indexer, "megatron"},
    {"latent", OF(latent), build_latent, "megatron torchtitan"},
    {"windows", OF(windows), build_windows, "torchtitan"},
    {"pattern", OF(pattern), build_pattern, ""},
    {"dense", 0, sizeof(struct model_shape), build_dense, "megatron torchtitan deepspeed nemo"},
};
enum {
    HOMES = sizeof homes / sizeof homes[0],
    MODELS_MAX = 256
};

static const struct home *home_of(const struct param *key)
{
    unsigned i = 0;
    while (key->offset - homes[i].first >= homes[i].bytes)
        i++;
    return &homes[i];
}

/* What its makers trained it with and the number in its name are no part of what is trained; the
 * longest sequence is one of a table's rows alone. */
static bool apart(const struct param *key)
{
    static const char *const names[] = {"nominal_parameters",  "usual_precision", "usual_dispatch",
                                        "usual_dispatch_8bit", "usual_schedule",  "usual_recompute",
                                        "positions_max"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], key->name) == 0)
            return true;
    return false;
}

static size_t bytes_of(const struct param *key)
{
    switch (key->type) {
    case PARAM_FLAG:
        return sizeof(bool);
    case PARAM_COUNT:
        return sizeof(uint64_t);
    case PARAM_CHOICE:
        return sizeof(int);
    case PARAM_TEXT:
        return sizeof(const char *);
    case PARAM_RATIO:
        return sizeof(double);
    case PARAM_TIME:
    case PARAM_BYTES:
    case PARAM_BANDWIDTH:
    case PARAM_FLOP_RATE:
    case PARAM_FREQUENCY:
    case PARAM_POWER:
    case PARAM_MONEY:
        break;
    }
    fail_msg("model.%s has a type that this law does not vary", key->name);
    return 0;
}

/* Of the key's own table, number `at`; false: it has no more. */
static bool own_value(const struct param *key, unsigned at, struct model_shape *m)
{
    void *field = (char *)m + key->offset;
    uint64_t count;
    memcpy(&count, field, bytes_of(key) < sizeof count ? bytes_of(key) : sizeof count);
    if (key->type == PARAM_CHOICE) {
        const int choice = (int)at;
        memcpy(field, &choice, sizeof choice);
        return key->choices[at] != NULL;
    }
    if (key->type == PARAM_FLAG) {
        const bool flag = at == 1;
        memcpy(field, &flag, sizeof flag);
        return at < 2;
    }
    if (key->type == PARAM_COUNT) {
        count = at == 0 ? 2 * count + 2 : (uint64_t)key->minimum;
        memcpy(field, &count, sizeof count);
        return at < 2;
    }
    if (key->type == PARAM_RATIO) {
        const double ratio = 0.25;
        memcpy(field, &ratio, sizeof ratio);
        return at < 1;
    }
    return false;
}

struct law {
    struct scenario *base;
    struct model_shape models[MODELS_MAX]; /* of the catalogue */
    unsigned model_count, asked, silent;
};

static void take(const struct law *law, const struct launch_kind *kind, struct model_shape *m,
                 struct arena *arena, struct launch_text *out)
{
    struct configuration c = law->base->configuration;
    transformer_complete(m);
    c.model = *m;
    launch_write(kind, &c, NULL, arena, out);
}

static bool same(const struct launch_text *a, const struct launch_text *b)
{
    bool same = a->line_count == b->line_count && a->note_count == b->note_count;
    for (uint32_t i = 0; same && i < a->line_count; i++)
        same = strcmp(a->lines[i], b->lines[i]) == 0;
    for (uint32_t i = 0; same && i < a->note_count; i++)
        same = strcmp(a->notes[i].text, b->notes[i].text) == 0;
    return same;
}

static bool alike(const struct param *key, const struct model_shape *a, const struct model_shape *b)
{
    const char *left = (const char *)a + key->offset, *right = (const char *)b + key->offset;
    if (key->type != PARAM_TEXT)
        return memcmp(left, right, bytes_of(key)) == 0;
    const char *one, *other;
    memcpy(&one, left, sizeof one);
    memcpy(&other, right, sizeof other);
    return strcmp(one != NULL ? one : "", other != NULL ? other : "") == 0;
}

static void ask(struct law *law, const struct launch_kind *kind, const struct param *key,
                struct model_shape *changed)
{
    struct arena *arena = arena_create();
    struct model_shape plain = law->base->configuration.model;
    struct launch_text before, after;
    home_of(key)->build(&plain);
    take(law, kind, &plain, arena, &before);
    transformer_complete(changed);
    if (!before.refused && !alike(key, &plain, changed)) {
        take(law, kind, changed, arena, &after);
        law->asked++;
        if (!after.refused && same(&before, &after)) {
            printf("%s says nothing of model.%s\n", kind->head.name, key->name);
            law->silent++;
        }
    }
    arena_destroy(arena);
}

static void ask_key(struct law *law, const struct launch_kind *kind, const struct param *key)
{
    struct model_shape m;
    for (unsigned i = 0; i < law->model_count; i++) {
        m = law->base->configuration.model;
        home_of(key)->build(&m);
        memcpy((char *)&m + key->offset, (const char *)&law->models[i] + key->offset,
               bytes_of(key));
        ask(law, kind, key, &m);
    }
    for (unsigned at = 0;; at++) {
        m = law->base->configuration.model;
        home_of(key)->build(&m);
        if (!own_value(key, at, &m))
            break;
        ask(law, kind, key, &m);
    }
}

/* All models of the catalogue; their texts live in its own scenarios. */
static unsigned read_models(struct arena *arena, struct model_shape *out,
                            struct scenario **scenarios)
{
    struct problems problems = {0};
    struct catalogue catalogue;
    catalogue_open(&catalogue, arena, NULL, &problems);
    const struct name_list names = catalogue_names(&catalogue, FAMILY_MODELS);
    assert_true(names.count > 60 && names.count <= MODELS_MAX);
    for (unsigned i = 0; i < names.count; i++) {
        struct error error = {""};
        const char *text = arena_format(arena,
                                        "model: {preset: %s}\ncluster: {gpu: h100-80gb-sxm}\n"
                                        "training: {sequence: 1024, global_batch: 8}\n"
                                        "layout: {tp: 1, pp: 1}\n",
                                        names.names[i]);
        scenarios[i] = scenario_read("case.yaml", text, strlen(text), NULL, &error);
        assert_non_null(scenarios[i]);
        out[i] = scenarios[i]->configuration.model;
        assert_true(out[i].layers > 0);
    }
    return names.count;
}

static void every_key_is_said_or_refused(void **state)
{
    static struct law law;
    static struct scenario *scenarios[MODELS_MAX];
    struct arena *arena = arena_create();
    law.base = launch_case_plain();
    law.model_count = read_models(arena, law.models, scenarios);
    for (unsigned k = 0; k < launch_kind_count; k++)
        for (unsigned i = 0; i < model_param_count; i++) {
            const unsigned asked = law.asked;
            if (!apart(&model_params[i]))
                ask_key(&law, launch_kinds[k], &model_params[i]);
            if (home_of(&model_params[i]) == &homes[HOMES - 1])
                assert_true(apart(&model_params[i]) || law.asked > asked);
        }
    for (unsigned i = 0; i < law.model_count; i++)
        scenario_destroy(scenarios[i]);
    scenario_destroy(law.base);
    arena_destroy(arena);
    assert_int_equal(law.silent, 0);
}

/* A key is asked of a framework only where that takes the model without the change. */
static void homes_are_taken_or_refused(void **state)
{
    static struct law law;
    struct arena *arena = arena_create();
    unsigned wrong = 0;
    law.base = launch_case_plain();
    for (unsigned k = 0; k < launch_kind_count; k++)
        for (unsigned i = 0; i < HOMES; i++) {
            struct model_shape m = law.base->configuration.model;
            struct launch_text text;
            homes[i].build(&m);
            take(&law, launch_kinds[k], &m, arena, &text);
            const bool taken = strstr(homes[i].takers, launch_kinds[k]->head.name) != NULL;
            if (text.refused == taken)
                printf("%s: the home of %s is %s\n", launch_kinds[k]->head.name, homes[i].name,
                       text.refused ? "refused" : "taken");
            wrong += text.refused == taken;
        }
    scenario_destroy(law.base);
    arena_destroy(arena);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_said_or_refused),
        cmocka_unit_test(homes_are_taken_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
