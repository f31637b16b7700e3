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

static bool left_with(const struct spread_row *row, const struct spread_row *but)
{
    return but != NULL && row->key[but->way] == but->key[but->way];
}

static unsigned classes_of(const struct spread_row *row)
{
    unsigned count = 0;
    for (int k = 0; k < CLASS_COUNT; k++)
        count += row->is[k];
    return count;
}

/* Of no class, and not left out. */
static bool plain(const struct spread_row *row, const struct spread_row *but)
{
    return classes_of(row) == 0 && !left_with(row, but);
}

/* Rows of one source, left out in one way. */
static bool same_group(const struct spread_row *a, const struct spread_row *b)
{
    return a->key[SPREAD_SOURCE] == b->key[SPREAD_SOURCE] && a->way == b->way;
}

static bool same_nearness(const struct spread_row *a, const struct spread_row *b)
{
    return same_group(a, b) && a->nearness == b->nearness;
}

/* Plain rows alone, in the order given. */
struct plain_rows {
    const struct spread_row **rows;
    size_t count;
};

static bool first_at(const struct plain_rows *all, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (same_nearness(all->rows[i], all->rows[row]))
            return false;
    return true;
}

/* Errors of the rows of one group at one nearness, ascending. */
static size_t gather(const struct plain_rows *all, const struct spread_row *as, double *out)
{
    size_t found = 0;
    for (size_t i = 0; i < all->count; i++)
        if (same_nearness(all->rows[i], as))
            out[found++] = all->rows[i]->log_error;
    statistics_sort(out, found);
    return found;
}

/* Median over groups of the variance that the quartiles of their rows tell. */
static double within_variance(struct arena *arena, const struct plain_rows *all)
{
    double *errors = ARENA_ARRAY(arena, double, all->count + 1);
    double *variances = ARENA_ARRAY(arena, double, all->count + 1);
    size_t groups = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (!first_at(all, i))
            continue;
        size_t n = gather(all, all->rows[i], errors);
        double wide =
            statistics_percentile(errors, n, 0.75) - statistics_percentile(errors, n, 0.25);
        if (n >= 4)
            variances[groups++] = pow(wide / of_quartiles, 2);
    }
    statistics_sort(variances, groups);
    return groups > 0 ? statistics_percentile(variances, groups, 0.5) : 0.0;
}

/* In how many ways was a source left out so that it stands at this nearness? */
static double ways_of(const struct plain_rows *all, const struct spread_row *row)
{
    bool seen[SPREAD_WAYS] = {false};
    double ways = 0.0;
    for (size_t i = 0; i < all->count; i++)
        if (all->rows[i]->key[SPREAD_SOURCE] == row->key[SPREAD_SOURCE] &&
            all->rows[i]->nearness == row->nearness)
            seen[all->rows[i]->way] = true;
    for (unsigned way = 0; way < SPREAD_WAYS; way++)
        ways += seen[way];
    return ways;
}

/* Sizes of the shifts of sources, less what the scatter of their rows makes of none; their mean
 * tells the deviation of a normal, and one source that is far off does not rule it. A source that
 * was left out in several ways counts once at each nearness. */
