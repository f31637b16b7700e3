/* launched_yaml.c - options as a mapping of YAML: MODEL_ARGS of Megatron-LM's functional tests;
 * and documents of nested mappings, in YAML or JSON. */
#include <ctype.h>
#include <string.h>

#include "scenarios/import/launched/launched_words.h"
#include "scenarios/import/mllog/shell.h"
#include "scenarios/language/parse.h"

bool launched_is_yaml(const struct import_file *file, const char *key)
{
    const size_t bytes = strlen(key);
    for (const char *at = file->text; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, key, bytes) == 0 && at[bytes] == ':')
            return true;
    }
    return false;
}

static const char *value_of_set(const struct launched_hints *hints, const char *name, size_t bytes)
{
    for (unsigned i = 0; i < hints->set_count; i++)
        if (strncmp(hints->sets[i], name, bytes) == 0 && hints->sets[i][bytes] == '=')
            return hints->sets[i] + bytes + 1;
    return NULL;
}

/* ${NAME} and $NAME as they are set from outside, or as not known. */
static const char *expand(struct launched_words *out, const struct launched_hints *hints,
                          const char *text)
{
    const char *dollar = strchr(text, '$');
    if (dollar == NULL)
        return text;
    const char *name = dollar + 1 + (dollar[1] == '{');
    size_t bytes = 0;
    while (isalnum((unsigned char)name[bytes]) || name[bytes] == '_')
        bytes++;
    const char *value = value_of_set(hints, name, bytes);
    if (value != NULL && bytes > 0)
        return arena_format(out->arena, "%.*s%s%s", (int)(dollar - text), text, value,
                            name + bytes + (name[bytes] == '}'));
    return arena_format(out->arena, "%.*s%c$%.*s: it has no value; --set %.*s=VALUE says it%c",
                        (int)(dollar - text), text, SHELL_UNKNOWN, (int)bytes, name, (int)bytes,
                        name, SHELL_UNKNOWN_END);
}

static const char *words_of(struct launched_words *out, const struct value *value)
{
    const char *words = value->kind == VALUE_WORD ? value->text : "";
    for (const struct value *v = value->first; v != NULL; v = v->next)
        if (v->kind == VALUE_WORD && strlen(words) < 4096)
            words = arena_format(out->arena, "%s %s", words, v->text);
    return words;
}

static const struct value *parse(const struct import_file *file, struct launched_words *out)
{
    struct problems *problems = ARENA_NEW(out->arena, struct problems);
    struct source *source = ARENA_NEW(out->arena, struct source);
    *problems = (struct problems){.arena = out->arena};
    *source = (struct source){.name = file->path, .text = file->text, .bytes = file->bytes};
    const struct value *root = parse_source(out->arena, source, 0, problems);
    if (root != NULL && problems->error_count == 0)
        return root;
    error_set(out->error, "%s:%u: %s", file->path, problems->kept[0].line, problems->kept[0].text);
    return NULL;
}

bool launched_yaml(const struct import_file *file, const struct launched_hints *hints,
                   const char *section, struct launched_words *out)
{
    const struct value *root = parse(file, out);
    if (root == NULL)
        return false;
    const struct value *options = value_find(root, section), *mode = value_find(root, "MODE");
    if (mode != NULL && mode->kind == VALUE_WORD && strcmp(mode->text, "inference") == 0)
        return error_set(out->error, "%s:%u: MODE is inference: nothing is trained", out->path,
                         mode->mark.line);
    if (options == NULL || options->kind != VALUE_MAPPING)
        return error_set(out->error, "%s: no mapping %s: with options", out->path, section);
    for (const struct value *v = options->first; v != NULL; v = v->next)
        if (!launched_add(out, v->key, expand(out, hints, words_of(out, v)), v->mark.line))
            return false;
    return true;
}

/* A mapping and those within it; their depth is bounded by the parser. */
static bool add_tables(const struct value *mapping, const char *before,
                       const struct launched_hints *hints, struct launched_words *out)
{
    for (const struct value *v = mapping->first; v != NULL; v = v->next) {
        const char *name = arena_format(out->arena, "%s%.100s", before, v->key);
        if (v->kind == VALUE_MAPPING
                ? !add_tables(v, arena_format(out->arena, "%s.", name), hints, out)
                : !launched_add(out, name, expand(out, hints, words_of(out, v)), v->mark.line))
            return false;
    }
    return true;
}

/* The mapping at the end of a path of keys with dots between; NULL: there is none. */
static const struct value *mapping_at(struct arena *arena, const struct value *root,
                                      const char *path)
{
    const struct value *at = root;
    for (; *path != '\0' && at != NULL; path += strcspn(path, "."), path += *path == '.')
        at = value_find(at, arena_format(arena, "%.*s", (int)strcspn(path, "."), path));
    return at != NULL && at->kind == VALUE_MAPPING ? at : NULL;
}

bool launched_yaml_tables(const struct import_file *file, const struct launched_hints *hints,
                          const char *section, struct launched_words *out)
{
    const struct value *root = parse(file, out);
    const struct value *at = root != NULL ? mapping_at(out->arena, root, section) : NULL;
    if (root == NULL)
        return false;
    if (at == NULL)
        return error_set(out->error, "%s: no mapping %s with options", out->path, section);
    return add_tables(at, "", hints, out);
}

/* All words of a list and of those within it; their depth is bounded by the parser. */
static void gather(struct launched_words *out, const struct value *value, const char **words)
{
    enum {
        WORDS_BYTES = 4096
    };
    if (value->kind == VALUE_WORD && strlen(*words) < WORDS_BYTES)
        *words = arena_format(out->arena, "%s%s%.1024s", *words, **words != '\0' ? " " : "",
                              value->text);
    for (const struct value *v = value->first; value->kind == VALUE_LIST && v != NULL; v = v->next)
        gather(out, v, words);
}

static bool add_members(const struct value *mapping, const char *before,
                        struct launched_words *out);

static bool add_member(const struct value *v, const char *name, struct launched_words *out)
{
    const char *words = "";
    unsigned number = 0;
    if (v->kind == VALUE_MAPPING)
        return add_members(v, arena_format(out->arena, "%s.", name), out);
    for (const struct value *item = v->kind == VALUE_LIST ? v->first : NULL; item != NULL;
         item = item->next, number++)
        if (item->kind == VALUE_MAPPING &&
            !add_members(item, arena_format(out->arena, "%s.%u.", name, number), out))
            return false;
    gather(out, v, &words);
    return (*words == '\0' && number > 0) || launched_add(out, name, words, v->mark.line);
}

static bool add_members(const struct value *mapping, const char *before, struct launched_words *out)
{
    for (const struct value *v = mapping->first; v != NULL; v = v->next)
        if (!add_member(v, arena_format(out->arena, "%s%.100s", before, v->key), out))
            return false;
    return true;
}

bool launched_document(const struct import_file *file, const char *before,
                       struct launched_words *out)
{
    const struct value *root = parse(file, out);
    if (root == NULL)
        return false;
    if (root->kind != VALUE_MAPPING || root->first == NULL)
        return error_set(out->error, "%s: no mapping of keys", file->path);
    out->keys = true;
    out->from = file->path;
    out->before = strlen(before);
    return add_members(root, before, out);
}
