#include "scenarios/schema/catalogue_figures.h"

#include <string.h>

#include "scenarios/catalogue/catalogue.h"
#include "scenarios/schema/schema.h"

/* Where a scenario writes the keys of each family's entries. */
static const enum section sections[FAMILY_CATALOGUE_COUNT] = {
    [FAMILY_GPUS] = SECTION_GPU,          [FAMILY_NODES] = SECTION_NODE,
    [FAMILY_FABRICS] = SECTION_FABRIC,    [FAMILY_MODELS] = SECTION_MODEL,
    [FAMILY_SOFTWARE] = SECTION_SOFTWARE, [FAMILY_FLEETS] = SECTION_FAILURES,
    [FAMILY_STORAGE] = SECTION_STORAGE,
};

struct figure_writer {
    struct arena *arena;
    const struct schema_section *schema;
    const struct value *entry;
    struct params options; /* of all kinds */
    struct stated_figure *rows;
    unsigned count;
};

static const struct param *row_of(struct params params, const char *key)
{
    for (unsigned i = 0; i < params.count; i++)
        if (strcmp(params.rows[i].name, key) == 0)
            return &params.rows[i];
    return NULL;
}

static const struct param *find(const struct figure_writer *w, const char *key)
{
    const char *spelt = schema_spelling(w->schema, key);
    const struct param *row = row_of(schema_table(w->schema), spelt);
    if (row == NULL)
        row = row_of(w->options, key);
    return row ? row : row_of(w->schema->keys, key);
}

static void add(struct figure_writer *w, const struct param *param, const char *name,
                const struct value *word)
{
    struct stated_figure figure = figure_of_entry(w->entry, param, name, word);
    const char *causes = figure_source(w->entry, "causes"); /* of a fleet: where they are from */
    if (*figure.source == '\0' && causes)
        figure.source = causes;
    w->rows[w->count++] = figure;
}

/* The members of a mapping that have a row; `prefix` stands before their names. */
static void add_members(struct figure_writer *w, const struct value *mapping, const char *prefix)
{
    for (const struct value *m = mapping->first; m; m = m->next) {
        const struct param *param = m->kind == VALUE_WORD ? find(w, m->key) : NULL;
        if (param && !catalogue_describes(m->key))
            add(w, param, arena_format(w->arena, "%s%s", prefix, param->name), m);
    }
}

/* A cause may stand without a name in a broken file; the reader says so. */
static void add_causes(struct figure_writer *w, const struct value *causes)
{
    for (const struct value *c = causes ? causes->first : NULL; c; c = c->next) {
        const struct value *name = value_find(c, "cause");
        if (name && name->kind == VALUE_WORD)
            add_members(w, c, arena_format(w->arena, "%s.", name->text));
    }
}

static unsigned members_of(const struct value *value)
{
    unsigned count = 0;
    for (const struct value *m = value ? value->first : NULL; m; m = m->next)
        count += 1 + members_of(m);
    return count;
}

unsigned catalogue_figures(struct arena *arena, enum family family, const struct value *entry,
                           const struct stated_figure **out)
{
    struct figure_writer w = {
        .arena = arena, .schema = schema_section(sections[family]), .entry = entry};
    w.options = schema_options(arena, w.schema);
    w.rows = ARENA_ARRAY(arena, struct stated_figure, members_of(entry) + 1);
    if (family == FAMILY_FLEETS)
        add_causes(&w, value_find(entry, "causes"));
    else
        add_members(&w, entry, "");
    *out = w.rows;
    return w.count;
}
