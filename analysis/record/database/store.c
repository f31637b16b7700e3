/* Invariants:
 * 1. Exactly one transaction is open between store_open and store_finish; the schema, the row
 *    meta.complete = 0 and what store_commit was called for were committed before it.
 * 2. `file` is claimed (store_file.c): two writers never share a partial file.
 * 3. After the first failure `failed` is set, `error` holds its sentence, and no row is written.
 * 4. Rows of a batch wait in memory until it is full or the store is finished. Ids given by the
 *    database count from 1 in the order of rows, so rows[table] is the id of the last row.
 *
 * Alone, the rollback journal stays on: the tables only grow, so it holds a few pages and costs
 * nothing measurable, and a process killed half way leaves a file that SQLite rolls back to the
 * state of 1. Shared, rows go to a write-ahead log, so that readers and the writer never wait for
 * each other, and the file is copied to its final name: who still reads the partial one does no
 * harm, and rows in the same order give the same bytes however often the writer was stopped.
 * Syncing is off while rows go in and done once before the rename. */
#include "analysis/record/database/store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "analysis/record/database/store_state.h"
#include "sim/check.h"

enum {
    ROOM_PAGES = 64,
    INSERT_BYTES = STORE_NAMES_MAX * 48
};

const char *const store_table_names[STORE_TABLE_COUNT] = {
#define X(name) #name,
    STORE_TABLES
#undef X
};

void store_close(struct store *store)
{
    for (unsigned table = 0; table < STORE_TABLE_COUNT; table++) {
        sqlite3_finalize(store->insert[table]);
        store->insert[table] = NULL;
    }
    for (unsigned i = 0; i < STORE_BATCHES; i++) {
        sqlite3_finalize(store->batches[i].insert);
        store->batches[i].insert = NULL;
    }
    store_insert_end(store);
    sqlite3_close(store->database);
    store->database = NULL;
}

void store_free(struct store *store)
{
    store_close(store);
    string_table_destroy(store->strings);
    store_file_release(&store->file);
    free(store);
}

/* SQLITE_FULL means a full disk, or max_page_count. By now the transaction may have been rolled
 * back, so the file's size no longer tells: a disk with room left does. */
static bool at_limit(const struct store *store)
{
    struct statvfs space;
    return store->max_pages > 0 && fstatvfs(store->file.lock_fd, &space) == 0 &&
           (double)space.f_bavail * (double)space.f_frsize > ROOM_PAGES * STORE_PAGE_BYTES;
}

bool store_fail(struct store *store, const char *what)
{
    if (!store->failed) {
        int code = sqlite3_extended_errcode(store->database);
        store->failed = true;
        error_set(&store->error, "%s: %s: %s", store->file.partial, what,
                  sqlite3_errmsg(store->database));
        if ((code & 0xff) == SQLITE_FULL && at_limit(store)) {
            store->limited = true;
            error_set(&store->error, "%s: --max-db was reached", store->file.partial);
        }
    }
    return false;
}

bool store_execute(struct store *store, const char *sql, const char *what)
{
    return sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK ||
           store_fail(store, what);
}

const char *store_sqlite_version(void)
{
    return sqlite3_libversion();
}

const char *store_partial_path(const struct store *store)
{
    return store->file.partial;
}

static int bind(sqlite3_stmt *statement, int column, const struct store_value *value)
{
    switch (value->type) {
    case STORE_INTEGER:
        return sqlite3_bind_int64(statement, column, value->as.integer);
    case STORE_REAL:
        return sqlite3_bind_double(statement, column, value->as.real);
    case STORE_TEXT:
        return sqlite3_bind_text(statement, column, value->as.text, -1, SQLITE_STATIC);
    case STORE_NULL:
        break;
    }
    return sqlite3_bind_null(statement, column);
}

static void insert_values(struct store *store, sqlite3_stmt *insert,
                          const struct store_value *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        bind(insert, (int)i + 1, &values[i]);
    if (sqlite3_step(insert) != SQLITE_DONE)
        store_fail(store, "cannot write a row");
    sqlite3_reset(insert);
}

static struct batch *batch_of(struct store *store, enum store_table table)
{
    for (unsigned i = 0; i < STORE_BATCHES; i++)
        if (store->batches[i].table == table)
            return &store->batches[i];
    return NULL;
}

static void add_to_batch(struct store *store, struct batch *batch, const struct store_value *values)
{
    struct store_value *row = batch->values + (size_t)batch->count * batch->columns;
    for (unsigned i = 0; i < batch->columns; i++) {
        CHECK(values[i].type != STORE_TEXT);
        row[i] = values[i];
    }
    if (++batch->count == STORE_BATCH_ROWS) {
        insert_values(store, batch->insert, batch->values, STORE_BATCH_ROWS * batch->columns);
        batch->count = 0;
    }
}

