/* watch_levels.h - the times of steady steps: in windows, and in levels between which they change
 * for good (change_points.h); within a level, steps that are slow alone, and drift.
 *
 * Two levels whose medians are one within 0.05 %, below what a reader is shown, are one level.
 *
 * A row is slow where its modified z-score within its level, 0.6745 (x - median) / MAD, is above
 * 3.5 (B. Iglewicz, D. C. Hoaglin, "How to Detect and Handle Outliers", ASQC 1993); where more than
 * half of the values are equal, and the MAD is 0, (x - median) / (1.253314 x mean absolute
 * deviation). */
#ifndef ORRERY_ANALYSIS_WATCH_WATCH_LEVELS_H
#define ORRERY_ANALYSIS_WATCH_WATCH_LEVELS_H

#include "analysis/watch/drift.h"
#include "analysis/watch/watch.h"

/* Steady rows, one after the other. */
struct watch_spread {
    uint32_t first, last; /* rows of the log */
    uint32_t rows;
    double p10_s, p50_s, p90_s;
};
struct watch_level {
    struct watch_spread spread;
    struct drift drift; /* slope: seconds for each step */
    uint32_t slow;      /* rows of it */
};
struct watch_slow {
    uint32_t row;
    double score;
    double lost_s; /* beyond its level's median, of all its steps */
};
struct watch_levels {
    struct watch_spread all;
    struct watch_spread *windows;
    struct watch_level *levels;
    struct watch_slow *slow;
    uint32_t window_count, level_count, slow_count;
};
/* At most `windows` of them, of as many rows each as can be. In the arena. */
void watch_levels_find(struct arena *arena, const struct watch *watch, uint32_t windows,
                       struct watch_levels *out);

#endif
