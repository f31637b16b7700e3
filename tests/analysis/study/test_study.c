/* A study below the command line: statistics against tables, the optimum of a curve whose minimum
 * is known, which points lists show, and an unfinished database that is read back, or refused. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/output/text/shell.h"
#include "analysis/study/study_store.h"
#include "sim/random.h"
#include "sim/units.h"
#include "tests/test.h"

static struct arena *arena;

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

static struct vary vary_of(const char *text)
{
    struct vary vary;
    struct error error = {""};
    if (!study_vary_read(arena, text, &vary, &error))
        fail_msg("%s", error.text);
    return vary;
}

/* Student's t for four degrees of freedom is 2.7764 (any table). */
static void test_summary(void **state)
{
    static const struct summary_range endless = {-INFINITY, INFINITY}, narrow = {2.5, 3.25};
    double values[] = {5.0, 1.0, 4.0, 2.0, 3.0};
    struct summary s;
    statistics_summarise(arena, values, 5, &endless, &s);
    double half = 2.776445105 * sqrt(2.5 / 5.0);
    assert_true(s.mean == 3.0 && s.p50 == 3.0 && s.p10 == 1.4 && s.p90 == 4.6);
    assert_true(fabs(s.high95 - 3.0 - half) < 1e-8 && fabs(3.0 - s.low95 - half) < 1e-8);
    assert_true(fabs(s.half95 - half) < 1e-8);
    assert_true(values[0] == 5.0); /* left as it was */
    statistics_summarise(arena, values, 5, &narrow, &s);
    assert_true(fabs(s.low95 - 3.0 + half) < 1e-8 && fabs(s.high95 - 3.0 - half) < 1e-8);
    assert_true(fabs(s.half95 - half) < 1e-8);
    statistics_summarise(arena, values, 1, &endless, &s);
    assert_true(s.low95 == 5.0 && s.high95 == 5.0 && s.half95 == 0.0);
    statistics_summarise(arena, values, 0, &endless, &s);
    assert_true(isnan(s.mean));
}

/* Of every metric: bounds lie within what it can be, however far its values are spread. */
static void test_bounds_lie_in_the_range(void **state)
{
    for (unsigned m = 0; m < 2 * METRIC_COUNT; m++) {
        const enum study_metric metric = (enum study_metric)(m / 2);
        const bool share = strcmp(study_metrics[metric].unit, "1") == 0, low = m % 2 == 0;
        const double mean = low ? 0.25 : 0.75, half = 3.182446305 / 4; /* deviation 1/2 */
        double values[4][METRIC_COUNT] = {{0}};
        const struct study_point point = {.replications = 4, .values = values};
        struct summary s;
        for (unsigned r = 0; r < 4; r++)
            values[r][metric] = (r == 0) == low; /* one is unlike the others */
        study_summarise(arena, &point, metric, &s);
        assert_true(s.mean == mean && fabs(s.half95 - half) < 1e-8);
        assert_true(s.low95 == fmax(0.0, mean - s.half95));
        assert_true(s.high95 == (share ? 1.0 : mean + s.half95));
    }
}

static void test_vertex(void **state)
{
    double x[] = {1.0, 2.0, 4.0, 5.0}, y[4];
    for (unsigned i = 0; i < 4; i++)
        y[i] = 3.0 + 2.0 * (x[i] - 2.7) * (x[i] - 2.7);
    assert_true(fabs(statistics_vertex(x, y, 4, NULL) - 2.7) < 1e-12);
    double misfit;
    statistics_vertex(x, y, 4, &misfit);
    assert_true(misfit < 1e-12);
    y[1] += 10.0;
    statistics_vertex(x, y, 4, &misfit);
    assert_true(misfit > 0.1);
    y[1] -= 10.0;
    for (unsigned i = 0; i < 4; i++)
        y[i] = -y[i];
    assert_true(isnan(statistics_vertex(x, y, 4, NULL)));
    assert_true(isnan(statistics_vertex(x, y, 2, NULL)));
}

