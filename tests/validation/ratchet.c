/* The figures of fidelity that were reached may only improve: ratchet.csv holds a limit for each,
 * and every figure must be at or below its own. A change that makes one worse has to say why, by
 * hand, in that file.
 *
 * usage: ratchet TABLE.csv fast|whole   checks the rows of that set (whole: all rows)
 *        ratchet TABLE.csv update       prints the table with the limits that improved lowered
 *
 * Files of measurements stand beside the table. Figures are of clean rows: median_ape, p90_ape,
 * bias (its size), oom (1 - accuracy), regret (median); refused is the share of all rows that are,
 * so that no figure gets better by refusing. Of the source "all": scale_within, the rank
 * correlation of errors with GPUs within sources, and scale_thirds, how much more the larger third
 * of the rows errs than the smaller. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/validate/rows/validate.h"
#include "analysis/validate/table/validate_scale.h"
#include "analysis/validate/table/validate_score.h"
#include "scenarios/language/file.h"
#include "sim/check.h"
#include "sim/pool.h"

#define STEP 0.001 /* limits are rounded up to a tenth of a percent */

struct scored { /* a file, validated once: whole, or one source of it */
    char key[256];
    struct validation v;
    struct scores scores;
    struct scales scales;
};
struct ratchet {
    struct arena *arena;
    struct csv table;
    bool fast;
    struct scored *scored;
    size_t scored_count;
};

static const struct scored *score(struct ratchet *r, const char *file, const char *source)
{
    char key[sizeof r->scored->key];
    snprintf(key, sizeof key, "%s,%s", file, r->fast ? source : "");
    for (size_t i = 0; i < r->scored_count; i++)
        if (strcmp(r->scored[i].key, key) == 0)
            return &r->scored[i];
    struct scored *s = &r->scored[r->scored_count++];
    struct csv *csv = ARENA_NEW(r->arena, struct csv);
    struct error error = {""};
    struct validate_options how = {.source = r->fast ? source : NULL,
                                   .threads = pool_threads_available()};
    memcpy(s->key, key, sizeof key);
    if (!csv_read(r->arena, file_beside(r->arena, r->table.path, file), csv, &error) ||
        !validate_file(r->arena, csv, &how, &s->v, &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
    validate_score_rows(r->arena, &s->v, &s->scores);
    validate_scale_rows(r->arena, &s->v, &s->scores, &s->scales);
    return s;
}

static const struct source_score *score_of(const struct scored *s, const char *source)
{
    for (unsigned i = 0; i < s->scores.source_count; i++)
        if (strcmp(s->scores.sources[i].name, source) == 0)
            return &s->scores.sources[i];
    return NULL;
}

static double figure_of_all(const struct scored *s, const char *statistic)
{
    if (strcmp(statistic, "scale_within") == 0)
        return s->scales.within;
    if (strcmp(statistic, "scale_thirds") == 0)
        return s->scales.all.large - s->scales.all.small;
    return NAN;
}

static double figure(const struct scored *s, const char *source, const char *metric,
                     const char *statistic)
{
    const struct source_score *of = score_of(s, source);
    if (of == NULL)
        return figure_of_all(s, statistic);
    if (strcmp(statistic, "oom") == 0)
        return 1.0 - of->oom.accuracy;
    if (strcmp(statistic, "refused") == 0)
        return (double)of->refused / (double)of->rows;
    if (strcmp(statistic, "regret") == 0)
        return of->choice.median_regret;
    for (unsigned m = 0; s->v.kind->metrics[m] != NULL; m++) {
        const struct score *clean = &of->metrics[m][QUALITY_CLEAN];
        if (strcmp(metric, s->v.kind->metrics[m]) != 0)
            continue;
        if (strcmp(statistic, "median_ape") == 0)
            return clean->median_ape;
        if (strcmp(statistic, "p90_ape") == 0)
            return clean->p90_ape;
        if (strcmp(statistic, "bias") == 0)
            return fabs(clean->bias);
    }
    return NAN;
}

/* 1 when the figure is worse than its limit, or is none. */
static unsigned check(const char *name, double value, double limit, bool update)
{
    if (update) {
        double rounded = fabs(ceil(value / STEP - 1e-9) * STEP);
        printf("%s,%.3f", name, rounded < limit ? rounded : limit);
        return 0;
    }
    bool holds = value <= limit;
    printf("%s  %-60s %.4f, limit %.3f\n", holds ? "ok   " : "WORSE", name, value, limit);
    return !holds;
}

static unsigned check_row(struct ratchet *r, size_t row, const char *set)
{
    const struct csv *t = &r->table;
    const char *of = csv_cell(t, row, "set");
    bool update = strcmp(set, "update") == 0;
    if (r->fast && strcmp(of, "fast") != 0)
        return 0;
    const char *file = csv_cell(t, row, "file"), *source = csv_cell(t, row, "source");
    const char *metric = csv_cell(t, row, "metric"), *statistic = csv_cell(t, row, "statistic");
    double limit = strtod(csv_cell(t, row, "limit"), NULL);
    const struct scored *s = score(r, file, source);
    char name[320];
    snprintf(name, sizeof name, "%s,%s,%s,%s", file, source, metric, statistic);
    unsigned worse = check(name, figure(s, source, metric, statistic), limit, update);
    if (update)
        printf(",%s\n", of);
    return worse;
}

int main(int argc, char **argv)
{
    struct ratchet r = {.arena = arena_create()};
    struct error error = {""};
    unsigned worse = 0;
    if (argc != 3 || !csv_read(r.arena, argv[1], &r.table, &error)) {
        fprintf(stderr, "usage: ratchet TABLE.csv fast|whole|update\n%s\n", error.text);
        arena_destroy(r.arena);
        return 2;
    }
    r.fast = strcmp(argv[2], "fast") == 0;
    r.scored = ARENA_ARRAY(r.arena, struct scored, r.table.row_count + 1);
    if (strcmp(argv[2], "update") == 0)
        puts("file,source,metric,statistic,limit,set");
    for (size_t row = 0; row < r.table.row_count; row++)
        worse += check_row(&r, row, argv[2]);
    arena_destroy(r.arena);
    return worse > 0;
}
