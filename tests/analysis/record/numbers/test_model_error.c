/* What is known of the model's own error: by a list that is planted here, and as shipped. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/record/evidence/model_error.h"
#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

#define JUNE 24306 /* of 2025 */
/* Of one framework, maker, generation, precision and kind of layer; test_nearest_laws.c has those
 * that differ. */
#define STEP(software, card, kinds, month, gpus, hidden, native)                                   \
    {                                                                                              \
        software, "f", card, "g", "m", "bf16", kinds, LAYERS_FULL, month, gpus, hidden, native     \
    }
static const struct measured_row rows[] = {
    {"a", "s", STEP("alpha", "red", LAYOUT_TENSOR, JUNE, 64, 4096, false), 0.2},
    {"b", "s", STEP("alpha", "red", LAYOUT_TENSOR, JUNE, 512, 4096, false), -0.03},
    {"c", "t", STEP("alpha", "red", LAYOUT_PIPELINE, 0, 64, 8192, false), 0.04},
    {"d", "t", STEP("alpha", "blue", LAYOUT_CONTEXT, JUNE, 8, 4096, false), 0.05},
    {"e", "u", STEP("beta", "green", 0, JUNE, 8, 1024, false), 0.06},
};
static const struct residues planted = {
    .measured = rows,
    .count = sizeof rows / sizeof rows[0],
    .log_spread = {0.04, 0.05, 0.06, 0.1, 0.12, 0.2},
    .within_log_spread = 0.03,
    .pair_log_spread = 0.04,
    .class_log_spread = {[CLASS_NATIVE] = 0.12, [CLASS_EXPERTS] = 0.15},
    .experts_pair_log_spread = 0.02,
    .from = "planted",
};

static struct model_error near(const char *software, const char *card, unsigned kinds,
                               const char *but)
{
    const struct model_error_step step = STEP(software, card, kinds, 0, 64, 4096, false);
    return model_error_near(&planted, &step, but);
}

/* A set of bits has room for each kind: none is part of others. */
static void test_kinds_are_apart(void **state)
{
    static const unsigned kinds[] = {LAYOUT_TENSOR,  LAYOUT_TENSOR_ACROSS, LAYOUT_PIPELINE,
                                     LAYOUT_CONTEXT, LAYOUT_SHARDED,       LAYOUT_EXPERTS};
    unsigned all = 0;
    assert_int_equal(sizeof kinds / sizeof kinds[0], LAYOUT_KIND_COUNT);
    for (unsigned i = 0; i < LAYOUT_KIND_COUNT; i++) {
        assert_true(kinds[i] != 0 && (kinds[i] & (kinds[i] - 1)) == 0 && (all & kinds[i]) == 0);
        all |= kinds[i];
    }
    assert_int_equal(all, (1U << LAYOUT_KIND_COUNT) - 1);
}

