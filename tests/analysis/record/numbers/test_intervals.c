/* Intervals of predicted steps beside the errors they are held to: rows whose errors are planted,
 * and every figure told of them worked out once more from the rows alone. Where the program
 * bisects, the test sorts: an own error matters only where it lets one more row in. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/validate/rows/validate.h"
#include "analysis/validate/rows/validate_uncertainty.h"
#include "tests/test.h"

#define Z90 1.2815515655446004 /* of a normal, 80 % lie within on both sides */

static struct row {
    const char *id, *source, *quality;
    unsigned batch; /* rows of one source and batch are layouts of one run */
    unsigned tp, microbatch;
    double log_error; /* of measured over predicted; where the own error is .045 */
} rows[] = {
    {"a", "s", "clean", 16, 1, 1, 0.20},  {"b", "s", "clean", 16, 1, 2, 0.23},
    {"c", "s", "clean", 16, 2, 1, 0.25},  {"noise", "s", "noisy", 16, 2, 2, 1.5},
    {"d", "t", "clean", 32, 1, 1, -0.15}, {"e", "s", "clean", 16, 4, 1, 0.02},
    {"f", "s", "clean", 32, 2, 1, 0.066}, {"none", "t", "clean", 32, 3, 1, 0.0},
    {"g", "t", "clean", 32, 2, 1, -0.20}, {"h", "u", "clean", 16, 1, 1, 0.05},
    {"i", "s", "clean", 16, 8, 1, -0.25}, {"j", "t", "clean", 32, 4, 2, -0.17},
};
enum {
    ROWS = sizeof rows / sizeof *rows,
    TAKEN = ROWS - 2, /* neither the noisy one nor the one that cannot be simulated */
    DRAWS = 5,
    PAIRS_MAX = TAKEN * TAKEN
};

struct world {
    struct arena *arena;
    struct csv csv;
    struct validation v;
    struct intervals in;
    const struct row *of[TAKEN];
    double predicted[TAKEN]; /* seconds */
};

/* `measured`: seconds of each row, or NULL: 1 s. */
static void predict(struct world *w, const double *measured)
{
    struct validate_options how = {.threads = 2};
    struct error error = {""};
    char text[8000];
    size_t length = (size_t)snprintf(
        text, sizeof text,
        "row_id,source,quality,step_time_s,model,layers,hidden,heads,vocab,seq_len,gpu,gpus,"
        "gpus_per_node,fabric,tp,pp,microbatch,global_batch,software\n");
    for (unsigned i = 0; i < ROWS; i++)
        length += (size_t)snprintf(
            text + length, sizeof text - length,
            "%s,%s,%s,%.17g,tiny,2,4096,32,32000,4096,a100-80gb-sxm,8,8,ib-hdr-8x200,%u,1,%u,%u,"
            "megatron\n",
            rows[i].id, rows[i].source, rows[i].quality, measured ? measured[i] : 1.0, rows[i].tp,
            rows[i].microbatch, rows[i].batch);
    if (!csv_parse(w->arena, "t.csv", arena_text(w->arena, text), length, &w->csv, &error) ||
        !validate_file(w->arena, &w->csv, &how, &w->v, &error))
        fail_msg("%s", error.text);
}

static struct world begin(void)
{
    struct world w = {.arena = arena_create()};
    struct uncertainty_options how = {
        .seed = 3, .draw_count = DRAWS, .threads = 2, .time_only = true};
    struct error error = {""};
    double measured[ROWS];
    unsigned taken = 0;
    predict(&w, NULL);
    for (unsigned i = 0; i < ROWS; i++) {
        const struct validate_row *row = &w.v.rows[i];
        assert_int_equal(row->refused != REFUSAL_NONE, strcmp(rows[i].id, "none") == 0);
        measured[i] = row->refused ? 1.0 : row->values[0].predicted * exp(rows[i].log_error);
        if (!row->refused && strcmp(rows[i].id, "noise") != 0) {
            w.of[taken] = &rows[i];
            w.predicted[taken++] = row->values[0].predicted;
        }
    }
    assert_int_equal(taken, TAKEN);
    predict(&w, measured);
    if (!validate_intervals(w.arena, &w.v, &how, &w.in, &error))
        fail_msg("%s", error.text);
    return w;
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9))
        fail_msg("%.17g is not %.17g", a, b);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The rows that take part, in their order; draws around their mean, as wide as is told. */
