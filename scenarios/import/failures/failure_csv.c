/* failure_csv.c - failures as a table: at, unit_kind, unit, cause, perhaps repair. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/failures/failure_log_state.h"
#include "scenarios/import/reader/time_stamp.h"
#include "scenarios/language/csv.h"
#include "scenarios/language/names.h"
#include "scenarios/language/quantity.h"
#include "sim/units.h"

enum {
    CAUSE_BYTES_MAX = 80,
    YEAR_DIGITS = 4
};
#define TIME_MAX_S (100.0 * YEAR)

/* How units were told so far: numbers and names are numbered apart, so one log has one of them. */
struct csv_units {
    bool numbers, names;
};
struct csv_row {
    struct failure_reading *r;
    const struct csv *csv;
    struct csv_units *units;
    size_t row;
};

static const char *cell(const struct csv_row *row, const char *name)
{
    return csv_cell(row->csv, row->row, name);
}

static bool bad(const struct csv_row *row, const char *column, const char *why)
{
    return import_text_bad(&row->r->text, "%s: %s", column, why);
}

static bool read_span(const struct csv_row *row, const char *column, double *out)
{
    char why[QUANTITY_TEXT_MAX];
    struct quantity quantity;
    const char *text = cell(row, column), *shown = import_text_quote(&row->r->text, text);
    if (!quantity_read(PARAM_TIME, text, shown, &quantity, why))
        return bad(row, column, why);
    *out = quantity.number;
    return (*out >= 0.0 && *out <= TIME_MAX_S) || bad(row, column, "must be from 0s to 100y");
}

/* A moment of the calendar or a time since the start, as the first row has it. */
static bool read_at(const struct csv_row *row, double *out)
{
    const bool date = time_stamp_read(cell(row, "at"), out);
    const char *text = cell(row, "at");
    const bool dated = strpbrk(text, "/:") != NULL ||
                       (strspn(text, "0123456789") == YEAR_DIGITS && text[YEAR_DIGITS] == '-');
    if (!date && dated)
        return bad(row, "at", "no moment of the calendar; write it as 2026-11-03T04:05:06Z");
    if (row->row == 0)
        row->r->relative = !date;
    if (date == row->r->relative)
        return bad(row, "at",
                   row->r->relative ? "a date behind times since the start"
                                    : "no date (2026-11-03T04:05:06) behind dates");
    return date || read_span(row, "at", out);
}

static bool read_kind(const struct csv_row *row, int *out)
{
    const char *text = cell(row, "unit_kind");
    unsigned count = 0;
    for (; failure_unit_names[count] != NULL; count++) {
        if (strcmp(text, failure_unit_names[count]) == 0) {
            *out = (int)count;
            return true;
        }
    }
    const struct name_list known = {failure_unit_names, count};
    return bad(row, "unit_kind",
               arena_format(row->r->arena, "unknown unit kind '%s'%s",
                            import_text_quote(&row->r->text, text),
                            names_advice(row->r->arena, text, known)));
}

/* node:part, whose part is a number on its node or a name. */
static bool read_part(const struct csv_row *row, char *text, struct failure_sight *out)
{
    const uint64_t per_node = row->r->rules->gpus_per_node;
    char *colon = strchr(text, ':');
    if (colon == NULL || colon == text || colon[1] == '\0')
        return bad(row, "unit", "give the number of the GPU, or NODE:GPU");
    *colon = '\0';
    out->part = colon + 1;
    return strspn(out->part, "0123456789") != strlen(out->part) ||
           (strlen(out->part) <= 9 && strtoull(out->part, NULL, 10) < per_node) ||
           bad(row, "unit",
               arena_format(row->r->arena,
                            "there is no gpu %s on a node of %" PRIu64
                            " (--gpus-per-node); they count from 0",
                            import_text_quote(&row->r->text, out->part), per_node));
}

