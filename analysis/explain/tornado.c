#include "analysis/explain/tornado.h"

#include <math.h>

#include "analysis/output/plot/palette.h"
#include "analysis/output/plot/plot.h"

enum {
    LEFT = 130,
    TOP = 66,
    WIDTH = 620,
    ROW_HEIGHT = 30,
    RIGHT = 30,
    TITLE_Y = 22,
    KEYS_Y = 46
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

/* What a tenth more or less of row `row` does. */
static void draw_bar(const struct plot *plot, const struct elasticities *e, unsigned row, bool more)
{
    const double end = change(more ? e->rows[row].cost_high_ratio : e->rows[row].cost_low_ratio);
    char tip[96];
    if (end == 0.0)
        return;
    snprintf(tip, sizeof tip, "%s, 10 %% %s: %.17g", e->rows[row].key, more ? "more" : "less", end);
    plot_bar(plot, &(struct plot_bar){fmin(end, 0.0), fmax(end, 0.0), (double)row,
                                      more ? PALETTE_BLUE : PALETTE_AMBER, NULL, tip});
}

void tornado_svg(const char *title, const char *note, const struct elasticities *e, FILE *out)
{
    const char *words[HARDWARE_INPUT_COUNT];
    struct plot plot = {.out = out};
    set_axes(&plot, e, words);
    plot_page_begin(
        out, &(struct plot_page){
                 LEFT + WIDTH + RIGHT, plot.top + plot.height + plot_room_below(&plot), title,
                 "What a tenth more and a tenth less of each hardware figure do, the figure that "
                 "matters most first.",
                 note});
    const double next = plot_key(out, LEFT, KEYS_Y, PALETTE_BLUE, "10 % more");
    plot_key(out, next, KEYS_Y, PALETTE_AMBER, "10 % less");
    plot_heading(out, LEFT, TITLE_Y, title);
    plot_frame(&plot, "");
    for (unsigned i = 0; i < e->count; i++) {
        draw_bar(&plot, e, i, false);
        draw_bar(&plot, e, i, true);
    }
    plot_page_end(out);
}
