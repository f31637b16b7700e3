/* Chrome trace events, JSON object format. Spans are complete events ("X") in order of track and
 * time, parents before children; times are microseconds with the nanoseconds as decimals. */
#include <math.h>

#include "analysis/exchange/export/export.h"
#include "analysis/output/text/utf8.h"

enum {
    NEST_MAX = 64,
    NS_PER_US = 1000
};

struct chrome {
    FILE *out;
    int64_t rank;  /* < 0: by class */
    bool first;    /* no event has been written yet */
    int64_t track; /* of the open spans */
    int64_t ends_ns[NEST_MAX];
    unsigned depth;
};

static void write_text(FILE *out, const struct query_row *row, unsigned column)
{
    unsigned bytes;
    const char *text = query_text(row, column, &bytes);
    utf8_write_json(out, text, bytes);
}

static void next_event(struct chrome *c)
{
    fputs(c->first ? "\n" : ",\n", c->out);
    c->first = false;
}

static void write_us(FILE *out, int64_t ns)
{
    fprintf(out, "%lld.%03d", (long long)(ns / NS_PER_US), (int)(ns % NS_PER_US));
}

/* Columns: 0 class id, 1 first rank, 2 ranks, 3 stage, 4 layers. */
static bool write_process(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct chrome *c = context;
    long long stage = query_integer(row, 3), ranks = query_integer(row, 2);
    next_event(c);
    fprintf(c->out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%lld,\"args\":{\"name\":\"",
            (long long)query_integer(row, 0));
    if (c->rank >= 0) {
        fprintf(c->out, "rank %lld, stage %lld", (long long)c->rank, stage);
    } else if (ranks == 1) {
        fprintf(c->out, "rank %lld, stage %lld", (long long)query_integer(row, 1), stage);
    } else {
        fprintf(c->out, "stage %lld: %lld ranks like rank %lld", stage, ranks,
                (long long)query_integer(row, 1));
    }
    fputs("\"}}", c->out);
    next_event(c);
    fprintf(c->out,
            "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%lld,\"args\":"
            "{\"sort_index\":%lld}}",
            (long long)query_integer(row, 0), stage);
    return true;
}

/* Columns: 0 class id, 1 track id, 2 name. */
static bool write_thread(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct chrome *c = context;
    long long pid = query_integer(row, 0), tid = query_integer(row, 1);
    next_event(c);
    fprintf(c->out,
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%lld,\"tid\":%lld,\"args\":{\"name\":",
            pid, tid);
    write_text(c->out, row, 2);
    fputs("}}", c->out);
    next_event(c);
    fprintf(c->out,
            "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%lld,\"tid\":%lld,\"args\":"
            "{\"sort_index\":%lld}}",
            pid, tid, tid);
    return true;
}

/* Spans of a track must nest: each lies within the innermost one that is still open. */
static bool nests(struct chrome *c, int64_t track, int64_t ts, int64_t dur, struct error *error)
{
    if (track != c->track) {
        c->track = track;
        c->depth = 0;
    }
    if (ts < 0 || dur < 0 || ts > INT64_MAX / 2 || dur > INT64_MAX / 2)
        return error_set(error, "track %lld has a span outside of time", (long long)track);
    while (c->depth > 0 && c->ends_ns[c->depth - 1] <= ts)
        c->depth--;
    if (c->depth > 0 && ts + dur > c->ends_ns[c->depth - 1]) {
        return error_set(error, "spans of track %lld overlap at %lld ns without nesting",
                         (long long)track, (long long)ts);
    }
    if (c->depth == NEST_MAX)
        return error_set(error, "spans of track %lld nest too deeply", (long long)track);
    c->ends_ns[c->depth++] = ts + dur;
    return true;
}

static void write_label(struct chrome *c, const struct query_row *row, unsigned column,
                        const char *name)
{
    if (query_type(row, column) != QUERY_NULL)
        fprintf(c->out, ",\"%s\":%lld", name, (long long)query_integer(row, column));
}

/* Columns: 0 class id, 1 track id, 2 ts, 3 dur, 4 wait, 5 name, 6 phase, 7 microbatch, 8 layer,
 * 9 chunk. */
