#include "analysis/explain/roofline.h"

#include <math.h>

#include "analysis/output/plot/palette.h"
#include "analysis/output/plot/plot.h"
#include "analysis/output/text/format.h"

enum {
    LEFT = 78,
    WIDTH = 440,
    HEIGHT = 340,
    LIST = 230, /* of kernels, beside the frame */
    TITLE_Y = 22,
    TOP = 62,
    LINE = 17,
    KERNEL_MAX = 24,
    NUMBER_WIDTH = 15, /* of two digits */
    NUMBER_HEIGHT = 11,
    DOT = 3
};

/* What can stand on two logarithmic axes. */
static bool drawable(const struct walls_kernel *k)
{
    return k->flops > 0.0 && k->bytes > 0.0 && k->modelled_s > 0.0;
}

struct roofline_picture {
    struct plot plot;
    const struct walls_kernel *kernels[KERNEL_MAX], *roofs[PEAK_COUNT];
    double x[KERNEL_MAX + PEAK_COUNT], y[KERNEL_MAX + PEAK_COUNT]; /* FLOP a byte, FLOP a second */
    double label_x[KERNEL_MAX], label_y[KERNEL_MAX];
    size_t count;
    unsigned roof_count;
    double hbm;
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
    p->roof_count = walls_roofs(walls, p->roofs);
}

