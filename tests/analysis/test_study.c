/* A study below the command line: what --vary means, statistics against tables, the optimum of a
 * curve whose minimum is known, and an unfinished database that is read back, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/plot.h"
#include "analysis/study_store.h"
#include "sim/random.h"
#include "sim/units.h"

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static struct vary vary_of(const char *text)
{
    struct vary vary;
    struct error error = {""};
    if (!vary_read(arena, text, &vary, &error))
        fail_msg("%s", error.text);
    return vary;
}

static void test_vary_list(void **state)
{
    (void)state;
    struct vary v = vary_of("recovery.policy=hot-spare,cold-spare");
    assert_string_equal(v.key, "recovery.policy");
    assert_int_equal(v.count, 2);
    assert_string_equal(v.values[1].text, "cold-spare");
    assert_true(isnan(v.values[0].number));
    assert_false(v.numeric);
    v = vary_of("checkpoint.interval=90s,2min,1h");
    assert_true(v.numeric && v.time);
    assert_true(v.values[1].number == 120.0 && v.values[2].number == HOUR);
    assert_false(vary_of("x=3,1,2").numeric); /* no axis without an order */
}

static void test_vary_range(void **state)
{
    (void)state;
    struct vary v = vary_of("checkpoint.interval=1min..4h:log:25");
    assert_int_equal(v.count, 25);
    assert_true(v.log && v.time && v.numeric);
    assert_true(v.values[0].number == MINUTE && v.values[24].number == 4.0 * HOUR);
    assert_true(fabs(v.values[12].number / sqrt(MINUTE * 4.0 * HOUR) - 1.0) < 1e-12);
    v = vary_of("a.b=10s..20s:3");
    assert_true(v.count == 3 && v.values[1].number == 15.0 && !v.log);
    assert_int_equal(vary_of("a.b=10s..20s").count, VARY_DEFAULT);
}

static void test_vary_whole_numbers(void **state)
{
    (void)state;
    struct vary v = vary_of("layout.tp=1..4");
    assert_int_equal(v.count, 4);
    assert_string_equal(v.values[3].text, "4");
    v = vary_of("recovery.spares=1..64:log:7");
    assert_int_equal(v.count, 7);
    assert_string_equal(v.values[3].text, "8");
    v = vary_of("x.share=0..1:5"); /* more points than whole numbers: ratios */
    assert_true(v.count == 5 && v.values[1].number == 0.25);
    assert_true(vary_of("x.share=0..0.5:3").values[1].number == 0.25);
}

/* What the text of a value says is the number, for every kind of unit. */
static void test_vary_text_says_the_number(void **state)
{
    (void)state;
    static const char *const ranges[] = {
        "a=1min..4h:log:9", "a=1GB..3TB:9",  "a=100Gb/s..1.6Tb/s:9", "a=1TFLOP/s..2PFLOP/s:log:9",
        "a=1GHz..2GHz:9",   "a=100W..1kW:9", "a=1USD..3.5USD:9",     "a=0.1..0.9:9"};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct vary v = vary_of(ranges[i]);
        assert_int_equal(v.count, 9);
        for (size_t k = 0; k < v.count; k++) {
            struct vary again = vary_of(arena_format(arena, "a=%s", v.values[k].text));
            assert_true(fabs(again.values[0].number / v.values[k].number - 1.0) < 1e-14);
        }
    }
}

static void test_vary_refuses(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "key",
                                        "=1,2",
                                        "key=",
                                        "key=1,,2",
                                        "key=4..1",
                                        "key=1..",
                                        "key=..3",
                                        "key=1s..2",
                                        "key=1s..2GB",
                                        "key=1..2:log:",
                                        "key=1..2:1",
                                        "key=a..b",
                                        "key=0s..1h:log",
                                        "key=1..2:x",
                                        "key=1..2:99999999",
                                        "key=1..2:3:4"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct vary vary;
        struct error error = {""};
        if (vary_read(arena, wrong[i], &vary, &error))
            fail_msg("taken: %s", wrong[i]);
        assert_non_null(strstr(error.text, "--vary"));
        assert_non_null(strstr(error.text, "write KEY="));
    }
}

static void test_grid(void **state)
{
    (void)state;
    struct vary v[] = {vary_of("a=1,2,3"), vary_of("b=1,2"), vary_of("c=1,2,3,4")};
    struct error error = {""};
    size_t points;
    assert_true(vary_points(v, 3, &points, &error));
    assert_int_equal(points, 24);
    bool met[24] = {false};
    for (size_t p = 0; p < points; p++) {
        size_t id =
            (vary_index(v, 3, 0, p) * 2 + vary_index(v, 3, 1, p)) * 4 + vary_index(v, 3, 2, p);
        assert_int_equal(id, p); /* the last key is the fastest */
        met[id] = true;
    }
    assert_true(met[0] && met[23]);
    struct vary many[] = {vary_of("a=0s..1s:9999"), vary_of("b=0s..1s:9")};
    assert_false(vary_points(many, 2, &points, &error));
}

