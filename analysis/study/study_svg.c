/* The objective over one key, with a curve for each value of the others. Numbers make a line, words
 * stand apart; what does not fit is a cross. Marks stand above the frame, the legend beside it. */
#include <math.h>
#include <string.h>

#include "analysis/output/plot/plot.h"
#include "analysis/study/study_report.h"
#include "sim/plural.h"

enum {
    PAGE_WIDTH = 860, /* at least */
    FRAME_WIDTH = 740,
    FRAME_LESS = 176, /* beside a legend */
    FRAME_HEIGHT = 360,
    KEY_WIDTH = 15, /* of the square before a name */
    LEGEND_GAP = 14,
    MARGIN = 22,
    LEGEND_STEP = 18,
    TOP = 50,
    TITLE_Y = 18,
    LEFT_OUT_SHOWN = 4 /* curves named of those that are not drawn */
};
static const double CHARACTER = 7.5; /* at most, in the mean of a name */
static const char interval_key[] = "checkpoint.interval";

/* One value of the other keys: a curve over the key of the x axis. */
struct curve {
    double *x, *mean, *low, *high, *p10, *p90;
    size_t *point;       /* of the study */
    size_t which, count; /* number among the curves; points, without those that break a rule */
    size_t under;        /* the first curve that covers it to less than a pixel; itself: none */
};
struct figure {
    const struct study *study;
    struct plot plot;
    bool share;          /* of goodput, what is lost is drawn */
    unsigned key;        /* of the x axis */
    size_t inner;        /* points from one value of it to the next */
    size_t all;          /* values of the other keys: curves of the grid */
    size_t curves, kept; /* of which some point breaks no rule; that are drawn */
    struct curve *curve; /* that are drawn */
    bool crosses;        /* some point does not fit */
};

static const struct vary *x_key(const struct figure *f)
{
    return &f->study->varies[f->key];
}

/* The first key of numbers, so that words make curves and not an axis; else the first of all. */
static void choose_key(struct figure *f)
{
    const struct study *study = f->study;
    while (f->key < study->vary_count && !study->varies[f->key].numeric)
        f->key++;
    if (f->key == study->vary_count)
        f->key = 0;
    f->inner = 1;
    for (unsigned k = f->key + 1; k < study->vary_count; k++)
        f->inner *= study->varies[k].count;
    f->all = study->point_count / x_key(f)->count;
}

static size_t point_of(const struct figure *f, size_t which, size_t i)
{
    size_t outer = which / f->inner, inner = which % f->inner;
    return (outer * x_key(f)->count + i) * f->inner + inner;
}

static double shown(const struct figure *f, double value)
{
    return f->share ? 1.0 - value : value;
}

static void add_point(struct figure *f, struct curve *c, size_t value)
{
    const struct vary *vary = x_key(f);
    size_t i = c->count, p = point_of(f, c->which, value);
    const struct study_point *point = &f->study->points[p];
    struct summary s;
    if (point->refusal != NULL)
        return;
    c->count++;
    c->point[i] = p;
    study_summarise(f->study->arena, point, f->study->objective, &s);
    double half = s.count > 1 ? 0.0 : NAN; /* one replication has no spread */
    c->x[i] = vary->numeric ? vary->values[value].number : (double)value;
    c->mean[i] = shown(f, s.mean);
    c->low[i] = shown(f, f->share ? s.high95 : s.low95) + half;
    c->high[i] = shown(f, f->share ? s.low95 : s.high95) + half;
    c->p10[i] = shown(f, f->share ? s.p90 : s.p10) + half;
    c->p90[i] = shown(f, f->share ? s.p10 : s.p90) + half;
    f->crosses = f->crosses || point->shortage.tensor != NULL;
}