/* A study of one key without any player: the curve a / x + b x with common and own noise. */
static void make_study(struct study *study, struct study_options *options, size_t seeds,
                       double own_noise)
{
    static const char *const varies[] = {"checkpoint.interval=1min..4h:log:25"};
    static const struct scenario_options plain = {0};
    *options = (struct study_options){
        .path = "u.yaml", .scenario = &plain, .varies = varies, .vary_count = 1, .seeds = seeds};
    *study = (struct study){.arena = arena,
                            .options = options,
                            .vary_count = 1,
                            .name = "U",
                            .base_seed = 7,
                            .fingerprint = 99,
                            .weeks = true,
                            .objective = METRIC_goodput,
                            .point_count = 25};
    study->varies[0] = vary_of(varies[0]);
    study->points = ARENA_ARRAY(arena, struct study_point, 25);
    study_deal(study);
    struct random_stream *own = random_create(arena, 1, 0, "own");
    for (size_t p = 0; p < 25; p++) {
        struct study_point *point = &study->points[p];
        double x = study->varies[0].values[p].number;
        struct random_stream *common = random_create(arena, 1, 1, "common");
        point->values = arena_array(arena, sizeof *point->values, seeds, _Alignof(double));
        point->replications = seeds;
        point->fits = true;
        point->marks = (struct study_marks){x, 600.0, 600.0, 600.0, 9000.0, 20.0};
        for (size_t s = 0; s < seeds; s++) {
            for (unsigned m = 0; m < METRIC_COUNT; m++)
                point->values[s][m] = study_measures(study, m) ? (double)(p + s + m) : NAN;
            /* lost share 20 / x + x / 18000: its minimum is at sqrt(20 x 18000) = 600 s */
            point->values[s][METRIC_goodput] = 1.0 - 20.0 / x - x / 18000.0 +
                                               0.05 * random_normal(common) +
                                               own_noise * random_normal(own);
        }
    }
}

static void test_optimum(void **state)
{
    struct study study;
    struct study_options options;
    struct study_optimum optimum;
    make_study(&study, &options, 200, 1e-3);
    study_optimum(&study, &optimum);
    assert_false(optimum.at_end);
    assert_true(optimum.low95 < 600.0 && 600.0 < optimum.high95);
    assert_true(optimum.high95 / optimum.low95 < 1.1);
    assert_true(fabs(optimum.value / 600.0 - 1.0) < 0.01);
    assert_true(optimum.tied >= 1 && optimum.tied < 9);
    /* Noise that is the same at all points does not blur it; noise of their own does. */
    make_study(&study, &options, 200, 5e-2);
    struct study_optimum blurred;
    study_optimum(&study, &blurred);
    assert_true(blurred.tied > optimum.tied);
}

static void test_optimum_at_an_end(void **state)
{
    struct study study;
    struct study_options options;
    struct study_optimum optimum;
    make_study(&study, &options, 50, 0.0);
    for (size_t p = 0; p < study.point_count; p++)
        for (size_t s = 0; s < 50; s++)
            study.points[p].values[s][METRIC_goodput] = -(double)p;
    study_optimum(&study, &optimum);
    assert_int_equal(optimum.point, 0);
    assert_true(optimum.at_end && isnan(optimum.value));
}

/* What does not fit has no say: neither in how many seeds are compared, nor as a neighbour. */
static void test_optimum_beside_what_does_not_fit(void **state)
{
    struct study study;
    struct study_options options;
    struct study_optimum whole, optimum;
    make_study(&study, &options, 200, 5e-2);
    study_optimum(&study, &whole);
    size_t missing = whole.point + 12;
    study.points[missing].fits = false;
    study.points[missing].replications = 1;
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        study.points[missing].values[0][m] = NAN;
    study_optimum(&study, &optimum);
    assert_int_equal(optimum.point, whole.point);
    assert_true(optimum.tied == whole.tied && !optimum.at_end && isnan(optimum.value));
}

/* One replication each: no test of a spread, so only the same value is a tie; what has no value is
 * no optimum. */
