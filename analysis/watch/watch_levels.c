#include "analysis/watch/watch_levels.h"

#include <math.h>
#include <string.h>

#include "analysis/record/numbers/statistics.h"
#include "analysis/watch/change_points.h"

static const double level_ratio = 0.0005, slow_score = 3.5, mad_factor = 0.6745,
                    mean_factor = 1.253314;

/* The steady rows: which, their times, and the steps that were trained before and in each. */
struct steady {
    struct arena *arena;
    uint32_t *rows;
    double *times_s, *trained;
    uint32_t count;
};

static struct steady steady_of(struct arena *arena, const struct watch *w)
{
    struct steady out = {.arena = arena,
                         .rows = ARENA_ARRAY(arena, uint32_t, w->steady_count),
                         .times_s = ARENA_ARRAY(arena, double, w->steady_count),
                         .trained = ARENA_ARRAY(arena, double, w->steady_count)};
    double trained = 0.0;
    for (uint32_t i = 0; i < w->log->count; i++) {
        trained += w->rows[i].steps;
        if (!w->rows[i].steady)
            continue;
        out.rows[out.count] = i;
        out.times_s[out.count] = w->rows[i].step_s;
        out.trained[out.count++] = trained;
    }
    return out;
}

static struct watch_spread spread_of(const struct steady *s, uint32_t first, uint32_t end)
{
    const struct arena_mark mark = arena_mark(s->arena);
    double *sorted = ARENA_ARRAY(s->arena, double, end - first);
    memcpy(sorted, &s->times_s[first], (end - first) * sizeof *sorted);
    statistics_sort(sorted, end - first);
    const struct watch_spread out = {.first = s->rows[first],
                                     .last = s->rows[end - 1],
                                     .rows = end - first,
                                     .p10_s = statistics_percentile(sorted, end - first, 0.1),
                                     .p50_s = statistics_percentile(sorted, end - first, 0.5),
                                     .p90_s = statistics_percentile(sorted, end - first, 0.9)};
    arena_rewind(s->arena, mark);
    return out;
}

/* What a deviation is measured by: z is (x - median) / it; 0: all are equal. */
static double scale_of(const struct steady *s, uint32_t first, uint32_t end, double median)
{
    const struct arena_mark mark = arena_mark(s->arena);
    double *sorted = ARENA_ARRAY(s->arena, double, end - first);
    double sum = 0.0;
    for (uint32_t i = first; i < end; i++) {
        sorted[i - first] = fabs(s->times_s[i] - median);
        sum += sorted[i - first];
    }
    statistics_sort(sorted, end - first);
    const double mad = statistics_percentile(sorted, end - first, 0.5);
    arena_rewind(s->arena, mark);
    return mad > 0.0 ? mad / mad_factor : mean_factor * sum / (end - first);
}

static void find_slow(const struct watch *w, const struct steady *s, uint32_t first, uint32_t end,
                      struct watch_level *level, struct watch_levels *out)
{
    const double median_s = level->spread.p50_s, scale_s = scale_of(s, first, end, median_s);
    for (uint32_t i = first; i < end && scale_s > 0.0; i++) {
        const double score = (s->times_s[i] - median_s) / scale_s;
        if (score <= slow_score)
            continue;
        level->slow++;
        out->slow[out->slow_count++] = (struct watch_slow){
            s->rows[i], score, (s->times_s[i] - median_s) * w->rows[s->rows[i]].steps};
    }
}

/* Leaves the cuts between whose sides the median changes; returns how many. */
static uint32_t keep_changes(const struct steady *s, uint32_t *cuts, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t first = kept > 0 ? cuts[kept - 1] : 0,
                       end = i + 1 < count ? cuts[i + 1] : s->count;
        const double before_s = spread_of(s, first, cuts[i]).p50_s,
                     after_s = spread_of(s, cuts[i], end).p50_s;
        if (fabs(after_s / before_s - 1.0) >= level_ratio)
            cuts[kept++] = cuts[i];
    }
    return kept;
}

static void find_levels(const struct watch *w, const struct steady *s, struct watch_levels *out)
{
    uint32_t *cuts;
    const uint32_t found = change_points_find(s->arena, s->times_s, s->count, &cuts);
    const uint32_t count = keep_changes(s, cuts, found);
    out->levels = ARENA_ARRAY(s->arena, struct watch_level, count + 1);
    out->slow = ARENA_ARRAY(s->arena, struct watch_slow, s->count);
    for (uint32_t i = 0; i <= count; i++) {
        const uint32_t first = i > 0 ? cuts[i - 1] : 0, end = i < count ? cuts[i] : s->count;
        struct watch_level *level = &out->levels[out->level_count++];
        level->spread = spread_of(s, first, end);
        drift_find(s->arena, &s->trained[first], &s->times_s[first], end - first, &level->drift);
        find_slow(w, s, first, end, level, out);
    }
}

void watch_levels_find(struct arena *arena, const struct watch *watch, uint32_t windows,
                       struct watch_levels *out)
{
    const struct steady s = steady_of(arena, watch);
    *out = (struct watch_levels){.all = spread_of(&s, 0, s.count)};
    out->window_count = windows < s.count ? windows : s.count;
    out->windows = ARENA_ARRAY(arena, struct watch_spread, out->window_count);
    for (uint32_t i = 0; i < out->window_count; i++)
        out->windows[i] = spread_of(&s, (uint32_t)((uint64_t)s.count * i / out->window_count),
                                    (uint32_t)((uint64_t)s.count * (i + 1) / out->window_count));
    find_levels(watch, &s, out);
}
