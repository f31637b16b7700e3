/* The model's own error, estimated on residues that were planted, holds what it promises on sources
 * that are new; and what is planted wrong is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "sim/random.h"
#include "spread.h"

enum {
    SOURCES = 14,
    OF_SOURCE = 16, /* rows */
    ROWS = SOURCES * OF_SOURCE,
    WORLDS = 120
};
static const char *const names[SOURCES] = {"a", "b", "c", "d", "e", "f", "g",
                                           "h", "i", "j", "k", "l", "m", "n"};
static const double within = 0.05, figures = 0.03;
static const double between[NEARNESS_COUNT] = {0.04, 0.06, 0.1, 0.12, 0.2};

/* One world: sources each with a shift of its own, as wide as its nearness says; x `size`. */
static void plant(struct arena *arena, uint64_t world, double size, struct spread_row *out)
{
    struct random_stream *stream = random_create(arena, world, 0, "residues");
    for (unsigned s = 0; s < SOURCES; s++) {
        enum nearness nearness = (enum nearness)(s % NEARNESS_COUNT);
        double shift = between[nearness] * random_normal(stream);
        for (unsigned i = 0; i < OF_SOURCE; i++)
            out[s * OF_SOURCE + i] = (struct spread_row){
                .source = names[s],
                .nearness = nearness,
                .log_error = size * (shift + within * random_normal(stream) +
                                     figures * random_normal(stream)),
                .figure_spread = figures,
            };
    }
}

struct outcome {
    double covered, own[NEARNESS_COUNT], within;
};

/* What is estimated in one world is held to another; the mean over many. */
static struct outcome play(double size_of_estimated)
{
    struct outcome sum = {0};
    struct spread_row rows[ROWS], fresh[ROWS];
    for (uint64_t world = 0; world < WORLDS; world++) {
        struct arena *arena = arena_create();
        struct spread spread;
        plant(arena, 2 * world, size_of_estimated, rows);
        plant(arena, 2 * world + 1, 1.0, fresh);
        assert_true(spread_estimate(arena, rows, ROWS, NULL, &spread));
        sum.covered += spread_coverage(&spread, fresh, ROWS, NULL) / WORLDS;
        sum.within += spread.within / WORLDS;
        for (int k = 0; k < NEARNESS_COUNT; k++) {
            assert_true(k == 0 || spread.own[k] >= spread.own[k - 1]);
            sum.own[k] += spread.own[k] / WORLDS;
        }
        arena_destroy(arena);
    }
    return sum;
}

static void test_new_sources_are_covered(void **state)
{
    (void)state;
    struct outcome o = play(1.0);
    if (!(o.covered >= 0.75 && o.covered <= 0.9))
        fail_msg("80 %% intervals cover %.1f %% of new sources", 100.0 * o.covered);
    /* Rows scatter by what is planted, the figures' part included. */
    assert_true(fabs(o.within / hypot(within, figures) - 1.0) < 0.1);
    /* Drawn towards their mean, but still told apart. */
    assert_true(o.own[NEAR_NOTHING] > 1.4 * o.own[NEAR_LAYOUT]);
}

/* Residues of constants that have seen their rows are too small: planted, and noticed. */
static void test_residues_in_sample_do_not_cover(void **state)
{
    (void)state;
    assert_true(play(0.3).covered < 0.6);
    assert_true(play(3.0).covered > 0.95);
}

/* A source is judged by the others: one that is far off widens them, not the other way round. */
static void test_a_source_is_judged_by_the_others(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct spread_row rows[ROWS];
    struct spread all, others;
    plant(arena, 1, 1.0, rows);
    for (unsigned i = 0; i < OF_SOURCE; i++)
        rows[i].log_error += 1.0;
    assert_true(spread_estimate(arena, rows, ROWS, NULL, &all));
    assert_true(spread_estimate(arena, rows, ROWS, names[0], &others));
    assert_true(others.own[NEAR_LAYOUT] < 0.95 * all.own[NEAR_LAYOUT]);
    assert_true(spread_coverage(&others, rows, ROWS, names[0]) == 0.0);
    assert_true(spread_coverage_elsewhere(arena, rows, ROWS) <
                spread_coverage(&others, rows, ROWS, NULL) + 0.1);
    assert_false(spread_estimate(arena, rows, OF_SOURCE, names[0], &others));
    arena_destroy(arena);
}

/* Two groups: differences of one are .1, of the other none; a lone row has no pair. */
static void test_pairs(void **state)
{
    (void)state;
    static const struct spread_member members[] = {
        {"x", 0.3}, {"y", 0.1}, {"x", 0.4}, {"y", 0.1}, {"z", 9.0}};
    double found = spread_of_pairs(members, 5);
    assert_true(fabs(found * 1.2815515655446004 - 0.1) < 1e-9);
    assert_true(isnan(spread_of_pairs(members + 4, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_sources_are_covered),
        cmocka_unit_test(test_residues_in_sample_do_not_cover),
        cmocka_unit_test(test_a_source_is_judged_by_the_others),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
