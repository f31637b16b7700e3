/* Spellings, the first that is there: a string of letters (hybrid_override_pattern: Nemotron-H and
 * Nemotron 3), a list of the kinds of blocks (layers_block_type: the same in newer files), a list
 * of kinds of layers (layer_types: Qwen3.5) or of 0 and 1 (attn_type_list: MiniMax-Text-01, 1 is
 * attention), lists of numbers from 1 (linear_attn_config.full_attn_layers: Kimi Linear), every Nth
 * (full_attention_interval: Qwen3-Next, 4 unless said). Layers that repeat are written once. */
#include "scenarios/catalogue/huggingface_pattern.h"

#include <jansson.h>
#include <string.h>

#include "scenarios/language/source.h"

enum {
    LAYERS_MAX = 4096,
    INTERVAL = 4
};
struct layers {
    bool attends[LAYERS_MAX];
    size_t count;
};

static const char *letters_of(struct arena *arena, const json_t *list, struct error *error)
{
    static const char *const names[][2] = {
        {"mamba", "M"}, {"attention", "*"}, {"mlp", "-"}, {"moe", "E"}};
    const char *text = "";
    size_t index;
    const json_t *item;
    json_array_foreach(list, index, item)
    {
        const char *name = json_string_value(item), *letter = NULL;
        for (unsigned i = 0; name != NULL && i < sizeof names / sizeof names[0]; i++)
            letter = strcmp(name, names[i][0]) == 0 ? names[i][1] : letter;
        if (letter == NULL) {
            error_set(error, "\"layers_block_type\" has '%s', which is no block that is known",
                      name ? source_quote(arena, name) : "?");
            return NULL;
        }
        text = arena_format(arena, "%s%s", text, letter);
    }
    return text;
}

/* The shortest stretch that fills all of them in whole turns. */
static size_t period_of(const struct layers *l)
{
    size_t period = 1;
    for (; period < l->count; period++) {
        bool repeats = l->count % period == 0;
        for (size_t i = period; repeats && i < l->count; i++)
            repeats = l->attends[i] == l->attends[i - period];
        if (repeats)
            break;
    }
    return period;
}

static const char *words_of(struct arena *arena, const struct layers *l, const char *mixer)
{
    const char *text = "";
    const size_t period = period_of(l);
    for (size_t i = 0, run; i < period; i += run) {
        const char *name = l->attends[i] ? "attention" : mixer;
        for (run = 1; i + run < period && l->attends[i + run] == l->attends[i]; run++)
            ;
        const char *times = run > 1 ? arena_format(arena, "%zu*", run) : "";
        text = arena_format(arena, "%s%s%s%s", text, i > 0 ? "," : "", times, name);
    }
    return text;
}

/* Kinds of layers by name, or 0 and 1. */
static bool take_list(const json_t *list, struct layers *out)
{
    size_t index;
    const json_t *item;
    out->count = json_array_size(list);
    if (out->count == 0 || out->count > LAYERS_MAX)
        return false;
    json_array_foreach(list, index, item)
    {
        const char *name = json_string_value(item);
        out->attends[index] =
            name != NULL ? strcmp(name, "full_attention") == 0 : json_integer_value(item) == 1;
        if (name != NULL ? strcmp(name, "linear_attention") != 0 && !out->attends[index]
                         : !json_is_integer(item))
            return false;
    }
    return true;
}

static bool take_numbers(const json_t *list, size_t layers, struct layers *out)
{
    size_t index;
    const json_t *item;
    out->count = layers;
    json_array_foreach(list, index, item)
    {
        const json_int_t number = json_integer_value(item);
        if (number < 1 || (size_t)number > layers)
            return false;
        out->attends[number - 1] = true;
    }
    return json_is_array(list);
}

static bool take_interval(const json_t *json, size_t layers, struct layers *out)
{
    const json_t *given = json_object_get(json, "full_attention_interval");
    const json_int_t interval = given != NULL ? json_integer_value(given) : INTERVAL;
    out->count = layers;
    for (size_t i = 0; interval > 0 && i < layers; i++)
        out->attends[i] = (i + 1) % (size_t)interval == 0;
    return interval > 0;
}

static bool take_layers(const json_t *json, struct layers *out)
{
    const json_int_t said = json_integer_value(json_object_get(json, "num_hidden_layers"));
    const size_t layers = said > 0 && said <= LAYERS_MAX ? (size_t)said : 0;
    const json_t *types = json_object_get(json, "layer_types");
    const json_t *flags = json_object_get(json, "attn_type_list");
    const json_t *linear = json_object_get(json, "linear_attn_config");
    if (layers == 0)
        return false;
    if (json_is_array(types) || json_is_array(flags))
        return take_list(json_is_array(types) ? types : flags, out) && out->count == layers;
    return json_is_object(linear)
               ? take_numbers(json_object_get(linear, "full_attn_layers"), layers, out)
               : take_interval(json, layers, out);
}

const char *huggingface_pattern(struct arena *arena, const json_t *json, const char *mixer,
                                struct error *error)
{
    const char *letters = json_string_value(json_object_get(json, "hybrid_override_pattern"));
    const json_t *blocks = json_object_get(json, "layers_block_type");
    struct layers *layers = ARENA_NEW(arena, struct layers);
    if (letters != NULL)
        return arena_format(arena, "%s", letters);
    if (json_is_array(blocks))
        return letters_of(arena, blocks, error);
    if (take_layers(json, layers))
        return words_of(arena, layers, mixer);
    error_set(error,
              "the file does not say which of its layers attend: \"layer_types\", "
              "\"attn_type_list\" or \"linear_attn_config\" must list \"num_hidden_layers\"");
    return NULL;
}
