#include <string.h>

#include "analysis/exchange/export/export.h"

static bool needs_quotes(const char *text, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        if (strchr(",\"\r\n", text[i]) != NULL)
            return true;
    return false;
}

size_t export_csv_bytes(const char *text, unsigned bytes)
{
    size_t sum = needs_quotes(text, bytes) ? (size_t)bytes + 2 : bytes;
    for (unsigned i = 0; i < bytes; i++)
        sum += text[i] == '"';
    return sum;
}

void export_csv_text(FILE *out, const char *text, unsigned bytes)
{
    if (!needs_quotes(text, bytes)) {
        fwrite(text, 1, bytes, out);
        return;
    }
    fputc('"', out);
    for (unsigned i = 0; i < bytes; i++) {
        if (text[i] == '"')
            fputc('"', out);
        fputc(text[i], out);
    }
    fputc('"', out);
}

static void write_value(FILE *out, const struct query_row *row, unsigned column)
{
    unsigned bytes;
    switch (query_type(row, column)) {
    case QUERY_NULL:
        return;
    case QUERY_INTEGER:
        fprintf(out, "%lld", (long long)query_integer(row, column));
        return;
    case QUERY_REAL:
        fprintf(out, "%.17g", query_real(row, column));
        return;
    case QUERY_TEXT: {
        const char *text = query_text(row, column, &bytes);
        export_csv_text(out, text, bytes);
    }
    }
}

static bool write_head(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    FILE *out = context;
    for (unsigned i = 0; i < query_columns(row); i++) {
        const char *name = query_name(row, i);
        fputs(i > 0 ? "," : "", out);
        export_csv_text(out, name, (unsigned)strlen(name));
    }
    fputs("\r\n", out);
    return true;
}

static bool write_row(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    FILE *out = context;
    for (unsigned i = 0; i < query_columns(row); i++) {
        fputs(i > 0 ? "," : "", out);
        write_value(out, row, i);
    }
    fputs("\r\n", out);
    return true;
}

bool export_csv(struct query *query, const char *table, FILE *out, struct error *error)
{
    return query_table(query, table, write_head, write_row, out, error);
}
