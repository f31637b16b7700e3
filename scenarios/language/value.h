/* value.h - a document as a tree: words, lists and mappings, each with its place in the text.
 *
 * Members of a mapping and items of a list are chained in file order. A reader marks the members it
 * has read as `used`; what is left over is an unknown key. Owned by an arena. */
#ifndef ORRERY_SCENARIOS_LANGUAGE_VALUE_H
#define ORRERY_SCENARIOS_LANGUAGE_VALUE_H

#include "scenarios/language/source.h"

enum value_kind {
    VALUE_WORD,
    VALUE_LIST,
    VALUE_MAPPING
};

struct value {
    enum value_kind kind;
    const char *key;      /* in a mapping; NULL in a list and at the root */
    struct mark key_mark; /* of the key; where there is none, the same as `mark` */
    struct mark mark;
    const char *text; /* of a word */
    bool quoted;      /* the word stood in quotes */
    bool used;
    bool refused;   /* reported already; it has no value to read */
    unsigned count; /* of items or members */
    struct value *first, *last, *next;
};

struct value *value_new(struct arena *arena, enum value_kind kind, struct mark mark);
struct value *value_word(struct arena *arena, const char *text, struct mark mark);
/* Appends; the item must not hang elsewhere. */
void value_append(struct value *container, struct value *item);
/* A copy of the node that shares its children; for hanging a value elsewhere. */
struct value *value_share(struct arena *arena, const struct value *value);
/* The member called `key`, or NULL (also when the value is no mapping). Does not mark it used. */
struct value *value_find(const struct value *mapping, const char *key);
/* Follows "layout.tp" or "failures[0].mtbf"; returns the deepest value on the way that exists. */
const struct value *value_deepest(const struct value *root, const char *path);
/* Every word below `root` with its path, in file order: ("failures[0].mtbf", "5d"). */
struct stated_word {
    const char *path, *text;
};
struct stated_words {
    struct stated_word *rows;
    unsigned count, capacity;
};
void value_words(struct arena *arena, const struct value *root, struct stated_words *out);
/* `key:` with nothing behind it. */
bool value_is_empty(const struct value *value);
const char *value_kind_name(const struct value *value); /* "a list" */

#endif
