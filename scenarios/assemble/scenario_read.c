#include "scenarios/assemble/scenario.h"

#include <string.h>

#include "scenarios/assemble/build.h"
#include "scenarios/language/file.h"
#include "scenarios/language/inputs.h"
#include "scenarios/language/parse.h"
#include "scenarios/schema/set.h"
#include "sim/plural.h"

enum {
    TITLE_SETS = 2, /* more would fill the line */
    TITLE_CHARACTERS = 48
};

/* What scenario_read works with, beside the result. */
struct scenario_reading {
    struct scenario *scenario;
    struct source source;
    struct problems problems;
    struct builder builder;
};

static bool load(struct scenario_reading *r, const char *path, const char *text, size_t text_bytes,
                 struct error *error)
{
    struct source *source = &r->source;
    struct arena *arena = r->scenario->arena;
    struct file_text file = {NULL, 0};
    source->name = r->scenario->path;
    if (text == NULL) {
        if (!file_read(arena, path, SOURCE_BYTES_MAX, false, &file, error))
            return false;
    } else {
        file.bytes = text_bytes > SOURCE_BYTES_MAX ? SOURCE_BYTES_MAX + 1 : text_bytes;
        file.text = arena_alloc(arena, file.bytes + 1, 1);
        memcpy(file.text, text, file.bytes);
    }
    r->scenario->file.text = file.text;
    r->scenario->file.text_bytes = file.bytes;
    bool marked = file.bytes >= 3 && memcmp(file.text, "\xEF\xBB\xBF", 3) == 0;
    source->text = file.text + (marked ? 3 : 0);
    source->bytes = file.bytes - (marked ? 3 : 0);
    return true;
}

/* What the line said beside the file. */
static void keep_options(struct scenario *scenario, const struct scenario_options *options)
{
    const char **sets = ARENA_ARRAY(scenario->arena, const char *, options->set_count);
    for (unsigned i = 0; i < options->set_count; i++)
        sets[i] = arena_text(scenario->arena, options->sets[i]);
    scenario->file.sets = sets;
    scenario->file.set_count = options->set_count;
    if (options->catalogue != NULL)
        scenario->file.catalogue = arena_text(scenario->arena, options->catalogue);
}

/* The first characters of a set. */
static const char *title_word(struct arena *arena, const char *set)
{
    const size_t bytes = strlen(set);
    size_t at = 0;
    for (unsigned i = 0; i < TITLE_CHARACTERS && at < bytes; i++) {
        const unsigned more = source_sequence(set + at, bytes - at);
        at += more > 0 ? more : 1;
    }
    return arena_format(arena, "%.*s", (int)at, set);
}

static const char *title_of(const struct scenario *scenario, unsigned said)
{
    struct arena *arena = scenario->arena;
    const char *title = scenario->name;
    for (unsigned i = 0; i < said && i < TITLE_SETS; i++)
        title = arena_format(arena, "%s%s%s", title, i == 0 ? ", changed: " : ", ",
                             title_word(arena, scenario->file.sets[i]));
    return said > TITLE_SETS ? arena_format(arena, "%s and %u more", title, said - TITLE_SETS)
                             : title;
}

/* The tree of the file with every --set applied; NULL when it is not even a mapping. */
static struct value *parse(struct scenario_reading *r, const struct scenario_options *options)
{
    struct arena *arena = r->scenario->arena;
    struct value *root = parse_source(arena, &r->source, 0, &r->problems);
    if (root && value_is_empty(root)) {
        problems_error(&r->problems, root->mark, "the scenario is empty");
        return NULL;
    }
    if (root && root->kind != VALUE_MAPPING) {
        problems_error(&r->problems, root->mark, "a scenario takes keys with values, not %s",
                       value_kind_name(root));
        return NULL;
    }
    for (unsigned i = 0; root && i < options->set_count; i++)
        set_apply(arena, root, options->sets[i], i + 1, &r->problems);
    return root;
}

static void build(struct scenario_reading *r, struct value *root,
                  const struct scenario_options *options)
{
    struct builder *b = &r->builder;
    struct scenario *scenario = r->scenario;
    b->arena = scenario->arena;
    b->problems = &r->problems;
    b->reader = (struct reader){.arena = b->arena, .problems = &r->problems};
    b->root = root;
    b->path = scenario->path;
    b->scenario = scenario;
    b->chosen = options->chosen;
    b->layout_open = options->layout_open;
    b->alone = options->alone;
    root->key_mark = (struct mark){root->mark.source, root->mark.line, root->mark.column, 1};
    catalogue_open(&b->catalogue, b->arena, options->catalogue, &r->problems);
    for (unsigned i = 0; options->catalogue != NULL && i < FAMILY_CATALOGUE_COUNT; i++)
        inputs_add(b->arena, &scenario->file.inputs,
                   arena_format(b->arena, "catalogue.%s", family_name((enum family)i)),
                   catalogue_path(&b->catalogue, (enum family)i));
    build_scenario(b);
    scenario->stated.defaults = b->reader.defaults;
    scenario->stated.default_count = b->reader.default_count;
    if (options->has_seed)
        scenario->configuration.seed = options->seed;
}

