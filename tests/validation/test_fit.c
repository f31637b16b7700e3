/* The fit finds constants that were planted, and the intervals of predictions cover what they say,
 * on the rows of steps.csv that are simulated fastest. */
#include <math.h>
#include <string.h>

#include "analysis/validate/rows/validate.h"
#include "analysis/validate/rows/validate_uncertainty.h"
#include "fit_solve.h"
#include "sim/pool.h"
#include "tests/test.h"

enum {
    GEMM_A100 = 0 /* of fit_parameters */
};

/* Measurements of a machine whose GEMM is slower by a tenth; rows enough that no prior holds it. */
static void test_a_planted_constant_is_found(void **state)
{
    struct fit_rows rows;
    struct fit_solution fit;
    double none[FIT_PARAMETER_MAX] = {0}, slower[FIT_PARAMETER_MAX] = {0}, error[64];
    const double planted = log(0.9);
    assert_true(fit_rows_read(&rows, STEPS, "llm_foundry", 9, pool_threads_available(), false));
    assert_int_equal(rows.count, 9);
    slower[GEMM_A100] = planted;
    fit_rows_residuals(&rows, slower, NULL, error);
    for (size_t i = 0; i < rows.count; i++) {
        rows.rows[i].measured_s *= exp(error[i]);
        rows.rows[i].weight = 50.0;
    }
    fit_rows_forget(&rows);
    fit_solve(&rows, NULL, NULL, none, &fit);
    assert_true(fit.converged && fit.cost < fit.start_cost);
    assert_true(fit.x[GEMM_A100] < 0.8 * planted && fit.x[GEMM_A100] > 1.05 * planted);
    assert_string_equal(fit_parameters[GEMM_A100].name, "sustained GEMM, A100");
    assert_true(fit.error[GEMM_A100] < fit_parameters[GEMM_A100].prior_error);
    fit_rows_free(&rows);
}

static double mean_coverage(const struct intervals *in, double own)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < in->source_count; i++)
        sum += validate_uncertainty_coverage(in, in->sources[i].name, own) / in->source_count;
    return sum;
}

/* 80 % intervals; a hundred rows of two sources tell it within a band only. */
static void test_intervals_cover(void **state)
{
    static const char *const sources[] = {"vtrain", "llm_foundry"};
    struct arena *arena = arena_create();
    struct csv csv;
    struct error error = {""};
    double covered = 0.0, bare = 0.0;
    assert_true(csv_read(arena, STEPS, &csv, &error));
    for (int i = 0; i < 2; i++) {
        struct validate_options how = {.source = sources[i], .threads = pool_threads_available()};
        struct uncertainty_options drawing = {
            .seed = 1, .draw_count = 6, .threads = how.threads, .time_only = true};
        struct validation v;
        struct intervals in;
        assert_true(validate_file(arena, &csv, &how, &v, &error));
        assert_true(validate_intervals(arena, &v, &drawing, &in, &error));
        assert_true(in.row_count > 30 && in.source_count == 1);
        covered += mean_coverage(&in, NAN) / 2;
        bare += mean_coverage(&in, 0.0) / 2;
    }
    if (!(covered > 0.6 && covered <= 0.97))
        fail_msg("80 %% intervals cover %.1f %%", 100.0 * covered);
    assert_true(bare < covered - 0.1); /* without the model's own error they are too narrow */
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_planted_constant_is_found),
        cmocka_unit_test(test_intervals_cover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
