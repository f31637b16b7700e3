/* plot.h - figures with axes as SVG: lines, bands, points and marks in a frame with ticks.
 *
 * A page holds one or more plots; the caller says where each stands. Axes are linear or
 * logarithmic; tick labels carry units. Values outside the axes are drawn at their ends; values
 * that are not finite are left out. Colours are Okabe and Ito's, which colour-blind readers can
 * tell apart. Text is escaped. Errors of the output stay in the stream for the caller to test. */
#ifndef ORRERY_ANALYSIS_PLOT_H
#define ORRERY_ANALYSIS_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum plot_unit {
    PLOT_PLAIN,
    PLOT_TIME, /* seconds */
    PLOT_SHARE /* a ratio, shown in per cent */
};
struct plot_axis {
    const char *label;
    double low, high; /* low < high; both above 0 where log */
    bool log;
    enum plot_unit unit;
};
struct plot {
    FILE *out;
    double left, top, width, height; /* of the frame, in SVG units */
    struct plot_axis x, y;
};
void plot_page_begin(FILE *out, double width, double height);
void plot_page_end(FILE *out);
/* Text at a place of the page; `anchor` "start", "middle" or "end". */
void plot_text(FILE *out, double x, double y, const char *anchor, const char *text);

void plot_frame(const struct plot *plot, const char *title); /* axes, ticks, grid, labels */
double plot_x(const struct plot *plot, double value);        /* to SVG units */
double plot_y(const struct plot *plot, double value);
void plot_line(const struct plot *plot, const double *x, const double *y, size_t count,
               const char *colour, bool dashed);
/* The area between two lines. */
void plot_band(const struct plot *plot, const double *x, const double *low, const double *high,
               size_t count, const char *colour, double opacity);
/* A dot with a tooltip (NULL: none). */
void plot_dot(const struct plot *plot, double x, double y, const char *colour, const char *tip);
/* A vertical line with a label above the frame; `row` 0, 1, ... keeps labels apart. */
void plot_mark(const struct plot *plot, double x, const char *colour, unsigned row,
               const char *label);
/* An entry of the legend, inside the frame at its upper right end. */
void plot_legend(const struct plot *plot, unsigned row, const char *colour, const char *text);

enum {
    PLOT_COLOUR_COUNT = 8
};
const char *plot_colour(unsigned index); /* modulo PLOT_COLOUR_COUNT */
/* Axis ends around these values with a little room; `log` ones by factors. Values that are not
 * finite (and, for log, not positive) are ignored. */
struct plot_axis plot_axis_around(const char *label, const double *values, size_t count, bool log,
                                  enum plot_unit unit);

#endif
