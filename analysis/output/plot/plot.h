/* plot.h - figures with axes as SVG: lines, bands, whiskers, points, boxes and marks in a frame.
 *
 * A page holds one or more plots; the caller says where each stands. Axes are linear, logarithmic
 * or of words: word i stands at the number i, and nothing is drawn between words unless the caller
 * draws it. Ticks are round in the unit of their axis. Values outside the axes are drawn at their
 * ends; values that are not finite are left out. Colours stand out from white by 3:1 at least, text
 * by 4.5:1 (WCAG 2.1, 1.4.3 and 1.4.11), and colour-blind readers can tell them apart. Text is
 * escaped and valid UTF-8. Errors of the output stay in the stream for the caller to test. */
#ifndef ORRERY_ANALYSIS_OUTPUT_PLOT_PLOT_H
#define ORRERY_ANALYSIS_OUTPUT_PLOT_PLOT_H

#include <stdio.h>

#include "analysis/output/plot/plot_axis.h"

struct plot {
    FILE *out;
    double left, top, width, height; /* of the frame, in SVG units */
    struct plot_axis x, y;
};
/* What a screen reader says of it: its title, and a description in words with the note. The note
 * stands below the height that the caller asks for: what holds of all figures of the page, as that
 * their hardware is announced; NULL or "": none. */
struct plot_page {
    double width, height;
    const char *title, *description, *note;
};
void plot_page_begin(FILE *out, const struct plot_page *page);
void plot_page_end(FILE *out);
/* Text at a place of the page; `anchor` "start", "middle" or "end". */
void plot_text(FILE *out, double x, double y, const char *anchor, const char *text);
/* The title of a page. */
void plot_heading(FILE *out, double x, double y, const char *text);
/* Text in lines of at most so many characters, 18 units apart; returns how many lines, and only
 * counts them where `out` is NULL. */
unsigned plot_paragraph(FILE *out, double x, double y, unsigned columns, const char *text);
/* A rectangle of the page with its label in black or white where it has room, and what it says when
 * pointed at (NULL: neither). `colour` NULL: hatched. */
struct plot_cell {
    double x, y, width, height;
    const char *colour, *label, *tip;
};
void plot_cell(FILE *out, const struct plot_cell *cell);
/* Hatching of its own, as a colour: lines of `colour`. A cell has no label on it; `name` is a word.
 * It stands in the page before what is filled with it. */
struct plot_hatching {
    char fill[64];
};
struct plot_hatching plot_hatching(FILE *out, const char *name, const char *colour);
/* How wide that is, or a little less. */
double plot_text_width(const char *text);

void plot_frame(const struct plot *plot, const char *title); /* axes, ticks, grid, labels */
/* Room below the frame for the ticks and the label of the x axis: words may stand aslant. */
double plot_room_below(const struct plot *plot);
double plot_x(const struct plot *plot, double value); /* to SVG units */
double plot_y(const struct plot *plot, double value);
void plot_line(const struct plot *plot, const double *x, const double *y, size_t count,
               const char *colour, bool dashed);
struct band { /* the area between two lines */
    const double *x, *low, *high;
    size_t count;
};
void plot_band(const struct plot *plot, const struct band *band, const char *colour,
               double opacity);
/* A dot with a tooltip (NULL: none). */
void plot_dot(const struct plot *plot, double x, double y, const char *colour, const char *tip);
/* A cross on the x axis, for what has no value; with a tooltip. */
void plot_cross(const struct plot *plot, double x, const char *tip);
/* A vertical stroke from `low` to `high`; `thick` SVG units. */
void plot_whisker(const struct plot *plot, double x, double low, double high, const char *colour,
                  double thick);
/* A rectangle from `begin` to `finish` in the row of a word of the y axis, as plot_cell has it. */
struct plot_bar {
    double begin, finish, row;
    const char *colour, *label, *tip;
};
void plot_bar(const struct plot *plot, const struct plot_bar *bar);
/* The same without a tip. */
void plot_box(const struct plot *plot, double begin, double finish, double row, const char *colour,
              const char *label);
/* Text beside a value, in the row of a word of the y axis. */
enum plot_side {
    PLOT_AFTER,
    PLOT_BEFORE,
    PLOT_AFTER_IN_ALARM /* it is past a limit */
};
void plot_label(const struct plot *plot, double x, double row, const char *text,
                enum plot_side side);
/* The part of the frame between two values of the x axis, tinted. */
void plot_region(const struct plot *plot, double low, double high, const char *colour,
                 double opacity);
/* A vertical line with a label above the frame; `row` 0, 1, ... keeps labels apart. */
void plot_mark(const struct plot *plot, double x, const char *colour, unsigned row,
               const char *label);
/* How high `rows` marks stand above the frame. */
double plot_marks_room(unsigned rows);
/* An entry of a legend at a place of the page; `colour` NULL: hatched. Returns where the next one
 * may stand to its right. */
double plot_key(FILE *out, double x, double y, const char *colour, const char *text);
/* Entries from left to right in as many lines as they need; `out` NULL: only moves on. */
struct plot_legend {
    FILE *out;
    double left, right, x, y; /* x, y: of the next entry; y: of the last line */
};
void plot_legend_add(struct plot_legend *legend, const char *colour, const char *text);

enum {
    PLOT_COLOUR_COUNT = 8
};
const char *plot_colour(unsigned index); /* modulo PLOT_COLOUR_COUNT */
#endif
