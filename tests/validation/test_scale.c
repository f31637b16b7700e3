/* Errors do not grow with the machine, says ratchet.csv of all steps, by two figures. Here, on two
 * sources: they hold, and a model that lost some percent with each doubling would be noticed. */
#include <math.h>

#include "analysis/validate/rows/validate.h"
#include "analysis/validate/table/validate_scale.h"
#include "sim/pool.h"
#include "tests/test.h"

/* As in ratchet.csv. */
#define WITHIN_MAX 0.2
#define THIRDS_MAX 0.03

static bool grows(struct arena *arena, const struct validation *v)
{
    struct scores scores;
    struct scales scales;
    validate_score_rows(arena, v, &scores);
    validate_scale_rows(arena, v, &scores, &scales);
    print_message("%zu rows, rank correlation %.3f, within sources %.3f, thirds %.3f and %.3f\n",
                  scales.all.count, scales.all.spearman, scales.within, scales.all.small,
                  scales.all.large);
    return !(scales.within <= WITHIN_MAX) || !(scales.all.large - scales.all.small <= THIRDS_MAX);
}

/* 3 % more with each doubling of the GPUs. */
static void plant(struct validation *v)
{
    for (size_t i = 0; i < v->row_count; i++) {
        double gpus, error;
        if (validate_scale_row(v, &v->rows[i], &gpus, &error))
            v->rows[i].values[0].predicted *= 1.0 + 0.03 * log2(gpus);
    }
}

static void test_errors_do_not_grow_with_the_machine(void **state)
{
    struct arena *arena = arena_create();
    struct csv csv;
    struct validation v;
    struct error error = {""};
    struct validate_options how = {.threads = pool_threads_available(),
                                   .where = "source=vtrain,llm_foundry"};
    assert_true(csv_read(arena, VALIDATION "/steps.csv", &csv, &error));
    assert_true(validate_file(arena, &csv, &how, &v, &error));
    assert_false(grows(arena, &v));
    plant(&v);
    assert_true(grows(arena, &v));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_do_not_grow_with_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
