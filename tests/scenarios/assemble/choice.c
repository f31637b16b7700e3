#include "tests/scenarios/assemble/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/step/simulate/step.h"
#include "tests/test.h"

struct scenario *choice_read(const char *text)
{
    struct error error = {""};
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    return s;
}

struct scenario *choice_sound(const char *text)
{
    struct scenario *s = choice_read(text);
    scenario_print_problems(s, stderr, false);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

double choice_step_s(const struct configuration *c, bool *fits)
{
    struct step *step;
    struct error error;
    struct step_options options = {0};
    assert_true(step_run(c, &options, &step, &error));
    const double s = step->fits ? step->step_s : INFINITY;
    *fits = step->fits;
    step_destroy(step);
    return s;
}
