/* The scenario's own layout among the leaders of a search. */
#include <math.h>
#include <string.h>

#include "analysis/plan/search/search.h"
#include "analysis/plan/search/search_lead.h"
#include "analysis/plan/search/search_own.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/units.h"
#include "tests/analysis/plan/search_spaces.h"
#include "tests/test.h"

enum {
    LEADERS = 4,
    SPACE = 1 /* experts or not, with several stages: of search_spaces.h */
};

static struct search *search_for(const struct scenario *scenario, struct search_terms terms,
                                 double headroom_ratio)
{
    const struct search_question question = {.base = &scenario->configuration,
                                             .headroom_ratio = headroom_ratio,
                                             .leaders = LEADERS,
                                             .terms = terms,
                                             .threads = 2};
    struct search *search = NULL;
    struct error error = {""};
    assert_true(search_run(&question, &search, &error));
    assert_int_equal(search->leader_count, LEADERS);
    return search;
}

static void rank_layout(struct search *search, const struct plan_layout *layout,
                        struct search_own *own)
{
    struct configuration c;
    plan_layout_apply(search->base, layout, &c);
    search_own_rank(search, &c, own);
}

/* Errors of two layouts share a part: 0.5 erfc(log ratio / spread sqrt 2), symmetric about a half,
 * so that of the pair the two probabilities add up to one. */
static void check_order(const struct search *s)
{
    assert_true(s->leaders[0].as_fast_probability == 1.0);
    for (uint32_t i = 1; i < s->leader_count; i++) {
        assert_true(s->leaders[i].step_s >= s->leaders[i - 1].step_s);
        assert_true(s->leaders[i].as_fast_probability <= 0.5);
    }
    for (uint32_t i = 0; i < s->pareto_count; i++)
        assert_true(s->pareto[i] < s->leader_count && (i == 0 || s->pareto[i] > s->pareto[i - 1]));
}

static void one_that_the_search_has_keeps_its_place(void **state)
{
    struct scenario *scenario = space_read_priced(SPACE);
    struct search *s = search_for(scenario, (struct search_terms){.best = BEST_STEP}, 0.0);
    for (uint32_t i = 0; i < LEADERS; i++) {
        struct search_own own;
        rank_layout(s, &s->leaders[i].row->layout, &own);
        assert_true(own.stated && own.fits && own.found && !own.tight);
        assert_int_equal(own.rank, i + 1);
        assert_false(own.leads); /* it was found, as the first too */
        assert_int_equal(own.unsearched, 0);
        assert_int_equal(s->leader_count, LEADERS);
    }
    search_destroy(s);
    scenario_destroy(scenario);
}

/* The second of a search for which the first one's schedule, with all rows of it, is not there. */
static void one_that_is_not_searched_leads(void **state)
{
    struct scenario *scenario = space_read_priced(SPACE);
    struct search *s = search_for(scenario, (struct search_terms){.best = BEST_STEP}, 0.0);
    struct search_own own;
    const struct plan_layout best = s->leaders[0].row->layout;
    const struct search_leader first = s->leaders[0], second = s->leaders[1];
    const double fell = second.as_fast_probability;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < s->row_count; i++) /* as if no microbatch of its size were searched */
        if (s->rows[i].layout.microbatch != best.microbatch)
            s->rows[rows++] = s->rows[i];
    s->row_count = rows;
    for (uint32_t i = 1; i < LEADERS; i++)
        s->leaders[i - 1] = s->leaders[i];
    s->leader_count = LEADERS - 1;
    s->has_safe = true;
    s->safe = second;
    s->safe.as_fast_probability = 1.0;
    rank_layout(s, &best, &own);
    assert_true(fabs(s->safe.as_fast_probability - fell) < 1e-12);
    assert_true(own.fits && !own.found);
    assert_int_equal(own.rank, 1);
    assert_int_equal(own.unsearched, 1u << PLAN_MICROBATCH);
    assert_int_equal(s->leader_count, LEADERS);
    assert_true(s->leaders[0].step_s == first.step_s && s->leaders[0].row == &own.row);
    assert_true(s->leaders[1].step_s == second.step_s);
    assert_true(fabs(s->leaders[1].as_fast_probability - fell) < 1e-12);
    check_order(s);
    assert_true(s->pareto_count > 0 && s->pareto[0] == 0);
    assert_true(s->own.log_spread > 0.0);
    search_destroy(s);
    scenario_destroy(scenario);
}

