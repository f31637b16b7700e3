/* json_walk.h - the members of a JSON object, or the elements of an array, one after the other, as
 * stretches of text.
 *
 * For files too large to stand in memory as a tree: a stretch is what a parser is then given. Only
 * brackets, strings and separators are looked at, so that each stretch is whole where the text is
 * JSON; whether it is any says the parser. Two passes over the bytes, no memory. */
#ifndef ORRERY_SCENARIOS_IMPORT_READER_JSON_WALK_H
#define ORRERY_SCENARIOS_IMPORT_READER_JSON_WALK_H

#include <stdbool.h>
#include <stddef.h>

struct json_piece {
    const char *text; /* of a string with its quotes */
    size_t bytes;
    unsigned line; /* that it begins in */
};
struct json_walk {
    const char *at, *end;
    unsigned line; /* of `at` */
    char close;    /* of what is walked: '}' or ']' */
    bool begun;
};
enum json_step {
    JSON_WALK_PIECE,
    JSON_WALK_END,   /* behind the closing bracket */
    JSON_WALK_BROKEN /* no separator, or no end (at == end); `line` says where */
};
/* Goes in at the bracket that `whole` begins with, after blanks. False: it begins with none. */
bool json_walk_enter(struct json_walk *walk, struct json_piece whole);
/* The next member of an object (with its name) or element of an array (`name` is left alone). */
enum json_step json_walk_next(struct json_walk *walk, struct json_piece *name,
                              struct json_piece *value);
/* After the last one: is nothing but blanks left? */
bool json_walk_done(struct json_walk *walk);

#endif
