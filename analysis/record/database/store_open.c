/* How a store begins, alone or shared, anew or where another was stopped. The invariants stand in
 * store.c. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/database/query.h"
#include "analysis/record/database/schema.h"
#include "analysis/record/database/store_state.h"
#include "sim/check.h"
#include "sim/memory.h"

enum {
    SQL_BYTES = 4096,
    COLUMN_MAX = 64,
    BUSY_MS = 10000 /* a reader's checkpoint, or a stranger who writes */
};

static bool configure(struct store *store, double max_bytes)
{
    char sql[512];
    double pages = max_bytes > 0.0 ? fmax(floor(max_bytes / STORE_PAGE_BYTES), 1.0) : 0.0;
    store->max_pages = pages < 4e9 ? (int64_t)pages : 0;
    snprintf(sql, sizeof sql,
             "pragma page_size = %d; pragma journal_mode = %s; pragma synchronous = off;"
             "pragma locking_mode = %s; pragma temp_store = memory;"
             "pragma cache_size = -16384; pragma max_page_count = %.0f;",
             STORE_PAGE_BYTES, store->shared ? "wal" : "delete",
             store->shared ? "normal" : "exclusive", store->max_pages > 0 ? pages : 4294967294.0);
    sqlite3_busy_timeout(store->database, store->shared ? BUSY_MS : 0);
    return store_execute(store, sql, "cannot configure");
}

static int count_columns(struct store *store, enum store_table table)
{
    char sql[128];
    sqlite3_stmt *columns;
    snprintf(sql, sizeof sql, "select count(*) from pragma_table_info('%s')",
             store_table_names[table]);
    if (sqlite3_prepare_v2(store->database, sql, -1, &columns, NULL) != SQLITE_OK) {
        store_fail(store, "cannot prepare");
        return 0;
    }
    bool good = sqlite3_step(columns) == SQLITE_ROW || store_fail(store, "cannot prepare");
    int count = good ? sqlite3_column_int(columns, 0) : 0;
    sqlite3_finalize(columns);
    CHECK(!good || (count > 0 && count <= COLUMN_MAX));
    return count;
}

/* "insert into TABLE values (?, ?), (?, ?), ..." */
static bool prepare_insert(struct store *store, enum store_table table, int rows,
                           sqlite3_stmt **out)
{
    char sql[SQL_BYTES];
    int columns = count_columns(store, table);
    int used = snprintf(sql, sizeof sql, "insert into %s values ", store_table_names[table]);
    for (int i = 0; i < rows * columns; i++) {
        const char *opening = i % columns != 0 ? ",?" : i > 0 ? "),(?" : "(?";
        used += snprintf(sql + used, sizeof sql - (size_t)used, "%s", opening);
    }
    used += snprintf(sql + used, sizeof sql - (size_t)used, ")");
    CHECK(used < (int)sizeof sql);
    return (columns > 0 && sqlite3_prepare_v3(store->database, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                              out, NULL) == SQLITE_OK) ||
           store_fail(store, "cannot prepare");
}

static bool prepare_batch(struct store *store, struct batch *batch, enum store_table table)
{
    batch->table = table;
    batch->columns = (unsigned)count_columns(store, table);
    CHECK(batch->columns <= STORE_BATCH_COLUMNS);
    return prepare_insert(store, table, STORE_BATCH_ROWS, &batch->insert);
}

static bool write_schema(struct store *store)
{
    char *schema = schema_text();
    bool good = store_execute(store, "begin", "cannot begin") &&
                store_execute(store, schema, "cannot write the schema") &&
                store_execute(store, "insert into meta values ('complete', '0')", "cannot write") &&
                store_execute(store, "commit; begin", "cannot write the schema");
    free(schema);
    return good;
}

static bool prepare_all(struct store *store)
{
    bool good = true;
    for (unsigned table = 0; good && table < STORE_TABLE_COUNT; table++)
        good = prepare_insert(store, (enum store_table)table, 1, &store->insert[table]);
    return good && prepare_batch(store, &store->batches[0], STORE_slice_raw) &&
           prepare_batch(store, &store->batches[1], STORE_counter_raw) &&
           prepare_batch(store, &store->batches[2], STORE_study_raw);
}

/* A file that could not even take the schema holds nothing: it goes. */
static enum store_outcome give_up(struct store *store, struct error *error)
{
    enum store_outcome outcome = store->limited ? STORE_LIMITED : STORE_FAILED;
    *error = store->error;
    store_close(store);
    if (store->file.lock_fd >= 0 && !store->resumed)
        store_file_remove(&store->file);
    store_free(store);
    return outcome;
}

static bool open_database(struct store *store)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    return sqlite3_open_v2(store->file.partial, &store->database, flags, NULL) == SQLITE_OK ||
           store_fail(store, "cannot open");
}

static bool take_text(void *context, const struct query_row *row, struct error *error)
{
    unsigned bytes;
    (void)error;
    snprintf((char *)context, STORE_REPLACED_BYTES, "%.200s", query_text(row, 0, &bytes));
    return true;
}

