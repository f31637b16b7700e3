/* Invariants:
 * 1. Exactly one transaction is open between store_open and store_finish; the schema, the row
 *    meta.complete = 0 and what store_commit was called for were committed before it.
 * 2. `lock_fd` holds an exclusive flock on the partial file, so two writers never share one.
 * 3. After the first failure `failed` is set, `error` holds its sentence, and no row is written.
 * 4. Rows of a batch wait in memory until it is full or the store is finished. Ids given by the
 *    database count from 1 in the order of rows, so rows[table] is the id of the last row.
 *
 * The rollback journal stays on: the tables only grow, so it holds a few pages and costs nothing
 * measurable, and a process killed half way leaves a file that SQLite rolls back to the state of 1.
 * Syncing is off while rows go in and done once before the rename. */
#include "analysis/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "analysis/schema_sql.h"
#include "analysis/string_table.h"
#include "sim/check.h"
#include "sim/memory.h"

enum {
    PAGE_BYTES = 8192,
    ROOM_PAGES = 64,
    SQL_BYTES = 4096,
    PATH_BYTES = 4096,
    COLUMN_MAX = 64,
    BATCH_COLUMNS = 11,
    BATCH_ROWS = 96, /* by measurement: twice the rows a second of one by one */
    MAGIC_BYTES = 72
};
static const int64_t application_id = 1330795097; /* "ORRY", as schema.sql sets it */

static const char *const table_names[STORE_TABLE_COUNT] = {
#define X(name) #name,
    STORE_TABLES
#undef X
};

/* Rows of one table that wait to go in by one statement. */
struct batch {
    enum store_table table;
    sqlite3_stmt *insert; /* of BATCH_ROWS rows */
    unsigned columns, count;
    struct store_value values[BATCH_ROWS * BATCH_COLUMNS];
};
enum {
    BATCHES = 3
};

struct store {
    sqlite3 *database;
    sqlite3_stmt *insert[STORE_TABLE_COUNT];
    int64_t rows[STORE_TABLE_COUNT];
    struct batch batches[BATCHES];
    struct string_table *strings;
    int lock_fd;
    bool failed, limited;
    int64_t max_pages; /* 0: no limit */
    uint64_t row_count;
    struct error error;
    char path[PATH_BYTES], partial[PATH_BYTES];
};

/* SQLITE_FULL means a full disk, or max_page_count. By now the transaction may have been rolled
 * back, so the file's size no longer tells: a disk with room left does. */
static bool at_limit(const struct store *store)
{
    struct statvfs space;
    return store->max_pages > 0 && fstatvfs(store->lock_fd, &space) == 0 &&
           (double)space.f_bavail * (double)space.f_frsize > ROOM_PAGES * PAGE_BYTES;
}

static bool fail(struct store *store, const char *what)
{
    if (!store->failed) {
        int code = sqlite3_extended_errcode(store->database);
        store->failed = true;
        error_set(&store->error, "%s: %s: %s", store->partial, what,
                  sqlite3_errmsg(store->database));
        if ((code & 0xff) == SQLITE_FULL && at_limit(store)) {
            store->limited = true;
            error_set(&store->error, "%s: --max-db was reached", store->partial);
        }
    }
    return false;
}

static bool execute(struct store *store, const char *sql, const char *what)
{
    return sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK || fail(store, what);
}

/* May the file at `path` be replaced? Yes when there is none, or when it is one of ours. */
static bool may_replace(const char *path, struct error *error)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return errno == ENOENT || error_set(error, "%s: %s", path, strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return error_set(error, "%s is not a regular file; name another with --db", path);
    }
    unsigned char head[MAGIC_BYTES] = {0};
    FILE *file = fopen(path, "rb");
    size_t got = file != NULL ? fread(head, 1, sizeof head, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    int64_t id = (int64_t)head[68] << 24 | head[69] << 16 | head[70] << 8 | head[71];
    if (got != sizeof head || memcmp(head, "SQLite format 3", 16) != 0 || id != application_id) {
        return error_set(error,
                         "%s exists and is not a results database of Orrery: not replaced; "
                         "name another with --db",
                         path);
    }
    return true;
}

