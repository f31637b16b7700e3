/* import_text.h - a text of lines that another program printed, from a file that nobody checked.
 *
 * Bounded, free of control characters but tabs, line ends and what colours a terminal (which is
 * left out); cut into lines and words where it stands. What is wrong is one sentence with file and
 * line, whose words a terminal can show. It knows no format. */
#ifndef ORRERY_SCENARIOS_IMPORT_READER_IMPORT_TEXT_H
#define ORRERY_SCENARIOS_IMPORT_READER_IMPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/arena.h"
#include "sim/error.h"

enum {
    IMPORT_BYTES_MAX = 1 << 26
};
struct import_file {
    const char *path; /* as messages call it */
    char *text;       /* NUL-ended; it is cut up */
    size_t bytes;
};
struct import_text {
    struct arena *arena;
    const char *path;
    char *at, *end; /* what is left */
    unsigned line;  /* of the line given last, from 1 */
    struct error *error;
};
/* Takes a text and cleans it. False with a sentence. */
bool import_text_begin(struct import_text *text, struct arena *arena,
                       const struct import_file *file, struct error *error);
/* Does what is left begin as JSON does, with an object or a list of objects? */
bool import_text_is_json(const struct import_text *text);
/* The next line without its end; NULL: there is none. */
char *import_text_line(struct import_text *text);
/* Cuts a line into words between blanks; those past `most` are counted only. */
unsigned import_text_words(char *line, char **words, unsigned most);
/* Sets "file:line: ..." and returns false. */
__attribute__((format(printf, 2, 3))) bool import_text_bad(const struct import_text *text,
                                                           const char *format, ...);
/* A word of the text as a message can carry it. */
const char *import_text_quote(const struct import_text *text, const char *word);
/* A whole word that is a finite decimal number (no NaN, no infinity, no hexadecimal). */
bool import_text_number(const char *word, double *out);

#endif
