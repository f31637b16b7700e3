/* Objectives, deadline, budget, headroom and the front, against every layout of a small space
 * played op by op. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/plan/search/search_front.h"
#include "analysis/plan/search/search_lead.h"
#include "analysis/plan/search/search_machine.h"
#include "analysis/plan/search/search_terms.h"
#include "sim/random.h"
#include "sim/units.h"
#include "tests/analysis/plan/search_spaces.h"
#include "tests/sanitized.h"
#include "tests/test.h"

#define HEADROOM 0.02
enum {
    ALL_LEADERS = 100000
};

static struct search *search_for(const struct scenario *scenario, struct search_terms terms,
                                 uint32_t leaders, double headroom_ratio)
{
    const struct search_question question = {.base = &scenario->configuration,
                                             .headroom_ratio = headroom_ratio,
                                             .leaders = leaders,
                                             .terms = terms,
                                             .threads = 2};
    struct search *search = NULL;
    struct error error = {""};
    assert_true(search_terms_check(&terms, question.base, &error));
    assert_true(search_run(&question, &search, &error));
    return search;
}

static void check_kept(const struct search *freely, const struct search *kept, double most_s)
{
    uint32_t expected = 0;
    while (expected < freely->leader_count && freely->leaders[expected].step_s <= most_s)
        expected++;
    assert_true(expected > 0 && expected < freely->leader_count);
    assert_int_equal(kept->leader_count, expected);
    for (uint32_t i = 0; i < expected; i++)
        assert_true(kept->leaders[i].step_s == freely->leaders[i].step_s);
}

static void a_deadline_and_a_budget_cut_the_slow(void **state)
{
    struct scenario *scenario = space_read_priced(1);
    const struct configuration *c = &scenario->configuration;
    struct search *freely =
        search_for(scenario, (struct search_terms){.best = BEST_STEP}, ALL_LEADERS, HEADROOM);
    const double middle_s = freely->leaders[freely->leader_count / 2].step_s;
    const double steps =
        ceil(1e9 / (double)(c->training.global_batch * c->training.sequence)); /* whole ones */
    const double usd_per_s = 16.0 * 2.0 / 3600.0, more = 1.0 + 1e-12;
    struct search *kept =
        search_for(scenario, (struct search_terms){.deadline_s = middle_s * steps * more},
                   ALL_LEADERS, HEADROOM);
    check_kept(freely, kept, middle_s);
    assert_true(kept->counts.fates[FATE_DEADLINE] > 0 && kept->counts.fates[FATE_BUDGET] == 0);
    search_destroy(kept);
    kept = search_for(scenario,
                      (struct search_terms){.budget_usd = middle_s * steps * usd_per_s * more},
                      ALL_LEADERS, HEADROOM);
    check_kept(freely, kept, middle_s);
    assert_true(kept->counts.fates[FATE_DEADLINE] == 0 && kept->counts.fates[FATE_BUDGET] > 0);
    search_destroy(kept);
    search_destroy(freely);
    scenario_destroy(scenario);
}

/* What cannot be had is told, with the nearest that can. */
static void nothing_in_time_has_a_nearest(void **state)
{
    struct scenario *scenario = space_read_priced(3);
    struct search *freely =
        search_for(scenario, (struct search_terms){.best = BEST_DAYS}, 1, HEADROOM);
    const double best_s = freely->leaders[0].training_s;
    struct search *none =
        search_for(scenario, (struct search_terms){.deadline_s = best_s * 0.99}, 3, HEADROOM);
    assert_int_equal(none->leader_count, 0);
    assert_true(none->has_near && none->near.training_s == best_s);
    uint32_t sum = 0;
    for (unsigned f = 0; f < FATE_COUNT; f++)
        sum += none->counts.fates[f];
    assert_int_equal(sum, none->row_count);
    assert_true(none->counts.fates[FATE_DEADLINE] > 0);
    assert_int_equal(none->counts.fates[FATE_OPEN] + none->counts.fates[FATE_TIMED], 0);
    search_destroy(none);
    search_destroy(freely);
    scenario_destroy(scenario);
}

