#include "analysis/record/database/query.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/record/database/schema.h"
#include "scenarios/language/file.h"
#include "sim/check.h"
#include "sim/memory.h"
#include "sim/units.h"

enum {
    SCHEMA_VERSION = 21,
    TEXT_MAX_BYTES = 1 << 24,
    OBJECT_MAX = 96,
    BUSY_MS = 500, /* a commit takes milliseconds */
    STEPS_BETWEEN_CHECKS = 100000,
    CHECKS_MAX = 1000000 /* 1e11 steps: a million times more than a large export takes by row */
};
static const int64_t application_id = 1330795097; /* "ORRY" */

struct query {
    sqlite3 *database;
    bool complete;
    char *objects[OBJECT_MAX];
    unsigned object_count;
    unsigned checks;
    double limit_s, began_s; /* limit 0: none */
};
struct query_row {
    sqlite3_stmt *statement;
};

static bool needs_recovery(int code)
{
    return (code & 0xff) == SQLITE_READONLY || (code & 0xff) == SQLITE_CANTOPEN;
}

static bool broken(struct query *query, const char *path, struct error *error)
{
    int code = sqlite3_extended_errcode(query->database);
    if (needs_recovery(code)) {
        return error_set(error,
                         "%s: its writer was stopped half way, and neither it nor its folder can "
                         "be written to roll it back; copy it with %s-journal or %s-wal to where "
                         "you may write",
                         path, path, path);
    }
    if ((code & 0xff) == SQLITE_BUSY) {
        return error_set(error, "%s is being written; it can be read when its writer has ended",
                         path);
    }
    return error_set(error, "%s: %s", path, sqlite3_errmsg(query->database));
}

static bool read_number(struct query *query, const char *sql, int64_t *out)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(query->database, sql, -1, &statement, NULL) != SQLITE_OK)
        return false;
    bool good = sqlite3_step(statement) == SQLITE_ROW;
    *out = good ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return good;
}

static bool check_identity(struct query *query, const char *path, struct error *error)
{
    int64_t id, version;
    if (!read_number(query, "pragma application_id", &id) ||
        !read_number(query, "pragma user_version", &version))
        return broken(query, path, error);
    if (id != application_id)
        return error_set(error, "%s is not a results database of Orrery", path);
    if (version != SCHEMA_VERSION) {
        return error_set(error,
                         "%s has version %lld of the schema; this orrery reads version %d: "
                         "run the scenario again to write it anew",
                         path, (long long)version, SCHEMA_VERSION);
    }
    return true;
}

static void harden(sqlite3 *database)
{
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, TEXT_MAX_BYTES);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_exec(database, "pragma cell_size_check = on; pragma mmap_size = 0", NULL, NULL, NULL);
}

/* Was the object of this name in the file made by this statement? */
static bool same_object(struct query *query, const char *name, const unsigned char *sql)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(query->database, "select sql from sqlite_schema where name = ?1", -1,
                           &statement, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    bool same = sqlite3_step(statement) == SQLITE_ROW;
    const unsigned char *theirs = same ? sqlite3_column_text(statement, 0) : NULL;
    same = same && theirs != NULL && strcmp((const char *)theirs, (const char *)sql) == 0 &&
           sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
    return same;
}

static bool open_with(struct query *query, const char *path, int flags)
{
    sqlite3_close(query->database);
    query->database = NULL;
    bool good =
        sqlite3_open_v2(path, &query->database, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                        NULL) == SQLITE_OK;
    if (good) {
        harden(query->database);
        sqlite3_busy_timeout(query->database, BUSY_MS);
    }
    return good;
}

/* Read-only; where a writer was stopped in a commit, once for writing, so that SQLite rolls it
 * back. False when the file cannot be opened; what else is wrong shows when it is read. */
static bool open_recovered(struct query *query, const char *path)
{
    int64_t version;
    if (!open_with(query, path, SQLITE_OPEN_READONLY))
        return false;
    if (read_number(query, "pragma user_version", &version) ||
        !needs_recovery(sqlite3_extended_errcode(query->database)))
        return true;
    if (open_with(query, path, SQLITE_OPEN_READWRITE))
        read_number(query, "pragma user_version", &version);
    return open_with(query, path, SQLITE_OPEN_READONLY);
}

static char *copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(memory_take(bytes), text, bytes);
}

/* Compares every object with the one that schema.sql makes in an empty database. */
static bool check_schema(struct query *query, const char *path, struct error *error)
{
    sqlite3 *model;
    sqlite3_stmt *objects;
    char *schema = schema_text();
    if (sqlite3_open(":memory:", &model) != SQLITE_OK ||
        sqlite3_exec(model, schema, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(model,
                           "select name, sql from sqlite_schema where sql is not null order by 1",
                           -1, &objects, NULL) != SQLITE_OK)
        memory_refused(0); /* nothing else can be wrong with a database in memory */
    free(schema);
    bool good = true;
    while (good && sqlite3_step(objects) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(objects, 0);
        good = same_object(query, name, sqlite3_column_text(objects, 1)) ||
               error_set(error, "%s: '%s' is missing or is not as Orrery wrote it", path, name);
        CHECK(query->object_count < OBJECT_MAX);
        query->objects[query->object_count++] = copy_text(name);
    }
    sqlite3_finalize(objects);
    sqlite3_close(model);
    return good;
}

bool query_is_database(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    struct stat facts;
    const char *dot = strrchr(path, '.');
    if (dot != NULL && strcmp(dot, ".db") == 0)
        return true;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) /* a pipe is read once */
        return false;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    const size_t bytes = fread(head, 1, sizeof head, file);
    fclose(file);
    return bytes == sizeof head && memcmp(head, magic, sizeof magic) == 0;
}

