#include "analysis/replay/slices.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/replay/thin.h"
#include "sim/check.h"
#include "sim/memory.h"

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

static void write_spans(const struct gather *g, const struct slices_ask *ask, FILE *out)
{
    fprintf(out,
            "{\"level\":\"%s\",\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"resolution\":%" PRId64
            ",\"columns\":[\"track\",\"begin\",\"dur\",\"busy\",\"wait\",\"count\",\"name\","
            "\"phase\",\"microbatch\",\"layer\",\"chunk\"],\"rows\":[",
            g->passes ? "pass" : "op", ask->from_ns, ask->to_ns, g->thin.resolution);
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

#define LABELS                                                                                     \
    "coalesce(s.microbatch, -1), coalesce(s.layer, -1), s.chunk from slice_raw s "                 \
    "where s.depth = 0 and s.ts < ?2 and s.ts + s.dur > ?1 and s.track_id in "                     \
    "(select t.id from track t where t.kind = 'stream' and (?3 = -1 or t.rank_class = ?3 or "      \
    "(?3 = -2 and t.rank_class in (select min(id) from rank_class group by stage)))"

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
    const int64_t values[] = {ask->from_ns, ask->to_ns, ask->rank_class};
    struct gather g = {.track = -1, .passes = ask->level == SLICES_PASSES};
    CHECK(ask->room > 0 && ask->room <= SLICES_ROOM);
    struct thin_span *spans = memory_take(ask->room * sizeof *spans);
    thin_begin(&g.thin, spans, ask->room);
    const bool good = query_run(query, g.passes ? passes : ops, &(struct query_values){values, 3},
                                take, &g, error) &&
                      close_pass(&g, error);
    if (good)
        write_spans(&g, ask, out);
    free(spans);
    return good;
}