/* The energy of each leader is that of its step by itself. Of two that lead by time, the one of
 * less energy stands first; of the others, which take longer, one of less yet draws less power than
 * is said to be needed. */
static void the_least_energy_leads(void **state)
{
    for (unsigned space = SANITIZED_EVERY(3); space < 4; space++) {
        struct scenario *scenario = space_read(space_texts[space]);
        const struct search_terms terms = {.best = BEST_ENERGY};
        struct search *all = search_for(scenario, terms, ALL_LEADERS, HEADROOM);
        struct search *two = search_for(scenario, terms, 2, HEADROOM);
        assert_true(isnan(all->watts.needed_w) && two->watts.needed_w > 0.0);
        for (uint32_t i = 0; i < all->leader_count; i++) {
            const struct search_leader *l = &all->leaders[i];
            const struct step_options options = {.time_only = true, .threads = 1};
            struct configuration c;
            struct step *step;
            struct error error = {""};
            plan_layout_apply(all->base, &l->row->layout, &c);
            assert_true(step_run(&c, &options, &step, &error));
            const double tokens = (double)(c.training.global_batch * c.training.sequence);
            assert_true(fabs(l->energy_j_per_token * tokens / step->power.step_j - 1.0) < 1e-12);
            assert_true(fabs(l->wall_w * step->step_s / step->power.step_j - 1.0) < 1e-12);
            step_destroy(step);
            assert_true(i == 0 || l->energy_j_per_token >= all->leaders[i - 1].energy_j_per_token);
            assert_true(l->step_s >= two->leaders[0].step_s || l->step_s >= two->leaders[1].step_s);
            if (l->step_s > fmax(two->leaders[0].step_s, two->leaders[1].step_s) &&
                l->energy_j_per_token < two->leaders[0].energy_j_per_token)
                assert_true(l->wall_w < two->watts.needed_w);
        }
        const double last_s = fmax(two->leaders[0].step_s, two->leaders[1].step_s);
        assert_true(
            fabs(two->watts.needed_w * last_s / two->leaders[0].wall_w / two->leaders[0].step_s -
                 1.0) < 1e-12);
        struct search_leader beside = all->leaders[0];
        beside.energy_j_per_token = beside.wall_w = NAN;
        search_lead_beside(all, &beside);
        assert_true(beside.energy_j_per_token == all->leaders[0].energy_j_per_token);
        search_destroy(all);
        search_destroy(two);
        scenario_destroy(scenario);
    }
}

static void terms_that_cannot_be_judged_are_refused(void **state)
{
    struct scenario *scenario = space_read(space_texts[0]);
    struct configuration c = scenario->configuration;
    struct error error = {""};
    assert_false(search_terms_check(&(struct search_terms){.deadline_s = DAY}, &c, &error));
    assert_non_null(strstr(error.text, "--tokens"));
    assert_false(search_terms_check(&(struct search_terms){.best = BEST_DAYS}, &c, &error));
    c.training.tokens = 1e12;
    c.gpu.price_per_hour_usd = 0.0;
    assert_true(search_terms_check(&(struct search_terms){.best = BEST_DAYS}, &c, &error));
    assert_false(search_terms_check(&(struct search_terms){.budget_usd = 1e6}, &c, &error));
    assert_non_null(strstr(error.text, "cost.gpu_hour"));
    assert_false(search_terms_check(&(struct search_terms){.best = BEST_COST}, &c, &error));
    assert_true(search_terms_check(&(struct search_terms){.best = BEST_ENERGY}, &c, &error));
    c.cluster.node.power.conversion_ratio = 0.0;
    assert_false(search_terms_check(&(struct search_terms){.best = BEST_ENERGY}, &c, &error));
    assert_non_null(strstr(error.text, "cluster.node.conversion"));
    scenario_destroy(scenario);
}

