/* The report of a study whose points are made by hand: what stands in each line, which point is
 * said to be best and among how many, bars that begin at 0, values as they were typed, what is said
 * when none fits; and of its figure that each curve is seen or said to be covered, and that no text
 * leaves the page. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/study/study_report.h"
#include "sim/units.h"
#include "tests/test.h"

enum {
    POINTS = 4,
    SEEDS = 4
};
static struct arena *arena;
static struct study study;
static struct study_list list;

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
        point->marks.young_s = point->marks.exact_s = NAN;
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
    static const double tokens[] = {100.0, 300.0, 200.0, 900.0};
    make("layout.pp=1,2,4,8", 1, tokens);
    study.points[3].fits = false;
    study.points[3].shortage = (struct study_shortage){"mlp", "activations", 2, 3.0 * GIB};
    study.points[3].values[0][METRIC_tokens_per_s] = NAN;
    study.points[3].values[0][METRIC_peak_reserved_bytes] = 83.0 * GIB;
    reports(0,
            "Pipes\n"
            "layout.pp              tokens_per_s  fits         MFU      memory\n"
            "1                               100   yes      10.0 %           -  #####...........\n"
            "2                               300   yes      20.0 %           -  ################  "
            "best\n"
            "4                               200   yes      30.0 %           -  ##########......\n"
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
            "4                               200   yes      30.0 %           -  ##########......\n"
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
           "2                               300   yes      20.0 %           -  ################\n"
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
    static const double tokens[] = {97.0, 297.0, 297.0, 197.0};
    make("layout.pp=1,2,4,8", SEEDS, tokens);
    reports(0, "Pipes\n"
               "layout.pp              tokens_per_s  95 % from         to        P10        P90  "
               " seeds  fits         MFU\n"
               "1                               100       95.9        104       97.6        102  "
               "     4   yes      10.0 %  #####...........\n"
               "2                               300        296        304        298        302  "
               "     4   yes      20.0 %  ################  tied\n"
               "4                               300        296        304        298        302  "
               "     4   yes      30.0 %  ################  tied\n"
               "8                               200        196        204        198        202  "
               "     4   yes      40.0 %  ##########......\n"
               "\n"
               "tied for the best tokens_per_s: 2 points have the same\n"
               "  it is 300, first at layout.pp 2\n"
               "  to run it: orrery run 'a b.yaml' --set layout.pp=2\n");
}

/* The memory that a point would need is known where it does not fit; bars are of those that do. */
static void test_bars_of_what_fits(void **state)
{
    static const double tokens[] = {1.0, 1.0, 1.0, 1.0}, gib[] = {40.0, 50.0, 40.0, 83.0};
    static const char *const ends[] = {"  ############....  tied\n", "  ################\n",
                                       "  ############....  tied\n", " 40.0 %\n"};
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
    assert_non_null(strstr(text, "\ntied for the best peak_reserved_bytes: 2 points have the same\n"
                                 "  it is 40.0 GiB, first at layout.pp 1\n"));
    free(text);
}

/* Where all are alike none is the best, and there is nothing to widen: of one seed, of several, and
 * where one point is above the others in one seed and below them in the next. */
static void test_all_alike(void **state)
{
    static const double tokens[] = {7.0, 7.0, 7.0, 7.0};
    static const char *const said[] = {
        "tied for the best tokens_per_s: all 4 points have the same\n  it is 7, first at a 1\n",
        "tied for the best tokens_per_s: all 4 points have the same\n  it is 10, first at a 1\n",
        ("tied for the best tokens_per_s: all 4 points, which these seeds cannot tell apart\n"
         "  the highest mean of them: 10.2 at a 3\n")};
    for (unsigned k = 0; k < 3; k++) {
        make("a=1..4", k == 0 ? 1 : SEEDS, tokens);
        if (k == 2) {
            study.points[2].values[0][METRIC_tokens_per_s] += 3.0;
            study.points[2].values[1][METRIC_tokens_per_s] -= 2.0;
        }
        char *text = report(0);
        unsigned tied = 0;
        for (const char *at = text; (at = strstr(at, "  tied\n")) != NULL; at++)
            tied++;
        assert_int_equal(tied, POINTS);
        assert_null(strstr(text, "  best\n"));
        assert_null(strstr(text, "widen"));
        assert_non_null(strstr(text, said[k]));
        free(text);
    }
}

