/* scenario_schema.c - the language as JSON Schema (draft 2020-12), written from its tables, for
 * editors that complete and check while one types. Names are those of the built-in catalogue. */
#include <stdio.h>
#include <string.h>

#include "scenarios/catalogue/catalogue.h"
#include "scenarios/describe/describe.h"
#include "scenarios/language/quantity.h"
#include "scenarios/schema/schema.h"

/* quantity.h states this grammar. */
#define NUMBER_PATTERN "[+-]?([0-9]+\\\\.?[0-9]*|\\\\.[0-9]+)([eE][+-]?[0-9]+)?"

struct schema_writer {
    FILE *out;
    struct arena *arena;
    struct catalogue catalogue;
};

static void print_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_names(struct schema_writer *w, struct name_list names)
{
    fprintf(w->out, "\"enum\": [");
    for (unsigned i = 0; i < names.count; i++) {
        fprintf(w->out, "%s", i ? ", " : "");
        print_string(w->out, names.names[i]);
    }
    fprintf(w->out, "]");
}

/* The names, and the word that stands for what the reader finds out. */
static void print_names_or(struct schema_writer *w, struct name_list names,
                           const struct param *param)
{
    const char **all = ARENA_ARRAY(w->arena, const char *, names.count + 1);
    for (unsigned i = 0; i < names.count; i++)
        all[i] = names.names[i];
    all[names.count] = param->fallback;
    print_names(w, (struct name_list){all, names.count + (reader_takes_word(param) ? 1 : 0)});
}

static struct name_list names_of(struct schema_writer *w, enum family family)
{
    return family < FAMILY_CATALOGUE_COUNT ? catalogue_names(&w->catalogue, family)
                                           : family_kinds(w->arena, family);
}

/* "ns, us" as the alternatives of a pattern. */
static void print_units(struct schema_writer *w, const char *units)
{
    for (; *units; units++)
        if (*units == ',')
            fputc('|', w->out);
        else if (*units != ' ')
            fputc(*units, w->out);
}

static void print_number(struct schema_writer *w, const char *type, const struct param *param,
                         const char *suffix)
{
    fprintf(w->out,
            "\"anyOf\": [{\"type\": \"%s\", \"minimum\": %.17g, \"maximum\": %.17g}, "
            "{\"type\": \"string\", \"pattern\": \"^" NUMBER_PATTERN " *%s$\"}]",
            type, param->minimum, param->maximum, suffix);
}

static void print_choices(struct schema_writer *w, const struct param *param)
{
    unsigned count = 0;
    while (param->choices[count])
        count++;
    print_names_or(w, (struct name_list){param->choices, count}, param);
}

static void print_type(struct schema_writer *w, const char *path, const struct param *param)
{
    const bool takes_word = reader_takes_word(param);
    const char *or_word = takes_word ? arena_format(w->arena, "$|^%s", param->fallback) : "";
    switch (param->type) {
    case PARAM_FLAG:
        if (takes_word)
            fprintf(w->out, "\"enum\": [true, false, \"%s\"]", param->fallback);
        else
            fprintf(w->out, "\"type\": \"boolean\"");
        break;
    case PARAM_COUNT:
        print_number(w, "integer", param, arena_format(w->arena, "[kMBT]?%s", or_word));
        break;
    case PARAM_RATIO:
        print_number(w, "number", param, arena_format(w->arena, "%%?%s", or_word));
        break;
    case PARAM_CHOICE:
        print_choices(w, param);
        break;
    case PARAM_TEXT:
        if (schema_family(path) != FAMILY_NONE)
            print_names_or(w, names_of(w, schema_family(path)), param);
        else
            fprintf(w->out, "\"type\": [\"string\", \"number\", \"boolean\"]");
        break;
    case PARAM_TIME:
    case PARAM_BYTES:
    case PARAM_BANDWIDTH:
    case PARAM_FLOP_RATE:
    case PARAM_FREQUENCY:
    case PARAM_POWER:
    case PARAM_MONEY:
        fprintf(w->out, "\"type\": \"string\", \"pattern\": \"^" NUMBER_PATTERN " *(");
        print_units(w, quantity_units(param->type));
        fprintf(w->out, ")%s%s\"", takes_word ? "" : "$", or_word);
        break;
    }
}

/* A flag is a truth value; everything else may be a word, and is easier read as it is written. */
static void print_default(struct schema_writer *w, const struct param *param)
{
    if (param->fallback == NULL || *param->fallback == '\0')
        return;
    fprintf(w->out, ", \"default\": ");
    if (param->type == PARAM_FLAG && !reader_takes_word(param))
        fputs(param->fallback, w->out);
    else
        print_string(w->out, param->fallback);
}

