/* Change points: against a search through all ways to cut, with the cost as the paper writes it;
 * and of drawn series, how often a change that is there is found, and one that is not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/watch/change_points.h"
#include "analysis/watch/drift.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    SMALL_MOST = 64
};

/* Quantiles and shares in floating point, of every segment anew: nothing of the code is shared. */
struct naive {
    const double *values;
    unsigned count, quantiles;
    double at[SMALL_MOST];
    double cost[SMALL_MOST][SMALL_MOST + 1];
};

static int order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double part(double share)
{
    return share > 0.0 ? share * log(share) : 0.0;
}

static double naive_cost(const struct naive *n, unsigned first, unsigned end)
{
    double sum = 0.0;
    for (unsigned k = 0; k < n->quantiles; k++) {
        double below = 0.0;
        for (unsigned i = first; i < end; i++)
            below += n->values[i] < n->at[k] ? 1.0 : n->values[i] == n->at[k] ? 0.5 : 0.0;
        const double share = below / (end - first);
        sum += (end - first) * (part(share) + part(1.0 - share));
    }
    return -2.0 * log(2.0 * n->count - 1.0) / n->quantiles * sum;
}

static void naive_begin(struct naive *n, const double *values, unsigned count)
{
    double sorted[SMALL_MOST];
    const double c = -log(2.0 * count - 1.0);
    *n = (struct naive){.values = values,
                        .count = count,
                        .quantiles = (unsigned)fmin(count, ceil(4.0 * log(count)))};
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, order);
    for (unsigned k = 1; k <= n->quantiles; k++) {
        const double p =
            1.0 / (1.0 + (2.0 * count - 1.0) * exp(c / n->quantiles * (2.0 * k - 1.0)));
        n->at[k - 1] = sorted[(unsigned)floor((count - 1) * p)];
    }
    for (unsigned first = 0; first < count; first++)
        for (unsigned end = first + 1; end <= count; end++)
            n->cost[first][end] = naive_cost(n, first, end);
}

/* The least over all ways to cut what is left from `first` on. */
static double naive_least(const struct naive *n, unsigned first)
{
    double least = n->cost[first][n->count];
    for (unsigned cut = first + CHANGE_POINTS_LEAST; cut + CHANGE_POINTS_LEAST <= n->count; cut++)
        least = fmin(least, n->cost[first][cut] + 5.0 * log(n->count) + naive_least(n, cut));
    return least;
}

static double found_cost(const struct naive *n, const uint32_t *cuts, uint32_t count)
{
    double sum = 5.0 * log(n->count) * count;
    for (uint32_t i = 0; i <= count; i++) {
        const unsigned first = i > 0 ? cuts[i - 1] : 0, end = i < count ? cuts[i] : n->count;
        assert_true(end >= first + CHANGE_POINTS_LEAST || count == 0);
        sum += n->cost[first][end];
    }
    return sum;
}

static unsigned below(struct random_stream *r, unsigned count)
{
    return (unsigned)(random_uniform(r) * count);
}

/* Levels, spreads, steps between, ties: whatever, the search finds what costs least. */
static void test_exact(void **state)
{
    static struct naive n;
    struct arena *arena = arena_create();
    struct random_stream *r = random_create(arena, 7, 0, "change points");
    unsigned cut = 0;
    for (unsigned round = 0; round < 120; round++) {
        double values[SMALL_MOST];
        const unsigned count = 2 + below(r, SMALL_MOST - 8);
        const unsigned at = below(r, count), to = at + below(r, count);
        for (unsigned i = 0; i < count; i++) {
            values[i] = random_normal(r) + (i >= at && i < to ? 1.0 + 3.0 * (round % 3) : 0.0);
            if (round % 4 == 0)
                values[i] = floor(values[i]);
        }
        uint32_t *cuts;
        const uint32_t found = change_points_find(arena, values, count, &cuts);
        naive_begin(&n, values, count);
        const double least = naive_least(&n, 0), got = found_cost(&n, cuts, found);
        if (fabs(got - least) > 1e-9 * fabs(least) + 1e-9)
            fail_msg("round %u: %.12g, not %.12g", round, got, least);
        cut += found;
    }
    assert_true(cut > 30);
    arena_destroy(arena);
}

/* A start that is behind another by more than the penalty comes back while that one's segment is
 * too short to end: of 2,700 series of few values one tells. */
