/* What a step measured by the user says of another: the closed form against a sum over the joint
 * density on a grid, its limits, and who speaks of whom. */
#include <math.h>
#include <string.h>

#include "analysis/record/evidence/measured_steps.h"
#include "tests/test.h"

#define REST                                                                                       \
    "model: {layers: 3, hidden: 8192, heads: 64, vocabulary: 32000}\n"                             \
    "training: {sequence: 4096, global_batch: 16}\n"

enum {
    DRAWS = 3,
    GRID = 40001
};
/* Logarithms of seconds: the forecast, and two measured steps whose draws move with it. */
static const double forecast[DRAWS] = {1.0, 1.05, 0.96};
static const double others[2][DRAWS] = {{0.5, 0.56, 0.44}, {2.0, 2.03, 1.99}};
static const double own = 0.09;

static struct scenario *read(const char *text)
{
    struct error error = {""};
    struct scenario *s = scenario_read("test.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

static struct uncertain_step by_hand(struct arena *arena, const struct scenario *s,
                                     const double *log_step)
{
    struct uncertain_step step = {.scenario = s, .draw_count = DRAWS, .own = {.log_spread = own}};
    step.draws = ARENA_ARRAY(arena, struct uncertain_draw, DRAWS);
    for (unsigned i = 0; i < DRAWS; i++)
        step.draws[i] = (struct uncertain_draw){log_step[i], true, 1.0 / DRAWS};
    return step;
}

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not %.17g", a, b);
}

static double normal(double x, double variance)
{
    return exp(-0.5 * x * x / variance) / sqrt(2.0 * acos(-1.0) * variance);
}

/* Mean and variance of the forecast, by a sum over draws and a grid of shifts. */
static void by_sum(const double *measured_s, unsigned count, double *mean, double *variance)
{
    const double within = pow(residues_shipped.within_log_spread, 2.0);
    const double between = own * own - within;
    double sum = 0.0, first = 0.0, second = 0.0;
    for (unsigned i = 0; i < DRAWS; i++) {
        for (unsigned g = 0; g < GRID; g++) {
            const double shift = 8.0 * sqrt(between) * (2.0 * g / (GRID - 1) - 1.0);
            double density = normal(shift, between);
            for (unsigned k = 0; k < count; k++)
                density *= normal(log(measured_s[k]) - others[k][i] - shift, within);
            const double at = forecast[i] + shift;
            sum += density;
            first += density * at;
            second += density * (at * at + within);
        }
    }
    *mean = first / sum;
    *variance = second / sum - *mean * *mean;
}

static void check_against_sum(const double *measured_s, unsigned count)
{
    struct arena *arena = arena_create();
    struct scenario *s = read("cluster: {gpu: h100-80gb-sxm, gpus: 8}\n" REST);
    struct uncertain_step step = by_hand(arena, s, forecast), other[2];
    struct measured_step measured[2];
    struct measured_shift shift;
    double mean = 0.0, square = 0.0, weights = 0.0, right_mean, right_variance;
    for (unsigned k = 0; k < count; k++) {
        other[k] = by_hand(arena, s, others[k]);
        measured[k] = (struct measured_step){&other[k], measured_s[k]};
    }
    measured_steps_apply(measured, count, &step, &shift);
    for (unsigned i = 0; i < DRAWS; i++) {
        const double at = step.draws[i].log_step;
        weights += step.draws[i].weight;
        mean += step.draws[i].weight * at;
        square += step.draws[i].weight * (at * at + step.own.log_spread * step.own.log_spread);
    }
    by_sum(measured_s, count, &right_mean, &right_variance);
    near(weights, 1.0, 1e-12);
    near(mean, right_mean, 1e-6);
    near(square - mean * mean, right_variance, 1e-6);
    assert_int_equal(shift.steps, count);
    near(shift.before_log_spread, own, 0.0);
    scenario_destroy(s);
    arena_destroy(arena);
}

static void test_closed_form_is_the_sum(void **state)
{
    const double slower[] = {exp(0.6), exp(2.15)}, faster[] = {exp(0.41), exp(1.9)},
                 torn[] = {exp(0.6), exp(1.9)};
    check_against_sum(slower, 1);
    check_against_sum(slower, 2);
    check_against_sum(faster, 2);
    check_against_sum(torn, 2);
}

/* So many steps, all 7 % over their forecast: the forecast moves there, and scatter alone is left.
 */
static void test_many_steps_leave_the_scatter(void **state)
{
    enum {
        MANY = 2000
    };
    struct arena *arena = arena_create();
    struct scenario *s = read("cluster: {gpu: h100-80gb-sxm, gpus: 8}\n" REST);
    const double sure[DRAWS] = {1.0, 1.0, 1.0};
    struct uncertain_step step = by_hand(arena, s, sure), other = by_hand(arena, s, sure);
    struct measured_step *measured = ARENA_ARRAY(arena, struct measured_step, MANY);
    struct measured_shift shift;
    for (unsigned k = 0; k < MANY; k++)
        measured[k] = (struct measured_step){&other, exp(1.07)};
    measured_steps_apply(measured, MANY, &step, &shift);
    near(log(uncertainty_step_s(&step, 0.5)), 1.07, 1e-4);
    near(shift.log_shift, 0.07, 1e-4);
    near(step.own.log_spread, residues_shipped.within_log_spread, 1e-4);
    scenario_destroy(s);
    arena_destroy(arena);
}

/* What was measured of the step itself is its time; the scatter of steps is left. */
static void test_the_step_itself(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *s = read("cluster: {gpu: h100-80gb-sxm, gpus: 8}\n" REST);
    const double sure[DRAWS] = {1.0, 1.2, 0.9};
    struct uncertain_step step = by_hand(arena, s, sure), other = by_hand(arena, s, sure);
    const double before_s = uncertainty_step_s(&step, 0.5);
    const struct measured_step measured = {&other, exp(1.5)};
    struct measured_shift shift;
    measured_steps_apply(&measured, 1, &step, &shift);
    assert_true(uncertainty_step_s(&step, 0.5) < 0.99 * exp(1.5));
    assert_false(shift.itself);
    measured_steps_itself(exp(1.5), &step, &shift);
    assert_true(shift.itself);
    near(log(uncertainty_step_s(&step, 0.5)), 1.5, 1e-9);
    near(shift.log_shift, 1.5 - log(before_s), 1e-9);
    near(log(uncertainty_step_s(&step, 0.9)) - 1.5,
         MODEL_ERROR_P90 * residues_shipped.within_log_spread, 1e-3);
    scenario_destroy(s);
    arena_destroy(arena);
}

static void test_who_speaks(void **state)
{
    struct scenario *a = read("cluster: {gpu: h100-80gb-sxm, gpus: 8}\nsoftware: nanotron\n" REST);
    struct scenario *more =
        read("cluster: {gpu: h100-80gb-sxm, gpus: 64}\nsoftware: nanotron\n" REST);
    struct scenario *card =
        read("cluster: {gpu: a100-80gb-sxm, gpus: 8}\nsoftware: nanotron\n" REST);
    struct scenario *soft =
        read("cluster: {gpu: h100-80gb-sxm, gpus: 8}\nsoftware: megatron\n" REST);
    assert_true(measured_step_speaks(a, more) && measured_step_speaks(more, a));
    assert_false(measured_step_speaks(a, card) || measured_step_speaks(a, soft));
    scenario_destroy(a);
    scenario_destroy(more);
    scenario_destroy(card);
    scenario_destroy(soft);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_form_is_the_sum),
        cmocka_unit_test(test_many_steps_leave_the_scatter),
        cmocka_unit_test(test_the_step_itself),
        cmocka_unit_test(test_who_speaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