static struct scenario *read(struct scenario_reading *r, const char *path, const char *text,
                             size_t text_bytes, const struct scenario_options *options,
                             struct error *error)
{
    struct scenario *scenario = r->scenario;
    r->problems.arena = scenario->arena;
    keep_options(scenario, options);
    if (!load(r, path, text, text_bytes, error))
        return NULL;
    struct value *root = parse(r, options);
    if (root)
        build(r, root, options);
    if (r->builder.catalogue.unreadable) {
        *error = r->builder.catalogue.error;
        return NULL;
    }
    scenario->title = title_of(scenario, options->set_count - options->chosen_count);
    problems_sort(&r->problems);
    scenario->diagnostics.found = &r->problems;
    scenario->file.root = root;
    scenario->diagnostics.problems = r->problems.kept;
    scenario->diagnostics.problem_count = r->problems.kept_count;
    scenario->diagnostics.error_count = r->problems.error_count;
    scenario->diagnostics.warning_count = r->problems.warning_count;
    return scenario;
}

struct scenario *scenario_read(const char *path, const char *text, size_t text_bytes,
                               const struct scenario_options *options, struct error *error)
{
    static const struct scenario_options none = {0};
    struct arena *arena = arena_create();
    struct scenario_reading *r = ARENA_NEW(arena, struct scenario_reading);
    r->scenario = ARENA_NEW(arena, struct scenario);
    r->scenario->arena = arena;
    bool stream = strcmp(path, "-") == 0;
    r->scenario->path = stream ? "<stdin>" : arena_text(arena, path);
    r->scenario->name = stream ? "stdin" : file_stem(arena, path);
    if (read(r, path, text, text_bytes, options ? options : &none, error))
        return r->scenario;
    arena_destroy(arena);
    return NULL;
}

static struct scenario *read_with(const struct scenario *scenario, const char *const *sets,
                                  unsigned set_count, bool layout_open, struct error *error)
{
    const struct scenario_file *file = &scenario->file;
    struct arena *scratch = arena_create();
    const char **all = ARENA_ARRAY(scratch, const char *, (size_t)file->set_count + set_count);
    for (unsigned i = 0; i < file->set_count + set_count; i++)
        all[i] = i < file->set_count ? file->sets[i] : sets[i - file->set_count];
    const struct scenario_options how = {.catalogue = file->catalogue,
                                         .sets = all,
                                         .set_count = file->set_count + set_count,
                                         .has_seed = true,
                                         .seed = scenario->configuration.seed,
                                         .layout_open = layout_open};
    struct scenario *again =
        scenario_read(scenario->path, file->text, file->text_bytes, &how, error);
    arena_destroy(scratch);
    return again;
}

struct scenario *scenario_read_again(const struct scenario *scenario, const char *const *sets,
                                     unsigned set_count, struct error *error)
{
    return read_with(scenario, sets, set_count, false, error);
}

struct scenario *scenario_read_open(const struct scenario *scenario, const char *const *sets,
                                    unsigned set_count, struct error *error)
{
    return read_with(scenario, sets, set_count, true, error);
}

static bool read_change(void *context, const char *const *sets, unsigned count,
                        struct configuration *out)
{
    struct scenario_change *change = context;
    struct error error = {""};
    scenario_destroy(change->last);
    change->last = scenario_read_again(change->scenario, sets, count, &error);
    if (change->last == NULL || !change->last->choices.made)
        return false;
    *out = change->last->configuration;
    return change->last->diagnostics.error_count == 0;
}

void scenario_change_begin(struct scenario_change *change, const struct scenario *scenario)
{
    *change = (struct scenario_change){.scenario = scenario, .reader = {read_change, change}};
    change->question =
        (struct change_question){&scenario->configuration, scenario->choices.open, &change->reader};
}

void scenario_change_end(struct scenario_change *change)
{
    scenario_destroy(change->last);
    change->last = NULL;
}

void scenario_warn(struct scenario *scenario, const char *key, const char *text)
{
    struct problems *found = scenario->diagnostics.found;
    if (key != NULL) {
        const struct mark where = build_place(scenario->file.root, key);
        problems_late(found, &where, arena_format(scenario->arena, "%s: %s", key, text));
    } else {
        problems_late(found, NULL, text);
    }
    scenario->diagnostics.problem_count = found->kept_count;
    scenario->diagnostics.warning_count = found->warning_count;
}

void scenario_reject(struct scenario *scenario, const char *key, const char *text)
{
    scenario_reject_at(scenario, build_place(scenario->file.root, key),
                       arena_format(scenario->arena, "%s: %s", key, text));
}