static void test_starts_that_come_back(void **state)
{
    static const double rows[2][36] = {
        {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0},
        {0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2,
         2, 1, 4, 3, 3, 3, 3, 3, 6, 3, 3, 3, 0, 0, 0, 0, 0, 0}};
    static const unsigned counts[2] = {29, 36};
    static struct naive n;
    struct arena *arena = arena_create();
    for (unsigned i = 0; i < 2; i++) {
        uint32_t *cuts;
        const uint32_t found = change_points_find(arena, rows[i], counts[i], &cuts);
        naive_begin(&n, rows[i], counts[i]);
        assert_true(fabs(found_cost(&n, cuts, found) - naive_least(&n, 0)) < 1e-9);
    }
    arena_destroy(arena);
}

struct rate {
    struct arena *arena;
    struct random_stream *random;
    double *values;
};

static uint32_t draw(const struct rate *r, unsigned count, unsigned at, double shift,
                     uint32_t **cuts)
{
    for (unsigned i = 0; i < count; i++)
        r->values[i] = 3.0 + 0.02 * (random_normal(r->random) + (i >= at ? shift : 0.0));
    return change_points_find(r->arena, r->values, count, cuts);
}

/* Noise alone: a change in fewer than one series in twenty. A shift of three standard deviations:
 * found alone, within two values of its place, in nineteen of twenty. */
static void test_rates(void **state)
{
    enum {
        ROUNDS = 100
    };
    static const unsigned counts[] = {20, 60, 200, 600};
    for (unsigned n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        struct arena *arena = arena_create();
        const struct rate r = {arena, random_create(arena, 11, n, "rates"),
                               ARENA_ARRAY(arena, double, counts[n])};
        unsigned false_ones = 0, found = 0;
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint32_t *cuts;
            const unsigned at = counts[n] / 3 + round;
            false_ones += draw(&r, counts[n], 0, 0.0, &cuts) > 0;
            if (at + 20 > counts[n])
                continue;
            const uint32_t many = draw(&r, counts[n], at, 3.0, &cuts);
            found += many == 1 && cuts[0] + 2 >= at && cuts[0] <= at + 2;
        }
        const unsigned asked = counts[n] == 20 ? 0 : counts[n] == 60 ? 21 : ROUNDS; /* 20 to 40 */
        print_message("%u values: %u false, %u of %u found\n", counts[n], false_ones, found, asked);
        assert_true(false_ones < ROUNDS / 20);
        assert_true(found * 20 >= asked * 19);
        arena_destroy(arena);
    }
}

/* Steps of a week: more values than are cut exactly, five changes, slow values alone. */
static void test_long(void **state)
{
    enum {
        COUNT = 50000
    };
    static const uint32_t at[] = {10007, 11300, 30000, 30120, 41234}; /* 120: five blocks */
    static const double level[] = {3.0, 3.2, 3.1, 3.4, 3.1, 3.3};
    struct arena *arena = arena_create();
    struct random_stream *r = random_create(arena, 13, 0, "long");
    double *values = ARENA_ARRAY(arena, double, COUNT);
    uint32_t *cuts;
    unsigned of = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        of += of < 5 && i == at[of];
        values[i] = level[of] * (1.0 + 0.005 * random_normal(r)) * (i % 997 == 0 ? 2.0 : 1.0);
    }
    assert_int_equal(change_points_find(arena, values, COUNT, &cuts), 5);
    for (unsigned i = 0; i < 5; i++)
        if (cuts[i] + 2 < at[i] || cuts[i] > at[i] + 2)
            fail_msg("a change at %u, not at %u", cuts[i], at[i]);
    arena_destroy(arena);
}

static void test_constant(void **state)
{
    struct arena *arena = arena_create();
    double *values = ARENA_ARRAY(arena, double, 5000);
    uint32_t *cuts;
    struct drift drift;
    for (unsigned i = 0; i < 5000; i++)
        values[i] = 3.1;
    for (unsigned count = 0; count < 5000; count += 1 + count / 3)
        assert_int_equal(change_points_find(arena, values, count, &cuts), 0);
    drift_find(arena, values, values, 5000, &drift);
    assert_true(drift.z == 0.0 && !drift.sure);
    arena_destroy(arena);
}

/* Ten values by hand: 1 2 3 4 5 6 7 8 10 9 has 44 pairs that go up and 1 that goes down: S = 43,
 * Var = 10 9 25 / 18 = 125, z = 42 / sqrt(125). With 5 5 in the place of 5 6: S = 42 (44 pairs up
 * less the tie and the one down: 43 - 1), Var = (2250 - 2 1 9) / 18 = 124. */