static void test_optimum_of_single_points(void **state)
{
    struct study study;
    struct study_options options;
    struct study_optimum optimum;
    make_study(&study, &options, 1, 0.0);
    assert_true(study_single(&study));
    study_optimum(&study, &optimum);
    assert_true(optimum.found && optimum.tied == 1);
    assert_true(fabs(optimum.value / 600.0 - 1.0) < 0.01 && isnan(optimum.low95));
    study.points[3].values[0][METRIC_goodput] = study.points[9].values[0][METRIC_goodput] = 2.0;
    study_optimum(&study, &optimum);
    assert_true(optimum.tied == 2 && optimum.point == 3);
    assert_true(optimum.tied_first == 3 && optimum.tied_last == 9);
    study.objective = METRIC_cost_usd;
    for (size_t p = 0; p < study.point_count; p++)
        study.points[p].values[0][METRIC_cost_usd] = NAN;
    study_optimum(&study, &optimum);
    assert_false(optimum.found);
    make_study(&study, &options, 2, 0.0);
    assert_false(study_single(&study));
}

/* By the mean of the objective, refused points left out, alike ones in the order of the grid. */
static void test_order(void **state)
{
    struct study study;
    struct study_options options;
    size_t *order;
    make_study(&study, &options, 1, 0.0);
    study.point_count = 6;
    const double values[] = {3.0, 5.0, NAN, 5.0, 9.0, 4.0};
    for (size_t p = 0; p < 6; p++)
        study.points[p].values[0][METRIC_goodput] = values[p];
    study.points[4].refusal = "no";
    assert_int_equal(study_refused(&study), 1);
    assert_int_equal(study_order(&study, 0, &order), 5);
    static const size_t grid[] = {0, 1, 2, 3, 5}, best[] = {1, 3, 5, 0, 2};
    assert_memory_equal(order, grid, sizeof grid);
    for (size_t top = 1; top <= 7; top++) {
        size_t count = study_order(&study, top, &order);
        assert_int_equal(count, top < 5 ? top : 5);
        assert_memory_equal(order, best, count * sizeof *order);
    }
    study.objective = METRIC_wall_s; /* less is better */
    for (size_t p = 0; p < 6; p++)
        study.points[p].values[0][METRIC_wall_s] = -(double)p;
    assert_int_equal(study_order(&study, 2, &order), 2);
    assert_true(order[0] == 5 && order[1] == 3);
}

static void test_reasons(void **state)
{
    struct study study;
    struct study_options options;
    struct study_reason *reasons;
    make_study(&study, &options, 1, 0.0);
    study.points[1].refusal = "64 is no multiple of 8 x 3 = 24";
    study.points[2].refusal = "64 is no multiple of 8 x 10 = 80";
    study.points[4].refusal = "64 heads";
    study.points[6].refusal = "1,024 is no multiple of 2.5 x 3 = 7.5";
    study.points[7].refusal = "64 is no multiple of 8 x 3 = 24, sorry";
    study.points[9].refusal = "64 heads";
    assert_int_equal(study_reasons(&study, &reasons), 3);
    assert_string_equal(reasons[0].text, study.points[1].refusal);
    assert_true(reasons[0].count == 3 && reasons[0].first_point == 1);
    assert_true(reasons[1].count == 2 && reasons[1].first_point == 4);
    assert_true(reasons[2].count == 1 && reasons[2].first_point == 7);
    assert_int_equal(study_refused(&study), 6);
    for (size_t p = 0; p < 25; p++)
        study.points[p].refusal = arena_format(arena, "%c", (char)('a' + p));
    assert_int_equal(study_reasons(&study, &reasons), 25);
}

/* 64 reasons are kept apart; what comes later is counted with the last. */
static void test_more_reasons_than_are_kept(void **state)
{
    struct study study = {.arena = arena, .point_count = 70};
    struct study_reason *reasons;
    study.points = ARENA_ARRAY(arena, struct study_point, 70);
    for (int p = 0; p < 70; p++)
        study.points[p].refusal = arena_format(arena, "%c%c", 'a' + p / 10, 'a' + p % 10);
    for (size_t points = 63; points <= 70; points++) {
        study.point_count = points;
        size_t count = study_reasons(&study, &reasons);
        assert_int_equal(count, points < 64 ? points : 64);
        for (size_t i = 0; i < count; i++) {
            assert_string_equal(reasons[i].text, study.points[i].refusal);
            assert_int_equal(reasons[i].first_point, i);
            assert_int_equal(reasons[i].count, i < 63 ? 1 : points - 63);
        }
    }
}

