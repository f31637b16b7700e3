#include "analysis/output/text/columns.h"

#include <string.h>

#include "sim/check.h"

enum {
    COLUMNS_MAX = 32
};

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

static void print_line(FILE *out, const struct column *columns, unsigned count,
                       const struct text *cells, const unsigned *widths)
{
    unsigned last = 0;
    for (unsigned c = 0; c < count; c++)
        last = columns[c].hidden ? last : c;
    fputc(' ', out);
    for (unsigned c = 0; c < count; c++) {
        if (columns[c].hidden)
            continue;
        const char *text = cells != NULL ? cells[c].s : columns[c].head;
        if (c == last && columns[c].left && *text == '\0')
            break;
        fputc(' ', out);
        print_cell(out, &columns[c], text, widths[c], c == last);
    }
    fputc('\n', out);
}

void columns_print(FILE *out, const struct column *columns, unsigned count,
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
