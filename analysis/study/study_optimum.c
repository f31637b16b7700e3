/* Where the best lies: the best point by its mean; the points that a paired test over common seeds
 * cannot tell from it; and, for one numeric key, the vertex of a parabola through the means around
 * it, with the interval of the delete-one-group jackknife over seeds (Efron, The Jackknife, the
 * Bootstrap and Other Resampling Plans, 1982, chapter 3). */
#include <math.h>

#include "analysis/study/study.h"

enum {
    GROUPS = 20, /* of seeds that are left out in turn */
    POINTS_MIN = 5,
    REACH_MIN = 2,
    REACH = 3 /* points on each side of the best that the parabola goes through */
};

static const double MISFIT_MAX = 0.02; /* of the spread: past it the points bend otherwise */

struct mean_curve {
    const struct study *study;
    size_t first, last, seeds;
    double sign; /* of the objective, so that the least is the best */
};

static double value_at(const struct mean_curve *c, size_t point, size_t seed)
{
    return c->sign * c->study->points[point].values[seed][c->study->objective];
}

/* Mean over the seeds that are not in `left_out` (GROUPS: none is left out). */
static double mean_without(const struct mean_curve *c, size_t point, size_t left_out)
{
    double sum = 0.0;
    size_t count = 0;
    for (size_t s = 0; s < c->seeds; s++) {
        if (s % GROUPS != left_out) {
            sum += value_at(c, point, s);
            count++;
        }
    }
    return sum / (double)count;
}

static double place_of(const struct vary *vary, size_t point)
{
    double number = vary->values[point].number;
    return vary->log ? log(number) : number;
}

static double vertex_without(const struct mean_curve *c, size_t left_out, double *misfit)
{
    double x[2 * REACH + 1], y[2 * REACH + 1];
    size_t count = 0;
    for (size_t p = c->first; p <= c->last; p++, count++) {
        x[count] = place_of(&c->study->varies[0], p);
        y[count] = mean_without(c, p, left_out);
    }
    return statistics_vertex(x, y, count, misfit);
}

/* Half the 95 % interval of the vertex. */
static double jackknife_half(const struct mean_curve *c)
{
    double vertex[GROUPS], mean = 0.0, squares = 0.0;
    for (size_t g = 0; g < GROUPS; g++) {
        vertex[g] = vertex_without(c, g, NULL);
        mean += vertex[g] / GROUPS;
    }
    for (size_t g = 0; g < GROUPS; g++)
        squares += (vertex[g] - mean) * (vertex[g] - mean);
    return statistics_t95(sqrt(squares * (GROUPS - 1.0) / GROUPS), GROUPS - 1);
}

static double on_axis(const struct vary *vary, double place)
{
    return vary->log ? exp(place) : place;
}

/* The widest reach on which a parabola fits; 0: none does. */
static size_t choose_reach(struct mean_curve *c, size_t best, size_t last)
{
    for (size_t reach = REACH; reach >= REACH_MIN; reach--) {
        double misfit;
        c->first = best > reach ? best - reach : 0;
        c->last = best + reach < last ? best + reach : last;
        vertex_without(c, GROUPS, &misfit);
        if (misfit <= MISFIT_MAX)
            return reach;
    }
    return 0;
}

static void find_vertex(struct mean_curve *c, struct study_optimum *out)
{
    const struct vary *vary = &c->study->varies[0];
    out->too_far_apart = choose_reach(c, out->point, c->study->point_count - 1) == 0;
    double vertex = vertex_without(c, GROUPS, NULL);
    bool inside = vertex > place_of(vary, c->first) && vertex < place_of(vary, c->last);
    if (out->too_far_apart || !inside)
        return;
    out->value = on_axis(vary, vertex);
    if (c->seeds < 2 * GROUPS)
        return;
    double half = jackknife_half(c);
    out->low95 = on_axis(vary, vertex - half);
    out->high95 = on_axis(vary, vertex + half);
}

/* Is the mean difference to the best inside its own 95 % interval? */
static bool is_tied(const struct mean_curve *c, size_t point, size_t best)
{
    if (c->seeds == 1) /* nothing is known of the spread */
        return value_at(c, point, 0) == value_at(c, best, 0);
    double mean = 0.0, squares = 0.0, n = (double)c->seeds;
    for (size_t s = 0; s < c->seeds; s++)
        mean += (value_at(c, point, s) - value_at(c, best, s)) / n;
    for (size_t s = 0; s < c->seeds; s++) {
        double off = value_at(c, point, s) - value_at(c, best, s) - mean;
        squares += off * off;
    }
    double error = sqrt(squares / (n - 1.0) / n);
    return mean <= statistics_t95(error, c->seeds - 1);
}

static void find_ties(const struct mean_curve *c, struct study_optimum *out)
{
    const struct study *study = c->study;
    bool *ties = ARENA_ARRAY(study->arena, bool, study->point_count);
    size_t fit = 0;
    out->tied_first = out->tied_last = out->point;
    for (size_t p = 0; p < study->point_count; p++) {
        fit += study->points[p].fits;
        ties[p] = p == out->point || (study->points[p].fits && is_tied(c, p, out->point));
        if (ties[p]) {
            out->tied++;
            out->tied_first = p < out->tied_first ? p : out->tied_first;
            out->tied_last = p > out->tied_last ? p : out->tied_last;
        }
    }
    out->is_tied = ties;
    out->all_tied = fit > 1 && out->tied == fit;
}

/* Only where each point has a value do neighbours tell of each other. */
static bool is_whole(const struct study *study)
{
    for (size_t p = 0; p < study->point_count; p++) {
        const struct study_point *point = &study->points[p];
        if (!point->fits || !isfinite(point->values[0][study->objective]))
            return false;
    }
    return true;
}

/* Is a point between the ends as good? */
static bool is_inside(const struct study_optimum *o, size_t last)
{
    for (size_t p = 1; p < last; p++)
        if (o->is_tied[p])
            return true;
    return false;
}

void study_optimum(const struct study *study, struct study_optimum *out)
{
    struct mean_curve c = {.study = study, .seeds = SIZE_MAX};
    *out = (struct study_optimum){.value = NAN, .low95 = NAN, .high95 = NAN};
    c.sign = study_metrics[study->objective].larger_is_better ? -1.0 : 1.0;
    for (size_t p = 0; p < study->point_count; p++) {
        size_t have = study->points[p].replications;
        if (study->points[p].fits)
            c.seeds = have < c.seeds ? have : c.seeds;
    }
    if (c.seeds == 0 || c.seeds == SIZE_MAX)
        return;
    double best = INFINITY;
    for (size_t p = 0; p < study->point_count; p++) {
        double mean = study->points[p].fits ? mean_without(&c, p, GROUPS) : INFINITY;
        if (mean < best) {
            best = mean;
            out->point = p;
            out->found = true;
        }
    }
    if (!out->found)
        return;
    find_ties(&c, out);
    if (study->vary_count != 1 || !study->varies[0].numeric || out->all_tied)
        return;
    const size_t last = study->point_count - 1;
    const bool outermost = last > 0 && (out->point == 0 || out->point == last);
    out->at_end = outermost && !is_inside(out, last);
    if (!outermost && last + 1 >= POINTS_MIN && is_whole(study))
        find_vertex(&c, out);
}
