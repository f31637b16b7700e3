/* How sure a step is: the same draws for any number of threads and draws, figures that two
 * scenarios share drawn alike, intervals of the model's own error by hand, shares that add up. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/record/evidence/power_error.h"
#include "analysis/record/evidence/uncertainty.h"
#include "models/layout/power_wall.h"
#include "models/step/simulate/step.h"
#include "sim/random.h"
#include "tests/test.h"

#define REST                                                                                       \
    "model: {layers: 3, hidden: 8192, heads: 64, vocabulary: 32000}\n"                             \
    "training: {sequence: 4096, global_batch: 16}\n"
#define EIGHT "cluster: {gpu: h100-80gb-sxm, gpus: 8}\n" REST

static struct scenario *read(const char *text)
{
    struct error error = {""};
    struct scenario *s = scenario_read("test.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

static struct uncertain_step draw(struct arena *arena, const struct scenario *s, uint32_t count,
                                  unsigned threads, uint64_t seed)
{
    struct uncertainty_options how = {
        .seed = seed, .draw_count = count, .threads = threads, .time_only = false};
    struct uncertain_step step;
    struct error error = {""};
    if (!uncertainty_draw(arena, s, &how, &step, &error))
        fail_msg("%s", error.text);
    return step;
}

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not %.17g", a, b);
}

static void test_draws_do_not_depend_on_threads_or_count(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *s = read(EIGHT);
    struct uncertain_step one = draw(arena, s, 12, 1, 7), four = draw(arena, s, 12, 4, 7);
    struct uncertain_step few = draw(arena, s, 5, 2, 7), other = draw(arena, s, 12, 1, 8);
    unsigned same = 0;
    for (unsigned i = 0; i < 12; i++) {
        assert_true(one.draws[i].log_step == four.draws[i].log_step);
        assert_true(i >= 5 || few.draws[i].log_step == one.draws[i].log_step);
        same += other.draws[i].log_step == one.draws[i].log_step;
    }
    assert_int_equal(same, 0);
    assert_true(one.log_spread > 0.0);
    scenario_destroy(s);
    arena_destroy(arena);
}

static void test_time_alone_is_the_same_time(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *s = read(EIGHT);
    struct uncertainty_options how = {.seed = 7, .draw_count = 8, .threads = 2, .time_only = true};
    struct uncertain_step whole = draw(arena, s, 8, 2, 7), timed;
    struct error error = {""};
    assert_true(uncertainty_draw(arena, s, &how, &timed, &error));
    assert_true(timed.step_s == whole.step_s);
    for (unsigned i = 0; i < 8; i++)
        assert_true(timed.draws[i].log_step == whole.draws[i].log_step && timed.draws[i].fits);
    scenario_destroy(s);
    arena_destroy(arena);
}

/* A twin that says the catalogue's figures itself is exact where the other is not. */
static void test_only_uncertain_figures_are_drawn(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *s = read("cluster: {gpu: {name: h100-80gb-sxm, gemm_efficiency: 66%}, "
                              "gpus: 8}\n" REST);
    struct scenario *whole = read(EIGHT);
    struct uncertain_step known = draw(arena, s, 24, 2, 1), drawn = draw(arena, whole, 24, 2, 1);
    assert_true(known.log_spread < drawn.log_spread);
    scenario_destroy(whole);
    scenario_destroy(s);
    arena_destroy(arena);
}

/* Four nodes, a leaf each, whose eight reductions choose among eight uplinks: with figures that are
 * all known the draws still differ by their paths, and by nothing where flows spread. */
static void test_paths_are_drawn(void **state)
{
    struct arena *arena = arena_create();
    for (unsigned ecmp = 0; ecmp < 2; ecmp++) {
        char text[400];
        snprintf(text, sizeof text,
                 "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 4, fabric: {kind: fat_tree, "
                 "nic: 400Gb/s, radix: 16, ecmp: %u}}\nlayout: {tp: 8, dp: 4}\n" REST,
                 ecmp);
        struct scenario *s = read(text);
        s->stated.constant_count = 0;
        struct uncertain_step some = draw(arena, s, 12, 2, 1), other = draw(arena, s, 12, 1, 1);
        unsigned unlike = 0;
        for (unsigned i = 0; i < 12; i++) {
            assert_true(some.draws[i].log_step == other.draws[i].log_step);
            unlike += some.draws[i].log_step != log(some.step_s);
        }
        assert_true(ecmp == 1 ? unlike > 0 : unlike == 0);
        scenario_destroy(s);
    }
    arena_destroy(arena);
}

