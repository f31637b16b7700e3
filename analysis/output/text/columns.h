/* columns.h - a table of short texts, each column as wide as its widest cell. */
#ifndef ORRERY_ANALYSIS_OUTPUT_TEXT_COLUMNS_H
#define ORRERY_ANALYSIS_OUTPUT_TEXT_COLUMNS_H

#include <stddef.h>
#include <stdio.h>

#include "analysis/output/text/format.h"

struct column {
    const char *head;
    bool left;   /* as words stand; numbers stand right */
    bool hidden; /* left out */
};
/* Prints heads and rows, two blanks before each line. `cells` has a row after the other, each of
 * `count` texts. */
void columns_print(FILE *out, const struct column *columns, unsigned count,
                   const struct text *cells, size_t rows);

#endif