static void test_drift_by_hand(void **state)
{
    static const double x[] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18};
    static const double up[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 9};
    static const double tie[] = {1, 2, 3, 4, 5, 5, 7, 8, 10, 9};
    struct arena *arena = arena_create();
    struct drift drift;
    double down[10];
    drift_find(arena, x, up, 10, &drift);
    assert_true(fabs(drift.z - 42.0 / sqrt(125.0)) < 1e-12 && drift.sure);
    assert_true(fabs(drift.slope - 0.5) < 1e-12);
    drift_find(arena, x, tie, 10, &drift);
    assert_true(fabs(drift.z - 41.0 / sqrt(124.0)) < 1e-12);
    drift_find(arena, x, up, 9, &drift);
    assert_true(drift.z == 0.0 && drift.slope == 0.0 && !drift.sure);
    for (unsigned i = 0; i < 10; i++) /* what falls is the mirror of what rises */
        down[i] = -tie[i];
    drift_find(arena, x, down, 10, &drift);
    assert_true(fabs(drift.z + 41.0 / sqrt(124.0)) < 1e-12 && drift.sure);
    assert_true(fabs(drift.slope + 0.5) < 1e-12);
    /* Seven inversions of ten: S = 31, z = 2.68; eight: S = 29, 2.50; one in a hundred: 2.576. */
    static const double seven[] = {8, 1, 2, 3, 4, 5, 6, 7, 9, 10};
    static const double eight[] = {9, 1, 2, 3, 4, 5, 6, 7, 8, 10};
    drift_find(arena, x, seven, 10, &drift);
    assert_true(fabs(drift.z - 30.0 / sqrt(125.0)) < 1e-12 && drift.sure);
    drift_find(arena, x, eight, 10, &drift);
    assert_true(fabs(drift.z - 28.0 / sqrt(125.0)) < 1e-12 && !drift.sure);
    arena_destroy(arena);
}

/* One way in a hundred. */
static void test_drift_rates(void **state)
{
    struct arena *arena = arena_create();
    struct random_stream *r = random_create(arena, 17, 0, "drift");
    double x[100], flat[100];
    unsigned false_ones = 0;
    for (unsigned round = 0; round < 400; round++) {
        struct drift drift;
        const struct arena_mark mark = arena_mark(arena);
        for (unsigned i = 0; i < 100; i++) {
            x[i] = 10.0 * i;
            flat[i] = 3.0 + 0.015 * random_normal(r);
        }
        drift_find(arena, x, flat, 100, &drift);
        false_ones += drift.sure;
        arena_rewind(arena, mark);
    }
    assert_true(false_ones >= 1 && false_ones <= 12); /* of 4, Poisson: 99.9 % */
    arena_destroy(arena);
}

/* 1 % over 10,000 steps in noise of 0.5 %: found, and how fast. A long series is that of the
 * medians of its blocks: 4 and 3 of 1000 values in turn, as 256 parts divide them. */
static void test_drift_of_blocks(void **state)
{
    enum {
        COUNT = 1000
    };
    struct arena *arena = arena_create();
    struct random_stream *r = random_create(arena, 18, 0, "drift");
    double x[COUNT], y[COUNT], xs[DRIFT_BLOCKS], ys[DRIFT_BLOCKS];
    for (unsigned round = 0; round < 12; round++) {
        struct drift drift, blocks;
        for (unsigned i = 0; i < COUNT; i++) {
            x[i] = 10.0 * i;
            y[i] = 3.0 + 0.015 * random_normal(r) + 3e-6 * x[i];
        }
        drift_find(arena, x, y, COUNT, &drift);
        assert_true(drift.sure && fabs(drift.slope / 3e-6 - 1.0) < 0.25);
        for (unsigned b = 0; b < DRIFT_BLOCKS; b++) {
            const unsigned first = COUNT * b / DRIFT_BLOCKS, next = COUNT * (b + 1) / DRIFT_BLOCKS;
            const unsigned count = next - first, low = (count - 1) / 2, high = count / 2;
            double sorted[4];
            assert_true(count == 3 || count == 4);
            memcpy(sorted, &y[first], count * sizeof *sorted);
            qsort(sorted, count, sizeof *sorted, order);
            ys[b] = 0.5 * (sorted[low] + sorted[high]);
            xs[b] = 0.5 * (x[first + low] + x[first + high]);
        }
        drift_find(arena, xs, ys, DRIFT_BLOCKS, &blocks);
        assert_true(drift.z == blocks.z && fabs(drift.slope / blocks.slope - 1.0) < 1e-9);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),       cmocka_unit_test(test_starts_that_come_back),
        cmocka_unit_test(test_rates),       cmocka_unit_test(test_long),
        cmocka_unit_test(test_constant),    cmocka_unit_test(test_drift_by_hand),
        cmocka_unit_test(test_drift_rates), cmocka_unit_test(test_drift_of_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
