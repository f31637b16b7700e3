#include "scenarios/language/value.h"

#include <stdlib.h>
#include <string.h>

#include "sim/list.h"

struct value *value_new(struct arena *arena, enum value_kind kind, struct mark mark)
{
    struct value *value = ARENA_NEW(arena, struct value);
    value->kind = kind;
    value->mark = mark;
    value->key_mark = mark;
    return value;
}

struct value *value_word(struct arena *arena, const char *text, struct mark mark)
{
    struct value *value = value_new(arena, VALUE_WORD, mark);
    value->text = text;
    return value;
}

void value_append(struct value *container, struct value *item)
{
    if (container->last)
        container->last->next = item;
    else
        container->first = item;
    container->last = item;
    item->next = NULL;
    container->count++;
}

struct value *value_share(struct arena *arena, const struct value *value)
{
    struct value *copy = ARENA_NEW(arena, struct value);
    *copy = *value;
    copy->next = NULL;
    copy->used = false;
    return copy;
}

struct value *value_find(const struct value *mapping, const char *key)
{
    if (mapping == NULL || mapping->kind != VALUE_MAPPING)
        return NULL;
    for (struct value *member = mapping->first; member; member = member->next)
        if (strcmp(member->key, key) == 0)
            return member;
    return NULL;
}

static const struct value *item_at(const struct value *list, unsigned long index)
{
    if (list->kind != VALUE_LIST)
        return NULL;
    const struct value *item = list->first;
    for (unsigned long i = 0; item && i < index; i++)
        item = item->next;
    return item;
}

/* One step of a path, `path` standing at a name or at "[3]"; NULL: there is no such value. */
static const struct value *step(const struct value *from, const char **path)
{
    char key[64];
    if (**path == '[') {
        char *end = NULL;
        unsigned long index = strtoul(*path + 1, &end, 10);
        *path = *end == ']' ? end + 1 : end + strlen(end);
        return item_at(from, index);
    }
    size_t length = strcspn(*path, ".[");
    if (length >= sizeof key)
        return NULL;
    memcpy(key, *path, length);
    key[length] = '\0';
    *path += length;
    return value_find(from, key);
}

const struct value *value_deepest(const struct value *root, const char *path)
{
    const struct value *at = root;
    while (*path) {
        if (*path == '.')
            path++;
        const struct value *next = step(at, &path);
        if (next == NULL)
            break;
        at = next;
    }
    return at;
}

bool value_is_empty(const struct value *value)
{
    return value->kind == VALUE_WORD && value->text[0] == '\0' && !value->quoted;
}

const char *value_kind_name(const struct value *value)
{
    static const char *const names[] = {"a word", "a list", "a mapping"};
    return names[value->kind];
}

static void add_words(struct arena *arena, const struct value *at, const char *path,
                      struct stated_words *out)
{
    unsigned index = 0;
    if (at->kind == VALUE_WORD) {
        LIST_ROOM(arena, out->rows, out->count, 1, out->capacity);
        out->rows[out->count++] = (struct stated_word){path, at->text};
        return;
    }
    for (const struct value *v = at->first; v != NULL; v = v->next, index++)
        add_words(arena, v,
                  v->key == NULL    ? arena_format(arena, "%s[%u]", path, index)
                  : path[0] == '\0' ? v->key
                                    : arena_format(arena, "%s.%s", path, v->key),
                  out);
}

void value_words(struct arena *arena, const struct value *root, struct stated_words *out)
{
    add_words(arena, root, "", out);
}
