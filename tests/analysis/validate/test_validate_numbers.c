/* The numbers of orrery validate by hand: rows are put in place of a file, so that each statistic
 * has its few numbers and each row that must not count stands beside those that do. */
#include <math.h>
#include <string.h>

#include "analysis/record/numbers/statistics.h"
#include "analysis/validate/table/validate_scale.h"
#include "analysis/validate/table/validate_score.h"
#include "tests/test.h"

#define NONE NAN
#define THIRD ((const double[6]){1, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0})

/* Of the main metric; measured or predicted NONE: not known. */
struct given {
    const char *source, *group, *layout;
    enum quality quality;
    double measured, predicted;
    bool refused;
    int verdict, said; /* measured and predicted */
};

static struct arena *arena;
static struct csv csv;
static struct scores scores;

static int set_up(void **state)
{
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(arena);
    return 0;
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12))
        fail_msg("%.17g is not %.17g", a, b);
}

static void near_score(const struct score *s, const double (*wanted)[6])
{
    const double is[] = {s->count, s->median_ape, s->mean_ape, s->p90_ape, s->bias, s->within_10};
    for (unsigned i = 0; i < 6; i++)
        near(is[i], (*wanted)[i]);
}

static struct validation rows_of(const struct validate_kind *kind, const char *text,
                                 const struct given *given, size_t count)
{
    struct error error = {""};
    struct validation v = {.arena = arena, .csv = &csv, .kind = kind, .row_count = count};
    if (!csv_parse(arena, "t.csv", arena_text(arena, text), strlen(text), &csv, &error))
        fail_msg("%s", error.text);
    v.rows = ARENA_ARRAY(arena, struct validate_row, count);
    for (size_t i = 0; i < count; i++) {
        const struct given *g = &given[i];
        v.rows[i] = (struct validate_row){
            .id = "r", .source = g->source, .group = g->group, .layout = g->layout};
        v.rows[i].record = i;
        v.rows[i].quality = g->quality;
        v.rows[i].refused = g->refused ? REFUSAL_LAYOUT : REFUSAL_NONE;
        v.rows[i].measured = (enum verdict)g->verdict;
        v.rows[i].predicted = (enum verdict)g->said;
        v.rows[i].values[0] = (struct validate_value){.has_measured = !isnan(g->measured),
                                                      .has_predicted = !isnan(g->predicted),
                                                      .measured = g->measured,
                                                      .predicted = g->predicted};
    }
    return v;
}

static struct validation score_of(const struct given *given, size_t count)
{
    struct validation v = rows_of(&validate_steps, "x\n", given, count);
    validate_score_rows(arena, &v, &scores);
    return v;
}

static void test_percentiles_and_ranks(void **state)
{
    const double values[] = {1.0, 2.0, 4.0, 8.0};
    near(statistics_percentile(values, 4, 0.0), 1.0);
    near(statistics_percentile(values, 4, 0.5), 3.0);
    near(statistics_percentile(values, 4, 1.0), 8.0);
    assert_true(isnan(statistics_percentile(values, 0, 0.5)));
    const double same[] = {3.0, 3.0, 3.0, 3.0}, turned[] = {8.0, 4.0, 2.0, 1.0};
    const double tied[] = {1.0, 2.0, 2.0, 3.0};
    near(statistics_spearman(arena, values, values, 4), 1.0);
    near(statistics_spearman(arena, values, turned, 4), -1.0);
    /* Ranks 1 2 3 4 against 1 2.5 2.5 4: 4.5 / sqrt(5 x 4.5). */
    near(statistics_spearman(arena, values, tied, 4), 4.5 / sqrt(22.5));
    assert_true(isnan(statistics_spearman(arena, values, same, 4)));
    assert_true(isnan(statistics_spearman(arena, values, turned, 1)));
    assert_true(isnan(statistics_spearman(arena, values, turned, 0)));
    /* Quantiles of equal values are that value, to the last bit. */
    const double third[] = {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0};
    for (unsigned i = 0; i <= 100; i++)
        assert_true(statistics_percentile(third, 5, i / 100.0) == third[0]);
}

static double cube_less(double x, void *context)
{
    return x * x * x - *(const double *)context;
}

