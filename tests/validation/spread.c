#include "spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/numbers/statistics.h"

static const double probability = 0.8;
static const double half_width = 1.2815515655446004;   /* of a normal, in standard deviations */
static const double of_quartiles = 1.3489795003921634; /* their distance in a normal */
static const double of_mean_size = 1.2533141373155001; /* deviation of a normal over mean size */
static const double drawn_as = 2.0; /* sources that the mean over all counts for */
static const double widest = 4.0;   /* of a logarithm */
static const double least = 1e-12;  /* of a logarithm, where nothing scatters */
static const double rounding = 1e-12;
enum {
    BISECTIONS = 50
};

static bool same(const struct spread_row *a, const struct spread_row *b)
{
    return strcmp(a->source, b->source) == 0;
}

static bool takes(const struct spread_row *row, const char *but)
{
    return but == NULL || strcmp(row->source, but) != 0;
}

static bool first_of(const struct spread_row *rows, size_t row, bool of_nearness)
{
    for (size_t i = 0; i < row; i++)
        if (same(&rows[i], &rows[row]) && (!of_nearness || rows[i].nearness == rows[row].nearness))
            return false;
    return true;
}

/* Errors of the rows of one source at one nearness, ascending. */
static size_t gather(const struct spread_row *rows, size_t count, const struct spread_row *as,
                     double *out)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (same(&rows[i], as) && rows[i].nearness == as->nearness)
            out[found++] = rows[i].log_error;
    statistics_sort(out, found);
    return found;
}

/* Median over sources of the variance that the quartiles of their rows tell. */
static double within_variance(struct arena *arena, const struct spread_row *rows, size_t count,
                              const char *but)
{
    double *errors = ARENA_ARRAY(arena, double, count + 1);
    double *variances = ARENA_ARRAY(arena, double, count + 1);
    size_t sources = 0;
    for (size_t i = 0; i < count; i++) {
        if (!takes(&rows[i], but) || !first_of(rows, i, true))
            continue;
        size_t n = gather(rows, count, &rows[i], errors);
        double wide =
            statistics_percentile(errors, n, 0.75) - statistics_percentile(errors, n, 0.25);
        if (n >= 4)
            variances[sources++] = pow(wide / of_quartiles, 2);
    }
    statistics_sort(variances, sources);
    return sources > 0 ? statistics_percentile(variances, sources, 0.5) : 0.0;
}

/* Sizes of the shifts of sources, less what the scatter of their rows makes of none; their mean
 * tells the deviation of a normal, and one source that is far off does not rule it. */
static void shifts(struct arena *arena, const struct spread_row *rows, size_t count,
                   const char *but, struct spread *out)
{
    double *errors = ARENA_ARRAY(arena, double, count + 1), all = 0.0, sources = 0.0;
    double sum[NEARNESS_COUNT] = {0};
    for (size_t i = 0; i < count; i++) {
        if (!takes(&rows[i], but) || !first_of(rows, i, true))
            continue;
        size_t n = gather(rows, count, &rows[i], errors);
        double shift = statistics_percentile(errors, n, 0.5);
        double size = sqrt(fmax(shift * shift - out->within * out->within / (double)n, 0.0));
        sum[rows[i].nearness] += size;
        out->sources[rows[i].nearness]++;
        all += size;
        sources++;
    }
    for (int k = 0; k < NEARNESS_COUNT; k++)
        out->between[k] =
            of_mean_size * (sum[k] + drawn_as * all / sources) / (out->sources[k] + drawn_as);
}

/* Pools neighbours until they ascend, each for as many sources as stand behind it. */
static void ascend(struct spread *s)
{
    double mean[NEARNESS_COUNT], weight[NEARNESS_COUNT];
    unsigned length[NEARNESS_COUNT], blocks = 0, at = 0;
    for (unsigned k = 0; k < NEARNESS_COUNT; k++) {
        mean[blocks] = s->between[k];
        weight[blocks] = s->sources[k] + drawn_as;
        length[blocks++] = 1;
        while (blocks > 1 && mean[blocks - 1] < mean[blocks - 2]) {
            double both = weight[blocks - 2] + weight[blocks - 1];
            mean[blocks - 2] =
                (mean[blocks - 2] * weight[blocks - 2] + mean[blocks - 1] * weight[blocks - 1]) /
                both;
            weight[blocks - 2] = both;
            length[blocks - 2] += length[blocks - 1];
            blocks--;
        }
    }
    for (unsigned b = 0; b < blocks; b++)
        for (unsigned i = 0; i < length[b]; i++)
            s->between[at++] = mean[b];
}

static void stretch(struct spread *s, double factor)
{
    s->factor = factor;
    for (int k = 0; k < NEARNESS_COUNT; k++)
        s->own[k] = factor * hypot(s->within, s->between[k]);
}

static bool covers(const struct spread *s, const struct spread_row *row)
{
    return fabs(row->log_error) <= half_width * hypot(row->figure_spread, s->own[row->nearness]);
}