static void test_nearness(void **state)
{
    static const struct {
        const char *software, *card, *but;
        unsigned kinds, rows;
        enum nearness nearness;
        const char *says;
    } cases[] = {
        {"alpha", "red", NULL, 0, 3, NEAR_LAYOUT, "3 measured steps of this software on this card"},
        {"alpha", "red", NULL, LAYOUT_TENSOR | LAYOUT_PIPELINE, 3, NEAR_LAYOUT, "3 measured"},
        {"alpha", "red", NULL, LAYOUT_SHARDED, 3, NEAR_CARD, "no measurement of sharded weights"},
        {"alpha", "red", "t", LAYOUT_PIPELINE, 2, NEAR_CARD, "no measurement of pipelines with"},
        {"alpha", "blue", "t", 0, 2, NEAR_SOFTWARE, "of this software on this card (2 on other"},
        {"alpha", "green", NULL, 0, 4, NEAR_SOFTWARE, "(4 on other cards)"},
        {"beta", "red", NULL, 0, 1, NEAR_SOFTWARE, "(1 on other cards)"},
        {"beta", "red", "u", 0, 3, NEAR_MACHINE, "(3 of other software)"},
        {"gamma", "green", NULL, 0, 1, NEAR_MACHINE,
         "no measurement of this software on this card"},
        {"gamma", "white", NULL, 0, 0, NEAR_NOTHING, "nor of either elsewhere"},
        {"beta", "green", "u", 0, 0, NEAR_NOTHING, "no measurement of this software on this card"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[MODEL_ERROR_SENTENCE_MAX];
        struct model_error e = near(cases[i].software, cases[i].card, cases[i].kinds, cases[i].but);
        assert_int_equal(e.nearness, cases[i].nearness);
        assert_int_equal(e.rows, cases[i].rows);
        assert_true(e.log_spread == planted.log_spread[e.nearness]);
        assert_true((e.nearest == NULL) == (e.rows == 0));
        model_error_sentence(&e, text, sizeof text);
        if (strstr(text, cases[i].says) == NULL)
            fail_msg("case %u: %s", i, text);
    }
}

/* The narrowest width is earned: by the release, every kind of layout, GPUs and hidden size. */
static void test_such_a_run(void **state)
{
    const struct model_error_step such = STEP("alpha", "red", LAYOUT_TENSOR, JUNE, 64, 4096, false);
    struct model_error_step step = such;
    struct model_error e = model_error_near(&planted, &step, NULL);
    char text[MODEL_ERROR_SENTENCE_MAX];
    assert_true(e.nearness == NEAR_RUN && e.rows == 1 && e.log_spread == 0.04);
    assert_string_equal(
        model_error_sentence(&e, text, sizeof text),
        "1 measured step of this release on this card, of such sizes; the "
        "nearest, a (64 GPUs), is predicted 18 % too fast; the largest has 64 GPUs");
    const struct {
        unsigned month, kinds;
        uint64_t gpus, hidden;
        bool run;
    } cases[] = {
        {JUNE + 6, LAYOUT_TENSOR, 64, 4096, true},
        {JUNE - 6, LAYOUT_TENSOR, 64, 4096, true},
        {JUNE + 7, LAYOUT_TENSOR, 64, 4096, false},
        {JUNE - 7, LAYOUT_TENSOR, 64, 4096, false},
        {0, LAYOUT_TENSOR, 64, 4096, false},
        {JUNE, LAYOUT_PIPELINE, 64, 4096, false},
        {JUNE, 0, 64, 4096, true},
        {JUNE, LAYOUT_TENSOR, 16, 4096, true},
        {JUNE, LAYOUT_TENSOR, 15, 4096, false},
        {JUNE, LAYOUT_TENSOR, 2048, 4096, true},
        {JUNE, LAYOUT_TENSOR, 2049, 4096, false},
        {JUNE, LAYOUT_TENSOR, 64, 8192, true},
        {JUNE, LAYOUT_TENSOR, 64, 8193, false},
        {JUNE, LAYOUT_TENSOR, 64, 2048, true},
        {JUNE, LAYOUT_TENSOR, 64, 2047, false},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        step = such;
        step.month = cases[i].month;
        step.kinds = cases[i].kinds;
        step.gpus = cases[i].gpus;
        step.hidden = cases[i].hidden;
        if ((model_error_near(&planted, &step, NULL).nearness == NEAR_RUN) != cases[i].run)
            fail_msg("case %u", i);
    }
}

/* The nearest row in size, date and kinds; the largest on the most GPUs; both of the same rows. */
static void test_nearest_rows(void **state)
{
    struct model_error_step step = STEP("alpha", "red", LAYOUT_TENSOR, 0, 400, 4096, false);
    struct model_error e = model_error_near(&planted, &step, NULL);
    assert_string_equal(e.nearest->id, "b");
    assert_string_equal(e.largest->id, "b");
    step.gpus = 64;
    assert_string_equal(model_error_near(&planted, &step, NULL).nearest->id, "a");
    /* Each is told with its own size. */
    char text[MODEL_ERROR_SENTENCE_MAX];
    e = model_error_near(&planted, &step, NULL);
    assert_non_null(strstr(model_error_sentence(&e, text, sizeof text),
                           "the nearest, a (64 GPUs), is predicted 18 % too fast; the largest has "
                           "512 GPUs"));
    step.gpus = 512;
    e = model_error_near(&planted, &step, NULL);
    assert_non_null(strstr(model_error_sentence(&e, text, sizeof text), "predicted 3 % too slow"));
    /* Of two that are alike the first. */
    static const struct measured_row alike[] = {
        {"first", "s", STEP("alpha", "red", 0, JUNE, 64, 4096, false), 0.0},
        {"second", "s", STEP("alpha", "red", 0, JUNE, 64, 4096, false), 0.1}};
    struct residues two = planted;
    two.measured = alike;
    two.count = 2;
    e = model_error_near(&two, &step, NULL);
    assert_string_equal(e.nearest->id, "first");
    assert_string_equal(e.largest->id, "first");
    step.gpus = 64;
    step.kinds = LAYOUT_PIPELINE;
    step.hidden = 8192;
    assert_string_equal(model_error_near(&planted, &step, NULL).nearest->id, "c");
    assert_string_equal(model_error_near(&planted, &step, NULL).largest->id, "b");
    assert_string_equal(model_error_near(&planted, &step, "s").largest->id, "c");
}

/* Octaves of GPUs, twice those of hidden size, kinds of layout, years: each against an octave or
 * less of GPUs. */
static void test_distances(void **state)
{
    static const struct measured_row pairs[][2] = {
        {{"near", "s", STEP("alpha", "red", 0, JUNE, 128, 4096, false), 0.0},
         {"far", "s", STEP("alpha", "red", 0, JUNE, 64, 6144, false), 0.0}},
        {{"near", "s", STEP("alpha", "red", 0, JUNE, 96, 4096, false), 0.0},
         {"far", "s", STEP("alpha", "red", LAYOUT_TENSOR, JUNE, 64, 4096, false), 0.0}},
        {{"near", "s", STEP("alpha", "red", 0, JUNE, 128, 4096, false), 0.0},
         {"far", "s", STEP("alpha", "red", 0, JUNE + 5, 64, 5800, false), 0.0}},
        {{"near", "s", STEP("alpha", "blue", 0, JUNE, 128, 4096, false), 0.0},
         {"far", "s", STEP("alpha", "blue", 0, JUNE - 24, 64, 4096, false), 0.0}},
        {{"near", "s", STEP("alpha", "blue", 0, JUNE, 128, 4096, false), 0.0},
         {"far", "s", STEP("alpha", "blue", 0, 0, 64, 4096, false), 0.0}},
    };
    const struct model_error_step step = STEP("alpha", "red", 0, JUNE, 64, 4096, false);
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct residues two = planted;
        two.measured = pairs[i];
        two.count = 2;
        const struct model_error e = model_error_near(&two, &step, NULL);
        assert_int_equal(e.rows, 2);
        if (strcmp(e.nearest->id, "near") != 0)
            fail_msg("pair %u", i);
    }
}

