/* record.h - a run as its database holds it: the rows of rows.h, by table, in memory.
 *
 * Reports know nothing else. `run` makes a record of what it has simulated, prints it and stores
 * it; `report` reads it back from the database (record_file.h) and prints the same. Rows and texts
 * live in the arena, or where the scenario and the result keep theirs. Formats nothing. */
#ifndef ORRERY_ANALYSIS_RECORD_NUMBERS_RECORD_H
#define ORRERY_ANALYSIS_RECORD_NUMBERS_RECORD_H

#include "analysis/record/numbers/rows.h"
#include "sim/arena.h"

struct record {
    struct arena *arena;
    struct record_rows {
        void *rows;
        size_t count;
    } of[ROW_TABLE_COUNT];
};
/* Room for `count` rows of a table, all null: at the end of those that are there. Earlier pointers
 * into the table are void. */
void *record_add(struct record *record, enum row_table_index table, size_t count);

/* Texts that belong to a scenario or a step, copied into the arena: it outlives them then. */
void record_keep_texts(struct record *record);

/* record_link(record, &count): the rows of a table; of `run` the one row. */
#define T(table, doc)                                                                              \
    static inline const struct table##_row *record_##table(const struct record *record,            \
                                                           size_t *count)                          \
    {                                                                                              \
        *count = record->of[ROW_##table].count;                                                    \
        return record->of[ROW_##table].rows;                                                       \
    }
ROW_TABLES(T)
#undef T
static inline const struct run_row *record_run(const struct record *record)
{
    return record->of[ROW_run].rows;
}

#endif
