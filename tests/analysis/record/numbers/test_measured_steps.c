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
    MEASURED_MAX = 5,
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

/* Mean and variance of the forecast, by a sum over draws and a grid of shifts, which are common as
 * far as the nearest of the steps is; steps scatter with the variance `within`. */
static void by_sum(const double *measured_s, unsigned count, const unsigned *of, double within,
                   double nearest, double *mean, double *variance)
{
    const double usual = pow(residues_shipped.within_log_spread, 2.0);
    const double between = nearest * nearest - usual;
    const double alone = own * own - between - usual + within;
    double sum = 0.0, first = 0.0, second = 0.0;
    for (unsigned i = 0; i < DRAWS; i++) {
        for (unsigned g = 0; g < GRID; g++) {
            const double shift = 8.0 * sqrt(between) * (2.0 * g / (GRID - 1) - 1.0);
            double density = normal(shift, between);
            for (unsigned k = 0; k < count; k++)
                density *= normal(log(measured_s[k]) - others[of[k]][i] - shift, within);
            const double at = forecast[i] + shift;
            sum += density;
            first += density * at;
            second += density * (at * at + alone);
        }
    }
    *mean = first / sum;
    *variance = second / sum - *mean * *mean;
}

/* `of`: which of the scenarios each is of; `scatter`: that of steps which they show. */
static void check_against_sum_of(const double *measured_s, unsigned count, const unsigned *of,
                                 double scatter, double nearest)
{
    struct arena *arena = arena_create();
    struct scenario *s = read("cluster: {gpu: h100-80gb-sxm, gpus: 8}\n" REST);
    struct uncertain_step step = by_hand(arena, s, forecast), other[MEASURED_MAX];
    struct measured_step measured[MEASURED_MAX];
    struct measured_shift shift;
    double mean = 0.0, square = 0.0, weights = 0.0, right_mean, right_variance;
    for (unsigned k = 0; k < count; k++) {
        other[k] = by_hand(arena, s, others[of[k]]);
        measured[k] = (struct measured_step){&other[k], measured_s[k]};
    }
    other[count / 2].own.log_spread = nearest; /* whichever it is */
    measured_steps_apply(measured, count, &step, &shift);
    for (unsigned i = 0; i < DRAWS; i++) {
        const double at = step.draws[i].log_step;
        weights += step.draws[i].weight;
        mean += step.draws[i].weight * at;
        square += step.draws[i].weight * (at * at + step.own.log_spread * step.own.log_spread);
    }
    by_sum(measured_s, count, of, scatter * scatter, nearest, &right_mean, &right_variance);
    near(weights, 1.0, 1e-12);
    near(mean, right_mean, 1e-6);
    near(square - mean * mean, right_variance, 1e-6);
    assert_int_equal(shift.steps, count);
    near(shift.before_log_spread, own, 0.0);
    near(shift.scatter_log_spread, scatter, 1e-12);
    near(measured_steps_scatter(measured, count), scatter, 1e-12);
    scenario_destroy(s);
    arena_destroy(arena);
}

static void check_against_sum(const double *measured_s, unsigned count, double nearest)
{
    static const unsigned apart[] = {0, 1};
    check_against_sum_of(measured_s, count, apart, residues_shipped.within_log_spread, nearest);
}

/* Three of one scenario and two of another: squares around two means, three degrees of freedom.
 * Repeated ones that scatter less than steps do change no more than one. */
static void test_repeated_steps_show_their_scatter(void **state)
{
    static const unsigned of[] = {0, 1, 0, 0, 1};
    const double wide[] = {exp(0.4), exp(2.2), exp(0.7), exp(0.7), exp(1.8)};
    const double two[] = {exp(0.5), exp(0.5), exp(1.3)};
    const double squares = 0.04 + 0.01 + 0.01 + 0.04 + 0.04; /* around .6 and 2 */
    const double calm[] = {exp(0.5), exp(2.0), exp(0.51), exp(0.52), exp(2.01)};
    check_against_sum_of(wide, 5, of, sqrt(squares / 3.0), own);
    check_against_sum_of(calm, 5, of, residues_shipped.within_log_spread, own);
    check_against_sum_of(two, 3, (const unsigned[]){0, 1, 0}, sqrt(0.32), 0.07);
}

