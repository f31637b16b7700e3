/* iteration_csv.c - a table with a header: step (or iteration), and seconds of a step or the moment
 * of its end (`at`, a date or seconds since 1970), or both. Other columns are passed over. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "scenarios/import/iterations/iteration_row.h"
#include "scenarios/import/reader/time_stamp.h"
#include "scenarios/language/csv.h"

/* The name of the column for a role that the table has; NULL: none. */
static const char *column(const struct csv *csv, const char *const *names)
{
    for (; *names != NULL; names++)
        if (csv_column(csv, *names) >= 0)
            return *names;
    return NULL;
}

/* Is the first line a header with a column of iterations? Else it is no table, and no error. */
static bool is_table(const struct import_text *text)
{
    const size_t length = strcspn(text->at, "\r\n");
    static const char *const words[] = {"step", "iteration"};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t bytes = strlen(words[i]);
        for (const char *at = text->at; at + bytes <= text->at + length; at++) {
            const bool begins = at == text->at || at[-1] == ',' || at[-1] == '"';
            if (begins && strncmp(at, words[i], bytes) == 0 &&
                (at[bytes] == ',' || at[bytes] == '"' || at + bytes == text->at + length))
                return true;
        }
    }
    return false;
}

static bool read_at(struct iteration_reading *r, const char *text, struct iteration_line *line)
{
    line->dated = time_stamp_read(text, &line->at_s);
    if (line->dated)
        return true;
    line->at_s = NAN;
    return *text == '\0' || import_text_number(text, &line->at_s) ||
           import_text_bad(&r->text, "'%s' is no moment: write 2026-11-03T04:05:06 or seconds",
                           import_text_quote(&r->text, text));
}

static bool read_row(struct iteration_reading *r, const char *number, const char *seconds,
                     const char *at)
{
    struct iteration_seen seen = {NAN, NAN, NAN, NAN};
    struct iteration_line line = {"", ITERATION_NO_RANK, NAN, false};
    if (!import_text_number(number, &seen.number) || seen.number != floor(seen.number))
        return import_text_bad(&r->text, "'%s' is no number of a step",
                               import_text_quote(&r->text, number));
    if (*seconds != '\0' && !import_text_number(seconds, &seen.step_s))
        return import_text_bad(&r->text, "'%s' are no seconds",
                               import_text_quote(&r->text, seconds));
    return read_at(r, at, &line) && iteration_row_see(r, &line, &seen);
}

static bool table(struct iteration_reading *r)
{
    static const char *const numbers[] = {"step", "iteration", NULL};
    static const char *const times[] = {"seconds", "step_s", NULL};
    static const char *const moments[] = {"at", "timestamp", NULL};
    struct csv csv;
    if (!is_table(&r->text))
        return true;
    if (!csv_parse(r->text.arena, r->file->path, r->text.at, (size_t)(r->text.end - r->text.at),
                   &csv, r->text.error))
        return false;
    const char *number = column(&csv, numbers), *seconds = column(&csv, times),
               *at = column(&csv, moments);
    r->text.line = 1;
    if (number == NULL || (seconds == NULL && at == NULL))
        return import_text_bad(&r->text, "a table of steps has the columns step and seconds, or "
                                         "step and at, or all three");
    for (size_t i = 0; i < csv.row_count; i++) {
        r->text.line = (unsigned)i + 2;
        if (!read_row(r, csv_cell(&csv, i, number),
                      seconds != NULL ? csv_cell(&csv, i, seconds) : "",
                      at != NULL ? csv_cell(&csv, i, at) : ""))
            return false;
    }
    if (r->out->count > 0)
        r->out->begin_s = NAN; /* its moments are those of its rows */
    return true;
}

const struct iteration_format_kind iteration_format_csv = {
    .head = {.name = "csv", .doc = "a table with a header: step and seconds, or step and at"},
    .form = "step,seconds or step,at or step,seconds,at, with a line for each step",
    .table = table,
};
