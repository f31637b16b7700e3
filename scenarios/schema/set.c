#include "scenarios/schema/set.h"

#include <stdlib.h>
#include <string.h>

#include "scenarios/language/parse.h"
#include "scenarios/schema/schema.h"

enum {
    SET_KEY_MAX = 64,
    SET_INDEX_DIGITS = 6
};

/* One option while it is followed: `at` runs along its path. */
struct set {
    struct arena *arena;
    struct problems *problems;
    const struct source *source;
    const char *at, *end; /* of the path */
    unsigned number;
};

static struct mark mark_here(const struct set *s, size_t width)
{
    unsigned column = (unsigned)(s->at - s->source->text) + 1;
    return (struct mark){s->source, s->number, column, width ? (unsigned)width : 1};
}

static bool refuse(struct set *s, const char *why)
{
    problems_misread(s->problems, mark_here(s, 1), "%s", why);
    return false;
}

/* Takes the key at `at`; NULL with a problem. */
static const char *take_key(struct set *s, struct mark *where)
{
    size_t length = 0;
    while (s->at + length < s->end && strchr(".[", s->at[length]) == NULL)
        length++;
    *where = mark_here(s, length);
    if (length == 0 || length >= SET_KEY_MAX) {
        refuse(s, "--set takes KEY=VALUE with keys like layout.tp or notes[0].say");
        return NULL;
    }
    char *key = arena_alloc(s->arena, length + 1, 1);
    memcpy(key, s->at, length);
    s->at += length;
    return key;
}

/* Takes "[12]"; false with a problem. */
static bool take_index(struct set *s, unsigned long *index)
{
    size_t digits = strspn(s->at + 1, "0123456789");
    if (digits == 0 || digits > SET_INDEX_DIGITS || s->at[1 + digits] != ']')
        return refuse(s, "an item of a list is written [0], [1], ...");
    *index = strtoul(s->at + 1, NULL, 10);
    s->at += digits + 2;
    return true;
}

/* The item with this number, made when it is the next one; NULL with a problem. */
static struct value *find_item(struct set *s, struct value *list, unsigned long index,
                               struct mark where)
{
    struct value *item = list->first;
    if (index > list->count) {
        problems_misread(s->problems, where, "there is no item [%lu]; the list has %u", index,
                         list->count);
        return NULL;
    }
    if (index == list->count) {
        item = value_word(s->arena, "", where);
        value_append(list, item);
        return item;
    }
    for (unsigned long i = 0; i < index; i++)
        item = item->next;
    return item;
}

/* Makes an empty word a container of the wanted kind, and a shorthand word its mapping. */
static bool become(struct set *s, struct value *value, enum value_kind kind, const char *path,
                   struct mark where)
{
    if (value->kind == kind)
        return true;
    const struct schema_section *schema = schema_find(path);
    const char *shorthand = schema && kind == VALUE_MAPPING ? schema->shorthand : NULL;
    bool word = value->kind == VALUE_WORD;
    if (!word || (!value_is_empty(value) && shorthand == NULL)) {
        problems_misread(s->problems, where, "'%s' is %s, so nothing can be set inside it",
                         source_quote(s->arena, path), value_kind_name(value));
        return false;
    }
    struct value *inner = value_share(s->arena, value);
    bool keep = !value_is_empty(value);
    value->kind = kind;
    value->first = value->last = NULL;
    value->count = 0;
    if (keep) {
        inner->key = shorthand;
        value_append(value, inner);
    }
    return true;
}

static struct value *find_member(struct set *s, struct value *mapping, const char *key,
                                 struct mark where)
{
    struct value *member = value_find(mapping, key);
    if (member)
        return member;
    member = value_word(s->arena, "", where);
    member->key = key;
    value_append(mapping, member);
    return member;
}

/* Follows the whole path from the root; NULL with a problem. */
static struct value *follow(struct set *s, struct value *root)
{
    struct value *value = root;
    const char *path = "";
    while (s->at < s->end) {
        struct mark where = mark_here(s, 1);
        unsigned long index = 0;
        if (*s->at == '[' && value != root) {
            if (!take_index(s, &index) || !become(s, value, VALUE_LIST, path, where))
                return NULL;
            value = find_item(s, value, index, where);
            if (value == NULL)
                return NULL;
            continue;
        }
        if (value != root && *s->at == '.')
            s->at++;
        const char *key = take_key(s, &where);
        if (key == NULL || !become(s, value, VALUE_MAPPING, path, where))
            return NULL;
        value = find_member(s, value, key, where);
        path = *path ? arena_format(s->arena, "%s.%s", path, key) : key;
    }
    return value;
}

/* Puts the new value in the old one's place in its container. */
static void replace(struct value *old, const struct value *new, struct mark key_mark)
{
    struct value kept = *old;
    *old = *new;
    old->key = kept.key;
    old->key_mark = key_mark;
    old->next = kept.next;
}

void set_apply(struct arena *arena, struct value *root, const char *text, unsigned number,
               struct problems *problems)
{
    struct source *source = ARENA_NEW(arena, struct source);
    *source = (struct source){.name = "--set",
                              .text = arena_text(arena, text),
                              .bytes = strlen(text),
                              .fixed_line = number,
                              .order = number};
    const char *equals = strchr(source->text, '=');
    struct set s = {arena, problems, source, source->text, equals, number};
    struct mark where = mark_here(&s, equals ? (size_t)(equals - source->text) : 1);
    const char *why = NULL;
    struct mark bad;
    if (!source_check(source, &bad, &why)) {
        problems_misread(problems, bad, "%s", why);
        return;
    }
    if (equals == NULL || equals == source->text) {
        refuse(&s, "--set takes KEY=VALUE, like layout.tp=4");
        return;
    }
    struct value *value = follow(&s, root);
    struct value *parsed =
        value ? parse_source(arena, source, (size_t)(equals + 1 - source->text), problems) : NULL;
    if (parsed)
        replace(value, parsed, where);
}
