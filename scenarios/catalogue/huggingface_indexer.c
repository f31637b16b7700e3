/* GLM-5.2 lists its layers ("indexer_types": full or shared) and says the rule of the list beside
 * it: "index_topk_freq" and "index_skip_topk_offset". A list alone is read by its first shared
 * layer and the full one behind that; either way each layer of it must be what the rule says. */
#include "scenarios/catalogue/huggingface_indexer.h"

#include <jansson.h>
#include <string.h>

#include "sim/plural.h"

static bool is_shared(const json_t *list, size_t layer)
{
    const char *kind = json_string_value(json_array_get(list, layer));
    return kind != NULL && strcmp(kind, "shared") == 0;
}

/* Behind the layers that all have one, the next that has one again stands an interval on. */
static struct huggingface_sharing rule_of(const json_t *list)
{
    const size_t count = json_array_size(list);
    size_t first = 0, next;
    while (first < count && !is_shared(list, first))
        first++;
    if (first == count)
        return (struct huggingface_sharing){1, 0};
    for (next = first; next < count && is_shared(list, next);)
        next++;
    return (struct huggingface_sharing){next + 1 - first, first};
}

static bool follows(const json_t *list, const struct huggingface_sharing *rule, size_t layer)
{
    const uint64_t first = rule->first > 0 ? rule->first : 1;
    const bool full =
        rule->interval <= 1 || layer < first || (layer + 1 - first) % rule->interval == 0;
    const char *kind = json_string_value(json_array_get(list, layer));
    return kind != NULL && strcmp(kind, full ? "full" : "shared") == 0;
}

static uint64_t number(const json_t *json, const char *key, uint64_t otherwise)
{
    const json_t *given = json_object_get(json, key);
    const json_int_t value = json_integer_value(given);
    return json_is_integer(given) && value >= 0 ? (uint64_t)value : otherwise;
}

bool huggingface_sharing(const json_t *json, struct huggingface_sharing *out, struct error *error)
{
    const json_t *list = json_object_get(json, "indexer_types");
    const json_int_t layers = json_integer_value(json_object_get(json, "num_hidden_layers"));
    *out = (struct huggingface_sharing){number(json, "index_topk_freq", 1),
                                        number(json, "index_skip_topk_offset", 0)};
    if (!json_is_array(list))
        return true;
    if (json_array_size(list) != (size_t)layers) {
        error_set(error, "\"indexer_types\" has %zu layer%s, \"num_hidden_layers\" is %lld",
                  json_array_size(list), plural_s(json_array_size(list)), (long long)layers);
        return false;
    }
    if (json_object_get(json, "index_topk_freq") == NULL)
        *out = rule_of(list);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!follows(list, out, i)) {
            error_set(error,
                      "\"indexer_types\": layer %zu is not what one of %llu behind the first %llu "
                      "(\"index_topk_freq\", \"index_skip_topk_offset\") is: only lists that "
                      "repeat so are read",
                      i, (unsigned long long)out->interval, (unsigned long long)out->first);
            return false;
        }
    return true;
}
