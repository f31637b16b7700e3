#include "worth.h"

#include <math.h>
#include <string.h>

static const double shown = 0.01;     /* elasticity: a tenth more moves the step by .1 % */
static const double resolved = 0.003; /* of a mean of medians */
static const double helps = 0.25;     /* of what it gains where it was fitted */
static const double straight = 0.1;   /* change of a logarithm over which slopes are good */
const char *const worth_verdicts[] = {"not shown",
                                      "not resolved",
                                      "helps outside its source",
                                      "one source; helps outside its models",
                                      "does not help",
                                      NULL};

/* Residuals of the chosen rows, with the constant changed by this logarithm. */
static void play(const struct folds *folds, size_t k, double x, const bool *chosen, double *out)
{
    double all[FIT_PARAMETER_MAX] = {0};
    all[k] = x;
    if (fabs(x) > straight)
        fit_rows_residuals(folds->rows, all, chosen, out);
    for (size_t i = 0; i < folds->rows->count && fabs(x) <= straight; i++)
        if (chosen[i])
            out[i] = folds->shipped[i] + folds->slopes[i * FIT_PARAMETER_MAX + k] * x;
}

static bool shows(const struct folds *folds, size_t row, size_t k)
{
    return fabs(folds->slopes[row * FIT_PARAMETER_MAX + k]) > shown;
}

static const char *key_of(const struct fit_row *row, bool by_model)
{
    return by_model ? row->model : row->source;
}

/* Every row that shows the constant, predicted with what the other sources (or models) say of it.
 */
static double left_out(const struct folds *folds, size_t k, bool by_model)
{
    const struct fit_rows *rows = folds->rows;
    bool *kept = ARENA_ARRAY(rows->arena, bool, rows->count + 1);
    bool *left = ARENA_ARRAY(rows->arena, bool, rows->count + 1);
    double *out = ARENA_ARRAY(rows->arena, double, rows->count + 1);
    struct fit_solution fold;
    for (size_t i = 0; i < rows->count; i++)
        out[i] = NAN;
    for (size_t i = 0; i < rows->count; i++) {
        if (!shows(folds, i, k) || !isnan(out[i]))
            continue;
        for (size_t n = 0; n < rows->count; n++) {
            bool same =
                strcmp(key_of(&rows->rows[n], by_model), key_of(&rows->rows[i], by_model)) == 0;
            kept[n] = !same;
            left[n] = same && shows(folds, n, k);
        }
        folds_fit(folds, kept, &fold);
        play(folds, k, fold.x[k], left, out);
    }
    return folds_mean(rows, out).median;
}

static enum worth_verdict verdict_of(const struct worth *w)
{
    if (w->rows == 0)
        return WORTH_NOT_SHOWN;
    if (fabs(w->without - w->with) < resolved)
        return WORTH_NOT_RESOLVED;
    double enough = w->without - helps * (w->without - w->with);
    if (w->sources > 1)
        return w->source_out < enough ? WORTH_OUTSIDE : WORTH_NOTHING;
    return w->model_out < enough ? WORTH_INSIDE : WORTH_NOTHING;
}

void worth_judge(struct fit_rows *rows, const struct folds *folds, size_t k, struct worth *out)
{
    bool before[FIT_PARAMETER_MAX], *chosen = ARENA_ARRAY(rows->arena, bool, rows->count + 1);
    double *base = ARENA_ARRAY(rows->arena, double, rows->count + 1);
    double *without = ARENA_ARRAY(rows->arena, double, rows->count + 1);
    struct fit_solution all;
    *out = (struct worth){.constant = &fit_parameters[k], .value = rows->catalogue[k]};
    memcpy(before, rows->fixed, sizeof before);
    for (size_t p = 0; p < fit_parameter_count; p++)
        rows->fixed[p] = p != k;
    for (size_t i = 0; i < rows->count; i++) {
        chosen[i] = shows(folds, i, k);
        out->rows += chosen[i];
        base[i] = chosen[i] ? folds->shipped[i] : NAN;
        without[i] = NAN;
    }
    out->sources = folds_mean(rows, base).count;
    out->with = folds_mean(rows, base).median;
    play(folds, k, log(fit_parameters[k].prior / rows->catalogue[k]), chosen, without);
    out->without = folds_mean(rows, without).median;
    out->source_out = left_out(folds, k, false);
    out->model_out = left_out(folds, k, true);
    folds_fit(folds, NULL, &all);
    out->error = all.error[k];
    out->verdict = verdict_of(out);
    memcpy(rows->fixed, before, sizeof before);
}
