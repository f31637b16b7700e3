/* statistics.h - small sample statistics over plain arrays. Pure; knows no rows. */
#ifndef ORRERY_ANALYSIS_STATISTICS_H
#define ORRERY_ANALYSIS_STATISTICS_H

#include <stddef.h>

#include "sim/arena.h"

void statistics_sort(double *values, size_t count); /* ascending */
/* Percentile `ratio` in [0, 1] of ascending values, between neighbours by straight line; NAN of
 * none. */
double statistics_percentile(const double *ascending, size_t count, double ratio);
/* Rank correlation of two lists, ties by their mean rank; NAN when a list is all one value. */
double statistics_spearman(struct arena *arena, const double *a, const double *b, size_t count);

#endif