static double steep(double x, void *context)
{
    (void)context;
    return atan(1e9 * (x - 1.0 / 3.0));
}

static void test_roots_and_order(void **state)
{
    for (double cube = 0.001; cube < 1e6; cube *= 3.0) {
        const double root = statistics_root(cube_less, &cube, 0.0, 200.0);
        assert_true(fabs(root - cbrt(cube)) <= 1e-15 * cbrt(cube));
    }
    near(statistics_root(steep, NULL, -1e3, 1e6), 1.0 / 3.0);
    double values[] = {3.0, -1.0, 7.5, 3.0, 0.0, -1e300};
    const double sorted[] = {-1e300, -1.0, 0.0, 3.0, 3.0, 7.5};
    statistics_sort(values, 6);
    assert_memory_equal(values, sorted, sizeof sorted);
    statistics_sort(values, 0);
}

/* Sizes .1 .1 .11 and 90 % of the way at 1.8 steps; a tenth is still near. */
static void test_score_of_errors(void **state)
{
    double three[] = {0.1, -0.1, 0.11}, one[] = {-0.5};
    struct score s = validate_score_errors(three, 3);
    near_score(&s, &(const double[6]){3.0, 0.1, 0.31 / 3.0, 0.108, 0.11 / 3.0, 2.0 / 3.0});
    s = validate_score_errors(one, 1);
    near_score(&s, &(const double[6]){1.0, 0.5, 0.5, 0.5, -0.5, 0.0});
    s = validate_score_errors(NULL, 0);
    assert_true(s.count == 0.0 && isnan(s.median_ape) && isnan(s.mean_ape) && isnan(s.p90_ape));
    assert_true(isnan(s.bias) && isnan(s.within_10));
}

/* Sources in the order in which they appear, each by itself; the mean over those with clean rows
 * counts each once, however many rows it has. */
static void test_means_over_sources(void **state)
{
    static const struct given rows[] = {
        {.source = "s", .measured = 10, .predicted = 11},
        {.source = "t", .measured = 10, .predicted = 6},
        {.source = "s", .measured = 10, .predicted = 13},
        {.source = "u", .measured = 10, .predicted = 15, .quality = QUALITY_NOISY},
        {.source = "s", .measured = 10, .predicted = 99, .quality = QUALITY_DEGRADED},
        {.source = "s", .measured = NONE, .predicted = 99},
        {.source = "s", .measured = 0, .predicted = 99},
        {.source = "s", .measured = 10, .predicted = NONE},
        {.source = "v", .measured = NONE, .predicted = NONE, .refused = true},
    };
    score_of(rows, sizeof rows / sizeof rows[0]);
    assert_int_equal(scores.source_count, 4);
    static const char *const names[] = {"s", "t", "u", "v"};
    for (unsigned i = 0; i < 4; i++) {
        assert_string_equal(scores.sources[i].name, names[i]);
        assert_int_equal(scores.sources[i].refused, i == 3);
    }
    assert_null(scores.all.name);
    assert_int_equal(scores.all.refused, 1);
    near_score(&scores.sources[0].metrics[0][0], &(const double[6]){2, 0.2, 0.2, 0.28, 0.2, 0.5});
    near_score(&scores.sources[1].metrics[0][0], &(const double[6]){1, 0.4, 0.4, 0.4, -0.4, 0});
    near_score(&scores.sources[2].metrics[0][1], &(const double[6]){1, 0.5, 0.5, 0.5, 0.5, 0});
    assert_true(scores.sources[2].metrics[0][0].count == 0.0);
    assert_true(scores.sources[3].metrics[0][0].count == 0.0);
    near_score(&scores.all.metrics[0][0],
               &(const double[6]){3, 0.3, 0.8 / 3.0, 0.38, 0.0, 1.0 / 3.0});
    near_score(&scores.macro_clean, &(const double[6]){2, 0.3, 0.3, 0.34, -0.1, 0.25});
    score_of(rows + 3, 2);
    assert_true(scores.macro_clean.count == 0.0 && isnan(scores.macro_clean.median_ape));
    assert_true(isnan(scores.all.choice.median_regret) && scores.all.choice.groups == 0.0);
}