static void test_shell_words(void **state)
{
    assert_string_equal(shell_word(arena, "layout.tp=4"), "layout.tp=4");
    assert_string_equal(shell_word(arena, ""), "''");
    assert_string_equal(shell_word(arena, "a b"), "'a b'");
    assert_string_equal(shell_word(arena, "it's $HOME"), "'it'\\''s $HOME'");
    assert_string_equal(shell_word(arena, "'"), "''\\'''");
}

/* Words, and numbers that do not ascend, make no range: it has no end to widen. */
/* Parabolas of one width whose vertices are known: without a group of seeds the vertex is the mean
 * of the others, and the interval that of a jackknife over twenty groups, 2.093024 (Student's t for
 * nineteen degrees of freedom) on either side. With fewer than forty seeds there is none. */
static void test_interval_by_hand(void **state)
{
    struct study study;
    struct study_options options;
    for (size_t seeds = 39; seeds <= 50; seeds += 11) {
        make_study(&study, &options, seeds, 0.0);
        study.varies[0] = vary_of("checkpoint.interval=1min,2min,3min,4min,5min,6min,7min");
        study.point_count = 7;
        study.objective = METRIC_wall_s; /* less is better */
        double sum = 0.0, vertices[50], squares = 0.0, mean = 0.0, without[20];
        for (size_t s = 0; s < seeds; s++) {
            vertices[s] = 230.0 + (double)(s * s % 17);
            sum += vertices[s];
            for (size_t p = 0; p < 7; p++)
                study.points[p].values[s][METRIC_wall_s] =
                    9.0 + 1e-3 * pow(study.varies[0].values[p].number - vertices[s], 2);
        }
        for (size_t g = 0; g < 20; g++) {
            double rest = sum, count = (double)seeds;
            for (size_t s = g; s < seeds; s += 20) {
                rest -= vertices[s];
                count--;
            }
            without[g] = rest / count;
            mean += without[g] / 20.0;
        }
        for (size_t g = 0; g < 20; g++)
            squares += pow(without[g] - mean, 2);
        double half = 2.0930240544 * sqrt(squares * 19.0 / 20.0);
        struct study_optimum optimum;
        study_optimum(&study, &optimum);
        assert_int_equal(optimum.point, 3);
        assert_true(fabs(optimum.value - sum / (double)seeds) < 1e-6);
        assert_int_equal(isnan(optimum.low95), seeds < 40);
        if (seeds >= 40) {
            assert_true(fabs(optimum.low95 - (optimum.value - half)) < 1e-6);
            assert_true(fabs(optimum.high95 - (optimum.value + half)) < 1e-6);
        }
    }
}

/* Four seeds whose differences to the best are a - 1 and a + 1: their mean has an error of
 * sqrt(4 / 3 / 4), and Student's t for three degrees of freedom is 3.182446. */
static void test_ties_by_hand(void **state)
{
    for (unsigned apart = 0; apart < 2; apart++) {
        struct study study;
        struct study_options options;
        struct study_optimum optimum;
        double a = 3.182446 * sqrt(1.0 / 3.0) + (apart ? 1e-4 : -1e-4);
        make_study(&study, &options, 4, 0.0);
        study.objective = METRIC_wall_s;
        study.point_count = 4;
        for (size_t s = 0; s < 4; s++) {
            double common = 100.0 * (double)s, off = s % 2 ? 1.0 : -1.0;
            const double values[] = {common + 50.0, common + a + off, common, common + a - off};
            for (size_t p = 0; p < 4; p++)
                study.points[p].values[s][METRIC_wall_s] = values[p];
        }
        study_optimum(&study, &optimum);
        assert_int_equal(optimum.point, 2);
        assert_int_equal(optimum.tied, apart ? 1 : 3);
        assert_int_equal(optimum.tied_first, apart ? 2 : 1);
        assert_int_equal(optimum.tied_last, apart ? 2 : 3);
    }
}

static void test_optimum_of_a_list(void **state)
{
    struct study study;
    struct study_options options;
    struct study_optimum optimum;
    make_study(&study, &options, 50, 0.0);
    for (size_t s = 0; s < 50; s++)
        study.points[0].values[s][METRIC_goodput] = 2.0;
    study_optimum(&study, &optimum);
    assert_true(optimum.point == 0 && optimum.at_end);
    study.varies[0] = vary_of("layout.vpp=4,1,2");
    study.point_count = 3;
    study_optimum(&study, &optimum);
    assert_true(optimum.point == 0 && !optimum.at_end);
}