/* PyTorch's own stack and experts are wider, each in addition; rows of experts say nothing of dense
 * models. */
static void test_classes(void **state)
{
    static const struct measured_row mixed[] = {
        {"a", "s", STEP("alpha", "red", LAYOUT_EXPERTS | LAYOUT_TENSOR, 0, 64, 4096, false), 0.0},
        {"b", "t", STEP("alpha", "blue", 0, 0, 64, 4096, false), 0.0},
    };
    struct residues both = planted;
    both.measured = mixed;
    both.count = 2;
    struct model_error_step step = STEP("alpha", "red", LAYOUT_TENSOR, 0, 64, 4096, false);
    struct model_error e = model_error_near(&both, &step, NULL);
    assert_true(e.nearness == NEAR_SOFTWARE && e.rows == 1 && e.log_spread == 0.1);
    step.kinds |= LAYOUT_EXPERTS;
    e = model_error_near(&both, &step, NULL);
    assert_true(e.nearness == NEAR_LAYOUT && e.rows == 1);
    assert_true(fabs(e.log_spread - hypot(0.05, 0.15)) < 1e-12);
    assert_true(e.pair_log_spread == 0.04); /* not narrower than that of dense ones */
    step.native = true;
    e = model_error_near(&both, &step, NULL);
    assert_true(fabs(e.log_spread - sqrt(0.05 * 0.05 + 0.15 * 0.15 + 0.12 * 0.12)) < 1e-12);
    step.kinds = LAYOUT_TENSOR;
    e = model_error_near(&both, &step, NULL);
    assert_true(fabs(e.log_spread - hypot(0.1, 0.12)) < 1e-12);
    step.card = "blue";
    step.kinds = LAYOUT_EXPERTS;
    e = model_error_near(&both, &step, NULL);
    assert_true(e.nearness == NEAR_CARD && e.kinds_unseen == LAYOUT_EXPERTS);
    both.experts_pair_log_spread = 0.3;
    assert_true(model_error_near(&both, &step, NULL).pair_log_spread == 0.3);
    step.kinds = 0;
    assert_true(model_error_near(&both, &step, NULL).pair_log_spread == 0.04);
}