/* Each metric has its own errors, of the rows where it is known. */
static void test_every_metric(void **state)
{
    static const struct given rows[] = {
        {.source = "s", .measured = 10, .predicted = 11},
        {.source = "t", .measured = 10, .predicted = 10},
        {.source = "s", .measured = 10, .predicted = 10, .quality = QUALITY_NOISY},
    };
    struct validation v = rows_of(&validate_steps, "x\n", rows, 3);
    assert_int_equal(validate_metric_count(v.kind), 3);
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned m = 1; m < 3; m++) /* a third too much; three, six or nine eighths too much */
            v.rows[i].values[m] =
                (struct validate_value){.has_measured = true,
                                        .has_predicted = i > 0 || m > 1,
                                        .measured = 24.0,
                                        .predicted = m == 1 ? 32.0 : 24.0 + 9.0 * (i + 1)};
    }
    validate_score_rows(arena, &v, &scores);
    near_score(&scores.sources[0].metrics[1][1], &THIRD);
    near_score(&scores.sources[1].metrics[1][0], &THIRD);
    assert_true(scores.sources[0].metrics[1][0].count == 0.0);
    for (unsigned i = 0; i < 3; i++) {
        double e = 0.375 * (i + 1);
        near_score(&scores.sources[i % 2].metrics[2][i / 2], &(const double[6]){1, e, e, e, e, 0});
    }
    near_score(&scores.all.metrics[2][0], &(const double[6]){2, 0.5625, 0.5625, 0.7125, 0.5625, 0});
    near(scores.macro_clean.median_ape, 0.05); /* the mean over sources is of the main metric */
}

/* Clean rows whose outcome was measured; by source, and of all. */
static void test_outcomes_by_source(void **state)
{
    enum {
        OOM = VERDICT_OOM,
        FITS = VERDICT_FITS
    };
    static const struct given rows[] = {
        {.source = "s", .measured = NONE, .predicted = NONE, .verdict = OOM, .said = OOM},
        {.source = "s", .measured = NONE, .predicted = NONE, .verdict = OOM, .said = OOM},
        {.source = "s", .measured = NONE, .predicted = NONE, .verdict = OOM, .said = FITS},
        {.source = "s", .measured = NONE, .predicted = NONE, .verdict = FITS, .said = FITS},
        {.source = "s", .measured = NONE, .predicted = NONE, .verdict = VERDICT_NONE, .said = OOM},
        {.source = "s",
         .measured = NONE,
         .predicted = NONE,
         .verdict = OOM,
         .said = OOM,
         .quality = QUALITY_DEGRADED},
        {.source = "t", .measured = NONE, .predicted = NONE, .verdict = FITS, .said = OOM},
        {.source = "t",
         .measured = NONE,
         .predicted = NONE,
         .verdict = OOM,
         .said = OOM,
         .refused = true},
        {.source = "u", .measured = NONE, .predicted = NONE, .verdict = FITS, .said = FITS},
    };
    score_of(rows, sizeof rows / sizeof rows[0]);
    static const struct {
        unsigned tp, fp, tn, fn;
        double accuracy, precision, recall;
    } wanted[] = {{2, 0, 1, 1, 0.75, 1.0, 2.0 / 3.0},
                  {0, 1, 0, 0, 0.0, 0.0, NONE},
                  {0, 0, 1, 0, 1.0, NONE, NONE},
                  {2, 1, 2, 1, 4.0 / 6.0, 2.0 / 3.0, 2.0 / 3.0}};
    for (unsigned i = 0; i < 4; i++) {
        const struct confusion *c = i < 3 ? &scores.sources[i].oom : &scores.all.oom;
        assert_int_equal(c->true_positive, wanted[i].tp);
        assert_int_equal(c->false_positive, wanted[i].fp);
        assert_int_equal(c->true_negative, wanted[i].tn);
        assert_int_equal(c->false_negative, wanted[i].fn);
        near(c->accuracy, wanted[i].accuracy);
        assert_true(isnan(c->precision) == isnan(wanted[i].precision));
        assert_true(isnan(c->recall) == isnan(wanted[i].recall));
        if (!isnan(wanted[i].precision))
            near(c->precision, wanted[i].precision);
        if (!isnan(wanted[i].recall))
            near(c->recall, wanted[i].recall);
    }
}