static void fill_curve(struct figure *f, struct curve *c, size_t which)
{
    struct arena *arena = f->study->arena;
    size_t most = x_key(f)->count;
    *c = (struct curve){.which = which, .point = ARENA_ARRAY(arena, size_t, most)};
    double **columns[] = {&c->x, &c->mean, &c->low, &c->high, &c->p10, &c->p90};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        *columns[i] = ARENA_ARRAY(arena, double, most);
    for (size_t value = 0; value < most; value++)
        add_point(f, c, value);
    if (x_key(f)->numeric || f->kept < 2)
        return;
    /* Words: curves side by side, in three fifths of the room between two. */
    double place = ((double)(c - f->curve) + 0.5) / (double)f->kept - 0.5;
    for (size_t i = 0; i < c->count; i++)
        c->x[i] += 0.6 * place;
}

/* The best value of a curve, so that less is better; INFINITY: none. */
static double best_of(const struct figure *f, size_t which)
{
    double best = INFINITY;
    double sign = study_metrics[f->study->objective].larger_is_better ? -1.0 : 1.0;
    for (size_t i = 0; i < x_key(f)->count; i++) {
        struct summary s;
        study_summarise(f->study->arena, &f->study->points[point_of(f, which, i)],
                        f->study->objective, &s);
        if (s.count > 0)
            best = fmin(best, sign * s.mean);
    }
    return best;
}

static bool is_legal(const struct figure *f, size_t which)
{
    for (size_t i = 0; i < x_key(f)->count; i++)
        if (f->study->points[point_of(f, which, i)].refusal == NULL)
            return true;
    return false;
}

/* All curves where there are colours for them; else those that reach the best values, in the order
 * of the grid. */
static void choose_curves(struct figure *f)
{
    struct arena *arena = f->study->arena;
    double *best = ARENA_ARRAY(arena, double, f->all);
    size_t *legal = ARENA_ARRAY(arena, size_t, f->all), next = 0;
    for (size_t which = 0; which < f->all; which++) {
        if (is_legal(f, which)) {
            best[f->curves] = best_of(f, which);
            legal[f->curves++] = which;
        }
    }
    f->kept = f->curves < PLOT_COLOUR_COUNT ? f->curves : PLOT_COLOUR_COUNT;
    f->curve = ARENA_ARRAY(arena, struct curve, f->kept + 1);
    for (size_t i = 0; i < f->curves; i++) {
        size_t better = 0;
        for (size_t other = 0; other < f->curves; other++)
            better += best[other] < best[i] || (best[other] == best[i] && other < i);
        if (better < f->kept)
            fill_curve(f, &f->curve[next++], legal[i]);
    }
}

static enum plot_unit unit_of(const struct study *study)
{
    static const enum plot_unit units[] = {
        [METRIC_IN_PLAIN] = PLOT_PLAIN, [METRIC_IN_SHARE] = PLOT_SHARE,
        [METRIC_IN_TIME] = PLOT_TIME,   [METRIC_IN_BYTES] = PLOT_BYTES,
        [METRIC_IN_MONEY] = PLOT_MONEY, [METRIC_IN_ENERGY] = PLOT_ENERGY,
        [METRIC_IN_POWER] = PLOT_POWER};
    return units[study_unit(study->objective)];
}

static enum plot_unit unit_of_key(const struct vary *vary)
{
    static const enum plot_unit units[PARAM_TEXT + 1] = {[PARAM_TIME] = PLOT_TIME,
                                                         [PARAM_BANDWIDTH] = PLOT_BANDWIDTH,
                                                         [PARAM_FLOP_RATE] = PLOT_FLOP_RATE,
                                                         [PARAM_MONEY] = PLOT_MONEY};
    return units[vary->type];
}

static void set_axes(struct figure *f)
{
    const struct vary *vary = x_key(f);
    struct arena *arena = f->study->arena;
    const char *label =
        f->share ? "tokens lost to failures and saves" : study_metrics[f->study->objective].name;
    size_t count = 0, places = 0;
    double *y = ARENA_ARRAY(arena, double, 3 * f->kept * vary->count);
    double *x = ARENA_ARRAY(arena, double, f->kept * vary->count);
    for (size_t k = 0; k < f->kept; k++) {
        for (size_t i = 0; i < f->curve[k].count; i++) {
            x[places++] = f->curve[k].x[i];
            y[count++] = f->curve[k].mean[i];
            y[count++] = f->curve[k].p10[i];
            y[count++] = f->curve[k].p90[i];
        }
    }
    f->plot.y = plot_axis_around(label, y, count, false, unit_of(f->study));
    if (vary->numeric) {
        f->plot.x = plot_axis_around(vary->key, x, places, vary->log, unit_of_key(vary));
        return;
    }
    const char **words = ARENA_ARRAY(arena, const char *, vary->count);
    for (size_t i = 0; i < vary->count; i++)
        words[i] = vary->values[i].text;
    f->plot.x = plot_axis_words(vary->key, words, vary->count, false);
}

