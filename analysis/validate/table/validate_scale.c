#include "analysis/validate/table/validate_scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/numbers/statistics.h"

const double scale_bin_limits[SCALE_BIN_COUNT] = {8.0, 64.0, 256.0, 1024.0, INFINITY};

struct machine_row {
    double gpus, error;
    size_t index;
};

bool validate_scale_row(const struct validation *v, const struct validate_row *row, double *gpus,
                        double *error)
{
    if (row->quality != QUALITY_CLEAN || csv_column(v->csv, "gpus") < 0 ||
        !row->values[0].has_measured || !validate_row_error(row, 0, error))
        return false;
    *gpus = strtod(csv_cell(v->csv, row->record, "gpus"), NULL);
    return *gpus >= 1.0 && isfinite(*gpus);
}

/* Ties in file order, so that thirds do not depend on the sort. */
static int by_gpus(const void *a, const void *b)
{
    const struct machine_row *x = a, *y = b;
    if (x->gpus != y->gpus)
        return x->gpus < y->gpus ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static size_t take(const struct validation *v, const char *source, struct machine_row *out)
{
    size_t count = 0;
    for (size_t i = 0; i < v->row_count; i++) {
        const struct validate_row *row = &v->rows[i];
        if ((source == NULL || strcmp(row->source, source) == 0) &&
            validate_scale_row(v, row, &out[count].gpus, &out[count].error))
            out[count++].index = i;
    }
    if (count > 0)
        qsort(out, count, sizeof *out, by_gpus);
    return count;
}

static struct score score_of(const struct machine_row *rows, size_t count, double *space)
{
    for (size_t i = 0; i < count; i++)
        space[i] = rows[i].error;
    return validate_score_errors(space, count);
}

static void fill_bins(const struct machine_row *rows, size_t count, double *space,
                      struct scale *out)
{
    size_t begin = 0;
    for (unsigned b = 0; b < SCALE_BIN_COUNT; b++) {
        size_t end = begin;
        while (end < count && rows[end].gpus <= scale_bin_limits[b])
            end++;
        out->bins[b] = score_of(rows + begin, end - begin, space);
        begin = end;
    }
}

static struct scale scale_of(struct arena *arena, const struct validation *v, const char *source)
{
    struct scale s = {.name = source};
    struct machine_row *rows = ARENA_ARRAY(arena, struct machine_row, v->row_count + 1);
    double *space = ARENA_ARRAY(arena, double, 2 * (v->row_count + 1));
    double *gpus = space, *errors = space + v->row_count + 1;
    s.count = take(v, source, rows);
    fill_bins(rows, s.count, space, &s);
    size_t third = (s.count + 2) / 3;
    s.small = score_of(rows, third, space).median_ape;
    s.large = score_of(rows + (s.count - third), third, space).median_ape;
    for (size_t i = 0; i < s.count; i++) {
        gpus[i] = rows[i].gpus;
        errors[i] = fabs(rows[i].error);
    }
    s.spearman = statistics_spearman(arena, errors, gpus, s.count);
    return s;
}

void validate_scale_rows(struct arena *arena, const struct validation *v,
                         const struct scores *scores, struct scales *out)
{
    double sum = 0.0, weight = 0.0;
    *out = (struct scales){ARENA_ARRAY(arena, struct scale, scores->source_count + 1), 0,
                           scale_of(arena, v, NULL), NAN};
    for (unsigned i = 0; i < scores->source_count; i++) {
        struct scale s = scale_of(arena, v, scores->sources[i].name);
        if (s.count > 0)
            out->sources[out->source_count++] = s;
        if (!isnan(s.spearman)) {
            sum += s.spearman * (double)s.count;
            weight += (double)s.count;
        }
    }
    if (weight > 0.0)
        out->within = sum / weight;
}