/* A bin goes up to its own limit; machines of no GPUs, of less than one, of none end are none. */
static void test_bins_of_machines(void **state)
{
    static const char text[] =
        "gpus\n8\n8.5\n64\n65\n256\n257\n1024\n1025\n1\n0\n0.5\ninf\n-3\n8\n8\n";
    struct given rows[15];
    for (unsigned i = 0; i < 15; i++) /* errors .01, .02, ..., .15 */
        rows[i] = (struct given){.source = "s", .measured = 100, .predicted = 101 + i};
    rows[13].quality = QUALITY_NOISY;
    rows[14].measured = NONE;
    struct validation v = rows_of(&validate_steps, text, rows, 15);
    struct scales s;
    validate_score_rows(arena, &v, &scores);
    validate_scale_rows(arena, &v, &scores, &s);
    assert_int_equal(s.all.count, 9);
    static const double counts[] = {2, 2, 2, 2, 1}, biases[] = {0.05, 0.025, 0.045, 0.065, 0.08};
    for (unsigned b = 0; b < SCALE_BIN_COUNT; b++) {
        near(s.all.bins[b].count, counts[b]);
        near(s.all.bins[b].bias, biases[b]);
    }
    near(s.all.small, 0.02); /* of 1, 8 and 8.5 GPUs: .09 .01 .02 */
    near(s.all.large, 0.07); /* of 257, 1024 and 1025: .06 .07 .08 */
    assert_true(s.source_count == 1 && s.sources[0].count == 9);
    assert_string_equal(s.sources[0].name, "s");
    v = rows_of(&validate_steps, "other\n1\n2\n", rows, 2); /* no column of GPUs */
    validate_score_rows(arena, &v, &scores);
    validate_scale_rows(arena, &v, &scores, &s);
    assert_true(s.all.count == 0 && s.source_count == 0 && isnan(s.within));
    assert_true(isnan(s.all.small) && isnan(s.all.spearman));
}

/* Correlations of sources count by their rows; one machine alone has none. Of equal machines the
 * thirds are taken in the order of the file. */
static void test_machines_by_source(void **state)
{
    static const struct given rows[] = {
        {.source = "a", .measured = 10, .predicted = 11}, /* errors grow with the GPUs */
        {.source = "b", .measured = 10, .predicted = 6},  /* ... and shrink */
        {.source = "a", .measured = 10, .predicted = 8},
        {.source = "b", .measured = 10, .predicted = 9},
        {.source = "a", .measured = 10, .predicted = 13},
        {.source = "c", .measured = 10, .predicted = 15},
    };
    struct validation v = rows_of(&validate_steps, "gpus\n8\n8\n16\n16\n32\n8\n", rows, 6);
    struct scales s;
    validate_score_rows(arena, &v, &scores);
    validate_scale_rows(arena, &v, &scores, &s);
    assert_int_equal(s.source_count, 3);
    near(s.sources[0].spearman, 1.0);
    near(s.sources[1].spearman, -1.0);
    assert_true(isnan(s.sources[2].spearman) && s.sources[2].count == 1);
    near(s.within, (3.0 - 2.0) / 5.0);
    static const struct given same[] = {
        {.source = "a", .measured = 10, .predicted = 11},
        {.source = "a", .measured = 10, .predicted = 8},
        {.source = "a", .measured = 10, .predicted = 13},
        {.source = "a", .measured = 10, .predicted = 6},
    };
    v = rows_of(&validate_steps, "gpus\n8\n8\n8\n8\n", same, 4);
    validate_score_rows(arena, &v, &scores);
    validate_scale_rows(arena, &v, &scores, &s);
    near(s.all.small, 0.15);
    near(s.all.large, 0.35);
    assert_true(isnan(s.within) && isnan(s.all.spearman));
}

