/* Laws of the power of a card over a step: its integral is the energy of the step, and it follows
 * the ops. */
#include "models/step/simulate/power_curve.h"
#include "models/step/simulate/power_swing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

static struct scenario *read_sized(const char *cluster, const char *layout, const char *more,
                                   unsigned layers, unsigned sequence, unsigned batch)
{
    char text[1024];
    const struct scenario_options options = {0};
    struct error error;
    snprintf(text, sizeof text,
             "model: {layers: %u, hidden: 2048, heads: 16, vocabulary: 32000}\n"
             "cluster: {gpu: h100-80gb-sxm, %s}\ntraining: {sequence: %u, global_batch: %u}\n"
             "layout: {microbatch: 1, sharding: zero-1, %s}\n%s\n",
             layers, cluster, sequence, batch, layout, more);
    struct scenario *s = scenario_read("step.yaml", text, strlen(text), &options, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count > 0)
        fail_msg("%s\n%s", s->diagnostics.problems[0].text, text);
    return s;
}

static struct scenario *read_step(const char *cluster, const char *layout, const char *more)
{
    return read_sized(cluster, layout, more, 8, 2048, 32);
}

static double watts_at(const struct power_point *points, uint32_t count, double at_s)
{
    double card_w = NAN;
    for (uint32_t i = 0; i < count && points[i].at_s <= at_s; i++)
        card_w = points[i].card_w;
    return card_w;
}

static double integral_j(const struct power_point *points, uint32_t count, double step_s)
{
    double sum_j = 0.0;
    assert_true(count > 0 && points[0].at_s == 0.0);
    for (uint32_t i = 0; i < count; i++) {
        const double until_s = i + 1 < count ? points[i + 1].at_s : step_s;
        assert_true(until_s > points[i].at_s);
        assert_true(i == 0 || points[i].card_w != points[i - 1].card_w);
        sum_j += points[i].card_w * (until_s - points[i].at_s);
    }
    return sum_j;
}

/* In the middle of each op the card draws what its phase does, and in the middle of a wait for a
 * transfer or for others static power: a fifth of 700 W. */
static void check_course(const struct configuration *c, const struct step *s, uint32_t rank_class,
                         const struct power_point *points, uint32_t count)
{
    const struct program *program = s->lowered.programs[s->symmetry.ranks[rank_class].program];
    struct arena *arena = arena_create();
    struct step_cards cards;
    uint32_t waits;
    const struct worker_idle *wait = worker_idle(s->worker, rank_class, arena, &waits);
    step_power_cards(c, program, s->parts.class_breakdown_s[rank_class], &cards);
    assert_true(cards.card_w[POWER_COMPUTE] > 200.0 && cards.card_w[POWER_OPTIMIZER] > 200.0);
    for (uint32_t i = 0; i < program->op_count; i++) {
        const bool optimizer = program->ops[i].phase == PHASE_OPTIMIZER;
        const struct op_times at = worker_times(s->worker, rank_class, i);
        const double card_w = watts_at(points, count, 0.5 * (at.begin_s + at.finish_s));
        if (program->ops[i].kind == OP_COMPUTE && at.finish_s > at.begin_s)
            assert_true(card_w == cards.card_w[optimizer ? POWER_OPTIMIZER : POWER_COMPUTE]);
    }
    for (uint32_t i = 0; i < waits; i++)
        if (wait[i].until_s - wait[i].from_s > 1e-12) /* not the rounding of a sum */
            assert_true(fabs(watts_at(points, count, 0.5 * (wait[i].from_s + wait[i].until_s)) -
                             140.0) < 1e-9);
    arena_destroy(arena);
}

static const struct {
    const char *cluster, *layout, *more;
} steps[] = {
    {"gpus: 8", "tp: 1, dp: 8, pp: 1", ""},
    {"nodes: 2", "tp: 2, pp: 4, dp: 2, recompute: full", ""},
    {"nodes: 2", "tp: 4, pp: 2, dp: 2", "perturbations: {stragglers: [{gpu: 3, speed: 70%}]}"},
    {"nodes: 3", "tp: 2, pp: 2, dp: 4", ""}, /* eight GPUs are not used */
    {"gpus: 8, node: {conversion: 94%}", "tp: 2, dp: 4, pp: 1", ""},
    {"gpus: 4", "tp: 1, dp: 2, pp: 2", ""}, /* half of a node */
};

