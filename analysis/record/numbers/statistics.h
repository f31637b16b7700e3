/* statistics.h - small sample statistics over plain arrays. Pure; knows no rows. Special functions,
 * ranks, least squares and roots are GSL's. */
#ifndef ORRERY_ANALYSIS_RECORD_NUMBERS_STATISTICS_H
#define ORRERY_ANALYSIS_RECORD_NUMBERS_STATISTICS_H

#include <stddef.h>

#include "sim/arena.h"

void statistics_sort(double *values, size_t count); /* ascending */
/* Percentile `ratio` in [0, 1] of ascending values, between neighbours by straight line; NAN of
 * none. */
double statistics_percentile(const double *ascending, size_t count, double ratio);
/* Rank correlation of two lists, ties by their mean rank; NAN when a list is all one value. */
double statistics_spearman(struct arena *arena, const double *a, const double *b, size_t count);

/* What a quantity can be. */
struct summary_range {
    double low, high;
};
/* A sample in a few figures; all NAN of none. The interval of the mean is Student's, 95 %, as far
 * as it lies in the quantity's range; of one value it is that value. An end that a value lies
 * beyond by more than 1e-9 bounds nothing. low95 <= mean <= high95 always. */
struct summary {
    size_t count;
    double mean, low95, high95, p10, p50, p90;
    double half95; /* of the interval, had the range no ends */
};
void statistics_summarise(struct arena *arena, const double *values, size_t count,
                          const struct summary_range *range, struct summary *out);
/* Where a continuous function that is below 0 at `low` and above 0 at `high` is 0, to
 * the last digits, by bisection. */
double statistics_root(double (*function)(double x, void *context), void *context, double low,
                       double high);
/* Half the width of Student's 95 % interval of a mean with this standard error. */
double statistics_t95(double standard_error, size_t degrees_of_freedom);
/* Where the parabola through the points, by least squares, has its minimum; NAN when it has none
 * (it opens downwards) or with fewer than 3 points or too many. `x` must not be all one value.
 * `misfit` (NULL: not asked): root mean square of what is left over, to the spread of `y`. */
enum {
    STATISTICS_VERTEX_MAX = 32 /* points */
};
double statistics_vertex(const double *x, const double *y, size_t count, double *misfit);

#endif