/* What is left of the batches, row by row. */
static void drain_batches(struct store *store)
{
    for (unsigned i = 0; i < STORE_BATCHES; i++) {
        struct batch *batch = &store->batches[i];
        for (unsigned r = 0; r < batch->count && !store->failed; r++) {
            insert_values(store, store->insert[batch->table],
                          batch->values + (size_t)r * batch->columns, batch->columns);
        }
        batch->count = 0;
    }
}

int64_t store_row(struct store *store, enum store_table table, const struct store_value *values,
                  unsigned count)
{
    if (store->failed)
        return 0;
    CHECK((unsigned)sqlite3_bind_parameter_count(store->insert[table]) == count);
    struct batch *batch = batch_of(store, table);
    if (batch != NULL)
        add_to_batch(store, batch, values);
    else
        insert_values(store, store->insert[table], values, count);
    store->row_count++;
    return ++store->rows[table];
}

/* insert into TABLE ("a", "b", ...) values (?, ?, ...) */
void store_insert_begin(struct store *store, const char *table, const char *const *columns,
                        unsigned count)
{
    char sql[INSERT_BYTES];
    int used = snprintf(sql, sizeof sql, "insert into %s", table);
    CHECK(store->named == NULL && count <= STORE_NAMES_MAX);
    for (unsigned i = 0; i < count && used < (int)sizeof sql; i++) {
        used += snprintf(sql + used, sizeof sql - (size_t)used, "%s\"%s\"", i > 0 ? ", " : " (",
                         columns[i]);
    }
    for (unsigned i = 0; i < count && used < (int)sizeof sql; i++)
        used += snprintf(sql + used, sizeof sql - (size_t)used, i > 0 ? ", ?" : ") values (?");
    CHECK(used + 1 < (int)sizeof sql);
    snprintf(sql + used, sizeof sql - (size_t)used, ")");
    if (!store->failed &&
        sqlite3_prepare_v2(store->database, sql, -1, &store->named, NULL) != SQLITE_OK)
        store_fail(store, "cannot prepare");
}

void store_insert_row(struct store *store, const struct store_value *values, unsigned count)
{
    if (store->failed)
        return;
    CHECK((unsigned)sqlite3_bind_parameter_count(store->named) == count);
    insert_values(store, store->named, values, count);
    store->row_count++;
}

void store_insert_end(struct store *store)
{
    sqlite3_finalize(store->named);
    store->named = NULL;
}

int64_t store_string(struct store *store, const char *text)
{
    bool added;
    int64_t id = string_table_number(store->strings, text, &added);
    if (added) {
        store_row(store, STORE_string, (struct store_value[]){store_integer(id), store_text(text)},
                  2);
    }
    return id;
}

uint64_t store_row_count(const struct store *store)
{
    return store->row_count;
}

bool store_good(const struct store *store)
{
    return !store->failed;
}

void store_commit(struct store *store)
{
    drain_batches(store);
    if (!store->failed)
        store_execute(store, "commit; begin", "cannot commit");
}

/* The copy is compact and in rollback mode; the partial file with its log stays until it is
 * published, and then goes. */
static bool copy_whole(struct store *store)
{
    char sql[STORE_PATH_MAX + 64];
    unlink(store->file.whole); /* of a writer that was stopped while it copied */
    sqlite3_snprintf(sizeof sql, sql, "vacuum into %Q", store->file.whole);
    return store_execute(store, sql, "cannot copy");
}

static void publish(struct store *store)
{
    const char *from = store->shared ? store->file.whole : store->file.partial;
    if (!store_file_publish(&store->file, from, &store->error))
        store->failed = true;
    else if (store->shared)
        store_file_remove(&store->file);
}

static enum store_outcome end(struct store *store, struct error *error)
{
    enum store_outcome outcome = !store->failed   ? STORE_GOOD
                                 : store->limited ? STORE_LIMITED
                                                  : STORE_FAILED;
    if (store->failed)
        *error = store->error;
    store_free(store);
    return outcome;
}

enum store_outcome store_finish(struct store *store, struct error *error)
{
    drain_batches(store);
    if (!store->failed)
        store_execute(store, "update meta set value = '1' where key = 'complete'", "cannot finish");
    if (!store->failed)
        store_execute(store, "commit", "cannot commit");
    if (store->failed)
        sqlite3_exec(store->database, "rollback", NULL, NULL, NULL);
    if (!store->failed && store->shared)
        copy_whole(store);
    store_close(store);
    if (!store->failed)
        publish(store);
    return end(store, error);
}

enum store_outcome store_leave(struct store *store, struct error *error)
{
    store_commit(store);
    store_close(store);
    return end(store, error);
}

void store_discard(struct store *store)
{
    if (store == NULL)
        return;
    store_close(store);
    if (!store->resumed)
        store_file_remove(&store->file);
    store_free(store);
}

void store_delete(struct store *store, enum store_table table, const char *column, int64_t value)
{
    char sql[128];
    snprintf(sql, sizeof sql, "delete from %s where %s = %lld", store_table_names[table], column,
             (long long)value);
    drain_batches(store);
    if (!store->failed)
        store_execute(store, sql, "cannot delete");
}
