/* Each term of the widths, on rows so few that it is counted by hand. */
#include <math.h>

#include "spread.h"
#include "tests/test.h"

static const double half_width = 1.2815515655446004; /* 80 % of a normal */
static const double quartiles = 1.3489795003921634;  /* between those of a normal */

enum {
    ROWS_MAX = 64
};
static struct spread_row rows[ROWS_MAX];
static size_t count;

static struct spread_row *add(unsigned source, enum nearness nearness, double log_error)
{
    assert_true(count < ROWS_MAX);
    rows[count] =
        (struct spread_row){.key = {source}, .nearness = nearness, .log_error = log_error};
    return &rows[count++];
}

static struct spread estimate(void)
{
    struct arena *arena = arena_create();
    struct spread out;
    assert_true(spread_estimate(arena, rows, count, NULL, &out));
    arena_destroy(arena);
    count = 0;
    return out;
}

static void is(double got, double expected)
{
    if (!(fabs(got - expected) < 1e-9))
        fail_msg("%.12g is not %.12g", got, expected);
}

static double mean_size(void)
{
    return sqrt(acos(-1.0) / 2.0); /* deviation of a normal over its mean size */
}

/* Of .1 to .4 the quartiles are .15 apart, of 0, .3, .. 1.2 they are .6; the median of their
 * variances is the mean of both. Three rows tell no quartiles. */
static void test_scatter_around_sources(void **state)
{
    for (unsigned i = 0; i < 4; i++)
        add(0, NEAR_RUN, 0.1 * (i + 1));
    for (unsigned i = 0; i < 5; i++)
        add(1, NEAR_RUN, 0.3 * i);
    for (unsigned i = 0; i < 3; i++)
        add(2, NEAR_RUN, 5.0 * i);
    const double narrow = pow(0.15 / quartiles, 2), wide = pow(0.6 / quartiles, 2);
    is(estimate().within, sqrt(0.5 * (narrow + wide)));
}

/* One source of four rows: its shift of .25, less what four rows that scatter make of none. The
 * interval lets the fourth row in, however the width is made up. */
static void test_scatter_is_no_shift(void **state)
{
    for (unsigned i = 0; i < 4; i++)
        add(0, NEAR_RUN, 0.1 * (i + 1));
    const struct spread s = estimate();
    const double within = 0.15 / quartiles, size = sqrt(0.25 * 0.25 - within * within / 4.0);
    is(s.between[NEAR_RUN], mean_size() * size);
    is(s.own[NEAR_RUN] * half_width, 0.4);
    is(s.own[NEAR_RUN], s.factor * hypot(within, mean_size() * size));
}

/* Sizes .1 near, .3 and .5 far: of all .3. Each is drawn to that as by two sources. */
static void test_few_sources_are_drawn_to_all(void **state)
{
    add(0, NEAR_RUN, 0.1);
    add(1, NEAR_NOTHING, -0.3);
    add(2, NEAR_NOTHING, 0.5);
    const struct spread s = estimate();
    is(s.between[NEAR_RUN] / mean_size(), (0.1 + 2 * 0.3) / 3);
    for (unsigned k = NEAR_LAYOUT; k <= NEAR_MACHINE; k++)
        is(s.between[k] / mean_size(), 0.3);
    is(s.between[NEAR_NOTHING] / mean_size(), (0.3 + 0.5 + 2 * 0.3) / 4);
    assert_int_equal(s.sources[NEAR_NOTHING], 2);
    assert_int_equal(s.sources[NEAR_LAYOUT], 0);
}

/* A source that was left out in two ways: at one nearness it is half a source each time, at two it
 * is one at each. */
static void test_ways_of_one_source(void **state)
{
    add(0, NEAR_RUN, 0.1);
    add(0, NEAR_RUN, 0.3)->way = 1;
    add(1, NEAR_RUN, 0.5);
    is(estimate().between[NEAR_RUN] / mean_size(), (0.2 + 0.5 + 2 * 0.35) / 4);
    add(0, NEAR_RUN, 0.1);
    add(0, NEAR_NOTHING, 0.5)->way = 1;
    is(estimate().between[NEAR_RUN] / mean_size(), (0.1 + 2 * 0.3) / 3);
}