/* `spelling`: the name of the key, or what else it is called. */
static void print_property(struct schema_writer *w, const char *path, const struct param *param,
                           const char *spelling, bool *first)
{
    const char *key = arena_format(w->arena, "%s%s%s", path, *path ? "." : "", param->name);
    fprintf(w->out, "%s\n", *first ? "" : ",");
    *first = false;
    print_string(w->out, spelling);
    fprintf(w->out, ": {");
    print_type(w, key, param);
    fprintf(w->out, ", \"description\": ");
    print_string(w->out, param->doc);
    print_default(w, param);
    fprintf(w->out, "}");
}

static void print_properties(struct schema_writer *w, const struct schema_section *section,
                             struct params params, bool *first)
{
    for (unsigned i = 0; i < params.count; i++) {
        const struct param *param = &params.rows[i];
        const char *other = schema_other_spelling(section, param->name);
        print_property(w, section->path, param, param->name, first);
        if (other)
            print_property(w, section->path, param, other, first);
    }
}

/* Keys of a table are never required here: the catalogue may give them. */
static void print_required(struct schema_writer *w, const struct schema_section *section)
{
    const char *comma = "";
    fprintf(w->out, "\"required\": [");
    for (unsigned i = 0; i < section->keys.count; i++) {
        if (section->keys.rows[i].fallback == NULL) {
            fprintf(w->out, "%s\"%s\"", comma, section->keys.rows[i].name);
            comma = ", ";
        }
    }
    for (enum section i = 0; i < SECTION_COUNT; i++) {
        const struct schema_section *inner = schema_section(i);
        if (schema_inside(section, inner) && inner->required) {
            fprintf(w->out, "%s\"%s\"", comma, schema_key(inner));
            comma = ", ";
        }
    }
    fprintf(w->out, "]");
}

/* What must be given; or, where one key stands in place of all others, that one alone. */
static void print_needs(struct schema_writer *w, const struct schema_section *section)
{
    const char *alone = schema_alone(section);
    fprintf(w->out, ", ");
    if (alone)
        fprintf(w->out, "\"anyOf\": [{\"required\": [\"%s\"], \"maxProperties\": 1}, {", alone);
    print_required(w, section);
    if (alone)
        fprintf(w->out, ", \"properties\": {\"%s\": false}}]", alone);
}

static void print_section(struct schema_writer *w, const struct schema_section *section);

static void print_inner(struct schema_writer *w, const struct schema_section *section, bool *first)
{
    for (enum section i = 0; i < SECTION_COUNT; i++) {
        const struct schema_section *inner = schema_section(i);
        if (!schema_inside(section, inner))
            continue;
        fprintf(w->out, "%s\n\"%s\": {", *first ? "" : ",", schema_key(inner));
        *first = false;
        print_section(w, inner);
        fprintf(w->out, "}");
    }
}

static void print_object(struct schema_writer *w, const struct schema_section *section)
{
    bool first = true;
    const char *type = section->required || section->list ? "\"object\"" : "[\"object\", \"null\"]";
    const char *others =
        schema_is_open(section) ? "{\"type\": [\"string\", \"number\", \"boolean\"]}" : "false";
    fprintf(w->out, "\"type\": %s, \"additionalProperties\": %s, \"properties\": {", type, others);
    print_properties(w, section, section->keys, &first);
    print_inner(w, section, &first);
    print_properties(w, section, schema_table(section), &first);
    /* Options of all kinds stand side by side; which kind takes which is left to the reader. */
    print_properties(w, section, schema_options(w->arena, section), &first);
    fprintf(w->out, "}");
    print_needs(w, section);
}

static const struct param *shorthand_row(const struct schema_section *section)
{
    const struct param *row = section->keys.rows;
    while (strcmp(row->name, section->shorthand) != 0)
        row++;
    return row;
}

/* The members of the schema of one section, without the braces around them. */
static void print_section(struct schema_writer *w, const struct schema_section *section)
{
    const char *path = section->path;
    fprintf(w->out, "\"description\": ");
    print_string(w->out, section->doc);
    if (section->list) {
        fprintf(w->out, ", \"type\": [\"array\", \"null\"], \"items\": {");
        print_object(w, section);
        fprintf(w->out, "}");
    } else if (section->shorthand) {
        const char *key = arena_format(w->arena, "%s.%s", path, section->shorthand);
        fprintf(w->out, ", \"anyOf\": [{");
        print_type(w, key, shorthand_row(section));
        fprintf(w->out, "}, {");
        print_object(w, section);
        fprintf(w->out, "}]");
    } else {
        fprintf(w->out, ", ");
        print_object(w, section);
    }
}

void describe_schema(FILE *out)
{
    struct arena *arena = arena_create();
    struct problems *problems = ARENA_NEW(arena, struct problems);
    struct schema_writer w = {.out = out, .arena = arena};
    problems->arena = arena;
    catalogue_open(&w.catalogue, arena, NULL, problems);
    fprintf(out, "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\", "
                 "\"title\": \"Orrery scenario\", ");
    print_section(&w, schema_section(SECTION_SCENARIO));
    fprintf(out, "}\n");
    arena_destroy(arena);
}