/* What cannot be chosen stands between what can: of g and h three rows each remain. */
static void test_choices_among_others(void **state)
{
    static const struct given rows[] = {
        {.source = "s", .group = "h", .measured = 30, .predicted = 5},
        {.source = "s", .group = "g", .measured = 20, .predicted = 9},
        {.source = "s", .group = "h", .measured = 10, .predicted = 5},
        {.source = "s", .group = "g", .measured = 5, .predicted = 1, .quality = QUALITY_NOISY},
        {.source = "s", .group = "g", .measured = 5, .predicted = 1, .verdict = VERDICT_OOM},
        {.source = "s", .group = "g", .measured = NONE, .predicted = 1},
        {.source = "s", .measured = 5, .predicted = 1},
        {.source = "t", .group = "g", .measured = 5, .predicted = 1},
        {.source = "s", .group = "g", .measured = 12, .predicted = 5},
        {.source = "s", .group = "h", .measured = 20, .predicted = 5},
        {.source = "s", .group = "g", .measured = 10, .predicted = 5},
    };
    score_of(rows, sizeof rows / sizeof rows[0]);
    const struct choice *c = &scores.sources[0].choice;
    near(c->groups, 2.0);
    /* of equal predictions the slowest counts: 12 over 10 in g, 30 over 10 in h */
    near(c->median_regret, (0.2 + 2.0) / 2.0);
    near(c->p90_regret, 0.2 + 0.9 * 1.8);
    near(c->top1, 0.0);
    /* g: ranks 1 2 3 against 1.5 1.5 3; h: no order at all, which is no correlation */
    near(c->median_spearman, 1.5 / sqrt(2.0 * 1.5));
    assert_true(scores.sources[1].choice.groups == 0.0);
    assert_true(isnan(scores.sources[1].choice.median_regret));
    near(scores.all.choice.groups, 2.0); /* the mean is of the sources that have some */
    near(scores.all.choice.median_regret, c->median_regret);
    near(scores.all.choice.p90_regret, c->p90_regret);
    near(scores.all.choice.median_spearman, c->median_spearman);
}

/* Runs of one layout are one, by its fastest time and prediction; one layout alone is no group. */
static void test_runs_of_one_layout(void **state)
{
    const struct given rows[] = {
        {"s", "g", "x", 0, 30, 4, false, 0, 0}, {"s", "g", "y", 0, 15, 5, false, 0, 0},
        {"s", "g", "x", 0, 10, 6, false, 0, 0}, {"s", "h", "x", 0, 10, 1, false, 0, 0},
        {"s", "h", "x", 0, 20, 2, false, 0, 0}, {"s", "k", "x", 0, 20, 1, false, 0, 0},
        {"s", "k", "y", 0, 10, 2, false, 0, 0}};
    score_of(rows, sizeof rows / sizeof rows[0]);
    near(scores.sources[0].choice.groups, 2.0);
    near(scores.sources[0].choice.median_regret, (0.0 + 1.0) / 2.0); /* g: x is right; k: wrong */
}

/* Two as fast as each other are both right; what is refused or not predicted is chosen last. */
static void test_choices_of_two_sources(void **state)
{
    static const struct given rows[] = {
        {.source = "s", .group = "g", .measured = 10, .predicted = 5},
        {.source = "s", .group = "g", .measured = 10, .predicted = 4},
        {.source = "s", .group = "g", .measured = 20, .predicted = 9},
        {.source = "t", .group = "g", .measured = 10, .predicted = 1, .refused = true},
        {.source = "t", .group = "g", .measured = 15, .predicted = 9},
        {.source = "t", .group = "g", .measured = 12, .predicted = NONE},
        {.source = "t", .group = "h", .measured = 10, .predicted = 1},
        {.source = "t", .group = "h", .measured = 15, .predicted = 2},
        {.source = "t", .group = "h", .measured = 18, .predicted = 3},
    };
    score_of(rows, sizeof rows / sizeof rows[0]);
    const struct choice *s = &scores.sources[0].choice, *t = &scores.sources[1].choice;
    near(s->median_regret, 0.0);
    near(s->top1, 1.0);
    near(t->groups, 2.0);
    near(t->median_regret, (0.5 + 0.0) / 2.0);
    near(t->p90_regret, 0.45);
    near(t->top1, 0.5);
    const struct choice *all = &scores.all.choice;
    near(all->groups, 3.0);
    near(all->median_regret, (0.0 + 0.25) / 2.0);
    near(all->p90_regret, 0.45 / 2.0);
    near(all->top1, 0.75);
    near(all->median_spearman, (s->median_spearman + t->median_spearman) / 2.0);
}