static bool write_span(void *context, const struct query_row *row, struct error *error)
{
    struct chrome *c = context;
    int64_t ts = query_integer(row, 2), dur = query_integer(row, 3);
    if (!nests(c, query_integer(row, 1), ts, dur, error))
        return false;
    next_event(c);
    fputs("{\"ph\":\"X\",\"name\":", c->out);
    write_text(c->out, row, 5);
    fputs(",\"cat\":", c->out);
    write_text(c->out, row, 6);
    fprintf(c->out, ",\"pid\":%lld,\"tid\":%lld,\"ts\":", (long long)query_integer(row, 0),
            (long long)query_integer(row, 1));
    write_us(c->out, ts);
    fputs(",\"dur\":", c->out);
    write_us(c->out, dur);
    fprintf(c->out, ",\"args\":{\"wait_ns\":%lld", (long long)query_integer(row, 4));
    write_label(c, row, 7, "microbatch");
    write_label(c, row, 8, "layer");
    write_label(c, row, 9, "chunk");
    fputs("}}", c->out);
    return true;
}

/* Columns: 0 class id, 1 name, 2 ts, 3 value, 4 what it counts. */
static bool write_counter(void *context, const struct query_row *row, struct error *error)
{
    struct chrome *c = context;
    int64_t ts = query_integer(row, 2);
    if (ts < 0 || !isfinite(query_real(row, 3)))
        return error_set(error, "a curve holds what is no time or no number");
    next_event(c);
    fputs("{\"ph\":\"C\",\"name\":", c->out);
    write_text(c->out, row, 1);
    fprintf(c->out, ",\"pid\":%lld,\"ts\":", (long long)query_integer(row, 0));
    write_us(c->out, ts);
    fputs(",\"args\":{", c->out);
    write_text(c->out, row, 4);
    fprintf(c->out, ":%.0f}}", query_real(row, 3));
    return true;
}

/* Columns: 0 class id, 1 ts, 2 what is said. */
static bool write_note(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct chrome *c = context;
    next_event(c);
    fputs("{\"ph\":\"i\",\"s\":\"g\",\"cat\":\"note\",\"name\":", c->out);
    write_text(c->out, row, 2);
    fprintf(c->out, ",\"pid\":%lld,\"tid\":0,\"ts\":", (long long)query_integer(row, 0));
    write_us(c->out, query_integer(row, 1));
    fputc('}', c->out);
    return true;
}

static bool count_row(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    *(int64_t *)context = query_integer(row, 0);
    return true;
}

/* The classes to show, as a condition on c (rank_class): all, or that of one rank. */
#define CHOSEN "(?1 < 0 or c.id = (select rank_class from rank where run = c.run and rank = ?1))"

/* Execution traces: a process for each rank, a track for each of its lanes and groups, which carry
 * one thing at a time. Lanes come first: string.id below, groups above. */
#define TASK_TRACK "coalesce(s.lane, 1000000000 + s.task_group)"
#define TASK_RANK "(?1 < 0 or s.rank = ?1)"

/* Columns: 0 rank. */
static bool write_task_process(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct chrome *c = context;
    const long long rank = query_integer(row, 0);
    next_event(c);
    fprintf(
        c->out,
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%lld,\"args\":{\"name\":\"rank %lld\"}}",
        rank, rank);
    return true;
}

/* Columns: 0 rank, 1 track, 2 ts, 3 dur, 4 wait, 5 name, 6 node, 7 place of the rank's track. */
static bool write_task(void *context, const struct query_row *row, struct error *error)
{
    struct chrome *c = context;
    const int64_t ts = query_integer(row, 2), dur = query_integer(row, 3);
    if (!nests(c, query_integer(row, 7), ts, dur, error))
        return false;
    next_event(c);
    fputs("{\"ph\":\"X\",\"name\":", c->out);
    write_text(c->out, row, 5);
    fprintf(c->out, ",\"pid\":%lld,\"tid\":%lld,\"ts\":", (long long)query_integer(row, 0),
            (long long)query_integer(row, 1));
    write_us(c->out, ts);
    fputs(",\"dur\":", c->out);
    write_us(c->out, dur);
    fprintf(c->out, ",\"args\":{\"node\":%lld,\"wait_ns\":%lld}}", (long long)query_integer(row, 6),
            (long long)query_integer(row, 4));
    return true;
}