/* Less headroom never rejects more, and none at all is allowed. */
static void headroom_is_memory_that_stays_free(void **state)
{
    static const double ratios[] = {0.0, 0.1, 0.4, 0.8};
    struct scenario *scenario = space_read_priced(4);
    double last_s = 0.0;
    uint32_t rejected = 0;
    for (unsigned i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
        struct search *s = search_for(scenario, (struct search_terms){0}, 1, ratios[i]);
        const double card = s->base->gpu.hbm.usable_bytes;
        assert_true(i > 0 ? s->counts.fates[FATE_HEADROOM] >= rejected
                          : s->counts.fates[FATE_HEADROOM] == 0);
        rejected = s->counts.fates[FATE_HEADROOM];
        for (uint32_t r = 0; r < s->row_count; r++) {
            const struct search_row *row = &s->rows[r];
            if (row->fate == FATE_HEADROOM)
                assert_true(row->least_bytes <= card &&
                            row->least_bytes > card * (1.0 - ratios[i]));
            if (row->fate == FATE_MEMORY)
                assert_true(row->least_bytes > card);
        }
        if (s->leader_count > 0) {
            assert_true(s->leaders[0].peak_reserved_bytes <= card * (1.0 - ratios[i]));
            assert_true(s->leaders[0].step_s >= last_s);
            last_s = s->leaders[0].step_s;
        }
        search_destroy(s);
    }
    assert_true(last_s > 0.0 && rejected > 0);
    scenario_destroy(scenario);
}

/* No layout of all is faster than the front at its own free memory, less a step of the front. */
static void nothing_stands_before_the_front(void **state)
{
    for (unsigned space = SANITIZED_EVERY(3); space < SPACE_COUNT; space += SANITIZED_EVERY(3)) {
        struct arena *arena = arena_create();
        struct scenario *scenario = space_read_priced(space);
        struct search *s = search_for(scenario, (struct search_terms){0}, 3, HEADROOM);
        const double card = s->base->gpu.hbm.usable_bytes;
        struct search_front front;
        struct space_played *all;
        search_front_find(arena, s, &front);
        const size_t count = space_play(arena, s->base, 0, card * (1.0 - HEADROOM), &all);
        assert_true(front.count > 1);
        for (uint32_t i = 0; i < front.count; i++) {
            const struct search_leader *l = &front.leaders[i];
            const double free_ratio = 1.0 - l->peak_reserved_bytes / card;
            assert_true(free_ratio >= front.asked_ratio[i]);
            assert_true(i == 0 || l->step_s >= front.leaders[i - 1].step_s);
            for (size_t k = 0; k < count; k++)
                if (1.0 - all[k].leader.peak_reserved_bytes / card >= front.asked_ratio[i])
                    assert_true(all[k].leader.step_s >= l->step_s);
        }
        for (size_t k = 0; k < count; k++) {
            const double free_ratio = 1.0 - all[k].leader.peak_reserved_bytes / card;
            bool matched = false;
            for (uint32_t i = 0; i < front.count; i++)
                matched = matched ||
                          (front.leaders[i].step_s <= all[k].leader.step_s &&
                           search_front_free_ratio(s->base, &front.leaders[i]) + FRONT_STEP_RATIO >=
                               free_ratio);
            assert_true(matched);
        }
        print_message("%u of %zu layouts are the front\n", (unsigned)front.count, count);
        search_destroy(s);
        scenario_destroy(scenario);
        arena_destroy(arena);
    }
}

/* Random machines: who is unbeaten, first, and on the front of all, by the words themselves. */
enum {
    MACHINES = 6,
    POINTS = 4
};
static void draw_machines(struct random_stream *r, struct search_machine *rows,
                          struct search_leader (*points)[POINTS])
{
    for (unsigned i = 0; i < MACHINES; i++) {
        rows[i] = (struct search_machine){.found = random_uniform(r) < 0.8, .card_bytes = 8.0};
        for (unsigned k = 0; k < POINTS; k++) {
            points[i][k] = (struct search_leader){
                .tokens_per_s = floor(random_uniform(r) * 4.0) + 1.0,
                .usd_per_1e9_tokens = floor(random_uniform(r) * 4.0),
                .peak_reserved_bytes = floor(random_uniform(r) * 8.0),
            };
        }
        rows[i].leader = points[i][0];
        rows[i].front =
            (struct search_front){.leaders = points[i], .count = rows[i].found ? POINTS : 0};
    }
}

