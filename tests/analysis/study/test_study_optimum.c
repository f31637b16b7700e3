/* Where the best of a study lies: by means that were written out, not played. The value of a point
 * at place x is (x - c)^2 for the vertex c, so the parabola is known; noise is the same for every
 * point, or of one. */
#include <math.h>
#include <string.h>

#include "analysis/study/study.h"
#include "tests/test.h"

enum {
    POINTS = 11,
    SEEDS = 60
};
/* Metrics of which less is better, and more. */
static const enum study_metric lower = METRIC_step_time_s, higher = METRIC_tokens_per_s;

static struct arena *arena;

struct bench {
    struct study study;
    struct study_point points[POINTS];
    struct vary_value places[POINTS];
    double values[POINTS][SEEDS][METRIC_COUNT];
};

/* Points at 1, 2, ... 11 with the means of a parabola. */
static void begin(struct bench *b, double vertex, size_t seeds)
{
    memset(b, 0, sizeof *b);
    b->study = (struct study){.arena = arena,
                              .points = b->points,
                              .point_count = POINTS,
                              .vary_count = 1,
                              .objective = lower,
                              .varies = {{.values = b->places, .count = POINTS, .numeric = true}}};
    for (size_t p = 0; p < POINTS; p++) {
        const double x = (double)p + 1.0;
        b->places[p].number = x;
        b->points[p] =
            (struct study_point){.values = b->values[p], .replications = seeds, .fits = true};
        for (size_t s = 0; s < seeds; s++)
            b->values[p][s][lower] = 10.0 + (x - vertex) * (x - vertex);
    }
}