/* At the wall: 125 and 25 W beside a card, fans 13 %, conversion 94 %, a port of 11 W. */
static double wall_w(const struct configuration *c, double card_w)
{
    const double inlet_w = (card_w + 125.0 + 25.0 * (card_w - 70.0) / 630.0) * 1.13 / 0.94;
    return inlet_w + (c->cluster.nodes > 1 ? 11.0 : 0.0);
}

static void curves_are_the_energy(void **state)
{
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct scenario *scenario = read_step(steps[i].cluster, steps[i].layout, steps[i].more);
        const struct configuration *c = &scenario->configuration;
        struct arena *arena = arena_create();
        struct step *s;
        struct error error;
        double step_j = 0.0, ranks = 0.0;
        assert_true(step_run(c, &(struct step_options){0}, &s, &error));
        for (uint32_t k = 0; k < s->symmetry.rank_class_count; k++) {
            uint32_t count;
            const double of_class = (double)s->symmetry.ranks[k].rank_count;
            const struct power_point *points = power_curve(c, s, k, arena, &count);
            const double card_j = integral_j(points, count, s->step_s);
            step_j += of_class * wall_w(c, card_j / s->step_s) * s->step_s;
            ranks += of_class;
            check_course(c, s, k, points, count);
        }
        const double paid = i == 3 ? 16.0 : i == 5 ? 8.0 : ranks;
        step_j += (paid - ranks) * wall_w(c, 70.0) * s->step_s;
        if (!(fabs(step_j / s->power.step_j - 1.0) < 1e-9))
            fail_msg("%u: %.12g J, the step has %.12g", i, step_j, s->power.step_j);
        step_destroy(s);
        arena_destroy(arena);
        scenario_destroy(scenario);
    }
}

/* The cards of all ranks at a moment of a step that repeats, class by class; and
 * the mean of a window from there. */
struct naive {
    const struct step *step;
    const struct power_point *points[64];
    uint32_t counts[64];
};

static double cards_w_at(const struct naive *n, double at_s)
{
    const double within_s = at_s - floor(at_s / n->step->step_s) * n->step->step_s;
    double sum_w = 0.0;
    for (uint32_t k = 0; k < n->step->symmetry.rank_class_count; k++)
        sum_w += (double)n->step->symmetry.ranks[k].rank_count *
                 watts_at(n->points[k], n->counts[k], within_s);
    return sum_w;
}

/* Point by point of each class, in each step that the window touches. */
static double cards_w_of_window(const struct naive *n, double from_s)
{
    const double until_s = from_s + POWER_SWING_WINDOW_S, step_s = n->step->step_s;
    double sum_j = 0.0;
    for (double step = floor(from_s / step_s); step * step_s < until_s; step += 1.0)
        for (uint32_t k = 0; k < n->step->symmetry.rank_class_count; k++)
            for (uint32_t i = 0; i < n->counts[k]; i++) {
                const double end_s = i + 1 < n->counts[k] ? n->points[k][i + 1].at_s : step_s;
                const double begin_s = fmax(step * step_s + n->points[k][i].at_s, from_s);
                const double inside_s = fmin(step * step_s + end_s, until_s) - begin_s;
                sum_j += (double)n->step->symmetry.ranks[k].rank_count * n->points[k][i].card_w *
                         fmax(inside_s, 0.0);
            }
    return sum_j / POWER_SWING_WINDOW_S;
}

/* At the wall, of so many cards that draw cards_w together and some paid beside them, idle. */
static double job_w(const struct configuration *c, double cards_w, double ranks, double paid)
{
    return ranks * wall_w(c, cards_w / ranks) + (paid - ranks) * wall_w(c, 70.0);
}

static double change_w_at(const struct configuration *c, const struct naive *n, double paid,
                          double at_s)
{
    const double ranks = (double)configuration_ranks(c);
    const double before_w = cards_w_of_window(n, at_s - POWER_SWING_WINDOW_S);
    const double behind_w = cards_w_of_window(n, at_s);
    return fabs(job_w(c, behind_w, ranks, paid) - job_w(c, before_w, ranks, paid));
}

