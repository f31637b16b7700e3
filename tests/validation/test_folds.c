/* Rows are predicted by constants that have not seen them: what a constant remembers of its source
 * is gone when that source is left out. On the rows of steps.csv that are simulated fastest. */
#include <math.h>
#include <string.h>

#include "sim/pool.h"
#include "tests/test.h"
#include "worth.h"

/* Measured times become those of the catalogue, whatever its constants are worth. */
static void measure_as_predicted(struct fit_rows *rows)
{
    static const double catalogue[FIT_PARAMETER_MAX];
    double error[64];
    assert_true(rows->count <= 64);
    fit_rows_residuals(rows, catalogue, NULL, error);
    for (size_t i = 0; i < rows->count; i++)
        rows->rows[i].measured_s *= exp(error[i]);
    fit_rows_forget(rows);
}

static size_t find(const char *name)
{
    for (size_t k = 0; k < fit_parameter_count; k++)
        if (strcmp(fit_parameters[k].name, name) == 0)
            return k;
    fail_msg("no constant %s", name);
    return 0;
}

/* With the sources' own constants the error is nothing; without the source it is what the constant
 * was told by it alone. */
static void test_what_is_remembered_is_noticed(void **state)
{
    struct fit_rows rows;
    struct folds folds;
    struct worth worth;
    const size_t k = find("unfused bytes, nanotron and llm-foundry");
    assert_true(fit_rows_read(&rows, STEPS, "llm_foundry", 6, pool_threads_available(), false));
    measure_as_predicted(&rows);
    assert_true(rows.fitted[k]);
    folds_play(&rows, &folds);
    struct fold_errors shipped = folds_errors(&rows, folds.shipped, NULL);
    struct fold_errors left = folds_errors(&rows, folds.left[CROSS_SOURCE], NULL);
    assert_true(shipped.count == 6 && left.count == 6);
    assert_true(shipped.median < 1e-9);
    assert_true(left.median > 0.01);
    assert_true(left.bias < 0.0); /* fewer bytes are known than were fitted */
    worth_judge(&rows, &folds, k, &worth);
    assert_true(worth.rows == 6 && worth.sources == 1 && worth.with < 1e-9);
    assert_true(worth.without > 0.01 && fabs(worth.source_out / worth.without - 1.0) < 0.05);
    /* Other models of the source know it. */
    assert_true(worth.model_out < 0.5 * worth.without && worth.verdict == WORTH_INSIDE);
    fit_rows_free(&rows);
}

/* What no crossing leaves out is not counted; what is not fitted stays. */
static void test_folds_by_size(void **state)
{
    struct fit_rows rows;
    struct folds folds;
    assert_true(fit_rows_read(&rows, STEPS, "llm_foundry", 6, pool_threads_available(), false));
    folds_play(&rows, &folds);
    unsigned wide = 0, large = 0;
    for (size_t i = 0; i < rows.count; i++) {
        const struct configuration *c = &rows.rows[i].scenario->configuration;
        bool is_wide = isfinite(folds.left[CROSS_WIDE][i]);
        assert_true(is_wide == (configuration_ranks(c) > 64));
        assert_true(isfinite(folds.left[CROSS_CARD][i]));
        wide += is_wide;
        large += isfinite(folds.left[CROSS_LARGE][i]) ? 1U : 0U;
    }
    assert_int_equal(folds_errors(&rows, folds.left[CROSS_WIDE], NULL).count, wide);
    assert_true(large > 0 && large < rows.count);
    for (size_t k = 0; k < fit_parameter_count; k++)
        assert_true(rows.fixed[k] != rows.fitted[k]);
    fit_rows_free(&rows);
}

/* A release of a framework is left out as one; versions of a framework are one framework. */
static void test_keys(void **state)
{
    struct arena *arena = arena_create();
    struct scenario s[4] = {0};
    const struct {
        const char *name, *framework;
        unsigned month;
        const char *by_framework, *by_release;
    } cases[] = {{"megatron", "megatron", 5, "megatron", "megatron 5"},
                 {"megatron-2021", "megatron", 5, "megatron", "megatron 5"},
                 {"megatron", "megatron", 6, "megatron", "megatron 6"},
                 {"nanotron", "", 5, "nanotron", "nanotron 5"}};
    for (unsigned i = 0; i < 4; i++) {
        const struct fit_row row = {.source = "here", .scenario = &s[i]};
        struct software_profile *software = &s[i].configuration.software;
        software->name = cases[i].name;
        software->version.framework = cases[i].framework;
        software->version.month = cases[i].month;
        s[i].configuration.gpu.name = "card";
        s[i].configuration.gpu.generation = "Hopper";
        s[i].configuration.training.precision = precision_find("fp8");
        assert_string_equal(folds_key(arena, &row, CROSS_SOURCE, 1.0), "here");
        assert_string_equal(folds_key(arena, &row, CROSS_CARD, 1.0), "card");
        assert_string_equal(folds_key(arena, &row, CROSS_GENERATION, 1.0), "Hopper");
        assert_string_equal(folds_key(arena, &row, CROSS_PRECISION, 1.0), "fp8");
        assert_string_equal(folds_key(arena, &row, CROSS_FRAMEWORK, 1.0), cases[i].by_framework);
        assert_string_equal(folds_key(arena, &row, CROSS_RELEASE, 1.0), cases[i].by_release);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_remembered_is_noticed),
        cmocka_unit_test(test_folds_by_size),
        cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
