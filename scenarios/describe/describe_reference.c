/* scenario_reference.c - the reference of the language as Markdown, written from its tables. */
#include <stdio.h>
#include <string.h>

#include "scenarios/catalogue/catalogue.h"
#include "scenarios/describe/describe.h"
#include "scenarios/language/quantity.h"
#include "scenarios/schema/schema.h"

struct reference_writer {
    FILE *out;
    struct arena *arena;
    struct catalogue catalogue;
};

/* The anchor that Markdown viewers give a heading: no dots, dashes for blanks. */
static const char *anchor(struct reference_writer *w, const char *heading)
{
    char *text = arena_text(w->arena, heading);
    size_t length = 0;
    for (const char *from = heading; *from; from++)
        if (*from != '.')
            text[length++] = *from == ' ' ? '-' : *from;
    text[length] = '\0';
    return text;
}

static const char *value_text(struct reference_writer *w, const char *path,
                              const struct param *param)
{
    const char *units = quantity_units(param->type), *text = quantity_type_name(param->type);
    if (schema_family(path) != FAMILY_NONE)
        return arena_format(w->arena, "a name of [%s](#%s)", family_name(schema_family(path)),
                            anchor(w, family_name(schema_family(path))));
    if (*units)
        return arena_format(w->arena, "%s: %s", text, units);
    if (param->type != PARAM_CHOICE)
        return param->type == PARAM_FLAG ? "true, false" : text;
    text = "";
    for (unsigned i = 0; param->choices[i]; i++)
        text = arena_format(w->arena, "%s%s`%s`", text, i ? ", " : "", param->choices[i]);
    return text;
}

static const char *default_text(struct reference_writer *w, const struct param *param,
                                const char *otherwise)
{
    if (param->fallback == NULL)
        return otherwise;
    return *param->fallback ? arena_format(w->arena, "`%s`", param->fallback) : "";
}

static const char *range_text(struct reference_writer *w, const struct param *param)
{
    char least[QUANTITY_TEXT_MAX], most[QUANTITY_TEXT_MAX];
    if (param->type == PARAM_FLAG || param->type == PARAM_CHOICE || param->type == PARAM_TEXT)
        return "";
    quantity_write(param->type, param->minimum, least, sizeof least);
    quantity_write(param->type, param->maximum, most, sizeof most);
    return arena_format(w->arena, "%s to %s", least, most);
}

/* `otherwise`: what a key without default means. */
static void print_row(struct reference_writer *w, const char *path, const struct param *param,
                      const char *otherwise)
{
    const char *key = arena_format(w->arena, "%s.%s", path, param->name);
    fprintf(w->out, "| `%s` | %s | %s | %s | %s |\n", param->name, value_text(w, key, param),
            default_text(w, param, otherwise), range_text(w, param), param->doc);
}

static void print_rows(struct reference_writer *w, const char *path, struct params params,
                       const char *otherwise)
{
    for (unsigned i = 0; i < params.count; i++)
        print_row(w, path, &params.rows[i], otherwise);
}

static void print_head(struct reference_writer *w)
{
    fprintf(w->out, "| key | value | default | range | meaning |\n|---|---|---|---|---|\n");
}

/* The options that the kinds which a key may name add to its section. */
static void print_options(struct reference_writer *w, const struct schema_section *section)
{
    const struct schema_choice *choice;
    const struct kind *kind;
    for (unsigned c = 0; (choice = schema_choice(section, c)) != NULL; c++) {
        for (unsigned i = 0; (kind = family_at(choice->family, i)) != NULL; i++) {
            if (kind->options.count == 0)
                continue;
            fprintf(w->out, "\nWith `%s: %s` also:\n\n", choice->key, kind->name);
            print_head(w);
            print_rows(w, section->path, kind->options, "must be given");
        }
    }
}

static void print_inner(struct reference_writer *w, const struct schema_section *inner)
{
    bool duration = schema_is_duration(inner);
    const char *kind = duration ? "duration" : "section";
    const char *otherwise = inner->required ? "must be given" : "";
    fprintf(w->out, "| `%s` | [%s](#%s) | %s | | %s |\n", schema_key(inner), kind,
            duration ? "durations" : anchor(w, inner->path),
            duration ? default_text(w, &inner->keys.rows[0], "") : otherwise, inner->doc);
}