static void test_rows(void **state)
{
    struct world w = begin();
    assert_int_equal(w.in.row_count, TAKEN);
    assert_int_equal(w.in.draw_count, DRAWS);
    for (unsigned i = 0; i < TAKEN; i++) {
        const struct interval_row *row = &w.in.rows[i];
        double sum = 0.0, pairs = 0.0;
        assert_string_equal(row->id, w.of[i]->id);
        assert_string_equal(row->source, w.of[i]->source);
        near(row->log_error, w.of[i]->log_error);
        for (unsigned k = 0; k < DRAWS; k++) {
            sum += row->log_draws[k];
            for (unsigned j = 0; j < k; j++)
                pairs += pow(row->log_draws[k] - row->log_draws[j], 2);
        }
        near(sum, 0.0);
        /* The variance is half the mean square of all differences. */
        near(row->log_spread, sqrt(pairs / (DRAWS * (DRAWS - 1))));
        assert_true(row->log_spread > 1e-4);
    }
    arena_destroy(w.arena);
}

/* The own error that lets a row into its interval. */
static double needed(double log_error, double log_spread)
{
    return sqrt(fmax(pow(log_error / Z90, 2) - log_spread * log_spread, 0.0));
}

static double row_needs(const struct interval_row *row)
{
    return needed(row->log_error, row->log_spread);
}

/* NAN: with the own error that each row has. */
static double share_inside(const struct intervals *in, const char *source, double own)
{
    double inside = 0.0, all = 0.0;
    for (unsigned i = 0; i < in->row_count; i++) {
        double has = isnan(own) ? in->rows[i].own.log_spread : own;
        if (strcmp(in->rows[i].source, source) == 0) {
            inside += row_needs(&in->rows[i]) <= has;
            all++;
        }
    }
    return inside / all;
}

static const char *const sources[] = {"s", "t", "u"};

static double mean_inside(const struct intervals *in, const char *but, double own)
{
    double sum = 0.0, count = 0.0;
    for (unsigned s = 0; s < 3; s++) {
        if (but == NULL || strcmp(but, sources[s]) != 0) {
            sum += share_inside(in, sources[s], own);
            count++;
        }
    }
    return sum / count;
}

static double least_own(const struct intervals *in, const char *but)
{
    double steps[TAKEN];
    for (unsigned i = 0; i < TAKEN; i++)
        steps[i] = row_needs(&in->rows[i]);
    qsort(steps, TAKEN, sizeof *steps, ascending);
    for (unsigned i = 0; i < TAKEN; i++)
        if (mean_inside(in, but, steps[i]) >= 0.8)
            return steps[i];
    return NAN;
}

static void test_sources(void **state)
{
    struct world w = begin();
    assert_int_equal(w.in.source_count, 3);
    for (unsigned s = 0; s < 3; s++) {
        const struct interval_source *source = &w.in.sources[s];
        double spreads[TAKEN], own[TAKEN];
        unsigned count = 0;
        for (unsigned i = 0; i < TAKEN; i++) {
            if (strcmp(w.in.rows[i].source, sources[s]) == 0) {
                own[count] = w.in.rows[i].own.log_spread;
                spreads[count++] = w.in.rows[i].log_spread;
            }
        }
        qsort(spreads, count, sizeof *spreads, ascending);
        qsort(own, count, sizeof *own, ascending);
        assert_string_equal(source->name, sources[s]);
        assert_int_equal(source->rows, count);
        near(source->figures_spread, 0.5 * (spreads[(count - 1) / 2] + spreads[count / 2]));
        near(source->own_spread, 0.5 * (own[(count - 1) / 2] + own[count / 2]));
        near(source->coverage, share_inside(&w.in, sources[s], NAN));
        near(source->spread_elsewhere, least_own(&w.in, sources[s]));
        near(source->coverage_elsewhere,
             share_inside(&w.in, sources[s], source->spread_elsewhere + 1e-12));
    }
    near(w.in.coverage, mean_inside(&w.in, NULL, NAN));
    near(w.in.own_spread, least_own(&w.in, NULL));
    if (!(w.in.coverage > 0.3 && w.in.coverage < 0.9))
        fail_msg("%g of the rows lie inside", w.in.coverage);
    assert_true(w.in.own_spread > w.in.rows[0].own.log_spread);
    arena_destroy(w.arena);
}