/* Points that follow each other without a gap: [from, returned). */
static size_t end_of_stretch(const struct curve *c, size_t from)
{
    while (from < c->count && isfinite(c->mean[from]))
        from++;
    return from;
}

static void draw_lines(const struct figure *f, const struct curve *c, const char *colour)
{
    for (size_t from = 0; from < c->count;) {
        size_t end = end_of_stretch(c, from), count = end - from;
        if (count > 1 && isfinite(c->p10[from])) {
            plot_band(&f->plot, &(struct band){c->x + from, c->p10 + from, c->p90 + from, count},
                      colour, 0.12);
            plot_band(&f->plot, &(struct band){c->x + from, c->low + from, c->high + from, count},
                      colour, 0.35);
        }
        if (count > 1)
            plot_line(&f->plot, c->x + from, c->mean + from, count, colour, false);
        from = end + 1;
    }
}

/* No line reaches it. */
static bool stands_alone(const struct curve *c, size_t i)
{
    bool before = i > 0 && isfinite(c->mean[i - 1]);
    bool after = i + 1 < c->count && isfinite(c->mean[i + 1]);
    return !before && !after;
}

static void draw_curve(const struct figure *f, const struct curve *c)
{
    const char *colour = plot_colour((unsigned)(c - f->curve));
    struct arena *arena = f->study->arena;
    if (x_key(f)->numeric)
        draw_lines(f, c, colour);
    for (size_t i = 0; i < c->count; i++) {
        size_t p = c->point[i];
        const struct study_shortage *shortage = &f->study->points[p].shortage;
        const char *label = study_label(arena, f->study, p);
        if (!x_key(f)->numeric || stands_alone(c, i)) {
            plot_whisker(&f->plot, c->x[i], c->p10[i], c->p90[i], colour, 1.0);
            plot_whisker(&f->plot, c->x[i], c->low[i], c->high[i], colour, 3.0);
        }
        plot_dot(&f->plot, c->x[i], c->mean[i], colour, label);
        if (shortage->tensor != NULL)
            plot_cross(&f->plot, c->x[i],
                       arena_format(arena, "%s: does not fit, %s short", label,
                                    format_bytes(shortage->short_bytes).s));
    }
}

/* The values of all keys but that of the x axis, with their keys or without. */
static const char *curve_name(const struct figure *f, size_t which, bool keys)
{
    const struct study *study = f->study;
    const char *name = "";
    for (unsigned k = 0; k < study->vary_count; k++) {
        if (k == f->key)
            continue;
        size_t index = study_vary_index(study->varies, study->vary_count, k, point_of(f, which, 0));
        name = arena_format(study->arena, "%s%s%s", name, *name ? ", " : "",
                            keys ? study->varies[k].key
                                 : study_value_shown(study->arena, &study->varies[k],
                                                     &study->varies[k].values[index]));
    }
    return name;
}

static unsigned columns_in(double width)
{
    return (unsigned)(width / CHARACTER);
}

static double on_paper(const struct figure *f, double y)
{
    return (y - f->plot.y.low) / (f->plot.y.high - f->plot.y.low) * f->plot.height;
}

/* Less than half a pixel apart at every point: of two such curves only one can be seen. */
static bool covers(const struct figure *f, const struct curve *a, const struct curve *b)
{
    bool same = a->count == b->count && x_key(f)->numeric;
    for (size_t i = 0; same && i < a->count; i++) {
        const bool drawn = isfinite(a->mean[i]);
        same = a->x[i] == b->x[i] && drawn == isfinite(b->mean[i]) &&
               (!drawn || fabs(on_paper(f, a->mean[i]) - on_paper(f, b->mean[i])) < 0.5);
    }
    return same;
}

