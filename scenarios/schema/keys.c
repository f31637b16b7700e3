#include "scenarios/schema/keys.h"

#include <string.h>

#include "scenarios/catalogue/catalogue.h"
#include "sim/check.h"

enum {
    KEY_MAX = 1024
};

struct key_writer {
    struct arena *arena;
    const char **names;
    unsigned count;
};

static void add(struct key_writer *w, const char *key)
{
    CHECK(w->count < KEY_MAX);
    w->names[w->count++] = key;
}

/* The section's path with "[0]" behind every list on its way. */
static const char *spelt(struct arena *arena, const struct schema_section *section)
{
    const char *out = "", *path = section->path;
    while (*path) {
        size_t length = strcspn(path, ".");
        const char *so_far =
            arena_format(arena, "%.*s", (int)(path + length - section->path), section->path);
        const struct schema_section *outer = schema_find(so_far);
        const char *index = outer && outer->list ? "[0]" : "";
        out = arena_format(arena, "%s%s%.*s%s", out, *out ? "." : "", (int)length, path, index);
        path += length + (path[length] == '.' ? 1 : 0);
    }
    return out;
}

static void add_rows(struct key_writer *w, const char *path, struct params params)
{
    for (unsigned i = 0; i < params.count; i++)
        add(w, arena_format(w->arena, "%s%s%s", path, *path ? "." : "", params.rows[i].name));
}

struct name_list keys_all(struct arena *arena)
{
    struct key_writer w = {.arena = arena, .names = ARENA_ARRAY(arena, const char *, KEY_MAX)};
    for (enum section s = 0; s < SECTION_COUNT; s++) {
        const struct schema_section *section = schema_section(s);
        const char *path = spelt(arena, section);
        if (section->shorthand)
            add(&w, path);
        add_rows(&w, path, section->keys);
        add_rows(&w, path, schema_table(section));
        add_rows(&w, path, schema_options(arena, section));
    }
    return (struct name_list){w.names, w.count};
}

static const char *last_word(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

struct name_list keys_named(struct arena *arena, struct name_list keys, const char *word)
{
    const char **found = ARENA_ARRAY(arena, const char *, keys.count + 1);
    unsigned count = 0;
    for (unsigned i = 0; i < keys.count; i++)
        if (names_equal(word, last_word(keys.names[i])))
            found[count++] = keys.names[i];
    return (struct name_list){found, count};
}

struct name_list keys_near(struct arena *arena, struct name_list keys, const char *word)
{
    const char **words = ARENA_ARRAY(arena, const char *, keys.count + 1);
    for (unsigned i = 0; i < keys.count; i++)
        words[i] = last_word(keys.names[i]);
    const char *near = names_nearest(word, (struct name_list){words, keys.count});
    return near ? keys_named(arena, keys, near) : (struct name_list){NULL, 0};
}

/* The path of a key in the schema: without "[0]", and with the shorthand of a section. */
static const char *path_of(struct arena *arena, const char *key)
{
    char *path = arena_text(arena, key), *to = path;
    for (const char *from = key; *from; from += strncmp(from, "[0]", 3) == 0 ? 3 : 1)
        if (*from != '[')
            *to++ = *from;
    *to = '\0';
    const struct schema_section *section = schema_find(path);
    return section && section->shorthand ? arena_format(arena, "%s.%s", path, section->shorthand)
                                         : path;
}

static const struct param *row_in(struct params params, const char *name)
{
    for (unsigned i = 0; i < params.count; i++)
        if (strcmp(params.rows[i].name, name) == 0)
            return &params.rows[i];
    return NULL;
}

static const struct param *row_of(struct arena *arena, const char *path)
{
    const char *name = last_word(path);
    size_t length = name > path ? (size_t)(name - path) - 1 : 0;
    const struct schema_section *section =
        schema_find(arena_format(arena, "%.*s", (int)length, path));
    CHECK(section != NULL);
    const struct param *row = row_in(section->keys, name);
    if (row == NULL)
        row = row_in(schema_table(section), name);
    return row ? row : row_in(schema_options(arena, section), name);
}

static struct name_list family_names(struct arena *arena, enum family family)
{
    struct problems *problems = ARENA_NEW(arena, struct problems);
    struct catalogue *catalogue = ARENA_NEW(arena, struct catalogue);
    if (family >= FAMILY_CATALOGUE_COUNT)
        return family_kinds(arena, family);
    problems->arena = arena;
    catalogue_open(catalogue, arena, NULL, problems);
    return catalogue_names(catalogue, family);
}

struct name_list keys_values(struct arena *arena, const char *key)
{
    static const char *const flags[] = {"true", "false"};
    const char *path = path_of(arena, key);
    const struct param *row = row_of(arena, path);
    struct name_list choices = {row ? row->choices : NULL, 0};
    CHECK(row != NULL);
    if (row->type == PARAM_FLAG)
        return (struct name_list){flags, 2};
    if (row->type == PARAM_TEXT && schema_family(path) != FAMILY_NONE)
        return family_names(arena, schema_family(path));
    while (row->type == PARAM_CHOICE && row->choices[choices.count])
        choices.count++;
    return choices;
}