/* 11 s and 5 s of one scenario widen what either alone would narrow; 7.3 and 7.4 s narrow. */
static void test_contradicting_steps_widen(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *s = read("cluster: {gpu: h100-80gb-sxm, gpus: 8}\n" REST);
    const double sure[DRAWS] = {2.0, 2.0, 2.0};
    const double pairs[][2] = {{11.0, 5.0}, {7.3, 7.4}};
    for (unsigned p = 0; p < 2; p++) {
        struct uncertain_step step = by_hand(arena, s, sure), other = step;
        const struct measured_step measured[] = {{&other, pairs[p][0]}, {&other, pairs[p][1]}};
        const double scatter = log(pairs[p][0] / pairs[p][1]) / sqrt(2.0);
        struct measured_shift shift;
        other.draws = by_hand(arena, s, sure).draws;
        measured_steps_apply(measured, 2, &step, &shift);
        assert_true((step.own.log_spread > own) == (p == 0));
        measured_steps_itself(sqrt(pairs[p][0] * pairs[p][1]), &step, &shift);
        near(step.own.log_spread, fmax(fabs(scatter), residues_shipped.within_log_spread), 1e-12);
    }
    scenario_destroy(s);
    arena_destroy(arena);
}

/* Quantiles of one given the earlier ones of its scenario, and of one given the forecast. */
static void test_quantiles(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *s = read("cluster: {gpu: h100-80gb-sxm, gpus: 8}\n" REST);
    struct uncertain_step a = by_hand(arena, s, others[0]), b = by_hand(arena, s, others[1]);
    const double within = residues_shipped.within_log_spread;
    const double third = MODEL_ERROR_P90 * within * sqrt(1.5); /* given two */
    const struct measured_step measured[] = {
        {&a, exp(0.5)},
        {&b, exp(2.0)},
        {&a, exp(0.5 - MODEL_ERROR_P90 * within * sqrt(2.0))},
        {&a, exp(0.5 - 0.5 * MODEL_ERROR_P90 * within * sqrt(2.0) + third)}};
    double earlier_s;
    assert_true(isnan(measured_step_repeated(measured, 0, &earlier_s)));
    assert_true(isnan(measured_step_repeated(measured, 1, &earlier_s)));
    near(measured_step_repeated(measured, 2, &earlier_s), 0.1, 1e-9);
    near(earlier_s, exp(0.5), 1e-12);
    near(measured_step_repeated(measured, 3, &earlier_s), 0.9, 1e-9);
    for (double probability = 0.01; probability < 1.0; probability += 0.07)
        near(uncertainty_step_below(&a, uncertainty_step_s(&a, probability)), probability, 1e-9);
    scenario_destroy(s);
    arena_destroy(arena);
}

static void test_closed_form_is_the_sum(void **state)
{
    const double slower[] = {exp(0.6), exp(2.15)}, faster[] = {exp(0.41), exp(1.9)},
                 torn[] = {exp(0.6), exp(1.9)};
    check_against_sum(slower, 1, own);
    check_against_sum(slower, 2, own);
    check_against_sum(faster, 2, own);
    check_against_sum(torn, 2, own);
    check_against_sum(torn, 2, 0.07); /* one is nearer to what was measured than the other */
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
        cmocka_unit_test(test_repeated_steps_show_their_scatter),
        cmocka_unit_test(test_contradicting_steps_widen),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_many_steps_leave_the_scatter),
        cmocka_unit_test(test_the_step_itself),
        cmocka_unit_test(test_who_speaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
