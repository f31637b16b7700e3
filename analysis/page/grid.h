/* grid.h - what a statement answers, as JSON: {"columns":["a","b"],"rows":[[1,"x"],...]}.
 *
 * A statement that answers nothing has no columns. It is bounded: a file that holds more rows or
 * longer texts than any run writes is refused in words, not sent. */
#ifndef ORRERY_ANALYSIS_PAGE_GRID_H
#define ORRERY_ANALYSIS_PAGE_GRID_H

#include <stdio.h>

#include "analysis/record/database/query.h"

/* `sql` is a literal of ours; `values` as in query_run. */
bool grid_write(struct query *query, const char *sql, const struct query_values *values, FILE *out,
                struct error *error);
/* Rows of (count, value), each telling how many in a row hold the same value: for long columns that
 * seldom change. `sql` answers one column. */
bool grid_write_runs(struct query *query, const char *sql, FILE *out, struct error *error);

#endif