/* var(a - b) = a^2 + b^2 - 2 shared a b is the pairs' for layouts that are equally far off. */
static void test_shared(void **state)
{
    struct model_error close = near("alpha", "red", 0, NULL);
    struct model_error far = near("gamma", "white", 0, NULL);
    double a = close.log_spread, b = far.log_spread;
    double same = 2.0 * a * a * (1.0 - model_error_shared(&close, &close));
    assert_true(fabs(same - 0.04 * 0.04) < 1e-12);
    double both = a * a + b * b - 2.0 * model_error_shared(&close, &far) * a * b;
    assert_true(fabs(both - (0.04 * 0.04 + (a - b) * (a - b))) < 1e-12);
    /* Layouts that differ by more than their errors share nothing. */
    struct model_error loose = close;
    loose.pair_log_spread = 1.0;
    assert_true(model_error_shared(&loose, &loose) == 0.0);
}

/* What of a configuration counts. */
static void test_steps_of_configurations(void **state)
{
    static const char text[] = "cluster: {gpu: h100-80gb-sxm, gpus: 16}\n"
                               "model: {layers: 4, hidden: 2048, heads: 16, vocabulary: 32000}\n"
                               "training: {sequence: 2048, global_batch: 32, precision: fp8}\n"
                               "layout: {tp: 2, pp: 2, sharding: zero-1}\n"
                               "software: {profile: %s, release: 2025-06}\n";
    static const char *const profiles[] = {"nemo", "torchtitan"};
    for (unsigned i = 0; i < 2; i++) {
        char of[512];
        struct error error = {""};
        const int length = snprintf(of, sizeof of, text, profiles[i]);
        struct scenario *s = scenario_read("t", of, (size_t)length, NULL, &error);
        assert_non_null(s);
        const struct model_error_step step = model_error_step(&s->configuration);
        assert_string_equal(step.software, profiles[i]);
        assert_string_equal(step.card, "h100-80gb-sxm");
        assert_int_equal(step.kinds, LAYOUT_TENSOR | LAYOUT_PIPELINE);
        assert_string_equal(step.precision, "fp8");
        assert_string_equal(step.framework, profiles[i]);
        assert_string_equal(step.generation, "Hopper");
        assert_string_equal(step.maker, "NVIDIA");
        assert_int_equal(step.layers, LAYERS_FULL);
        assert_int_equal(step.month, 2025 * 12 + 5);
        assert_int_equal(step.gpus, 16);
        assert_int_equal(step.hidden, 2048);
        assert_int_equal(step.native, i == 1);
        scenario_destroy(s);
    }
}

