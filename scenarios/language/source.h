/* source.h - a text that a user wrote, and places in it: a scenario, a catalogue file, one `--set`.
 *
 * A source is checked once to be clean UTF-8 of bounded size; afterwards every place in it is a
 * line and a column that counts characters. It knows nothing of YAML. */
#ifndef ORRERY_SCENARIOS_LANGUAGE_SOURCE_H
#define ORRERY_SCENARIOS_LANGUAGE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/arena.h"

enum {
    SOURCE_BYTES_MAX = 1 << 20
};

struct source {
    const char *name; /* path, or "--set" */
    const char *text; /* one more byte may be read */
    size_t bytes;
    unsigned fixed_line;   /* > 0: the whole text is this one line (the n-th --set) */
    unsigned lines_before; /* the text is a piece of a file; so many lines stand before it */
    unsigned order;        /* problems of a lower source are listed first */
};
struct mark {
    const struct source *source;
    unsigned line, column; /* from 1 */
    unsigned width;        /* characters, at least 1 */
};

/* Bytes of the UTF-8 character that `text` begins with, of `left` at most; 0: it begins with none.
 */
unsigned source_sequence(const char *text, size_t left);
unsigned source_first_line(const struct source *source);
/* False at the first byte that cannot stand in a scenario (not UTF-8, NUL, control characters,
 * exotic line breaks): `where` is its place and `why` a sentence. */
bool source_check(const struct source *source, struct mark *where, const char **why);
/* The line of a mark as one printable line: tabs become blanks. Owned by the arena. */
const char *source_line(struct arena *arena, struct mark where);
/* `text` in a form that a message can carry: control characters replaced, cut to 40 characters. */
const char *source_quote(struct arena *arena, const char *text);
/* The same, cut to 400 characters: for a path or a sentence of another library. */
const char *source_clean(struct arena *arena, const char *text);
/* The same, cut to 8000 characters: for a paragraph. */
const char *source_whole(struct arena *arena, const char *text);

#endif