static void set_axes(struct roofline_picture *p)
{
    size_t count = p->count;
    double balance = 0.0; /* of the highest roof */
    for (unsigned r = p->roof_count; r-- > 0;) {
        balance = p->roofs[r]->peak_flops_per_s / p->hbm;
        p->x[count] = balance;
        p->y[count++] = p->roofs[r]->peak_flops_per_s;
    }
    p->plot.x = plot_axis_around("FLOP for each byte of HBM", p->x, count, true, PLOT_PLAIN);
    p->plot.y = plot_axis_around("FLOP/s", p->y, count, true, PLOT_PLAIN);
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

/* The slope of HBM up to the ridge of the highest peak, and the flat of each peak from its own
 * ridge on, with its name. */
static void draw_roofs(const struct roofline_picture *p)
{
    const double from = fmax(p->plot.x.low, p->plot.y.low / p->hbm), right = p->plot.x.high;
    for (unsigned r = 0; r < p->roof_count; r++) {
        const double peak = p->roofs[r]->peak_flops_per_s, balance = peak / p->hbm;
        const double x[] = {from, balance, right}, y[] = {from * p->hbm, peak, peak};
        const unsigned flat = r > 0; /* the slope is drawn once */
        char name[64];
        plot_line(&p->plot, x + flat, y + flat, 3 - flat, PALETTE_INK, false);
        snprintf(name, sizeof name, "%s: %s/s", peak_names[p->roofs[r]->peak],
                 format_flops(peak).s);
        plot_text(p->plot.out, LEFT + WIDTH - 4.0, plot_y(&p->plot, peak) + (flat ? 14.0 : -5.0),
                  "end", name);
    }
}

/* Would a number there cover another one, or a dot? */
static bool covered(const struct roofline_picture *p, size_t i, double x, double y)
{
    for (size_t k = 0; k < p->count; k++) {
        const double dot_x = plot_x(&p->plot, p->x[k]), dot_y = plot_y(&p->plot, p->y[k]);
        if (k < i && fabs(x - p->label_x[k]) < NUMBER_WIDTH &&
            fabs(y - p->label_y[k]) < NUMBER_HEIGHT)
            return true;
        if (k != i && fabs(x - dot_x) < NUMBER_WIDTH / 2.0 + DOT &&
            fabs(y - dot_y) < NUMBER_HEIGHT / 2.0 + DOT)
            return true;
    }
    return false;
}

/* The middle of a number: the first free place round its dot. */
static void place_number(struct roofline_picture *p, size_t i)
{
    static const double way[][2] = {{-1, -1}, {1, 1}, {1, -1}, {-1, 1}, {0, -1.3}, {0, 1.3}};
    const double x = plot_x(&p->plot, p->x[i]), y = plot_y(&p->plot, p->y[i]);
    const unsigned ways = sizeof way / sizeof *way;
    for (unsigned w = 0; w < 3 * ways; w++) {
        const double far = 10.0 * (1.0 + w / ways);
        p->label_x[i] = x + far * way[w % ways][0];
        p->label_y[i] = y + far * way[w % ways][1];
        if (!covered(p, i, p->label_x[i], p->label_y[i]))
            return;
    }
}

/* Kernels are numbered: near each other on the roof, they are told apart in the list. */
static void draw_kernel(struct roofline_picture *p, size_t i)
{
    const struct walls_kernel *k = p->kernels[i];
    char tip[320], number[24], line[112];
    const double y = TOP + 20.0 + (double)(LINE * i);
    snprintf(number, sizeof number, "%zu", i + 1);
    snprintf(tip, sizeof tip, "%s %s: %.17g FLOP, %.17g bytes, %.17g s, %s", k->block, k->name,
             k->flops, k->bytes, k->modelled_s, peak_names[k->peak]);
    plot_dot(&p->plot, p->x[i], p->y[i], k->by_arithmetic ? PALETTE_BLUE : PALETTE_BRICK, tip);
    place_number(p, i);
    plot_text(p->plot.out, p->label_x[i], p->label_y[i] + 4.0, "middle", number);
    snprintf(line, sizeof line, "%s  %s %.40s, %.0f %% of %s", number, k->block, k->name,
             100.0 * k->roofline_s / k->modelled_s, k->by_arithmetic ? peak_names[k->peak] : "HBM");
    plot_text(p->plot.out, LEFT + WIDTH + 16.0, y, "start", line);
}

/* The roofs in words, for who does not see them. */
static const char *describe(const struct roofline_picture *p, char *text, size_t size)
{
    size_t used = (size_t)snprintf(
        text, size,
        "The %zu kernels of a layer's forward pass and of the head under the roof%s of "
        "the card: %s of HBM",
        p->count, p->roof_count > 1 ? "s" : "", format_rate(p->hbm).s);
    for (unsigned r = 0; r < p->roof_count && used < size; r++)
        used += (size_t)snprintf(
            text + used, size - used, "%s %s/s of %s above %.0f FLOP for each byte",
            r > 0 ? "," : ";", format_flops(p->roofs[r]->peak_flops_per_s).s,
            peak_names[p->roofs[r]->peak], p->roofs[r]->peak_flops_per_s / p->hbm);
    return text;
}

bool roofline_svg(const char *title, const char *note, const struct walls *walls, FILE *out,
                  struct error *error)
{
    struct roofline_picture p = {.plot = {.out = out}, .hbm = walls->envelope.hbm_bytes_per_s};
    char description[640];
    take_kernels(walls, &p);
    if (p.count == 0)
        return error_set(error, "no kernel of this model has both FLOPs and bytes to draw");
    set_axes(&p);
    const double height = fmax(HEIGHT, (double)(LINE * (p.count + 1)));
    plot_page_begin(out, &(struct plot_page){LEFT + WIDTH + LIST,
                                             TOP + height + plot_room_below(&p.plot) + 6.0, title,
                                             describe(&p, description, sizeof description), note});
    plot_heading(out, LEFT, TITLE_Y, title);
    plot_key(out, plot_key(out, LEFT + 60.0, TOP - 12.0, PALETTE_BLUE, "bound by arithmetic"),
             TOP - 12.0, PALETTE_BRICK, "bound by HBM");
    plot_frame(&p.plot, "");
    draw_roofs(&p);
    plot_text(out, LEFT + WIDTH + 16.0, TOP, "start", "forward kernel, share of its roof");
    for (size_t i = 0; i < p.count; i++)
        draw_kernel(&p, i);
    plot_page_end(out);
    return true;
}