/* Kinds of a layout, each by a layout that just has it and by one that just does not. */
static void test_kinds_of_layouts(void **state)
{
    static const struct {
        const char *layout, *precision;
        unsigned kinds;
    } cases[] = {
        {"{tp: 1, pp: 1, sharding: zero-1}", "bf16", 0},
        {"{tp: 8, pp: 1, sharding: zero-1}", "bf16", LAYOUT_TENSOR},
        {"{tp: 16, pp: 1, sharding: zero-1}", "bf16", LAYOUT_TENSOR | LAYOUT_TENSOR_ACROSS},
        {"{tp: 1, pp: 2, sharding: zero-1}", "bf16", LAYOUT_PIPELINE},
        {"{tp: 1, pp: 1, cp: 2, sharding: zero-1}", "bf16", LAYOUT_CONTEXT},
        {"{tp: 1, pp: 1, sharding: fsdp}", "bf16", LAYOUT_SHARDED},
        /* One replica alone: nothing is sharded, whatever the name. */
        {"{tp: 8, pp: 2, sharding: fsdp}", "bf16", LAYOUT_TENSOR | LAYOUT_PIPELINE},
        {"{tp: 1, pp: 1, sharding: zero-1}", "fp8", 0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        struct error error = {""};
        const int length =
            snprintf(text, sizeof text,
                     "cluster: {gpu: h100-80gb-sxm, gpus: 16}\n"
                     "model: {layers: 4, hidden: 2048, heads: 16, vocabulary: 32000}\n"
                     "training: {sequence: 2048, global_batch: 32, precision: %s}\nlayout: %s\n",
                     cases[i].precision, cases[i].layout);
        struct scenario *s = scenario_read("t", text, (size_t)length, NULL, &error);
        assert_non_null(s);
        assert_int_equal(s->diagnostics.error_count, 0);
        const unsigned kinds = model_error_step(&s->configuration).kinds;
        if (kinds != cases[i].kinds)
            fail_msg("case %u: kinds %u, not %u", i, kinds, cases[i].kinds);
        scenario_destroy(s);
    }
}

/* The generated list: widths that ascend, rows of known kinds, no row twice. */
static void test_shipped(void **state)
{
    const struct residues *r = &residues_shipped;
    assert_true(r->count > 5 && strstr(r->from, "clean rows, left out by source") != NULL);
    for (int k = 0; k < NEARNESS_COUNT; k++) {
        assert_true(r->log_spread[k] > 0.02 && r->log_spread[k] < 1.0);
        assert_true(k == 0 || r->log_spread[k] >= r->log_spread[k - 1]);
    }
    assert_true(r->within_log_spread > 0.0 && r->within_log_spread <= r->log_spread[0]);
    assert_true(r->pair_log_spread > 0.0);
    assert_true(r->regret.groups > 10 && r->regret.median_ratio < r->regret.p90_ratio);
    for (int k = 0; k < CLASS_LEARNED; k++)
        assert_true(r->class_log_spread[k] >= 0.0 && r->class_log_spread[k] < 1.0);
    for (size_t i = 0; i < r->count; i++) {
        const struct measured_row *m = &r->measured[i];
        assert_true(m->step.kinds < 1U << LAYOUT_KIND_COUNT && m->step.gpus > 0);
        assert_true(fabs(m->log_error) < 1.5);
        const struct model_error e = model_error_near(r, &m->step, NULL);
        assert_int_equal(e.nearness, m->step.month > 0 ? NEAR_RUN : NEAR_LAYOUT);
        assert_true(e.largest->step.gpus >= m->step.gpus);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(m->id, r->measured[k].id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_are_apart),
        cmocka_unit_test(test_nearness),
        cmocka_unit_test(test_such_a_run),
        cmocka_unit_test(test_nearest_rows),
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_steps_of_configurations),
        cmocka_unit_test(test_kinds_of_layouts),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_shipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