static void test_nothing_fits(void **state)
{
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
    static const double tokens[] = {1.0, 2.0, 3.0, 4.0};
    make("a=01234567890123456789012345678901234567890123456789012345678901234,b,"
         "0123456789012345678901234,c",
         1, tokens);
    reports(0,
            "Pipes\n"
            "a                                                            tokens_per_s  fits       "
            "  MFU\n"
            "01234567890123456789012345678901234567890123456789012345678901234            1   yes  "
            "    10.0 %  ####............\n"
            "b                                                                       2   yes      "
            "20.0 %  ########........\n"
            "0123456789012345678901234                                               3   yes      "
            "30.0 %  ############....\n"
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

/* What was typed stays; what lies inside a range has three digits here and six in a command. */
static void test_values_as_typed(void **state)
{
    static const struct {
        const char *vary, *shown[POINTS], *best;
    } all[] = {
        {"failures[0].mtbf=1y,5.8y,20y,30y", {"\n1y ", "\n5.8y ", "\n20y ", "\n30y "}, "=30y'\n"},
        {"a=0.1GB/s,1GB/s,2GB/s,9GB/s", {"\n0.1GB/s ", "\n1GB/s ", "\n2GB/s "}, "a=9GB/s\n"},
        {"a=10min..2h:log:4", {"\n10min ", "\n22.9 min ", "\n52.4 min ", "\n2h "}, "a=2h\n"},
        {"a=2h..20d:log:4", {"\n2h ", "\n12.4 h "}, "a=20d\n"},
        {"a=1GB/s..4GB/s:4", {"\n1GB/s ", "\n2GB/s ", "\n3GB/s "}, "a=4GB/s\n"},
        {"a=1MiB..8MiB:log:4", {"\n1MiB ", "\n2MiB ", "\n4MiB "}, "a=8MiB\n"},
    };
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
        static const double tokens[] = {1.0, 2.0, 3.0, 4.0};
        make(all[k].vary, 1, tokens);
        char *text = report(0);
        for (unsigned p = 0; p < POINTS && all[k].shown[p] != NULL; p++)
            assert_non_null(strstr(text, all[k].shown[p]));
        assert_non_null(strstr(text, all[k].best));
        free(text);
    }
}

/* A place between points: times as in every report, the rest in the kind of unit that was typed. */
static void test_place_between_points(void **state)
{
    static const struct {
        const char *vary;
        double number;
        const char *text;
    } all[] = {{"a=1min..2h", 0.5 * HOUR, "30.0 min"},
               {"a=0.1GB/s..2GB/s", 0.25e9, "250MB/s"},
               {"a=1GiB..2TiB", 2.5 * GIB, "2.5GiB"},
               {"a=100Gb/s..200Gb/s", 15e9, "120Gb/s"},
               {"a=1..64", 2.5, "2.5"},
               {"a=10%..50%", 0.125, "12.5%"}};
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
        struct vary vary;
        struct error error = {""};
        assert_true(study_vary_read(arena, all[k].vary, &vary, &error));
        assert_string_equal(study_value_text(&vary, all[k].number).s, all[k].text);
    }
}

/* What is said of a best point at an end: a list cannot be widened. */
static void test_best_at_an_end(void **state)
{
    static const struct {
        const char *vary;
        double tokens[POINTS];
        const char *said; /* NULL: nothing */
    } all[] = {
        {"a=1..4", {1.0, 2.0, 3.0, 4.0}, "lies at an end of the range: widen it\n"},
        {"a=1..4", {4.0, 3.0, 2.0, 1.0}, "lies at an end of the range: widen it\n"},
        {"a=1,2,3,4", {1.0, 2.0, 3.0, 4.0}, "is the highest value of the list: none above was"},
        {"a=1,2,3,4", {4.0, 3.0, 2.0, 1.0}, "is the lowest value of the list: none below was"},
        {"a=1,2,3,4", {1.0, 3.0, 2.0, 1.0}, NULL},
        {"a=4,3,2,1", {4.0, 3.0, 2.0, 1.0}, NULL},
        {"a=x,y,z,w", {4.0, 3.0, 2.0, 1.0}, NULL},
    };
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
        make(all[k].vary, 1, all[k].tokens);
        char *text = report(0);
        const char *found = strstr(text, "  the best point ");
        assert_true((found != NULL) == (all[k].said != NULL));
        if (found != NULL)
            assert_memory_equal(found + 17, all[k].said, strlen(all[k].said));
        free(text);
    }
}

/* Of two points each is an end; of one point nothing is said. */
static void test_best_of_few(void **state)
{
    static const double tokens[] = {1.0, 2.0, 0.0, 0.0};
    for (size_t count = 1; count <= 2; count++) {
        make(count == 1 ? "a=1" : "a=1,2", 1, tokens);
        study.point_count = count;
        char *text = report(0);
        assert_true((strstr(text, "is the highest value of the list") != NULL) == (count == 2));
        free(text);
    }
}

/* No text ends beyond the page: of 7.5 units a character, more than a sentence has in the mean. */
static void stays_on_page(const char *svg)
{
    const double width = strtod(strstr(svg, "viewBox=\"0 0 ") + 13, NULL);
    unsigned met = 0;
    for (const char *t = svg; (t = strstr(t, "<text x=\"")) != NULL; met++) {
        const double x = strtod(t + 9, NULL);
        const char *anchor = strstr(t, "anchor=\"") + 8, *said = strchr(t, '>') + 1;
        const double room = 7.5 * (double)(strchr(said, '<') - said);
        const double left = *anchor == 's' ? 0.0 : *anchor == 'm' ? room / 2.0 : room;
        assert_true(x - left > -1.0 && x - left + room < width);
        t = said;
    }
    assert_true(met > 10);
}