bool query_holds_nothing(const char *path)
{
    static const char *const asked[] = {"select count(*) from sqlite_schema",
                                        "select count(*) from meta where key <> 'complete'"};
    struct query query = {.database = NULL};
    bool nothing = false;
    if (open_recovered(&query, path))
        for (unsigned i = 0; i < sizeof asked / sizeof asked[0] && !nothing; i++) {
            int64_t rows = 1;
            nothing = read_number(&query, asked[i], &rows) && rows == 0;
        }
    sqlite3_close(query.database);
    return nothing;
}

bool query_open(const char *path, struct query **out, struct error *error)
{
    struct stat facts;
    if (stat(path, &facts) != 0 || access(path, R_OK) != 0)
        return file_unreadable(error, "cannot read ", path);
    if (!S_ISREG(facts.st_mode)) /* a pipe would be waited for */
        return error_set(error, "%s is not a regular file", path);
    struct query *query = memory_take(sizeof *query);
    bool good = open_recovered(query, path) || broken(query, path, error);
    good = good && check_identity(query, path, error) && check_schema(query, path, error);
    if (!good) {
        query_close(query);
        return false;
    }
    int64_t complete = 0;
    read_number(query, "select value = '1' from meta where key = 'complete'", &complete);
    query->complete = complete == 1;
    *out = query;
    return true;
}

void query_close(struct query *query)
{
    if (query == NULL)
        return;
    for (unsigned i = 0; i < query->object_count; i++)
        free(query->objects[i]);
    sqlite3_close(query->database);
    free(query);
}

bool query_complete(const struct query *query)
{
    return query->complete;
}

struct name_list query_objects(const struct query *query)
{
    return (struct name_list){(const char *const *)query->objects, query->object_count};
}

bool query_knows(const struct query *query, const char *name)
{
    for (unsigned i = 0; i < query->object_count; i++)
        if (strcmp(query->objects[i], name) == 0)
            return true;
    return false;
}

unsigned query_columns(const struct query_row *row)
{
    return (unsigned)sqlite3_column_count(row->statement);
}

const char *query_name(const struct query_row *row, unsigned column)
{
    return sqlite3_column_name(row->statement, (int)column);
}

enum query_type query_type(const struct query_row *row, unsigned column)
{
    switch ((int)sqlite3_column_type(row->statement, (int)column)) {
    case SQLITE_INTEGER:
        return QUERY_INTEGER;
    case SQLITE_FLOAT:
        return QUERY_REAL;
    case SQLITE_NULL:
        return QUERY_NULL;
    default:
        return QUERY_TEXT;
    }
}

int64_t query_integer(const struct query_row *row, unsigned column)
{
    return sqlite3_column_int64(row->statement, (int)column);
}

double query_real(const struct query_row *row, unsigned column)
{
    return sqlite3_column_double(row->statement, (int)column);
}

const char *query_text(const struct query_row *row, unsigned column, unsigned *bytes)
{
    const unsigned char *text = sqlite3_column_text(row->statement, (int)column);
    *bytes = (unsigned)sqlite3_column_bytes(row->statement, (int)column);
    return text != NULL ? (const char *)text : "";
}

static double wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * NANOSECOND;
}

static int count_steps(void *context)
{
    struct query *query = context;
    return ++query->checks > CHECKS_MAX ||
           (query->limit_s > 0.0 && wall_s() - query->began_s > query->limit_s);
}

void query_limit(struct query *query, double seconds)
{
    query->limit_s = seconds;
}

static bool run(struct query *query, struct query_row *row, query_row_fn *each, void *context,
                struct error *error)
{
    query->checks = 0;
    query->began_s = query->limit_s > 0.0 ? wall_s() : 0.0;
    sqlite3_progress_handler(query->database, STEPS_BETWEEN_CHECKS, count_steps, query);
    int code = SQLITE_DONE;
    bool good = true;
    while (good && (code = sqlite3_step(row->statement)) == SQLITE_ROW)
        good = each(context, row, error);
    if (good && code != SQLITE_DONE) {
        good = error_set(error, "the database cannot be read: %s",
                         code == SQLITE_INTERRUPT ? "the query takes too long"
                                                  : sqlite3_errmsg(query->database));
    }
    sqlite3_finalize(row->statement);
    return good;
}

static bool prepare(struct query *query, const char *sql, struct query_row *row,
                    struct error *error)
{
    return sqlite3_prepare_v2(query->database, sql, -1, &row->statement, NULL) == SQLITE_OK ||
           error_set(error, "the database cannot answer: %s", sqlite3_errmsg(query->database));
}

bool query_run(struct query *query, const char *sql, const struct query_values *values,
               query_row_fn *each, void *context, struct error *error)
{
    struct query_row row;
    if (!prepare(query, sql, &row, error))
        return false;
    for (unsigned i = 0; values != NULL && i < values->count; i++)
        sqlite3_bind_int64(row.statement, (int)i + 1, values->values[i]);
    return run(query, &row, each, context, error);
}

bool query_table(struct query *query, const char *name, query_row_fn *head, query_row_fn *each,
                 void *context, struct error *error)
{
    CHECK(query_knows(query, name));
    char sql[128];
    snprintf(sql, sizeof sql, "select * from \"%s\"", name);
    struct query_row row;
    if (!prepare(query, sql, &row, error))
        return false;
    if (!head(context, &row, error)) {
        sqlite3_finalize(row.statement);
        return false;
    }
    return run(query, &row, each, context, error);
}