static void test_intervals_by_hand(void **state)
{
    static struct uncertain_draw sure = {1.0, true, 1.0},
                                 two[] = {{-40.0, true, 0.5}, {40.0, false, 0.5}};
    const double own = 0.07;
    struct uncertain_step one = {.draws = &sure, .draw_count = 1, .own = {.log_spread = own}};
    /* One draw: a normal of the model's own error around it. */
    near(log(uncertainty_step_s(&one, 0.5)), 1.0, 1e-12);
    near(log(uncertainty_step_s(&one, 0.9)), 1.0 + 1.2815515655446004 * own, 1e-12);
    near(log(uncertainty_step_s(&one, 0.1)), 1.0 - 1.2815515655446004 * own, 1e-12);
    /* Two far apart: a tenth of the whole is a fifth of the lower one. */
    struct uncertain_step apart = {.draws = two, .draw_count = 2, .own = {.log_spread = own}};
    near(log(uncertainty_step_s(&apart, 0.1)), -40.0 - 0.8416212335729143 * own, 1e-12);
    near(uncertainty_fits_ratio(&apart), 0.5, 0.0);
}

static void test_power_by_hand(void **state)
{
    static struct uncertain_draw sure = {1.0, true, 1.0},
                                 two[] = {{2.0, true, 0.5}, {3.0, true, 0.5}};
    static struct drawn_power one_power = {5.0, 4.0}, powers[] = {{-42.0, 40.0}, {37.0, -40.0}};
    const double p90 = 1.2815515655446004, fifth = 0.8416212335729143;
    struct uncertain_step one = {.draws = &sure,
                                 .power = &one_power,
                                 .power_log_spread = 0.04,
                                 .most = {INFINITY, INFINITY},
                                 .draw_count = 1,
                                 .own = {.log_spread = 0.03}};
    /* Power alone, and power x time with both errors: .05. */
    near(log(uncertainty_node_w(&one, 0.9)), 4.0 + p90 * 0.04, 1e-12);
    near(log(uncertainty_energy_j(&one, 0.1)), 6.0 - p90 * 0.05, 1e-12);
    near(log(uncertainty_energy_j(&one, 0.5)), 6.0, 1e-12);
    /* Draws keep their own power: -42 + 2 and 37 + 3; of nodes the first is the greater one. */
    struct uncertain_step apart = one;
    apart.draws = two;
    apart.power = powers;
    apart.draw_count = 2;
    near(log(uncertainty_energy_j(&apart, 0.1)), -40.0 - fifth * 0.05, 1e-12);
    near(log(uncertainty_energy_j(&apart, 0.9)), 40.0 + fifth * 0.05, 1e-12);
    near(log(uncertainty_node_w(&apart, 0.9)), 40.0 + fifth * 0.04, 1e-12);
    powers[1].log_wall_w = NAN;
    assert_true(isnan(uncertainty_energy_j(&apart, 0.5)) && uncertainty_node_w(&apart, 0.5) > 0.0);
}

/* What the model itself says of the step whose power was measured (docs/models/power.md), to the
 * watt: a table of errors that says otherwise is that of another model. */
static double measured_step_predicted_w(void)
{
    static const char text[] =
        "model: gpt3-175b\ncluster: {gpu: h100-80gb-sxm, gpus: 512, node: {cooling: immersion}}\n"
        "training: {sequence: 2048, global_batch: 2048, precision: fp8}\n"
        "layout: {tp: 4, pp: 8, microbatch: 2}\n"
        "software: {profile: nemo, release: ngc24.06}\n";
    const struct step_options options = {.threads = 1, .time_only = true};
    struct scenario *s = read(text);
    struct error error = {""};
    struct step *step = NULL;
    assert_true(step_run(&s->configuration, &options, &step, &error));
    const double node_w = power_node_w(&s->configuration, step->power.card_w);
    step_destroy(step);
    scenario_destroy(s);
    return round(node_w);
}

