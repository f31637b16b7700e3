/* plot_axis.h - axes of figures: numbers, linear or logarithmic, or words; where their ticks stand
 * and what these are called: 1, 2 or 5 times a power of ten of one unit for a linear axis (5 min,
 * 10 min, not 300 s), of each its own for a logarithmic one. Pure. */
#ifndef ORRERY_ANALYSIS_OUTPUT_PLOT_PLOT_AXIS_H
#define ORRERY_ANALYSIS_OUTPUT_PLOT_PLOT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/output/text/format.h"

enum plot_unit {
    PLOT_PLAIN,
    PLOT_TIME,  /* seconds */
    PLOT_SHARE, /* a ratio, shown in per cent */
    PLOT_BYTES,
    PLOT_BANDWIDTH, /* B/s */
    PLOT_FLOP_RATE, /* FLOP/s */
    PLOT_MONEY,     /* USD */
    PLOT_ENERGY,    /* joules */
    PLOT_POWER      /* W */
};
struct plot_axis {
    const char *label;
    double low, high; /* low < high, but for words, which may go down; both above 0 where log */
    bool log;
    enum plot_unit unit;
    const char *const *words; /* NULL: numbers */
    size_t word_count;
};
/* Axis ends around these values with a little room; `log` ones by factors. Values that are not
 * finite (and, for log, not positive) are ignored. */
struct plot_axis plot_axis_around(const char *label, const double *values, size_t count, bool log,
                                  enum plot_unit unit);
/* An axis of words, the first at the left; or, `down`, the first at the top of a y axis. */
struct plot_axis plot_axis_words(const char *label, const char *const *words, size_t count,
                                 bool down);

enum {
    PLOT_TICK_MAX = 64
};
struct plot_tick {
    double value;
    struct text label;
};
/* Of an axis of numbers, in order; returns how many, at least one. */
unsigned plot_ticks(const struct plot_axis *axis, struct plot_tick ticks[PLOT_TICK_MAX]);

#endif
