/* store_state.h - the store's own state, for its two files: store_open.c begins and ends it,
 * store.c writes rows. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_STORE_STATE_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_STORE_STATE_H

#include "analysis/record/database/store.h"
#include "analysis/record/database/store_file.h"
#include "analysis/record/database/string_table.h"

struct sqlite3;
struct sqlite3_stmt;
enum {
    STORE_BATCHES = 3,
    STORE_BATCH_COLUMNS = 11,
    STORE_BATCH_ROWS = 96, /* by measurement: twice the rows a second of one by one */
    STORE_REPLACED_BYTES = 256
};
extern const char *const store_table_names[STORE_TABLE_COUNT];

/* Rows of one table that wait to go in by one statement. */
struct batch {
    enum store_table table;
    struct sqlite3_stmt *insert; /* of STORE_BATCH_ROWS rows */
    unsigned columns, count;
    struct store_value values[STORE_BATCH_ROWS * STORE_BATCH_COLUMNS];
};

struct store {
    struct sqlite3 *database;
    struct sqlite3_stmt *insert[STORE_TABLE_COUNT];
    int64_t rows[STORE_TABLE_COUNT];
    struct batch batches[STORE_BATCHES];
    struct sqlite3_stmt *named; /* between store_insert_begin and _end */
    struct string_table *strings;
    struct store_file file;
    bool shared, resumed, failed, limited;
    int64_t max_pages; /* 0: no limit */
    uint64_t row_count;
    int64_t dropped; /* points of an unfinished study */
    struct error error;
    char replaced[STORE_REPLACED_BYTES];
};

/* Invariant 3 of store.c: false always, with the sentence of SQLite kept. */
bool store_fail(struct store *store, const char *what);
bool store_execute(struct store *store, const char *sql, const char *what);
void store_close(struct store *store); /* the database; the file stays claimed */
void store_free(struct store *store);  /* closes it, ends the claim and frees */

#endif
