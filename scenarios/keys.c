#include "scenarios/keys.h"

#include <string.h>

#include "sim/check.h"

enum {
    KEY_MAX = 1024
};

struct writer {
    struct arena *arena;
    const char **names;
    unsigned count;
};

static void add(struct writer *w, const char *key)
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

static void add_rows(struct writer *w, const char *path, struct params params)
{
    for (unsigned i = 0; i < params.count; i++)
        add(w, arena_format(w->arena, "%s%s%s", path, *path ? "." : "", params.rows[i].name));
}

struct name_list keys_all(struct arena *arena)
{
    struct writer w = {.arena = arena, .names = ARENA_ARRAY(arena, const char *, KEY_MAX)};
    for (enum section s = 0; s < SECTION_COUNT; s++) {
        const struct schema_section *section = schema_section(s);
        const char *path = spelt(arena, section);
        if (section->shorthand)
            add(&w, path);
        add_rows(&w, path, section->keys);
        add_rows(&w, path, schema_table(section));
        add_rows(&w, path, family_options(arena, section->kinds));
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
    for (unsigned i = 0; i < keys.count; i++) {
        if (names_equal(word, last_word(keys.names[i])))
            found[count++] = keys.names[i];
    }
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