/* What the file under the final name holds, for the note that it was replaced. */
static void describe_replaced(struct store *store)
{
    struct query *query;
    struct error ignored = {""};
    char name[STORE_REPLACED_BYTES] = "", kind[STORE_REPLACED_BYTES] = "";
    if (!store->file.replaces)
        return;
    snprintf(store->replaced, sizeof store->replaced, "results of another version");
    if (!query_open(store->file.path, &query, &ignored))
        return;
    query_run(query, "select value from meta where key = 'scenario'", NULL, take_text, name,
              &ignored);
    query_run(query,
              "select case when exists (select 1 from study) then 'study' "
              "when exists (select 1 from plan) then 'plan' "
              "when exists (select 1 from task_step) then 'play of traces' else 'run' end",
              NULL, take_text, kind, &ignored);
    query_close(query);
    snprintf(store->replaced, sizeof store->replaced, "a %.20s of '%.200s'", kind, name);
}

static struct store *create(bool shared)
{
    struct store *store = memory_take(sizeof *store);
    store->strings = string_table_create();
    store->shared = shared;
    return store;
}

static bool begin_anew(struct store *store, double max_bytes)
{
    if (!store_file_empty(&store->file, &store->error)) {
        store->failed = true;
        return false;
    }
    return open_database(store) && configure(store, max_bytes) && write_schema(store) &&
           prepare_all(store);
}

static enum store_outcome hand_out(struct store *store, bool good, struct store **out,
                                   struct error *error)
{
    if (!good)
        return give_up(store, error);
    *out = store;
    return STORE_GOOD;
}

enum store_outcome store_open(const char *path, double max_bytes, struct store **out,
                              struct error *error)
{
    struct store *store = create(false);
    bool good = store_file_claim(&store->file, path, &store->error);
    describe_replaced(store);
    return hand_out(store, good && begin_anew(store, max_bytes), out, error);
}

/* The number of a statement's only row; -1 when it has none. */
static int64_t ask(struct store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t answer = -1;
    if (sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return answer;
}

static bool recall_strings(struct store *store)
{
    sqlite3_stmt *rows;
    bool good = sqlite3_prepare_v2(store->database, "select id, text from string order by id", -1,
                                   &rows, NULL) == SQLITE_OK;
    while (good && sqlite3_step(rows) == SQLITE_ROW) {
        bool added;
        const char *text = (const char *)sqlite3_column_text(rows, 1);
        good = text != NULL &&
               string_table_number(store->strings, text, &added) == sqlite3_column_int64(rows, 0);
    }
    good = sqlite3_finalize(rows) == SQLITE_OK && good;
    return good || store_fail(store, "its names are damaged");
}

static bool recall_rows(struct store *store)
{
    for (unsigned table = 0; table < STORE_TABLE_COUNT; table++) {
        char sql[128];
        snprintf(sql, sizeof sql, "select coalesce(max(rowid), 0) from %s",
                 store_table_names[table]);
        store->rows[table] = ask(store, sql);
        snprintf(sql, sizeof sql, "select count(*) from %s", store_table_names[table]);
        if (store->rows[table] < 0) /* a table without rowid */
            store->rows[table] = ask(store, sql);
        if (store->rows[table] < 0)
            return store_fail(store, "cannot count");
    }
    return true;
}

/* Only what reads like our own is written to: a stranger's triggers would run. */
static bool trust(struct store *store)
{
    struct query *query;
    if (!query_open(store->file.partial, &query, &store->error)) {
        store->failed = true;
        return false;
    }
    query_close(query);
    return true;
}

/* Goes on where the writer before stopped. Opening for writing makes SQLite roll back, or recover
 * from its log, what that writer had not committed. */
static bool go_on(struct store *store, double max_bytes)
{
    return trust(store) && configure(store, max_bytes) &&
           store_execute(store, "update meta set value = '0' where key = 'complete'; begin",
                         "cannot begin") &&
           recall_strings(store) && recall_rows(store) && prepare_all(store);
}

static bool take_count(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    *(int64_t *)context = query_integer(row, 0);
    return true;
}

static int64_t count_dropped(const struct store *store)
{
    struct query *query;
    struct error ignored = {""};
    int64_t points = 0;
    if (query_open(store->file.partial, &query, &ignored)) {
        query_run(query,
                  "select (select count(*) from study_point) + (select count(*) from plan_layout)",
                  NULL, take_count, &points, &ignored);
        query_close(query);
    }
    return points;
}

enum store_outcome store_share(const char *path, double max_bytes, bool resume, struct store **out,
                               struct error *error)
{
    struct store *store = create(true);
    bool good = store_file_claim(&store->file, path, &store->error);
    describe_replaced(store);
    store->resumed = good && resume && store_file_bytes(&store->file) > 0.0;
    if (good && !resume && store_file_bytes(&store->file) > 0.0)
        store->dropped = count_dropped(store);
    if (store->resumed) {
        good = open_database(store);
        /* A writer that was stopped before the schema was committed left nothing to go on from. */
        store->resumed = !good || ask(store, "pragma user_version") != 0;
        if (!store->resumed)
            store_close(store);
    }
    if (store->resumed)
        return hand_out(store, good && go_on(store, max_bytes), out, error);
    return hand_out(store, good && begin_anew(store, max_bytes), out, error);
}

int64_t store_dropped(const struct store *store)
{
    return store->dropped;
}

bool store_resumed(const struct store *store)
{
    return store->resumed;
}

const char *store_replaced(const struct store *store)
{
    return store->replaced;
}
