#include "analysis/validate/table/validate_svg.h"

#include <math.h>
#include <string.h>

#include "analysis/output/plot/plot.h"
#include "sim/plural.h"

enum {
    FRAME = 320, /* of a square panel */
    PANEL = 430, /* from one panel to the next */
    LEFT = 80,
    TOP = 60,
    PAGE_HEIGHT = 450,
    TIP_SIZE = 160,
    KEY_ROOM = 18 /* of a line of the legend */
};
#define BAND 0.10
#define WORST_SHOWN 0.5 /* errors beyond are drawn at the edge */

struct scatter_picture {
    struct arena *arena;
    const struct validation *v;
    const struct scores *scores;
    FILE *out;
    double width; /* of the page */
};

static unsigned source_index(const struct scatter_picture *p, const char *name)
{
    unsigned i = 0;
    while (i + 1 < p->scores->source_count && strcmp(p->scores->sources[i].name, name) != 0)
        i++;
    return i;
}

static const char *colour_of(const struct scatter_picture *p, const struct validate_row *row)
{
    return plot_colour(source_index(p, row->source));
}

/* A row that can be drawn: clean, measured, predicted, both above nothing. */
static bool drawn(const struct validate_row *row)
{
    const struct validate_value *value = &row->values[0];
    return row->quality == QUALITY_CLEAN && !row->refused && value->has_measured &&
           value->has_predicted && value->measured > 0.0 && value->predicted > 0.0;
}

static enum plot_unit unit_of(const char *metric)
{
    bool time = strstr(metric, "time") != NULL || strcmp(metric, "forward") == 0;
    return time ? PLOT_TIME : PLOT_PLAIN;
}

static struct plot panel(const struct scatter_picture *p, unsigned column)
{
    return (struct plot){.out = p->out,
                         .left = LEFT + (double)(column * PANEL),
                         .top = TOP,
                         .width = FRAME,
                         .height = FRAME};
}

/* The line of no error, and 10 % on either side. */
static void draw_band(const struct plot *plot, double low, double high)
{
    double x[] = {low, high};
    double under[] = {low * (1.0 - BAND), high * (1.0 - BAND)};
    double over[] = {low * (1.0 + BAND), high * (1.0 + BAND)};
    plot_band(plot, &(struct band){x, under, over, 2}, "#777777", 0.2);
    plot_line(plot, x, x, 2, "#777777", false);
}

static void tip_of(const struct validate_row *row, char tip[TIP_SIZE])
{
    double error = 0.0;
    validate_row_error(row, 0, &error);
    snprintf(tip, TIP_SIZE, "%.120s: %+.1f %%", row->id, 100.0 * error);
}

static struct plot_axis value_axis(const struct scatter_picture *p, const char *label)
{
    double *values = ARENA_ARRAY(p->arena, double, 2 * p->v->row_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < p->v->row_count; i++) {
        if (!drawn(&p->v->rows[i]))
            continue;
        values[count++] = p->v->rows[i].values[0].measured;
        values[count++] = p->v->rows[i].values[0].predicted;
    }
    return plot_axis_around(label, values, count, true, unit_of(p->v->kind->metrics[0]));
}

static void draw_legend(const struct scatter_picture *p)
{
    double x = LEFT, y = KEY_ROOM;
    for (unsigned i = 0; i < p->scores->source_count; i++) {
        const char *name = p->scores->sources[i].name;
        if (x > LEFT && x + plot_text_width(name) + KEY_ROOM > p->width) {
            x = LEFT;
            y += KEY_ROOM;
        }
        x = plot_key(p->out, x, y, plot_colour(i), name);
    }
}

static void draw_scatter(const struct scatter_picture *p)
{
    struct plot plot = panel(p, 0);
    char label[64], tip[TIP_SIZE];
    plot.x = value_axis(p, "measured");
    snprintf(label, sizeof label, "predicted %s, log", p->v->kind->head.name);
    plot.y = plot.x;
    plot.y.label = label;
    plot_frame(&plot, "");
    draw_band(&plot, plot.x.low, plot.x.high);
    for (size_t i = 0; i < p->v->row_count; i++) {
        const struct validate_row *row = &p->v->rows[i];
        if (!drawn(row))
            continue;
        tip_of(row, tip);
        plot_dot(&plot, row->values[0].measured, row->values[0].predicted, colour_of(p, row), tip);
    }
}

static struct plot_axis error_axis(const char *label)
{
    return (struct plot_axis){
        .label = label, .low = -WORST_SHOWN, .high = WORST_SHOWN, .unit = PLOT_SHARE};
}

static struct plot_axis gpus_axis(const struct scatter_picture *p)
{
    double *values = ARENA_ARRAY(p->arena, double, p->v->row_count + 1), error;
    size_t count = 0;
    for (size_t i = 0; i < p->v->row_count; i++)
        count += validate_scale_row(p->v, &p->v->rows[i], &values[count], &error);
    return plot_axis_around("GPUs, log", values, count, true, PLOT_PLAIN);
}

