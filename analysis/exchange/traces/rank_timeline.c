#include "analysis/exchange/traces/rank_timeline.h"

#include <math.h>
#include <string.h>

#include "analysis/record/database/restore.h"
#include "models/lower/stage/lower.h"
#include "scenarios/assemble/scenario.h"
#include "sim/digest.h"

#define AGAIN "simulate it again: orrery run SCENARIO --detail op"

struct timeline_reading {
    struct rank_timeline *t;
    const char *stream_name; /* of the rows under way */
    enum stream stream;
    uint32_t next; /* op of the stream that the next row is of */
    uint32_t read; /* rows */
    uint32_t host; /* ops of the host's order that are settled */
};

/* Columns: 0 fits, 1 seconds of the step, 2 detail. */
static bool take_run(void *context, const struct query_row *row, struct error *error)
{
    struct rank_timeline *t = context;
    unsigned bytes;
    const char *detail = query_text(row, 2, &bytes);
    if (query_type(row, 1) == QUERY_NULL)
        return error_set(error, "the run does not fit in memory and was not timed: there is no "
                                "timeline");
    if (strcmp(detail, "summary") == 0 || strcmp(detail, "step") == 0)
        return error_set(
            error, "it was recorded with --detail %s, without the times of ops: " AGAIN, detail);
    t->step_ns = digest_ns(query_real(row, 1));
    return true;
}

/* Columns: 0 rank, 1 class. */
static bool take_rank(void *context, const struct query_row *row, struct error *error)
{
    struct rank_timeline *t = context;
    const int64_t rank = query_integer(row, 0), class_id = query_integer(row, 1);
    if (rank < 0 || rank >= t->rank_count || class_id < 1 || class_id > t->rank_count ||
        t->class_of[rank] != 0)
        return error_set(error, "its table rank is not that of its layout");
    t->class_of[rank] = (uint32_t)class_id;
    t->by_class[t->rank++] = (uint32_t)rank;
    return true;
}

/* Columns: 0 class, 1 first id, 2 last id. */
static bool take_rows(void *context, const struct query_row *row, struct error *error)
{
    struct rank_timeline *t = context;
    const int64_t class_id = query_integer(row, 0);
    if (class_id < 1 || class_id > t->rank_count)
        return error_set(error, "a track is of no class of ranks");
    t->rows[class_id] = (struct rank_rows){query_integer(row, 1), query_integer(row, 2)};
    return true;
}

static bool find_classes(struct rank_timeline *t, struct error *error)
{
    t->class_of = ARENA_ARRAY(t->arena, uint32_t, t->rank_count);
    t->by_class = ARENA_ARRAY(t->arena, uint32_t, t->rank_count);
    t->rows = ARENA_ARRAY(t->arena, struct rank_rows, t->rank_count + 1);
    memset(t->class_of, 0, t->rank_count * sizeof *t->class_of);
    for (uint32_t i = 0; i <= t->rank_count; i++)
        t->rows[i] = (struct rank_rows){1, 0};
    t->rank = 0;
    if (!query_run(t->query, "select rank, rank_class from rank order by rank_class, rank", NULL,
                   take_rank, t, error))
        return false;
    if (t->rank != t->rank_count)
        return error_set(error, "its table rank is not that of its layout");
    return query_run(t->query,
                     "select t.rank_class, min(s.id), max(s.id) from slice_raw s join track t on "
                     "t.id = s.track_id group by t.rank_class",
                     NULL, take_rows, t, error);
}

bool rank_timeline_open(struct query *query, const char *path, const char *catalogue,
                        struct rank_timeline *out, struct error *error)
{
    *out = (struct rank_timeline){.query = query, .step_ns = -1};
    if (!query_run(query,
                   "select fits, step_s, coalesce((select value from meta where key = 'detail'), "
                   "'summary') from run",
                   NULL, take_run, out, error))
        return false;
    if (out->step_ns < 0)
        return error_set(error, "it holds no run: a trace is of a step that `orrery run` recorded");
    out->scenario = restore_scenario(query, path, catalogue, error);
    if (out->scenario == NULL)
        return false;
    out->arena = arena_create();
    lower_timed(out->arena, &out->scenario->configuration, &out->lowered);
    layout_build(out->arena, &out->scenario->configuration, out->lowered.streams, &out->layout);
    out->rank_count = out->layout.rank_count;
    uint32_t most = 0;
    for (uint32_t i = 0; i < out->lowered.program_count; i++)
        most =
            out->lowered.programs[i]->op_count > most ? out->lowered.programs[i]->op_count : most;
    out->ops = ARENA_ARRAY(out->arena, struct rank_op, most + 1);
    return find_classes(out, error);
}

