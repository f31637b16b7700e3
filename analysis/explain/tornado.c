#include "analysis/explain/tornado.h"

#include <math.h>

#include "analysis/text/plot.h"

enum {
    LEFT = 130,
    TOP = 66,
    WIDTH = 620,
    ROW_HEIGHT = 30,
    RIGHT = 30,
    KEYS_Y = 42
};

/* Change of the price of a token at each end, of a single step that of its time. */
static double change(double ratio)
{
    return ratio - 1.0;
}

static void set_axes(struct plot *plot, const struct elasticities *e, const char *words[])
{
    double ends[2 * HARDWARE_INPUT_COUNT + 2] = {-0.01, 0.01}; /* room where nothing matters */
    for (unsigned i = 0; i < e->count; i++) {
        words[i] = e->rows[i].key;
        ends[2 * i + 2] = change(e->rows[i].cost_low_ratio);
        ends[2 * i + 3] = change(e->rows[i].cost_high_ratio);
    }
    plot->x = plot_axis_around(e->weeks ? "change of the price of a kept token"
                                        : "change of the step, and of the price of a token",
                               ends, 2 * (size_t)e->count + 2, false, PLOT_SHARE);
    plot->y = plot_axis_words("", words, e->count, true);
    plot->left = LEFT;
    plot->top = TOP;
    plot->width = WIDTH;
    plot->height = (double)(ROW_HEIGHT * e->count);
}

static void draw_bar(const struct plot *plot, unsigned row, double end, unsigned colour)
{
    if (end != 0.0)
        plot_box(plot, fmin(end, 0.0), fmax(end, 0.0), (double)row, plot_colour(colour), NULL);
}

void tornado_svg(const char *title, const struct elasticities *e, FILE *out)
{
    const char *words[HARDWARE_INPUT_COUNT];
    struct plot plot = {.out = out};
    set_axes(&plot, e, words);
    plot_page_begin(out, LEFT + WIDTH + RIGHT, plot.top + plot.height + plot_room_below(&plot));
    const double next = plot_key(out, LEFT, KEYS_Y, plot_colour(0), "10 % more");
    plot_key(out, next, KEYS_Y, plot_colour(1), "10 % less");
    plot_frame(&plot, title);
    for (unsigned i = 0; i < e->count; i++) {
        draw_bar(&plot, i, change(e->rows[i].cost_low_ratio), 1);
        draw_bar(&plot, i, change(e->rows[i].cost_high_ratio), 0);
    }
    plot_page_end(out);
}
