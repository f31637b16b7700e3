/* query.h - the results database, read: by exporters and reports, which know nothing else.
 *
 * The file is hostile until checked: it must carry Orrery's application_id and a version that this
 * build knows, and every table and view of the schema must read word for word as Orrery writes it
 * (a view that was changed could run for ever). It is opened read-only with a distrusted schema and
 * bounded lengths; a query stops after a bounded number of steps. Text may hold anything. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_QUERY_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/language/names.h"
#include "sim/error.h"

struct query;
/* Was its writer stopped before it wrote anything but the schema, if that? */
bool query_holds_nothing(const char *path);
/* By what stands in it: a regular file with SQLite's head; one that is called so (.db) is told as
 * one whatever it holds, or whether it is there. */
bool query_is_database(const char *path);
bool query_open(const char *path, struct query **out, struct error *error);
void query_close(struct query *query);          /* NULL is allowed */
bool query_complete(const struct query *query); /* meta.complete: the writer finished */
/* Is `name` a table or view of the schema? */
bool query_knows(const struct query *query, const char *name);
/* Every table and view, by name. For messages. */
struct name_list query_objects(const struct query *query);

/* One row of the running query. Text is valid until the next row; bytes may be no valid UTF-8. */
struct query_row;
enum query_type {
    QUERY_NULL,
    QUERY_INTEGER,
    QUERY_REAL,
    QUERY_TEXT
};
unsigned query_columns(const struct query_row *row);
const char *query_name(const struct query_row *row, unsigned column);
enum query_type query_type(const struct query_row *row, unsigned column);
int64_t query_integer(const struct query_row *row, unsigned column);
double query_real(const struct query_row *row, unsigned column);
const char *query_text(const struct query_row *row, unsigned column, unsigned *bytes);

/* Called for each row; false stops the query, which then counts as failed with the row's error. */
typedef bool query_row_fn(void *context, const struct query_row *row, struct error *error);
struct query_values { /* whole numbers bound to ?1, ?2, ... */
    const int64_t *values;
    unsigned count;
};
/* From now on a query that takes longer than so many seconds fails. 0: no such limit. */
void query_limit(struct query *query, double seconds);
/* Runs one statement; `values` may be NULL. */
bool query_run(struct query *query, const char *sql, const struct query_values *values,
               query_row_fn *each, void *context, struct error *error);
/* Every row of a table or view that query_knows; `head` is called once before them, also when there
 * is no row, with columns and names but no values. */
bool query_table(struct query *query, const char *name, query_row_fn *head, query_row_fn *each,
                 void *context, struct error *error);

#endif
