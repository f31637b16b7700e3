/* change_points.h - where the distribution of a series changes for good.
 *
 * Non-parametric PELT: K. Haynes, P. Fearnhead, I. A. Eckley, "A computationally efficient
 * nonparametric approach for changepoint detection", Statistics and Computing 27 (2017) 1293-1305:
 * of all ways to cut the series, the one with the least
 *
 *     sum of cost(segment) + penalty x (cuts)
 *     cost = -2 log(2n - 1) / K x sum over K quantiles of L (F log F + (1 - F) log(1 - F))
 *
 * F being the share of the segment's L values below the quantile (equal ones count half). The K
 * quantiles of the whole series stand at p_k = 1 / (1 + (2n - 1) exp(c (2k - 1) / K)) with
 * c = -log(2n - 1), denser in both tails; K = ceil(4 log n) as the paper advises. The cost is of
 * ranks, so what noise alone reaches depends on n and not on the form of the noise. The penalty is
 * 5 log n: so much that fewer than one series of noise in twenty is cut, of 20 to 600 values
 * (test_change_points.c counts; at 3 log n, which changepoint.np takes, it is one in ten to one in
 * three). A segment has CHANGE_POINTS_LEAST values or more: as many on one side are a lasting
 * shift on a control chart (L. S. Nelson, J. Quality Technology 16 (1984) 237-239, test 2), fewer
 * are slow values. That values are independent is assumed: steps that wander are cut more often.
 * The best way is found exactly (PELT: R. Killick,
 * P. Fearnhead, I. A. Eckley, JASA 107 (2012) 1590-1598).
 *
 * A series of more than CHANGE_POINTS_EXACT values is first cut as the medians of equal blocks, and
 * each cut is then placed between the values of the two blocks beside it by the same cost. */
#ifndef ORRERY_ANALYSIS_WATCH_CHANGE_POINTS_H
#define ORRERY_ANALYSIS_WATCH_CHANGE_POINTS_H

#include <stdint.h>

#include "sim/arena.h"

enum {
    CHANGE_POINTS_LEAST = 9,
    CHANGE_POINTS_EXACT = 2048 /* values; the work grows with the square where nothing changes */
};
/* The first index of each segment but the first, ascending, in the arena; returns how many. Values
 * are finite. */
uint32_t change_points_find(struct arena *arena, const double *values, uint32_t count,
                            uint32_t **cuts);

#endif
