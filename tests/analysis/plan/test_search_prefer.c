/* In which order leaders are told: what the model's error does not tell from the best stands by how
 * surely it fits; all else keeps its place, and the best is named. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/plan/search/search.h"
#include "analysis/plan/search/search_prefer.h"
#include "analysis/plan/search/search_terms.h"
#include "analysis/record/evidence/uncertainty.h"
#include "sim/random.h"
#include "tests/analysis/plan/search_spaces.h"
#include "tests/test.h"

enum {
    LEADERS = 40,
    SHUFFLES = 60,
    SPACE = 1
};

static struct search *search_for(const struct scenario *scenario, enum search_best best)
{
    const struct search_question question = {.base = &scenario->configuration,
                                             .leaders = LEADERS,
                                             .terms = {.best = best},
                                             .threads = 2};
    struct search *search = NULL;
    struct error error = {""};
    assert_true(search_run(&question, &search, &error));
    assert_true(search->leader_count >= 6);
    return search;
}

static double sureness(const struct search_leader *l)
{
    return l->fit.known ? fmin(l->fit.ratio, SEARCH_SURE_RATIO) : 0.0;
}

/* To three digits. */
static double shown_s(const struct search_leader *l)
{
    const double unit = pow(10.0, floor(log10(l->step_s)) - 2.0);
    return round(l->step_s / unit) * unit;
}

static bool seen(const struct search_leader *l)
{
    return l->nearness <= NEAR_LAYOUT;
}

static bool tie(const struct search_leader *before, uint32_t i)
{
    return before[i].as_fast_probability >= UNCERTAINTY_TIE_LOW;
}

/* Where the leader of this place stood before. */
static uint32_t was_at(const struct search *s, const struct search_leader *before, uint32_t place)
{
    uint32_t i = 0;
    while (before[i].row != s->leaders[place].row)
        i++;
    assert_true(i < s->leader_count);
    return i;
}

/* `before` stands by the objective. Returns whether the order is another one. */
static bool check(const struct search *s, const struct search_leader *before)
{
    bool found[LEADERS] = {false}, changed = false;
    for (uint32_t i = 0; i < s->leader_count; i++) {
        const uint32_t at = was_at(s, before, i);
        assert_true(!found[at]); /* nobody is lost */
        found[at] = true;
        changed = changed || at != i;
        assert_true(tie(before, at) == tie(before, i)); /* only ties change places */
        assert_true(tie(before, at) || at == i);
        assert_true(s->leaders[i].fit.ratio == before[at].fit.ratio);
        assert_true(s->leaders[i].step_s == before[at].step_s);
        for (uint32_t k = 0; k < i && tie(before, at); k++) {
            const uint32_t other = was_at(s, before, k);
            if (!tie(before, other))
                continue;
            assert_true(sureness(&s->leaders[k]) >= sureness(&s->leaders[i]));
            const bool alike = shown_s(&before[other]) == shown_s(&before[at]);
            assert_true(sureness(&s->leaders[k]) > sureness(&s->leaders[i]) ||
                        (alike ? seen(&before[other]) > seen(&before[at]) ||
                                     (seen(&before[other]) == seen(&before[at]) && other < at)
                               : other < at));
        }
    }
    assert_true(s->leaders[search_prefer_fastest(s)].step_s == before[0].step_s);
    assert_true(s->leaders[0].as_fast_probability == 1.0);
    for (uint32_t i = 1; i < s->leader_count; i++)
        assert_true((s->leaders[i].as_fast_probability > 0.5) ==
                    (s->leaders[i].step_s < s->leaders[0].step_s));
    for (uint32_t i = 0; i < s->pareto_count && changed;
         i++) /* else of the steps before `before` */
        for (uint32_t k = 0; k < s->leader_count; k++) {
            const struct search_leader *l = &s->leaders[s->pareto[i]], *other = &s->leaders[k];
            assert_true(other->step_s >= l->step_s ||
                        other->peak_reserved_bytes > l->peak_reserved_bytes);
        }
    return changed;
}

static void draw_fits(struct search *s, struct random_stream *stream)
{
    static const double ratios[] = {0.2, 0.5, 0.53125, 0.875, 0.9, 0.96875, 1.0, 1.0};
    for (uint32_t i = 0; i < s->leader_count; i++) {
        const unsigned pick = (unsigned)(9.0 * random_uniform(stream)); /* 0: not known */
        s->leaders[i].fit = (struct search_fit){.known = pick > 0, .draws = 64};
        s->leaders[i].fit.ratio = pick > 0 ? ratios[pick - 1] : 0.99;
        if (i > 0 && random_uniform(stream) < 0.2) /* beyond the error, between ties; or just not */
            s->leaders[i].as_fast_probability = i % 2 == 0 ? 0.1 : UNCERTAINTY_TIE_LOW;
        s->leaders[i].nearness = (enum nearness)(NEARNESS_COUNT * random_uniform(stream));
        if (i > 0 && random_uniform(stream) < 0.5) /* one step, or a step that prints alike */
            s->leaders[i].step_s =
                s->leaders[i - 1].step_s * (random_uniform(stream) < 0.5 ? 1.0 : 1.0 + 1e-9);
    }
}

