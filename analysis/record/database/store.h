/* store.h - the results database, written. SQLite is met here and in query.c alone.
 *
 * While it is written the file is NAME.partial, beside a rollback journal, and says meta.complete =
 * 0; store_finish marks it complete, makes it durable and renames it, so that nothing half written
 * ever has the final name: after kill -9, a full disk or a limit the partial file opens and holds
 * what it says. Rows go in by statements that name their columns, or, where a row
 * is small, by table name with values in the order of schema.sql.
 * The first failure sticks: later rows are ignored and store_finish reports it. Same rows in the
 * same order give the same bytes. It knows no model; rows are plain values. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_STORE_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/error.h"

enum store_value_type {
    STORE_NULL,
    STORE_INTEGER,
    STORE_REAL,
    STORE_TEXT
};
struct store_value {
    enum store_value_type type;
    union {
        int64_t integer;
        double real;
        const char *text;
    } as;
};
static inline struct store_value store_null(void)
{
    return (struct store_value){.type = STORE_NULL};
}
static inline struct store_value store_integer(int64_t value)
{
    return (struct store_value){.type = STORE_INTEGER, .as.integer = value};
}
static inline struct store_value store_real(double value)
{
    return (struct store_value){.type = STORE_REAL, .as.real = value};
}
static inline struct store_value store_text(const char *value)
{
    return (struct store_value){.type = STORE_TEXT, .as.text = value};
}

/* Tables of schema.sql that are written row by row. */
#define STORE_TABLES                                                                               \
    X(meta)                                                                                        \
    X(string)                                                                                      \
    X(rank_class)                                                                                  \
    X(rank)                                                                                        \
    X(node)                                                                                        \
    X(gpu)                                                                                         \
    X(track)                                                                                       \
    X(node_wire)                                                                                   \
    X(slice_raw)                                                                                   \
    X(idle_raw)                                                                                    \
    X(op_kind)                                                                                     \
    X(counter_raw)                                                                                 \
    X(transfer)                                                                                    \
    X(failure)                                                                                     \
    X(checkpoint)                                                                                  \
    X(constant)                                                                                    \
    X(study)                                                                                       \
    X(study_option)                                                                                \
    X(study_point)                                                                                 \
    X(study_value)                                                                                 \
    X(study_raw)                                                                                   \
    X(study_summary)                                                                               \
    X(study_refused)                                                                               \
    X(plan)                                                                                        \
    X(plan_option)                                                                                 \
    X(plan_layout)                                                                                 \
    X(plan_time)                                                                                   \
    X(plan_ledger)                                                                                 \
    X(plan_play)                                                                                   \
    X(plan_play_part)
enum store_table {
#define X(name) STORE_##name,
    STORE_TABLES
#undef X
        STORE_TABLE_COUNT
};

enum store_outcome {
    STORE_GOOD,
    STORE_FAILED,
    STORE_LIMITED /* max_bytes was reached */
};
struct store;
const char *store_sqlite_version(void);
/* Opens PATH.partial and writes the schema. Refuses to take the place of a file that is not a
 * results database of Orrery. max_bytes: 0 for no limit. */
enum store_outcome store_open(const char *path, double max_bytes, struct store **out,
                              struct error *error);
/* The same for a writer that commits often: others can read the partial file meanwhile. With
 * `resume` the rows of a writer that was stopped are kept and go on, if there are any; the file
 * must then read as Orrery wrote it. */
enum store_outcome store_share(const char *path, double max_bytes, bool resume, struct store **out,
                               struct error *error);
bool store_resumed(const struct store *store); /* there were such rows */
/* Points of an unfinished study, or findings of a plan, that were given up because `resume` was not
 * asked for. */
int64_t store_dropped(const struct store *store);
/* What stands under the final name ("a run of 'x'"), and will be replaced; "": nothing. */
const char *store_replaced(const struct store *store);
const char *store_partial_path(const struct store *store);
/* One row; `count` must be the number of columns of the table (a CHECK). Rows of slice_raw,
 * counter_raw and study_raw go in by the batch and may hold no text (a CHECK). Returns how many
 * rows the table has now: its id, where the id column was given as null. */
int64_t store_row(struct store *store, enum store_table table, const struct store_value *values,
                  unsigned count);
/* Rows by the names of their columns, at most STORE_NAMES_MAX; one table at a time. */
enum {
    STORE_NAMES_MAX = 160
};
void store_insert_begin(struct store *store, const char *table, const char *const *columns,
                        unsigned count);
void store_insert_row(struct store *store, const struct store_value *values, unsigned count);
void store_insert_end(struct store *store);
/* The number of a name in the table `string`; a new one when it was not met before. */
int64_t store_string(struct store *store, const char *text);
uint64_t store_row_count(const struct store *store);
/* What was written so far outlives a kill: it stays in the partial file, which says complete = 0.
 */
void store_commit(struct store *store);
/* Ends without finishing: commits, leaves the partial file under its name, and frees. */
enum store_outcome store_leave(struct store *store, struct error *error);
/* Ends and leaves nothing, unless it was resumed: then what was there stays. NULL is allowed. */
void store_discard(struct store *store);
/* Takes back the rows of a table where a column has this value. */
void store_delete(struct store *store, enum store_table table, const char *column, int64_t value);
/* Has a row failed? Long writers ask now and then and stop early. */
bool store_good(const struct store *store);
/* Marks complete, commits, syncs, renames and frees. When something failed, the partial file is
 * left (with what was there before the rows: schema, meta, complete = 0), STORE_LIMITED says that
 * max_bytes was reached, and `error` tells. */
enum store_outcome store_finish(struct store *store, struct error *error);

#endif
