#include "scenarios/catalogue/huggingface.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/catalogue/huggingface_facts.h"
#include "scenarios/catalogue/huggingface_indexer.h"
#include "scenarios/catalogue/huggingface_offer.h"
#include "scenarios/catalogue/huggingface_pattern.h"
#include "scenarios/catalogue/huggingface_signs.h"
#include "scenarios/catalogue/huggingface_types.h"
#include "scenarios/language/file.h"
#include "scenarios/language/names.h"

struct import {
    struct arena *arena;
    const char *path;
    struct mark where;
    struct problems *problems;
    const json_t *json;
    struct value *mapping;
    const json_t *beside; /* what the language model's object stands in; NULL: the whole file */
    const char *type;     /* its model_type; NULL: none */
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
                                           {"hidden_size", "n_embed"},
                                           {"head_dim", "attention_head_dim"}};
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (strcmp(json, pairs[i][0]) == 0)
            return pairs[i][1];
    return "";
}

/* "ffn_config.moe_top_k" is inside of the first. What stands beside the text of a model of several
 * parts holds for it where it says nothing itself. */
static const json_t *member(struct import *in, const char *name)
{
    const char *dot = strchr(name, '.');
    if (dot) {
        const json_t *outer =
            json_object_get(in->json, arena_format(in->arena, "%.*s", (int)(dot - name), name));
        return json_object_get(outer, dot + 1);
    }
    const json_t *json = json_object_get(in->json, name);
    if (json == NULL)
        json = json_object_get(in->json, older_name(name));
    if (json == NULL && in->beside && strcmp(name, "tie_word_embeddings") == 0)
        json = json_object_get(in->beside, name);
    return json;
}

/* `, and there is "num_routed_experts"`: of what is spelt otherwise. */
static const char *nearest_member(struct import *in, const char *name)
{
    const char *key;
    json_t *json, *open = (json_t *)(uintptr_t)in->json; /* the macro takes no const */
    const char **names = ARENA_ARRAY(in->arena, const char *, json_object_size(open) + 1);
    struct name_list list = {names, 0};
    json_object_foreach(open, key, json) names[list.count++] = key;
    const char *near = names_nearest(name, list);
    return near ? arena_format(in->arena, "; there is \"%s\"", source_quote(in->arena, near)) : "";
}

/* The number divided by that of another member, which must go into it. */
static const char *quotient(struct import *in, const json_t *json, const char *per)
{
    const json_t *divisor = member(in, per);
    long long whole = (long long)json_integer_value(json);
    long long part = (long long)json_integer_value(divisor);
    if (!json_is_integer(json) || part <= 0 || whole % part != 0)
        return NULL;
    return arena_format(in->arena, "%lld", whole / part);
}

/* The positions that rotated ones reach. Of `linear`, `dynamic` and `yarn` the factor is that by
 * which the positions of the training (original_max_position_embeddings, else those of the file)
 * grow; files that state the grown ones keep them, as those of `llama3` and `longrope` do
 * (transformers: docs of rope_scaling in LlamaConfig, modeling_rope_utils.py). */
static const char *reached(struct import *in, const struct huggingface_type *type, const char *text)
{
    static const char *const grow[] = {"linear", "dynamic", "yarn"};
    const json_t *scaling = member(in, "rope_scaling");
    if (!json_is_object(scaling))
        scaling = member(in, "rope_parameters");
    const char *kind = json_string_value(json_object_get(scaling, "rope_type"));
    if (kind == NULL)
        kind = json_string_value(json_object_get(scaling, "type"));
    bool grows = false;
    for (unsigned i = 0; i < sizeof grow / sizeof grow[0] && kind != NULL; i++)
        grows = grows || strcmp(kind, grow[i]) == 0;
    const double own = text != NULL ? strtod(text, NULL) : 0.0;
    const double factor = json_number_value(json_object_get(scaling, "factor"));
    const double trained =
        json_number_value(json_object_get(scaling, "original_max_position_embeddings"));
    const double most = floor(factor * (trained > 0.0 ? trained : own));
    return grows && !type->stretched && most > own ? arena_format(in->arena, "%.0f", most) : text;
}

static void translate(struct import *in, const struct huggingface_type *type,
                      const struct huggingface_row *row)
{
    const json_t *json = member(in, row->json);
    const char *text = row->fallback;
    if (json && !json_is_null(json)) {
        text = json_is_boolean(json) ? flag_of(json, row) : word_of(in, json);
        if (text && row->per)
            text = quotient(in, json, row->per);
        if (text == NULL)
            problems_error(in->problems, in->where, "%s: \"%s\" is not a %s%s",
                           source_clean(in->arena, in->path), row->json,
                           row->per ? "multiple of " : "finite number", row->per ? row->per : "");
    } else if (text == NULL) {
        problems_error(in->problems, in->where, "%s: \"%s\" is missing%s",
                       source_clean(in->arena, in->path), row->json, nearest_member(in, row->json));
    }
    if (strcmp(row->key, "positions_max") == 0)
        text = reached(in, type, text);
    if (text && *text)
        add(in, row->key, text);
}