static void sure_ones_stand_first(void **state)
{
    struct scenario *scenario = space_read_priced(SPACE);
    struct search *s = search_for(scenario, BEST_STEP);
    struct arena *arena = arena_create();
    struct random_stream *stream = random_create(arena, 1, 0, "fits");
    struct search_leader order[LEADERS], before[LEADERS];
    unsigned changed = 0, others = 0;
    memcpy(order, s->leaders, s->leader_count * sizeof *order);
    for (uint32_t i = 0; i < s->leader_count; i++)
        others += !tie(order, i);
    s->has_safe = true;
    for (unsigned n = 0; n < SHUFFLES; n++) {
        memcpy(s->leaders, order, s->leader_count * sizeof *order);
        draw_fits(s, stream);
        s->safe = s->leaders[s->leader_count - 1];
        memcpy(before, s->leaders, s->leader_count * sizeof *order);
        const bool told = search_prefer(s);
        const bool moved = check(s, before);
        assert_true(told == moved);
        changed += moved;
        assert_true(s->safe.as_fast_probability ==
                        s->leaders[was_at(s, before, s->leader_count - 1)].as_fast_probability ||
                    moved);
    }
    assert_true(changed > SHUFFLES / 2 && others > 0);
    search_destroy(s);
    scenario_destroy(scenario);
    arena_destroy(arena);
}

static void what_is_sure_enough_stays(void **state)
{
    struct scenario *scenario = space_read_priced(SPACE);
    struct search *s = search_for(scenario, BEST_STEP);
    struct search_leader before[LEADERS];
    for (uint32_t i = 0; i < s->leader_count; i++)
        s->leaders[i].fit = (struct search_fit){true, 64, i == 0 ? SEARCH_SURE_RATIO : 1.0};
    memcpy(before, s->leaders, s->leader_count * sizeof *before);
    assert_false(search_prefer(s));
    assert_true(memcmp(before, s->leaders, s->leader_count * sizeof *before) == 0);
    s->leaders[0].fit.ratio = SEARCH_SURE_RATIO - 1.0 / 64.0;
    memcpy(before, s->leaders, s->leader_count * sizeof *before);
    assert_true(tie(before, 1));
    assert_true(search_prefer(s));
    assert_true(check(s, before));
    search_destroy(s);
    scenario_destroy(scenario);
}

static void by_energy_the_order_stays(void **state)
{
    struct scenario *scenario = space_read_priced(SPACE);
    struct search *s = search_for(scenario, BEST_ENERGY);
    for (uint32_t i = 0; i < s->leader_count; i++)
        s->leaders[i].fit = (struct search_fit){true, 64, i == 0 ? 0.1 : 1.0};
    const struct search_row *first = s->leaders[0].row;
    assert_false(search_prefer(s));
    assert_true(s->leaders[0].row == first && search_prefer_fastest(s) == 0);
    search_destroy(s);
    scenario_destroy(scenario);
}

/* Weeks have other digits than steps: of two that fit as surely the one whose layout was measured
 * goes first where steps are asked for, and the objective decides where weeks are. */
static void only_steps_ask_what_was_seen(void **state)
{
    struct scenario *scenario = space_read_priced(SPACE);
    for (int best = 0; best < SEARCH_BEST_COUNT; best++) {
        struct search *s = search_for(scenario, BEST_STEP);
        s->question.terms.best = (enum search_best)best;
        for (uint32_t i = 0; i < s->leader_count; i++) {
            struct search_leader *l = &s->leaders[i];
            l->fit = (struct search_fit){true, 64, 1.0};
            l->nearness = i == 0 ? NEAR_CARD : NEAR_LAYOUT;
            l->step_s = s->leaders[0].step_s;
            l->as_fast_probability = 1.0;
        }
        assert_int_equal(search_prefer(s), best == BEST_STEP || best == BEST_TOKENS);
        search_destroy(s);
    }
    scenario_destroy(scenario);
}

static void the_best_by_each_objective(void **state)
{
    struct scenario *scenario = space_read_priced(SPACE);
    struct search *s = search_for(scenario, BEST_STEP);
    struct search_weeks weeks[LEADERS] = {{0}};
    for (uint32_t place = 0; place < s->leader_count; place++) {
        const struct {
            enum search_best best;
            uint32_t at; /* one of its own */
        } asked[] = {{BEST_STEP, place},
                     {BEST_TOKENS, (place + 1) % s->leader_count},
                     {BEST_COST, (place + 2) % s->leader_count},
                     {BEST_DAYS, (place + 3) % s->leader_count},
                     {BEST_GOODPUT, (place + 4) % s->leader_count},
                     {BEST_ENERGY, (place + 5) % s->leader_count}};
        assert_int_equal(sizeof asked / sizeof asked[0], SEARCH_BEST_COUNT);
        for (uint32_t i = 0; i < s->leader_count; i++) {
            struct search_leader *l = &s->leaders[i];
            weeks[i].tokens_per_s = i == asked[4].at ? 2.0 : 1.0;
            l->weeks = &weeks[i];
            l->step_s = i == asked[0].at ? 1.0 : 2.0;
            l->tokens_per_s = i == asked[1].at ? 2.0 : 1.0;
            l->usd_per_1e9_tokens = i == asked[2].at ? 1.0 : 2.0;
            l->training_s = i == asked[3].at ? 1.0 : 2.0;
            l->energy_j_per_token = i == asked[5].at ? 1.0 : 2.0;
        }
        for (unsigned k = 0; k < SEARCH_BEST_COUNT; k++) {
            s->question.terms.best = asked[k].best;
            assert_int_equal(search_prefer_fastest(s), asked[k].at);
        }
    }
    search_destroy(s);
    scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sure_ones_stand_first),
        cmocka_unit_test(what_is_sure_enough_stays),
        cmocka_unit_test(by_energy_the_order_stays),
        cmocka_unit_test(only_steps_ask_what_was_seen),
        cmocka_unit_test(the_best_by_each_objective),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
