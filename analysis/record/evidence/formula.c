/* A parser that goes down the grammar of formula.h and works out as it goes. */
#include "analysis/record/evidence/formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/units.h"

enum {
    NAME_BYTES = 64,
    DEPTH_MAX = 32
};
struct formula_reader {
    const char *at;
    const struct formula_run *runs;
    unsigned run_count, depth;
    struct error *error;
};
/* One word of a column's path, as it was written. */
struct formula_name {
    char s[NAME_BYTES];
};

static bool read_sum(struct formula_reader *r, struct formula_value *out);

static void skip(struct formula_reader *r)
{
    r->at += strspn(r->at, " ");
}

static bool take(struct formula_reader *r, char what)
{
    skip(r);
    if (*r->at != what)
        return false;
    r->at++;
    return true;
}

/* Units as the tables write them. A count has none; a share is marked. */
static bool read_unit(const char *unit, struct formula_value *value)
{
    static const char *const bases[FORMULA_BASE_COUNT] = {"s", "B", "FLOP", "USD", "tokens", "J"};
    static const char *const counts[] = {"", "1", "layers", "sequences"};
    const size_t length = strcspn(unit, "/");
    value->share = strcmp(unit, "1") == 0;
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(unit, counts[i]) == 0)
            return true;
    for (int i = 0; i < FORMULA_BASE_COUNT; i++) {
        if (strlen(bases[i]) == length && strncmp(bases[i], unit, length) == 0) {
            value->power[i]++;
            value->power[FORMULA_SECONDS] -= strcmp(unit + length, "/s") == 0;
            return unit[length] == '\0' || strcmp(unit + length, "/s") == 0;
        }
    }
    return false;
}

static bool pure(const struct formula_value *value)
{
    for (int i = 0; i < FORMULA_BASE_COUNT; i++)
        if (value->power[i] != 0)
            return false;
    return true;
}

static const struct row_table *find_table(const char *name)
{
    for (unsigned i = 0; i < ROW_TABLE_COUNT; i++)
        if (strcmp(row_tables[i].name, name) == 0)
            return &row_tables[i];
    return NULL;
}

static const struct row_column *find_column(const struct row_table *table, const char *name)
{
    for (unsigned i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return &table->columns[i];
    return NULL;
}

static double number_of(const void *row, const struct row_column *column)
{
    if (column->type == ROW_REAL)
        return row_real(row, column);
    const int64_t value = row_integer(row, column);
    return value == ROW_NULL ? (double)NAN : (double)value;
}

/* Is this the row that is asked for by its first column? */
static bool chosen(const void *row, const struct row_column *first, const char *key)
{
    char number[NAME_BYTES];
    if (first->type == ROW_TEXT) {
        const char *text = row_text(row, first);
        return text != NULL && strcmp(text, key) == 0;
    }
    snprintf(number, sizeof number, "%.0f", number_of(row, first));
    return strcmp(number, key) == 0;
}

/* The largest value over the rows; NAN: none has one. */
static double largest(const struct record *record, const struct row_table *table, const char *key,
                      const struct row_column *column)
{
    const struct record_rows *of = &record->of[table - row_tables];
    double most = NAN;
    for (size_t i = 0; i < of->count; i++) {
        const void *row = (const char *)of->rows + i * table->size;
        if (*key == '\0' || chosen(row, &table->columns[0], key))
            most = fmax(most, number_of(row, column));
    }
    return most;
}

/* The next word of letters, digits and _; or, up to `end`, of anything. */
static bool read_name(struct formula_reader *r, char end, struct formula_name *out)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const char stop[2] = {end, '\0'};
    const size_t length = end != '\0' ? strcspn(r->at, stop) : strspn(r->at, word);
    if (length == 0 || length >= NAME_BYTES)
        return error_set(r->error, "a name or a number was expected at '%.20s'", r->at);
    memcpy(out->s, r->at, length);
    out->s[length] = '\0';
    r->at += length;
    return true;
}