/* The seeds move the vertex by +-.1: by turns, so its mean stays. */
static void shake(struct bench *b, double vertex)
{
    for (size_t p = 0; p < POINTS; p++)
        for (size_t s = 0; s < SEEDS; s++) {
            const double x = (double)p + 1.0, c = vertex + (s / 20 % 3 == 0   ? -0.1
                                                            : s / 20 % 3 == 1 ? 0.0
                                                                              : 0.1);
            b->values[p][s][lower] = 10.0 + (x - c) * (x - c);
        }
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static void the_vertex_lies_between_points(void **state)
{
    struct bench b;
    struct study_optimum o;
    begin(&b, 5.3, 1);
    study_optimum(&b.study, &o);
    assert_true(o.found && o.point == 4 && !o.at_end && !o.too_far_apart);
    assert_int_equal(o.tied, 1);
    assert_true(near(o.value, 5.3) && isnan(o.low95) && isnan(o.high95));
}

static void more_may_be_better(void **state)
{
    struct bench b;
    struct study_optimum o;
    begin(&b, 5.3, 1);
    b.study.objective = higher;
    for (size_t p = 0; p < POINTS; p++)
        b.values[p][0][higher] = 100.0 - b.values[p][0][lower];
    study_optimum(&b.study, &o);
    assert_true(o.found && o.point == 4 && near(o.value, 5.3));
}

/* Of a logarithmic range the parabola is one of the logarithm. */
static void a_logarithmic_axis(void **state)
{
    struct bench b;
    struct study_optimum o;
    begin(&b, 5.3, 1);
    b.study.varies[0].log = true;
    for (size_t p = 0; p < POINTS; p++)
        b.places[p].number = exp((double)p + 1.0);
    study_optimum(&b.study, &o);
    assert_true(o.point == 4 && near(o.value, exp(5.3)));
}

/* Three points on each side have a say: what bends beyond them changes nothing; within them less
 * reach is taken, and where two do not fit either nothing is said. */
static void the_reach_of_the_parabola(void **state)
{
    struct bench b;
    struct study_optimum o;
    begin(&b, 5.3, 1);
    b.values[0][0][lower] += 50.0; /* four before the best */
    b.values[8][0][lower] += 50.0; /* four behind it */
    study_optimum(&b.study, &o);
    assert_true(near(o.value, 5.3) && !o.too_far_apart);
    begin(&b, 5.3, 1);
    b.values[8][0][lower] += 0.2; /* a little: a parabola of four on each side would fit */
    study_optimum(&b.study, &o);
    assert_true(near(o.value, 5.3));
    b.values[7][0][lower] += 0.2; /* and one of three does, so the third has a say */
    study_optimum(&b.study, &o);
    assert_true(!near(o.value, 5.3) && fabs(o.value - 5.3) < 0.1);
    b.values[7][0][lower] += 50.0; /* three behind */
    study_optimum(&b.study, &o);
    assert_true(near(o.value, 5.3) && !o.too_far_apart);
    b.values[6][0][lower] += 50.0; /* two behind */
    study_optimum(&b.study, &o);
    assert_true(isnan(o.value) && o.too_far_apart && o.point == 4);
}

static void ends_gaps_and_words_have_none(void **state)
{
    struct bench b;
    struct study_optimum o;
    begin(&b, 0.5, 1);
    study_optimum(&b.study, &o);
    assert_true(o.found && o.at_end && o.point == 0 && isnan(o.value));
    begin(&b, 12.0, 1);
    study_optimum(&b.study, &o);
    assert_true(o.found && o.at_end && o.point == POINTS - 1 && isnan(o.value));
    begin(&b, 5.3, 1);
    b.points[9].fits = false;
    study_optimum(&b.study, &o);
    assert_true(o.found && o.point == 4 && isnan(o.value));
    begin(&b, 5.3, 1);
    b.study.varies[0].numeric = false;
    study_optimum(&b.study, &o);
    assert_true(o.found && o.point == 4 && !o.at_end && isnan(o.value));
    begin(&b, 2.3, 1);
    b.study.point_count = 4; /* too few */
    study_optimum(&b.study, &o);
    assert_true(o.found && o.point == 1 && isnan(o.value));
    begin(&b, 5.3, 1);
    for (size_t p = 0; p < POINTS; p++)
        b.points[p].fits = false;
    study_optimum(&b.study, &o);
    assert_false(o.found);
    begin(&b, 5.3, 0);
    study_optimum(&b.study, &o);
    assert_false(o.found);
}

/* Groups of twenty seeds whose vertices are 5.2, 5.3 and 5.4: leaving out every twentieth seed
 * leaves the same mixture, so nothing spreads; seeds that alternate spread. */
static void the_interval_of_the_vertex(void **state)
{
    struct bench b;
    struct study_optimum o;
    begin(&b, 5.3, SEEDS);
    shake(&b, 5.3);
    study_optimum(&b.study, &o);
    assert_true(near(o.value, 5.3) && near(o.low95, 5.3) && near(o.high95, 5.3));
    /* Every twentieth seed has its vertex at 5.3 + 19 d: leaving it out moves the vertex of the
     * rest to 5.3, all others to 5.3 + d': a jackknife of two values, by hand. */
    const double d = 0.01;
    for (size_t p = 0; p < POINTS; p++)
        for (size_t s = 0; s < SEEDS; s++) {
            const double x = (double)p + 1.0, c = 5.3 + (s % 20 == 0 ? 19.0 * d : 0.0);
            b.values[p][s][lower] = 10.0 + (x - c) * (x - c);
        }
    study_optimum(&b.study, &o);
    /* The vertex of a mean of parabolas of one width is the mean of their vertices. */
    const double all = 5.3 + 19.0 * d / 20.0, without = 5.3, with = 5.3 + 19.0 * d / 19.0;
    const double mean = (without + 19.0 * with) / 20.0;
    const double squares =
        (without - mean) * (without - mean) + 19.0 * (with - mean) * (with - mean);
    const double half = 2.093024 * sqrt(squares * 19.0 / 20.0); /* Student's t, 19, 97.5 % */
    assert_true(near(o.value, all));
    assert_true(fabs(o.high95 - o.value - half) < 1e-6 && fabs(o.value - o.low95 - half) < 1e-6);
    begin(&b, 5.3, 39); /* too few seeds for groups of two */
    study_optimum(&b.study, &o);
    assert_true(near(o.value, 5.3) && isnan(o.low95));
}

/* A point is tied where the mean of paired differences is within its own 95 % interval. */
static void ties_are_of_pairs(void **state)
{
    struct bench b;
    struct study_optimum o;
    begin(&b, 5.3, SEEDS);
    for (size_t s = 0; s < SEEDS; s++) {
        const double common = s % 2 == 0 ? 100.0 : -100.0; /* of every point: no pair sees it */
        for (size_t p = 0; p < POINTS; p++)
            b.values[p][s][lower] += common;
        b.values[3][s][lower] = b.values[4][s][lower] + 0.1 + (s % 2 == 0 ? 1.0 : -1.0);
        b.values[9][s][lower] = b.values[4][s][lower] + 0.265 + (s % 2 == 0 ? 1.0 : -1.0);
    }
    study_optimum(&b.study, &o);
    /* Of +-1 in 60 pairs the interval is 2.0010 / sqrt(59) = .2605. */
    assert_int_equal(o.tied, 2);
    assert_true(o.tied_first == 3 && o.tied_last == 4);
}

/* Where points between the ends are as good as one of these, or all are alike, no end is to be
 * widened, and where all are alike no value between them is the best. */
static void ties_at_an_end(void **state)
{
    static const struct {
        size_t first, last; /* the points that are alike, and better than the rest */
        bool at_end;
    } all[] = {{0, 0, true},
               {0, 1, false},
               {0, POINTS - 1, false},
               {POINTS - 1, POINTS - 1, true},
               {POINTS - 3, POINTS - 1, false}};
    for (unsigned seeds = 1; seeds <= SEEDS; seeds += SEEDS - 1) {
        for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
            struct bench b;
            struct study_optimum o;
            begin(&b, 5.3, seeds);
            for (size_t p = 0; p < POINTS; p++)
                for (size_t s = 0; s < seeds; s++)
                    b.values[p][s][lower] = p >= all[k].first && p <= all[k].last ? 1.0 : 2.0;
            study_optimum(&b.study, &o);
            assert_true(o.found && o.at_end == all[k].at_end && isnan(o.value));
            assert_int_equal(o.tied, all[k].last - all[k].first + 1);
            assert_true(o.all_tied == (o.tied == POINTS));
            for (size_t p = 0; p < POINTS; p++)
                assert_true(o.is_tied[p] == (p >= all[k].first && p <= all[k].last));
        }
    }
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vertex_lies_between_points),
        cmocka_unit_test(more_may_be_better),
        cmocka_unit_test(a_logarithmic_axis),
        cmocka_unit_test(the_reach_of_the_parabola),
        cmocka_unit_test(ends_gaps_and_words_have_none),
        cmocka_unit_test(the_interval_of_the_vertex),
        cmocka_unit_test(ties_are_of_pairs),
        cmocka_unit_test(ties_at_an_end),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
