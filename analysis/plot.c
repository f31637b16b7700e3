#include "analysis/plot.h"

#include <math.h>

#include "analysis/format.h"
#include "sim/units.h"

enum {
    TICKS_WANTED = 6,
    LABEL_GAP = 16,
    LEGEND_STEP = 16
};

const char *plot_colour(unsigned index)
{
    static const char *const colours[PLOT_COLOUR_COUNT] = {
        "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b8a900"};
    return colours[index % PLOT_COLOUR_COUNT];
}

void plot_page_begin(FILE *out, double width, double height)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height);
}

void plot_page_end(FILE *out)
{
    fprintf(out, "</svg>\n");
}

static void put_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if ((unsigned char)*text >= ' ')
            fputc(*text, out);
    }
}

void plot_text(FILE *out, double x, double y, const char *anchor, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#333\">", x, y, anchor);
    put_escaped(out, text);
    fputs("</text>\n", out);
}

/* Where a value stands on its axis, from 0 to 1. */
static double share_of(const struct plot_axis *axis, double value)
{
    double share = axis->log ? log(value / axis->low) / log(axis->high / axis->low)
                             : (value - axis->low) / (axis->high - axis->low);
    return fmin(fmax(share, 0.0), 1.0);
}

double plot_x(const struct plot *plot, double value)
{
    return plot->left + plot->width * share_of(&plot->x, value);
}

double plot_y(const struct plot *plot, double value)
{
    return plot->top + plot->height * (1.0 - share_of(&plot->y, value));
}

static struct text tick_label(enum plot_unit unit, double value)
{
    struct text text;
    if (unit == PLOT_TIME)
        return format_time(value);
    if (unit == PLOT_SHARE)
        return format_percent(value);
    snprintf(text.s, sizeof text.s, "%.4g", value);
    return text;
}

