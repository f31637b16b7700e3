#include "analysis/watch/change_points.h"

#include <math.h>
#include <string.h>

#include "analysis/record/numbers/statistics.h"

static const double penalty_factor = 5.0; /* change_points.h */

/* What the cost of any segment is read from. Counts are doubled, so that halves are whole. */
struct counted {
    uint32_t count, quantiles;
    const uint32_t *below; /* [k x (count + 1) + i]: twice those of the first i below quantile k */
    const double *entropy; /* [i]: x log x of x = i / 2 */
    double weight;
};

/* The values at the K places, of `ascending`. */
static double quantile_of(const double *ascending, uint32_t n, uint32_t k, uint32_t quantiles)
{
    const double c = -log(2.0 * n - 1.0);
    const double p = 1.0 / (1.0 + (2.0 * n - 1.0) * exp(c * (2.0 * k + 1.0) / quantiles));
    const double place = floor((n - 1) * p);
    return ascending[(uint32_t)fmin(place, n - 1.0)];
}

static void count_below(const double *values, uint32_t n, double quantile, uint32_t *below)
{
    below[0] = 0;
    for (uint32_t i = 0; i < n; i++)
        below[i + 1] = below[i] + (values[i] < quantile ? 2u : values[i] == quantile ? 1u : 0u);
}

static struct counted count_all(struct arena *arena, const double *values, uint32_t n)
{
    struct counted out = {.count = n, .quantiles = (uint32_t)fmin(n, ceil(4.0 * log(n)))};
    uint32_t *below = ARENA_ARRAY(arena, uint32_t, (size_t)out.quantiles * (n + 1));
    double *ascending = ARENA_ARRAY(arena, double, n);
    double *entropy = ARENA_ARRAY(arena, double, 2 * (size_t)n + 1);
    memcpy(ascending, values, n * sizeof *values);
    statistics_sort(ascending, n);
    for (uint32_t k = 0; k < out.quantiles; k++)
        count_below(values, n, quantile_of(ascending, n, k, out.quantiles),
                    &below[(size_t)k * (n + 1)]);
    for (uint32_t i = 1; i <= 2 * n; i++)
        entropy[i] = 0.5 * i * log(0.5 * i);
    out.below = below;
    out.entropy = entropy;
    out.weight = 2.0 * log(2.0 * n - 1.0) / out.quantiles;
    return out;
}

/* Of the values from `first` to before `end`: L F log F + L (1 - F) log(1 - F) is, by counts,
 * c log c + (L - c) log(L - c) - L log L. */
static double cost(const struct counted *s, uint32_t first, uint32_t end)
{
    const uint32_t length = 2 * (end - first);
    double sum = -(double)s->quantiles * s->entropy[length];
    for (uint32_t k = 0; k < s->quantiles; k++) {
        const uint32_t *below = &s->below[(size_t)k * (s->count + 1)];
        const uint32_t under = below[end] - below[first];
        sum += s->entropy[under] + s->entropy[length - under];
    }
    return -s->weight * sum;
}

/* PELT: best[e] is the least of the first e values, in segments of `least` values or more. A start
 * that is behind another by more than the penalty at e can come back until the other may end a
 * segment, at e + least, and never after. `from[e]`: where the last segment of that way begins. */
static void search(struct arena *arena, const struct counted *s, uint32_t least, double penalty,
                   uint32_t *from)
{
    double *best = ARENA_ARRAY(arena, double, s->count + 1);
    struct {
        double reached;
        uint32_t at, until;
    } *starts = arena_array(arena, sizeof *starts, s->count + 1, _Alignof(double));
    uint32_t start_count = 0;
    best[0] = -penalty;
    for (uint32_t end = 1; end < least; end++)
        best[end] = INFINITY; /* there is no such way */
    for (uint32_t end = least; end <= s->count; end++) {
        uint32_t kept = 0;
        starts[start_count].at = end - least;
        starts[start_count++].until = UINT32_MAX;
        best[end] = INFINITY;
        for (uint32_t i = 0; i < start_count; i++) {
            starts[i].reached = best[starts[i].at] + cost(s, starts[i].at, end);
            if (starts[i].reached + penalty < best[end]) {
                best[end] = starts[i].reached + penalty;
                from[end] = starts[i].at;
            }
        }
        for (uint32_t i = 0; i < start_count; i++) {
            if (starts[i].reached > best[end] && starts[i].until == UINT32_MAX)
                starts[i].until = end + least;
            if (starts[i].until > end)
                starts[kept++] = starts[i];
        }
        start_count = kept;
    }
}

static uint32_t find_exactly(struct arena *arena, const double *values, uint32_t n, uint32_t least,
                             uint32_t **cuts)
{
    *cuts = NULL;
    if (n < 2 * least)
        return 0;
    const struct counted counted = count_all(arena, values, n);
    uint32_t *from = ARENA_ARRAY(arena, uint32_t, n + 1);
    uint32_t count = 0;
    search(arena, &counted, least, penalty_factor * log(n), from);
    for (uint32_t end = n; from[end] > 0; end = from[end])
        count++;
    *cuts = ARENA_ARRAY(arena, uint32_t, count + 1);
    uint32_t at = count;
    for (uint32_t end = n; from[end] > 0; end = from[end])
        (*cuts)[--at] = from[end];
    return count;
}

/* The place between `first` and `end` where two segments cost least. */
static uint32_t place_cut(struct arena *arena, const double *values, uint32_t first, uint32_t end)
{
    const struct counted counted = count_all(arena, &values[first], end - first);
    uint32_t best = 1;
    double least = INFINITY;
    for (uint32_t at = 1; at < counted.count; at++) {
        const double both = cost(&counted, 0, at) + cost(&counted, at, counted.count);
        if (both < least) {
            least = both;
            best = at;
        }
    }
    return first + best;
}

/* Index of the first value of block `b` of `blocks`. */
static uint32_t block_first(uint32_t count, uint32_t blocks, uint32_t b)
{
    return (uint32_t)((uint64_t)count * b / blocks);
}

static uint32_t find_by_blocks(struct arena *arena, const double *values, uint32_t count,
                               uint32_t **cuts)
{
    const uint32_t blocks = CHANGE_POINTS_EXACT;
    double *medians = ARENA_ARRAY(arena, double, blocks);
    double *sorted = ARENA_ARRAY(arena, double, count / blocks + 1);
    for (uint32_t b = 0; b < blocks; b++) {
        const uint32_t first = block_first(count, blocks, b),
                       length = block_first(count, blocks, b + 1) - first;
        memcpy(sorted, &values[first], length * sizeof *sorted);
        statistics_sort(sorted, length);
        medians[b] = statistics_percentile(sorted, length, 0.5);
    }
    const uint32_t found = find_exactly(arena, medians, blocks,
                                        (CHANGE_POINTS_LEAST * blocks + count - 1) / count, cuts);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < found; i++) {
        const uint32_t b = (*cuts)[i]; /* the change lies in this block or the one before */
        const uint32_t at = place_cut(arena, values, block_first(count, blocks, b - 1),
                                      block_first(count, blocks, b + 1));
        if (kept == 0 || at > (*cuts)[kept - 1]) /* two next to each other may find one place */
            (*cuts)[kept++] = at;
    }
    return kept;
}

uint32_t change_points_find(struct arena *arena, const double *values, uint32_t count,
                            uint32_t **cuts)
{
    return count <= CHANGE_POINTS_EXACT
               ? find_exactly(arena, values, count, CHANGE_POINTS_LEAST, cuts)
               : find_by_blocks(arena, values, count, cuts);
}
