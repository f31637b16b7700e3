#include "scenarios/catalogue/figure.h"

#include <string.h>

#include "scenarios/language/quantity.h"
#include "scenarios/language/value.h"
#include "sim/check.h"

/* The member whose name is the longest beginning of `key`; NULL: none. */
static const struct value *longest(const struct value *mapping, const char *key)
{
    const struct value *found = NULL;
    size_t most = 0;
    for (const struct value *m = mapping ? mapping->first : NULL; m; m = m->next) {
        size_t length = strlen(m->key);
        if (length > most && strncmp(m->key, key, length) == 0) {
            found = m;
            most = length;
        }
    }
    return found;
}

const char *figure_source(const struct value *entry, const char *key)
{
    const struct value *sources = value_find(entry, "sources");
    const struct value *source = longest(sources, key);
    if (source == NULL)
        source = value_find(sources, "default");
    return source && source->kind == VALUE_WORD ? source->text : NULL;
}

const struct value *figure_stated_error(const struct value *entry, const char *key)
{
    return longest(value_find(entry, "errors"), key);
}

bool figure_counts(const struct param *param)
{
    switch (param->type) {
    case PARAM_RATIO:
    case PARAM_TIME:
    case PARAM_BYTES:
    case PARAM_BANDWIDTH:
    case PARAM_FLOP_RATE:
    case PARAM_FREQUENCY:
        return true;
    case PARAM_FLAG:
    case PARAM_COUNT:
    case PARAM_POWER:
    case PARAM_MONEY:
    case PARAM_CHOICE:
    case PARAM_TEXT:
        return false;
    }
    UNREACHABLE("type is an enum param_type");
}

struct stated_figure figure_read(const struct param *param, const char *name, const char *text)
{
    struct stated_figure out = {.name = name, .text = text, .unit = "", .origin = "", .source = ""};
    struct quantity quantity;
    char why[QUANTITY_TEXT_MAX];
    bool word = param->type == PARAM_TEXT || param->type == PARAM_CHOICE;
    out.number = !word && quantity_read(param->type, text, "", &quantity, why);
    if (out.number) {
        out.value = quantity.number;
        out.unit = quantity_si_unit(param->type);
    }
    return out;
}

static double stated_ratio(const struct value *error)
{
    struct quantity quantity;
    char why[QUANTITY_TEXT_MAX];
    bool good =
        error->kind == VALUE_WORD && quantity_read(PARAM_RATIO, error->text, "", &quantity, why);
    return good ? quantity.number : 0.0;
}

struct stated_figure figure_of_entry(const struct value *entry, const struct param *param,
                                     const char *name, const struct value *word)
{
    struct stated_figure out = figure_read(param, name, word->text);
    const char *source = figure_source(entry, param->name);
    const struct value *error = figure_stated_error(entry, param->name);
    enum constant_origin origin = source ? constant_origin_of(source) : ORIGIN_PUBLISHED;
    out.source = source ? source : "";
    out.origin = constant_origin_names[origin];
    if (error)
        out.error_ratio = stated_ratio(error);
    else if (figure_counts(param))
        out.error_ratio = constant_origin_error[origin];
    return out;
}
