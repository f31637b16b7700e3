#include "analysis/page/slices.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/page/thin.h"
#include "analysis/page/waits.h"
#include "sim/check.h"
#include "sim/memory.h"

const char *const slices_levels[] = {
    [SLICES_PASSES] = "pass", [SLICES_OPS] = "op", [SLICES_IDLE] = "idle", NULL};

struct gather {
    struct thin thin;
    struct thin_span open; /* the pass that is being joined; count 0: none */
    int64_t track, begin;  /* of the row before */
    bool passes;
};

static bool add(struct gather *g, const struct thin_span *span, struct error *error)
{
    return thin_add(&g->thin, span) ||
           error_set(error, "more streams than a picture has room for: ask for one class");
}

static bool continues(const struct thin_span *pass, const struct thin_span *op)
{
    return pass->count > 0 && pass->track == op->track && pass->phase == op->phase &&
           pass->microbatch == op->microbatch && pass->chunk == op->chunk &&
           (op->microbatch >= 0 || pass->name == op->name);
}

static bool close_pass(struct gather *g, struct error *error)
{
    const bool good = g->open.count == 0 || add(g, &g->open, error);
    g->open.count = 0;
    return good;
}

static bool join(struct gather *g, const struct thin_span *op, struct error *error)
{
    if (!continues(&g->open, op)) {
        const bool good = close_pass(g, error);
        g->open = *op;
        g->open.layer = -1;
        return good;
    }
    g->open.end = op->end > g->open.end ? op->end : g->open.end;
    g->open.busy += op->busy;
    g->open.wait += op->wait;
    g->open.count++;
    return true;
}

/* Columns: track, ts, dur, wait, name, phase, microbatch, layer, chunk; by row. */
static bool take(void *context, const struct query_row *row, struct error *error)
{
    struct gather *g = context;
    const int64_t begin = query_integer(row, 1), busy = query_integer(row, 2);
    struct thin_span span = {.track = query_integer(row, 0),
                             .begin = begin,
                             .busy = busy,
                             .wait = query_integer(row, 3),
                             .count = 1,
                             .longest = busy,
                             .name = query_integer(row, 4),
                             .phase = query_integer(row, 5),
                             .microbatch = query_integer(row, 6),
                             .layer = query_integer(row, 7),
                             .chunk = query_integer(row, 8)};
    if (begin < 0 || busy < 0 || begin > INT64_MAX / 4 || busy > INT64_MAX / 4)
        return error_set(error, "track %" PRId64 " has a span outside of time", span.track);
    if (span.track == g->track && begin < g->begin)
        return error_set(error, "spans of track %" PRId64 " do not stand in their order",
                         span.track);
    span.end = begin + busy;
    g->track = span.track;
    g->begin = begin;
    return g->passes ? join(g, &span, error) : add(g, &span, error);
}

static void write_head(const struct slices_ask *ask, int64_t resolution, FILE *out)
{
    fprintf(out,
            "{\"level\":\"%s\",\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"resolution\":%" PRId64
            ",\"columns\":[\"track\",\"begin\",\"dur\",\"busy\",\"wait\",\"count\",\"name\","
            "\"phase\",\"microbatch\",\"layer\",\"chunk\"],\"rows\":[",
            slices_levels[ask->level], ask->from_ns, ask->to_ns, resolution);
}

static void write_spans(const struct gather *g, const struct slices_ask *ask, FILE *out)
{
    write_head(ask, g->thin.resolution, out);
    for (uint64_t i = 0; i < g->thin.count; i++) {
        const struct thin_span *s = &g->thin.spans[i];
        fprintf(out,
                "%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]",
                i > 0 ? ",\n" : "\n", s->track, s->begin, s->end - s->begin, s->busy, s->wait,
                s->count, s->name, s->phase, s->microbatch, s->layer, s->chunk);
    }
    fputs("]}", out);
}

#define TOUCHED                                                                                    \
    "s.ts < ?2 and s.ts + s.dur > ?1 and s.track_id in "                                           \
    "(select t.id from track t where t.kind = 'stream' and (?3 = -1 or t.rank_class = ?3 or "      \
    "(?3 = -2 and t.rank_class in (select rank_class from stage_class)))"
#define LABELS                                                                                     \
    "coalesce(s.microbatch, -1), coalesce(s.layer, -1), s.chunk from slice_raw s "                 \
    "where s.depth = 0 and " TOUCHED

