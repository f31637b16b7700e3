/* The planner against an exhaustive search: every layout of a small space, at every level of
 * recomputation, played op by op with its ledger and without any bound. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/plan/search/search_terms.h"
#include "analysis/plan/search/search_why.h"
#include "models/schedule/schedule_kind.h"
#include "scenarios/assemble/scenario.h"
#include "tests/analysis/plan/search_spaces.h"
#include "tests/sanitized.h"
#include "tests/test.h"

static struct search_question question_of(const struct scenario *scenario, unsigned held,
                                          uint32_t leaders, unsigned threads)
{
    return (struct search_question){.base = &scenario->configuration,
                                    .held = held,
                                    .headroom_ratio = 0.02,
                                    .leaders = leaders,
                                    .threads = threads};
}

static struct search *search_asked(const struct search_question *question)
{
    struct search *search = NULL;
    struct error error = {""};
    assert_true(search_run(question, &search, &error));
    return search;
}

static struct search *search_of(const struct scenario *scenario, unsigned held, uint32_t leaders,
                                unsigned threads)
{
    const struct search_question question = question_of(scenario, held, leaders, threads);
    return search_asked(&question);
}

/* The fastest step of all that fit, op by op. */
static double exhaustive_s(const struct search *s, unsigned held)
{
    struct arena *arena = arena_create();
    struct space_played *all;
    double best_s = INFINITY;
    const size_t count =
        space_play(arena, s->base, held, s->base->gpu.hbm.usable_bytes * 0.98, &all);
    for (size_t i = 0; i < count; i++)
        best_s = fmin(best_s, all[i].leader.step_s);
    arena_destroy(arena);
    return best_s;
}

/* What the objective is by its meaning, of a step of so long. */
static double value_by_hand(enum search_best best, const struct configuration *c, double step_s)
{
    const double tokens = (double)(c->training.global_batch * c->training.sequence);
    const struct node_spec *node = &c->cluster.node; /* none of the spaces has racks of chassis */
    const uint64_t whole = node->installed_gpus > 0 ? node->installed_gpus : node->gpus;
    const double gpus = (double)(c->cluster.nodes * whole);
    switch (best) {
    case BEST_STEP:
        return step_s;
    case BEST_TOKENS:
        return -tokens / step_s;
    case BEST_COST:
        return gpus * SPACE_GPU_HOUR_USD / 3600.0 * step_s / tokens * 1e9;
    case BEST_DAYS: /* of 10^9 tokens, the last step whole */
        return ceil(1e9 / tokens) * step_s;
    case BEST_GOODPUT: /* test_search_weeks.c */
    case BEST_ENERGY:  /* test_search_terms.c */
    case SEARCH_BEST_COUNT:
        break;
    }
    return NAN;
}

/* Whatever it is for. */
static void check_best(const struct search *s, double best_s)
{
    const double least = value_by_hand(s->question.terms.best, s->base, best_s);
    const double found = search_terms_value(&s->question.terms, &s->leaders[0]);
    assert_true(s->leader_count > 0 && s->leaders[0].played);
    assert_true(s->leaders[0].step_s == best_s);
    assert_true(fabs(found - least) <= 1e-12 * fabs(least));
    assert_true(s->counts.played < s->counts.considered / 4); /* and it did not play them all */
}

static void pruning_loses_nothing(void **state)
{
    for (unsigned t = 0; t < SPACE_COUNT; t += SANITIZED_EVERY(3)) {
        struct scenario *scenario = space_read_priced(t);
        double best_s = NAN;
        for (unsigned best = 0; best < BEST_GOODPUT; best++) {
            struct search_question question = question_of(scenario, 0, 4, 2);
            question.terms.best = (enum search_best)best;
            struct search *s = search_asked(&question);
            best_s = best == 0 ? exhaustive_s(s, 0) : best_s;
            print_message("%u layouts, %u timed, %u played: best by %s\n",
                          (unsigned)s->counts.considered, (unsigned)s->counts.timed,
                          (unsigned)s->counts.played, search_best_names[best]);
            check_best(s, best_s);
            search_destroy(s);
        }
        scenario_destroy(scenario);
    }
}

