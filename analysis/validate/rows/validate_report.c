#include "analysis/validate/rows/validate_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/validate/table/validate_scale.h"
#include "sim/check.h"
#include "sim/plural.h"

const char *const validate_oom_metric = "oom";

bool validate_listed(const struct validate_row *row, unsigned metric)
{
    return metric == 0 || row->values[metric].has_measured;
}

/* The name tells: bytes, a rate, a ratio, or seconds. */
struct text validate_value_text(const char *metric, bool known, double value)
{
    struct text text = {"-"};
    if (!known)
        return text;
    if (strstr(metric, "peak") != NULL)
        return format_bytes(value);
    if (strcmp(metric, "bytes") == 0)
        return format_bytes_decimal(value);
    if (strcmp(metric, "rate") == 0)
        snprintf(text.s, sizeof text.s, "%.4g /s", value);
    else if (strcmp(metric, "ratio") == 0)
        snprintf(text.s, sizeof text.s, "%.4f", value);
    else
        return format_time(value);
    return text;
}

static struct text error_text(bool known, double error)
{
    struct text text = {"-"};
    if (known)
        snprintf(text.s, sizeof text.s, "%+.1f %%", 100.0 * error);
    return text;
}

static struct text correlation_text(double value, int digits)
{
    struct text text = {"-"};
    if (!isnan(value))
        snprintf(text.s, sizeof text.s, "%.*f", digits, value);
    return text;
}

static struct text percent(double ratio)
{
    struct text text = {"-"};
    if (!isnan(ratio))
        snprintf(text.s, sizeof text.s, "%.1f %%", 100.0 * ratio);
    return text;
}

struct line { /* a row and a metric */
    const struct validate_row *row;
    unsigned metric;
    bool known;
    double error;
};