/* GPT-3's nodes drew 6,912 W: 1.25 of the error of the prediction; a card or a cooling without a
 * measured step adds as much again, independently. */
static void test_error_of_power(void **state)
{
    static const struct {
        const char *cluster;
        double errors;
        const char *words;
    } rows[] = {
        {"gpu: h100-80gb-sxm, node: {cooling: immersion}", 1.0, "on this card, so cooled"},
        {"gpu: h100-80gb-sxm", 2.0, "on this card, cooled otherwise"},
        {"gpu: b200-180gb-sxm, node: {cooling: immersion}", 2.0,
         "no power of a step was measured on this card"},
        {"gpu: a100-80gb-sxm", 3.0,
         "no power of a step was measured on this card, nor in a node of this cooling"},
    };
    struct arena *arena = arena_create();
    const double predicted_w = measured_step_predicted_w();
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        snprintf(text, sizeof text, "cluster: {%s, gpus: 8}\n" REST, rows[i].cluster);
        struct scenario *s = read(text);
        struct uncertain_step step = draw(arena, s, 4, 2, 7);
        near(step.power_log_spread, 1.25 * log(6912.0 / predicted_w) * sqrt(rows[i].errors), 1e-12);
        const struct configuration *c = &s->configuration;
        const char *words = strstr(power_error_evidence(c), rows[i].words);
        assert_true(words != NULL && words[strlen(rows[i].words)] == '\0');
        for (unsigned k = 0; k < 4; k++) { /* one node without PUE: its inlet is the wall */
            near(step.power[k].log_wall_w, step.power[k].log_node_w, 1e-12);
            assert_true(exp(step.power[k].log_node_w) > 8.0 * c->gpu.power.idle_w);
            assert_true(exp(step.power[k].log_node_w) < 8.0 * 2.0 * c->gpu.power.cap_w);
            assert_true(k == 0 || step.power[k].log_wall_w != step.power[0].log_wall_w);
        }
        scenario_destroy(s);
    }
    arena_destroy(arena);
}

/* Cards hold their cap in a step, so no percentile of W passes that of cards at it: for a step that
 * draws .9, 1 or 1.1 of it in the median, with errors of power of 1 to 20 %. Energy is
 * power x time: no more than the free error makes it, and counted again by drawing both errors. */
static void test_no_power_above_the_cap(void **state)
{
    static const double shares[] = {0.9, 1.0, 1.1}, spreads[] = {0.01, 0.04, 0.2},
                        times[] = {0.03, 0.06};
    const double most = 7.0;
    struct arena *arena = arena_create();
    struct random_stream *stream = random_create(arena, 1, 2, "cap");
    for (unsigned i = 0; i < 18; i++) {
        struct uncertain_draw sure = {1.0, true, 1.0};
        const double log_w = most + log(shares[i % 3]);
        struct drawn_power power = {log_w, log_w};
        struct uncertain_step step = {.draws = &sure,
                                      .power = &power,
                                      .power_log_spread = spreads[i / 3 % 3],
                                      .most = {most, most},
                                      .draw_count = 1,
                                      .own = {.log_spread = times[i / 9]}};
        struct uncertain_step freely = step;
        freely.most = (struct drawn_power){INFINITY, INFINITY};
        for (double p = 0.1; p < 0.95; p += 0.4) {
            const double w = uncertainty_node_w(&step, p), j = uncertainty_energy_j(&step, p);
            near(w, fmin(uncertainty_node_w(&freely, p), exp(most)), 1e-9 * w);
            assert_true(j <= uncertainty_energy_j(&freely, p) * (1.0 + 1e-6));
            unsigned below = 0;
            const unsigned draws = 20000;
            for (unsigned k = 0; k < draws; k++)
                below += fmin(log_w + step.power_log_spread * random_normal(stream), most) + 1.0 +
                             step.own.log_spread * random_normal(stream) <=
                         log(j);
            /* Five standard errors. */
            near((double)below / draws, p, 5.0 * sqrt(p * (1.0 - p) / draws));
        }
    }
    arena_destroy(arena);
}

