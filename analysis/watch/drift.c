#include "analysis/watch/drift.h"

#include <math.h>
#include <string.h>

#include "analysis/record/numbers/statistics.h"

/* Of the normal law, two-sided, one in a hundred. */
static const double sure_z = 2.575829303548901;

/* Medians of equal blocks, where there are more values than blocks. */
static uint32_t gather(struct arena *arena, const double *values, uint32_t count, double *out)
{
    const uint32_t blocks = count < DRIFT_BLOCKS ? count : DRIFT_BLOCKS;
    double *sorted = ARENA_ARRAY(arena, double, count / (blocks > 0 ? blocks : 1) + 1);
    for (uint32_t b = 0; b < blocks; b++) {
        const uint32_t first = (uint32_t)((uint64_t)count * b / blocks);
        const uint32_t length = (uint32_t)((uint64_t)count * (b + 1) / blocks) - first;
        memcpy(sorted, &values[first], length * sizeof *sorted);
        statistics_sort(sorted, length);
        out[b] = statistics_percentile(sorted, length, 0.5);
    }
    return blocks;
}

/* Sum over groups of equal values of t (t - 1) (2t + 5). */
static double ties(struct arena *arena, const double *values, uint32_t count)
{
    double *sorted = ARENA_ARRAY(arena, double, count);
    double sum = 0.0;
    memcpy(sorted, values, count * sizeof *sorted);
    statistics_sort(sorted, count);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end] == sorted[i];)
            end++;
        const double t = end - i;
        sum += t * (t - 1.0) * (2.0 * t + 5.0);
    }
    return sum;
}

void drift_find(struct arena *arena, const double *x, const double *values, uint32_t count,
                struct drift *out)
{
    double xs[DRIFT_BLOCKS], ys[DRIFT_BLOCKS];
    *out = (struct drift){.slope = 0.0};
    const uint32_t n = gather(arena, values, count, ys);
    gather(arena, x, count, xs);
    if (n < DRIFT_LEAST)
        return;
    double *slopes = ARENA_ARRAY(arena, double, (size_t)n *(n - 1) / 2);
    size_t pairs = 0;
    double s = 0.0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++) {
            s += (ys[k] > ys[i]) - (ys[k] < ys[i]);
            if (xs[k] > xs[i])
                slopes[pairs++] = (ys[k] - ys[i]) / (xs[k] - xs[i]);
        }
    const double variance = ((double)n * (n - 1.0) * (2.0 * n + 5.0) - ties(arena, ys, n)) / 18.0;
    statistics_sort(slopes, pairs);
    out->slope = pairs > 0 ? statistics_percentile(slopes, pairs, 0.5) : 0.0;
    if (variance > 0.0 && s != 0.0)
        out->z = (s - (s > 0.0 ? 1.0 : -1.0)) / sqrt(variance);
    out->sure = fabs(out->z) > sure_z;
}