/* Peak and low are those of the sum of the curves behind any of their points; the change is that of
 * windows of which one begins or ends at a point. No other moment has more. */
static void check_swing(const struct configuration *c, const struct naive *n, double paid)
{
    enum {
        MOMENTS = 60
    };
    const double ranks = (double)configuration_ranks(c);
    double peak_w = 0.0, low_w = INFINITY, change_w = 0.0, mean_w = 0.0;
    struct power_swing swing;
    power_swing_of(c, n->step, &swing);
    for (uint32_t k = 0; k < n->step->symmetry.rank_class_count; k++)
        for (uint32_t i = 0; i < n->counts[k]; i++) {
            const double at_s = n->points[k][i].at_s;
            const double cards_w = cards_w_at(n, at_s + 1e-12); /* not the rounding of a sum */
            peak_w = fmax(peak_w, job_w(c, cards_w, ranks, paid));
            low_w = fmin(low_w, job_w(c, cards_w, ranks, paid));
            for (int ends = -1; ends <= 1; ends++)
                change_w =
                    fmax(change_w, change_w_at(c, n, paid, at_s + ends * POWER_SWING_WINDOW_S));
        }
    if (!(fabs(swing.peak_w - peak_w) < 1e-6 * peak_w && fabs(swing.low_w - low_w) < 1e-6 * low_w))
        fail_msg("%.9g to %.9g W, not %.9g to %.9g", swing.low_w, swing.peak_w, low_w, peak_w);
    if (!(fabs(swing.change_w - change_w) < 1e-8 * peak_w))
        fail_msg("%.12g W from window to window, not %.12g", swing.change_w, change_w);
    for (unsigned i = 0; i < MOMENTS; i++) {
        const double at_s = n->step->step_s * i / MOMENTS;
        mean_w += job_w(c, cards_w_at(n, at_s), ranks, paid) / MOMENTS;
        assert_true(change_w_at(c, n, paid, at_s) < swing.change_w + 1e-8 * peak_w);
    }
    assert_true(mean_w > low_w && mean_w < peak_w);
}

static void swings_are_those_of_the_curves(void **state)
{
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        for (unsigned sequence = 2048; sequence <= 32768; sequence *= 16) {
            struct scenario *scenario =
                read_sized(steps[i].cluster, steps[i].layout, steps[i].more, 4, sequence, 8);
            const struct configuration *c = &scenario->configuration;
            struct arena *arena = arena_create();
            struct step *s;
            struct error error;
            assert_true(step_run(c, &(struct step_options){0}, &s, &error));
            struct naive n = {.step = s};
            assert_true(s->symmetry.rank_class_count <= 64);
            assert_true((s->step_s > POWER_SWING_WINDOW_S) == (sequence > 2048));
            for (uint32_t k = 0; k < s->symmetry.rank_class_count; k++)
                n.points[k] = power_curve(c, s, k, arena, &n.counts[k]);
            check_swing(c, &n, i == 3 ? 16.0 : i == 5 ? 8.0 : (double)configuration_ranks(c));
            step_destroy(s);
            arena_destroy(arena);
            scenario_destroy(scenario);
        }
    }
}

/* Nobody stated what the node draws, or nobody kept the course of the step. */
static void what_is_not_known_is_none(void **state)
{
    struct scenario *scenario = read_step("gpus: 8", "tp: 1, dp: 8, pp: 1", "");
    struct power_swing swing;
    struct step *s;
    struct error error;
    assert_true(step_run(&scenario->configuration, &(struct step_options){.outcome_only = true}, &s,
                         &error));
    power_swing_of(&scenario->configuration, s, &swing);
    assert_true(isnan(swing.peak_w) && isnan(swing.low_w) && isnan(swing.change_w));
    step_destroy(s);
    scenario->configuration.cluster.node.power.conversion_ratio = 0.0;
    assert_true(step_run(&scenario->configuration, &(struct step_options){0}, &s, &error));
    power_swing_of(&scenario->configuration, s, &swing);
    assert_true(isnan(swing.peak_w) && isnan(swing.low_w) && isnan(swing.change_w));
    step_destroy(s);
    scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(curves_are_the_energy),
                                       cmocka_unit_test(swings_are_those_of_the_curves),
                                       cmocka_unit_test(what_is_not_known_is_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