double spread_coverage(const struct spread *s, const struct spread_row *rows, size_t count,
                       const char *source)
{
    double inside = 0.0, all = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (source != NULL && strcmp(rows[i].source, source) != 0)
            continue;
        inside += covers(s, &rows[i]);
        all++;
    }
    return all > 0.0 ? inside / all : NAN;
}

/* The factor that lets a row into its interval, and what the row counts: a source of n rows counts
 * as the root of n, for its rows share errors, but not all. */
struct asking {
    double factor, weight;
};

static int by_factor(const void *a, const void *b)
{
    const struct asking *x = a, *y = b;
    return (x->factor > y->factor) - (x->factor < y->factor);
}

static double least_factor(struct arena *arena, const struct spread *s,
                           const struct spread_row *rows, size_t count, const char *but)
{
    struct asking *all = ARENA_ARRAY(arena, struct asking, count + 1);
    double whole = 0.0, inside = 0.0;
    size_t taken = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        double n = 0.0, base = fmax(hypot(s->within, s->between[rows[i].nearness]), least);
        for (size_t k = 0; k < count; k++)
            n += same(&rows[k], &rows[i]);
        double square = pow(rows[i].log_error / half_width, 2) - pow(rows[i].figure_spread, 2);
        if (takes(&rows[i], but))
            all[taken++] = (struct asking){sqrt(fmax(square, 0.0)) / base, 1.0 / sqrt(n)};
    }
    qsort(all, taken, sizeof *all, by_factor);
    for (size_t i = 0; i < taken; i++)
        whole += all[i].weight;
    while (at < taken && inside + all[at].weight < probability * whole)
        inside += all[at++].weight;
    return all[at].factor * (1.0 + rounding);
}

bool spread_estimate(struct arena *arena, const struct spread_row *rows, size_t count,
                     const char *but, struct spread *out)
{
    size_t taken = 0;
    for (size_t i = 0; i < count; i++)
        taken += takes(&rows[i], but);
    *out = (struct spread){.factor = 1.0};
    if (taken == 0)
        return false;
    out->within = sqrt(within_variance(arena, rows, count, but));
    shifts(arena, rows, count, but, out);
    ascend(out);
    stretch(out, least_factor(arena, out, rows, count, but));
    return true;
}

double spread_coverage_elsewhere(struct arena *arena, const struct spread_row *rows, size_t count)
{
    double sum = 0.0, sources = 0.0;
    for (size_t i = 0; i < count; i++) {
        struct spread others;
        if (!first_of(rows, i, false) ||
            !spread_estimate(arena, rows, count, rows[i].source, &others))
            continue;
        sum += spread_coverage(&others, rows, count, rows[i].source);
        sources++;
    }
    return sources > 0.0 ? sum / sources : NAN;
}

/* Share of the pairs within, each group the same; NAN without pairs. */
static double pairs_inside(const struct spread_member *m, size_t count, double spread)
{
    double sum = 0.0, groups = 0.0;
    for (size_t first = 0; first < count; first++) {
        bool known = false;
        double inside = 0.0, pairs = 0.0;
        for (size_t i = 0; i < first; i++)
            known |= strcmp(m[i].group, m[first].group) == 0;
        for (size_t a = first; a < count && !known; a++) {
            for (size_t b = a + 1; b < count && strcmp(m[a].group, m[first].group) == 0; b++) {
                if (strcmp(m[b].group, m[first].group) != 0)
                    continue;
                inside += fabs(m[a].log_error - m[b].log_error) <= half_width * spread;
                pairs++;
            }
        }
        sum += pairs > 0.0 ? inside / pairs : 0.0;
        groups += pairs > 0.0;
    }
    return groups > 0.0 ? sum / groups : NAN;
}

/* Share of the errors within, each group the same. */
static double errors_inside(const struct spread_member *m, size_t count, double spread)
{
    double sum = 0.0, groups = 0.0;
    for (size_t i = 0; i < count; i++) {
        double inside = 0.0, all = 0.0;
        bool first = true;
        for (size_t k = 0; k < count; k++) {
            if (strcmp(m[k].group, m[i].group) != 0)
                continue;
            first = first && k >= i;
            inside += fabs(m[k].log_error) <= half_width * spread;
            all++;
        }
        sum += first ? inside / all : 0.0;
        groups += first;
    }
    return sum / groups;
}

/* The narrowest with which `inside` is the probability asked for. */
static double narrowest(const struct spread_member *members, size_t count,
                        double inside(const struct spread_member *, size_t, double))
{
    double low = 0.0, high = widest;
    for (int step = 0; step < BISECTIONS; step++) {
        double middle = 0.5 * (low + high);
        if (inside(members, count, middle) < probability)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double spread_of_errors(const struct spread_member *members, size_t count)
{
    return count > 0 ? narrowest(members, count, errors_inside) : 0.0;
}

double spread_of_pairs(const struct spread_member *members, size_t count)
{
    if (isnan(pairs_inside(members, count, 0.0)))
        return NAN;
    return narrowest(members, count, pairs_inside);
}
