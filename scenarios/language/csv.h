/* csv.h - a table of text from a file that nobody has checked: one header line, then records.
 *
 * Columns are found by name, in any order. Fields may be quoted (RFC 4180). Everything is bounded:
 * the file, a field, the columns. What is wrong (a NUL, a record of another width, a name that
 * stands twice, an open quote) is one sentence with its line. Cells live in the arena. */
#ifndef ORRERY_SCENARIOS_LANGUAGE_CSV_H
#define ORRERY_SCENARIOS_LANGUAGE_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/arena.h"
#include "sim/error.h"

enum {
    CSV_BYTES_MAX = 1 << 26,
    CSV_FIELD_MAX = 1 << 12,
    CSV_COLUMN_MAX = 512
};
struct csv {
    const char *path;
    unsigned column_count;
    size_t row_count;
    const char **names; /* [column] */
    const char **cells; /* [row x column_count + column], never NULL */
};
bool csv_read(struct arena *arena, const char *path, struct csv *out, struct error *error);
/* The same of a text, which is called `path` in messages and is cut up. */
bool csv_parse(struct arena *arena, const char *path, char *text, size_t bytes, struct csv *out,
               struct error *error);
/* Number of a column, or -1. */
int csv_column(const struct csv *csv, const char *name);
/* Those of `names` that it has no column of: "'at'", "'at', 'unit'"; NULL: it has all. */
const char *csv_lacking(struct arena *arena, const struct csv *csv, const char *const *names,
                        unsigned count);
/* "" where the column is not there. */
const char *csv_cell(const struct csv *csv, size_t row, const char *name);

#endif
