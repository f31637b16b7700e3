#include "analysis/statistics.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void statistics_sort(double *values, size_t count)
{
    if (count > 0)
        qsort(values, count, sizeof *values, ascending);
}

double statistics_percentile(const double *values, size_t count, double ratio)
{
    if (count == 0)
        return NAN;
    double place = ratio * (double)(count - 1), below = floor(place);
    size_t low = (size_t)below, high = low + 1 < count ? low + 1 : low;
    return values[low] + (place - below) * (values[high] - values[low]);
}

/* Mean rank of value i among all, from 1. */
static double rank_of(const double *values, size_t count, size_t i)
{
    double below = 0.0, equal = 0.0;
    for (size_t j = 0; j < count; j++) {
        below += values[j] < values[i];
        equal += values[j] == values[i];
    }
    return below + (equal + 1.0) / 2.0;
}

double statistics_spearman(struct arena *arena, const double *a, const double *b, size_t count)
{
    double *x = ARENA_ARRAY(arena, double, 2 * count + 1), *y = x + count;
    double mean = ((double)count + 1.0) / 2.0, xy = 0.0, xx = 0.0, yy = 0.0;
    for (size_t i = 0; i < count; i++) {
        x[i] = rank_of(a, count, i) - mean;
        y[i] = rank_of(b, count, i) - mean;
        xy += x[i] * y[i];
        xx += x[i] * x[i];
        yy += y[i] * y[i];
    }
    return xx > 0.0 && yy > 0.0 ? xy / sqrt(xx * yy) : NAN;
}
