/* parse.h - YAML text becomes a tree of values: the one wall that libyaml is met at.
 *
 * Reads libyaml's events, never its documents. Refused: more than 1 MiB, nesting deeper than
 * PARSE_DEPTH_MAX, anchors, aliases, tags, a second document, duplicate keys, keys that are not
 * words, more than PARSE_KEYS_MAX keys in one mapping. JSON is accepted, being YAML. It knows no
 * key by name. */
#ifndef ORRERY_SCENARIOS_LANGUAGE_PARSE_H
#define ORRERY_SCENARIOS_LANGUAGE_PARSE_H

#include "scenarios/language/problems.h"
#include "scenarios/language/value.h"

enum {
    PARSE_DEPTH_MAX = 64,
    PARSE_KEYS_MAX = 512
};

/* The tree of the text from byte `skip` on (a `--set` has its path before that; `skip` counts ASCII
 * characters of the first line). NULL when there is no tree; `problems` then says why. A text
 * without any value gives an empty word. */
struct value *parse_source(struct arena *arena, const struct source *source, size_t skip,
                           struct problems *problems);

#endif