void scenario_reject_at(struct scenario *scenario, struct mark where, const char *text)
{
    struct problems *found = scenario->diagnostics.found;
    problems_error(found, where, "%s", text);
    scenario->diagnostics.problem_count = found->kept_count;
    scenario->diagnostics.error_count = found->error_count;
}

void scenario_keep_chosen(const struct scenario *scenario, struct arena *arena,
                          struct scenario_chosen *out)
{
    *out = (struct scenario_chosen){scenario->configuration.layout,
                                    scenario->configuration.training.attention, scenario->choices};
    out->layout.order = arena_text(arena, out->layout.order);
    for (unsigned i = 0; i < out->choices.count; i++) {
        struct made_choice *row = &out->choices.rows[i];
        row->value = arena_text(arena, row->value);
        row->why = arena_text(arena, row->why);
        row->path = row->path != NULL ? arena_text(arena, row->path) : NULL;
    }
}

void scenario_destroy(struct scenario *scenario)
{
    if (scenario)
        arena_destroy(scenario->arena);
}

/* Problems as a compiler prints them:
 *
 *   file.yaml:7:11: error: unknown key 'tpp' in layout; did you mean 'tp'?
 *       7 | layout: {tpp: 8, pp: 2}
 *         |          ^~~
 *
 * A line of more than WINDOW characters is shown around its caret. */
enum {
    WINDOW = 120,
    LEAD = 40 /* characters kept before the caret of a long line */
};

struct print_colours {
    const char *bold, *error, *warning, *caret, *plain;
};
static const struct print_colours coloured = {"\033[1m", "\033[1;31m", "\033[1;35m", "\033[1;32m",
                                              "\033[0m"};
static const struct print_colours colourless = {"", "", "", "", ""};

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

static unsigned characters(const char *text)
{
    unsigned count = 0;
    for (; *text; text++)
        count += continues(*text) ? 0 : 1;
    return count;
}

static const char *skip(const char *text, unsigned count)
{
    while (*text && count > 0) {
        text++;
        while (continues(*text))
            text++;
        count--;
    }
    return text;
}

static void repeat(FILE *out, char character, unsigned count)
{
    while (count-- > 0)
        fputc(character, out);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static void print_source(const struct problem *problem, FILE *out, const struct print_colours *c)
{
    unsigned length = characters(problem->source), before = problem->column - 1;
    unsigned start = length > WINDOW && before > LEAD ? before - LEAD : 0;
    const char *from = skip(problem->source, start), *to = skip(from, WINDOW);
    unsigned shown = least(length - least(start, length), WINDOW);
    unsigned caret = before - start, room = shown > caret ? shown - caret : 1;
    unsigned width = least(problem->width, room);
    fprintf(out, "%5u | %.*s\n      | ", problem->line, (int)(to - from), from);
    repeat(out, ' ', caret);
    fprintf(out, "%s^", c->caret);
    repeat(out, '~', width > 1 ? width - 1 : 0);
    fprintf(out, "%s\n", c->plain);
}

void scenario_print_problem(const struct problem *problem, FILE *out, bool colour)
{
    const struct print_colours *c = colour ? &coloured : &colourless;
    const char *tint = problem->warning ? c->warning : c->error;
    if (problem->file != NULL)
        fprintf(out, "%s%s:%u:%u:%s ", c->bold, problem->file, problem->line, problem->column,
                c->plain);
    else
        fprintf(out, "%sorrery:%s ", c->bold, c->plain);
    fprintf(out, "%s%s:%s %s\n", tint, problem->warning ? "warning" : "error", c->plain,
            problem->text);
    if (problem->source)
        print_source(problem, out, c);
}

/* Problems of a kind beyond those that were kept. */
static unsigned left(const struct scenario *scenario, bool warnings)
{
    const struct scenario_diagnostics *d = &scenario->diagnostics;
    unsigned kept = 0;
    for (unsigned i = 0; i < d->problem_count; i++)
        kept += d->problems[i].warning == warnings;
    return (warnings ? d->warning_count : d->error_count) - kept;
}

unsigned scenario_errors_left(const struct scenario *scenario)
{
    return left(scenario, false);
}

unsigned scenario_warnings_left(const struct scenario *scenario)
{
    return left(scenario, true);
}

void scenario_print_since(const struct scenario *scenario, unsigned first, FILE *out, bool colour)
{
    for (unsigned i = first; i < scenario->diagnostics.problem_count; i++)
        scenario_print_problem(&scenario->diagnostics.problems[i], out, colour);
}

void scenario_print_problems(const struct scenario *scenario, FILE *out, bool colour)
{
    const unsigned errors = scenario_errors_left(scenario);
    const unsigned warnings = scenario_warnings_left(scenario);
    scenario_print_since(scenario, 0, out, colour);
    if (errors > 0)
        fprintf(out, "and %u more error%s\n", errors, plural_s(errors));
    if (warnings > 0)
        fprintf(out, "and %u more warning%s\n", warnings, plural_s(warnings));
}