static bool is_read(const struct huggingface_type *type, const char *name)
{
    const struct huggingface_row *row = type->rows;
    while (row->key != NULL && strcmp(row->json, name) != 0)
        row++;
    return row->key != NULL;
}

/* What the rows take for granted. */
static void check_must(struct import *in, const struct huggingface_type *type)
{
    for (unsigned i = 0; i < HUGGINGFACE_MUST_MAX && type->must[i][0]; i++) {
        const char *name = type->must[i][0], *value = type->must[i][1];
        const json_t *json = member(in, name),
                     *other = *value == '=' ? member(in, value + 1) : NULL;
        char *text = json ? json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
        bool good = json == NULL || json_is_null(json) || is_read(type, name) ||
                    (*value == '=' ? json_equal(json, other) : text && strcmp(text, value) == 0);
        if (!good)
            problems_error(in->problems, in->where,
                           "%s: \"%s\" is %s, and only models of this type where it is %s are read",
                           source_clean(in->arena, in->path), name,
                           source_quote(in->arena, text ? text : "?"),
                           *value == '=' ? arena_format(in->arena, "\"%s\"", value + 1) : value);
        free(text);
    }
}

static const char *known_types(struct import *in)
{
    const char *text = "";
    for (unsigned i = 0; i < huggingface_type_count; i++)
        text = arena_format(in->arena, "%s%s%s", text, i ? ", " : "", huggingface_types[i].name);
    return text;
}

static void refuse_type(struct import *in, struct catalogue *catalogue)
{
    problems_error(in->problems, in->where, "%s: unknown \"model_type\" '%s': %s; known types: %s",
                   source_clean(in->arena, in->path),
                   in->type ? source_quote(in->arena, in->type) : "(none)",
                   huggingface_offer(in->arena, in->json, catalogue), known_types(in));
}

/* A type that is known holds nothing else that changes its layers. */
static void check_signs(struct import *in, const struct huggingface_type *type)
{
    struct huggingface_signs signs = huggingface_signs(in->arena, in->json);
    const char *text = huggingface_undescribed(in->arena, &signs, type, false);
    if (text)
        problems_error(in->problems, in->where,
                       "%s: models of type '%s' that have %s are not simulated",
                       source_clean(in->arena, in->path), type->name, text);
    text = huggingface_undescribed(in->arena, &signs, type, true);
    if (text)
        problems_warning(in->problems, in->where, "%s: left out: %s",
                         source_clean(in->arena, in->path), text);
}

/* A model of several parts keeps its language model in an object of its own, whose type some
 * files leave out. */
static void enter_text(struct import *in)
{
    static const char *const types[][2] = {{"gemma3", "gemma3_text"}, {"llama4", "llama4_text"}};
    const json_t *text = json_object_get(in->json, "text_config");
    const char *inner = json_string_value(json_object_get(text, "model_type"));
    for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++)
        if (in->type != NULL && strcmp(in->type, types[i][0]) == 0)
            inner = types[i][1];
    if (!json_is_object(text) || inner == NULL || huggingface_find(in->type))
        return;
    in->beside = in->json;
    in->json = text;
    in->type = inner;
    if (huggingface_find(inner))
        problems_warning(in->problems, in->where,
                         "%s: only the language model is read, without vision",
                         source_clean(in->arena, in->path));
}

static void warn_of_beside(struct import *in)
{
    problems_warning(in->problems, in->where,
                     "%s: attention and feed-forward stand side by side; they are simulated one "
                     "after the other, with a reduction over tp each",
                     source_clean(in->arena, in->path));
}

/* One head of keys for all (`multi_query`), unless the newer decoder says how many; one norm for
 * attention and feed-forward side by side, or two. Older files say n_layer, n_head and n_embed. Do
 * the two stand side by side? */
static bool add_falcon(struct import *in)
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
    return parallel;
}

static void add_pattern(struct import *in, const struct huggingface_type *type)
{
    struct error error;
    const char *text = huggingface_pattern(in->arena, in->json, type->mixer, &error);
    if (text != NULL)
        add(in, "pattern", text);
    else
        problems_error(in->problems, in->where, "%s: %s", source_clean(in->arena, in->path),
                       error.text);
}

