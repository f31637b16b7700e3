/* What is known of the model's own error: by a list that is planted here, and as shipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "analysis/record/evidence/model_error.h"

static const struct measured_rows rows[] = {
    {"alpha", "red", LAYOUT_TENSOR, "s", 3},
    {"alpha", "red", LAYOUT_PIPELINE, "t", 4},
    {"alpha", "blue", LAYOUT_CONTEXT, "t", 5},
    {"beta", "green", 0, "u", 6},
};
static const struct residues planted = {
    .measured = rows,
    .count = sizeof rows / sizeof rows[0],
    .log_spread = {0.05, 0.06, 0.1, 0.12, 0.2},
    .within_log_spread = 0.03,
    .pair_log_spread = 0.04,
    .experts_log_spread = 0.15,
    .experts_pair_log_spread = 0.02,
    .from = "planted",
};

static void test_nearness(void **state)
{
    (void)state;
    static const struct {
        const char *software, *card, *but;
        unsigned kinds, rows;
        enum nearness nearness;
        const char *says;
    } cases[] = {
        {"alpha", "red", NULL, 0, 7, NEAR_LAYOUT, "7 measured steps of this software on this card"},
        {"alpha", "red", NULL, LAYOUT_TENSOR | LAYOUT_PIPELINE, 7, NEAR_LAYOUT, "7 measured"},
        {"alpha", "red", NULL, LAYOUT_FP8, 7, NEAR_CARD, "no measurement of 8-bit products with"},
        {"alpha", "red", "t", LAYOUT_PIPELINE, 3, NEAR_CARD, "no measurement of pipelines with"},
        {"alpha", "blue", "t", 0, 7 - 4, NEAR_SOFTWARE,
         "of this software on this card (3 on other"},
        {"alpha", "green", NULL, 0, 12, NEAR_SOFTWARE, "(12 on other cards)"},
        {"beta", "red", NULL, 0, 6, NEAR_SOFTWARE, "(6 on other cards)"},
        {"beta", "red", "u", 0, 7, NEAR_MACHINE, "(7 of other software)"},
        {"gamma", "green", NULL, 0, 6, NEAR_MACHINE,
         "no measurement of this software on this card"},
        {"gamma", "white", NULL, 0, 0, NEAR_NOTHING, "nor of either elsewhere"},
        {"beta", "green", "u", 0, 0, NEAR_NOTHING, "no measurement of this software on this card"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[160];
        struct model_error e = model_error_near(&planted, cases[i].software, cases[i].card,
                                                cases[i].kinds, cases[i].but);
        assert_int_equal(e.nearness, cases[i].nearness);
        assert_int_equal(e.rows, cases[i].rows);
        assert_true(e.log_spread == planted.log_spread[e.nearness]);
        model_error_sentence(&e, text, sizeof text);
        if (strstr(text, cases[i].says) == NULL)
            fail_msg("case %u: %s", i, text);
    }
}

/* Rows of experts say nothing of dense models, and those of dense models do not narrow what experts
 * have shown. */
static void test_experts(void **state)
{
    (void)state;
    static const struct measured_rows mixed[] = {
        {"alpha", "red", LAYOUT_EXPERTS | LAYOUT_TENSOR, "s", 3},
        {"alpha", "blue", 0, "t", 5},
    };
    struct residues both = planted;
    both.measured = mixed;
    both.count = 2;
    struct model_error e = model_error_near(&both, "alpha", "red", LAYOUT_TENSOR, NULL);
    assert_true(e.nearness == NEAR_SOFTWARE && e.rows == 5 && e.log_spread == 0.1);
    e = model_error_near(&both, "alpha", "red", LAYOUT_EXPERTS | LAYOUT_TENSOR, NULL);
    assert_true(e.nearness == NEAR_LAYOUT && e.rows == 3 && e.log_spread == 0.15);
    assert_true(e.pair_log_spread == 0.04); /* not narrower than that of dense ones */
    e = model_error_near(&both, "alpha", "blue", LAYOUT_EXPERTS, NULL);
    assert_true(e.nearness == NEAR_CARD && e.kinds_unseen == LAYOUT_EXPERTS);
    e = model_error_near(&both, "gamma", "white", LAYOUT_EXPERTS, NULL);
    assert_true(e.nearness == NEAR_NOTHING && e.log_spread == 0.2);
}

/* var(a - b) = a^2 + b^2 - 2 shared a b is the pairs' for layouts that are equally far off. */
static void test_shared(void **state)
{
    (void)state;
    struct model_error near = model_error_near(&planted, "alpha", "red", 0, NULL);
    struct model_error far = model_error_near(&planted, "gamma", "white", 0, NULL);
    double a = near.log_spread, b = far.log_spread;
    double same = 2.0 * a * a * (1.0 - model_error_shared(&near, &near));
    assert_true(fabs(same - 0.04 * 0.04) < 1e-12);
    double both = a * a + b * b - 2.0 * model_error_shared(&near, &far) * a * b;
    assert_true(fabs(both - (0.04 * 0.04 + (a - b) * (a - b))) < 1e-12);
    /* Layouts that differ by more than their errors share nothing. */
    struct model_error loose = near;
    loose.pair_log_spread = 1.0;
    assert_true(model_error_shared(&loose, &loose) == 0.0);
}

/* The generated list: widths that ascend, rows of known kinds, no row twice. */
static void test_shipped(void **state)
{
    (void)state;
    const struct residues *r = &residues_shipped;
    assert_true(r->count > 5 && strstr(r->from, "steps.csv") != NULL);
    for (int k = 0; k < NEARNESS_COUNT; k++) {
        assert_true(r->log_spread[k] > 0.02 && r->log_spread[k] < 1.0);
        assert_true(k == 0 || r->log_spread[k] >= r->log_spread[k - 1]);
    }
    assert_true(r->within_log_spread > 0.0 && r->within_log_spread <= r->log_spread[0]);
    assert_true(r->pair_log_spread > 0.0);
    for (size_t i = 0; i < r->count; i++) {
        const struct measured_rows *m = &r->measured[i];
        assert_true(m->rows > 0 && m->kinds < 1U << LAYOUT_KIND_COUNT);
        assert_int_equal(model_error_near(r, m->software, m->card, m->kinds, NULL).nearness,
                         NEAR_LAYOUT);
        for (size_t k = 0; k < i; k++)
            assert_true(m->kinds != r->measured[k].kinds ||
                        strcmp(m->software, r->measured[k].software) != 0 ||
                        strcmp(m->card, r->measured[k].card) != 0 ||
                        strcmp(m->source, r->measured[k].source) != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearness),
        cmocka_unit_test(test_experts),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_shipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
