/* Invariant: points stand by track and time; of a track, the highest `high` is the highest value
 * that came. */
#include "analysis/page/curves.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/page/words.h"
#include "sim/check.h"
#include "sim/memory.h"

enum {
    POINTS_MAX = 12000
};

struct curve_point {
    int64_t track, ts;
    double high, last;
};
struct curves {
    struct curve_point *points;
    uint64_t count;
    int64_t resolution;
};

static void place(struct curves *c, const struct curve_point *point)
{
    struct curve_point *before = c->count > 0 ? &c->points[c->count - 1] : NULL;
    if (before == NULL || before->track != point->track ||
        before->ts / c->resolution != point->ts / c->resolution) {
        c->points[c->count++] = *point;
        return;
    }
    before->high = fmax(before->high, point->high);
    before->last = point->last;
}

static void coarsen(struct curves *c)
{
    const uint64_t all = c->count;
    c->resolution *= 2;
    c->count = 0;
    for (uint64_t i = 0; i < all; i++) {
        const struct curve_point point = c->points[i];
        place(c, &point);
    }
    CHECK(c->count <= all);
}

/* Columns: track, ts, value; by track and row. */
static bool take(void *context, const struct query_row *row, struct error *error)
{
    struct curves *c = context;
    const double value = query_real(row, 2);
    const struct curve_point point = {query_integer(row, 0), query_integer(row, 1), value, value};
    const struct curve_point *before = c->count > 0 ? &c->points[c->count - 1] : NULL;
    if (point.ts < 0 || !isfinite(value))
        return error_set(error, "a memory curve holds what is no time or no number");
    if (before != NULL && before->track == point.track && point.ts < before->ts)
        return error_set(error, "a memory curve does not stand in its order");
    while (c->count == POINTS_MAX && c->resolution < INT64_MAX / 2)
        coarsen(c);
    if (c->count == POINTS_MAX)
        return error_set(error, "more memory curves than a picture has room for");
    place(c, &point);
    return true;
}

bool curves_write(struct query *query, FILE *out, struct error *error)
{
    struct curves c = {.points = memory_take((POINTS_MAX + 1) * sizeof *c.points), .resolution = 1};
    const bool good = query_run(query,
                                "select v.track_id, v.ts, v.value from counter_raw v join track t "
                                "on t.id = v.track_id where t.kind = 'ledger' and t.rank_class in "
                                "(select min(id) from rank_class group by stage) "
                                "order by v.track_id, v.rowid",
                                NULL, take, &c, error);
    if (good) {
        fprintf(out,
                "{\"resolution\":%" PRId64 ",\"columns\":[\"track\",\"ts\",\"high\",\"last\"],"
                "\"rows\":[",
                c.resolution);
        for (uint64_t i = 0; i < c.count; i++) {
            fprintf(out, "%s[%" PRId64 ",%" PRId64 ",", i > 0 ? ",\n" : "\n", c.points[i].track,
                    c.points[i].ts);
            words_number(out, c.points[i].high);
            fputc(',', out);
            words_number(out, c.points[i].last);
            fputc(']', out);
        }
        fputs("]}", out);
    }
    free(c.points);
    return good;
}