static unsigned count_of(const char *text, const char *word)
{
    unsigned count = 0;
    for (const char *t = text; (t = strstr(t, word)) != NULL; t += strlen(word))
        count++;
    return count;
}

/* Two keys, words and numbers; `second`: of the second word. */
static char *figure(const char *words, const char *name, double second)
{
    static char *text;
    size_t size;
    struct error error = {""};
    const double tokens[] = {100.0, 300.0, 100.0, second};
    make(words, 1, tokens);
    assert_true(study_vary_read(arena, "layout.pp=1,2", &study.varies[1], &error));
    study.vary_count = 2;
    study.name = name;
    study_optimum(&study, &list.optimum);
    FILE *out = open_memstream(&text, &size);
    study_svg(&study, &list.optimum, out);
    fclose(out);
    return text;
}

static void test_covered_curves(void **state)
{
    char *svg = figure("recovery.policy=hot,cold", "Pipes", 300.0);
    assert_int_equal(count_of(svg, "<path fill=\"none\" stroke=\"#"), 1);
    assert_non_null(strstr(svg, ">cold (the same as hot)<"));
    stays_on_page(svg);
    free(svg);
    svg = figure("recovery.policy=hot,cold", "Pipes", 310.0);
    assert_int_equal(count_of(svg, "<path fill=\"none\" stroke=\"#"), 2);
    assert_null(strstr(svg, "the same as"));
    free(svg);
}

/* Ten curves of which the first two break a rule: of the other eight all are drawn, of more
 * the best eight, and the others are named in the order of the grid. */
static void test_curves_left_out(void **state)
{
    static const struct {
        size_t curves;
        const char *said; /* NULL: nothing is left out */
    } all[] = {{10, NULL},
               {12, "The best 8 of 10 curves are drawn; left out: b (3), (4)."},
               {15, "left out: b (3), (4), (5), (6) and 1 more."}};
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
        static const double none[POINTS];
        static char *svg;
        size_t size;
        struct error error = {""};
        make("a=1,2", 1, none);
        study.vary_count = 2;
        study.point_count = 2 * all[k].curves;
        assert_true(study_vary_read(
            arena, arena_format(arena, "b=1..%zu:%zu", all[k].curves, all[k].curves),
            &study.varies[1], &error));
        study.points = ARENA_ARRAY(arena, struct study_point, study.point_count);
        for (size_t p = 0; p < study.point_count; p++) {
            const size_t curve = p % all[k].curves;
            struct study_point *point = &study.points[p];
            const size_t count = curve < 2 ? 0 : 1;
            *point = (struct study_point){.share = {0, 1}, .replications = count, .fits = true};
            point->refusal = curve < 2 ? "no" : NULL;
            point->values = arena_array(arena, sizeof *point->values, 1, _Alignof(double));
            for (unsigned m = 0; m < METRIC_COUNT; m++)
                point->values[0][m] = m == METRIC_tokens_per_s ? 10.0 * (double)(curve + p) : NAN;
        }
        study_optimum(&study, &list.optimum);
        FILE *out = open_memstream(&svg, &size);
        study_svg(&study, &list.optimum, out);
        fclose(out);
        assert_true((strstr(svg, "left out") != NULL) == (all[k].said != NULL));
        if (all[k].said != NULL && strstr(svg, all[k].said) == NULL)
            fail_msg("%zu curves: %s", all[k].curves, strstr(svg, "The best"));
        free(svg);
    }
}

/* The axis of a key speaks its unit. */
static void test_axis_of_a_key(void **state)
{
    static const struct {
        const char *vary, *tick;
    } all[] = {{"a=10GB/s..40GB/s:4", ">20 GB/s<"},
               {"a=1PFLOP/s..4PFLOP/s:log:4", ">2 PFLOP/s<"},
               {"a=1min..4min:4", ">2.0 min<"},
               {"a=1MUSD..4MUSD:log:4", ">2 M USD<"},
               {"a=10..40:4", ">20<"}};
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
        const double tokens[] = {100.0, 300.0, 200.0, 100.0};
        static char *svg;
        size_t size;
        make(all[k].vary, 1, tokens);
        study_optimum(&study, &list.optimum);
        FILE *out = open_memstream(&svg, &size);
        study_svg(&study, &list.optimum, out);
        fclose(out);
        assert_non_null(strstr(svg, all[k].tick));
        free(svg);
    }
}

static void test_long_words_of_a_figure(void **state)
{
    static const char long_key[] =
        "checkpoint.storage[0].node_write_bandwidth_of_all=as_wide_as_a_whole_name_can_be,"
        "and_another_word_of_the_same_width";
    static const char name[] = "A study whose name is far wider than the frame of its figure, and "
                               "which goes on for more than one line of the whole page above it";
    char *svg = figure(long_key, name, 300.0);
    stays_on_page(svg);
    assert_non_null(strstr(svg, ">A study whose name"));
    free(svg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_single_points, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_seeds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bars_of_what_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wide_labels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_values_as_typed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_place_between_points, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_all_alike, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_best_at_an_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_axis_of_a_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_covered_curves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_curves_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_best_of_few, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_words_of_a_figure, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