/* Student's t for four degrees of freedom is 2.7764 (any table). */
static void test_summary(void **state)
{
    (void)state;
    double values[] = {5.0, 1.0, 4.0, 2.0, 3.0};
    struct summary s;
    statistics_summarise(arena, values, 5, &s);
    double half = 2.776445105 * sqrt(2.5 / 5.0);
    assert_true(s.mean == 3.0 && s.p50 == 3.0 && s.p10 == 1.4 && s.p90 == 4.6);
    assert_true(fabs(s.high95 - 3.0 - half) < 1e-8 && fabs(3.0 - s.low95 - half) < 1e-8);
    assert_true(values[0] == 5.0); /* left as it was */
    statistics_summarise(arena, values, 1, &s);
    assert_true(s.low95 == 5.0 && s.high95 == 5.0);
    statistics_summarise(arena, values, 0, &s);
    assert_true(isnan(s.mean));
}

static void test_vertex(void **state)
{
    (void)state;
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
                point->values[s][m] = study_metrics[m].weeks ? (double)(p + s + m) : NAN;
            /* lost share 20 / x + x / 18000: its minimum is at sqrt(20 x 18000) = 600 s */
            point->values[s][METRIC_goodput] = 1.0 - 20.0 / x - x / 18000.0 +
                                               0.05 * random_normal(common) +
                                               own_noise * random_normal(own);
        }
    }
}

static void test_optimum(void **state)
{
    (void)state;
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
    (void)state;
    struct study study;
    struct study_options options;
    struct study_optimum optimum;
    make_study(&study, &options, 50, 0.0);
    for (size_t p = 0; p < study.point_count; p++) {
        for (size_t s = 0; s < 50; s++)
            study.points[p].values[s][METRIC_goodput] = -(double)p;
    }
    study_optimum(&study, &optimum);
    assert_int_equal(optimum.point, 0);
    assert_true(optimum.at_end && isnan(optimum.value));
}

/* What does not fit has no say: neither in how many seeds are compared, nor as a neighbour. */
static void test_optimum_beside_what_does_not_fit(void **state)
{
    (void)state;
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

/* Words, and numbers that do not ascend, make no range: it has no end to widen. */
static void test_optimum_of_a_list(void **state)
{
    (void)state;
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
    (void)state;
    struct study study;
    struct study_options options;
    size_t target;
    make_study(&study, &options, 200, 1e-3);
    struct study_point point = study.points[0];
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
static const char *write_unfinished(const struct study *study)
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

static void test_resume(void **state)
{
    (void)state;
    struct study study, again;
    struct study_options options;
    struct error error = {""};
    make_study(&study, &options, 40, 1e-3);
    const char *partial = write_unfinished(&study);
    again = study;
    again.points = ARENA_ARRAY(arena, struct study_point, 25);
    if (!study_store_resume(&again, partial, &error))
        fail_msg("%s", error.text);
    for (size_t p = 0; p < 25; p++) {
        assert_int_equal(again.points[p].replications, p < 10 ? 40 : 0);
        for (size_t s = 0; p < 10 && s < 40; s++)
            assert_memory_equal(again.points[p].values[s] + METRIC_goodput,
                                study.points[p].values[s] + METRIC_goodput, sizeof(double));
    }
    assert_memory_equal(&again.points[3].marks, &study.points[3].marks, sizeof(struct study_marks));
    again.fingerprint++;
    assert_false(study_store_resume(&again, partial, &error));
    assert_non_null(strstr(error.text, "another study"));
    again.fingerprint--;
    options.seeds = 39;
    assert_false(study_store_resume(&again, partial, &error));
    unlink(partial);
}

static void test_axes(void **state)
{
    (void)state;
    struct plot plot = {.left = 100, .top = 10, .width = 200, .height = 50};
    plot.x = (struct plot_axis){"x", 1.0, 100.0, true, PLOT_PLAIN};
    plot.y = (struct plot_axis){"y", 0.0, 10.0, false, PLOT_PLAIN};
    assert_true(fabs(plot_x(&plot, 10.0) - 200.0) < 1e-9);
    assert_true(plot_x(&plot, 0.5) == 100.0); /* outside: at the end */
    assert_true(plot_y(&plot, 0.0) == 60.0 && plot_y(&plot, 10.0) == 10.0);
    double values[] = {3.0, NAN, 1.0, INFINITY, -2.0};
    struct plot_axis axis = plot_axis_around("v", values, 5, true, PLOT_PLAIN);
    assert_true(axis.low > 0.8 && axis.low < 1.0 && axis.high > 3.0 && axis.high < 3.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_vary_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_vary_range, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_vary_whole_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_vary_text_says_the_number, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_vary_refuses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_grid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_summary, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_vertex, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_optimum, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_optimum_at_an_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_optimum_beside_what_does_not_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_optimum_of_a_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_confidence_decides_how_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_resume, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_axes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
