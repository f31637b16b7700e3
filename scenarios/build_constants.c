/* Which figures of the catalogue a scenario stands on, and how uncertain each is. `errors` and
 * `sources` of an entry hold for every key that begins with one of their names, the longest. */
#include <string.h>

#include "scenarios/build_parts.h"
#include "sim/check.h"

enum {
    CONSTANT_MAX = 512 /* more than the four tables have rows */
};
static const struct param error_param = {
    "error", PARAM_RATIO, 0, 0, 10, NULL, NULL, "Relative standard error.",
};

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

static enum constant_origin origin_of(const struct value *base, const char *key)
{
    const struct value *sources = value_find(base, "sources");
    const struct value *source = longest(sources, key);
    if (source == NULL)
        source = value_find(sources, "default");
    bool said = source && source->kind == VALUE_WORD;
    return said ? constant_origin_of(source->text) : ORIGIN_PUBLISHED;
}

static bool gives(const struct schema_section *schema, const struct value *mapping, const char *key)
{
    for (const struct value *m = mapping->first; m; m = m->next) {
        if (strcmp(schema_spelling(schema, m->key), key) == 0)
            return true;
    }
    return false;
}

/* Prices and powers take no part in a step. */
static bool counts(const struct param *param)
{
    switch (param->type) {
    case PARAM_RATIO:
    case PARAM_TIME:
    case PARAM_BYTES:
    case PARAM_BANDWIDTH:
    case PARAM_FLOP_RATE:
    case PARAM_FREQUENCY:
        return true;
    default:
        return false;
    }
}

static void add(struct builder *b, const struct constant *constant)
{
    struct scenario *s = b->scenario;
    if (b->constants == NULL)
        s->constants = b->constants = ARENA_ARRAY(b->arena, struct constant, CONSTANT_MAX);
    CHECK(s->constant_count < CONSTANT_MAX);
    b->constants[s->constant_count++] = *constant;
}

static void note(struct builder *b, const struct constant_section *of, const struct param *param,
                 const double *value)
{
    struct constant constant = {.minimum = param->minimum, .maximum = param->maximum};
    const struct value *error = longest(value_find(of->base, "errors"), param->name);
    constant.origin = origin_of(of->base, param->name);
    constant.error_ratio = constant_origin_error[constant.origin];
    constant.stated = error != NULL;
    if (error && !reader_value(&b->reader, error, error->key, &error_param, &constant.error_ratio))
        return;
    if (!(constant.error_ratio > 0.0) || !(*value > 0.0))
        return;
    constant.name = arena_format(b->arena, "%s.%s.%s", schema_key(schema_section(of->section)),
                                 of->entry, param->name);
    constant.offset = (size_t)((const char *)value - (const char *)&b->scenario->configuration);
    add(b, &constant);
}

void build_constants(struct builder *b, const struct constant_section *of, struct params params,
                     const void *object)
{
    const struct schema_section *schema = schema_section(of->section);
    for (unsigned i = 0; of->base && i < params.count; i++) {
        const struct param *param = &params.rows[i];
        if (counts(param) && gives(schema, of->base, param->name) &&
            !gives(schema, of->over, param->name))
            note(b, of, param,
                 (const double *)(const void *)((const char *)object + param->offset));
    }
}

void build_constant_options(struct builder *b, const struct constant_section *of,
                            struct params options, const struct kind_options *object)
{
    const struct schema_section *schema = schema_section(of->section);
    for (unsigned i = 0; of->base && i < options.count; i++) {
        const struct param *param = &options.rows[i];
        if (counts(param) && gives(schema, of->base, param->name) &&
            !gives(schema, of->over, param->name))
            note(b, of, param, &object->value[param->offset]);
    }
}
