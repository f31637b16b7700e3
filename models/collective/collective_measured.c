#include "models/collective/collective_measured.h"

#include <math.h>
#include <stdlib.h>

#include "sim/check.h"

/* Neighbours on both sides no further apart than this: interpolated. Of 100 published times with
 * neighbours a factor of 16 apart the error is 3.9 % in the median, of 112 with a factor of 4 it is
 * 1.6 %, of 88 with a factor of 64 5.4 % (the model alone: 4.4, 4.1 and 4.4 %; clean rows of
 * tests/validation/collectives.csv). */
#define GAP_RATIO 16.0
/* How far the ratio of the last buffer goes on beyond it: two octaves. */
#define REACH_RATIO 4.0
/* What the model gives its own latency must leave to the bytes. */
#define LATENCY_MOST_RATIO 0.999

static int compare_groups(const struct collective_point *a, const struct collective_point *b)
{
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    if (a->ranks != b->ranks)
        return a->ranks < b->ranks ? -1 : 1;
    return (a->nodes > b->nodes) - (a->nodes < b->nodes);
}

static int compare_points(const void *left, const void *right)
{
    const struct collective_point *a = left, *b = right;
    int groups = compare_groups(a, b);
    if (groups != 0)
        return groups;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return (a->time_s > b->time_s) - (a->time_s < b->time_s);
}

uint32_t collective_points_sort(struct collective_point *rows, uint32_t count)
{
    uint32_t kept = 0;
    qsort(rows, count, sizeof *rows, compare_points);
    for (uint32_t i = 0, next; i < count; i = next) {
        double sum = 0.0;
        for (next = i; next < count && compare_groups(&rows[next], &rows[i]) == 0 &&
                       rows[next].bytes == rows[i].bytes;
             next++)
            sum += log(rows[next].time_s);
        struct collective_point one = rows[i];
        one.time_s = next == i + 1 ? one.time_s : exp(sum / (next - i));
        CHECK(one.bytes > 0.0 && one.time_s > 0.0);
        rows[kept++] = one;
    }
    return kept;
}

static double modelled_s(const struct collective_point *like, const struct group_shape *shape,
                         double bytes)
{
    struct collective_plan plan;
    collective_tune(like->op, shape, bytes, &plan);
    return plan.time_s;
}

static double log_ratio(const struct collective_point *p, const struct group_shape *shape)
{
    return log(p->time_s / modelled_s(p, shape, p->bytes));
}

/* The measured time of `bytes` between the rows [first, last) of one group; what it rests on. */
static enum collective_basis between(const struct collective_point *first,
                                     const struct collective_point *last,
                                     const struct group_shape *shape, double bytes, double *time_s)
{
    const struct collective_point *above = first;
    while (above < last && above->bytes < bytes)
        above++;
    if (above < last && above->bytes == bytes) {
        *time_s = above->time_s;
        return COLLECTIVE_MEASURED;
    }
    const bool lowest = above == first, highest = above == last;
    const struct collective_point *a = lowest ? above : above - 1, *b = highest ? a : above;
    if (bytes > REACH_RATIO * b->bytes || bytes < a->bytes / REACH_RATIO)
        return COLLECTIVE_MODELLED;
    double ratio = log_ratio(a, shape);
    if (a != b)
        ratio += (log_ratio(b, shape) - ratio) * log(bytes / a->bytes) / log(b->bytes / a->bytes);
    *time_s = modelled_s(a, shape, bytes) * exp(ratio);
    return a != b && b->bytes <= GAP_RATIO * a->bytes ? COLLECTIVE_INTERPOLATED
                                                      : COLLECTIVE_EXTRAPOLATED;
}

void collective_choose(const struct collective_points *points, enum comm_op op,
                       const struct group_shape *shape, double bytes, struct collective_plan *out)
{
    const struct collective_point wanted = {.op = op, .ranks = shape->ranks, .nodes = shape->nodes};
    uint32_t first = 0, last;
    double time_s = 0.0;
    collective_tune(op, shape, bytes, out);
    while (first < points->count && compare_groups(&points->rows[first], &wanted) < 0)
        first++;
    for (last = first; last < points->count && compare_groups(&points->rows[last], &wanted) == 0;
         last++)
        ;
    if (first == last || out->kind == NULL || bytes <= 0.0)
        return;
    out->basis = between(points->rows + first, points->rows + last, shape, bytes, &time_s);
    if (out->basis == COLLECTIVE_MODELLED)
        return;
    CHECK(time_s > 0.0);
    const double latency_s = out->latency_s * time_s / out->time_s;
    out->latency_s = fmin(latency_s, LATENCY_MOST_RATIO * time_s);
    out->cap_bytes_per_s = bytes / (time_s - out->latency_s);
    out->time_s = time_s;
}
