/* drift.h - whether a series goes one way, and how fast.
 *
 * The test is that of Mann and Kendall (H. B. Mann, Econometrica 13 (1945) 245-259; M. G. Kendall,
 * Rank Correlation Methods, 1975): S, pairs that go up less pairs that go down, is normal with the
 * variance (n (n - 1) (2n + 5) - sum over ties t (t - 1) (2t + 5)) / 18 where there is none. The
 * slope is the median over all pairs (H. Theil 1950; P. K. Sen, JASA 63 (1968) 1379-1389). Both are
 * of ranks: single slow steps do not matter. A long series is taken as the medians of DRIFT_BLOCKS
 * equal blocks. */
#ifndef ORRERY_ANALYSIS_WATCH_DRIFT_H
#define ORRERY_ANALYSIS_WATCH_DRIFT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/arena.h"

enum {
    DRIFT_BLOCKS = 256,
    DRIFT_LEAST = 10 /* values, for which S is normal enough (Kendall 1975, 4.7) */
};
struct drift {
    double slope; /* of the values for each unit of x */
    double z;     /* S - sign(S), in its standard deviations; 0 of fewer than DRIFT_LEAST */
    bool sure;    /* beyond what one series in a hundred without a drift has */
};
/* `x` ascends. */
void drift_find(struct arena *arena, const double *x, const double *values, uint32_t count,
                struct drift *out);

#endif
