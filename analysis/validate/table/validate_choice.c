#include "analysis/validate/table/validate_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/numbers/statistics.h"

enum {
    GROUP_LEAST = 2
};
struct layout_row {
    const char *group, *layout;
    double measured, predicted;
};

static int by_group(const void *a, const void *b)
{
    const struct layout_row *x = a, *y = b;
    int order = strcmp(x->group, y->group);
    return order != 0 ? order : (x->measured > y->measured) - (x->measured < y->measured);
}

/* Is it a run of a layout that stands before it? Then the faster time counts. */
static bool ran_before(struct layout_row *rows, size_t count, const struct layout_row *row)
{
    for (size_t i = 0; i < count; i++)
        if (row->layout != NULL && strcmp(rows[i].group, row->group) == 0 &&
            strcmp(rows[i].layout, row->layout) == 0) {
            rows[i].measured = fmin(rows[i].measured, row->measured);
            rows[i].predicted = fmin(rows[i].predicted, row->predicted);
            return true;
        }
    return false;
}

static size_t take(const struct validation *v, const char *source, struct layout_row *out)
{
    size_t count = 0;
    for (size_t i = 0; i < v->row_count; i++) {
        const struct validate_row *row = &v->rows[i];
        const struct validate_value *time = &row->values[0];
        if (row->group == NULL || strcmp(row->source, source) != 0 ||
            row->quality != QUALITY_CLEAN || row->measured == VERDICT_OOM || !time->has_measured)
            continue;
        bool known = time->has_predicted && !row->refused;
        const struct layout_row one = {row->group, row->layout, time->measured,
                                       known ? time->predicted : INFINITY};
        if (!ran_before(out, count, &one))
            out[count++] = one;
    }
    qsort(out, count, sizeof *out, by_group);
    return count;
}

struct lists {
    double *regrets, *spearmans, *measured, *predicted;
    size_t group_count, spearman_count, right_count;
};

static bool any_predicted(const struct layout_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isfinite(rows[i].predicted))
            return true;
    return false;
}

/* `rows` stand in the order of their measured times. Of equal predictions the slowest counts. */
static void judge(struct arena *arena, const struct layout_row *rows, size_t count, struct lists *l)
{
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++) {
        l->measured[i] = rows[i].measured;
        l->predicted[i] = rows[i].predicted;
        if (rows[i].predicted <= rows[chosen].predicted)
            chosen = i;
    }
    double regret = rows[chosen].measured / rows[0].measured - 1.0;
    l->regrets[l->group_count++] = regret;
    l->right_count += !(regret > 0.0);
    double spearman = statistics_spearman(arena, l->measured, l->predicted, count);
    if (!isnan(spearman))
        l->spearmans[l->spearman_count++] = spearman;
}

struct choice validate_choice_of(struct arena *arena, const struct validation *v,
                                 const char *source)
{
    size_t room = v->row_count + 1;
    struct layout_row *rows = ARENA_ARRAY(arena, struct layout_row, room);
    double *space = ARENA_ARRAY(arena, double, 4 * room);
    struct lists l = {space, space + room, space + 2 * room, space + 3 * room, 0, 0, 0};
    size_t count = take(v, source, rows);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && strcmp(rows[end].group, rows[begin].group) == 0;)
            end++;
        if (end - begin >= GROUP_LEAST && any_predicted(rows + begin, end - begin))
            judge(arena, rows + begin, end - begin, &l);
    }
    if (l.group_count == 0)
        return (struct choice){0.0, NAN, NAN, NAN, NAN};
    statistics_sort(l.regrets, l.group_count);
    statistics_sort(l.spearmans, l.spearman_count);
    return (struct choice){
        .groups = (double)l.group_count,
        .median_regret = statistics_percentile(l.regrets, l.group_count, 0.5),
        .p90_regret = statistics_percentile(l.regrets, l.group_count, 0.9),
        .median_spearman = statistics_percentile(l.spearmans, l.spearman_count, 0.5),
        .top1 = (double)l.right_count / (double)l.group_count,
    };
}