/* Nearest .2 (one source), then .8 (one), then .01 (six), and 1 from nothing: means .2193, .4193,
 * .0647, .2289 twice, .4859. The third pulls the second below the first, so that the three are one:
 * weighed by sources and the two that each is drawn by. */
static void test_no_nearness_is_narrower_than_a_nearer_one(void **state)
{
    add(0, NEAR_RUN, 0.2);
    add(1, NEAR_LAYOUT, 0.8);
    for (unsigned i = 0; i < 6; i++)
        add(2 + i, NEAR_CARD, 0.01);
    add(8, NEAR_NOTHING, 1.0);
    const struct spread s = estimate();
    const double drawn = 2 * (0.2 + 0.8 + 0.06 + 1.0) / 9;
    const double pooled = ((0.2 + drawn) + (0.8 + drawn) + (0.06 + drawn)) / (3 + 3 + 8);
    for (unsigned k = NEAR_RUN; k <= NEAR_CARD; k++)
        is(s.between[k] / mean_size(), pooled);
    is(s.between[NEAR_SOFTWARE] / mean_size(), drawn / 2);
    is(s.between[NEAR_MACHINE] / mean_size(), drawn / 2);
    is(s.between[NEAR_NOTHING] / mean_size(), (1.0 + drawn) / 3);
}

/* Of n + 1 sources 80 % are let in, one of which is yet to come: of nine the eighth rules, of ten
 * and of four (or fewer) the next to that; beside what the figures tell. A source that was left out
 * in two ways is one. */
static void test_the_share_that_is_let_in(void **state)
{
    static const struct {
        unsigned sources, rules;
    } cases[] = {{9, 8}, {10, 9}, {14, 12}, {4, 4}, {3, 3}, {1, 1}};
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++)
        for (unsigned ways = 1; ways <= 2; ways++)
            for (unsigned figures = 0; figures < 2; figures++) {
                for (unsigned i = 0; i < cases[k].sources * ways; i++) {
                    struct spread_row *row = add(i / ways, NEAR_RUN, 0.1 * (i / ways + 1));
                    row->figure_spread = figures ? 0.05 : 0.0;
                    row->way = i % ways;
                }
                const double whole = 0.1 * cases[k].rules / half_width;
                is(estimate().own[NEAR_RUN], sqrt(whole * whole - (figures ? 0.0025 : 0.0)));
            }
}

/* Rows of a class, beside a plain one whose interval is .1 wide: by the share, 80 % of its sources;
 * the rows of one source are one together. */
static void test_a_class_by_its_share(void **state)
{
    const double own = 0.1, figures = 0.2;
    for (unsigned of = 0; of < CLASS_LEARNED; of++) {
        add(0, NEAR_RUN, own * half_width);
        for (unsigned i = 0; i < 5; i++) {
            struct spread_row *row = add(1 + i, NEAR_RUN, i < 3 ? 0.0 : 1.0);
            row->is[of] = true;
            row->figure_spread = figures;
        }
        for (unsigned i = 0; i < 9; i++) /* ten of a source that is right are one */
            add(1, NEAR_RUN, 0.0)->is[of] = true;
        const struct spread s = estimate();
        is(s.classes[of], sqrt(1.0 / (half_width * half_width) - own * own - figures * figures));
        for (unsigned k = 0; k < CLASS_LEARNED; k++)
            if (k != of)
                is(s.classes[k], of == CLASS_NATIVE && k == CLASS_FRAMEWORK ? s.classes[of] : 0.0);
    }
}

