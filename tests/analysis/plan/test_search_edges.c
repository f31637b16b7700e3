/* Each term of a search by itself, at its edge: what just keeps it is kept. */
#include <math.h>
#include <string.h>

#include "analysis/plan/search/search_terms.h"
#include "analysis/plan/search/search_weeks.h"
#include "tests/analysis/plan/search_spaces.h"
#include "tests/test.h"

static const struct search_terms none = {.best = BEST_STEP};

/* 9 s, 8 USD, 7 W: of what is not known nothing is broken, and time goes before money. */
static void what_a_leader_breaks(void **state)
{
    struct search_leader l = {.training_s = 9.0, .training_usd = 8.0, .wall_w = 7.0};
    struct search_terms t = {.deadline_s = 9.0, .budget_usd = 8.0, .power_w = 7.0};
    assert_int_equal(search_terms_broken(&none, &l), FATE_OPEN);
    assert_int_equal(search_terms_broken(&t, &l), FATE_OPEN);
    l.wall_w = 7.001;
    assert_int_equal(search_terms_broken(&t, &l), FATE_POWER);
    l.training_usd = 8.001;
    assert_int_equal(search_terms_broken(&t, &l), FATE_BUDGET);
    l.training_s = 9.001;
    assert_int_equal(search_terms_broken(&t, &l), FATE_DEADLINE);
    t.power_w = INFINITY; /* any, and it is told */
    t.deadline_s = t.budget_usd = 0.0;
    assert_int_equal(search_terms_broken(&t, &l), FATE_OPEN);
    t.power_w = 7.0;
    l.wall_w = NAN;
    assert_int_equal(search_terms_broken(&t, &l), FATE_OPEN);
}

/* So many steps as the tokens have batches: a step may take its part of the time and the money. */
static void what_a_step_breaks(void **state)
{
    struct scenario *scenario = space_read_priced(0);
    struct configuration *c = &scenario->configuration;
    const double steps = ceil(c->training.tokens / configuration_tokens(c));
    const double gpus = (double)configuration_gpus(c);
    const double hours = 2.0 * steps / 3600.0, usd = hours * gpus * SPACE_GPU_HOUR_USD;
    struct search_terms t = {.deadline_s = 2.0 * steps, .budget_usd = usd * (1.0 + 1e-9)};
    assert_true(steps > 1.0 && usd > 0.0);
    assert_int_equal(search_terms_missed(&t, c, 2.0), FATE_OPEN);
    assert_int_equal(search_terms_missed(&t, c, 2.0001), FATE_DEADLINE);
    t.deadline_s = 0.0;
    assert_int_equal(search_terms_missed(&t, c, 2.0), FATE_OPEN);
    assert_int_equal(search_terms_missed(&t, c, 2.0001), FATE_BUDGET);
    t.budget_usd = 0.0;
    assert_int_equal(search_terms_missed(&t, c, 1e12), FATE_OPEN);
    scenario_destroy(scenario);
}

/* Money is of the whole training, so it needs tokens, and a price. */
static void what_money_needs(void **state)
{
    struct scenario *scenario = space_read_priced(0);
    struct configuration c = scenario->configuration;
    const struct search_terms money = {.budget_usd = 1e6}, cheap = {.best = BEST_COST};
    struct error error = {""};
    assert_true(search_terms_check(&money, &c, &error) && search_terms_check(&cheap, &c, &error));
    c.training.tokens = 0.0;
    assert_true(search_terms_check(&cheap, &c, &error));
    assert_false(search_terms_check(&money, &c, &error));
    assert_non_null(strstr(error.text, "--tokens"));
    c.training.tokens = 1e12;
    c.gpu.price_per_hour_usd = 0.0;
    assert_false(search_terms_check(&money, &c, &error));
    assert_non_null(strstr(error.text, "cost.gpu_hour"));
    scenario_destroy(scenario);
}

static void what_each_objective_asks(void **state)
{
    struct search_weeks weeks = {.tokens_per_s = 5.0};
    struct search_leader l = {.step_s = 1.0,
                              .tokens_per_s = 2.0,
                              .usd_per_1e9_tokens = 3.0,
                              .training_s = 4.0,
                              .energy_j_per_token = 6.0,
                              .weeks = &weeks};
    const struct search_leader blank = {
        .usd_per_1e9_tokens = NAN, .training_s = NAN, .energy_j_per_token = NAN};
    static const double values[SEARCH_BEST_COUNT] = {1.0, -2.0, 3.0, 4.0, -5.0, 6.0};
    for (unsigned best = 0; best < SEARCH_BEST_COUNT; best++) {
        struct search_terms t = {.best = (enum search_best)best};
        assert_true(search_terms_value(&t, &l) == values[best]);
        if (best >= BEST_COST)
            assert_true(search_terms_value(&t, &blank) == (double)INFINITY);
        assert_int_equal(search_terms_weeks(&t),
                         best == BEST_COST || best == BEST_DAYS || best == BEST_GOODPUT);
        assert_int_equal(search_terms_draws(&t), best == BEST_ENERGY);
        assert_false(search_terms_limited(&t));
        t.power_w = INFINITY;
        assert_true(search_terms_draws(&t) && !search_terms_limited(&t));
        t.power_w = 1.0;
        assert_true(search_terms_draws(&t) && search_terms_limited(&t));
    }
}

/* Of seeds that both played, in pairs: ln 2 and ln 4 have the mean ln 8 / 2 and, their distance
 * being ln 2, the standard error ln 2 / 2. */
static void two_plays_in_pairs(void **state)
{
    double fast[] = {2.0, 8.0, 9.0}, slow[] = {1.0, 2.0}, stuck[] = {0.0, 2.0}, error = -1.0;
    const struct search_weeks a = {.seeds = 3, .rates = fast, .tokens_per_s = 6.0},
                              b = {.seeds = 2, .rates = slow, .tokens_per_s = 1.5},
                              c = {.seeds = 2, .rates = stuck, .tokens_per_s = 1.0};
    assert_true(fabs(search_weeks_log_ratio(&a, &b, &error) - 0.5 * log(8.0)) < 1e-12);
    assert_true(fabs(error - 0.5 * log(2.0)) < 1e-12);
    assert_true(fabs(search_weeks_log_ratio(&b, &a, &error) + 0.5 * log(8.0)) < 1e-12);
    assert_true(fabs(error - 0.5 * log(2.0)) < 1e-12);
    assert_true(fabs(search_weeks_log_ratio(&a, &c, &error) - log(6.0)) < 1e-12);
    assert_true(error == 0.0); /* a run that kept nothing has no logarithm: the means */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_leader_breaks), cmocka_unit_test(what_a_step_breaks),
        cmocka_unit_test(what_money_needs), cmocka_unit_test(what_each_objective_asks),
        cmocka_unit_test(two_plays_in_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
