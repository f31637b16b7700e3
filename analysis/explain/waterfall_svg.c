#include "analysis/explain/waterfall_svg.h"

#include <math.h>

#include "analysis/output/plot/palette.h"
#include "analysis/output/plot/plot.h"
#include "analysis/output/text/format.h"

enum {
    LEFT = 118,
    WIDTH = 500,
    RIGHT = 110,
    ROW_HEIGHT = 26,
    TITLE_Y = 22,
    KEYS_Y = 46,
    TOP = 62
};
/* Below this share a term is rounding. */
#define NOTHING 1e-9

/* What a term is: what must be, what the GPU does beside it, what it waits for, what weeks lose. */
static const struct {
    const char *colour, *what;
} kinds[] = {{PALETTE_BLUE, "arithmetic at the peak"},
             {PALETTE_TEAL, "kernels"},
             {PALETTE_AMBER, "waiting"},
             {PALETTE_BRICK, "failures and saves"}};

static unsigned kind_of(unsigned term)
{
    static const enum waterfall_key kernels[] = {WATERFALL_masked_scores, WATERFALL_kernels,
                                                 WATERFALL_recompute, WATERFALL_optimizer};
    if (term == WATERFALL_useful)
        return 0;
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (term == kernels[i])
            return 1;
    return term >= WATERFALL_checkpoint ? 3 : 2;
}

/* Terms that are not nothing, as rows; the step itself comes last. */
static size_t choose_rows(const struct waterfall *w, unsigned rows[], const char *words[])
{
    size_t count = 0;
    for (unsigned i = 0; i < WATERFALL_COUNT; i++) {
        if (fabs(w->terms[i].seconds) <= NOTHING * w->kept_step_s)
            continue;
        rows[count] = i;
        words[count++] = w->terms[i].key;
    }
    words[count] = w->weeks ? "a kept step" : "the step";
    return count;
}

/* A term may be below 0: scores that a mask leaves out are counted, and not done. */
static double highest(const struct waterfall *w)
{
    double at = 0.0, most = 0.0;
    for (unsigned i = 0; i < WATERFALL_COUNT; i++)
        most = fmax(most, at += w->terms[i].seconds);
    return most;
}

static void draw_row(const struct plot *plot, const struct plot_bar *bar, double seconds,
                     double whole)
{
    char text[112];
    snprintf(text, sizeof text, "%s  %s", format_time(seconds).s,
             format_percent(seconds / whole).s);
    const bool room = bar->finish < 0.75 * plot->x.high || bar->begin == 0.0;
    plot_bar(plot, bar);
    plot_label(plot, room ? bar->finish : bar->begin, bar->row, text,
               room ? PLOT_AFTER : PLOT_BEFORE);
}

static void draw_rows(const struct plot *plot, const struct waterfall *w, const unsigned rows[],
                      size_t count)
{
    double at = 0.0;
    char tip[256];
    for (size_t i = 0; i < count; i++) {
        const struct waterfall_term *term = &w->terms[rows[i]];
        const double end = at + term->seconds;
        snprintf(tip, sizeof tip, "%s: %.17g s (%s)", term->key, term->seconds, term->what);
        draw_row(plot,
                 &(struct plot_bar){fmin(at, end), fmax(at, end), (double)i,
                                    kinds[kind_of(rows[i])].colour, NULL, tip},
                 term->seconds, w->kept_step_s);
        at = end;
    }
    snprintf(tip, sizeof tip, "sum: %.17g s", w->kept_step_s);
    draw_row(plot, &(struct plot_bar){0.0, w->kept_step_s, (double)count, PALETTE_INK, NULL, tip},
             w->kept_step_s, w->kept_step_s);
}

void waterfall_svg(const char *title, const char *note, const struct waterfall *w, FILE *out)
{
    unsigned rows[WATERFALL_COUNT];
    const char *words[WATERFALL_COUNT + 1];
    const size_t count = choose_rows(w, rows, words);
    struct plot plot = {.out = out, .left = LEFT, .top = TOP, .width = WIDTH};
    struct plot_legend keys = {out, LEFT, LEFT + WIDTH + RIGHT, LEFT, KEYS_Y};
    char description[320];
    plot.height = (double)(ROW_HEIGHT * (count + 1));
    plot.x = (struct plot_axis){.label = w->weeks ? "wall clock of a kept step, of the mean rank"
                                                  : "time of the step of the mean rank",
                                .high = highest(w),
                                .unit = PLOT_TIME};
    plot.y = plot_axis_words("", words, count + 1, true);
    snprintf(description, sizeof description,
             "Where %s of %s go: %s are arithmetic at the dense peak, %s of them; each bar begins "
             "where the one above it ends.",
             format_time(w->kept_step_s).s, w->weeks ? "a kept step" : "a step",
             format_time(w->terms[WATERFALL_useful].seconds).s,
             format_percent(w->terms[WATERFALL_useful].seconds / w->kept_step_s).s);
    plot_page_begin(out, &(struct plot_page){LEFT + WIDTH + RIGHT,
                                             TOP + plot.height + plot_room_below(&plot) + 6.0,
                                             title, description, note});
    plot_heading(out, LEFT, TITLE_Y, title);
    for (unsigned i = 0; i < (w->weeks ? 4u : 3u); i++)
        plot_legend_add(&keys, kinds[i].colour, kinds[i].what);
    plot_frame(&plot, "");
    draw_rows(&plot, w, rows, count);
    plot_page_end(out);
}