/* Columns: track, ts, dur, cause; by row. */
static bool take_wait(void *context, const struct query_row *row, struct error *error)
{
    struct wait_spans *w = context;
    const int64_t track = query_integer(row, 0), begin = query_integer(row, 1),
                  dur = query_integer(row, 2);
    const struct waits_piece *last = w->count > 0 ? &w->pieces[w->count - 1] : NULL;
    if (begin < 0 || dur < 0 || begin > INT64_MAX / 4 || dur > INT64_MAX / 4)
        return error_set(error, "track %" PRId64 " waits outside of time", track);
    if (w->rest.track == track &&
        (begin < w->rest.end || (last != NULL && last->track == track && begin < last->end)))
        return error_set(error, "waits of track %" PRId64 " do not stand in their order", track);
    return waits_add(w, track, begin, begin + dur, query_integer(row, 3)) ||
           error_set(error, "more streams than a picture has room for: ask for one class");
}

/* A row for each cause of a piece. */
static void write_waits(const struct wait_spans *w, const struct slices_ask *ask, FILE *out)
{
    const char *comma = "";
    write_head(ask, w->unit, out);
    for (uint64_t i = 0; i < w->count; i++)
        for (unsigned k = 0; k < w->cause_count; k++) {
            const struct waits_piece *p = &w->pieces[i];
            if (p->count[k] == 0)
                continue;
            fprintf(out,
                    "%s\n[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",0,%" PRId64 ",%" PRId64
                    ",%" PRId64 ",-1,-1,-1]",
                    comma, p->track, p->begin, p->end - p->begin, p->ns[k], p->count[k],
                    w->causes[k], w->causes[k]);
            comma = ",";
        }
    fputs("]}", out);
}

static bool take_end(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    *(int64_t *)context = query_integer(row, 0);
    return true;
}

enum {
    UNITS = 4000 /* of a window: one is below a pixel */
};

static bool write_idle(struct query *query, const struct slices_ask *ask, FILE *out,
                       struct error *error)
{
    static const char sql[] =
        "select s.track_id, s.ts, s.dur, s.cause from idle_raw s where " TOUCHED ") order by "
        "s.rowid";
    const int64_t values[] = {ask->from_ns, ask->to_ns, ask->rank_class};
    int64_t end = 0;
    struct wait_spans waits;
    if (!query_run(query, "select coalesce(max(ts + dur), 0) from idle_raw", NULL, take_end, &end,
                   error))
        return false;
    end = end < ask->to_ns ? end : ask->to_ns;
    struct waits_piece *pieces = memory_take((ask->room + 2) * sizeof *pieces);
    waits_begin(&waits, pieces, ask->room, (end - ask->from_ns) / UNITS);
    const bool good =
        query_run(query, sql, &(struct query_values){values, 3}, take_wait, &waits, error) &&
        (waits_end(&waits) ||
         error_set(error, "more streams than a picture has room for: ask for one class"));
    if (good)
        write_waits(&waits, ask, out);
    free(pieces);
    return good;
}

bool slices_write(struct query *query, const struct slices_ask *ask, FILE *out, struct error *error)
{
    /* Computing again is a part of the backward pass. */
    static const char passes[] =
        "select s.track_id, s.ts, s.dur, s.wait, s.name, case s.phase when "
        "(select id from string where text = 'recompute') then "
        "coalesce((select id from string where text = 'backward'), s.phase) else s.phase "
        "end, " LABELS " and t.name = 'compute') order by s.id";
    static const char ops[] =
        "select s.track_id, s.ts, s.dur, s.wait, s.name, s.phase, " LABELS ") order by s.id";
    const char *const sql[] = {[SLICES_PASSES] = passes, [SLICES_OPS] = ops};
    const int64_t values[] = {ask->from_ns, ask->to_ns, ask->rank_class};
    struct gather g = {.track = -1, .passes = ask->level == SLICES_PASSES};
    CHECK(ask->room > 0 && ask->room <= SLICES_ROOM);
    if (ask->level == SLICES_IDLE)
        return write_idle(query, ask, out, error);
    struct thin_span *spans = memory_take(ask->room * sizeof *spans);
    thin_begin(&g.thin, spans, ask->room);
    const bool good =
        query_run(query, sql[ask->level], &(struct query_values){values, 3}, take, &g, error) &&
        close_pass(&g, error);
    if (good)
        write_spans(&g, ask, out);
    free(spans);
    return good;
}
