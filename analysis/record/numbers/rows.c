#include "analysis/record/numbers/rows.h"

#include "sim/check.h"

/* What the words of the lists stand for: type, a flag, may be null. */
#define TYPE_INTEGER ROW_INTEGER, false, false
#define TYPE_INTEGER_OR_NULL ROW_INTEGER, false, true
#define TYPE_FLAG ROW_INTEGER, true, false
#define TYPE_REAL ROW_REAL, false, false
#define TYPE_REAL_OR_NULL ROW_REAL, false, true
#define TYPE_TEXT ROW_TEXT, false, false
#define TYPE_TEXT_OR_NULL ROW_TEXT, false, true

/* Numbers and words of a run are null where they are not known. */
#define RUN_INTEGER ROW_INTEGER, false, true
#define RUN_FLAG ROW_INTEGER, true, true
#define RUN_REAL ROW_REAL, false, true
#define RUN_TEXT ROW_TEXT, false, true

#define COLUMN(table, column, unit, doc, key, when, type)                                          \
    {#column, unit, doc, key, offsetof(struct table##_row, column), when, type},

#define X(column, type, unit, key, when, study, more, doc, getter)                                 \
    COLUMN(run, column, unit, doc, #key, ROW_##when, RUN_##type)
static const struct row_column columns_run[] = {METRICS(X)};
#undef X

#define X(t, type, column, unit, doc)                                                              \
    COLUMN(t, column, unit, doc, "no_key", ROW_ALWAYS, TYPE_##type)
#define T(table, doc)                                                                              \
    static const struct row_column columns_##table[] = {COLUMNS_##table(X, table)};
ROW_TABLES(T)
#undef T
#undef X

#define TABLE(table, doc)                                                                          \
    {#table, doc, columns_##table, sizeof columns_##table / sizeof *columns_##table,               \
     sizeof(struct table##_row)},
const struct row_table row_tables[ROW_TABLE_COUNT] = {
    TABLE(run, "One row for each simulated point: what was asked and the headline figures.")
        ROW_TABLES(TABLE)};

static const void *cell(const void *row, const struct row_column *column, enum row_type type)
{
    CHECK(column->type == type);
    return (const char *)row + column->offset;
}

int64_t row_integer(const void *row, const struct row_column *column)
{
    return *(const int64_t *)cell(row, column, ROW_INTEGER);
}

double row_real(const void *row, const struct row_column *column)
{
    return *(const double *)cell(row, column, ROW_REAL);
}

const char *row_text(const void *row, const struct row_column *column)
{
    return *(const char *const *)cell(row, column, ROW_TEXT);
}
