#include "scenarios/language/csv.h"

#include <string.h>

#include "scenarios/language/file.h"
#include "sim/plural.h"

/* A place in the text; fields are cut out of it where they stand. */
struct csv_reader {
    const char *path;
    char *at, *end;
    unsigned line;
    struct error *error;
};

static bool skip_break(struct csv_reader *r)
{
    if (r->at < r->end && *r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n')
        r->at++;
    if (r->at == r->end || *r->at != '\n')
        return false;
    r->at++;
    r->line++;
    return true;
}

/* Reads a quoted field; doubled quotes stand for one. NULL: it does not end. */
static char *quoted(struct csv_reader *r)
{
    char *begin = ++r->at, *to = begin;
    for (; r->at < r->end; r->at++) {
        if (*r->at == '"') {
            if (r->at + 1 < r->end && r->at[1] == '"')
                r->at++;
            else
                break;
        }
        r->line += *r->at == '\n';
        *to++ = *r->at;
    }
    if (r->at == r->end)
        return NULL;
    *to = '\0';
    r->at++;
    return begin;
}

static bool at_end_of_field(const struct csv_reader *r)
{
    return r->at == r->end || *r->at == ',' || *r->at == '\n' ||
           (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n');
}

/* One field, ended by a NUL; `last` when the record ends with it. */
static char *next_field(struct csv_reader *r, bool *last)
{
    unsigned line = r->line;
    char *field = r->at;
    if (r->at < r->end && *r->at == '"') {
        field = quoted(r);
        if (field == NULL || !at_end_of_field(r)) {
            error_set(r->error, "%s:%u: a quoted field does not end", r->path, line);
            return NULL;
        }
    } else {
        while (!at_end_of_field(r) && *r->at != '"')
            r->at++;
        if (!at_end_of_field(r)) {
            error_set(r->error, "%s:%u: a quote inside a field that does not begin with one",
                      r->path, line);
            return NULL;
        }
    }
    char *stop = r->at;
    *last = r->at == r->end || *r->at != ',';
    if (*last)
        skip_break(r);
    else
        r->at++;
    *stop = '\0';
    if (strlen(field) > CSV_FIELD_MAX) {
        error_set(r->error, "%s:%u: a field is longer than %d bytes", r->path, line,
                  (int)CSV_FIELD_MAX);
        return NULL;
    }
    return field;
}

static bool read_header(struct csv_reader *r, struct arena *arena, struct csv *out)
{
    bool last = false;
    out->names = ARENA_ARRAY(arena, const char *, CSV_COLUMN_MAX);
    while (!last) {
        if (out->column_count == CSV_COLUMN_MAX)
            return error_set(r->error, "%s:1: more than %d columns", r->path, (int)CSV_COLUMN_MAX);
        const char *name = next_field(r, &last);
        if (name == NULL)
            return false;
        if (*name != '\0' && csv_column(out, name) >= 0)
            return error_set(r->error, "%s:1: the column '%.60s' stands twice", r->path, name);
        out->names[out->column_count++] = name;
    }
    return true;
}

static bool read_record(struct csv_reader *r, struct csv *out)
{
    const char **cells = out->cells + out->row_count * out->column_count;
    unsigned line = r->line, count = 0;
    bool last = false;
    while (!last) {
        const char *field = next_field(r, &last);
        if (field == NULL)
            return false;
        if (count < out->column_count)
            cells[count] = field;
        count++;
    }
    if (count != out->column_count)
        return error_set(r->error, "%s:%u: %u field%s, but the header has %u column%s", r->path,
                         line, count, plural_s(count), out->column_count,
                         plural_s(out->column_count));
    out->row_count++;
    return true;
}

static bool check_bytes(const struct csv_reader *r)
{
    unsigned line = 1;
    for (const char *c = r->at; c < r->end; c++) {
        unsigned char byte = (unsigned char)*c;
        if ((byte < ' ' && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7f)
            return error_set(r->error, "%s:%u: a control character (0x%02x): this is no CSV file",
                             r->path, line, byte);
        line += byte == '\n';
    }
    return true;
}

/* Every record is as wide as the header, so there are no more cells than separators, and one. */
static size_t count_cells(const struct csv_reader *r)
{
    size_t cells = 1;
    for (const char *c = r->at; c < r->end; c++)
        cells += *c == '\n' || *c == ',';
    return cells;
}

bool csv_parse(struct arena *arena, const char *path, char *text, size_t bytes, struct csv *out,
               struct error *error)
{
    bool marked = bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
    struct csv_reader r = {path, text + (marked ? 3 : 0), text + bytes, 1, error};
    *out = (struct csv){.path = path};
    if (r.at == r.end)
        return error_set(error, "%s: the file is empty", path);
    if (!check_bytes(&r))
        return false;
    size_t cells = count_cells(&r);
    if (!read_header(&r, arena, out))
        return false;
    out->cells = ARENA_ARRAY(arena, const char *, cells);
    while (r.at < r.end) {
        bool blank = skip_break(&r);
        if (!blank && !read_record(&r, out))
            return false;
    }
    return true;
}

bool csv_read(struct arena *arena, const char *path, struct csv *out, struct error *error)
{
    struct file_text file;
    if (!file_read(arena, path, CSV_BYTES_MAX, false, &file, error))
        return false;
    if (file.bytes > CSV_BYTES_MAX)
        return error_set(error, "%s: more than %d MiB", path, CSV_BYTES_MAX >> 20);
    return csv_parse(arena, path, file.text, file.bytes, out, error);
}

int csv_column(const struct csv *csv, const char *name)
{
    for (unsigned i = 0; i < csv->column_count; i++)
        if (strcmp(csv->names[i], name) == 0)
            return (int)i;
    return -1;
}

const char *csv_lacking(struct arena *arena, const struct csv *csv, const char *const *names,
                        unsigned count)
{
    const char *out = NULL;
    for (unsigned i = 0; i < count; i++)
        if (csv_column(csv, names[i]) < 0)
            out = arena_format(arena, "%s%s'%s'", out != NULL ? out : "", out != NULL ? ", " : "",
                               names[i]);
    return out;
}

const char *csv_cell(const struct csv *csv, size_t row, const char *name)
{
    int column = csv_column(csv, name);
    return column < 0 ? "" : csv->cells[row * csv->column_count + (size_t)column];
}
