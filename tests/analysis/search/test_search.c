/* The planner against an exhaustive search: every layout of a small space, at every level of
 * recomputation, played op by op with its ledger and without any bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/search/search_lead.h"
#include "analysis/search/search_why.h"
#include "models/schedule/schedule_kind.h"
#include "scenarios/build/scenario.h"
#include "tests/sanitized.h"

/* Small spaces: memory ample and scarce, one node and several, pipelines and shards. */
static const char *const texts[] = {
    "model: {preset: gpt2-1.5b}\ncluster: {gpu: a100-40gb-sxm, gpus: 8}\n"
    "training: {sequence: 1024, global_batch: 16}\nsoftware: megatron\n",
    "model: {layers: 8, hidden: 4096, heads: 32, vocabulary: 32000}\n"
    "cluster: {gpu: a100-40gb-sxm, gpus: 16}\n"
    "training: {sequence: 8192, global_batch: 16}\nsoftware: nemo\n",
    "model: {layers: 12, hidden: 5120, heads: 40, vocabulary: 32000}\n"
    "cluster: {gpu: a100-40gb-sxm, gpus: 16}\n"
    "training: {sequence: 4096, global_batch: 32}\nsoftware: torchtitan\n",
    "model: {layers: 6, hidden: 4096, heads: 4, vocabulary: 64000}\n"
    "cluster: {gpu: h100-80gb-sxm, gpus: 4}\n"
    "training: {sequence: 16384, global_batch: 8}\nsoftware: deepspeed\n",
    "model: {layers: 16, hidden: 6144, heads: 48, vocabulary: 50000}\n"
    "cluster: {gpu: a100-40gb-sxm, gpus: 32}\n"
    "training: {sequence: 2048, global_batch: 32}\nsoftware: megatron-2021\n",
};
enum {
    TEXT_COUNT = sizeof texts / sizeof texts[0]
};

static struct scenario *read_text(const char *text)
{
    const struct scenario_options how = {.layout_open = true};
    struct error error = {""};
    struct scenario *s = scenario_read("text", text, strlen(text), &how, &error);
    assert_non_null(s);
    if (s->error_count > 0)
        scenario_print_problems(s, stderr, false);
    assert_int_equal(s->error_count, 0);
    return s;
}

static struct search *search_of(const struct scenario *scenario, unsigned held, uint32_t leaders,
                                unsigned threads)
{
    const struct search_question question = {.base = &scenario->configuration,
                                             .held = held,
                                             .headroom_ratio = 0.02,
                                             .leaders = leaders,
                                             .threads = threads};
    struct search *search = NULL;
    struct error error = {""};
    assert_true(search_run(&question, &search, &error));
    return search;
}

/* The fastest step of all that fit, op by op. */
static double exhaustive_s(const struct search *s, unsigned held)
{
    const double usable_bytes = s->base->gpu.usable_hbm_bytes * 0.98;
    struct arena *arena = arena_create();
    struct search_layout *layouts = NULL;
    const uint32_t count = search_space(arena, s->base, held, &layouts);
    double best_s = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        struct search_row row = {.layout = layouts[i]};
        do {
            struct configuration c;
            struct search_leader played;
            search_apply(s->base, &row.layout, &c);
            if (configuration_legal(&c) && search_lead_play(s->base, &row, usable_bytes, &played))
                best_s = fmin(best_s, played.step_s);
        } while (search_recompute_more(s->base, held, &row.layout));
    }
    arena_destroy(arena);
    return best_s;
}

static void pruning_loses_nothing(void **state)
{
    (void)state;
    for (unsigned t = 0; t < TEXT_COUNT; t += SANITIZED_EVERY(3)) {
        struct scenario *scenario = read_text(texts[t]);
        struct search *s = search_of(scenario, 0, 4, 2);
        const double best_s = exhaustive_s(s, 0);
        print_message("%u layouts, %u timed, %u played: %.6g s, exhaustive %.6g s\n",
                      (unsigned)s->considered, (unsigned)s->timed, (unsigned)s->played,
                      s->leader_count > 0 ? s->leaders[0].step_s : NAN, best_s);
        assert_true(s->leader_count > 0 && s->leaders[0].played);
        assert_true(s->leaders[0].step_s == best_s);
        assert_true(s->played < s->considered / 4); /* and it did not play them all */
        search_destroy(s);
        scenario_destroy(scenario);
    }
}

static void every_layout_has_its_fate(void **state)
{
    (void)state;
    struct scenario *scenario = read_text(texts[1]);
    struct search *s = search_of(scenario, 0, 5, 1);
    uint32_t sum = 0;
    for (unsigned f = 0; f < FATE_COUNT; f++)
        sum += s->fates[f];
    assert_int_equal(sum, s->row_count);
    assert_int_equal(s->fates[FATE_OPEN], 0);
    for (uint32_t i = 0; i < s->row_count; i++) {
        const struct search_row *row = &s->rows[i];
        assert_true((row->fate == FATE_RULE) == (row->rule != NULL));
        if (row->fate == FATE_MEMORY)
            assert_true(row->least_bytes == 0.0 ||
                        row->least_bytes > s->base->gpu.usable_hbm_bytes * 0.98);
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
    (void)state;
    char text[512];
    snprintf(text, sizeof text, "%s%s", texts[1],
             "layout: {tp: 2, recompute: full, microbatch: 2}\n");
    struct scenario *scenario = read_text(text);
    const unsigned held = 1u << SEARCH_TP | 1u << SEARCH_RECOMPUTE | 1u << SEARCH_MICROBATCH;
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
    (void)state;
    struct scenario *scenario = read_text(texts[4]);
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
    (void)state;
    static const char *const wishes[] = {"tp=2", "pp=2,microbatch=1", "recompute=full",
                                         "tp=1,pp=1"};
    static const unsigned held[] = {1u << SEARCH_TP, 1u << SEARCH_PP | 1u << SEARCH_MICROBATCH,
                                    1u << SEARCH_RECOMPUTE, 1u << SEARCH_TP | 1u << SEARCH_PP};
    struct scenario *scenario = read_text(texts[1]);
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

static void odd_wishes_are_refused(void **state)
{
    (void)state;
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
    assert_true(wish.layout.sequence_parallel && wish.layout.microbatch == 2 && wish.dp == 2);
    assert_true(search_wish_read("recompute=block,recompute_layers=3", &wish, &error));
}

static bool stop_at_once(void *context)
{
    (*(unsigned *)context)++;
    return true;
}

static void a_stopped_search_keeps_what_it_has(void **state)
{
    (void)state;
    struct scenario *scenario = read_text(texts[0]);
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
        cmocka_unit_test(odd_wishes_are_refused),
        cmocka_unit_test(a_stopped_search_keeps_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