/* Which layers have an indexer, where the file lists them. */
static void add_indexer(struct import *in)
{
    struct huggingface_sharing sharing;
    struct error error;
    if (!huggingface_sharing(in->json, &sharing, &error)) {
        problems_error(in->problems, in->where, "%s: %s", source_clean(in->arena, in->path),
                       error.text);
    } else if (sharing.interval > 1) {
        add(in, "indexer_interval", arena_format(in->arena, "%" PRIu64, sharing.interval));
        add(in, "indexer_first", arena_format(in->arena, "%" PRIu64, sharing.first));
    }
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

/* A file that lists its blocks one by one need not count them. */
static void count_blocks(json_t *json)
{
    const json_t *blocks = json_object_get(json, "layers_block_type");
    if (json_is_array(blocks) && json_object_get(json, "num_hidden_layers") == NULL)
        json_object_set_new(json, "num_hidden_layers",
                            json_integer((json_int_t)json_array_size(blocks)));
}

/* As many matrices and bytes, so that its time is no other; but it is said. */
static void warn_of_activation(struct import *in)
{
    const struct value *ffn = value_find(in->mapping, "ffn");
    const char *named = ffn ? huggingface_other_activation(in->json, ffn->text) : NULL;
    if (named)
        problems_warning(in->problems, in->where, "%s: the activation '%s' is simulated as %s",
                         source_clean(in->arena, in->path), source_quote(in->arena, named),
                         ffn->text);
}

/* Python writes numbers that are none as words, which JSON has not: here they become strings of the
 * same length, which no key of ours takes, so that places of other faults stay. */
static void quote_non_finite(char *text, size_t bytes)
{
    static const char *const words[][2] = {
        {"-Infinity", "\"-infin\" "}, {"Infinity", "\"infin\" "}, {"NaN", "\"n\""}};
    bool inside = false;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '"')
            inside = !inside;
        else if (inside && text[i] == '\\')
            i++;
        for (unsigned w = 0; !inside && w < sizeof words / sizeof words[0]; w++) {
            size_t length = strlen(words[w][0]);
            if (bytes - i >= length && memcmp(text + i, words[w][0], length) == 0) {
                memcpy(text + i, words[w][1], length);
                i += length - 1;
                break;
            }
        }
    }
}

static bool take_text(struct import *in, struct source *source)
{
    struct error error = {{0}};
    struct file_text file;
    source->name = in->path;
    source->order = in->where.source->order + 1;
    if (!file_read(in->arena, in->path, HUGGINGFACE_BYTES_MAX, true, &file, &error)) {
        problems_error(in->problems, in->where, "%s", source_clean(in->arena, error.text));
        return false;
    }
    if (file.bytes > HUGGINGFACE_BYTES_MAX) {
        problems_error(in->problems, in->where, "%s: a config.json has at most 64 MiB",
                       source_clean(in->arena, in->path));
        return false;
    }
    quote_non_finite(file.text, file.bytes);
    source->text = file.text;
    source->bytes = file.bytes;
    return true;
}

static bool load(struct import *in, json_t **json)
{
    struct source *source = ARENA_NEW(in->arena, struct source);
    json_error_t fault;
    if (!take_text(in, source))
        return false;
    *json = json_loadb(source->text, source->bytes, JSON_REJECT_DUPLICATES, &fault);
    if (*json == NULL) {
        struct mark where = {source, (unsigned)(fault.line > 0 ? fault.line : 1),
                             (unsigned)(fault.column > 0 ? fault.column : 1), 1};
        problems_error(in->problems, where, "not JSON: %s", source_clean(in->arena, fault.text));
    }
    return *json != NULL;
}

static bool stands_beside(struct import *in, const struct huggingface_type *type)
{
    if (type->beside == NULL || *type->beside == '\0')
        return type->beside != NULL;
    const json_t *flag = json_object_get(in->json, type->beside);
    return json_is_boolean(flag) ? json_is_true(flag) : type->beside_default;
}

static void read_type(struct import *in, const struct huggingface_type *type)
{
    for (unsigned i = 0; i < HUGGINGFACE_FIXED_MAX && type->fixed[i][0]; i++)
        add(in, type->fixed[i][0], type->fixed[i][1]);
    for (const struct huggingface_row *row = type->rows; row->key; row++)
        translate(in, type, row);
    check_must(in, type);
    check_signs(in, type);
    const bool beside =
        strcmp(type->name, "falcon") == 0 ? add_falcon(in) : stands_beside(in, type);
    if (type->mixer != NULL)
        add_pattern(in, type);
    if (huggingface_tells(type, "indexer_heads"))
        add_indexer(in);
    if (beside)
        warn_of_beside(in);
    const char *facts = huggingface_facts(in->arena, in->json, type->name, beside);
    if (*facts != '\0')
        add(in, "facts", facts);
    warn_of_window(in, type);
    warn_of_activation(in);
}

const struct value *huggingface_read(struct arena *arena, const char *path, struct mark where,
                                     struct catalogue *catalogue, struct problems *problems)
{
    struct import in = {.arena = arena, .path = path, .where = where, .problems = problems};
    json_t *json = NULL;
    if (!load(&in, &json))
        return NULL;
    unsigned before = problems->error_count;
    count_blocks(json);
    in.json = json;
    in.mapping = value_new(arena, VALUE_MAPPING, where);
    in.type = json_string_value(json_object_get(json, "model_type"));
    enter_text(&in);
    const struct huggingface_type *type = huggingface_find(in.type);
    if (type) {
        struct huggingface_type whole = huggingface_whole(type);
        read_type(&in, &whole);
    } else {
        refuse_type(&in, catalogue);
    }
    json_decref(json);
    return problems->error_count == before ? in.mapping : NULL;
}