static bool one_run(const struct row *a, const struct row *b)
{
    return strcmp(a->source, b->source) == 0 && a->batch == b->batch;
}

/* Pairs of one run of source s: 5 rows; of t: 3; f and h have no fellow. */
static void test_pairs(void **state)
{
    struct world w = begin();
    const struct interval_pairs *told = &w.in.pairs;
    double needs[PAIRS_MAX], sorted[PAIRS_MAX], weight[PAIRS_MAX], called = 0.0, least = NAN;
    unsigned count = 0, ties = 0, decided = 0, right = 0;
    for (unsigned a = 0; a < TAKEN; a++) {
        for (unsigned b = a + 1; b < TAKEN; b++) {
            const struct model_error *one = &w.in.rows[a].own, *two = &w.in.rows[b].own;
            double square = 0.0, apart = one->log_spread - two->log_spread;
            /* The pairs' own spread, at most that of errors that have nothing in common. */
            double own =
                fmin(hypot(one->pair_log_spread, apart), hypot(one->log_spread, two->log_spread));
            if (!one_run(w.of[a], w.of[b]))
                continue;
            for (unsigned k = 0; k < DRAWS; k++)
                square += pow(w.in.rows[a].log_draws[k] - w.in.rows[b].log_draws[k], 2);
            double spread = sqrt(square / (DRAWS - 1));
            double faster = log(w.predicted[a] / w.predicted[b]);
            double was = faster + w.of[a]->log_error - w.of[b]->log_error;
            double sure = 0.5 + 0.5 * erf(fabs(faster) / sqrt(2.0 * (own * own + spread * spread)));
            needs[count] = needed(w.of[a]->log_error - w.of[b]->log_error, spread);
            weight[count++] = strcmp(w.of[a]->source, "s") == 0 ? 1.0 / 10 : 1.0 / 3;
            ties += sure < 0.7;
            decided += sure >= 0.7;
            called += sure >= 0.7 ? sure : 0.0;
            right += sure >= 0.7 && (faster > 0.0) == (was > 0.0);
        }
    }
    assert_int_equal(count, 13);
    memcpy(sorted, needs, sizeof needs);
    qsort(sorted, count, sizeof *sorted, ascending);
    for (unsigned i = 0; i < count && isnan(least); i++) {
        double inside = 0.0;
        for (unsigned k = 0; k < count; k++)
            inside += needs[k] <= sorted[i] ? weight[k] : 0.0;
        least = inside / 2.0 >= 0.8 - 1e-12 ? sorted[i] : NAN;
    }
    assert_int_equal(told->pairs, count);
    assert_int_equal(told->groups, 2);
    assert_int_equal(told->ties, ties);
    assert_int_equal(told->decided, decided);
    assert_true(decided > 0 && ties + decided == count); /* which: by the widths that ship */
    near(told->right_ratio, (double)right / decided);
    near(told->mean_called, called / decided);
    near(told->spread, least);
    double both = 2.0 * pow(w.in.own_spread, 2);
    near(w.in.shared_ratio, 1.0 - least * least / both);
    assert_true(w.in.shared_ratio > 0.1);
    arena_destroy(w.arena);
}

/* Errors are planted in units of the own error that ships, so that some rows lie outside. */
static int scale(void **state)
{
    struct world w = {.arena = arena_create()};
    struct uncertainty_options how = {
        .seed = 3, .draw_count = DRAWS, .threads = 2, .time_only = true};
    struct error error = {""};
    predict(&w, NULL);
    if (!validate_intervals(w.arena, &w.v, &how, &w.in, &error))
        fail_msg("%s", error.text);
    for (unsigned i = 0; i < ROWS; i++)
        if (strcmp(rows[i].id, "noise") != 0)
            rows[i].log_error *= w.in.rows[0].own.log_spread / 0.045;
    arena_destroy(w.arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, scale, NULL);
}
