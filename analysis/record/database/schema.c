#include "analysis/record/database/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/record/database/schema_sql.h"
#include "analysis/record/numbers/rows.h"
#include "sim/check.h"
#include "sim/memory.h"

enum {
    GENERATED_BYTES = 1 << 16 /* a column takes less than 200 */
};
struct writing {
    char *text;
    size_t used, size;
};

__attribute__((format(printf, 2, 3))) static void put(struct writing *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(w->text + w->used, w->size - w->used, format, arguments);
    va_end(arguments);
    CHECK(added >= 0 && (size_t)added < w->size - w->used);
    w->used += (size_t)added;
}

/* A text as SQL quotes it. */
static void put_quoted(struct writing *w, const char *text)
{
    put(w, "'");
    for (; *text != '\0'; text++)
        put(w, *text == '\'' ? "''" : "%c", *text);
    put(w, "'");
}

static void put_table(struct writing *w, const struct row_table *table)
{
    static const char *const types[] = {
        [ROW_INTEGER] = "integer", [ROW_REAL] = "real", [ROW_TEXT] = "text"};
    put(w, "create table %s (\n    id integer primary key", table->name);
    if (table != &row_tables[ROW_run])
        put(w, ",\n    run integer not null");
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct row_column *column = &table->columns[i];
        put(w, ",\n    \"%s\" %s%s", column->name, types[column->type],
            column->or_null ? "" : " not null");
    }
    put(w, "\n) strict;\n");
}

static void put_doc(struct writing *w, const char *table, const char *column, const char *unit,
                    const char *doc)
{
    put(w, "insert into doc values ('%s', '%s', '%s', ", table, column, unit);
    put_quoted(w, doc);
    put(w, ");\n");
}

static void put_docs(struct writing *w, const struct row_table *table)
{
    put_doc(w, table->name, "", "", table->doc);
    put_doc(w, table->name, "id", "", "number of the row in this file");
    if (table != &row_tables[ROW_run])
        put_doc(w, table->name, "run", "", "row of run");
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct row_column *column = &table->columns[i];
        put_doc(w, table->name, column->name, column->unit, column->doc);
    }
}

char *schema_text(void)
{
    struct writing w = {.size = sizeof schema_sql + GENERATED_BYTES};
    w.text = memory_take(w.size);
    put(&w, "%s", schema_sql);
    for (unsigned i = 0; i < ROW_TABLE_COUNT; i++) {
        put_table(&w, &row_tables[i]);
        put_docs(&w, &row_tables[i]);
    }
    return w.text;
}