static bool one_way(const struct csv_row *row)
{
    return !row->units->numbers || !row->units->names ||
           bad(row, "unit", "numbers and names in one table: which number a name is, is not told");
}

/* A number, or the name of a node, or node:part for a GPU. */
static bool read_unit(const struct csv_row *row, struct failure_sight *out)
{
    char *text = arena_text(row->r->arena, cell(row, "unit")), *end;
    const uint64_t count = failure_log_units(row->r->rules, (enum failure_unit)out->unit_kind);
    if (strspn(text, "0123456789") == strlen(text) && *text != '\0') {
        out->unit = strtoull(text, &end, 10);
        if (strlen(text) > 9 || (count > 0 && out->unit >= count))
            return bad(row, "unit",
                       arena_format(row->r->arena,
                                    "there is no %s %s of %" PRIu64
                                    " (--gpus, --gpus-per-node); they count from 0",
                                    failure_unit_names[out->unit_kind],
                                    import_text_quote(&row->r->text, text), count));
        row->units->numbers |= out->unit_kind == UNIT_GPU || out->unit_kind == UNIT_NODE;
        return one_way(row);
    }
    if (out->unit_kind == UNIT_JOB)
        return true;
    if (*text == '\0' || (out->unit_kind != UNIT_NODE && out->unit_kind != UNIT_GPU))
        return bad(row, "unit", "give its number, from 0");
    out->host = text;
    if (out->unit_kind == UNIT_GPU && !read_part(row, text, out))
        return false;
    row->units->names = true;
    return one_way(row);
}

static bool read_row(const struct csv_row *row)
{
    struct failure_sight sight = {.cause = cell(row, "cause"), .repair_s = -1.0};
    const size_t length = strlen(sight.cause);
    if (length == 0 || length > CAUSE_BYTES_MAX)
        return bad(row, "cause", "name what failed, in 80 bytes at most");
    if (!read_at(row, &sight.at_s) || !read_kind(row, &sight.unit_kind) || !read_unit(row, &sight))
        return false;
    if (*cell(row, "repair") != '\0' && !read_span(row, "repair", &sight.repair_s))
        return false;
    return failure_log_see(row->r, &sight);
}

/* A row that stands twice as it is. */
static bool check_twice(struct failure_reading *r, const struct csv *csv)
{
    for (size_t i = 1; i < csv->row_count; i++) {
        bool same = true;
        for (unsigned c = 0; c < csv->column_count && same; c++)
            same = strcmp(csv->cells[(i - 1) * csv->column_count + c],
                          csv->cells[i * csv->column_count + c]) == 0;
        r->text.line = (unsigned)i + 2;
        if (same)
            return import_text_bad(&r->text, "the row above stands here again; take one out");
    }
    return true;
}

static bool read_log(struct failure_reading *r)
{
    static const char *const needed[] = {"at", "unit_kind", "unit", "cause"};
    struct csv_units units = {false, false};
    struct csv csv;
    if (!csv_parse(r->arena, r->file.path, r->text.at, (size_t)(r->text.end - r->text.at), &csv,
                   r->text.error))
        return false;
    r->text.line = 1;
    const char *lacks = csv_lacking(r->arena, &csv, needed, sizeof needed / sizeof needed[0]);
    if (lacks != NULL)
        return import_text_bad(&r->text,
                               "no column %s; a table of failures has at,unit_kind,unit,cause and "
                               "perhaps repair",
                               lacks);
    if (!check_twice(r, &csv))
        return false;
    for (size_t i = 0; i < csv.row_count; i++) {
        const struct csv_row row = {r, &csv, &units, i};
        r->text.line = (unsigned)i + 2;
        if (!read_row(&row))
            return false;
    }
    return true;
}

const struct failure_format_kind failure_format_csv = {
    .head = {.name = "failures",
             .doc = "a table at,unit_kind,unit,cause[,repair]: laws fitted to it, as\n"
                    "`failures:` of a scenario; with --output also as a trace"},
    .read = read_log,
};
