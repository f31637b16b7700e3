/* Which figures a scenario stands on, where each is from, and how uncertain it is. */
#include <string.h>

#include "scenarios/assemble/build_parts.h"
#include "scenarios/schema/catalogue_figures.h"
#include "sim/check.h"
#include "sim/list.h"

enum {
    CONSTANT_MAX = 512 /* more than the four tables have rows */
};
static const struct param error_param = {
    "error", PARAM_RATIO, 0, 0, 10, NULL, NULL, "Relative standard error.",
};

static bool gives(const struct schema_section *schema, const struct value *mapping, const char *key)
{
    for (const struct value *m = mapping->first; m; m = m->next)
        if (strcmp(schema_spelling(schema, m->key), key) == 0)
            return true;
    return false;
}

static void add(struct builder *b, const struct constant *constant)
{
    struct scenario *s = b->scenario;
    if (b->constants == NULL)
        s->stated.constants = b->constants = ARENA_ARRAY(b->arena, struct constant, CONSTANT_MAX);
    CHECK(s->stated.constant_count < CONSTANT_MAX);
    b->constants[s->stated.constant_count++] = *constant;
}

static void note(struct builder *b, const struct constant_section *of, const struct param *param,
                 const double *value)
{
    struct constant constant = {.minimum = param->minimum, .maximum = param->maximum};
    const struct value *error = figure_stated_error(of->base, param->name);
    const char *source = figure_source(of->base, param->name);
    constant.origin = source ? constant_origin_of(source) : ORIGIN_PUBLISHED;
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
        if (figure_counts(param) && gives(schema, of->base, param->name) &&
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
        if (figure_counts(param) && gives(schema, of->base, param->name) &&
            !gives(schema, of->over, param->name))
            note(b, of, param, &object->value[param->offset]);
    }
}

static void add_figure(struct builder *b, const struct stated_figure *figure)
{
    struct scenario *s = b->scenario;
    LIST_ROOM(b->arena, b->figures, s->stated.figure_count, 1, b->figure_capacity);
    b->figures[s->stated.figure_count++] = *figure;
    s->stated.figures = b->figures;
}

/* The section of an entry stands in the list once, however often it is asked for. */
static bool is_listed(const struct builder *b, const char *name)
{
    for (unsigned i = 0; i < b->scenario->stated.figure_count; i++)
        if (strcmp(b->figures[i].name, name) == 0)
            return true;
    return false;
}

static struct stated_figure figure_of(struct builder *b, const struct constant_section *of,
                                      const struct param *param, const char *name,
                                      const struct value *word)
{
    struct stated_figure out = figure_read(param, name, word ? word->text : param->fallback);
    out.origin = word ? FIGURE_OF_SCENARIO : FIGURE_OF_DEFAULT;
    out.source = param->doc;
    if (word && of->base && !gives(schema_section(of->section), of->over, param->name)) {
        out = figure_of_entry(of->base, param, name, word);
        out.source = of->source ? of->source : out.source;
    } else if (word) {
        const struct source *source = word->mark.source;
        const char *where = source->fixed_line ? "--set" : "line";
        out.source = arena_format(b->arena, "the scenario, %s %u", where, word->mark.line);
    }
    return out;
}

void build_figures(struct builder *b, const struct constant_section *of, struct params params,
                   const struct value *merged)
{
    const char *prefix = schema_key(schema_section(of->section));
    for (unsigned i = 0; i < params.count; i++) {
        const struct param *param = &params.rows[i];
        const struct value *word = value_find(merged, param->name);
        const char *name = arena_format(b->arena, "%s.%s.%s", prefix, of->entry, param->name);
        bool said = word ? word->kind == VALUE_WORD : param->fallback && *param->fallback;
        if (i == 0 && is_listed(b, name))
            return;
        if (!said)
            continue;
        struct stated_figure figure = figure_of(b, of, param, name, word);
        add_figure(b, &figure);
    }
}

void build_fleet_figures(struct builder *b, const char *fleet, const struct value *entry)
{
    const struct stated_figure *figures;
    unsigned count = catalogue_figures(b->arena, FAMILY_FLEETS, entry, &figures);
    for (unsigned i = 0; i < count; i++) {
        struct stated_figure figure = figures[i];
        figure.name = arena_format(b->arena, "failures.%s.%s", fleet, figure.name);
        if (i == 0 && is_listed(b, figure.name))
            return;
        add_figure(b, &figure);
    }
}
