#include "analysis/validate/table/validate_score.h"

#include <math.h>
#include <string.h>

#include "analysis/record/numbers/statistics.h"
#include "analysis/validate/table/validate_choice.h"

#define NEAR 0.10 /* within_10 */

struct score validate_score_errors(double *errors, size_t count)
{
    if (count == 0)
        return (struct score){0.0, NAN, NAN, NAN, NAN, NAN};
    struct score s = {.count = (double)count};
    for (size_t i = 0; i < count; i++) {
        s.bias += errors[i] / (double)count;
        errors[i] = fabs(errors[i]);
        s.mean_ape += errors[i] / (double)count;
        s.within_10 += errors[i] <= NEAR ? 1.0 : 0.0;
    }
    s.within_10 /= (double)count;
    statistics_sort(errors, count);
    s.median_ape = statistics_percentile(errors, count, 0.5);
    s.p90_ape = statistics_percentile(errors, count, 0.9);
    return s;
}

static bool of_source(const struct validate_row *row, const char *source)
{
    return source == NULL || strcmp(row->source, source) == 0;
}

static struct score score_metric(const struct validation *v, const char *source, unsigned metric,
                                 enum quality quality, double *errors)
{
    size_t count = 0;
    for (size_t i = 0; i < v->row_count; i++) {
        const struct validate_row *row = &v->rows[i];
        if (of_source(row, source) && row->quality == quality &&
            validate_row_error(row, metric, &errors[count]))
            count++;
    }
    return validate_score_errors(errors, count);
}

static double share(unsigned part, unsigned whole)
{
    return whole > 0 ? (double)part / (double)whole : NAN;
}

static struct confusion confuse(const struct validation *v, const char *source)
{
    struct confusion c = {0};
    for (size_t i = 0; i < v->row_count; i++) {
        const struct validate_row *row = &v->rows[i];
        if (!of_source(row, source) || row->quality != QUALITY_CLEAN ||
            row->measured == VERDICT_NONE || row->refused)
            continue;
        bool positive = row->measured == VERDICT_OOM;
        bool right = row->predicted == row->measured;
        c.true_positive += positive && right;
        c.false_negative += positive && !right;
        c.true_negative += !positive && right;
        c.false_positive += !positive && !right;
    }
    unsigned right = c.true_positive + c.true_negative;
    c.accuracy = share(right, right + c.false_positive + c.false_negative);
    c.precision = share(c.true_positive, c.true_positive + c.false_positive);
    c.recall = share(c.true_positive, c.true_positive + c.false_negative);
    return c;
}

static void count_refused(const struct validation *v, const char *source, struct source_score *out)
{
    for (size_t i = 0; i < v->row_count; i++) {
        const struct validate_row *row = &v->rows[i];
        if (!of_source(row, source))
            continue;
        out->rows++;
        out->refused += row->refused != REFUSAL_NONE;
        out->refusals[row->refused] += row->refused != REFUSAL_NONE;
    }
}

static void score_source(struct arena *arena, const struct validation *v, const char *source,
                         struct source_score *out)
{
    double *errors = ARENA_ARRAY(arena, double, v->row_count + 1);
    *out = (struct source_score){.name = source};
    for (unsigned m = 0; m < validate_metric_count(v->kind); m++) {
        out->metrics[m][0] = score_metric(v, source, m, QUALITY_CLEAN, errors);
        out->metrics[m][1] = score_metric(v, source, m, QUALITY_NOISY, errors);
    }
    count_refused(v, source, out);
    out->oom = confuse(v, source);
    if (source != NULL)
        out->choice = validate_choice_of(arena, v, source);
}

/* Adds `part` / count unless it is not known. */
static void add(double *sum, double part, double count)
{
    *sum += part / count;
}

static void score_macro(struct scores *s)
{
    unsigned main = 0;
    double count = 0.0;
    struct score mean = {0};
    for (unsigned i = 0; i < s->source_count; i++)
        count += s->sources[i].metrics[main][0].count > 0.0;
    for (unsigned i = 0; i < s->source_count; i++) {
        const struct score *of = &s->sources[i].metrics[main][0];
        if (!(of->count > 0.0))
            continue;
        add(&mean.median_ape, of->median_ape, count);
        add(&mean.mean_ape, of->mean_ape, count);
        add(&mean.p90_ape, of->p90_ape, count);
        add(&mean.bias, of->bias, count);
        add(&mean.within_10, of->within_10, count);
    }
    mean.count = count;
    s->macro_clean = count > 0.0 ? mean : validate_score_errors(NULL, 0);
}

static void choose_macro(struct scores *s)
{
    double count = 0.0, ranked = 0.0;
    struct choice mean = {0};
    for (unsigned i = 0; i < s->source_count; i++) {
        count += s->sources[i].choice.groups > 0.0;
        ranked += !isnan(s->sources[i].choice.median_spearman);
    }
    for (unsigned i = 0; i < s->source_count; i++) {
        const struct choice *of = &s->sources[i].choice;
        mean.groups += of->groups;
        if (!(of->groups > 0.0))
            continue;
        add(&mean.median_regret, of->median_regret, count);
        add(&mean.p90_regret, of->p90_regret, count);
        add(&mean.top1, of->top1, count);
        if (!isnan(of->median_spearman))
            add(&mean.median_spearman, of->median_spearman, ranked);
    }
    if (!(ranked > 0.0))
        mean.median_spearman = NAN;
    s->all.choice = count > 0.0 ? mean : (struct choice){0.0, NAN, NAN, NAN, NAN};
}

void validate_score_rows(struct arena *arena, const struct validation *v, struct scores *out)
{
    *out = (struct scores){0};
    const char **names = ARENA_ARRAY(arena, const char *, v->row_count + 1);
    for (size_t i = 0; i < v->row_count; i++) {
        unsigned known = 0;
        while (known < out->source_count && strcmp(names[known], v->rows[i].source) != 0)
            known++;
        if (known == out->source_count)
            names[out->source_count++] = v->rows[i].source;
    }
    out->sources = ARENA_ARRAY(arena, struct source_score, out->source_count + 1);
    for (unsigned i = 0; i < out->source_count; i++)
        score_source(arena, v, names[i], &out->sources[i]);
    score_source(arena, v, NULL, &out->all);
    score_macro(out);
    choose_macro(out);
}
