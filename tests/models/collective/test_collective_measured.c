/* Measured collectives: a measured buffer takes its time, between two the ratio to the model goes
 * in a straight line of logarithms, beyond it ends; other groups are the model's. */
#include <math.h>

#include "models/collective/collective_measured.h"
#include "sim/units.h"
#include "tests/test.h"

static const struct group_shape group = {
    .ranks = 8,
    .nodes = 1,
    .ranks_per_node = 8,
    .even = true,
    .start_s = 16 * MICROSECOND,
    .inside.bytes_per_s = 450 * GIGA,
    .inside.latency_s = 1 * MICROSECOND,
    .inside.nvlink = true,
};

static void expect_near(double value, double wanted, double slack)
{
    if (!(fabs(value - wanted) <= slack))
        fail_msg("%.17g is not %.17g", value, wanted);
}

static double modelled_s(double bytes)
{
    struct collective_plan plan;
    collective_tune(COMM_ALL_REDUCE, &group, bytes, &plan);
    return plan.time_s;
}

static struct collective_plan choose(const struct collective_points *points,
                                     const struct group_shape *shape, double bytes)
{
    struct collective_plan plan;
    collective_choose(points, COMM_ALL_REDUCE, shape, bytes, &plan);
    return plan;
}

/* Ratios to the model: 1.5 at 1 MiB, 2 at 16 MiB, 1.2 at 1 GiB. */
static void fill(struct collective_point rows[3])
{
    const double bytes[] = {MIB, 16 * MIB, GIB}, ratios[] = {1.5, 2.0, 1.2};
    for (unsigned i = 0; i < 3; i++)
        rows[i] = (struct collective_point){COMM_ALL_REDUCE, 8, 1, bytes[i],
                                            ratios[i] * modelled_s(bytes[i])};
}

static void check_time(struct collective_plan plan, double bytes, double ratio,
                       enum collective_basis basis)
{
    assert_int_equal(plan.basis, basis);
    expect_near(plan.time_s / modelled_s(bytes), ratio, 1e-12);
    expect_near((plan.latency_s + bytes / plan.cap_bytes_per_s) / plan.time_s, 1.0, 1e-12);
    assert_true(plan.latency_s >= 0.0 && plan.latency_s < plan.time_s);
}

static void test_a_measured_buffer_takes_its_time(void **state)
{
    struct collective_point rows[3];
    fill(rows);
    const struct collective_points points = {rows, 3};
    check_time(choose(&points, &group, MIB), MIB, 1.5, COLLECTIVE_MEASURED);
    check_time(choose(&points, &group, GIB), GIB, 1.2, COLLECTIVE_MEASURED);
    /* Half way between 1 and 16 MiB in octaves: the geometric mean of the ratios. */
    check_time(choose(&points, &group, 4 * MIB), 4 * MIB, sqrt(3.0), COLLECTIVE_INTERPOLATED);
    /* 16 MiB and 1 GiB are further than a factor of 16 apart. */
    check_time(choose(&points, &group, 128 * MIB), 128 * MIB, sqrt(2.4), COLLECTIVE_EXTRAPOLATED);
}

static void test_beyond_the_ends_the_ratio_goes_on_for_two_octaves(void **state)
{
    struct collective_point rows[3];
    fill(rows);
    const struct collective_points points = {rows, 3};
    check_time(choose(&points, &group, 4 * GIB), 4 * GIB, 1.2, COLLECTIVE_EXTRAPOLATED);
    check_time(choose(&points, &group, MIB / 4), MIB / 4, 1.5, COLLECTIVE_EXTRAPOLATED);
    check_time(choose(&points, &group, 5 * GIB), 5 * GIB, 1.0, COLLECTIVE_MODELLED);
    check_time(choose(&points, &group, MIB / 5), MIB / 5, 1.0, COLLECTIVE_MODELLED);
    check_time(choose(&(struct collective_points){rows, 1}, &group, MIB), MIB, 1.5,
               COLLECTIVE_MEASURED);
    check_time(choose(&(struct collective_points){NULL, 0}, &group, MIB), MIB, 1.0,
               COLLECTIVE_MODELLED);
}

static void test_other_groups_are_the_models(void **state)
{
    struct collective_point rows[3];
    struct group_shape other = group;
    fill(rows);
    const struct collective_points points = {rows, 3};
    other.ranks = other.ranks_per_node = 4;
    assert_int_equal(choose(&points, &other, MIB).basis, COLLECTIVE_MODELLED);
    other = group;
    other.nodes = 2;
    other.ranks_per_node = 4;
    other.outside_bytes_per_s = 50 * GIGA;
    assert_int_equal(choose(&points, &other, MIB).basis, COLLECTIVE_MODELLED);
    other.ranks = 1;
    other.nodes = other.ranks_per_node = 1;
    expect_near(choose(&points, &other, MIB).time_s, 0.0, 0.0);
    struct collective_plan plan;
    collective_choose(&points, COMM_ALL_GATHER, &group, MIB, &plan);
    assert_int_equal(plan.basis, COLLECTIVE_MODELLED);
    /* With its own rows beside those of others it finds them. */
    struct collective_point all[4] = {rows[0], rows[1], rows[2], {COMM_ALL_GATHER, 8, 1, MIB, 1.0}};
    assert_int_equal(choose(&(struct collective_points){all, 4}, &group, MIB).basis,
                     COLLECTIVE_MEASURED);
    collective_choose(&(struct collective_points){all, 4}, COMM_ALL_GATHER, &group, MIB, &plan);
    expect_near(plan.time_s, 1.0, 0.0);
}

static void test_rows_alike_become_one(void **state)
{
    struct collective_point rows[] = {
        {COMM_ALL_REDUCE, 8, 1, 100.0, 4.0}, {COMM_ALL_REDUCE, 8, 2, 100.0, 5.0},
        {COMM_ALL_REDUCE, 8, 1, 50.0, 3.0},  {COMM_ALL_REDUCE, 8, 1, 100.0, 9.0},
        {COMM_ALL_REDUCE, 4, 1, 100.0, 7.0},
    };
    assert_int_equal(collective_points_sort(rows, 5), 4);
    assert_int_equal(rows[0].ranks, 4);
    expect_near(rows[1].bytes, 50.0, 0.0);
    expect_near(rows[2].time_s, 6.0, 1e-12); /* sqrt(4 x 9) */
    assert_int_equal(rows[3].nodes, 2);
    assert_int_equal(collective_points_sort(rows, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_measured_buffer_takes_its_time),
        cmocka_unit_test(test_beyond_the_ends_the_ratio_goes_on_for_two_octaves),
        cmocka_unit_test(test_other_groups_are_the_models),
        cmocka_unit_test(test_rows_alike_become_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