static void find_covered(struct figure *f)
{
    for (size_t k = 0; k < f->kept; k++) {
        size_t first = 0;
        while (first < k && !covers(f, &f->curve[first], &f->curve[k]))
            first++;
        f->curve[k].under = first;
    }
}

/* Lines of the legend: the keys, each on its own, then a curve each. */
static unsigned legend_keys(const struct figure *f, const char *lines[VARY_MAX])
{
    unsigned count = 0;
    for (unsigned k = 0; k < f->study->vary_count; k++)
        if (k != f->key)
            lines[count++] = f->study->varies[k].key;
    for (unsigned i = 0; i + 1 < count; i++)
        lines[i] = arena_format(f->study->arena, "%s,", lines[i]);
    return count;
}

static const char *legend_name(const struct figure *f, size_t k)
{
    const struct curve *c = &f->curve[k];
    const char *name = curve_name(f, c->which, false);
    return c->under == k ? name
                         : arena_format(f->study->arena, "%s (the same as %s)", name,
                                        curve_name(f, f->curve[c->under].which, false));
}

/* As wide as its longest line; 0: one curve needs none. */
static double legend_width(const struct figure *f)
{
    const char *lines[VARY_MAX];
    const unsigned count = legend_keys(f, lines);
    double width = 0.0;
    for (unsigned i = 0; i < count; i++)
        width = fmax(width, CHARACTER * (double)strlen(lines[i]));
    for (size_t k = 0; count > 0 && k < f->kept; k++)
        width = fmax(width, KEY_WIDTH + CHARACTER * (double)strlen(legend_name(f, k)));
    return width > 0.0 ? LEGEND_GAP + width : 0.0;
}

static void draw_legend(const struct figure *f)
{
    const char *lines[VARY_MAX];
    const unsigned count = legend_keys(f, lines);
    double x = f->plot.left + f->plot.width + LEGEND_GAP, y = f->plot.top + 10.0;
    for (unsigned i = 0; i < count; i++, y += LEGEND_STEP)
        plot_text(f->plot.out, x, y, "start", lines[i]);
    for (size_t k = 0; count > 0 && k < f->kept; k++, y += LEGEND_STEP)
        plot_key(f->plot.out, x, y, plot_colour((unsigned)f->curve[k].under), legend_name(f, k));
}

static void draw_mark(const struct figure *f, double at, unsigned row, const char *name)
{
    const struct plot_axis *x = &f->plot.x;
    if (!isfinite(at) || at < x->low || at > x->high)
        return;
    plot_mark(&f->plot, at, plot_colour(row + 1), row,
              arena_format(f->study->arena, "%s %s", name, study_value_text(x_key(f), at).s));
}

static bool has_marks(const struct figure *f, const struct study_optimum *o)
{
    return f->study->vary_count == 1 && x_key(f)->numeric && o->found;
}

static void draw_marks(const struct figure *f, const struct study_optimum *o)
{
    const struct study_marks *marks = &f->study->points[o->point].marks;
    if (strcmp(x_key(f)->key, interval_key) == 0) {
        draw_mark(f, marks->young_s, 1, "Young");
        draw_mark(f, marks->daly_s, 2, "Daly");
        draw_mark(f, marks->exact_s, 3, "exact");
    }
    if (isfinite(o->low95)) {
        double x[] = {o->low95, o->high95}, low[] = {f->plot.y.low, f->plot.y.low};
        double high[] = {f->plot.y.high, f->plot.y.high};
        plot_band(&f->plot, &(struct band){x, low, high, 2}, plot_colour(1), 0.1);
    }
    draw_mark(f, o->value, 0, "optimum");
}