static bool export_tasks(struct query *query, struct chrome *c, struct error *error)
{
    const struct query_values rank = {&c->rank, 1};
    return query_run(query, "select s.rank from task_rank s where " TASK_RANK " order by s.rank",
                     &rank, write_task_process, c, error) &&
           query_run(query,
                     "select distinct s.rank, " TASK_TRACK ", coalesce(l.text, "
                     "case g.name when 'message' then 'message ' || g.first_rank || ' to ' || "
                     "g.last_rank else g.name end) from task_slice s "
                     "left join string l on l.id = s.lane "
                     "left join task_group g on g.id = s.task_group where " TASK_RANK
                     " order by 1, 2",
                     &rank, write_thread, c, error) &&
           query_run(query,
                     "select s.rank, " TASK_TRACK ", s.ts, s.dur, s.wait, n.text, s.node, "
                     "dense_rank() over (order by s.rank, " TASK_TRACK ") from task_slice s "
                     "join string n on n.id = s.name where " TASK_RANK
                     " order by 8, s.ts, s.dur desc, s.id",
                     &rank, write_task, c, error);
}

static bool export_run(struct query *query, struct chrome *c, struct error *error)
{
    const struct query_values rank = {&c->rank, 1};
    return query_run(query,
                     "select c.id, c.first_rank, c.rank_count, c.stage, c.layers from rank_class c "
                     "where " CHOSEN " order by c.id",
                     &rank, write_process, c, error) &&
           query_run(
               query,
               "select c.id, t.id, t.name from track t join rank_class c on c.id = t.rank_class "
               "where t.kind = 'stream' and " CHOSEN " order by t.id",
               &rank, write_thread, c, error) &&
           query_run(
               query,
               "select c.id, t.id, s.ts, s.dur, s.wait, n.text, p.text, s.microbatch, s.layer, "
               "s.chunk from slice_raw s join track t on t.id = s.track_id "
               "join rank_class c on c.id = t.rank_class join string n on n.id = s.name "
               "join string p on p.id = s.phase where " CHOSEN
               " order by t.id, s.ts, s.depth, s.dur desc, s.id",
               &rank, write_span, c, error) &&
           query_run(
               query,
               "select c.id, t.name, v.ts, v.value, "
               "case t.kind when 'wire' then 'bytes_per_s' when 'power' then 'W' else 'bytes' "
               "end "
               "from counter_raw v join track t on t.id = v.track_id join rank_class c on "
               "c.id = t.rank_class "
               "where " CHOSEN " order by t.id, v.ts, v.rowid",
               &rank, write_counter, c, error) &&
           query_run(query,
                     "select (select min(c.id) from rank_class c where " CHOSEN "), n.ts, n.text "
                     "from note n order by n.ts, n.id",
                     &rank, write_note, c, error);
}

/* Columns: what of the hardware is announced. */
static bool write_announced(void *context, const struct query_row *row, struct error *error)
{
    const struct chrome *c = context;
    (void)error;
    fputs(",\"otherData\":{\"announced\":", c->out);
    write_text(c->out, row, 0);
    fputs("}", c->out);
    return true;
}

bool export_chrome(struct query *query, int64_t rank, FILE *out, struct error *error)
{
    int64_t ranks = 0, traces = 0;
    if (!query_run(query, "select count(*) from task_step where not exists (select 1 from run)",
                   NULL, count_row, &traces, error) ||
        !query_run(query,
                   "select (select count(*) from rank where rank = ?1) + (select count(*) from "
                   "task_rank where rank = ?1)",
                   &(struct query_values){&rank, 1}, count_row, &ranks, error))
        return false;
    if (rank >= 0 && ranks == 0)
        return error_set(error, "the database has no rank %lld", (long long)rank);
    struct chrome c = {.out = out, .rank = rank, .first = true, .track = -1};
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
    const bool good = traces > 0 ? export_tasks(query, &c, error) : export_run(query, &c, error);
    fputs("\n]", out);
    const bool whole = good && query_run(query,
                                         "select announced_words from (select announced_words from "
                                         "run union all select announced_words from task_step) "
                                         "where announced_words <> '' limit 1",
                                         NULL, write_announced, &c, error);
    fputs("}\n", out);
    return whole;
}
