#include "scenarios/catalogue/huggingface.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/catalogue/huggingface_types.h"
#include "scenarios/language/file.h"

struct import {
    struct arena *arena;
    const char *path;
    struct mark where;
    struct problems *problems;
    const json_t *json;
    struct value *mapping;
    const char *type; /* its model_type; NULL: none */
};

static void add(struct import *in, const char *key, const char *text)
{
    struct value *word = value_word(in->arena, text, in->where);
    word->key = key;
    word->key_mark = in->where;
    value_append(in->mapping, word);
}

/* A JSON number as a word; NULL: it is something else. */
static const char *word_of(struct import *in, const json_t *json)
{
    if (json_is_integer(json))
        return arena_format(in->arena, "%lld", (long long)json_integer_value(json));
    if (json_is_real(json))
        return arena_format(in->arena, "%.17g", json_real_value(json));
    return NULL;
}

static const char *flag_of(const json_t *json, const struct huggingface_row *row)
{
    const char *yes = row->yes ? row->yes : "true", *no = row->no ? row->no : "false";
    return json_is_true(json) ? yes : no;
}

/* What files of before a class was taken into the library call it; "" without. */
static const char *older_name(const char *json)
{
    static const char *const pairs[][2] = {{"num_hidden_layers", "n_layer"},
                                           {"num_attention_heads", "n_head"},
                                           {"hidden_size", "n_embed"}};
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (strcmp(json, pairs[i][0]) == 0)
            return pairs[i][1];
    return "";
}

static void translate(struct import *in, const struct huggingface_row *row)
{
    const json_t *json = json_object_get(in->json, row->json);
    const char *text = row->fallback;
    if (json == NULL)
        json = json_object_get(in->json, older_name(row->json));
    if (json && !json_is_null(json)) {
        text = json_is_boolean(json) ? flag_of(json, row) : word_of(in, json);
        if (text == NULL)
            problems_error(in->problems, in->where, "%s: \"%s\" is not a number",
                           source_clean(in->arena, in->path), row->json);
    } else if (text == NULL) {
        problems_error(in->problems, in->where, "%s: \"%s\" is missing",
                       source_clean(in->arena, in->path), row->json);
    }
    if (text && *text)
        add(in, row->key, text);
}

/* Where other types keep what a shape needs; the first name that the file has counts. */
static const struct {
    const char *key, *names[5];
} usual[] = {
    {"layers", {"num_hidden_layers", "n_layer", "n_layers", "num_layers", NULL}},
    {"hidden", {"hidden_size", "n_embd", "d_model", "dim", NULL}},
    {"heads", {"num_attention_heads", "n_head", "n_heads", "num_heads", NULL}},
    {"kv_heads", {"num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", NULL}},
    {"head_size", {"head_dim", "head_size", NULL}},
    {"ffn_hidden", {"intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", NULL}},
    {"vocabulary", {"vocab_size", "n_vocab", NULL}},
};
enum {
    USUAL_COUNT = sizeof usual / sizeof usual[0]
};

static const char *usual_word(struct import *in, unsigned i)
{
    for (const char *const *name = usual[i].names; *name; name++) {
        const json_t *json = json_object_get(in->json, *name);
        if (json_is_integer(json))
            return word_of(in, json);
    }
    return NULL;
}

/* The shape as a scenario writes it, as far as the file tells; what it does not tell is a '?'. */
static const char *shape_text(struct import *in)
{
    const json_t *act = json_object_get(in->json, "hidden_act");
    bool silu = json_is_string(act) && strcmp(json_string_value(act), "silu") == 0;
    bool rms = json_object_get(in->json, "rms_norm_eps") != NULL;
    bool tied = json_is_true(json_object_get(in->json, "tie_word_embeddings"));
    const char *text = "model: {";
    for (unsigned i = 0; i < USUAL_COUNT; i++) {
        const char *word = usual_word(in, i);
        bool must = strcmp(usual[i].key, "kv_heads") != 0 && strcmp(usual[i].key, "head_size") != 0;
        if (word || must)
            text = arena_format(in->arena, "%s%s: %s, ", text, usual[i].key, word ? word : "?");
    }
    return arena_format(in->arena, "%sffn: %s, norm: %s, position: rope, tied_embeddings: %s}",
                        text, silu ? "swiglu" : "gelu", rms ? "rms" : "layernorm",
                        tied ? "true" : "false");
}

static const char *known_types(struct import *in)
{
    const char *text = "";
    for (unsigned i = 0; i < huggingface_type_count; i++)
        text = arena_format(in->arena, "%s%s%s", text, i ? ", " : "", huggingface_types[i].name);
    return text;
}

