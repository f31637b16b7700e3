#include "analysis/output/plot/palette.h"

#include <stddef.h>
#include <string.h>

const struct palette_row palette_rows[] = {
#define X(group, word, colour) {#group, #word, colour},
    PALETTE_ROWS(X)
#undef X
};
const unsigned palette_row_count = sizeof palette_rows / sizeof *palette_rows;

const char *palette_colour(const char *group, const char *word)
{
    for (unsigned i = 0; i < palette_row_count; i++)
        if (strcmp(palette_rows[i].group, group) == 0 && strcmp(palette_rows[i].word, word) == 0)
            return palette_rows[i].colour;
    return NULL;
}