/* A framework that was not measured may be PyTorch's own: not narrower, by its own rows wider. */
static void test_an_unmeasured_framework(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        add(0, NEAR_RUN, 0.1 * half_width);
        add(1, NEAR_RUN, 1.0)->is[CLASS_NATIVE] = true;
        add(2, NEAR_RUN, i == 0 ? 0.5 : 2.0)->is[CLASS_FRAMEWORK] = true;
        const struct spread s = estimate();
        const double native = pow(1.0 / half_width, 2) - 0.01;
        is(s.classes[CLASS_NATIVE], sqrt(native));
        is(s.classes[CLASS_FRAMEWORK], sqrt(i == 0 ? native : pow(2.0 / half_width, 2) - 0.01));
    }
}

/* A row of two classes, learned or not, tells of neither and is not plain. */
static void test_rows_of_several_classes(void **state)
{
    add(0, NEAR_RUN, 0.1 * half_width);
    for (unsigned k = 0; k < CLASS_COUNT; k++) {
        struct spread_row *row = add(1 + k, NEAR_RUN, 3.0);
        row->is[k] = row->is[CLASS_LAYERS] = true;
        row->is[CLASS_PRECISION] |= k == CLASS_LAYERS;
    }
    const struct spread s = estimate();
    is(s.own[NEAR_RUN], 0.1);
    for (unsigned k = 0; k < CLASS_LEARNED; k++)
        is(s.classes[k], 0.0);
}

/* Four sources of one row that are right are 80 % of five; of twelve rows they are a third. */
static void test_a_class_by_its_rows(void **state)
{
    const double own = 0.1, figures = 0.2;
    add(0, NEAR_RUN, own * half_width);
    for (unsigned i = 0; i < 12; i++) {
        struct spread_row *row = add(i < 4 ? 1 + i : 5, NEAR_RUN, i < 4 ? 0.0 : 1.0);
        row->is[CLASS_EXPERTS] = true;
        row->figure_spread = figures;
    }
    const double asked = 1.0 / (half_width * half_width);
    is(estimate().classes[CLASS_EXPERTS], sqrt(asked - own * own - figures * figures));
}

/* A class's rows that are left out tell nothing of it, nor do they count as part of a source: of
 * those that stay one of source 1 is wide, nine of source 2 are less so. */
static void test_a_class_without_what_is_left_out(void **state)
{
    struct arena *arena = arena_create();
    struct spread s;
    const double own = 0.1;
    add(0, NEAR_RUN, own * half_width)->key[1] = 1;
    for (unsigned i = 0; i < 14; i++) {
        struct spread_row *row = add(i < 5 ? 1 : 2, NEAR_RUN, i < 4 ? 3.0 : i < 5 ? 0.9 : 0.5);
        row->way = 1;
        row->key[1] = i < 4 ? 7 : 8; /* the first four are left out by the second key */
        row->is[CLASS_NATIVE] = true;
    }
    assert_true(spread_estimate(arena, rows, count, &rows[1], &s));
    is(s.classes[CLASS_NATIVE], sqrt(pow(0.9 / half_width, 2) - own * own));
    arena_destroy(arena);
    count = 0;
}

/* Differences .1, .3, .4 of one group and .2 of another: .3 holds two thirds and all, which is more
 * than 80 %; .2 holds a third and all. Rows of one group do not stand together. */
static void test_pairs_count_by_groups(void **state)
{
    static const struct spread_member members[] = {
        {"x", 0.0}, {"x", 0.1}, {"y", 9.0}, {"x", 0.4}, {"y", 9.2}};
    is(spread_of_pairs(members, 5) * half_width, 0.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scatter_around_sources),
        cmocka_unit_test(test_scatter_is_no_shift),
        cmocka_unit_test(test_few_sources_are_drawn_to_all),
        cmocka_unit_test(test_ways_of_one_source),
        cmocka_unit_test(test_no_nearness_is_narrower_than_a_nearer_one),
        cmocka_unit_test(test_the_share_that_is_let_in),
        cmocka_unit_test(test_a_class_by_its_share),
        cmocka_unit_test(test_an_unmeasured_framework),
        cmocka_unit_test(test_rows_of_several_classes),
        cmocka_unit_test(test_a_class_by_its_rows),
        cmocka_unit_test(test_a_class_without_what_is_left_out),
        cmocka_unit_test(test_pairs_count_by_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