/* Takes the partial file for this process and empties it. */
static bool claim_partial(struct store *store, struct error *error)
{
    char journal[PATH_BYTES + 16];
    snprintf(journal, sizeof journal, "%s-journal", store->partial);
    store->lock_fd = open(store->partial, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (store->lock_fd < 0) {
        return error_set(error, "cannot write %s: %s", store->partial, strerror(errno));
    }
    if (flock(store->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        return error_set(error, "%s is being written by another orrery; name another with --db",
                         store->partial);
    }
    if (unlink(journal) != 0 && errno != ENOENT) {
        return error_set(error, "cannot remove %s: %s", journal, strerror(errno));
    }
    return ftruncate(store->lock_fd, 0) == 0 ||
           error_set(error, "cannot empty %s: %s", store->partial, strerror(errno));
}

static bool configure(struct store *store, double max_bytes)
{
    char sql[512];
    double pages = max_bytes > 0.0 ? fmax(floor(max_bytes / PAGE_BYTES), 1.0) : 0.0;
    store->max_pages = pages < 4e9 ? (int64_t)pages : 0;
    snprintf(sql, sizeof sql,
             "pragma page_size = %d; pragma journal_mode = delete; pragma synchronous = off;"
             "pragma locking_mode = exclusive; pragma temp_store = memory;"
             "pragma cache_size = -16384; pragma max_page_count = %.0f;",
             PAGE_BYTES, store->max_pages > 0 ? pages : 4294967294.0);
    return execute(store, sql, "cannot configure");
}

static int count_columns(struct store *store, enum store_table table)
{
    char sql[128];
    sqlite3_stmt *columns;
    snprintf(sql, sizeof sql, "select count(*) from pragma_table_info('%s')", table_names[table]);
    if (sqlite3_prepare_v2(store->database, sql, -1, &columns, NULL) != SQLITE_OK) {
        fail(store, "cannot prepare");
        return 0;
    }
    bool good = sqlite3_step(columns) == SQLITE_ROW || fail(store, "cannot prepare");
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
    int used = snprintf(sql, sizeof sql, "insert into %s values ", table_names[table]);
    for (int i = 0; i < rows * columns; i++) {
        const char *opening = i % columns != 0 ? ",?" : i > 0 ? "),(?" : "(?";
        used += snprintf(sql + used, sizeof sql - (size_t)used, "%s", opening);
    }
    used += snprintf(sql + used, sizeof sql - (size_t)used, ")");
    CHECK(used < (int)sizeof sql);
    return (columns > 0 && sqlite3_prepare_v3(store->database, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                              out, NULL) == SQLITE_OK) ||
           fail(store, "cannot prepare");
}

static bool prepare_batch(struct store *store, struct batch *batch, enum store_table table)
{
    batch->table = table;
    batch->columns = (unsigned)count_columns(store, table);
    CHECK(batch->columns <= BATCH_COLUMNS);
    return prepare_insert(store, table, BATCH_ROWS, &batch->insert);
}

static bool write_schema(struct store *store)
{
    bool good = execute(store, "begin", "cannot begin") &&
                execute(store, schema_sql, "cannot write the schema") &&
                execute(store, "insert into meta values ('complete', '0')", "cannot write") &&
                execute(store, "commit; begin", "cannot write the schema");
    for (unsigned table = 0; good && table < STORE_TABLE_COUNT; table++) {
        good = prepare_insert(store, (enum store_table)table, 1, &store->insert[table]);
    }
    return good && prepare_batch(store, &store->batches[0], STORE_slice_raw) &&
           prepare_batch(store, &store->batches[1], STORE_counter_raw) &&
           prepare_batch(store, &store->batches[2], STORE_study_raw);
}

static void close_store(struct store *store)
{
    for (unsigned table = 0; table < STORE_TABLE_COUNT; table++) {
        sqlite3_finalize(store->insert[table]);
        store->insert[table] = NULL;
    }
    for (unsigned i = 0; i < BATCHES; i++) {
        sqlite3_finalize(store->batches[i].insert);
        store->batches[i].insert = NULL;
    }
    sqlite3_close(store->database);
    store->database = NULL;
}

static void free_store(struct store *store)
{
    close_store(store);
    string_table_destroy(store->strings);
    if (store->lock_fd >= 0) {
        close(store->lock_fd);
    }
    free(store);
}

/* A file that could not even take the schema holds nothing: it goes. */
static enum store_outcome give_up(struct store *store, struct error *error)
{
    enum store_outcome outcome = store->limited ? STORE_LIMITED : STORE_FAILED;
    bool ours = store->database != NULL;
    if (ours) {
        *error = store->error;
        close_store(store);
        unlink(store->partial);
    }
    free_store(store);
    return outcome;
}

enum store_outcome store_open(const char *path, double max_bytes, struct store **out,
                              struct error *error)
{
    if (strlen(path) + sizeof ".partial" > PATH_BYTES) {
        error_set(error, "the path of the database is too long");
        return STORE_FAILED;
    }
    if (!may_replace(path, error)) {
        return STORE_FAILED;
    }
    struct store *store = memory_take(sizeof *store);
    store->strings = string_table_create();
    snprintf(store->path, sizeof store->path, "%s", path);
    snprintf(store->partial, sizeof store->partial, "%.*s.partial", PATH_BYTES - 16, path);
    if (!claim_partial(store, error)) {
        return give_up(store, error);
    }
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(store->partial, &store->database, flags, NULL) != SQLITE_OK) {
        fail(store, "cannot open");
        return give_up(store, error);
    }
    if (!configure(store, max_bytes) || !write_schema(store)) {
        return give_up(store, error);
    }
    *out = store;
    return STORE_GOOD;
}

const char *store_sqlite_version(void)
{
    return sqlite3_libversion();
}

const char *store_partial_path(const struct store *store)
{
    return store->partial;
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
    for (unsigned i = 0; i < count; i++) {
        bind(insert, (int)i + 1, &values[i]);
    }
    if (sqlite3_step(insert) != SQLITE_DONE) {
        fail(store, "cannot write a row");
    }
    sqlite3_reset(insert);
}

static struct batch *batch_of(struct store *store, enum store_table table)
{
    for (unsigned i = 0; i < BATCHES; i++) {
        if (store->batches[i].table == table) {
            return &store->batches[i];
        }
    }
    return NULL;
}

static void add_to_batch(struct store *store, struct batch *batch, const struct store_value *values)
{
    struct store_value *row = batch->values + (size_t)batch->count * batch->columns;
    for (unsigned i = 0; i < batch->columns; i++) {
        CHECK(values[i].type != STORE_TEXT);
        row[i] = values[i];
    }
    if (++batch->count == BATCH_ROWS) {
        insert_values(store, batch->insert, batch->values, BATCH_ROWS * batch->columns);
        batch->count = 0;
    }
}

/* What is left of the batches, row by row. */
static void drain_batches(struct store *store)
{
    for (unsigned i = 0; i < BATCHES; i++) {
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
    if (store->failed) {
        return 0;
    }
    CHECK((unsigned)sqlite3_bind_parameter_count(store->insert[table]) == count);
    struct batch *batch = batch_of(store, table);
    if (batch != NULL) {
        add_to_batch(store, batch, values);
    } else {
        insert_values(store, store->insert[table], values, count);
    }
    store->row_count++;
    return ++store->rows[table];
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
    if (!store->failed) {
        execute(store, "commit; begin", "cannot commit");
    }
}

static bool sync_folder(const char *path)
{
    char folder[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
             slash != NULL ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    bool good = fsync(fd) == 0 || errno == EINVAL;
    close(fd);
    return good;
}

static bool publish(struct store *store)
{
    if (fsync(store->lock_fd) != 0 || rename(store->partial, store->path) != 0 ||
        !sync_folder(store->path)) {
        store->failed = true;
        return error_set(&store->error, "cannot finish %s: %s", store->path, strerror(errno));
    }
    return true;
}

static enum store_outcome end(struct store *store, struct error *error)
{
    enum store_outcome outcome = !store->failed   ? STORE_GOOD
                                 : store->limited ? STORE_LIMITED
                                                  : STORE_FAILED;
    if (store->failed) {
        *error = store->error;
    }
    free_store(store);
    return outcome;
}

enum store_outcome store_finish(struct store *store, struct error *error)
{
    drain_batches(store);
    if (!store->failed) {
        execute(store, "update meta set value = '1' where key = 'complete'", "cannot finish");
    }
    if (!store->failed) {
        execute(store, "commit", "cannot commit");
    }
    if (store->failed) {
        sqlite3_exec(store->database, "rollback", NULL, NULL, NULL);
    }
    close_store(store);
    if (!store->failed) {
        publish(store);
    }
    return end(store, error);
}

enum store_outcome store_leave(struct store *store, struct error *error)
{
    store_commit(store);
    close_store(store);
    return end(store, error);
}
