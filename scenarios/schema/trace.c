#include "scenarios/schema/trace.h"

#include <string.h>

#include "scenarios/language/csv.h"
#include "scenarios/language/file.h"
#include "scenarios/language/names.h"
#include "scenarios/language/quantity.h"

enum {
    COLUMN_AT,
    COLUMN_KIND,
    COLUMN_UNIT,
    COLUMN_CAUSE,
    COLUMN_REPAIR,
    COLUMN_COUNT
};
static const char *const columns[COLUMN_COUNT] = {"at", "unit_kind", "unit", "cause", "repair"};

struct trace_reading {
    struct arena *arena;
    struct problems *problems;
    struct source *source;
    const char *cut; /* the text that the cells stand in; as long as the source's */
    struct csv csv;
    unsigned line; /* of the place reached last: cells are asked for in order */
    size_t at;
};

/* Counts on from the last place, which stands in the same row or in the one before. */
static struct mark mark_of(struct trace_reading *r, const char *cell)
{
    const char *text = r->source->text;
    size_t offset = (size_t)(cell - r->cut), begin;
    for (; r->at < offset; r->at++)
        r->line += text[r->at] == '\n';
    for (; r->at > offset; r->at--)
        r->line -= text[r->at - 1] == '\n';
    for (begin = offset; begin > 0 && text[begin - 1] != '\n'; begin--)
        ;
    unsigned column = 1, width = (unsigned)strlen(cell);
    for (size_t i = begin; i < offset; i++)
        column += ((unsigned char)text[i] & 0xC0) != 0x80;
    return (struct mark){r->source, r->line, column, width ? width : 1};
}

static const char *cell(const struct trace_reading *r, size_t row, unsigned column)
{
    return csv_cell(&r->csv, row, columns[column]);
}

static bool bad(struct trace_reading *r, size_t row, unsigned column, const char *why)
{
    const char *text = cell(r, row, column);
    problems_error(r->problems, mark_of(r, text), "%s: %s", columns[column], why);
    return false;
}

static bool read_time(struct trace_reading *r, size_t row, unsigned column, double *out)
{
    char why[QUANTITY_TEXT_MAX];
    struct quantity quantity;
    const char *text = cell(r, row, column);
    if (!quantity_read(PARAM_TIME, text, source_quote(r->arena, text), &quantity, why))
        return bad(r, row, column, why);
    *out = quantity.number;
    return (quantity.number >= 0.0 && quantity.number <= TRACE_TIME_MAX_S) ||
           bad(r, row, column, "must be from 0s to 100y");
}

static bool read_unit(struct trace_reading *r, size_t row, uint64_t *out)
{
    char why[QUANTITY_TEXT_MAX];
    struct quantity quantity;
    const char *text = cell(r, row, COLUMN_UNIT);
    if (!quantity_read(PARAM_COUNT, text, source_quote(r->arena, text), &quantity, why))
        return bad(r, row, COLUMN_UNIT, why);
    *out = quantity.count;
    return true;
}

static bool read_kind(struct trace_reading *r, size_t row, int *out)
{
    const char *text = cell(r, row, COLUMN_KIND);
    unsigned count = 0;
    for (; failure_unit_names[count]; count++) {
        if (strcmp(text, failure_unit_names[count]) == 0) {
            *out = (int)count;
            return true;
        }
    }
    struct name_list known = {failure_unit_names, count};
    return bad(r, row, COLUMN_KIND,
               arena_format(r->arena, "unknown unit kind '%s'%s", source_quote(r->arena, text),
                            names_advice(r->arena, text, known)));
}

static bool read_cause(struct trace_reading *r, size_t row, const char **out)
{
    *out = cell(r, row, COLUMN_CAUSE);
    size_t length = strlen(*out);
    if (length == 0)
        return bad(r, row, COLUMN_CAUSE, "is empty; name what failed");
    return length <= TRACE_CAUSE_MAX || bad(r, row, COLUMN_CAUSE, "is longer than 80 bytes");
}