static int by_error(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    double p = x->known ? fabs(x->error) : -1.0, q = y->known ? fabs(y->error) : -1.0;
    if (p != q)
        return p < q ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

static const char *verdict_text(const struct validate_row *row)
{
    if (row->refused)
        return "";
    if (row->measured == VERDICT_NONE)
        return row->predicted != VERDICT_NONE ? "nothing measured" : "";
    if (row->measured == row->predicted)
        return row->measured == VERDICT_OOM ? "oom, as predicted" : "";
    return row->measured == VERDICT_OOM ? "oom, predicted to fit" : "fits, predicted oom";
}

static void print_line(const struct validation *v, const struct line *l, FILE *out)
{
    const char *metric = v->kind->metrics[l->metric];
    const struct validate_value *value = &l->row->values[l->metric];
    bool predicted = value->has_predicted && !l->row->refused;
    const char *verdict = l->metric == 0 ? verdict_text(l->row) : "";
    fprintf(out, "%-52.52s %-8s %-14s %12s %12s %9s  %s%s%s%s\n", l->row->id,
            quality_names[l->row->quality], metric,
            validate_value_text(metric, predicted, value->predicted).s,
            validate_value_text(metric, value->has_measured, value->measured).s,
            error_text(l->known, l->error).s, l->row->refused ? "refused: " : "", l->row->note,
            *l->row->note != '\0' && *verdict != '\0' ? "; " : "", verdict);
}

static void print_lines(const struct validation *v, size_t worst, FILE *out)
{
    unsigned metrics = validate_metric_count(v->kind);
    struct line *lines = ARENA_ARRAY(v->arena, struct line, v->row_count * metrics + 1);
    size_t count = 0;
    for (size_t i = 0; i < v->row_count; i++) {
        for (unsigned m = 0; m < metrics; m++) {
            if (!validate_listed(&v->rows[i], m))
                continue;
            struct line *l = &lines[count++];
            *l = (struct line){&v->rows[i], m, false, 0.0};
            l->known = validate_row_error(l->row, m, &l->error);
        }
    }
    if (worst < count) {
        qsort(lines, count, sizeof *lines, by_error);
        count = worst;
    }
    if (count > 0)
        fprintf(out, "%-52s %-8s %-14s %12s %12s %9s\n", "row", "quality", "metric", "predicted",
                "measured", "error");
    for (size_t i = 0; i < count; i++)
        print_line(v, &lines[i], out);
}

static void print_score(const char *source, const char *metric, const char *quality,
                        const struct score *s, FILE *out)
{
    if (!(s->count > 0.0))
        return;
    fprintf(out, "%-18.18s %-14s %-6s %5.0f %9s %9s %9s %9s %9s\n", source, metric, quality,
            s->count, percent(s->median_ape).s, percent(s->mean_ape).s, percent(s->p90_ape).s,
            error_text(true, s->bias).s, percent(s->within_10).s);
}

/* Most frequent reason first. */
static void print_refused(const char *name, const struct source_score *s, FILE *out)
{
    unsigned left[REFUSAL_COUNT];
    if (s->refused == 0)
        return;
    memcpy(left, s->refusals, sizeof left);
    fprintf(out, "%-18.18s refused %u of %u row%s:", name, s->refused, s->rows, plural_s(s->rows));
    for (unsigned told = 0; told < s->refused;) {
        unsigned most = 0;
        for (unsigned why = 1; why < REFUSAL_COUNT; why++)
            most = left[why] > left[most] ? why : most;
        fprintf(out, "%s %s (%u)", told > 0 ? "," : "", refusal_names[most], left[most]);
        told += left[most];
        left[most] = 0;
    }
    fputc('\n', out);
}

static void print_scores(const struct validation *v, const struct scores *s, FILE *out)
{
    static const char *const kept[] = {"clean", "noisy"};
    fprintf(out, "\n%-18s %-14s %-6s %5s %9s %9s %9s %9s %9s\n", "source", "metric", "rows",
            "count", "median", "mean", "P90", "bias", "in 10 %");
    for (unsigned i = 0; i <= s->source_count; i++) {
        const struct source_score *of = i < s->source_count ? &s->sources[i] : &s->all;
        const char *name = of->name != NULL ? of->name : "all";
        for (unsigned m = 0; m < validate_metric_count(v->kind); m++)
            for (unsigned q = 0; q < 2; q++)
                print_score(name, v->kind->metrics[m], kept[q], &of->metrics[m][q], out);
        print_refused(name, of, out);
    }
    print_score("mean of sources", v->kind->metrics[0], "clean", &s->macro_clean, out);
}

static void print_confusion(const char *name, const struct confusion *c, FILE *out)
{
    unsigned count = c->true_positive + c->false_positive + c->true_negative + c->false_negative;
    if (count > 0)
        fprintf(out,
                "%-18.18s out of memory: accuracy %s, precision %s, recall %s (%u true, %u false; "
                "%u true to fit, %u false)\n",
                name, percent(c->accuracy).s, percent(c->precision).s, percent(c->recall).s,
                c->true_positive, c->false_positive, c->true_negative, c->false_negative);
}

static void print_choice(const char *name, const struct choice *c, FILE *out)
{
    if (c->groups > 0.0)
        fprintf(out,
                "%-18.18s %.0f groups of layouts: regret %s in the median, P90 %s; Spearman %s; "
                "the best found in %s\n",
                name, c->groups, percent(c->median_regret).s, percent(c->p90_regret).s,
                correlation_text(c->median_spearman, 3).s, percent(c->top1).s);
}

static struct text bin_text(const struct score *bin)
{
    struct text text = {"-"};
    if (bin->count > 0.0)
        snprintf(text.s, sizeof text.s, "%.1f %+.1f (%.0f)", 100.0 * bin->median_ape,
                 100.0 * bin->bias, bin->count);
    return text;
}

static void print_scale(const char *name, const struct scale *s, FILE *out)
{
    fprintf(out, "%-18.18s", name);
    for (unsigned b = 0; b < SCALE_BIN_COUNT; b++)
        fprintf(out, " %17s", bin_text(&s->bins[b]).s);
    fprintf(out, " %9s\n", correlation_text(s->spearman, 2).s);
}

/* Nothing of a file whose rows are all of one number of GPUs, or tell none. */
static void print_scales(const struct validation *v, const struct scores *scores, FILE *out)
{
    struct scales scales;
    validate_scale_rows(v->arena, v, scores, &scales);
    if (isnan(scales.all.spearman))
        return;
    fprintf(out,
            "\n%s by GPUs: median |error|, bias in %% (clean rows); rank correlation of |error| "
            "with GPUs\n%-18s",
            v->kind->metrics[0], "source");
    for (unsigned b = 0; b + 1 < SCALE_BIN_COUNT; b++)
        fprintf(out, "       up to %5.0f", scale_bin_limits[b]);
    fprintf(out, " %17s %9s\n", "more", "Spearman");
    for (unsigned i = 0; i < scales.source_count; i++)
        print_scale(scales.sources[i].name, &scales.sources[i], out);
    print_scale("all", &scales.all, out);
    if (!isnan(scales.within))
        fprintf(out, "Spearman within sources, by their rows: %.2f\n", scales.within);
}

void validate_report(const struct validation *v, const struct scores *scores, size_t worst,
                     struct session *session)
{
    FILE *out = session->out;
    if (v->detail != VALIDATE_OP)
        fprintf(out, "Steps are timed at %s detail.\n\n", validate_detail_names[v->detail]);
    print_lines(v, worst, out);
    print_scores(v, scores, out);
    if (v->kind->report != NULL)
        v->kind->report(v, out);
    fputc('\n', out);
    for (unsigned i = 0; i < scores->source_count; i++) {
        print_confusion(scores->sources[i].name, &scores->sources[i].oom, out);
        print_choice(scores->sources[i].name, &scores->sources[i].choice, out);
    }
    print_confusion("all", &scores->all.oom, out);
    print_choice("mean of sources", &scores->all.choice, out);
    print_scales(v, scores, out);
    validate_report_announced(v, out);
}

void validate_report_announced(const struct validation *v, FILE *out)
{
    const char *words = validate_announced(v);
    if (*words != '\0')
        fprintf(out, "announced: %s\n", words);
}

/* Quoted when it must be. */
static void print_field(const char *text, FILE *out)
{
    if (strpbrk(text, ",\"\n\r") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_number(bool known, double value, FILE *out)
{
    if (known)
        fprintf(out, ",%.17g", value);
    else
        fputc(',', out);
}

static void print_record(const struct validate_row *row, const char *metric,
                         const struct validate_value *value, bool has_error, double error,
                         FILE *out)
{
    print_field(row->id, out);
    fputc(',', out);
    print_field(row->source, out);
    fprintf(out, ",%s,%s", quality_names[row->quality], metric);
    print_number(value->has_predicted && !row->refused, value->predicted, out);
    print_number(value->has_measured, value->measured, out);
    print_number(has_error, error, out);
    fprintf(out, ",%s", row->refused ? "refused: " : "");
    print_field(row->note, out);
    fprintf(out, ",%s\n", refusal_names[row->refused]);
}

void validate_report_csv(const struct validation *v, FILE *out)
{
    fputs("row_id,source,quality,metric,predicted,measured,error,note,refused\n", out);
    for (size_t i = 0; i < v->row_count; i++) {
        const struct validate_row *row = &v->rows[i];
        for (unsigned m = 0; m < validate_metric_count(v->kind); m++) {
            double error = 0.0;
            bool known = validate_row_error(row, m, &error);
            if (validate_listed(row, m))
                print_record(row, v->kind->metrics[m], &row->values[m], known, error, out);
        }
        struct validate_value oom = {row->predicted != VERDICT_NONE, row->measured != VERDICT_NONE,
                                     row->predicted == VERDICT_OOM, row->measured == VERDICT_OOM};
        if (oom.has_measured)
            print_record(row, validate_oom_metric, &oom, false, 0.0, out);
    }
}