/* Each value by itself is searched, these two together are not. */
static void two_that_never_stand_together(void **state)
{
    struct scenario *scenario = space_read_priced(SPACE);
    struct search *s = search_for(scenario, (struct search_terms){.best = BEST_STEP}, 0.0);
    const struct plan_layout own = s->leaders[0].row->layout;
    uint32_t rows = 0, with_microbatch = 0, with_pp = 0;
    for (uint32_t i = 0; i < s->row_count; i++) {
        const struct plan_layout *l = &s->rows[i].layout;
        const bool microbatch = l->microbatch == own.microbatch, pp = l->pp == own.pp;
        with_microbatch += microbatch && !pp;
        with_pp += pp && !microbatch;
        if (!(microbatch && pp))
            s->rows[rows++] = s->rows[i];
    }
    assert_true(with_microbatch > 0 && with_pp > 0 && rows < s->row_count);
    const unsigned whole = search_unsearched(s, &own);
    s->row_count = rows;
    assert_int_equal(whole, 0);
    assert_int_equal(search_unsearched(s, &own), 1u << PLAN_PP | 1u << PLAN_MICROBATCH);
    search_destroy(s);
    scenario_destroy(scenario);
}

static unsigned unsearched(const struct configuration *base, const struct plan_layout *rows,
                           uint32_t count, const struct plan_layout *own)
{
    struct search_row searched[2] = {{.layout = rows[0]}, {.layout = rows[count - 1]}};
    const struct search s = {.base = base, .rows = searched, .row_count = count};
    return search_unsearched(&s, own);
}

/* Of two rows each has all keys of a layout but one: just these two never stand together. */
static void every_pair_of_keys(void **state)
{
    struct scenario *scenario = space_read_priced(SPACE);
    const struct configuration *base = &scenario->configuration;
    const struct plan_layout own = plan_layout_of(base);
    struct plan_layout other = own;
    other.tp++, other.pp++, other.cp++, other.microbatch++, other.vpp++, other.ep++;
    other.sequence_parallel = !own.sequence_parallel;
    static const enum plan_axis keys[] = {
        PLAN_TP, PLAN_PP, PLAN_CP, PLAN_EP, PLAN_MICROBATCH, PLAN_VPP, PLAN_SEQUENCE_PARALLEL};
    const unsigned count = sizeof keys / sizeof keys[0];
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = i + 1; k < count; k++) {
            struct plan_layout rows[2] = {own, own};
            plan_layout_copy(&rows[0], &other, keys[i]);
            plan_layout_copy(&rows[1], &other, keys[k]);
            assert_int_equal(unsearched(base, rows, 2, &own), 1u << keys[i] | 1u << keys[k]);
            assert_int_equal(unsearched(base, rows, 1, &own), 1u << keys[i]);
            rows[1] = own;
            assert_int_equal(unsearched(base, rows, 2, &own), 0);
        }
    scenario_destroy(scenario);
}

