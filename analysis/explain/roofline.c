#include "analysis/explain/roofline.h"

#include <math.h>

#include "analysis/plot/palette.h"
#include "analysis/plot/plot.h"
#include "analysis/text/format.h"

enum {
    LEFT = 78,
    WIDTH = 440,
    HEIGHT = 340,
    LIST = 230, /* of kernels, beside the frame */
    TITLE_Y = 22,
    TOP = 62,
    LINE = 17,
    KERNEL_MAX = 24
};

/* What can stand on two logarithmic axes. */
static bool drawable(const struct walls_kernel *k)
{
    return k->flops > 0.0 && k->bytes > 0.0 && k->modelled_s > 0.0;
}

struct roofline_picture {
    struct plot plot;
    const struct walls_kernel *kernels[KERNEL_MAX];
    double x[KERNEL_MAX + 1], y[KERNEL_MAX + 1]; /* FLOP a byte, FLOP a second */
    size_t count;
    double peak, hbm;
};

static void take_kernels(const struct walls *walls, struct roofline_picture *p)
{
    for (unsigned i = 0; i < walls->kernel_count && p->count < KERNEL_MAX; i++) {
        const struct walls_kernel *k = &walls->kernels[i];
        if (!drawable(k))
            continue;
        p->kernels[p->count] = k;
        p->x[p->count] = k->flops / k->bytes;
        p->y[p->count++] = k->flops / k->modelled_s;
    }
}

static void set_axes(struct roofline_picture *p)
{
    const double balance = p->peak / p->hbm;
    p->x[p->count] = balance;
    p->plot.x = plot_axis_around("FLOP for each byte of HBM", p->x, p->count + 1, true, PLOT_PLAIN);
    p->y[p->count] = p->peak;
    p->plot.y = plot_axis_around("FLOP/s", p->y, p->count + 1, true, PLOT_PLAIN);
    /* the slope is seen, from a tenth of the ridge on */
    p->plot.x.low = fmin(p->plot.x.low, balance / 10.0);
    p->plot.x.high *= 1.5;
    p->plot.y.low = fmin(p->plot.y.low / 1.5, p->plot.x.low * p->hbm);
    p->plot.y.high *= 1.5;
    p->plot.left = LEFT;
    p->plot.top = TOP;
    p->plot.width = WIDTH;
    p->plot.height = HEIGHT;
}

/* The slope of HBM up to the ridge, the flat of the peak from there on. */
static void draw_roof(const struct roofline_picture *p)
{
    const double from = fmax(p->plot.x.low, p->plot.y.low / p->hbm), balance = p->peak / p->hbm;
    const double x[] = {from, balance, p->plot.x.high};
    const double y[] = {from * p->hbm, p->peak, p->peak};
    plot_line(&p->plot, x, y, 3, PALETTE_INK, false);
}

/* Kernels are numbered: near each other on the roof, they are told apart in the list. */
static void draw_kernel(const struct roofline_picture *p, size_t i)
{
    const struct walls_kernel *k = p->kernels[i];
    char tip[320], number[24], line[96];
    const double y = TOP + 20.0 + (double)(LINE * i);
    snprintf(number, sizeof number, "%zu", i + 1);
    snprintf(tip, sizeof tip, "%s %s: %.17g FLOP, %.17g bytes, %.17g s", k->block, k->name,
             k->flops, k->bytes, k->modelled_s);
    plot_dot(&p->plot, p->x[i], p->y[i], k->by_arithmetic ? PALETTE_BLUE : PALETTE_BRICK, tip);
    plot_text(p->plot.out, plot_x(&p->plot, p->x[i]) + (i % 2 ? 5.0 : -5.0),
              plot_y(&p->plot, p->y[i]) + (i % 2 ? 12.0 : -5.0), i % 2 ? "start" : "end", number);
    snprintf(line, sizeof line, "%s  %s %.40s, %.0f %%", number, k->block, k->name,
             100.0 * k->roofline_s / k->modelled_s);
    plot_text(p->plot.out, LEFT + WIDTH + 16.0, y, "start", line);
}

bool roofline_svg(const char *title, const struct walls *walls, FILE *out, struct error *error)
{
    struct roofline_picture p = {.plot = {.out = out},
                                 .peak = walls->envelope.peak_flops_per_s,
                                 .hbm = walls->envelope.hbm_bytes_per_s};
    char description[400];
    take_kernels(walls, &p);
    if (p.count == 0)
        return error_set(error, "no kernel of this model has both FLOPs and bytes to draw");
    set_axes(&p);
    snprintf(
        description, sizeof description,
        "The %zu kernels of a layer's forward pass and of the head under the roof of the card: "
        "%s/s above %.0f FLOP for each byte of HBM, %s below.",
        p.count, format_flops(p.peak).s, p.peak / p.hbm, format_rate(p.hbm).s);
    const double height = fmax(HEIGHT, (double)(LINE * (p.count + 1)));
    plot_page_begin(out, LEFT + WIDTH + LIST, TOP + height + plot_room_below(&p.plot) + 6.0, title,
                    description);
    plot_heading(out, LEFT, TITLE_Y, title);
    plot_key(out, plot_key(out, LEFT + 60.0, TOP - 12.0, PALETTE_BLUE, "bound by arithmetic"),
             TOP - 12.0, PALETTE_BRICK, "bound by HBM");
    plot_frame(&p.plot, "");
    draw_roof(&p);
    plot_text(out, LEFT + WIDTH + 16.0, TOP, "start", "kernel, share of its roof");
    for (size_t i = 0; i < p.count; i++)
        draw_kernel(&p, i);
    plot_page_end(out);
    return true;
}
