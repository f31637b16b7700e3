/* The report of a study whose points are made by hand: what stands in each line, which point is
 * said to be best and among how many, bars between the worst and the best that fit, and what is
 * said when none does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/study/study_report.h"
#include "sim/units.h"

enum {
    POINTS = 4,
    SEEDS = 4
};
static struct arena *arena;
static struct study study;
static struct study_list list;

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

/* Four stages of a pipeline, with as many seeds; tokens by point, 2 more with each seed. */
static void make(const char *vary, size_t seeds, const double tokens[POINTS])
{
    static const struct scenario_options plain = {0};
    static struct study_options options = {.path = "a b.yaml", .scenario = &plain};
    struct error error = {""};
    study = (struct study){.arena = arena,
                           .options = &options,
                           .vary_count = 1,
                           .name = "Pipes",
                           .objective = METRIC_tokens_per_s,
                           .point_count = POINTS};
    assert_true(study_vary_read(arena, vary, &study.varies[0], &error));
    study.points = ARENA_ARRAY(arena, struct study_point, POINTS);
    for (size_t p = 0; p < POINTS; p++) {
        struct study_point *point = &study.points[p];
        *point = (struct study_point){
            .share = {0, seeds}, .replications = seeds, .fits = true, .done = true};
        point->values = arena_array(arena, sizeof *point->values, seeds, _Alignof(double));
        point->marks.exact_s = NAN;
        for (size_t s = 0; s < seeds; s++) {
            for (unsigned m = 0; m < METRIC_COUNT; m++)
                point->values[s][m] = NAN;
            point->values[s][METRIC_tokens_per_s] = tokens[p] + 2.0 * (double)s;
            point->values[s][METRIC_mfu] = 0.1 * (double)(p + 1);
        }
    }
}

/* What is written of it, to be freed; of the best `top`, 0: all. */
static char *report(size_t top)
{
    static char *text;
    size_t size;
    struct session session = {.out = open_memstream(&text, &size)};
    list.count = study_order(&study, top, &list.points);
    study_optimum(&study, &list.optimum);
    study_report(&session, &study, &list);
    fclose(session.out);
    return text;
}

static void reports(size_t top, const char *wanted)
{
    char *text = report(top);
    assert_string_equal(text, wanted);
    free(text);
}

static void test_single_points(void **state)
{
    (void)state;
    static const double tokens[] = {100.0, 300.0, 200.0, 900.0};
    make("layout.pp=1,2,4,8", 1, tokens);
    study.points[3].fits = false;
    study.points[3].shortage = (struct study_shortage){"mlp", "activations", 2, 3.0 * GIB};
    study.points[3].values[0][METRIC_tokens_per_s] = NAN;
    study.points[3].values[0][METRIC_peak_reserved_bytes] = 83.0 * GIB;
    reports(0,
            "Pipes\n"
            "layout.pp              tokens_per_s  fits         MFU      memory\n"
            "1                               100   yes      10.0 %           -  ................\n"
            "2                               300   yes      20.0 %           -  ################  "
            "best\n"
            "4                               200   yes      30.0 %           -  ########........\n"
            "8                                 -    no      40.0 %    83.0 GiB  does not fit in "
            "memory: 3.00 GiB short, first for mlp (activations) of stage 2\n"
            "\n"
            "best tokens_per_s: 300 at layout.pp 2\n"
            "  to run it: orrery run 'a b.yaml' --set layout.pp=2\n");
    reports(2,
            "Pipes\n"
            "layout.pp              tokens_per_s  fits         MFU      memory\n"
            "2                               300   yes      20.0 %           -  ################  "
            "best\n"
            "4                               200   yes      30.0 %           -  ................\n"
            "the best 2 of 4 points\n"
            "\n"
            "best tokens_per_s: 300 at layout.pp 2\n"
            "  to run it: orrery run 'a b.yaml' --set layout.pp=2\n");
    study.points[0].replications = study.points[2].replications = 0;
    study.points[0].refusal = "1 stage is none";
    study.points[2].refusal = "4 stages is none";
    reports(
        0, "Pipes\n"
           "layout.pp              tokens_per_s  fits         MFU      memory\n"
           "2                               300   yes      20.0 %           -  ................\n"
           "8                                 -    no      40.0 %    83.0 GiB  does not fit in "
           "memory: 3.00 GiB short, first for mlp (activations) of stage 2\n"
           "2 of 4 points left out:\n"
           "  1: 1 stage is none (layout.pp=1)\n"
           "  1: 4 stages is none (layout.pp=4)\n"
           "\n"
           "no point fits in memory; the nearest, layout.pp=8, is 3.00 GiB short on a card of 0 B\n"
           "  what fills the card: orrery memory 'a b.yaml' --set layout.pp=8\n");
}

/* Values t, t + 2, t + 4, t + 6: the mean lies 3 above t, the 95 % interval 3.18 x 2.58 / 2 around
 * it (Student's t for three degrees of freedom), P10 and P90 .6 and 5.4 above. Two are alike. */