static const struct huggingface_type *find_type(struct import *in)
{
    const char *type = in->type;
    for (unsigned i = 0; i < huggingface_type_count; i++)
        if (type && strcmp(type, huggingface_types[i].name) == 0)
            return &huggingface_types[i];
    problems_error(in->problems, in->where,
                   "%s: unknown \"model_type\" '%s'; known: %s; of another, write the shape out in "
                   "place of `hf`, and check ffn, norm, position and biases: %s",
                   source_clean(in->arena, in->path),
                   type ? source_quote(in->arena, type) : "(none)", known_types(in),
                   shape_text(in));
    return NULL;
}

/* A model of several parts keeps its language model in an object of its own. */
static void enter_text(struct import *in)
{
    static const char *const types[][2] = {{"gemma3", "gemma3_text"}, {"llama4", "llama4_text"}};
    const json_t *text = json_object_get(in->json, "text_config");
    const char *inner = NULL;
    for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++)
        if (in->type != NULL && strcmp(in->type, types[i][0]) == 0)
            inner = types[i][1];
    if (inner == NULL || !json_is_object(text))
        return;
    in->json = text;
    in->type = inner;
    problems_warning(in->problems, in->where, "%s: only the language model is read, without vision",
                     source_clean(in->arena, in->path));
}

/* One head of keys for all (`multi_query`), unless the newer decoder says how many; one norm for
 * attention and feed-forward side by side, or two. Older files say n_layer, n_head and n_embed. */
static void add_falcon(struct import *in)
{
    bool newer = json_is_true(json_object_get(in->json, "new_decoder_architecture"));
    const json_t *side = json_object_get(in->json, "parallel_attn");
    const json_t *single = json_object_get(in->json, "multi_query");
    const json_t *kv = json_object_get(in->json, newer ? "num_kv_heads" : "n_head_kv");
    const json_t *norms = json_object_get(in->json, "num_ln_in_parallel_attn");
    bool parallel = newer || side == NULL || json_is_true(side);
    if (newer && kv == NULL)
        kv = json_object_get(in->json, "n_head_kv");
    if (newer && json_is_integer(kv))
        add(in, "kv_heads", word_of(in, kv));
    else if (!newer && (single == NULL || json_is_true(single)))
        add(in, "kv_heads", "1");
    if (newer && json_is_integer(norms))
        add(in, "norms", word_of(in, norms));
    else
        add(in, "norms", parallel && !newer ? "1" : "2");
    if (parallel)
        problems_warning(
            in->problems, in->where,
            "%s: attention and feed-forward stand side by side; they are simulated one "
            "after the other, with a reduction over tp each",
            source_clean(in->arena, in->path));
}

/* What the file says and our shapes do not carry. */
static void warn_of_window(struct import *in, const struct huggingface_type *type)
{
    const char *flag = type->windowed;
    bool used = flag && (*flag == '\0' || json_is_true(json_object_get(in->json, flag)));
    if (used && json_is_integer(json_object_get(in->json, "sliding_window")))
        problems_warning(in->problems, in->where,
                         "%s: the sliding window is left out; attention is over the whole sequence",
                         source_clean(in->arena, in->path));
}

static bool load(struct import *in, json_t **json)
{
    struct source *source = ARENA_NEW(in->arena, struct source);
    struct error error = {{0}};
    struct file_text file;
    json_error_t fault;
    source->name = in->path;
    source->order = in->where.source->order + 1;
    if (!file_read(in->arena, in->path, SOURCE_BYTES_MAX, true, &file, &error)) {
        problems_error(in->problems, in->where, "%s", source_clean(in->arena, error.text));
        return false;
    }
    source->text = file.text;
    source->bytes = file.bytes;
    *json = json_loadb(file.text, source->bytes, JSON_REJECT_DUPLICATES, &fault);
    if (*json == NULL) {
        struct mark where = {source, (unsigned)(fault.line > 0 ? fault.line : 1),
                             (unsigned)(fault.column > 0 ? fault.column : 1), 1};
        problems_error(in->problems, where, "not JSON: %s", source_clean(in->arena, fault.text));
    }
    return *json != NULL;
}

const struct value *huggingface_read(struct arena *arena, const char *path, struct mark where,
                                     struct problems *problems)
{
    struct import in = {.arena = arena, .path = path, .where = where, .problems = problems};
    json_t *json = NULL;
    if (!load(&in, &json))
        return NULL;
    unsigned before = problems->error_count;
    in.json = json;
    in.mapping = value_new(arena, VALUE_MAPPING, where);
    in.type = json_string_value(json_object_get(json, "model_type"));
    enter_text(&in);
    const struct huggingface_type *type = find_type(&in);
    if (type) {
        for (unsigned i = 0; i < HUGGINGFACE_FIXED_MAX && type->fixed[i][0]; i++)
            add(&in, type->fixed[i][0], type->fixed[i][1]);
        for (const struct huggingface_row *row = type->rows; row->key; row++)
            translate(&in, row);
        if (strcmp(type->name, "falcon") == 0)
            add_falcon(&in);
        warn_of_window(&in, type);
    }
    json_decref(json);
    return problems->error_count == before ? in.mapping : NULL;
}