static bool read_row(struct trace_reading *r, size_t row, double before_s, struct trace_row *out)
{
    bool good = read_time(r, row, COLUMN_AT, &out->at_s);
    if (good && out->at_s < before_s)
        good = bad(r, row, COLUMN_AT, "is earlier than the row above; sort the rows by `at`");
    good &= read_kind(r, row, &out->unit_kind);
    good &= read_unit(r, row, &out->unit);
    good &= read_cause(r, row, &out->cause);
    out->repair_s = -1.0;
    if (*cell(r, row, COLUMN_REPAIR) != '\0')
        good &= read_time(r, row, COLUMN_REPAIR, &out->repair_s);
    if (good)
        out->unit_mark = mark_of(r, cell(r, row, COLUMN_UNIT));
    return good;
}

static bool check_columns(struct trace_reading *r, struct mark where, const char *key)
{
    const char *lacks = csv_lacking(r->arena, &r->csv, columns, COLUMN_COUNT);
    if (lacks != NULL)
        problems_error(r->problems, where,
                       "%s: '%s' has no column %s; a trace has at,unit_kind,unit,cause,repair", key,
                       source_quote(r->arena, r->csv.path), lacks);
    return lacks == NULL;
}

static bool read_rows(struct trace_reading *r, struct trace_row *rows)
{
    unsigned bad_rows = 0; /* no more are shown than PROBLEM_MAX */
    double before_s = 0.0;
    for (size_t i = 0; i < r->csv.row_count && bad_rows < PROBLEM_MAX; i++) {
        struct arena_mark mark = arena_mark(r->arena);
        bool good = read_row(r, i, before_s, &rows[i]);
        if (good)
            arena_rewind(r->arena, mark); /* words for messages that nobody needs */
        before_s = good ? rows[i].at_s : before_s;
        bad_rows += good ? 0 : 1;
    }
    return bad_rows == 0;
}

/* The text as it can be shown, and cut into cells: clean UTF-8. */
static bool load(struct trace_reading *r, const struct trace_file *file, struct file_text whole)
{
    struct error error = {""};
    struct mark bad_byte;
    const char *why = NULL;
    size_t skipped = whole.bytes >= 3 && memcmp(whole.text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    const char *text = whole.text + skipped;
    size_t bytes = whole.bytes - skipped;
    *r->source = (struct source){.name = file->path, .text = text, .bytes = bytes, .order = 1};
    if (!source_check(r->source, &bad_byte, &why)) {
        problems_error(r->problems, bad_byte, "%s", why);
        return false;
    }
    char *cut = arena_alloc(r->arena, bytes + 1, 1);
    memcpy(cut, text, bytes + 1);
    r->cut = cut;
    if (!csv_parse(r->arena, file->path, cut, bytes, &r->csv, &error)) {
        problems_error(r->problems, file->where, "%s: %s", file->key,
                       source_clean(r->arena, error.text));
        return false;
    }
    return check_columns(r, file->where, file->key);
}

bool trace_parse(struct arena *arena, const struct trace_file *file, struct file_text text,
                 struct problems *problems, struct trace *out)
{
    struct trace_reading *r = ARENA_NEW(arena, struct trace_reading);
    *r = (struct trace_reading){
        .arena = arena, .problems = problems, .source = ARENA_NEW(arena, struct source), .line = 1};
    if (!load(r, file, text))
        return false;
    out->count = r->csv.row_count;
    if (out->count > TRACE_ROWS_MAX) {
        problems_error(problems, file->where, "%s: more than %d failures", file->key,
                       TRACE_ROWS_MAX);
        return false;
    }
    struct trace_row *all = ARENA_ARRAY(arena, struct trace_row, out->count + 1);
    out->rows = all;
    return read_rows(r, all);
}

bool trace_read(struct arena *arena, const struct trace_file *file, struct problems *problems,
                struct trace *out)
{
    struct error error = {""};
    struct file_text text;
    if (!file_read(arena, file->path, TRACE_BYTES_MAX, true, &text, &error)) {
        problems_error(problems, file->where, "%s: %s", file->key, source_clean(arena, error.text));
        return false;
    }
    if (text.bytes > TRACE_BYTES_MAX) {
        problems_error(problems, file->where, "%s: more than %d MiB of trace", file->key,
                       TRACE_BYTES_MAX >> 20);
        return false;
    }
    return trace_parse(arena, file, text, problems, out);
}
