/* Invariant: the group of a level that is open holds checkpoints of one bin of time with no
 * interruption between them; those that were written before it are earlier. */
#include "analysis/page/saves.h"

#include <inttypes.h>
#include <stdlib.h>

#include "sim/check.h"
#include "sim/memory.h"

enum {
    LEVELS_MAX = 64, /* more than any policy has */
    STOPS_MAX = 100000,
    ROWS_MAX = 100000
};

struct save_group {
    int64_t ts, last_ts, count, step, last_step; /* count 0: none is open */
    uint64_t stop;                               /* interruptions before it */
};
struct saves {
    struct save_group groups[LEVELS_MAX];
    int64_t *stops, count, first, last; /* interruptions; of the checkpoints: how many, from, to */
    uint64_t stop_count, rows;
    int64_t resolution;
    FILE *out;
};

/* Columns: count, min, max. */
static bool take_extent(void *context, const struct query_row *row, struct error *error)
{
    struct saves *s = context;
    (void)error;
    s->count = query_integer(row, 0);
    s->first = query_integer(row, 1);
    s->last = query_integer(row, 2);
    return true;
}

static bool take_stop(void *context, const struct query_row *row, struct error *error)
{
    struct saves *s = context;
    if (s->stop_count == STOPS_MAX)
        return error_set(error, "more than %d interruptions: no picture can show them", STOPS_MAX);
    s->stops[s->stop_count++] = query_integer(row, 0);
    return true;
}

static void write_group(struct saves *s, int64_t level, struct save_group *group)
{
    if (group->count == 0)
        return;
    fprintf(s->out, "%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]",
            s->rows++ > 0 ? ",\n" : "\n", level, group->ts, group->last_ts, group->count,
            group->step, group->last_step);
    group->count = 0;
}

/* Columns: level, ts, step; by row. */
static bool take_save(void *context, const struct query_row *row, struct error *error)
{
    struct saves *s = context;
    const int64_t level = query_integer(row, 0), ts = query_integer(row, 1),
                  step = query_integer(row, 2);
    if (level < 0 || level >= LEVELS_MAX || ts < 0 || step < 0)
        return error_set(error, "a checkpoint names no level, no time or no step");
    struct save_group *group = &s->groups[level];
    if (ts < group->last_ts)
        return error_set(error, "checkpoints of level %" PRId64 " do not stand in their order",
                         level);
    uint64_t stop = group->stop;
    while (stop < s->stop_count && s->stops[stop] < ts) /* durable at that moment: it counts */
        stop++;
    if (stop != group->stop || ts / s->resolution != group->ts / s->resolution)
        write_group(s, level, group);
    if (group->count == 0)
        *group = (struct save_group){.ts = ts, .step = step, .stop = stop};
    group->last_ts = ts;
    group->last_step = step;
    group->count++;
    return s->rows < ROWS_MAX ||
           error_set(error, "more groups of checkpoints than a picture can show");
}

static bool write_groups(struct saves *s, struct query *query, const struct query_values *window,
                         struct error *error)
{
    static const char saves[] =
        "select level, ts, step from checkpoint where ts >= ?1 and ts < ?2 order by id";
    s->resolution = s->count <= SAVES_ROOM ? 1 : 1 + (s->last - s->first) / SAVES_ROOM;
    fprintf(s->out,
            "{\"resolution\":%" PRId64 ",\"total\":%" PRId64 ",\"columns\":[\"level\",\"ts\","
            "\"last_ts\",\"count\",\"step\",\"last_step\"],\"rows\":[",
            s->resolution, s->count);
    if (!query_run(query, saves, window, take_save, s, error))
        return false;
    for (int64_t level = 0; level < LEVELS_MAX; level++)
        write_group(s, level, &s->groups[level]);
    fputs("]}", s->out);
    return true;
}

bool saves_write(struct query *query, int64_t from_ns, int64_t to_ns, FILE *out,
                 struct error *error)
{
    const int64_t values[] = {from_ns, to_ns};
    const struct query_values window = {values, 2};
    struct saves s = {.out = out, .stops = memory_take(STOPS_MAX * sizeof *s.stops)};
    CHECK(from_ns >= 0);
    const bool good =
        query_run(query,
                  "select count(*), coalesce(min(ts), 0), coalesce(max(ts), 0) from checkpoint "
                  "where ts >= ?1 and ts < ?2",
                  &window, take_extent, &s, error) &&
        query_run(query, "select ts from interruption where ts >= ?1 and ts < ?2 order by ts",
                  &window, take_stop, &s, error) &&
        write_groups(&s, query, &window, error);
    free(s.stops);
    return good;
}
