/* unsaid - half-filled scenarios of today beside what was published of such runs.
 *
 * A line of unsaid.csv is a scenario of a model, a card, a number of GPUs, a sequence and a batch
 * (the least that a scenario can say; a precision where only others than bf16 were published), and
 * patterns of row names of steps.csv: the same card, format and kind of model, the model itself
 * where it was published. Their lowest and highest MFU (model FLOPs of the row's own scenario in
 * the measured time) are the range, widened by nothing; or a paper prints it (`low`, `high`). The
 * column `verdict` says where the prediction lies, in, above or below; `named` where it lies once
 * the scenario names a framework too: that of most of these rows. Any change of them is a failure,
 * and so is a pattern that takes no row.
 *
 * usage: unsaid STEPS.csv UNSAID.csv */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/evidence/published_mfu.h"
#include "analysis/validate/rows/validate.h"
#include "analysis/validate/rows/validate_run.h"
#include "models/step/simulate/step.h"

enum {
    FRAMEWORKS_MAX = 8,
    NAME_BYTES = 32
};
struct range {
    double low, high;
    unsigned rows;
    struct framework { /* of the rows */
        char name[NAME_BYTES];
        unsigned rows;
    } frameworks[FRAMEWORKS_MAX];
};

/* Is row `a` of the same card, format and kind of model as `b`? Longer sequences count scores that
 * a causal mask skips (published_mfu.h). */
static bool is_alike(const struct configuration *a, const struct configuration *b)
{
    return a->training.sequence < PUBLISHED_MFU_SEQUENCE && strcmp(a->gpu.name, b->gpu.name) == 0 &&
           published_mfu_peak(a) == published_mfu_peak(b) &&
           (a->model.moe.experts > 0) == (b->model.moe.experts > 0);
}

static void count_framework(struct range *out, const char *name)
{
    struct framework *f = out->frameworks;
    while (f->rows > 0 && strcmp(f->name, name) != 0)
        if (++f == out->frameworks + FRAMEWORKS_MAX) {
            fprintf(stderr, "unsaid: rows of more than %d frameworks\n", FRAMEWORKS_MAX);
            exit(1);
        }
    snprintf(f->name, sizeof f->name, "%s", name);
    f->rows++;
}

/* Of most rows, the first of equals; or "". */
static const char *most_used(const struct range *range)
{
    const struct framework *most = range->frameworks;
    for (unsigned i = 1; i < FRAMEWORKS_MAX; i++)
        if (range->frameworks[i].rows > most->rows)
            most = &range->frameworks[i];
    return most->name;
}

static void take_row(const struct validation *v, size_t index, const struct configuration *of,
                     struct range *out)
{
    struct validate_row row = v->rows[index];
    struct scenario *s = validate_steps_scenario(v, &row);
    if (s != NULL && row.quality != QUALITY_DEGRADED && row.values[0].has_measured &&
        row.measured == VERDICT_FITS && is_alike(&s->configuration, of)) {
        const struct configuration *c = &s->configuration;
        const double flops = configuration_flops_per_token(c, false) * configuration_tokens(c),
                     mfu = step_peak_ratio(c, flops, row.values[0].measured);
        out->low = fmin(out->low, mfu);
        out->high = fmax(out->high, mfu);
        out->rows++;
        count_framework(out, c->software.name);
    }
    scenario_destroy(s);
}

/* Widens the range by each row of a pattern. A pattern that takes none is a fault of the line. */
static void take_pattern(const struct validation *v, const char *pattern,
                         const struct configuration *of, struct range *out)
{
    const unsigned before = out->rows;
    for (size_t i = 0; i < v->row_count; i++)
        if (fnmatch(pattern, v->rows[i].id, 0) == 0)
            take_row(v, i, of, out);
    if (out->rows == before) {
        printf("%s on %s: the pattern %s takes no row\n", of->model.name, of->gpu.name, pattern);
        exit(1);
    }
}

static struct range published(const struct validation *v, const struct csv *csv, size_t line,
                              const struct configuration *of)
{
    const char *low = csv_cell(csv, line, "low");
    struct range out = {.low = INFINITY};
    char patterns[512];
    if (*low != '\0')
        return (struct range){.low = atof(low), .high = atof(csv_cell(csv, line, "high"))};
    snprintf(patterns, sizeof patterns, "%s", csv_cell(csv, line, "rows"));
    for (char *rest, *one = strtok_r(patterns, " ", &rest); one; one = strtok_r(NULL, " ", &rest))
        take_pattern(v, one, of, &out);
    return out;
}

