#include "analysis/record/database/record_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/record/database/store_timeline.h"
#include "sim/check.h"

enum {
    SQL_BYTES = 8192,
    ROWS_AT_ONCE = 64,
    ROWS_MAX = 1 << 22 /* of a table, in a file of unknown origin */
};

static struct store_value value_of(const void *row, const struct row_column *column)
{
    switch (column->type) {
    case ROW_INTEGER: {
        int64_t value = row_integer(row, column);
        return value == ROW_NULL ? store_null() : store_integer(value);
    }
    case ROW_REAL: {
        double value = row_real(row, column);
        return isfinite(value) ? store_real(value) : store_null();
    }
    case ROW_TEXT:
        break;
    }
    const char *text = row_text(row, column);
    return text != NULL ? store_text(text) : store_null();
}

/* "run", "a", "b", ... as a list of columns. */
static int put_names(char *sql, size_t size, const struct row_table *table)
{
    int used = 0;
    for (unsigned i = 0; i < table->column_count; i++) {
        used += snprintf(sql + used, size - (size_t)used, "%s\"%s\"", i > 0 ? ", " : "",
                         table->columns[i].name);
        CHECK(used < (int)size);
    }
    return used;
}

/* Every table but `run` says whose rows they are. */
static bool has_run(const struct row_table *table)
{
    return table != &row_tables[ROW_run];
}

static void store_table(struct store *store, const struct row_table *table,
                        const struct record_rows *of)
{
    const char *names[STORE_NAMES_MAX] = {has_run(table) ? "run" : "id"};
    struct store_value cells[STORE_NAMES_MAX];
    CHECK(table->column_count < STORE_NAMES_MAX);
    for (unsigned k = 0; k < table->column_count; k++)
        names[1 + k] = table->columns[k].name;
    store_insert_begin(store, table->name, names, 1 + table->column_count);
    for (size_t i = 0; i < of->count && store_good(store); i++) {
        const char *row = (const char *)of->rows + i * table->size;
        cells[0] = store_integer(STORE_RUN);
        for (unsigned k = 0; k < table->column_count; k++)
            cells[1 + k] = value_of(row, &table->columns[k]);
        store_insert_row(store, cells, 1 + table->column_count);
    }
    store_insert_end(store);
}

void record_store(struct store *store, const struct record *record)
{
    for (unsigned i = 0; i < ROW_TABLE_COUNT; i++)
        store_table(store, &row_tables[i], &record->of[i]);
}

struct record_reading {
    struct record *record;
    enum row_table_index table;
    size_t room; /* rows made, of which record->of[table].count are filled */
};

/* Room for one more, twice as much when it is full. */
static char *next_row(struct record_reading *reading)
{
    struct record_rows *of = &reading->record->of[reading->table];
    const size_t size = row_tables[reading->table].size, filled = of->count;
    if (filled == reading->room) {
        size_t more = reading->room > 0 ? reading->room : ROWS_AT_ONCE;
        record_add(reading->record, reading->table, more);
        reading->room += more;
        of->count = filled;
    }
    of->count++;
    return (char *)of->rows + filled * size;
}

static void take_cell(struct arena *arena, const struct query_row *from, unsigned index,
                      const struct row_column *column, void *cell)
{
    unsigned bytes;
    if (query_type(from, index) == QUERY_NULL)
        return; /* as record_add made it */
    switch (column->type) {
    case ROW_INTEGER:
        *(int64_t *)cell = query_integer(from, index);
        break;
    case ROW_REAL:
        *(double *)cell = query_real(from, index);
        break;
    case ROW_TEXT: {
        const char *text = query_text(from, index, &bytes);
        *(const char **)cell = arena_format(arena, "%.*s", (int)bytes, text);
        break;
    }
    }
}

static bool take_row(void *context, const struct query_row *from, struct error *error)
{
    struct record_reading *reading = context;
    const struct row_table *table = &row_tables[reading->table];
    if (reading->record->of[reading->table].count == ROWS_MAX)
        return error_set(error, "the table %s has too many rows", table->name);
    char *row = next_row(reading);
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct row_column *column = &table->columns[i];
        if (!column->or_null && query_type(from, i) == QUERY_NULL)
            return error_set(error, "the table %s is damaged: no %s", table->name, column->name);
        take_cell(reading->record->arena, from, i, column, row + column->offset);
    }
    return true;
}

static bool read_table(struct query *query, struct record_reading *reading, struct error *error)
{
    const struct row_table *table = &row_tables[reading->table];
    char sql[SQL_BYTES];
    int used = snprintf(sql, sizeof sql, "select ");
    used += put_names(sql + used, sizeof sql - (size_t)used, table);
    used += snprintf(sql + used, sizeof sql - (size_t)used, " from %s where %s = %d order by id",
                     table->name, has_run(table) ? "run" : "id", STORE_RUN);
    CHECK(used < (int)sizeof sql);
    reading->room = 0;
    return query_run(query, sql, NULL, take_row, reading, error);
}

/* Words that the report of such a run asks for are there. */
static bool check_run(const struct run_row *run, struct error *error)
{
    const struct row_table *table = &row_tables[ROW_run];
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct row_column *column = &table->columns[i];
        bool known = column->when == ROW_ALWAYS ||
                     (column->when == ROW_TIMED && isfinite(run->step_s)) ||
                     (column->when == ROW_WEEKS && isfinite(run->wall_s));
        if (known && column->type == ROW_TEXT && row_text(run, column) == NULL)
            return error_set(error, "the table run is damaged: no %s", column->name);
    }
    return true;
}

static bool read_all(struct query *query, struct arena *arena, struct record *out,
                     struct error *error)
{
    *out = (struct record){.arena = arena};
    for (unsigned i = 0; i < ROW_TABLE_COUNT; i++) {
        struct record_reading reading = {out, (enum row_table_index)i, 0};
        if (!read_table(query, &reading, error))
            return false;
    }
    return true;
}

bool record_read(struct query *query, struct arena *arena, struct record *out, struct error *error)
{
    if (!read_all(query, arena, out, error))
        return false;
    if (out->of[ROW_run].count == 0)
        return error_set(error, out->of[ROW_task_step].count > 0
                                    ? "the file holds execution traces that were played, no run"
                                    : "the file holds no run");
    return check_run(record_run(out), error);
}

bool record_read_tasks(struct query *query, struct arena *arena, struct record *out,
                       struct error *error)
{
    if (!read_all(query, arena, out, error))
        return false;
    return (out->of[ROW_task_step].count == 1 && out->of[ROW_task_rank].count > 0) ||
           error_set(error, "the tables of execution traces are damaged: one row of task_step and "
                            "one of task_rank a rank are expected");
}
