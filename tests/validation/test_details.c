/* Published steps at pass detail: each row's time within the bound of the law of pass detail
 * (tests/laws/test_pass.c) of op detail, memory and verdicts the same, and the layout chosen of
 * each group no worse. Of the sources that are soon played. */
#include <math.h>

#include "analysis/validate/rows/validate.h"
#include "analysis/validate/rows/validate_run.h"
#include "analysis/validate/table/validate_score.h"
#include "models/step/simulate/step.h"
#include "sim/pool.h"
#include "tests/test.h"

/* As the law has them. */
#define CROSSING 2e-3
#define SHARED_LOST 3.5
#define SHARED_ELSE 0.02

static void validate(struct arena *arena, const char *file, const char *source,
                     enum validate_detail detail, struct validation *out)
{
    struct csv *csv = ARENA_NEW(arena, struct csv);
    struct error error = {""};
    const struct validate_options how = {
        .source = source, .threads = pool_threads_available(), .detail = detail};
    assert_true(csv_read(arena, file, csv, &error));
    assert_true(validate_file(arena, csv, &how, out, &error));
}

static double allowed(const struct validation *v, size_t index)
{
    struct validate_row copy = v->rows[index];
    struct scenario *s = validate_steps_scenario(v, &copy);
    struct step_options options = {.time_only = true};
    struct step *step = NULL;
    struct error error;
    assert_non_null(s);
    assert_true(step_run(&s->configuration, &options, &step, &error));
    assert_true(step->step_s == v->rows[index].values[0].predicted);
    const double lost = network_contention(step->network).lost_s / step->step_s;
    step_destroy(step);
    scenario_destroy(s);
    return lost > 1e-9 ? SHARED_LOST * lost + SHARED_ELSE : CROSSING;
}

/* How many rows were timed. */
static size_t compare(const struct validation *op, const struct validation *pass)
{
    size_t timed = 0;
    assert_int_equal(op->row_count, pass->row_count);
    for (size_t i = 0; i < op->row_count; i++) {
        const struct validate_row *a = &op->rows[i], *b = &pass->rows[i];
        assert_string_equal(a->note, b->note);
        assert_int_equal(a->refused, b->refused);
        assert_int_equal(a->predicted, b->predicted);
        for (unsigned m = 1; m < validate_metric_count(op->kind); m++)
            assert_true(a->values[m].predicted == b->values[m].predicted);
        assert_int_equal(a->values[0].has_predicted, b->values[0].has_predicted);
        if (!a->values[0].has_predicted)
            continue;
        const double off = fabs(b->values[0].predicted / a->values[0].predicted - 1.0);
        if (off > allowed(op, i))
            print_message("%s: off by %.2e, %.2e allowed\n", a->id, off, allowed(op, i));
        assert_true(off <= allowed(op, i));
        timed++;
    }
    return timed;
}

static void rows_at_pass_detail_are_those_at_op_detail(void **state)
{
    static const char *const sources[] = {"vtrain", "torchtitan", "simumax_b200"};
    size_t timed = 0;
    double groups = 0.0;
    for (unsigned i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        struct arena *arena = arena_create();
        struct validation op, pass;
        struct scores a, b;
        validate(arena, STEPS, sources[i], VALIDATE_OP, &op);
        validate(arena, STEPS, sources[i], VALIDATE_PASS, &pass);
        timed += compare(&op, &pass);
        validate_score_rows(arena, &op, &a);
        validate_score_rows(arena, &pass, &b);
        groups += a.all.choice.groups;
        if (a.all.choice.groups > 0.0)
            assert_true(b.all.choice.median_regret <= a.all.choice.median_regret);
        arena_destroy(arena);
    }
    assert_true(timed > 60 && groups > 3.0);
}

static void rows_without_steps_have_no_details(void **state)
{
    struct arena *arena = arena_create();
    struct csv csv;
    struct validation v;
    struct error error = {""};
    struct validate_options how = {.threads = 1, .detail = VALIDATE_PASS};
    assert_true(csv_read(arena, LAYERS, &csv, &error));
    assert_false(validate_file(arena, &csv, &how, &v, &error));
    how.detail = VALIDATE_OP;
    assert_true(validate_file(arena, &csv, &how, &v, &error));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_at_pass_detail_are_those_at_op_detail),
        cmocka_unit_test(rows_without_steps_have_no_details),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