/* What a search walks up from is searched; experts are cut over tp where nothing else is said. */
static void what_is_the_same(void **state)
{
    struct scenario *scenario = space_read_priced(SPACE);
    const struct configuration *base = &scenario->configuration;
    struct plan_layout own = plan_layout_of(base), row = own;
    own.recompute = RECOMPUTE_NONE;
    row.recompute = RECOMPUTE_FULL;
    assert_int_equal(unsearched(base, &row, 1, &own), 0);
    row = own;
    own.ep = row.ep = 2;
    own.tp = row.tp = 4;
    own.etp = 0;
    row.etp = 4;
    assert_int_equal(unsearched(base, &row, 1, &own), 0);
    row.etp = 1;
    assert_int_equal(unsearched(base, &row, 1, &own), 1u << PLAN_EP);
    own.ep = row.ep = 1; /* of a dense model nothing is cut: tp alone is another */
    own.etp = row.etp = 0;
    own.tp = 2;
    assert_int_equal(unsearched(base, &row, 1, &own), 1u << PLAN_TP);
    const struct search s = {.base = base, .question = {.headroom_ratio = 0.25}};
    struct search_leader full = {.peak_reserved_bytes = 0.75 * base->gpu.hbm.usable_bytes};
    assert_false(search_tight(&s, &full));
    full.peak_reserved_bytes *= 1.0 + 1e-12;
    assert_true(search_tight(&s, &full));
    scenario_destroy(scenario);
}

static void a_slow_one_or_a_late_one_is_no_leader(void **state)
{
    struct scenario *scenario = space_read_priced(SPACE);
    struct search *s = search_for(scenario, (struct search_terms){.best = BEST_STEP}, 0.0);
    struct search_own own;
    struct plan_layout slow = s->leaders[0].row->layout;
    slow.recompute = RECOMPUTE_FULL;
    slow.recompute_layers = 0;
    for (uint32_t i = 0; i < s->row_count; i++) /* the search had to walk nowhere */
        s->rows[i].layout.recompute = RECOMPUTE_NONE;
    rank_layout(s, &slow, &own);
    assert_true(own.fits && own.leader.step_s > s->leaders[LEADERS - 1].step_s);
    assert_int_equal(own.rank, 0);
    assert_int_equal(own.unsearched, 0); /* the search walks up to it */
    assert_int_equal(s->leader_count, LEADERS);
    s->leader_count = LEADERS - 1; /* fewer than were asked for */
    rank_layout(s, &slow, &own);
    assert_int_equal(own.rank, LEADERS);
    assert_int_equal(s->leader_count, LEADERS);
    check_order(s);
    s->leader_count = LEADERS - 1;
    s->question.terms.deadline_s = own.leader.training_s * (1.0 - 1e-9);
    rank_layout(s, &slow, &own);
    assert_int_equal(own.rank, 0);
    s->question.terms.deadline_s = own.leader.training_s * (1.0 + 1e-9);
    rank_layout(s, &slow, &own);
    assert_int_equal(own.rank, LEADERS);
    s->leader_count = 0; /* alone */
    s->has_near = true;
    rank_layout(s, &slow, &own);
    assert_int_equal(own.rank, 1);
    assert_false(s->has_near);
    assert_true(s->leaders[0].as_fast_probability == 1.0);
    search_destroy(s);
    scenario_destroy(scenario);
}

/* It may leave less of the card free than the others have to. */
static void a_tight_one_is_told(void **state)
{
    struct scenario *scenario = space_read_priced(SPACE);
    struct search *s = search_for(scenario, (struct search_terms){.best = BEST_STEP}, 0.0);
    struct search_own own;
    const double usable = s->base->gpu.hbm.usable_bytes, peak = s->leaders[1].peak_reserved_bytes;
    const struct plan_layout layout = s->leaders[1].row->layout;
    s->question.headroom_ratio = 1.0 - peak * (1.0 - 1e-9) / usable;
    rank_layout(s, &layout, &own);
    assert_true(own.fits && own.tight);
    s->question.headroom_ratio = 1.0 - peak * (1.0 + 1e-9) / usable;
    rank_layout(s, &layout, &own);
    assert_true(own.fits && !own.tight);
    struct plan_layout broken = layout;
    broken.tp = 3;
    rank_layout(s, &broken, &own);
    assert_true(own.stated && !own.fits && own.rank == 0);
    search_destroy(s);
    scenario_destroy(scenario);
}

