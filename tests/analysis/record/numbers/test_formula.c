/* Formulas over the numbers of runs: what they come to, with their units, and what is refused. */
#include <math.h>
#include <string.h>

#include "analysis/record/evidence/formula.h"
#include "tests/test.h"

/* Two runs: steps of 2 s and 3 s, two stages, one stream. */
struct formula_case {
    struct arena *arena;
    struct record records[2];
    struct formula_run runs[3];
};

static void fill(struct record *record, double step_s)
{
    struct run_row *run = record_add(record, ROW_run, 1);
    run->step_s = step_s;
    run->bubble_ratio = 0.25;
    run->pp = 4;
    run->microbatches = 8;
    run->usable_hbm_bytes = 80e9;
    run->tokens_per_s = 1000.0;
    struct stage_memory_row *stages = record_add(record, ROW_stage_memory, 2);
    stages[0].stage = 0;
    stages[0].weights_bytes = 10e9;
    stages[1].stage = 1;
    stages[1].weights_bytes = 12e9;
    struct stream_use_row *streams = record_add(record, ROW_stream_use, 2);
    streams[0].stream = "tp";
    streams[0].busy_s = 5.0;
    streams[1].stream = "dp";
    streams[1].busy_s = 0.5;
}

static int set_up(void **state)
{
    static struct formula_case c;
    c = (struct formula_case){.arena = arena_create()};
    for (int i = 0; i < 2; i++) {
        c.records[i] = (struct record){.arena = c.arena};
        fill(&c.records[i], 2.0 + i);
    }
    c.runs[0] = (struct formula_run){"", &c.records[0]};
    c.runs[1] = (struct formula_run){"slow", &c.records[1]};
    c.runs[2] = (struct formula_run){"unplayed", NULL};
    *state = &c;
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(((struct formula_case *)*state)->arena);
    return 0;
}

static void test_values(void **state)
{
    const struct formula_case *c = *state;
    static const struct {
        const char *formula;
        double number;
        const char *unit, *text;
    } cases[] = {
        {"step_s", 2.0, "s", "2 s"},
        {"step_s@slow", 3.0, "s", "3 s"},
        {"step_s@slow / step_s", 1.5, "1", "1.5 times"},
        {"step_s / step_s@slow - 1", 2.0 / 3.0 - 1.0, "1", "-33.3 %"},
        {"bubble_ratio", 0.25, "1", "25.0 %"},
        {"(pp - 1) / (microbatches + pp - 1)", 3.0 / 11.0, "1", "27.3 %"},
        {"pp * microbatches", 32.0, "", "32"},
        {"2 + 3 * 4 - 6 / 2", 11.0, "1", "11 times"},
        {"stage_memory.weights_bytes", 12e9, "B", "11.2 GiB"},
        {"stage_memory[0].weights_bytes", 10e9, "B", "9.31 GiB"},
        {"stream_use[dp].busy_s", 0.5, "s", "500 ms"},
        {"usable_hbm_bytes / step_s", 40e9, "B/s", "40.0 GB/s"},
        {"usable_hbm_bytes / (usable_hbm_bytes / step_s)", 2.0, "s", "2 s"},
        {"tokens_per_s * step_s", 2000.0, "tokens", "2,000 tokens"},
        {"1 / step_s", 0.5, "1/s", "0.50 1/s"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct formula_value value;
        struct error error = {""};
        assert_true(formula_find(cases[i].formula, c->runs, 3, &value, &error));
        assert_true(fabs(value.number - cases[i].number) <= 1e-12 * fabs(cases[i].number));
        assert_string_equal(formula_unit(&value).s, cases[i].unit);
        assert_string_equal(formula_text(&value).s, cases[i].text);
    }
}

/* What a run has not is not known; nor is what was not played, whose units count all the same. */
static void test_unknown(void **state)
{
    const struct formula_case *c = *state;
    static const char *const formulas[] = {"goodput_ratio", "step_s@unplayed / step_s",
                                           "stage_memory[7].weights_bytes",
                                           "out_of_memory.short_bytes"};
    for (unsigned i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        struct formula_value value;
        struct error error = {""};
        assert_true(formula_find(formulas[i], c->runs, 3, &value, &error));
        assert_true(isnan(value.number));
        assert_string_equal(formula_text(&value).s, "not known");
    }
}

static void test_refused(void **state)
{
    const struct formula_case *c = *state;
    static const struct {
        const char *formula, *why;
    } cases[] = {
        {"", "was expected"},
        {"step_s +", "was expected"},
        {"(step_s", "')' was expected"},
        {"step_s step_s", "is left over"},
        {"step_time", "no column 'step_time' in the table run"},
        {"stage.weights_bytes", "no table 'stage'"},
        {"step_s@fast", "no run 'fast'"},
        {"stream_use[dp", "stand ']' and a column"},
        {"stream_use[dp]", "stand ']' and a column"},
        {"step_s + usable_hbm_bytes", "s and B do not add up"},
        {"step_s + 1", "do not add up"},
        {"gpu", "no number to reckon with"},
        {"((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))", "parentheses"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct formula_value value;
        struct error error = {""};
        assert_false(formula_find(cases[i].formula, c->runs, 3, &value, &error));
        assert_non_null(strstr(error.text, cases[i].why));
    }
}

static void test_fill(void **state)
{
    const struct formula_case *c = *state;
    struct error error = {""};
    assert_string_equal(formula_fill(c->arena, "no sum", c->runs, 3, &error), "no sum");
    assert_string_equal(formula_fill(c->arena, "{step_s}, then {step_s@slow}.", c->runs, 3, &error),
                        "2 s, then 3 s.");
    assert_null(formula_fill(c->arena, "{step_s", c->runs, 3, &error));
    assert_non_null(strstr(error.text, "without its"));
    assert_null(formula_fill(c->arena, "{}", c->runs, 3, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fill, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