/* Of simulated steps, by a card whose cap binds. */
static void test_caps_of_simulated_steps(void **state)
{
    static const char *const clusters[] = {"gpu: h100-80gb-sxm",
                                           "gpu: {name: h100-80gb-sxm, power: 500W}",
                                           "gpu: a100-80gb-sxm", "gpu: b200-180gb-sxm"};
    struct arena *arena = arena_create();
    for (unsigned i = 0; i < sizeof clusters / sizeof *clusters; i++) {
        char text[512];
        snprintf(text, sizeof text, "cluster: {%s, gpus: 8}\n" REST, clusters[i]);
        struct scenario *s = read(text);
        const struct configuration *c = &s->configuration;
        struct uncertain_step step = draw(arena, s, 16, 2, 7);
        const double most_w = power_node_w(c, c->gpu.power.cap_w);
        near(exp(step.most.log_node_w), most_w, 1e-9 * most_w);
        near(exp(step.most.log_wall_w), most_w, 1e-9 * most_w); /* one node without PUE */
        for (double p = 0.1; p < 0.95; p += 0.4)
            assert_true(uncertainty_node_w(&step, p) <= most_w * (1.0 + 1e-12));
        scenario_destroy(s);
    }
    arena_destroy(arena);
}

static void test_against_itself_and_a_slower_one(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *a = read(EIGHT);
    struct scenario *slow = read("cluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
                                 "layout: {recompute: full}\n" REST);
    struct scenario *far = read("cluster: {gpu: a100-80gb-sxm, gpus: 8}\n" REST);
    struct uncertain_step x = draw(arena, a, 16, 2, 3), y = draw(arena, slow, 16, 2, 3);
    struct uncertain_step z = draw(arena, far, 16, 2, 3);
    struct uncertain_comparison same, there, back, elsewhere;
    uncertainty_compare(&x, &x, &same);
    assert_true(same.same && same.faster_probability == 0.5 && same.shared_ratio == 1.0);
    for (unsigned i = 0; i < 3; i++)
        assert_true(same.ratio[i] == 1.0);
    /* Equal by the figures as they are, and not in every draw: there is something to tell apart. */
    struct uncertain_step moved = draw(arena, a, 16, 2, 3);
    moved.draws[15].log_step += 0.01;
    uncertainty_compare(&x, &moved, &same);
    assert_true(!same.same && same.ratio[0] < 1.0 && same.ratio[2] > 1.0);
    near(same.shared_ratio, model_error_shared(&x.own, &x.own), 0.0);
    moved = x;
    moved.digest++;
    uncertainty_compare(&x, &moved, &same);
    assert_true(!same.same);
    uncertainty_compare(&x, &y, &there);
    uncertainty_compare(&y, &x, &back);
    near(there.faster_probability + back.faster_probability, 1.0, 1e-12);
    near(there.ratio[0] * back.ratio[2], 1.0, 1e-9);
    assert_true(x.step_s < y.step_s && there.faster_probability > UNCERTAINTY_TIE_HIGH);
    assert_true(!there.same && there.shared_ratio == model_error_shared(&x.own, &y.own));
    uncertainty_compare(&x, &z, &elsewhere);
    assert_true(elsewhere.shared_ratio == 0.0 && elsewhere.faster_probability > 0.9);
    scenario_destroy(far);
    scenario_destroy(slow);
    scenario_destroy(a);
    arena_destroy(arena);
}

/* The same time in every draw, .1 apart: what is left is the difference of two errors that share
 * part of their variance. */