/* The curves that are not drawn, by name, the first few of them. */
static const char *names_left_out(const struct figure *f)
{
    const char *names = "";
    size_t next = 0, told = 0, left = f->curves - f->kept;
    for (size_t which = 0; which < f->all && told < LEFT_OUT_SHOWN; which++) {
        if (!is_legal(f, which))
            continue;
        if (next < f->kept && f->curve[next].which == which) {
            next++;
            continue;
        }
        names = arena_format(f->study->arena, "%s%s(%s)", names, told > 0 ? ", " : "",
                             curve_name(f, which, false));
        told++;
    }
    return left > told ? arena_format(f->study->arena, "%s and %zu more", names, left - told)
                       : names;
}

/* Sentences below the figure; `draw` false: only counts their lines. */
static unsigned draw_sentences(const struct figure *f, double width, bool draw)
{
    struct arena *arena = f->study->arena;
    const char *sentences[3];
    unsigned count = 0, lines = 0;
    size_t refused = study_refused(f->study);
    if (f->kept < f->curves)
        sentences[count++] =
            arena_format(arena, "The best %zu of %zu curves are drawn; left out: %s %s.", f->kept,
                         f->curves, curve_name(f, 0, true), names_left_out(f));
    if (f->crosses)
        sentences[count++] = "A cross on the axis: it does not fit in memory.";
    if (refused > 0)
        sentences[count++] =
            arena_format(arena, "%zu of %zu point%s %s a rule and %s no dot.", refused,
                         f->study->point_count, plural_s(f->study->point_count),
                         refused == 1 ? "breaks" : "break", refused == 1 ? "has" : "have");
    double y = f->plot.top + f->plot.height + plot_room_below(&f->plot) + LEGEND_STEP;
    for (unsigned i = 0; i < count; i++)
        lines += plot_paragraph(draw ? f->plot.out : NULL, f->plot.left, y + LEGEND_STEP * lines,
                                columns_in(width - f->plot.left - MARGIN), sentences[i]);
    return lines;
}

/* The name of the study above the frame, in as many lines as it needs; moves the frame down. */
static void draw_title(struct figure *f, double width, bool draw)
{
    const char *name = f->study->name;
    const bool wide = plot_text_width(name) > f->plot.width;
    if (!draw)
        f->plot.top += wide ? LEGEND_STEP * plot_paragraph(NULL, 0.0, 0.0,
                                                           columns_in(width - 2.0 * MARGIN), name)
                            : 0.0;
    else if (wide)
        plot_paragraph(f->plot.out, MARGIN, TITLE_Y, columns_in(width - 2.0 * MARGIN), name);
    if (draw)
        plot_frame(&f->plot, wide ? "" : name);
}

void study_svg(const struct study *study, const struct study_optimum *optimum, FILE *out)
{
    struct figure f = {
        .study = study,
        .plot = {.out = out, .left = 90, .top = TOP, .width = FRAME_WIDTH, .height = FRAME_HEIGHT},
        .share = study->objective == METRIC_goodput,
    };
    choose_key(&f);
    choose_curves(&f);
    set_axes(&f);
    find_covered(&f);
    const bool marks = has_marks(&f, optimum);
    const unsigned rows = marks && strcmp(x_key(&f)->key, interval_key) == 0 ? 4 : marks ? 1 : 0;
    const double legend = legend_width(&f);
    f.plot.width -= legend > 0.0 ? FRAME_LESS : 0;
    const double width = fmax(PAGE_WIDTH, f.plot.left + f.plot.width + legend + MARGIN);
    draw_title(&f, width, false);
    f.plot.top += plot_marks_room(rows);
    const double below =
        plot_room_below(&f.plot) + LEGEND_STEP * (draw_sentences(&f, width, false) + 1.0);
    const char *description =
        arena_format(study->arena, "%s over %s, of %zu point%s.", f.plot.y.label, f.plot.x.label,
                     study->point_count, plural_s(study->point_count));
    plot_page_begin(out, &(struct plot_page){width, f.plot.top + f.plot.height + below, study->name,
                                             description, study_announced(study)});
    draw_title(&f, width, true);
    for (size_t k = 0; k < f.kept; k++)
        if (f.curve[k].under == k)
            draw_curve(&f, &f.curve[k]);
    draw_legend(&f);
    if (marks)
        draw_marks(&f, optimum);
    draw_sentences(&f, width, true);
    plot_page_end(out);
}
