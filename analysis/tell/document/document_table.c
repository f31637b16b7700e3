#include "analysis/tell/document/document_table.h"

#include <string.h>

#include "analysis/output/text/columns.h"
#include "sim/check.h"

/* Cuts `*rest` at the next `mark`. */
static char *next_piece(char **rest, char mark)
{
    char *piece = *rest, *end = strchr(piece, mark);
    *rest = end != NULL ? end + 1 : piece + strlen(piece);
    if (end != NULL)
        *end = '\0';
    return piece;
}

static unsigned pieces(const char *line, char mark)
{
    unsigned count = 1;
    for (; *line != '\0' && *line != '\n'; line++)
        count += *line == mark;
    return count;
}

static void read_heads(char *line, struct column *columns, unsigned count)
{
    for (unsigned c = 0; c < count; c++) {
        const char *head = next_piece(&line, '\t');
        const bool left = *head == '<';
        columns[c] = (struct column){left ? head + 1 : head, left, false};
    }
}

void document_table(struct arena *arena, char *text, FILE *out)
{
    const unsigned count = pieces(text, '\t');
    struct column *columns = ARENA_ARRAY(arena, struct column, count);
    read_heads(next_piece(&text, '\n'), columns, count);
    size_t rows = 0, row = 0;
    for (const char *c = text; *c != '\0'; c++)
        rows += *c == '\n';
    struct text *cells = ARENA_ARRAY(arena, struct text, rows * count);
    for (; row < rows; row++) {
        char *line = next_piece(&text, '\n');
        CHECK(pieces(line, '\t') == count);
        for (unsigned c = 0; c < count; c++)
            snprintf(cells[row * count + c].s, sizeof cells->s, "%s", next_piece(&line, '\t'));
    }
    columns_print(out, columns, count, cells, rows);
}
