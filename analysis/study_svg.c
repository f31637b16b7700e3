/* The U curve. */
#include <math.h>
#include <string.h>

#include "analysis/plot.h"
#include "analysis/study_report.h"

enum {
    PAGE_WIDTH = 860,
    PAGE_HEIGHT = 480
};
static const char interval_key[] = "checkpoint.interval";

/* One value of the other keys: a curve over the first key. */
struct curve {
    double *x, *mean, *low, *high, *p10, *p90;
    size_t count;
};
struct figure {
    const struct study *study;
    struct plot plot;
    bool share; /* of goodput, what is lost is drawn */
    size_t stride, curves;
    struct curve *curve;
};

static double shown(const struct figure *f, double value)
{
    return f->share ? 1.0 - value : value;
}

/* Words stand side by side. */
static double place(const struct vary *vary, size_t index)
{
    return vary->numeric ? vary->values[index].number : (double)index;
}

static void fill_curve(struct figure *f, size_t which)
{
    const struct study *study = f->study;
    const struct vary *vary = &study->varies[0];
    struct arena *arena = study->arena;
    struct curve *c = &f->curve[which];
    *c = (struct curve){.count = vary->count};
    double **columns[] = {&c->x, &c->mean, &c->low, &c->high, &c->p10, &c->p90};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        *columns[i] = ARENA_ARRAY(arena, double, vary->count);
    for (size_t i = 0; i < vary->count; i++) {
        struct summary s;
        study_summarise(arena, &study->points[i * f->stride + which], study->objective, &s);
        c->x[i] = place(vary, i);
        c->mean[i] = shown(f, s.mean);
        c->low[i] = shown(f, f->share ? s.high95 : s.low95);
        c->high[i] = shown(f, f->share ? s.low95 : s.high95);
        c->p10[i] = shown(f, f->share ? s.p90 : s.p10);
        c->p90[i] = shown(f, f->share ? s.p10 : s.p90);
    }
}

static void set_axes(struct figure *f)
{
    const struct study *study = f->study;
    const struct vary *vary = &study->varies[0];
    struct arena *arena = study->arena;
    double *y = ARENA_ARRAY(arena, double, 2 * f->curves * vary->count);
    size_t count = 0;
    for (size_t k = 0; k < f->curves; k++) {
        for (size_t i = 0; i < vary->count; i++) {
            y[count++] = f->curve[k].p10[i];
            y[count++] = f->curve[k].p90[i];
        }
    }
    const char *label = f->share ? "share of tokens lost to failures and checkpoints (1 - goodput)"
                                 : study_metrics[study->objective].name;
    static const enum plot_unit units[] = {[METRIC_IN_PLAIN] = PLOT_PLAIN,
                                           [METRIC_IN_SHARE] = PLOT_SHARE,
                                           [METRIC_IN_TIME] = PLOT_TIME,
                                           [METRIC_IN_BYTES] = PLOT_PLAIN};
    enum plot_unit unit = units[study_metrics[study->objective].unit];
    f->plot.y = plot_axis_around(label, y, count, false, unit);
    f->plot.x = plot_axis_around(vary->key, f->curve[0].x, vary->count, vary->log,
                                 vary->time ? PLOT_TIME : PLOT_PLAIN);
}

static void draw_curve(const struct figure *f, size_t which)
{
    const struct curve *c = &f->curve[which];
    const char *colour = plot_colour((unsigned)which);
    struct arena *arena = f->study->arena;
    plot_band(&f->plot, c->x, c->p10, c->p90, c->count, colour, 0.12);
    plot_band(&f->plot, c->x, c->low, c->high, c->count, colour, 0.35);
    plot_line(&f->plot, c->x, c->mean, c->count, colour, false);
    for (size_t i = 0; i < c->count; i++)
        plot_dot(&f->plot, c->x[i], c->mean[i], colour,
                 study_label(arena, f->study, i * f->stride + which));
}

/* The values of all keys but the first. */
static const char *curve_name(const struct figure *f, size_t which)
{
    const struct study *study = f->study;
    const char *name = "";
    for (unsigned k = 1; k < study->vary_count; k++) {
        size_t index = vary_index(study->varies, study->vary_count, k, which);
        name = arena_format(study->arena, "%s%s%s %s", name, k > 1 ? ", " : "",
                            study->varies[k].key, study->varies[k].values[index].text);
    }
    return name;
}

static void draw_mark(const struct figure *f, double at, unsigned row, const char *name)
{
    const struct plot_axis *x = &f->plot.x;
    if (!isfinite(at) || at < x->low || at > x->high)
        return;
    plot_mark(
        &f->plot, at, plot_colour(row + 1), row,
        arena_format(f->study->arena, "%s %s", name, study_value_text(&f->study->varies[0], at).s));
}

static void draw_marks(const struct figure *f, const struct study_optimum *o)
{
    const struct study_marks *marks = &f->study->points[o->point].marks;
    if (strcmp(f->study->varies[0].key, interval_key) == 0) {
        draw_mark(f, marks->young_s, 1, "Young");
        draw_mark(f, marks->daly_s, 2, "Daly");
        draw_mark(f, marks->exact_s, 3, "exact");
    }
    if (isfinite(o->low95)) {
        double x[] = {o->low95, o->high95}, low[] = {f->plot.y.low, f->plot.y.low};
        double high[] = {f->plot.y.high, f->plot.y.high};
        plot_band(&f->plot, x, low, high, 2, plot_colour(1), 0.1);
    }
    draw_mark(f, o->value, 0, "optimum");
}

void study_svg(const struct study *study, const struct study_optimum *optimum, FILE *out)
{
    struct figure f = {
        .study = study,
        .plot = {.out = out, .left = 90, .top = 50, .width = 740, .height = 370},
        .share = study->objective == METRIC_goodput,
        .stride = study->point_count / study->varies[0].count,
    };
    f.curves = f.stride < PLOT_COLOUR_COUNT ? f.stride : PLOT_COLOUR_COUNT;
    f.curve = ARENA_ARRAY(study->arena, struct curve, f.curves);
    for (size_t k = 0; k < f.curves; k++)
        fill_curve(&f, k);
    set_axes(&f);
    plot_page_begin(out, PAGE_WIDTH, PAGE_HEIGHT);
    plot_frame(&f.plot, study->name);
    for (size_t k = 0; k < f.curves; k++) {
        draw_curve(&f, k);
        if (f.stride > 1)
            plot_legend(&f.plot, (unsigned)k, plot_colour((unsigned)k), curve_name(&f, k));
    }
    if (study->vary_count == 1)
        draw_marks(&f, optimum);
    plot_page_end(out);
}