static void every_layout_has_its_fate(void **state)
{
    struct scenario *scenario = space_read(space_texts[1]);
    struct search *s = search_of(scenario, 0, 5, 1);
    uint32_t sum = 0;
    for (unsigned f = 0; f < FATE_COUNT; f++)
        sum += s->counts.fates[f];
    assert_int_equal(sum, s->row_count);
    assert_int_equal(s->counts.fates[FATE_OPEN], 0);
    for (uint32_t i = 0; i < s->row_count; i++) {
        const struct search_row *row = &s->rows[i];
        assert_true((row->fate == FATE_RULE) == (row->rule != NULL));
        if (row->fate == FATE_MEMORY)
            assert_true(row->least_bytes == 0.0 ||
                        row->least_bytes > s->base->gpu.hbm.usable_bytes * 0.98);
        if (row->pass_s > 0.0)
            assert_true(row->least_s <= row->pass_s * (1.0 + 1e-9));
        if (row->fate == FATE_BOUND)
            assert_true(row->least_s >= s->leaders[0].step_s);
    }
    search_destroy(s);
    scenario_destroy(scenario);
}

static void held_keys_stay(void **state)
{
    char text[512];
    snprintf(text, sizeof text, "%s%s", space_texts[1],
             "layout: {tp: 2, recompute: full, microbatch: 2}\n");
    struct scenario *scenario = space_read(text);
    const unsigned held = 1u << PLAN_TP | 1u << PLAN_RECOMPUTE | 1u << PLAN_MICROBATCH;
    struct search *s = search_of(scenario, held, 3, 1);
    assert_true(s->leader_count > 0 && s->row_count > 3);
    for (uint32_t i = 0; i < s->row_count; i++) {
        assert_int_equal(s->rows[i].layout.tp, 2);
        assert_int_equal(s->rows[i].layout.microbatch, 2);
        assert_int_equal(s->rows[i].layout.recompute, RECOMPUTE_FULL);
    }
    assert_true(s->leaders[0].step_s == exhaustive_s(s, held));
    search_destroy(s);
    scenario_destroy(scenario);
}

static struct search_verdict why(const struct search *s, const char *text)
{
    struct search_wish wish;
    struct search_verdict verdict;
    struct error error = {""};
    assert_true(search_wish_read(text, &wish, &error));
    assert_true(search_why(s, &wish, &verdict, &error));
    return verdict;
}

static void reasons_are_given(void **state)
{
    struct scenario *scenario = space_read(space_texts[4]);
    struct search *s = search_of(scenario, 0, 3, 2);
    /* 7 B parameters on 40 GB: what they need, and where memory ends. */
    struct search_verdict v = why(s, "tp=1,pp=1,sharding=zero-0");
    assert_true(v.row != NULL && !v.played && v.overflow.known && v.overflow.tensor != NULL);
    assert_true(v.overflow.needed_bytes > v.overflow.usable_bytes);
    search_why_end(&v);
    v = why(s, "microbatch=64");
    assert_true(v.row->fate == FATE_RULE && v.rule[0] != '\0');
    search_why_end(&v);
    v = why(s, "tp=3,pp=5");
    assert_null(v.row);
    search_why_end(&v);
    /* Values that the search itself never takes are judged all the same. */
    v = why(s, "tp=32");
    assert_true(v.row != NULL);
    search_why_end(&v);
    /* Of a dense model too: each key by itself, and none that was not named. */
    v = why(s, "etp=2");
    assert_true(v.row->fate == FATE_RULE && v.c.layout.etp == 2 && v.c.layout.ep == 1);
    assert_non_null(strstr(v.rule, "a dense model has no experts"));
    search_why_end(&v);
    v = why(s, "ep=2");
    assert_true(v.row->fate == FATE_RULE && v.c.layout.ep == 2 && v.c.layout.etp != 2);
    assert_non_null(strstr(v.rule, "a dense model has no experts"));
    search_why_end(&v);
    v = why(s, "schedule=gpipe,pp=2");
    assert_true(v.row != NULL && (v.played || v.overflow.known));
    assert_true(v.row->layout.schedule == schedule_find("gpipe"));
    search_why_end(&v);
    search_destroy(s);
    scenario_destroy(scenario);
}

/* The verdict is on the best layout with the values, by an exhaustive search of those, and its
 * parts add up to the difference. */