static void test_a_difference_by_hand(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *s = read(EIGHT);
    static struct uncertain_draw here[2] = {{0.0, true, 0.5}, {0.0, true, 0.5}},
                                 there[2] = {{0.1, true, 0.25}, {0.1, false, 0.75}};
    struct uncertain_step a = {.scenario = s, .draws = here, .draw_count = 2, .digest = 1},
                          b = {.scenario = s, .draws = there, .draw_count = 2, .digest = 2};
    a.own = (struct model_error){.log_spread = 0.06, .pair_log_spread = 0.05};
    b.own = (struct model_error){.log_spread = 0.08, .pair_log_spread = 0.05};
    const double shared = 1.0 - 0.5 * 0.05 * 0.05 / (0.06 * 0.08);
    const double spread = sqrt(0.06 * 0.06 + 0.08 * 0.08 - 2.0 * shared * 0.06 * 0.08);
    struct uncertain_comparison found;
    uncertainty_compare(&a, &b, &found);
    near(found.shared_ratio, shared, 1e-12);
    near(log(found.ratio[1]), 0.1, 1e-9);
    near(log(found.ratio[2]), 0.1 + 1.2815515655446004 * spread, 1e-9);
    near(found.faster_probability, 0.5 * erfc(-0.1 / spread / sqrt(2.0)), 1e-12);
    near(uncertainty_fits_ratio(&b), 0.25, 0.0); /* by weights, not by number */
    scenario_destroy(s);
    arena_destroy(arena);
}

/* Errors are shared by layouts of one model on one machine with one software, and by nothing else:
 * each difference alone. */
static void test_what_shares_errors(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *s = read("cluster: {gpu: h100-80gb-sxm, gpus: 16}\n" REST),
                    *more = read("cluster: {gpu: h100-80gb-sxm, gpus: 32}\n" REST);
    struct uncertain_step x = draw(arena, s, 2, 1, 3), y = x;
    struct scenario others[8];
    struct uncertain_comparison found;
    for (unsigned i = 0; i < 8; i++)
        others[i] = *s;
    others[0].configuration.layout.recompute = RECOMPUTE_FULL; /* a layout: shared */
    others[1].configuration.model.layers++;
    others[2].configuration.model.mtp_layers++;
    others[3].configuration.training.sequence /= 2;
    others[4].configuration.gpu.name = "another";
    others[5].configuration.cluster.fabric.name = "another";
    others[6].configuration.software.name = "another";
    others[7] = *more;
    y.digest++;
    for (unsigned i = 0; i < 8; i++) {
        y.scenario = &others[i];
        uncertainty_compare(&x, &y, &found);
        if ((found.shared_ratio > 0.0) != (i == 0))
            fail_msg("case %u shares %g", i, found.shared_ratio);
    }
    scenario_destroy(more);
    scenario_destroy(s);
    arena_destroy(arena);
}

static void test_influences_add_up(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *s = read(EIGHT);
    struct uncertain_step step = draw(arena, s, 64, 4, 1);
    const struct influence *found = NULL;
    uint32_t count = 0;
    struct error error = {""};
    assert_true(uncertainty_influences(arena, &step, 4, &found, &count, &error));
    double own = step.own.log_spread, sum = 0.0, gemm = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(i == 0 || found[i].variance_ratio <= found[i - 1].variance_ratio);
        sum += found[i].variance_ratio;
        if (strstr(found[i].constant->name, "gemm_efficiency") != NULL)
            gemm = found[i].elasticity;
    }
    near(sum + uncertainty_model_ratio(found, count), 1.0, 1e-12);
    assert_true(gemm < -0.2 && gemm > -1.0); /* a faster GEMM; not all is GEMM */
    /* One figure at a time tells the same spread as all at once. */
    double apart = own * sqrt(sum / (1.0 - sum));
    assert_true(apart / step.log_spread > 0.7 && apart / step.log_spread < 1.4);
    scenario_destroy(s);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws_do_not_depend_on_threads_or_count),
        cmocka_unit_test(test_time_alone_is_the_same_time),
        cmocka_unit_test(test_only_uncertain_figures_are_drawn),
        cmocka_unit_test(test_paths_are_drawn),
        cmocka_unit_test(test_intervals_by_hand),
        cmocka_unit_test(test_power_by_hand),
        cmocka_unit_test(test_error_of_power),
        cmocka_unit_test(test_no_power_above_the_cap),
        cmocka_unit_test(test_caps_of_simulated_steps),
        cmocka_unit_test(test_against_itself_and_a_slower_one),
        cmocka_unit_test(test_a_difference_by_hand),
        cmocka_unit_test(test_what_shares_errors),
        cmocka_unit_test(test_influences_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