static bool dominates(const struct search_leader *a, const struct search_leader *b, bool memory)
{
    const bool as_good = a->tokens_per_s >= b->tokens_per_s &&
                         a->usd_per_1e9_tokens <= b->usd_per_1e9_tokens &&
                         (!memory || a->peak_reserved_bytes <= b->peak_reserved_bytes);
    return as_good &&
           (a->tokens_per_s > b->tokens_per_s || a->usd_per_1e9_tokens < b->usd_per_1e9_tokens ||
            (memory && a->peak_reserved_bytes < b->peak_reserved_bytes));
}

static void machines_are_ranked(void **state)
{
    struct arena *draws = arena_create();
    struct random_stream *r = random_create(draws, 7, 0, "machines");
    for (unsigned trial = 0; trial < 500; trial++) {
        struct arena *arena = arena_create();
        struct search_machine rows[MACHINES];
        struct search_leader points[MACHINES][POINTS];
        draw_machines(r, rows, points);
        struct search_machines all = {
            .question.terms.best = BEST_TOKENS, .rows = rows, .count = MACHINES, .has_front = true};
        search_machines_rank(arena, &all);
        size_t front = 0, firsts = 0;
        for (unsigned i = 0; i < MACHINES; i++) {
            bool beaten = !rows[i].found;
            for (unsigned k = 0; k < MACHINES; k++)
                beaten =
                    beaten || (rows[k].found && dominates(&rows[k].leader, &rows[i].leader, false));
            assert_true(rows[i].unbeaten == !beaten);
            firsts += rows[i].first;
            for (unsigned k = 0; k < MACHINES; k++)
                assert_true(!rows[i].first || !rows[k].found ||
                            rows[k].leader.tokens_per_s <= rows[i].leader.tokens_per_s);
            for (unsigned p = 0; rows[i].found && p < POINTS; p++) {
                bool dominated = false;
                for (unsigned k = 0; k < MACHINES * POINTS; k++)
                    dominated = dominated ||
                                (rows[k / POINTS].found &&
                                 dominates(&points[k / POINTS][k % POINTS], &points[i][p], true));
                front += !dominated;
            }
        }
        assert_int_equal(all.front_count, front);
        assert_true(firsts <= 1);
        arena_destroy(arena);
    }
    arena_destroy(draws);
}

/* A machine on which none keeps the terms says which of them its fastest misses, the deadline
 * first. */
static void machines_say_what_they_miss(void **state)
{
    static const struct configuration base = {.cluster.gpus = 8};
    static struct search_row row;
    static const struct {
        double days, usd;
        const char *missed;
    } rows[] = {{2.0, 5.0, "deadline"}, {1.0, 5.0, "budget"}, {2.0, 4.0, "deadline"}};
    struct arena *arena = arena_create();
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct search_leader leader = {
            .row = &row, .training_s = rows[i].days * 86400.0, .training_usd = rows[i].usd};
        struct search search = {.base = &base, .has_near = true, .near = leader};
        struct search_machine machine = {0};
        search.question.terms = (struct search_terms){.deadline_s = 86400.0, .budget_usd = 4.0};
        search_machine_keep(arena, &machine, &search);
        assert_string_equal(search_machine_missed(&machine), rows[i].missed);
        assert_true(machine.near && !machine.found && machine.gpus == 8);
        assert_true(machine.leader.training_s == leader.training_s);
    }
    struct search none = {.base = &base};
    struct search_machine machine = {0};
    search_machine_keep(arena, &machine, &none);
    assert_string_equal(search_machine_missed(&machine), "memory");
    machine.too_many = true;
    assert_string_equal(search_machine_missed(&machine), "gpus");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadline_and_a_budget_cut_the_slow),
        cmocka_unit_test(nothing_in_time_has_a_nearest),
        cmocka_unit_test(the_least_energy_leads),
        cmocka_unit_test(terms_that_cannot_be_judged_are_refused),
        cmocka_unit_test(headroom_is_memory_that_stays_free),
        cmocka_unit_test(nothing_stands_before_the_front),
        cmocka_unit_test(machines_are_ranked),
        cmocka_unit_test(machines_say_what_they_miss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