static void print_section(struct reference_writer *w, const struct schema_section *section)
{
    fprintf(w->out, "\n### %s\n%s", *section->path ? section->path : "Top level", section->doc);
    if (section->list)
        fprintf(w->out, " A list.");
    if (section->shorthand)
        fprintf(w->out, " A word in its place stands for `{%s: word}`.", section->shorthand);
    fprintf(w->out, " %s.\n\n", section->required ? "Must be given" : "May be left out");
    if (schema_is_open(section))
        return;
    print_head(w);
    print_rows(w, section->path, section->keys, "must be given");
    for (enum section i = 0; i < SECTION_COUNT; i++) {
        const struct schema_section *inner = schema_section(i);
        if (schema_inside(section, inner))
            print_inner(w, inner);
    }
    print_rows(w, section->path, schema_table(section), "by the name, or must be given");
    print_options(w, section);
}

/* All durations have the keys of a link of the restart chain, but for the defaults of the mean and
 * for `sheltered`, which only links have. */
static void print_durations(struct reference_writer *w)
{
    const struct schema_section *link = schema_section(SECTION_RESTART_LINKS);
    fprintf(w->out,
            "\n### Durations\nA duration is a time, as in `repair: 24h`, or drawn, as in `repair: "
            "{mean: 24h, law: lognormal, shape: 1.2}`. `sheltered` is for the links of "
            "recovery.restart.\n\n");
    print_head(w);
    struct param mean = link->keys.rows[0];
    mean.fallback = ""; /* each duration has its own, above */
    print_row(w, link->path, &mean, "");
    print_rows(w, link->path, (struct params){link->keys.rows + 1, link->keys.count - 1}, "");
}

/* The entries of a catalogue family, or the kinds of another. */
static void print_family(struct reference_writer *w, enum family family)
{
    bool catalogue = family < FAMILY_CATALOGUE_COUNT;
    struct name_list names =
        catalogue ? catalogue_names(&w->catalogue, family) : family_kinds(w->arena, family);
    fprintf(w->out, "\n### %s\n\n| name | what it is |\n|---|---|\n", family_name(family));
    for (unsigned i = 0; i < names.count; i++) {
        const char *name = names.names[i];
        const char *doc = catalogue ? catalogue_doc_of(&w->catalogue, family, name)
                                    : family_find(family, name)->doc;
        fprintf(w->out, "| `%s` | %s |\n", name, doc);
    }
}

static void print_units(struct reference_writer *w)
{
    fprintf(w->out, "| value | units |\n|---|---|\n");
    for (enum param_type type = PARAM_TIME; type <= PARAM_MONEY; type++)
        fprintf(w->out, "| %s | %s |\n", quantity_type_name(type), quantity_units(type));
}

void describe_reference(FILE *out)
{
    struct arena *arena = arena_create();
    struct problems *problems = ARENA_NEW(arena, struct problems);
    struct reference_writer w = {.out = out, .arena = arena};
    problems->arena = arena;
    catalogue_open(&w.catalogue, arena, NULL, problems);
    fprintf(out,
            "## Scenario\n"
            "A scenario is YAML, or JSON. Physical quantities carry a unit: kB, MB, GB are powers "
            "of 1000, KiB, MiB, GiB of 1024; b is a bit, B a byte. A count may end in k, M, B "
            "(10^9) or T, a number in %%. On the command line `--set layout.tp=4` sets a key; "
            "lists are indexed as in `notes[0].say`.\n\n");
    print_units(&w);
    for (enum section i = 0; i < SECTION_COUNT; i++)
        if (!schema_is_duration(schema_section(i)))
            print_section(&w, schema_section(i));
    print_durations(&w);
    fprintf(out, "\n## Names\n");
    for (enum family i = 0; i < FAMILY_COUNT; i++)
        if (i < FAMILY_CATALOGUE_COUNT || schema_chooses(i))
            print_family(&w, i);
    arena_destroy(arena);
}
