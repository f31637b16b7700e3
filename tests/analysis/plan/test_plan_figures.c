/* What the catalogue's figures do to the interval of a leader: as full simulations with the same
 * draws have it, each leader with its own error, and nothing where no figure is uncertain. */
#include <math.h>
#include <string.h>

#include "analysis/command/plan/plan_figures.h"
#include "analysis/record/evidence/uncertainty.h"
#include "sim/pool.h"
#include "tests/test.h"

enum {
    LEADERS = 8,
    DRAWS = 64
};
static const double z_of_p90 = 1.2815515655446004;

static struct scenario *scenario_of(const char *model, const char *cluster, unsigned batch)
{
    char text[1024];
    struct error error = {""};
    snprintf(text, sizeof text,
             "model: %s\ncluster: {%s}\n"
             "training: {global_batch: %u, sequence: 4096}\nsoftware: megatron\n"
             "layout: {tp: 8, pp: 1}\n", /* which leads nowhere here */
             model, cluster, batch);
    struct scenario *s = scenario_read("test.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count > 0)
        fail_msg("%s\n%s", s->diagnostics.problems[0].text, text);
    return s;
}

static struct search *search_for(const struct scenario *s)
{
    const struct search_question question = {
        .base = &s->configuration, .leaders = LEADERS, .threads = pool_threads_available()};
    struct search *search;
    struct error error = {""};
    assert_true(search_run(&question, &search, &error));
    assert_int_equal(search->leader_count, LEADERS);
    return search;
}

static struct model_error own_of(const struct search *search, const struct search_leader *leader)
{
    struct configuration c;
    plan_layout_apply(search->base, &leader->row->layout, &c);
    return model_error_of(&residues_shipped, &c, NULL);
}

/* The first's quantiles beside those of the engine, whose draws are the same; the widths of the
 * others differ by their own error alone. Returns how many of them rest on other evidence. */
static unsigned check(struct scenario *s, double least_wider)
{
    unsigned differing = 0;
    struct arena *arena = arena_create();
    struct search *search = search_for(s);
    struct uncertain_step step;
    struct error error = {""};
    const struct search_leader *first = &search->leaders[0];
    const double before = log(first->p90_s / first->p10_s);
    struct search_leader own = search->leaders[LEADERS - 1];
    search->safe = search->near = own;
    search->has_safe = search->has_near = true;
    plan_figures_apply(s, search, &own);
    for (unsigned i = 0; i < 3; i++) {
        const struct search_leader *l = i == 0 ? &own : i == 1 ? &search->safe : &search->near;
        assert_true(l->p10_s == search->leaders[LEADERS - 1].p10_s);
        assert_true(l->p90_s == search->leaders[LEADERS - 1].p90_s);
    }
    struct scenario *whole = ARENA_NEW(arena, struct scenario);
    *whole = *s;
    plan_layout_apply(search->base, &first->row->layout, &whole->configuration);
    const struct uncertainty_options how = {.seed = s->configuration.seed,
                                            .draw_count = DRAWS,
                                            .threads = pool_threads_available(),
                                            .time_only = true};
    assert_true(uncertainty_draw(arena, whole, &how, &step, &error));
    assert_true(fabs(log(first->p10_s / uncertainty_step_s(&step, 0.1))) < 0.01);
    assert_true(fabs(log(first->p90_s / uncertainty_step_s(&step, 0.9))) < 0.01);
    assert_true(log(first->p90_s / first->p10_s) > before + least_wider);
    for (uint32_t i = 1; i < LEADERS; i++) {
        const struct search_leader *l = &search->leaders[i];
        struct uncertain_step its = step;
        its.own = own_of(search, l);
        differing += its.own.nearness != step.own.nearness;
        const double width = log(uncertainty_step_s(&its, 0.9) / uncertainty_step_s(&its, 0.1));
        assert_true(fabs(log(l->p90_s / l->p10_s) - width) < 0.01);
        assert_true(fabs(log(l->p10_s / first->p10_s * first->step_s / l->step_s)) < 0.1);
        assert_true(l->p10_s < l->step_s && l->step_s < l->p90_s);
    }
    search_destroy(search);
    scenario_destroy(s);
    arena_destroy(arena);
    return differing;
}

static void as_the_engine_draws(void **state)
{
    assert_true(check(scenario_of("llama3-8b", "gpu: h100-80gb-sxm, nodes: 2", 32), 0.001) > 0);
    check(scenario_of("mixtral-8x7b", "gpu: h100-80gb-sxm, nodes: 4", 64), 0.001);
}

/* Most figures of an announced card are assumed. */
static void announced_cards_widen(void **state)
{
    check(scenario_of("llama3-8b", "gpu: vr200-288gb, gpus: 8", 32), 0.02);
}

static void exact_figures_change_nothing(void **state)
{
    struct scenario *s = scenario_of("llama3-8b", "gpu: h100-80gb-sxm, nodes: 2", 32);
    s->stated.constant_count = 0;
    struct search *search = search_for(s);
    plan_figures_apply(s, search, NULL);
    for (uint32_t i = 0; i < LEADERS; i++) {
        const struct search_leader *l = &search->leaders[i];
        const double far = z_of_p90 * own_of(search, l).log_spread;
        assert_true(fabs(log(l->p10_s / l->step_s) + far) < 1e-6);
        assert_true(fabs(log(l->p90_s / l->step_s) - far) < 1e-6);
    }
    search_destroy(search);
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_engine_draws),
        cmocka_unit_test(announced_cards_widen),
        cmocka_unit_test(exact_figures_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
