/* huggingface.c - names and defaults are those of transformers' configuration classes (LlamaConfig,
 * MistralConfig, Qwen2Config, GPT2Config in huggingface/transformers, src/transformers/models). */
#include "scenarios/huggingface.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/file.h"
#include "scenarios/names.h"

/* How one key of ours is found: in the file, or by default. */
struct translation {
    const char *key, *json;
    const char *fallback; /* NULL: must be there; "": left out when it is not */
};
struct architecture {
    const char *name;
    const char *fixed[6][2]; /* keys that follow from the family */
    struct translation rows[12];
};

static const struct architecture architectures[] = {
    {"llama",
     {{"ffn", "swiglu"}, {"norm", "rms"}, {"position", "rope"}},
     {{"layers", "num_hidden_layers", NULL},
      {"hidden", "hidden_size", NULL},
      {"heads", "num_attention_heads", NULL},
      {"kv_heads", "num_key_value_heads", ""},
      {"head_size", "head_dim", ""},
      {"ffn_hidden", "intermediate_size", NULL},
      {"vocabulary", "vocab_size", NULL},
      {"tied_embeddings", "tie_word_embeddings", "false"},
      {"biases", "mlp_bias", "false"}}},
    {"mistral",
     {{"ffn", "swiglu"}, {"norm", "rms"}, {"position", "rope"}},
     {{"layers", "num_hidden_layers", NULL},
      {"hidden", "hidden_size", NULL},
      {"heads", "num_attention_heads", NULL},
      {"kv_heads", "num_key_value_heads", "8"},
      {"head_size", "head_dim", ""},
      {"ffn_hidden", "intermediate_size", NULL},
      {"vocabulary", "vocab_size", NULL},
      {"tied_embeddings", "tie_word_embeddings", "false"}}},
    {"qwen2",
     {{"ffn", "swiglu"}, {"norm", "rms"}, {"position", "rope"}},
     {{"layers", "num_hidden_layers", NULL},
      {"hidden", "hidden_size", NULL},
      {"heads", "num_attention_heads", NULL},
      {"kv_heads", "num_key_value_heads", ""},
      {"head_size", "head_dim", ""},
      {"ffn_hidden", "intermediate_size", NULL},
      {"vocabulary", "vocab_size", NULL},
      {"tied_embeddings", "tie_word_embeddings", "false"}}},
    {"gpt2",
     {{"ffn", "gelu"}, {"norm", "layernorm"}, {"position", "learned"}, {"biases", "true"}},
     {{"layers", "n_layer", NULL},
      {"hidden", "n_embd", NULL},
      {"heads", "n_head", NULL},
      {"ffn_hidden", "n_inner", ""},
      {"vocabulary", "vocab_size", NULL},
      {"positions_max", "n_positions", "1024"},
      {"dropout", "resid_pdrop", "0.1"},
      {"tied_embeddings", "tie_word_embeddings", "true"}}},
};
enum {
    ARCHITECTURE_COUNT = sizeof architectures / sizeof architectures[0]
};

struct import {
    struct arena *arena;
    const char *path;
    struct mark where;
    struct problems *problems;
    const json_t *json;
    struct value *mapping;
};

static void add(struct import *in, const char *key, const char *text)
{
    struct value *word = value_word(in->arena, text, in->where);
    word->key = key;
    word->key_mark = in->where;
    value_append(in->mapping, word);
}

/* A JSON number, text or truth value as a word; NULL: it is something else. */
static const char *word_of(struct import *in, const json_t *json)
{
    if (json_is_integer(json))
        return arena_format(in->arena, "%lld", (long long)json_integer_value(json));
    if (json_is_real(json))
        return arena_format(in->arena, "%.17g", json_real_value(json));
    if (json_is_boolean(json))
        return json_is_true(json) ? "true" : "false";
    return NULL;
}

static void translate(struct import *in, const struct translation *row)
{
    const json_t *json = json_object_get(in->json, row->json);
    const char *text = row->fallback;
    if (json && !json_is_null(json)) {
        text = word_of(in, json);
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

static const struct architecture *find_architecture(struct import *in)
{
    const char *names[ARCHITECTURE_COUNT];
    const char *type = json_string_value(json_object_get(in->json, "model_type"));
    for (unsigned i = 0; i < ARCHITECTURE_COUNT; i++) {
        names[i] = architectures[i].name;
        if (type && strcmp(type, names[i]) == 0)
            return &architectures[i];
    }
    struct name_list list = {names, ARCHITECTURE_COUNT};
    problems_error(in->problems, in->where, "%s: unknown \"model_type\" '%s'%s",
                   source_clean(in->arena, in->path),
                   type ? source_quote(in->arena, type) : "(none)",
                   names_advice(in->arena, type ? type : "", list));
    return NULL;
}

/* What the file says and our shapes do not carry. */
static void warn_of_rest(struct import *in, const struct architecture *architecture)
{
    const char *shown = source_clean(in->arena, in->path);
    bool window_used = json_is_true(json_object_get(in->json, "use_sliding_window")) ||
                       strcmp(architecture->name, "mistral") == 0;
    if (window_used && json_is_integer(json_object_get(in->json, "sliding_window")))
        problems_warning(in->problems, in->where,
                         "%s: the sliding window is left out; attention is over the whole sequence",
                         shown);
    bool attention_bias = json_is_true(json_object_get(in->json, "attention_bias")) &&
                          !json_is_true(json_object_get(in->json, "mlp_bias"));
    if (attention_bias || strcmp(architecture->name, "qwen2") == 0)
        problems_warning(in->problems, in->where,
                         "%s: the biases of the attention alone are left out; they are below a "
                         "thousandth of the parameters",
                         shown);
}

static bool load(struct import *in, json_t **json)
{
    struct source *source = ARENA_NEW(in->arena, struct source);
    struct error error = {{0}};
    char *text = NULL;
    json_error_t fault;
    source->name = in->path;
    source->order = in->where.source->order + 1;
    if (!file_read(in->arena, in->path, SOURCE_BYTES_MAX, true, &text, &source->bytes, &error)) {
        problems_error(in->problems, in->where, "%s", source_clean(in->arena, error.text));
        return false;
    }
    source->text = text;
    *json = json_loadb(text, source->bytes, JSON_REJECT_DUPLICATES, &fault);
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
    const struct architecture *architecture = find_architecture(&in);
    if (architecture) {
        for (unsigned i = 0; architecture->fixed[i][0]; i++)
            add(&in, architecture->fixed[i][0], architecture->fixed[i][1]);
        for (const struct translation *row = architecture->rows; row->key; row++)
            translate(&in, row);
        warn_of_rest(&in, architecture);
    }
    json_decref(json);
    return problems->error_count == before ? in.mapping : NULL;
}
