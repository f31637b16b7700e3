/* The failures of a run as a trace that scenarios read (scenarios/schema/trace.h): exact, so that
 * the run that replays it is the same. */
#include <string.h>

#include "analysis/exchange/export/export.h"
#include "analysis/output/text/format.h"

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

static bool refuse_partial(void *context, const struct query_row *row, struct error *error)
{
    unsigned bytes;
    (void)context;
    return error_set(error,
                     "a shock of '%s' strikes each node of its domain with probability %g, and a "
                     "row of a trace strikes them all, so that no trace gives this run again: run "
                     "it with `hit: 1`, or with a law of `unit: node`",
                     format_shown(query_text(row, 0, &bytes)).s, query_real(row, 1));
}

static void write_name(FILE *out, const char *name)
{
    const struct shown shown = format_shown(name);
    fputc('"', out);
    for (const char *at = shown.s; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            fputc('\\', out);
        fputc(*at, out);
    }
    fputc('"', out);
}

static bool write_item(void *context, const struct query_row *row, struct error *error)
{
    FILE *out = context;
    unsigned bytes;
    (void)error;
    const char *name = query_text(row, 0, &bytes);
    fputs("  - {cause: ", out);
    write_name(out, name);
    fputs(", law: trace, trace: FILE, rows: ", out);
    write_name(out, name);
    fprintf(out, "%s}\n", query_text(row, 1, &bytes));
    return true;
}

bool export_trace_beside(struct query *query, FILE *out, struct error *error)
{
    bool some = false;
    if (!query_run(query, "select 1 from failure_cause where beside <> '' limit 1", NULL,
                   mark_weeks, &some, error) ||
        !some)
        return !some;
    fputs("note: a row holds no more than time, unit and repair; replay with\nfailures:\n", out);
    return query_run(query,
                     "select name, beside from failure_cause c where exists (select 1 from failure "
                     "f where f.cause = c.name) order by id",
                     NULL, write_item, out, error);
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
    if (!query_run(query,
                   "select name, hit_ratio from failure_cause c where hit_ratio < 1 and exists "
                   "(select 1 from failure f where f.cause = c.name) order by id",
                   NULL, refuse_partial, NULL, error))
        return false;
    fputs("at,unit_kind,unit,cause,repair\r\n", out);
    return query_run(query,
                     "select exposed_s, unit, unit_id, cause, repair_s from failure order by id",
                     NULL, write_row, out, error);
}
