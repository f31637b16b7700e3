/* The failures of a run as a trace that scenarios read (scenarios/schema/trace.h): exact, so that
 * the run that replays it is the same. */
#include <string.h>

#include "analysis/exchange/export/export.h"
#include "analysis/output/text/format.h"
#include "scenarios/schema/trace.h"

static const char header[] = "at,unit_kind,unit,cause,repair\r\n";

struct trace_writing {
    FILE *out;
    size_t bytes; /* so far */
};

/* Of the written row: quotes of CSV included. */
static size_t put_text(FILE *out, const char *text, unsigned bytes)
{
    export_csv_text(out, text, bytes);
    return export_csv_bytes(text, bytes);
}

static bool write_row(void *context, const struct query_row *row, struct error *error)
{
    struct trace_writing *w = context;
    unsigned bytes = 0;
    if (query_type(row, 0) != QUERY_REAL || query_type(row, 4) != QUERY_REAL)
        return error_set(error, "a failure without its time");
    int plain = fprintf(w->out, "%.17gs,", query_real(row, 0));
    const char *unit = query_text(row, 1, &bytes);
    w->bytes += put_text(w->out, unit, bytes);
    plain += fprintf(w->out, ",%lld,", (long long)query_integer(row, 2));
    const char *cause = query_text(row, 3, &bytes);
    w->bytes += put_text(w->out, cause, bytes);
    plain += fprintf(w->out, ",%.17gs\r\n", query_real(row, 4));
    w->bytes += plain > 0 ? (size_t)plain : 0;
    return w->bytes <= TRACE_BYTES_MAX ||
           error_set(error,
                     "the failures take more than %d MiB, and a trace holds no more: make "
                     "run.duration shorter",
                     TRACE_BYTES_MAX >> 20);
}

/* What trace_read would not take of the rows, told before one is written. */
static bool refuse_unreadable(void *context, const struct query_row *row, struct error *error)
{
    (void)context;
    if (query_real(row, 0) > TRACE_ROWS_MAX) {
        return error_set(error,
                         "%.0f failures, and a trace holds at most %d: make run.duration shorter",
                         query_real(row, 0), TRACE_ROWS_MAX);
    }
    if (query_real(row, 1) > TRACE_TIME_MAX_S)
        return error_set(error, "a failure after 100y, and a trace ends there");
    if (query_real(row, 2) > TRACE_TIME_MAX_S)
        return error_set(error, "a repair takes more than 100y, and no row of a trace holds that");
    if (query_real(row, 3) > TRACE_CAUSE_MAX) {
        return error_set(error,
                         "the name of a cause is longer than %d bytes, and no row of a trace "
                         "holds that: shorten it",
                         TRACE_CAUSE_MAX);
    }
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

static bool refuse_drawn(void *context, const struct query_row *row, struct error *error)
{
    unsigned bytes;
    (void)context;
    const struct shown cause = format_shown(query_text(row, 0, &bytes));
    return error_set(error,
                     "`%s` is drawn for each failure of '%s', and no row of a trace holds it, so "
                     "that no trace gives this run again: run it with `law: fixed`",
                     format_shown(query_text(row, 1, &bytes)).s, cause.s);
}

/* CSV has no escapes, and its readers take no such byte. */
static bool refuse_control(void *context, const struct query_row *row, struct error *error)
{
    unsigned bytes;
    (void)context;
    return error_set(error,
                     "the name of the cause '%s' has a control character, and no trace holds one: "
                     "name it in plain text",
                     format_shown(query_text(row, 0, &bytes)).s);
}

/* In the order in which they are asked for. */
static const struct {
    const char *sql;
    bool (*refuse)(void *context, const struct query_row *row, struct error *error);
} refusals[] = {
    {"select name, hit_ratio from failure_cause c where hit_ratio < 1 and exists "
     "(select 1 from failure f where f.cause = c.name) order by id",
     refuse_partial},
    {"select name, drawn from failure_cause c where drawn <> '' and exists "
     "(select 1 from failure f where f.cause = c.name) order by id",
     refuse_drawn},
    {"select name from failure_cause c where name glob '*[' || char(1) || '-' || char(31) || "
     "char(127) || ']*' and exists (select 1 from failure f where f.cause = c.name) order by id",
     refuse_control},
    {"select max(failures, (select count(*) from failure)), (select max(exposed_s) from failure), "
     "(select max(repair_s) from failure), "
     "(select max(length(cast(cause as blob))) from failure) from run",
     refuse_unreadable},
};

/* How items are set apart, and the file of their trace. */
struct item_writing {
    FILE *out;
    const char *before, *file, *after;
};

static bool write_item(void *context, const struct query_row *row, struct error *error)
{
    const struct item_writing *w = context;
    unsigned bytes;
    (void)error;
    const char *name = query_text(row, 0, &bytes);
    fprintf(w->out, "%s{cause: ", w->before);
    format_quoted(w->out, name);
    fprintf(w->out, ", law: trace, trace: %s, rows: ", w->file);
    format_quoted(w->out, name);
    fprintf(w->out, "%s}%s", query_text(row, 1, &bytes), w->after);
    return true;
}

static bool write_items(struct query *query, struct item_writing *w, struct error *error)
{
    return query_run(query,
                     "select name, beside from failure_cause c where exists (select 1 from failure "
                     "f where f.cause = c.name) order by id",
                     NULL, write_item, w, error);
}

bool export_trace_beside(struct query *query, FILE *out, struct error *error)
{
    struct item_writing w = {out, "  - ", "FILE", "\n"};
    bool some = false;
    if (!query_run(query, "select 1 from failure_cause where beside <> '' limit 1", NULL,
                   mark_weeks, &some, error) ||
        !some)
        return !some;
    fputs("note: a row holds no more than time, unit and repair; replay with\nfailures:\n", out);
    return write_items(query, &w, error);
}

bool export_trace_items(struct query *query, const char *file, FILE *out, struct error *error)
{
    struct item_writing w = {out, "", file, ", "};
    return write_items(query, &w, error);
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
    for (unsigned i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (!query_run(query, refusals[i].sql, NULL, refusals[i].refuse, NULL, error))
            return false;
    struct trace_writing writing = {out, sizeof header - 1};
    fputs(header, out);
    return query_run(query,
                     "select exposed_s, unit, unit_id, cause, repair_s from failure order by id",
                     NULL, write_row, &writing, error);
}