/* A step is set against the first measured 1f1b step of the same model and shape. */
static void test_ratios_of_schedules(void **state)
{
#define HEAD "source,model,layers,stages,microbatches,microbatch_size,schedule\n"
    static const char text[] =
        HEAD "s,m,32,4,8,1,1f1b\n"        /* 0: itself has no ratio */
             "s,m,32,4,8,1,interleaved\n" /* 1: 5 over 10, predicted 6 over 8 */
             "t,m,32,4,8,1,gpipe\n"       /* 2 to 7: one cell differs, so that there is none */
             "s,n,32,4,8,1,gpipe\ns,m,33,4,8,1,gpipe\ns,m,32,5,8,1,gpipe\n"
             "s,m,32,4,9,1,gpipe\ns,m,32,4,8,2,gpipe\n"
             "s,m,32,4,8,1,gpipe\n" /* 8: not measured */
             "s,m,32,4,8,1,gpipe\n" /* 9: not predicted */
             "s,b,32,4,8,1,1f1b\n"  /* 10: refused */
             "s,b,32,4,8,1,gpipe\n" /* 11 */
             "s,c,32,4,8,1,1f1b\n"  /* 12: not measured: the next one counts */
             "s,c,32,4,8,1,1f1b\n"  /* 13 */
             "s,c,32,4,8,1,gpipe\n" /* 14 */
             "s,c,32,4,8,1,1f1b\n"; /* 15: behind another, and itself 1f1b */
    enum {
        COUNT = 16,
        RATIO = 0,
        STEP_TIME = 1
    };
    static const double measured[COUNT] = {10,   5, 5,  5, 5,    5,  5,  5,
                                           NONE, 5, 10, 5, NONE, 20, 10, 7};
    static const double predicted[COUNT] = {8, 6, 6, 6, 6, 6, 6, 6, 4, NONE, NONE, 3, 3, 10, 15, 7};
    static const struct {
        double measured, predicted;
    } wanted[COUNT] = {
        [0] = {NONE, NONE},  [1] = {0.5, 0.75},   [2] = {NONE, NONE},  [3] = {NONE, NONE},
        [4] = {NONE, NONE},  [5] = {NONE, NONE},  [6] = {NONE, NONE},  [7] = {NONE, NONE},
        [8] = {NONE, 0.5},   [9] = {0.5, NONE},   [10] = {NONE, NONE}, [11] = {0.5, NONE},
        [12] = {NONE, NONE}, [13] = {NONE, NONE}, [14] = {0.5, 1.5},   [15] = {NONE, NONE}};
    struct given rows[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        rows[i] = (struct given){.source = "s", .measured = NONE, .predicted = NONE};
    struct validation v = rows_of(&validate_pipeline, text, rows, COUNT);
    for (unsigned i = 0; i < COUNT; i++)
        v.rows[i].values[STEP_TIME] = (struct validate_value){.has_measured = !isnan(measured[i]),
                                                              .has_predicted = !isnan(predicted[i]),
                                                              .measured = measured[i],
                                                              .predicted = predicted[i]};
    v.rows[10].refused = REFUSAL_LAYOUT;
    validate_pipeline.compare(&v);
    for (unsigned i = 0; i < COUNT; i++) {
        const struct validate_value *ratio = &v.rows[i].values[RATIO];
        if (ratio->has_measured == isnan(wanted[i].measured) ||
            ratio->has_predicted == isnan(wanted[i].predicted))
            fail_msg("row %u: measured %d, predicted %d", i, ratio->has_measured,
                     ratio->has_predicted);
        if (ratio->has_measured)
            near(ratio->measured, wanted[i].measured);
        if (ratio->has_predicted)
            near(ratio->predicted, wanted[i].predicted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_percentiles_and_ranks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_roots_and_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_score_of_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_means_over_sources, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_metric, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_outcomes_by_source, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bins_of_machines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_machines_by_source, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_choices_among_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_runs_of_one_layout, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_choices_of_two_sources, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ratios_of_schedules, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
