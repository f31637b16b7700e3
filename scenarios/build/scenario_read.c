#include "scenarios/build/scenario.h"

#include <string.h>

#include "scenarios/build/build.h"
#include "scenarios/language/file.h"
#include "scenarios/language/parse.h"
#include "scenarios/schema/set.h"

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
    r->scenario->text = file.text;
    r->scenario->text_bytes = file.bytes;
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
    scenario->sets = sets;
    scenario->set_count = options->set_count;
    if (options->catalogue != NULL)
        scenario->catalogue = arena_text(scenario->arena, options->catalogue);
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
    build_scenario(b);
    scenario->defaults = b->reader.defaults;
    scenario->default_count = b->reader.default_count;
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
    problems_sort(&r->problems);
    scenario->found = &r->problems;
    scenario->root = root;
    scenario->problems = r->problems.kept;
    scenario->problem_count = r->problems.kept_count;
    scenario->error_count = r->problems.error_count;
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

const struct problem *scenario_warn(struct scenario *scenario, const char *key, const char *text)
{
    struct problems *found = scenario->found;
    const unsigned before = found->kept_count;
    problems_warning(found, build_place(scenario->root, key), "%s: %s", key, text);
    scenario->problem_count = found->kept_count;
    return found->kept_count > before ? &found->kept[before] : NULL;
}

void scenario_reject(struct scenario *scenario, const char *key, const char *text)
{
    struct problems *found = scenario->found;
    problems_error(found, build_place(scenario->root, key), "%s: %s", key, text);
    scenario->problem_count = found->kept_count;
    scenario->error_count = found->error_count;
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
    }
}

void scenario_destroy(struct scenario *scenario)
{
    if (scenario)
        arena_destroy(scenario->arena);
}
