/* The failures of a run as a trace that scenarios read (scenarios/schema/trace.h): exact, so that
 * the run that replays it is the same. */
#include <string.h>

#include "analysis/exchange/export/export.h"

static bool write_row(void *context, const struct query_row *row, struct error *error)
{
    FILE *out = context;
    unsigned bytes = 0;
    if (query_type(row, 0) != QUERY_REAL || query_type(row, 4) != QUERY_REAL)
        return error_set(error, "a failure without its time");
    fprintf(out, "%.17gs,", query_real(row, 0));
    const char *unit = query_text(row, 1, &bytes);
    export_csv_text(out, unit, bytes);
    fprintf(out, ",%lld,", (long long)query_integer(row, 2));
    const char *cause = query_text(row, 3, &bytes);
    export_csv_text(out, cause, bytes);
    fprintf(out, ",%.17gs\r\n", query_real(row, 4));
    return true;
}

static bool mark_weeks(void *context, const struct query_row *row, struct error *error)
{
    (void)row;
    (void)error;
    *(bool *)context = true;
    return true;
}

bool export_trace(struct query *query, FILE *out, struct error *error)
{
    bool weeks = false;
    if (!query_run(query, "select 1 from run where kind = 'job'", NULL, mark_weeks, &weeks, error))
        return false;
    if (!weeks) {
        return error_set(error, "no weeks were played into this database, so nothing failed: give "
                                "the one of `orrery run` of a scenario with `run:`");
    }
    fputs("at,unit_kind,unit,cause,repair\r\n", out);
    return query_run(query,
                     "select exposed_s, unit, unit_id, cause, repair_s from failure order by id",
                     NULL, write_row, out, error);
}
