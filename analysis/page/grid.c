#include "analysis/page/grid.h"

#include <inttypes.h>

#include "analysis/page/words.h"

enum {
    ROWS_MAX = 100000
};
static const uint64_t bytes_max = 1 << 24;

struct grid_page {
    FILE *out;
    uint64_t rows, bytes;
    int64_t value, alike; /* of a run of rows */
};

static bool too_large(const struct grid_page *grid, struct error *error)
{
    return (grid->rows > ROWS_MAX || grid->bytes > bytes_max) &&
           !error_set(error, "the database holds more than a page can show: no run writes so many "
                             "rows, or so long texts, of one kind");
}

static void write_columns(struct grid_page *grid, const struct query_row *row)
{
    fputs("\"columns\":[", grid->out);
    for (unsigned i = 0; i < query_columns(row); i++) {
        const char *name = query_name(row, i);
        unsigned bytes = 0;
        while (name[bytes] != '\0')
            bytes++;
        if (i > 0)
            fputc(',', grid->out);
        words_text(grid->out, name, bytes);
    }
    fputs("],\"rows\":[", grid->out);
}

static bool write_row(void *context, const struct query_row *row, struct error *error)
{
    struct grid_page *grid = context;
    if (grid->rows++ == 0)
        write_columns(grid, row);
    else
        fputc(',', grid->out);
    fputs("\n[", grid->out);
    for (unsigned i = 0; i < query_columns(row); i++) {
        if (i > 0)
            fputc(',', grid->out);
        grid->bytes += words_cell(grid->out, row, i);
    }
    fputc(']', grid->out);
    return !too_large(grid, error);
}

bool grid_write(struct query *query, const char *sql, const struct query_values *values, FILE *out,
                struct error *error)
{
    struct grid_page grid = {.out = out};
    fputc('{', out);
    if (!query_run(query, sql, values, write_row, &grid, error))
        return false;
    fputs(grid.rows > 0 ? "]}" : "\"columns\":[],\"rows\":[]}", out);
    return true;
}

static void end_run(struct grid_page *grid)
{
    if (grid->alike == 0)
        return;
    grid->bytes += (uint64_t)fprintf(grid->out, "%s[%" PRId64 ",%" PRId64 "]",
                                     grid->rows++ > 0 ? "," : "", grid->alike, grid->value);
    grid->alike = 0;
}

static bool count_row(void *context, const struct query_row *row, struct error *error)
{
    struct grid_page *grid = context;
    const int64_t value = query_integer(row, 0);
    if (value != grid->value)
        end_run(grid);
    grid->value = value;
    grid->alike++;
    return !too_large(grid, error);
}

bool grid_write_runs(struct query *query, const char *sql, FILE *out, struct error *error)
{
    struct grid_page grid = {.out = out};
    fputs("{\"columns\":[\"count\",\"value\"],\"rows\":[", out);
    if (!query_run(query, sql, NULL, count_row, &grid, error))
        return false;
    end_run(&grid);
    fputs("]}", out);
    return true;
}