/* With a framework, or none ("" is none). */
static struct scenario *half_filled(const struct csv *csv, size_t line, const char *framework)
{
    char text[1024];
    struct error error = {""};
    const char *precision = csv_cell(csv, line, "precision");
    snprintf(text, sizeof text,
             "model: %s\ncluster: {gpu: %s, gpus: %s}\n"
             "training: {sequence: %s, global_batch: %s%s%s}\n%s%s\n",
             csv_cell(csv, line, "model"), csv_cell(csv, line, "gpu"), csv_cell(csv, line, "gpus"),
             csv_cell(csv, line, "sequence"), csv_cell(csv, line, "global_batch"),
             *precision != '\0' ? ", precision: " : "", precision,
             *framework != '\0' ? "software: " : "", framework);
    struct scenario *s = scenario_read("unsaid", text, strlen(text), NULL, &error);
    if (s == NULL || s->diagnostics.error_count > 0) {
        fprintf(stderr, "unsaid: no scenario: %s\n%s", error.text, text);
        exit(1);
    }
    return s;
}

static struct step_rates rates_of(const struct scenario *s)
{
    const struct step_options options = {.threads = 1};
    struct step *step;
    struct error error;
    if (!step_run(&s->configuration, &options, &step, &error) || !step->fits) {
        printf("%s: it does not run\n", s->configuration.model.name);
        exit(1);
    }
    const struct step_rates rates = step->rates;
    step_destroy(step);
    return rates;
}

static const char *verdict_of(const struct range *range, double mfu)
{
    return mfu < range->low ? "below" : mfu > range->high ? "above" : "in";
}

struct inside {
    unsigned unsaid, named, frameworks; /* lines; of those that name a framework */
};

/* What is predicted of the line with the framework of most rows: "-" where there are none. True
 * when it lies where its line says. */
static bool judge_named(const struct csv *csv, size_t line, const struct range *range,
                        struct inside *inside)
{
    const char *framework = most_used(range), *verdict = csv_cell(csv, line, "named");
    if (*framework == '\0') {
        printf("%8s %-5s %-10s", "-", "-", "-");
        return *verdict == '\0';
    }
    struct scenario *s = half_filled(csv, line, framework);
    const double mfu = rates_of(s).mfu_ratio;
    const char *found = verdict_of(range, mfu);
    inside->frameworks++;
    inside->named += strcmp(found, "in") == 0;
    printf("%6.1f %% %-5s %-10s", 100.0 * mfu, found, framework);
    scenario_destroy(s);
    return strcmp(found, verdict) == 0;
}

/* True when the predictions lie where their line says. */
static bool judge(const struct validation *v, const struct csv *csv, size_t line,
                  struct inside *inside)
{
    struct scenario *s = half_filled(csv, line, "");
    const struct configuration *c = &s->configuration;
    const struct range range = published(v, csv, line, c);
    const struct step_rates rates = rates_of(s);
    const char *found = verdict_of(&range, rates.mfu_ratio);
    bool same = strcmp(found, csv_cell(csv, line, "verdict")) == 0 && range.low < range.high;
    inside->unsaid += strcmp(found, "in") == 0;
    printf("%-17s %-15s %6s %5s %5.1f .. %4.1f %% %4u %6.1f %% %-5s", c->model.name, c->gpu.name,
           csv_cell(csv, line, "gpus"), c->training.precision->head.name, 100.0 * range.low,
           100.0 * range.high, range.rows, 100.0 * rates.mfu_ratio, found);
    same &= judge_named(csv, line, &range, inside);
    printf(" %s%s\n", csv_cell(csv, line, "source"), same ? "" : "  (not as its line says)");
    scenario_destroy(s);
    return same;
}

int main(int count, char **words)
{
    if (count != 3) {
        fputs("usage: unsaid STEPS.csv UNSAID.csv\n", stderr);
        return 2;
    }
    struct arena *arena = arena_create();
    struct validation *v = ARENA_NEW(arena, struct validation);
    struct csv *steps = ARENA_NEW(arena, struct csv), *lines = ARENA_NEW(arena, struct csv);
    struct error error = {""};
    if (!csv_read(arena, words[1], steps, &error) || !csv_read(arena, words[2], lines, &error) ||
        !validate_open(arena, steps, &(struct validate_options){.threads = 1}, v, &error)) {
        fprintf(stderr, "unsaid: %s\n", error.text);
        return 1;
    }
    unsigned wrong = 0;
    struct inside inside = {0};
    puts("model             card              GPUs format published MFU rows   unsaid         "
         "named");
    for (size_t i = 0; i < lines->row_count; i++)
        wrong += !judge(v, lines, i, &inside);
    printf("%u of %zu inside; %u of %u with the framework of most rows\n", inside.unsaid,
           lines->row_count, inside.named, inside.frameworks);
    arena_destroy(arena);
    return wrong > 0;
}