static const struct formula_run *find_run(const struct formula_reader *r, const char *name)
{
    for (unsigned i = 0; i < r->run_count; i++)
        if (strcmp(r->runs[i].name, name) == 0)
            return &r->runs[i];
    error_set(r->error, "there is no run '%s' in this lesson", name);
    return NULL;
}

/* table, row and column as they were written; table "" for `run`. */
static bool read_path(struct formula_reader *r, struct formula_name *table,
                      struct formula_name *key, struct formula_name *column)
{
    if (!read_name(r, '\0', column))
        return false;
    if (*r->at == '[') {
        r->at++;
        if (!read_name(r, ']', key))
            return false;
        if (!take(r, ']') || *r->at != '.')
            return error_set(r->error,
                             "after '%s[%s' stand ']' and a column, as in "
                             "stream_use[dp].busy_s",
                             column->s, key->s);
    }
    if (*r->at != '.')
        return true;
    r->at++;
    *table = *column;
    return read_name(r, '\0', column);
}

static bool read_column(struct formula_reader *r, struct formula_value *out)
{
    struct formula_name table_name = {"run"}, key = {""}, name = {""}, run_name = {""};
    if (!read_path(r, &table_name, &key, &name))
        return false;
    if (*r->at == '@') {
        r->at++;
        if (!read_name(r, '\0', &run_name))
            return false;
    }
    const struct row_table *table = find_table(table_name.s);
    if (table == NULL)
        return error_set(r->error, "there is no table '%s'", table_name.s);
    const struct row_column *column = find_column(table, name.s);
    if (column == NULL)
        return error_set(r->error, "there is no column '%s' in the table %s", name.s, table->name);
    *out = (struct formula_value){.number = NAN};
    if (column->type == ROW_TEXT || !read_unit(column->unit, out))
        return error_set(r->error, "%s of the table %s is no number to reckon with", name.s,
                         table->name);
    const struct formula_run *run = find_run(r, run_name.s);
    if (run != NULL && run->record != NULL)
        out->number = largest(run->record, table, key.s, column);
    return run != NULL;
}

static bool read_factor(struct formula_reader *r, struct formula_value *out)
{
    skip(r);
    if (strchr("0123456789", *r->at) != NULL && *r->at != '\0') {
        char *end;
        *out = (struct formula_value){.number = strtod(r->at, &end)};
        r->at = end;
        return true;
    }
    if (!take(r, '('))
        return read_column(r, out);
    if (++r->depth > DEPTH_MAX)
        return error_set(r->error, "more than %d parentheses in each other", DEPTH_MAX);
    if (!read_sum(r, out))
        return false;
    r->depth--;
    return take(r, ')') || error_set(r->error, "')' was expected at '%.20s'", r->at);
}

/* A ratio of like things is a share, of two counts too; other products keep what they are. */
static bool read_product(struct formula_reader *r, struct formula_value *out)
{
    struct formula_value next;
    if (!read_factor(r, out))
        return false;
    for (;;) {
        const bool over = take(r, '/');
        if (!over && !take(r, '*'))
            return true;
        if (!read_factor(r, &next))
            return false;
        for (int i = 0; i < FORMULA_BASE_COUNT; i++)
            out->power[i] += over ? -next.power[i] : next.power[i];
        out->number = over ? out->number / next.number : out->number * next.number;
        out->share = pure(out) && (over || out->share || next.share);
    }
}

static bool read_sum(struct formula_reader *r, struct formula_value *out)
{
    struct formula_value next;
    if (!read_product(r, out))
        return false;
    for (;;) {
        const bool less = take(r, '-');
        if (!less && !take(r, '+'))
            return true;
        if (!read_product(r, &next))
            return false;
        if (memcmp(out->power, next.power, sizeof out->power) != 0)
            return error_set(r->error, "%s and %s do not add up", formula_unit(out).s,
                             formula_unit(&next).s);
        out->number += less ? -next.number : next.number;
        out->share = out->share || next.share;
    }
}