/* No error, and 10 % on either side, from end to end of the axis. */
static void draw_level_band(const struct plot *plot)
{
    double x[] = {plot->x.low, plot->x.high};
    double under[] = {-BAND, -BAND}, over[] = {BAND, BAND}, none[] = {0.0, 0.0};
    plot_band(plot, &(struct band){x, under, over, 2}, "#777777", 0.2);
    plot_line(plot, x, none, 2, "#777777", false);
}

static void draw_errors(const struct scatter_picture *p, bool by_gpus)
{
    struct plot plot = panel(p, 1);
    char tip[TIP_SIZE];
    plot.x = by_gpus ? gpus_axis(p) : value_axis(p, "measured");
    plot.y = error_axis("error (beyond 50 %: at the edge)");
    plot_frame(&plot, "");
    draw_level_band(&plot);
    for (size_t i = 0; i < p->v->row_count; i++) {
        const struct validate_row *row = &p->v->rows[i];
        double gpus = 0.0, error = 0.0;
        if (!drawn(row) || !validate_row_error(row, 0, &error))
            continue;
        if (by_gpus && !validate_scale_row(p->v, row, &gpus, &error))
            continue;
        tip_of(row, tip);
        plot_dot(&plot, by_gpus ? gpus : row->values[0].measured, error, colour_of(p, row), tip);
    }
}

/* A point of a bin stands at its limit, that of the last one twice beyond the limit before. */
static void draw_bins(const struct plot *plot, const struct scale *scale, const char *colour)
{
    double x[SCALE_BIN_COUNT], median[SCALE_BIN_COUNT], bias[SCALE_BIN_COUNT];
    for (unsigned b = 0; b < SCALE_BIN_COUNT; b++) {
        x[b] = isfinite(scale_bin_limits[b]) ? scale_bin_limits[b] : 2.0 * x[b - 1];
        median[b] = scale->bins[b].median_ape; /* NAN of none: left out */
        bias[b] = scale->bins[b].bias;
        plot_dot(plot, x[b], median[b], colour, NULL);
    }
    plot_line(plot, x, median, SCALE_BIN_COUNT, colour, false);
    plot_line(plot, x, bias, SCALE_BIN_COUNT, colour, true);
}

static void draw_scale(const struct scatter_picture *p, const struct scales *scales)
{
    const double range = 0.3;
    struct plot plot = panel(p, 2);
    double gpus[] = {scale_bin_limits[0], 2.0 * scale_bin_limits[SCALE_BIN_COUNT - 2]};
    char title[96];
    plot.x = plot_axis_around("GPUs, up to; the last bin is open", gpus, 2, true, PLOT_PLAIN);
    plot.y = (struct plot_axis){.label = "median |error| (line), bias (dashed); black: all",
                                .low = -range,
                                .high = range,
                                .unit = PLOT_SHARE};
    plot_frame(&plot, "");
    for (unsigned i = 0; i < scales->source_count; i++) {
        const char *name = scales->sources[i].name;
        draw_bins(&plot, &scales->sources[i], plot_colour(source_index(p, name)));
    }
    draw_bins(&plot, &scales->all, "#000000");
    snprintf(title, sizeof title, "rank correlation of |error| and GPUs in a source: %.2f",
             scales->within);
    plot_text(p->out, plot.left + plot.width - 8.0, plot.top + plot.height - 10.0, "end", title);
}

/* Machines of so few sizes that errors over GPUs say little are drawn over what was measured. */
static bool sizes_differ(const struct scales *scales)
{
    const unsigned least = 3;
    unsigned taken = 0;
    for (unsigned b = 0; b < SCALE_BIN_COUNT; b++)
        taken += scales->all.bins[b].count > 0.0;
    return taken >= least;
}

/* What has no dot. */
static void draw_missing(const struct scatter_picture *p)
{
    struct plot plot = panel(p, 0);
    char text[64];
    if (p->scores->all.refused == 0)
        return;
    snprintf(text, sizeof text, "%u row%s refused, not drawn", p->scores->all.refused,
             plural_s(p->scores->all.refused));
    plot_text(p->out, plot.left + plot.width - 8.0, plot.top + plot.height - 10.0, "end", text);
}

void validate_svg(struct arena *arena, const struct validation *v, const struct scores *scores,
                  FILE *out)
{
    struct scatter_picture p = {arena, v, scores, out, 0.0};
    struct scales scales;
    validate_scale_rows(arena, v, scores, &scales);
    bool by_gpus = sizes_differ(&scales);
    p.width = (by_gpus ? 3.0 : 2.0) * PANEL;
    plot_page_begin(
        out, &(struct plot_page){
                 p.width, PAGE_HEIGHT,
                 arena_format(arena, "%s: predicted against measured", v->kind->head.name),
                 "Left: each row, predicted over measured. Beside it: the errors of each source, "
                 "and, where they differ, by number of GPUs.",
                 validate_announced(v)});
    draw_legend(&p);
    draw_scatter(&p);
    draw_missing(&p);
    draw_errors(&p, by_gpus);
    if (by_gpus)
        draw_scale(&p, &scales);
    plot_page_end(out);
}