void rank_timeline_close(struct rank_timeline *t)
{
    if (t->arena != NULL)
        arena_destroy(t->arena);
    scenario_destroy(t->scenario);
}

static bool differs(const struct rank_timeline *t, struct error *error)
{
    return error_set(error,
                     "the timeline of rank %u is not of the ops of its layout, as this version "
                     "writes them: " AGAIN,
                     t->rank);
}

/* The stream of that name begins. */
static bool begin_stream(struct timeline_reading *r, const char *name)
{
    for (unsigned stream = 0; stream < STREAM_COUNT; stream++)
        if (strcmp(stream_names[stream], name) == 0) {
            r->stream = (enum stream)stream;
            r->stream_name = stream_names[stream];
            r->next = 0;
            return true;
        }
    return false;
}

/* Columns: 0 stream, 1 ts, 2 dur, 3 wait, 4 name; streams together, of each in the order of ops. */
static bool take_slice(void *context, const struct query_row *row, struct error *error)
{
    struct timeline_reading *r = context;
    const struct program *p = r->t->program;
    const int64_t ts = query_integer(row, 1), dur = query_integer(row, 2);
    const int64_t wait = query_integer(row, 3);
    unsigned bytes;
    const char *stream = query_text(row, 0, &bytes), *name = query_text(row, 4, &bytes);
    if ((r->stream_name == NULL || strcmp(r->stream_name, stream) != 0) && !begin_stream(r, stream))
        return differs(r->t, error);
    while (r->next < p->op_count && p->ops[r->next].stream != r->stream)
        r->next++;
    if (r->next == p->op_count || strcmp(p->names[p->ops[r->next].name], name) != 0)
        return differs(r->t, error);
    if (dur < 0 || wait < 0 || ts < wait || ts > INT64_MAX / 2 || dur > INT64_MAX / 2)
        return error_set(error, "rank %u has a span outside of time", r->t->rank);
    r->t->ops[r->next++] = (struct rank_op){ts - wait, ts, ts + dur, -1};
    r->read++;
    return true;
}

/* Columns: 0 when compute that waited for the host began, in order. */
static bool take_launch(void *context, const struct query_row *row, struct error *error)
{
    struct timeline_reading *r = context;
    const struct program *p = r->t->program;
    const int64_t at = query_integer(row, 0);
    (void)error;
    while (r->host < p->op_count &&
           (p->ops[r->host].stream != STREAM_COMPUTE || r->t->ops[r->host].begin_ns < at))
        r->host++;
    if (r->host < p->op_count && r->t->ops[r->host].begin_ns == at)
        r->t->ops[r->host].launch_ns = at;
    return true;
}

static void fill_launches(struct rank_timeline *t)
{
    int64_t last = 0;
    for (uint32_t i = 0; i < t->program->op_count; i++) {
        struct rank_op *op = &t->ops[i];
        last = op->launch_ns > last ? op->launch_ns : last;
        op->launch_ns = last < op->begin_ns ? last : op->begin_ns;
    }
}

bool rank_timeline_read(struct rank_timeline *t, uint32_t rank, struct error *error)
{
    const uint32_t rank_class = t->class_of[rank];
    const struct rank_rows rows = t->rows[rank_class];
    const int64_t values[] = {rank_class, rows.first_id, rows.last_id};
    struct timeline_reading r = {.t = t};
    t->rank = rank;
    t->program = t->lowered.programs[t->lowered.program_of_rank[rank]];
    if (rank_class == t->read_class)
        return true;
    t->read_class = 0;
    if (!query_run(t->query,
                   "select t.name, s.ts, s.dur, s.wait, n.text from slice_raw s join track t on "
                   "t.id = s.track_id join string n on n.id = s.name where t.rank_class = ?1 and "
                   "t.kind = 'stream' and s.depth = 0 and s.id between ?2 and ?3 "
                   "order by s.track_id, s.id",
                   &(struct query_values){values, 3}, take_slice, &r, error))
        return false;
    if (r.read != t->program->op_count)
        return differs(t, error);
    if (!query_run(t->query,
                   "select i.ts + i.dur from idle_raw i join track t on t.id = i.track_id join "
                   "string n on n.id = i.cause where t.rank_class = ?1 and n.text = 'host' order "
                   "by 1",
                   &(struct query_values){values, 1}, take_launch, &r, error))
        return false;
    fill_launches(t);
    t->read_class = rank_class;
    return true;
}
