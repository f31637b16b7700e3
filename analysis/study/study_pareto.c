#include "analysis/study/study_pareto.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/output/plot/palette.h"
#include "analysis/output/plot/plot.h"
#include "analysis/output/text/format.h"
#include "analysis/study/study_report.h"

enum {
    LEFT = 84,
    WIDTH = 560,
    HEIGHT = 340,
    RIGHT = 76,
    TITLE_Y = 22,
    KEYS_Y = 46,
    TOP = 78,
    LINE = 18,
    NAMED_MAX = 12
};
/* What needs more than a card and a quarter is counted, not drawn. */
#define BEYOND 1.25

struct pareto_picture {
    struct plot plot;
    struct arena *arena;
    struct pareto_point *points;
    size_t count, best_count, beyond; /* beyond: right of the frame */
    double usable_bytes;
};

static int by_bytes(const void *a, const void *b)
{
    const struct pareto_point *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->tokens_per_s < y->tokens_per_s) - (x->tokens_per_s > y->tokens_per_s);
}

static void find_best(struct pareto_picture *p)
{
    double most = 0.0;
    qsort(p->points, p->count, sizeof *p->points, by_bytes);
    for (size_t i = 0; i < p->count; i++) {
        struct pareto_point *one = &p->points[i];
        one->best = one->fits && one->tokens_per_s > most;
        most = one->best ? one->tokens_per_s : most;
        p->best_count += one->best;
    }
}

static void set_axes(struct pareto_picture *p)
{
    const size_t count = p->count;
    const double most = BEYOND * p->usable_bytes;
    double *x = ARENA_ARRAY(p->arena, double, count + 1);
    double *y = ARENA_ARRAY(p->arena, double, count + 1);
    for (size_t i = 0; i < count; i++) {
        const bool shown = p->points[i].fits || p->points[i].bytes <= most;
        p->beyond += !shown;
        x[i] = shown ? p->points[i].bytes : (double)NAN;
        y[i] = p->points[i].fits ? p->points[i].tokens_per_s : (double)NAN;
    }
    x[count] = p->usable_bytes > 0.0 ? p->usable_bytes : (double)NAN;
    p->plot.x = plot_axis_around("memory of the fullest card", x, count + 1, false, PLOT_BYTES);
    p->plot.y = plot_axis_around("tokens/s", y, count, false, PLOT_PLAIN);
    p->plot.left = LEFT;
    p->plot.top = TOP;
    p->plot.width = WIDTH;
    p->plot.height = HEIGHT;
}

static void draw_points(const struct pareto_picture *p)
{
    struct arena *arena = p->arena;
    for (size_t i = 0; i < p->count; i++) {
        const struct pareto_point *one = &p->points[i];
        const char *label = one->label;
        if (one->fits)
            plot_dot(&p->plot, one->bytes, one->tokens_per_s, one->best ? PALETTE_BLUE : "#8a8a8a",
                     arena_format(arena, "%s: %.17g tokens/s, %.17g bytes", label,
                                  one->tokens_per_s, one->bytes));
        else if (one->bytes <= BEYOND * p->usable_bytes)
            plot_cross(
                &p->plot, one->bytes,
                arena_format(arena, "%s: does not fit, needs %.17g bytes", label, one->bytes));
    }
}