static void test_seeds(void **state)
{
    (void)state;
    static const double tokens[] = {97.0, 297.0, 297.0, 197.0};
    make("layout.pp=1,2,4,8", SEEDS, tokens);
    reports(0,
            "Pipes\n"
            "layout.pp              tokens_per_s    +- 95 %        P10        P90   seeds  fits    "
            "     MFU\n"
            "1                               100       4.11       97.6        102       4   yes    "
            "  10.0 %  ................\n"
            "2                               300       4.11        298        302       4   yes    "
            "  20.0 %  ################  best\n"
            "4                               300       4.11        298        302       4   yes    "
            "  30.0 %  ################\n"
            "8                               200       4.11        198        202       4   yes    "
            "  40.0 %  ########........\n"
            "\n"
            "best tokens_per_s: 300 at layout.pp 2\n"
            "  1 point cannot be told apart from it with these seeds\n"
            "  to run it: orrery run 'a b.yaml' --set layout.pp=2\n");
}

/* The memory that a point would need is known where it does not fit; bars are of those that do. */
static void test_bars_of_what_fits(void **state)
{
    (void)state;
    static const double tokens[] = {1.0, 1.0, 1.0, 1.0}, gib[] = {40.0, 50.0, 40.0, 83.0};
    static const char *const ends[] = {"  ################  best\n", "  ................\n",
                                       "  ################\n", " 40.0 %\n"};
    make("layout.pp=1,2,4,8", 1, tokens);
    study.objective = METRIC_peak_reserved_bytes;
    study.points[3].fits = false;
    for (size_t p = 0; p < POINTS; p++)
        study.points[p].values[0][METRIC_peak_reserved_bytes] = gib[p] * GIB;
    char *text = report(0), *line = strchr(strchr(text, '\n') + 1, '\n');
    for (unsigned p = 0; p < POINTS; p++) {
        char *end = strchr(line + 1, '\n');
        assert_memory_equal(end + 1 - strlen(ends[p]), ends[p], strlen(ends[p]));
        line = end;
    }
    assert_non_null(strstr(text, "\n  1 other point has the same\n"));
    free(text);
}

static void test_nothing_fits(void **state)
{
    (void)state;
    static const double tokens[] = {NAN, NAN, NAN, NAN};
    make("layout.pp=1,2,4,8", 1, tokens);
    for (size_t p = 0; p < POINTS; p++) {
        static const double short_bytes[] = {5.0 * GIB, 4.0 * GIB, 4.5 * GIB, 4.0 * GIB};
        study.points[p].fits = false;
        study.points[p].usable_bytes = 79.0 * GIB;
        study.points[p].shortage = (struct study_shortage){"mlp", "activations", 1, short_bytes[p]};
    }
    reports(0,
            "Pipes\n"
            "layout.pp              tokens_per_s  fits         MFU\n"
            "1                                 -    no      10.0 %  does not fit in memory: 5.00 "
            "GiB short, first for mlp (activations) of stage 1\n"
            "2                                 -    no      20.0 %  does not fit in memory: 4.00 "
            "GiB short, first for mlp (activations) of stage 1\n"
            "4                                 -    no      30.0 %  does not fit in memory: 4.50 "
            "GiB short, first for mlp (activations) of stage 1\n"
            "8                                 -    no      40.0 %  does not fit in memory: 4.00 "
            "GiB short, first for mlp (activations) of stage 1\n"
            "\n"
            "no point fits in memory; the nearest, layout.pp=2, is 4.00 GiB short on a card of "
            "79.0 GiB\n"
            "  what fills the card: orrery memory 'a b.yaml' --set layout.pp=2\n");
}

static void test_wide_labels(void **state)
{
    (void)state;
    static const double tokens[] = {1.0, 2.0, 3.0, 4.0};
    make("a=01234567890123456789012345678901234567890123456789012345678901234,b,"
         "0123456789012345678901234,c",
         1, tokens);
    reports(0,
            "Pipes\n"
            "a                                                            tokens_per_s  fits       "
            "  MFU\n"
            "01234567890123456789012345678901234567890123456789012345678901234            1   yes  "
            "    10.0 %  ................\n"
            "b                                                                       2   yes      "
            "20.0 %  #####...........\n"
            "0123456789012345678901234                                               3   yes      "
            "30.0 %  ##########......\n"
            "c                                                                       4   yes      "
            "40.0 %  ################  best\n"
            "\n"
            "best tokens_per_s: 4 at a c\n"
            "  to run it: orrery run 'a b.yaml' --set a=c\n");
    reports(1, "Pipes\n"
               "a                      tokens_per_s  fits         MFU\n"
               "c                                 4   yes      40.0 %  ################  best\n"
               "the best 1 of 4 points\n"
               "\n"
               "best tokens_per_s: 4 at a c\n"
               "  to run it: orrery run 'a b.yaml' --set a=c\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_single_points, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_seeds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bars_of_what_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wide_labels, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