static void the_best_is_judged(void **state)
{
    static const char *const wishes[] = {"tp=2", "pp=2,microbatch=1", "recompute=full",
                                         "tp=1,pp=1"};
    static const unsigned held[] = {1u << PLAN_TP, 1u << PLAN_PP | 1u << PLAN_MICROBATCH,
                                    1u << PLAN_RECOMPUTE, 1u << PLAN_TP | 1u << PLAN_PP};
    struct scenario *scenario = space_read(space_texts[1]);
    struct search *s = search_of(scenario, 0, 3, 2);
    for (unsigned i = 0; i < sizeof wishes / sizeof wishes[0]; i += SANITIZED_EVERY(2)) {
        struct search_verdict v = why(s, wishes[i]);
        double sum_s = 0.0;
        assert_true(v.row != NULL && v.played);
        assert_true(v.leader.step_s == exhaustive_s(v.found, held[i]));
        for (unsigned p = 0; p < PART_COUNT; p++)
            sum_s += v.lost_s[p];
        assert_true(fabs(sum_s - (v.leader.step_s - s->leaders[0].step_s)) < 1e-9);
        assert_true(v.leader.step_s >= s->leaders[0].step_s);
        search_why_end(&v);
    }
    search_destroy(s);
    scenario_destroy(scenario);
}

/* What the search holds stays held where a wish is judged, unless the wish names it. */
static void held_keys_stay_in_a_wish(void **state)
{
    char text[512];
    snprintf(text, sizeof text, "%s%s", space_texts[1], "layout: {tp: 2, microbatch: 2}\n");
    struct scenario *scenario = space_read(text);
    struct search *s = search_of(scenario, 1u << PLAN_TP | 1u << PLAN_MICROBATCH, 3, 1);
    struct search_verdict v = why(s, "pp=2");
    assert_true(v.row != NULL && v.found->row_count > 0);
    for (uint32_t i = 0; i < v.found->row_count; i++) {
        assert_int_equal(v.found->rows[i].layout.tp, 2);
        assert_int_equal(v.found->rows[i].layout.microbatch, 2);
        assert_int_equal(v.found->rows[i].layout.pp, 2);
    }
    search_why_end(&v);
    v = why(s, "microbatch=1");
    for (uint32_t i = 0; i < v.found->row_count; i++) {
        assert_int_equal(v.found->rows[i].layout.tp, 2);
        assert_int_equal(v.found->rows[i].layout.microbatch, 1);
    }
    search_why_end(&v);
    search_destroy(s);
    scenario_destroy(scenario);
}

static void odd_wishes_are_refused(void **state)
{
    struct search_wish wish;
    struct error error = {""};
    const char *const odd[] = {
        "",          "tp",          "tp=",        "speed=4",         "tp=4,,pp=2",
        ",",         "=4",          "tp=abc",     "tp=-1",           "tp=0",
        "tp=8 pp=4", "tp=8,tp=4",   "sharding=x", "recompute=block", "sequence_parallel=maybe",
        "tp=4 ",     "schedule=fp", "dp=2,dp=2",  "tp=99999999999",  "recompute_layers=3",
    };
    for (unsigned i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        error.text[0] = '\0';
        assert_false(search_wish_read(odd[i], &wish, &error));
        assert_true(error.text[0] != '\0');
    }
    assert_true(search_wish_read("tp=4,schedule=1f1b,sp=yes,mb=2,shards=fsdp,dp=2", &wish, &error));
    assert_true(wish.layout.sequence_parallel && wish.layout.microbatch == 2 &&
                wish.layout.dp == 2);
    assert_true(search_wish_read("recompute=block,recompute_layers=3", &wish, &error));
}

static bool stop_at_once(void *context)
{
    (*(unsigned *)context)++;
    return true;
}

static void a_stopped_search_keeps_what_it_has(void **state)
{
    struct scenario *scenario = space_read(space_texts[0]);
    unsigned asked = 0;
    const struct search_question question = {.base = &scenario->configuration,
                                             .leaders = 3,
                                             .threads = 1,
                                             .stop = stop_at_once,
                                             .context = &asked};
    struct search *s = NULL;
    struct error error = {""};
    assert_true(search_run(&question, &s, &error));
    assert_true(s->stopped && asked == 1);
    assert_true(s->row_count > 0 && s->leader_count == 0);
    search_destroy(s);
    scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pruning_loses_nothing),
        cmocka_unit_test(every_layout_has_its_fate),
        cmocka_unit_test(held_keys_stay),
        cmocka_unit_test(reasons_are_given),
        cmocka_unit_test(the_best_is_judged),
        cmocka_unit_test(held_keys_stay_in_a_wish),
        cmocka_unit_test(odd_wishes_are_refused),
        cmocka_unit_test(a_stopped_search_keeps_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