/* The staircase from one best point to the next, numbered; the list below names them. */
static void draw_frontier(const struct pareto_picture *p, double y)
{
    struct arena *arena = p->arena;
    double *xs = ARENA_ARRAY(arena, double, 2 * p->best_count + 1);
    double *ys = ARENA_ARRAY(arena, double, 2 * p->best_count + 1);
    size_t corners = 0, number = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct pareto_point *one = &p->points[i];
        if (!one->best)
            continue;
        if (corners > 0) {
            xs[corners] = one->bytes;
            ys[corners] = ys[corners - 1];
            corners++;
        }
        xs[corners] = one->bytes;
        ys[corners++] = one->tokens_per_s;
        if (++number > NAMED_MAX)
            continue;
        plot_text(p->plot.out, plot_x(&p->plot, one->bytes) - 6.0,
                  plot_y(&p->plot, one->tokens_per_s) - 5.0, "end",
                  arena_format(arena, "%zu", number));
        plot_text(p->plot.out, LEFT, y + (double)(LINE * number), "start",
                  arena_format(arena, "%zu  %s: %s tokens/s, %s", number, one->label,
                               format_quantity(one->tokens_per_s).s, format_bytes(one->bytes).s));
    }
    plot_line(&p->plot, xs, ys, corners, PALETTE_BLUE, false);
}

bool study_pareto_draw(struct arena *arena, const struct pareto_points *points, FILE *out,
                       struct error *error)
{
    struct pareto_picture p = {.plot = {.out = out},
                               .arena = arena,
                               .points = points->points,
                               .count = points->count,
                               .usable_bytes = points->usable_bytes};
    find_best(&p);
    if (p.best_count == 0)
        return error_set(error, "no %s fits and was timed: there is nothing to choose from",
                         points->what);
    set_axes(&p);
    const double below = TOP + HEIGHT + plot_room_below(&p.plot);
    const size_t named = p.best_count < NAMED_MAX ? p.best_count : NAMED_MAX;
    const char *description =
        arena_format(arena,
                     "%zu layouts by the memory of their fullest card and by tokens a second; no "
                     "other is better than the %zu on the line in both.",
                     p.count, p.best_count);
    plot_page_begin(out,
                    &(struct plot_page){LEFT + WIDTH + RIGHT,
                                        below + (double)(LINE * (named + (p.beyond > 0))) + 12.0,
                                        points->title, description, points->announced});
    plot_heading(out, LEFT, TITLE_Y, points->title);
    plot_key(out, plot_key(out, LEFT, KEYS_Y, PALETTE_BLUE, "none is better in both"), KEYS_Y,
             "#8a8a8a", "some other is; a cross does not fit");
    plot_frame(&p.plot, "");
    if (p.usable_bytes > 0.0)
        plot_mark(&p.plot, p.usable_bytes, PALETTE_ALARM, 0,
                  arena_format(arena, "a card gives %s", format_bytes(p.usable_bytes).s));
    if (p.beyond > 0)
        plot_text(out, LEFT, below + (double)(LINE * (named + 1)), "start",
                  arena_format(arena, "%zu more need above %s and are not drawn", p.beyond,
                               format_bytes(BEYOND * p.usable_bytes).s));
    draw_points(&p);
    draw_frontier(&p, below);
    plot_page_end(out);
    return true;
}

static double mean_of(const struct study *study, const struct study_point *point,
                      enum study_metric metric)
{
    struct summary summary;
    study_summarise(study->arena, point, metric, &summary);
    return summary.mean;
}

/* Points that were timed or at least weighed. */
bool study_pareto_svg(const struct study *study, FILE *out, struct error *error)
{
    struct pareto_points all = {
        .title = study->name,
        .what = "point of this study",
        .announced = study_announced(study),
        .points = ARENA_ARRAY(study->arena, struct pareto_point, study->point_count)};
    for (size_t i = 0; i < study->point_count; i++) {
        const struct study_point *point = &study->points[i];
        if (point->refusal != NULL || point->replications == 0)
            continue;
        const struct pareto_point one = {
            study_label(study->arena, study, i), mean_of(study, point, METRIC_peak_reserved_bytes),
            mean_of(study, point, METRIC_tokens_per_s), point->fits, false};
        all.usable_bytes = fmax(all.usable_bytes, point->usable_bytes);
        if (isfinite(one.bytes) && (isfinite(one.tokens_per_s) || !one.fits))
            all.points[all.count++] = one;
    }
    return study_pareto_draw(study->arena, &all, out, error);
}