static void shifts(struct arena *arena, const struct plain_rows *all, struct spread *out)
{
    double *errors = ARENA_ARRAY(arena, double, all->count + 1), whole = 0.0, sources = 0.0;
    double sum[NEARNESS_COUNT] = {0}, at[NEARNESS_COUNT] = {0};
    for (size_t i = 0; i < all->count; i++) {
        const struct spread_row *row = all->rows[i];
        if (!first_at(all, i))
            continue;
        size_t n = gather(all, row, errors);
        double shift = statistics_percentile(errors, n, 0.5), share = 1.0 / ways_of(all, row);
        double size = sqrt(fmax(shift * shift - out->within * out->within / (double)n, 0.0));
        sum[row->nearness] += share * size;
        at[row->nearness] += share;
        whole += share * size;
        sources += share;
    }
    for (int k = 0; k < NEARNESS_COUNT; k++) {
        out->sources[k] = (unsigned)lround(at[k]);
        out->between[k] = of_mean_size * (sum[k] + drawn_as * whole / sources) / (at[k] + drawn_as);
    }
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

double spread_width(const struct spread *s, const struct spread_row *row)
{
    double square = pow(row->figure_spread, 2) + pow(s->own[row->nearness], 2);
    for (int k = 0; k < CLASS_COUNT; k++)
        square += row->is[k] ? pow(model_error_of_class(s->classes, (enum error_class)k), 2) : 0.0;
    return sqrt(square);
}

bool spread_covers(const struct spread *s, const struct spread_row *row)
{
    return fabs(row->log_error) <= half_width * spread_width(s, row);
}

/* What lets a row into its interval, and what the row counts. */
struct asking {
    double asked, weight;
};

static int by_asked(const void *a, const void *b)
{
    const struct asking *x = a, *y = b;
    return (x->asked > y->asked) - (x->asked < y->asked);
}

/* The least that lets in a share of at most 1; 0 of none. */
static double least_of(struct asking *all, size_t count, double share)
{
    double whole = 0.0, inside = 0.0;
    size_t at = 0;
    qsort(all, count, sizeof *all, by_asked);
    for (size_t i = 0; i < count; i++)
        whole += all[i].weight;
    while (at + 1 < count && inside + all[at].weight < share * whole * (1.0 - rounding))
        inside += all[at++].weight;
    return count > 0 ? all[at].asked * (1.0 + rounding) : 0.0;
}

/* The variance that a row asks for beside that of the figures. */
static double asked_variance(const struct spread_row *row)
{
    return fmax(pow(row->log_error / half_width, 2) - pow(row->figure_spread, 2), 0.0);
}

/* A new source lies within the share p of n others with probability p n / (n + 1) in the mean, if
 * all are drawn alike: so this share of them makes it `probability` (split conformal prediction;
 * Lei et al. 2018, theorem 2). */
static double share_for_another(size_t sources)
{
    return fmin(probability * (1.0 + 1.0 / (double)sources), 1.0);
}

static size_t sources_of(const struct plain_rows *all)
{
    size_t sources = 0;
    for (size_t i = 0; i < all->count; i++) {
        size_t first = 0;
        while (all->rows[first]->key[SPREAD_SOURCE] != all->rows[i]->key[SPREAD_SOURCE])
            first++;
        sources += first == i;
    }
    return sources;
}

static double least_factor(struct arena *arena, const struct spread *s,
                           const struct plain_rows *all)
{
    struct asking *asking = ARENA_ARRAY(arena, struct asking, all->count + 1);
    for (size_t i = 0; i < all->count; i++) {
        const struct spread_row *row = all->rows[i];
        double n = 0.0, base = fmax(hypot(s->within, s->between[row->nearness]), least);
        for (size_t k = 0; k < all->count; k++)
            n += same_group(all->rows[k], row);
        asking[i] = (struct asking){sqrt(asked_variance(row)) / base, 1.0 / n};
    }
    return least_of(asking, all->count, share_for_another(sources_of(all)));
}

/* Of this class alone: a row of several asks for the sum. */
static bool only_of(const struct spread_row *row, enum error_class of)
{
    return row->is[of] && classes_of(row) == 1;
}

/* What the rows of a class ask for beside what other rows do, by the share that is let in: of
 * sources, each the same, and of rows; the wider, for few sources tell a share badly, and one of
 * many rows may be wide where several of few are not. */
static double class_spread(struct arena *arena, const struct spread *s,
                           const struct spread_row *rows, size_t count,
                           const struct spread_row *but, enum error_class of)
{
    struct asking *by_source = ARENA_ARRAY(arena, struct asking, count + 1);
    struct asking *by_row = ARENA_ARRAY(arena, struct asking, count + 1);
    size_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        const double own = pow(s->own[rows[i].nearness], 2);
        const double asked = fmax(asked_variance(&rows[i]) - own, 0.0);
        double n = 0.0;
        if (!only_of(&rows[i], of) || left_with(&rows[i], but))
            continue;
        for (size_t k = 0; k < count; k++)
            n += only_of(&rows[k], of) && !left_with(&rows[k], but) &&
                 same_group(&rows[k], &rows[i]);
        by_source[taken] = (struct asking){asked, 1.0 / n};
        by_row[taken++] = (struct asking){asked, 1.0};
    }
    return sqrt(
        fmax(least_of(by_source, taken, probability), least_of(by_row, taken, probability)));
}

bool spread_estimate(struct arena *arena, const struct spread_row *rows, size_t count,
                     const struct spread_row *but, struct spread *out)
{
    struct plain_rows all = {ARENA_ARRAY(arena, const struct spread_row *, count + 1), 0};
    for (size_t i = 0; i < count; i++)
        if (plain(&rows[i], but))
            all.rows[all.count++] = &rows[i];
    *out = (struct spread){.factor = 1.0};
    if (all.count == 0)
        return false;
    out->within = sqrt(within_variance(arena, &all));
    shifts(arena, &all, out);
    ascend(out);
    out->factor = least_factor(arena, out, &all);
    for (int k = 0; k < NEARNESS_COUNT; k++)
        out->own[k] = out->factor * hypot(out->within, out->between[k]);
    for (int k = 0; k < CLASS_LEARNED; k++)
        out->classes[k] = class_spread(arena, out, rows, count, but, (enum error_class)k);
    out->classes[CLASS_FRAMEWORK] = fmax(out->classes[CLASS_FRAMEWORK], out->classes[CLASS_NATIVE]);
    return true;
}

void spread_judge(struct arena *arena, const struct spread_row *rows, size_t count,
                  struct spread_judged *out)
{
    for (size_t i = 0; i < count; i++) {
        size_t first = 0;
        while (rows[first].way != rows[i].way ||
               rows[first].key[rows[i].way] != rows[i].key[rows[i].way])
            first++;
        if (first < i)
            continue; /* judged with the first that was left out with it */
        struct spread others;
        bool known = spread_estimate(arena, rows, count, &rows[i], &others);
        for (size_t k = i; k < count; k++)
            if (rows[k].way == rows[i].way && left_with(&rows[k], &rows[i]))
                out[k] = (struct spread_judged){known ? spread_width(&others, &rows[k]) : NAN,
                                                known && spread_covers(&others, &rows[k])};
    }
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

double spread_of_pairs(const struct spread_member *members, size_t count)
{
    double low = 0.0, high = widest;
    if (isnan(pairs_inside(members, count, 0.0)))
        return NAN;
    for (int step = 0; step < BISECTIONS; step++) {
        double middle = 0.5 * (low + high);
        if (pairs_inside(members, count, middle) < probability)
            low = middle;
        else
            high = middle;
    }
    return high;
}
