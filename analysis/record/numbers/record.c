#include "analysis/record/numbers/record.h"

#include <math.h>
#include <string.h>

static void make_null(const struct row_table *table, void *row)
{
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct row_column *column = &table->columns[i];
        void *cell = (char *)row + column->offset;
        switch (column->type) {
        case ROW_INTEGER:
            *(int64_t *)cell = ROW_NULL;
            break;
        case ROW_REAL:
            *(double *)cell = NAN;
            break;
        case ROW_TEXT:
            *(const char **)cell = NULL;
            break;
        }
    }
}

void *record_add(struct record *record, enum row_table_index table, size_t count)
{
    const struct row_table *kind = &row_tables[table];
    struct record_rows *of = &record->of[table];
    if (count == 0)
        return NULL;
    char *rows = arena_array(record->arena, kind->size, of->count + count, _Alignof(max_align_t));
    if (of->count > 0)
        memcpy(rows, of->rows, of->count * kind->size);
    char *added = rows + of->count * kind->size;
    for (size_t i = 0; i < count; i++)
        make_null(kind, added + i * kind->size);
    *of = (struct record_rows){rows, of->count + count};
    return added;
}

void record_keep_texts(struct record *record)
{
    for (unsigned t = 0; t < ROW_TABLE_COUNT; t++) {
        const struct row_table *table = &row_tables[t];
        for (size_t i = 0; i < record->of[t].count; i++) {
            char *row = (char *)record->of[t].rows + i * table->size;
            for (unsigned k = 0; k < table->column_count; k++) {
                const char **cell = (const char **)(void *)(row + table->columns[k].offset);
                if (table->columns[k].type == ROW_TEXT && *cell != NULL)
                    *cell = arena_text(record->arena, *cell);
            }
        }
    }
}
