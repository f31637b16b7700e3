/* Which points lists show and in what order, and why the others are not among them. */
#include <math.h>
#include <string.h>

#include "analysis/study/study.h"
#include "analysis/study/study_warnings.h"
#include "sim/check.h"

enum {
    REASON_MAX = 64 /* the rest is counted with the last */
};

size_t study_reasons(const struct study *study, struct study_reason **out)
{
    struct study_reason *reasons = ARENA_ARRAY(study->arena, struct study_reason, REASON_MAX);
    size_t count = 0;
    for (size_t p = 0; p < study->point_count; p++) {
        const char *text = study->points[p].refusal;
        size_t i = 0;
        if (text == NULL)
            continue;
        while (i < count && !study_warnings_alike(reasons[i].text, text))
            i++;
        if (i == REASON_MAX)
            i--;
        else if (i == count)
            reasons[count++] = (struct study_reason){text, p, 0};
        reasons[i].count++;
    }
    *out = reasons;
    return count;
}

size_t study_refused(const struct study *study)
{
    size_t refused = 0;
    for (size_t p = 0; p < study->point_count; p++)
        refused += study->points[p].refusal != NULL;
    return refused;
}

bool study_fits(const struct study *study)
{
    for (size_t p = 0; p < study->point_count; p++)
        if (study->points[p].fits)
            return true;
    return false;
}

bool study_short_on_host(const struct study_point *point)
{
    return point->shortage.tensor != NULL &&
           point->values[0][METRIC_peak_reserved_bytes] <= point->usable_bytes;
}

size_t study_nearest(const struct study *study)
{
    size_t nearest = SIZE_MAX;
    for (size_t p = 0; p < study->point_count; p++) {
        const struct study_shortage *shortage = &study->points[p].shortage;
        if (shortage->tensor != NULL &&
            (nearest == SIZE_MAX ||
             shortage->short_bytes < study->points[nearest].shortage.short_bytes))
            nearest = p;
    }
    return nearest;
}

bool study_single(const struct study *study)
{
    for (size_t p = 0; p < study->point_count; p++)
        if (study->points[p].replications > 1)
            return false;
    return true;
}

/* Of the objective, so that less is better; what has no value lies behind all others. */
static double rank_of(const struct study *study, size_t point)
{
    struct summary s;
    study_summarise(study->arena, &study->points[point], study->objective, &s);
    double sign = study_metrics[study->objective].larger_is_better ? -1.0 : 1.0;
    return s.count > 0 ? sign * s.mean : INFINITY;
}

/* The `top` least by insertion; points of one rank stay in the order of the grid. */
static size_t keep_best(const struct study *study, size_t top, size_t *order, size_t count)
{
    double *ranks = ARENA_ARRAY(study->arena, double, top + 1);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t point = order[i], at = kept;
        double rank = rank_of(study, point);
        for (; at > 0 && ranks[at - 1] > rank; at--) {
            ranks[at] = ranks[at - 1];
            order[at] = order[at - 1];
        }
        CHECK(at <= i);
        ranks[at] = rank;
        order[at] = point;
        kept = kept < top ? kept + 1 : top;
    }
    return kept;
}

size_t study_order(const struct study *study, size_t top, size_t **out)
{
    size_t *order = ARENA_ARRAY(study->arena, size_t, study->point_count + 1), count = 0;
    for (size_t p = 0; p < study->point_count; p++)
        if (study->points[p].refusal == NULL)
            order[count++] = p;
    *out = order;
    return top == 0 ? count : keep_best(study, top < count ? top : count, order, count);
}
