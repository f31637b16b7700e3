#include "folds.h"

#include <math.h>
#include <string.h>

#include "analysis/record/numbers/statistics.h"
#include "sim/check.h"

enum {
    WIDE = 64 /* GPUs */
};
const char *const crossing_names[CROSS_COUNT] = {"source",
                                                 "framework",
                                                 "release",
                                                 "card",
                                                 "generation",
                                                 "precision",
                                                 "larger half of the models",
                                                 "more than 64 GPUs"};

static double parameters_of(const struct fit_row *row)
{
    const struct configuration *c = &row->scenario->configuration;
    return transformer_parameters(&c->model, c->training.sequence);
}

/* Half of the models are at least so large; models of one size are one. */
static double large_model(const struct fit_rows *rows)
{
    double *sizes = ARENA_ARRAY(rows->arena, double, rows->count + 1);
    size_t count = 0, apart = 0;
    for (size_t i = 0; i < rows->count; i++)
        sizes[count++] = parameters_of(&rows->rows[i]);
    statistics_sort(sizes, count);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || sizes[i] > sizes[apart - 1])
            sizes[apart++] = sizes[i];
    return apart > 0 ? sizes[apart / 2] : INFINITY;
}

const char *folds_key(struct arena *arena, const struct fit_row *row, enum crossing crossing,
                      double large)
{
    const struct configuration *c = &row->scenario->configuration;
    switch (crossing) {
    case CROSS_SOURCE:
        return row->source;
    case CROSS_FRAMEWORK:
        return software_framework(&c->software);
    case CROSS_RELEASE:
        return arena_format(arena, "%s %u", software_framework(&c->software),
                            c->software.version.month);
    case CROSS_CARD:
        return c->gpu.name;
    case CROSS_GENERATION:
        return c->gpu.generation;
    case CROSS_PRECISION:
        return c->training.precision->head.name;
    case CROSS_LARGE:
        return parameters_of(row) >= large ? crossing_names[crossing] : NULL;
    case CROSS_WIDE:
        return configuration_ranks(c) > WIDE ? crossing_names[crossing] : NULL;
    case CROSS_COUNT:
        break;
    }
    UNREACHABLE("crossing is an enum crossing");
}

void folds_fit(const struct folds *folds, const bool *chosen, struct fit_solution *out)
{
    static const double catalogue[FIT_PARAMETER_MAX];
    struct fit_linear linear = {catalogue, folds->shipped, folds->slopes};
    fit_solve(folds->rows, chosen, &linear, catalogue, out);
}

static void leave_out(const struct folds *folds, const char **keys, const char *key, double *out)
{
    const struct fit_rows *rows = folds->rows;
    bool *kept = ARENA_ARRAY(rows->arena, bool, rows->count + 1);
    bool *left = ARENA_ARRAY(rows->arena, bool, rows->count + 1);
    struct fit_solution fold;
    for (size_t i = 0; i < rows->count; i++) {
        left[i] = keys[i] != NULL && strcmp(keys[i], key) == 0;
        kept[i] = !left[i];
    }
    folds_fit(folds, kept, &fold);
    fit_rows_residuals(rows, fold.x, left, out);
}

static void cross(struct folds *folds, enum crossing crossing)
{
    const struct fit_rows *rows = folds->rows;
    const char **keys = ARENA_ARRAY(rows->arena, const char *, rows->count + 1);
    double large = large_model(rows), *left = ARENA_ARRAY(rows->arena, double, rows->count + 1);
    folds->left[crossing] = left;
    for (size_t i = 0; i < rows->count; i++) {
        keys[i] = folds_key(rows->arena, &rows->rows[i], crossing, large);
        left[i] = NAN;
    }
    for (size_t i = 0; i < rows->count; i++)
        if (keys[i] != NULL && isnan(left[i]))
            leave_out(folds, keys, keys[i], left);
}

void folds_play(struct fit_rows *rows, struct folds *out)
{
    static const double catalogue[FIT_PARAMETER_MAX];
    *out = (struct folds){.rows = rows};
    out->shipped = ARENA_ARRAY(rows->arena, double, rows->count + 1);
    out->slopes = ARENA_ARRAY(rows->arena, double, (rows->count + 1) * FIT_PARAMETER_MAX);
    for (size_t k = 0; k < fit_parameter_count; k++)
        rows->fixed[k] = !rows->fitted[k];
    fit_rows_residuals(rows, catalogue, NULL, out->shipped);
    fit_rows_jacobian(rows, catalogue, out->slopes);
    for (int crossing = 0; crossing < CROSS_COUNT; crossing++)
        cross(out, (enum crossing)crossing);
}

struct fold_errors folds_errors(const struct fit_rows *rows, const double *left, const char *source)
{
    struct fold_errors e = {0, NAN, NAN, 0.0};
    double *sizes = ARENA_ARRAY(rows->arena, double, rows->count + 1);
    for (size_t i = 0; i < rows->count; i++) {
        if (isnan(left[i]) || (source != NULL && strcmp(rows->rows[i].source, source) != 0))
            continue;
        double error = expm1(left[i]);
        e.bias += error;
        sizes[e.count++] = fabs(error);
    }
    statistics_sort(sizes, e.count);
    e.median = statistics_percentile(sizes, e.count, 0.5);
    e.p90 = statistics_percentile(sizes, e.count, 0.9);
    e.bias = e.count > 0 ? e.bias / (double)e.count : NAN;
    return e;
}

struct fold_errors folds_mean(const struct fit_rows *rows, const double *left)
{
    struct fold_errors mean = {0, 0.0, 0.0, 0.0};
    for (size_t i = 0; i < rows->count; i++) {
        if (!fit_rows_first_of_source(rows, i))
            continue;
        struct fold_errors e = folds_errors(rows, left, rows->rows[i].source);
        if (e.count == 0)
            continue;
        mean.count++;
        mean.median += e.median;
        mean.p90 += e.p90;
        mean.bias += e.bias;
    }
    double n = (double)mean.count;
    return mean.count == 0
               ? (struct fold_errors){0, NAN, NAN, NAN}
               : (struct fold_errors){mean.count, mean.median / n, mean.p90 / n, mean.bias / n};
}
