#include "analysis/tell/document/document_table.h"

#include <string.h>

#include "analysis/output/text/format.h"
#include "sim/check.h"

enum {
    COLUMNS_MAX = 32
};

struct column {
    const char *head;
    bool left; /* as words stand; numbers stand right */
};

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
        columns[c] = (struct column){left ? head + 1 : head, left};
    }
}

static unsigned width_of(const char *text)
{
    unsigned width = 0;
    for (; *text != '\0'; text++)
        width += (*text & 0xC0) != 0x80; /* a byte that continues a character is none */
    return width;
}

static void print_cell(FILE *out, const struct column *column, const char *text, unsigned width,
                       bool last)
{
    const unsigned own = width_of(text), blanks = own < width ? width - own : 0;
    if (column->left)
        fprintf(out, "%s%*s", text, last ? 0 : (int)blanks, "");
    else
        fprintf(out, "%*s%s", (int)blanks, "", text);
}

/* `cells` NULL: the heads. */
static void print_line(FILE *out, const struct column *columns, unsigned count,
                       const struct text *cells, const unsigned *widths)
{
    fputc(' ', out);
    for (unsigned c = 0; c < count; c++) {
        const bool last = c + 1 == count;
        const char *text = cells != NULL ? cells[c].s : columns[c].head;
        if (last && columns[c].left && *text == '\0')
            break;
        fputc(' ', out);
        print_cell(out, &columns[c], text, widths[c], last);
    }
    fputc('\n', out);
}

static void print_columns(FILE *out, const struct column *columns, unsigned count,
                          const struct text *cells, size_t rows)
{
    unsigned widths[COLUMNS_MAX] = {0};
    CHECK(count > 0 && count <= COLUMNS_MAX);
    for (unsigned c = 0; c < count; c++) {
        widths[c] = width_of(columns[c].head);
        for (size_t r = 0; r < rows; r++) {
            const unsigned own = width_of(cells[r * count + c].s);
            widths[c] = own > widths[c] ? own : widths[c];
        }
    }
    print_line(out, columns, count, NULL, widths);
    for (size_t r = 0; r < rows; r++)
        print_line(out, columns, count, &cells[r * count], widths);
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
    print_columns(out, columns, count, cells, rows);
}