static void draw_tick_x(const struct plot *plot, double value)
{
    double x = plot_x(plot, value), bottom = plot->top + plot->height;
    fprintf(plot->out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#e4e4e4\"/>\n", x, plot->top, bottom);
    plot_text(plot->out, x, bottom + LABEL_GAP, "middle", tick_label(plot->x.unit, value).s);
}

static void draw_tick_y(const struct plot *plot, double value)
{
    double y = plot_y(plot, value);
    fprintf(plot->out, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#e4e4e4\"/>\n", plot->left, y,
            plot->left + plot->width);
    plot_text(plot->out, plot->left - 6.0, y + 4.0, "end", tick_label(plot->y.unit, value).s);
}

typedef void tick_fn(const struct plot *plot, double value);

/* 1, 2 or 5 times a power of ten, so that about TICKS_WANTED of them fill the axis. */
static void ticks_linear(const struct plot *plot, const struct plot_axis *axis, tick_fn *draw)
{
    const double rounding = 1e-9;
    double rough = (axis->high - axis->low) / TICKS_WANTED, power = pow(10.0, floor(log10(rough)));
    double step = rough / power < 1.5 ? power : rough / power < 3.5 ? 2.0 * power : 5.0 * power;
    double first = ceil(axis->low / step - rounding);
    for (double i = first; i * step <= axis->high + step * rounding; i++)
        draw(plot, i * step);
}

/* Times of a clock where the axis is time: people read 2 h, not 7.2 ks. */
static const double clock_ticks[] = {
    1e-6,       1e-5,       1e-4,        1e-3,   1e-2,         0.1,           1.0,           2.0,
    5.0,        10.0,       30.0,        MINUTE, 5.0 * MINUTE, 10.0 * MINUTE, 30.0 * MINUTE, HOUR,
    2.0 * HOUR, 4.0 * HOUR, 12.0 * HOUR, DAY,    3.0 * DAY,    10.0 * DAY,    30.0 * DAY,    YEAR};

static void ticks_log(const struct plot *plot, const struct plot_axis *axis, tick_fn *draw)
{
    if (axis->unit == PLOT_TIME) {
        for (size_t i = 0; i < sizeof clock_ticks / sizeof *clock_ticks; i++) {
            if (clock_ticks[i] >= axis->low && clock_ticks[i] <= axis->high)
                draw(plot, clock_ticks[i]);
        }
        return;
    }
    static const double fine[] = {1.0, 2.0, 5.0};
    double decades = log10(axis->high / axis->low);
    unsigned parts = decades < 3.0 ? 3 : 1;
    for (double p = floor(log10(axis->low)); p <= log10(axis->high); p++) {
        for (unsigned i = 0; i < parts; i++) {
            double value = fine[i] * pow(10.0, p);
            if (value >= axis->low && value <= axis->high)
                draw(plot, value);
        }
    }
}

static void draw_ticks(const struct plot *plot, const struct plot_axis *axis, tick_fn *draw)
{
    if (axis->log)
        ticks_log(plot, axis, draw);
    else
        ticks_linear(plot, axis, draw);
}

void plot_frame(const struct plot *plot, const char *title)
{
    double middle = plot->left + plot->width / 2.0, bottom = plot->top + plot->height;
    draw_ticks(plot, &plot->x, draw_tick_x);
    draw_ticks(plot, &plot->y, draw_tick_y);
    fprintf(plot->out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
            "stroke=\"#777\"/>\n",
            plot->left, plot->top, plot->width, plot->height);
    plot_text(plot->out, middle, bottom + 2.2 * LABEL_GAP, "middle", plot->x.label);
    plot_text(plot->out, plot->left - 50.0, plot->top - 10.0, "start", plot->y.label);
    plot_text(plot->out, middle, 18.0, "middle", title);
}

void plot_line(const struct plot *plot, const double *x, const double *y, size_t count,
               const char *colour, bool dashed)
{
    fprintf(plot->out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"%s d=\"", colour,
            dashed ? " stroke-dasharray=\"5 4\"" : "");
    const char *move = "M";
    for (size_t i = 0; i < count; i++) {
        if (isfinite(x[i]) && isfinite(y[i])) {
            fprintf(plot->out, "%s%.1f %.1f", move, plot_x(plot, x[i]), plot_y(plot, y[i]));
            move = "L";
        }
    }
    fputs("\"/>\n", plot->out);
}

void plot_band(const struct plot *plot, const double *x, const double *low, const double *high,
               size_t count, const char *colour, double opacity)
{
    fprintf(plot->out, "<path fill=\"%s\" fill-opacity=\"%.2f\" d=\"", colour, opacity);
    for (size_t i = 0; i < count; i++)
        fprintf(plot->out, "%s%.1f %.1f", i ? "L" : "M", plot_x(plot, x[i]), plot_y(plot, high[i]));
    for (size_t i = count; i > 0; i--)
        fprintf(plot->out, "L%.1f %.1f", plot_x(plot, x[i - 1]), plot_y(plot, low[i - 1]));
    fputs("Z\"/>\n", plot->out);
}

void plot_dot(const struct plot *plot, double x, double y, const char *colour, const char *tip)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    fprintf(plot->out,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"%s\" fill-opacity=\".75\">",
            plot_x(plot, x), plot_y(plot, y), colour);
    if (tip) {
        fputs("<title>", plot->out);
        put_escaped(plot->out, tip);
        fputs("</title>", plot->out);
    }
    fputs("</circle>\n", plot->out);
}

void plot_mark(const struct plot *plot, double x, const char *colour, unsigned row,
               const char *label)
{
    double at = plot_x(plot, x), top = plot->top + (double)row * LABEL_GAP;
    fprintf(plot->out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\" stroke-dasharray=\"3 3\"/>\n", at,
            top + 4.0, plot->top + plot->height, colour);
    fprintf(plot->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", at, top + 10.0,
            colour);
    plot_text(plot->out, at + 6.0, top + 14.0, "start", label);
}

void plot_legend(const struct plot *plot, unsigned row, const char *colour, const char *text)
{
    double y = plot->top + 12.0 + (double)row * LEGEND_STEP, x = plot->left + plot->width - 14.0;
    fprintf(plot->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", x,
            y - 9.0, colour);
    plot_text(plot->out, x - 5.0, y, "end", text);
}

struct plot_axis plot_axis_around(const char *label, const double *values, size_t count, bool log,
                                  enum plot_unit unit)
{
    const double room = 0.05;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i]) && (!log || values[i] > 0.0)) {
            low = fmin(low, values[i]);
            high = fmax(high, values[i]);
        }
    }
    if (!isfinite(low))
        low = high = 1.0;
    double by = log ? fmax(pow(high / low, room), 1.01)
                    : fmax((high - low) * room, fmax(fabs(high) * 1e-3, 1e-12));
    return (struct plot_axis){label, log ? low / by : low - by, log ? high * by : high + by, log,
                              unit};
}