/* What is not listed needs the more goodput, the more tokens the new first keeps. */
static void a_better_first_needs_more_to_be_beaten(void **state)
{
    struct scenario *scenario = space_read_priced(SPACE);
    struct search *s = search_for(scenario, (struct search_terms){.best = BEST_STEP}, 0.0);
    const struct search_weeks was = {.tokens_per_s = 100.0}, is = {.tokens_per_s = 150.0};
    struct search_leader mine = s->leaders[0];
    const struct search_row row = *mine.row;
    mine.row = &row;
    mine.step_s *= 0.5;
    mine.weeks = &is;
    s->leaders[0].weeks = &was;
    s->needed_goodput_ratio = 0.6;
    assert_int_equal(search_lead_take(s, &mine), 1);
    assert_true(fabs(s->needed_goodput_ratio - 0.9) < 1e-12);
    search_destroy(s);
    scenario_destroy(scenario);
}

static void values_are_named_as_keys_are(void **state)
{
    struct arena *arena = arena_create();
    const struct search_own own = {.row = {.layout = {.tp = 2,
                                                      .pp = 3,
                                                      .cp = 4,
                                                      .ep = 5,
                                                      .etp = 6,
                                                      .vpp = 7,
                                                      .microbatch = 8,
                                                      .recompute = RECOMPUTE_MODULES,
                                                      .sequence_parallel = true,
                                                      .schedule = &schedule_one_f_one_b,
                                                      .sharding = &sharding_zero_1}}};
    static const char *const names[PLAN_AXIS_COUNT] = {"tp 2",
                                                       "pp 3",
                                                       "cp 4",
                                                       "ep 5 with etp 6",
                                                       "microbatch 8",
                                                       "schedule 1f1b",
                                                       "vpp 7",
                                                       "recompute modules",
                                                       "sharding zero-1",
                                                       "sequence_parallel true"};
    for (unsigned key = 0; key < PLAN_AXIS_COUNT; key++)
        assert_string_equal(search_own_value(arena, &own.row.layout, (enum plan_axis)key),
                            names[key]);
    arena_destroy(arena);
}

/* Experts are searched whole, or cut as the tensor ranks are: a share of them cut otherwise is not
 * among what was searched, whatever other layout has as many. */
static void experts_cut_otherwise_are_not_searched(void **state)
{
    struct scenario *scenario = space_read(space_texts[5]);
    struct search *s = search_for(scenario, (struct search_terms){.best = BEST_STEP}, 0.0);
    unsigned asked = 0;
    for (uint32_t i = 0; i < s->row_count; i++) {
        struct plan_layout layout = s->rows[i].layout;
        struct search_own own;
        bool met = false;
        if (layout.tp < 2 || layout.ep < 2 || s->rows[i].fate == FATE_RULE)
            continue;
        layout.etp = layout.tp;
        for (uint32_t k = 0; k < s->row_count; k++)
            met = met || (s->rows[k].layout.ep == layout.ep && s->rows[k].layout.etp == layout.etp);
        rank_layout(s, &layout, &own);
        if (!own.fits)
            continue;
        assert_int_equal(own.unsearched >> PLAN_EP & 1u, !met);
        asked += !met;
    }
    assert_true(asked > 0);
    search_destroy(s);
    scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_the_search_has_keeps_its_place),
        cmocka_unit_test(one_that_is_not_searched_leads),
        cmocka_unit_test(two_that_never_stand_together),
        cmocka_unit_test(every_pair_of_keys),
        cmocka_unit_test(what_is_the_same),
        cmocka_unit_test(a_slow_one_or_a_late_one_is_no_leader),
        cmocka_unit_test(a_tight_one_is_told),
        cmocka_unit_test(a_better_first_needs_more_to_be_beaten),
        cmocka_unit_test(values_are_named_as_keys_are),
        cmocka_unit_test(experts_cut_otherwise_are_not_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
