/* Repairs that a failure log states become laws of their causes. */
#include <math.h>

#include "scenarios/import/failures/failure_fit.h"
#include "scenarios/import/failures/failure_format_kind.h"
#include "sim/units.h"
#include "tests/test.h"

static const struct failure_rules rules = {NAN, NAN, 32, 8, 10 * MINUTE, NULL};

static void test_causes_get_their_repairs(void **state)
{
    struct failure_fit *fits;
    uint32_t count;
    static char text[] = "at,unit_kind,unit,cause,repair\n"
                         "1d,gpu,1,HBM,2h\n2d,gpu,2,HBM,120min\n3d,gpu,3,HBM,\n"
                         "4d,gpu,4,HBM,0s\n"
                         "5d,node,1,PSU,1h\n6d,node,2,PSU,5h\n6.5d,node,3,PSU,1h\n"
                         "7d,nic,1,link,\n";

    struct arena *arena = arena_create();
    struct failure_log log;
    struct error error;
    assert_true(failure_log_read(arena, (struct import_file){"log", text, sizeof text - 1},
                                 &failure_format_csv, &rules, &log, &error));
    assert_true(failure_fit(arena, &log, &rules, &fits, &count, &error));
    assert_int_equal(count, 3);
    assert_string_equal(fits[0].cause, "HBM");
    assert_int_equal(fits[0].repair.told, 2);
    assert_int_equal(fits[0].repair.in_place, 1);
    assert_int_equal(fits[0].repair.fit.duration.law, DURATION_FIXED);
    assert_true(fits[0].repair.fit.duration.mean_s == 2 * HOUR);
    assert_string_equal(fits[1].cause, "PSU"); /* three: no law with a shape */
    assert_int_equal(fits[1].repair.told, 3);
    assert_int_equal(fits[1].repair.fit.duration.law, DURATION_EXPONENTIAL);
    assert_true(fabs(fits[1].repair.fit.duration.mean_s - 7 * HOUR / 3) < 1e-6);
    assert_int_equal(fits[2].repair.told + fits[2].repair.in_place, 0);
    arena_destroy(arena);
}

/* Repairs at the quantiles of a law: its own law wins, with its mean and shape. */
static void test_repairs_give_their_law_back(void **state)
{
    enum {
        REPAIRS = 400
    };
    static const struct duration laws[] = {{DURATION_EXPONENTIAL, 3 * HOUR, 0.0},
                                           {DURATION_LOGNORMAL, 5 * HOUR, 0.7},
                                           {DURATION_WEIBULL, 2 * HOUR, 2.5},
                                           {DURATION_GAMMA, 8 * HOUR, 4.0}};
    for (unsigned l = 0; l < sizeof laws / sizeof laws[0]; l++) {
        struct failure_record rows[REPAIRS];
        struct arena *arena = arena_create();
        struct failure_fit *fits;
        struct error error;
        uint32_t count;
        for (unsigned i = 0; i < REPAIRS; i++) {
            const double s = duration_quantile_s(&laws[l], (i + 0.5) / REPAIRS);
            rows[i] = (struct failure_record){i * DAY, UNIT_NODE, i % 4, "PSU", s};
        }
        const struct failure_log log = {.rows = rows, .count = REPAIRS, .watched_s = 400 * DAY};
        assert_true(failure_fit(arena, &log, &rules, &fits, &count, &error));
        const struct duration_fit *fit = &fits[0].repair.fit;
        assert_int_equal(fits[0].repair.told, REPAIRS);
        assert_int_equal(fit->duration.law, laws[l].law);
        assert_true(fabs(fit->duration.mean_s / laws[l].mean_s - 1.0) < fit->mean_error);
        assert_true(fit->mean_error > 0.01 && fit->mean_error < 0.1);
        if (duration_has_shape(laws[l].law))
            assert_true(fabs(fit->duration.shape / laws[l].shape - 1.0) < fit->shape_error);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_causes_get_their_repairs),
        cmocka_unit_test(test_repairs_give_their_law_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