static void test_confidence_decides_how_many(void **state)
{
    struct study study;
    struct study_options options;
    size_t target;
    make_study(&study, &options, 200, 1e-3);
    struct study_point point = study.points[0];
    point.share = (struct study_share){0, 200};
    point.replications = 0;
    assert_false(study_enough(&study, &point, &target));
    assert_int_equal(target, 200);
    options.confidence_ratio = 0.5;
    assert_false(study_enough(&study, &point, &target));
    assert_int_equal(target, 32);
    point.replications = 32;
    assert_true(study_enough(&study, &point, &target));
    options.confidence_ratio = 1e-6;
    assert_false(study_enough(&study, &point, &target));
    assert_int_equal(target, 64);
    point.replications = 200;
    assert_true(study_enough(&study, &point, &target)); /* there are no more seeds */
}

static const char *temporary(const char *name)
{
    const char *folder = getenv("TMPDIR");
    return arena_format(arena, "%s/orrery_study_%ld_%s", folder ? folder : "/tmp", (long)getpid(),
                        name);
}

/* Writes the first ten points, and stops. */
static const char *write_unfinished(struct study *study)
{
    const char *path = temporary("unfinished.db");
    struct store *store;
    struct error error = {""};
    if (store_open(path, 0.0, &store, &error) != STORE_GOOD)
        fail_msg("%s", error.text);
    study_store_begin(store, study);
    for (size_t p = 0; p < 10; p++)
        study_store_point(store, study, p);
    assert_int_equal(store_leave(store, &error), STORE_GOOD);
    assert_int_not_equal(access(path, F_OK), 0); /* nothing stands under the final name */
    return arena_format(arena, "%s.partial", path);
}

static unsigned open_files(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

static void test_resume(void **state)
{
    struct study study, again;
    struct study_options options;
    struct error error = {""};
    make_study(&study, &options, 40, 1e-3);
    study.points[4].fits = false;
    study.points[4].usable_bytes = 8e10;
    study.points[4].shortage = (struct study_shortage){"mlp of layer 3", "temporary", 2, 5e9};
    const char *partial = write_unfinished(&study);
    again = study;
    again.points = ARENA_ARRAY(arena, struct study_point, 25);
    study_deal(&again);
    unsigned before = open_files();
    if (!study_store_resume(&again, partial, &error))
        fail_msg("%s", error.text);
    for (size_t p = 0; p < 25; p++) {
        assert_int_equal(again.points[p].replications, p < 10 ? 40 : 0);
        for (size_t s = 0; p < 10 && s < 40; s++)
            assert_memory_equal(again.points[p].values[s] + METRIC_goodput,
                                study.points[p].values[s] + METRIC_goodput, sizeof(double));
    }
    assert_memory_equal(&again.points[3].marks, &study.points[3].marks, sizeof(struct study_marks));
    const struct study_shortage *back = &again.points[4].shortage;
    assert_string_equal(back->tensor, "mlp of layer 3");
    assert_string_equal(back->tenant, "temporary");
    assert_true(back->stage == 2 && back->short_bytes == 5e9);
    assert_true(again.points[4].usable_bytes == 8e10 && !again.points[4].fits);
    assert_null(again.points[3].shortage.tensor);
    again.fingerprint++;
    assert_false(study_store_resume(&again, partial, &error));
    assert_non_null(strstr(error.text, "another study"));
    again.fingerprint--;
    options.seeds = 39;
    study_deal(&again);
    assert_false(study_store_resume(&again, partial, &error));
    assert_int_equal(open_files(), before); /* read or refused, it is closed */
    unlink(partial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_summary, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bounds_lie_in_the_range, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_vertex, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_optimum, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_optimum_at_an_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_optimum_beside_what_does_not_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_optimum_of_single_points, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reasons, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_more_reasons_than_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shell_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_interval_by_hand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ties_by_hand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_optimum_of_a_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_confidence_decides_how_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_resume, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