bool formula_find(const char *text, const struct formula_run *runs, unsigned run_count,
                  struct formula_value *out, struct error *error)
{
    struct formula_reader r = {.at = text, .runs = runs, .run_count = run_count, .error = error};
    if (!read_sum(&r, out))
        return false;
    skip(&r);
    return *r.at == '\0' || error_set(error, "'%.20s' is left over", r.at);
}

struct text formula_unit(const struct formula_value *value)
{
    static const char *const bases[FORMULA_BASE_COUNT] = {"s", "B", "FLOP", "USD", "tokens", "J"};
    struct text out = {""};
    size_t used = 0;
    if (pure(value)) {
        snprintf(out.s, sizeof out.s, "%s", value->share ? "1" : "");
        return out;
    }
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (int i = 0; i < FORMULA_BASE_COUNT; i++) {
            for (int n = value->power[i] * sign; n > 0 && used + 8 < sizeof out.s; n--) {
                const char *between = sign < 0 ? (used > 0 ? "/" : "1/") : used > 0 ? " " : "";
                used +=
                    (size_t)snprintf(out.s + used, sizeof out.s - used, "%s%s", between, bases[i]);
            }
        }
    }
    return out;
}

static struct text pure_text(const struct formula_value *value)
{
    const double number = value->number;
    struct text out;
    if (value->share && fabs(number) < 1.0)
        return format_percent(number);
    if (value->share)
        snprintf(out.s, sizeof out.s, "%.3g times", number);
    else if (number == floor(number) && number >= 0.0 && number < 1e6)
        return format_count((uint64_t)number);
    else
        return format_quantity(number);
    return out;
}

struct text formula_text(const struct formula_value *value)
{
    typedef struct text writer_fn(double);
    static const struct {
        const char *unit;
        writer_fn *write;
    } known[] = {{"s", format_time},     {"B", format_bytes},   {"B/s", format_rate},
                 {"FLOP", format_flops}, {"USD", format_money}, {"J", format_energy}};
    const struct text unit = formula_unit(value);
    struct text out;
    if (!isfinite(value->number))
        return (struct text){"not known"};
    if (pure(value))
        return pure_text(value);
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(unit.s, known[i].unit) == 0)
            return known[i].write(value->number);
    const bool whole = value->number == floor(value->number) && fabs(value->number) < MEGA;
    if (strcmp(unit.s, "tokens") == 0 && whole && value->number >= 0.0) {
        snprintf(out.s, sizeof out.s, "%.30s tokens", format_count((uint64_t)value->number).s);
        return out;
    }
    const bool rate = strcmp(unit.s, "FLOP/s") == 0;
    const struct text number = rate ? format_flops(value->number) : format_quantity(value->number);
    snprintf(out.s, sizeof out.s, "%.20s%s%.24s", number.s, rate ? "" : " ", rate ? "/s" : unit.s);
    return out;
}

const char *formula_fill(struct arena *arena, const char *text, const struct formula_run *runs,
                         unsigned run_count, struct error *error)
{
    const char *out = "";
    for (;;) {
        const size_t plain = strcspn(text, "{");
        out = arena_format(arena, "%s%.*s", out, (int)plain, text);
        text += plain;
        if (*text == '\0')
            return out;
        const size_t length = strcspn(text, "}");
        if (text[length] == '\0') {
            error_set(error, "'{' without its '}'");
            return NULL;
        }
        struct formula_value value;
        const char *inside = arena_format(arena, "%.*s", (int)length - 1, text + 1);
        if (!formula_find(inside, runs, run_count, &value, error))
            return NULL;
        out = arena_format(arena, "%s%s", out, formula_text(&value).s);
        text += length + 1;
    }
}
