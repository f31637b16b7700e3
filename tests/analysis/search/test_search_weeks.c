/* Leaders with failures: the weeks are those that `run` plays, the best is that of all layouts, and
 * what is not listed cannot lead where the search says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/result/job_record.h"
#include "analysis/search/search_why.h"
#include "sim/units.h"
#include "tests/analysis/search/search_spaces.h"
#include "tests/sanitized.h"

enum {
    SEEDS = 4,
    ALL_LEADERS = 100000
};

/* A card fails each three weeks: nodes of them each few days. */
static struct scenario *read_failing(unsigned space)
{
    char text[1024];
    const char *batch = strstr(space_texts[space], "global_batch");
    snprintf(text, sizeof text,
             "%.*stokens: 40B, %scost: {gpu_hour: 2USD}\nrun: {strike: always}\n"
             "failures: [{cause: GPU, unit: gpu, mtbf: 8d}]\ncheckpoint: {policy: sync}\n",
             (int)(batch - space_texts[space]), space_texts[space], batch);
    return space_read(text);
}

static struct search *search_for(const struct scenario *scenario,
                                 const struct search_weeks_wish *wish, struct search_terms terms,
                                 uint32_t leaders)
{
    const struct search_question question = {.base = &scenario->configuration,
                                             .headroom_ratio = 0.02,
                                             .leaders = leaders,
                                             .terms = terms,
                                             .weeks = wish,
                                             .threads = 2};
    struct search *search = NULL;
    struct error error = {""};
    assert_true(search_run(&question, &search, &error));
    return search;
}

static void weeks_are_those_of_a_run(void **state)
{
    (void)state;
    struct scenario *scenario = read_failing(1);
    const struct search_weeks_wish wish = {.scenario = scenario, .seeds = SEEDS};
    struct search *s = search_for(scenario, &wish, (struct search_terms){.best = BEST_GOODPUT}, 2);
    const struct search_leader *first = &s->leaders[0];
    assert_non_null(first->weeks);
    const char *sets[SEARCH_SETS_MAX];
    const struct scenario_options how = {
        .sets = sets,
        .set_count = search_layout_sets(s->arena, s->base, &first->row->layout, sets)};
    struct error error = {""};
    struct scenario *own = scenario_read("own", scenario->text, scenario->text_bytes, &how, &error);
    assert_true(own != NULL && own->error_count == 0);
    double tokens = 0.0, wall_s = 0.0;
    for (unsigned i = 0; i < SEEDS; i++) {
        struct job_record *record = NULL;
        own->configuration.seed = scenario->configuration.seed + i;
        assert_true(job_record_play(own, false, (struct job_watches){NULL, NULL}, &record, &error));
        assert_true(first->weeks->rates[i] ==
                    record->result.tokens_completed / record->result.wall_s);
        assert_true(record->result.failures > 0);
        tokens += record->result.tokens_completed;
        wall_s += record->result.wall_s;
        job_record_destroy(record);
    }
    assert_true(fabs(first->weeks->tokens_per_s - tokens / wall_s) <= 1e-12 * tokens / wall_s);
    assert_true(fabs(first->training_s - 40e9 / first->weeks->tokens_per_s) <= 1e-6);
    assert_true(first->weeks->goodput_ratio < 1.0 && first->weeks->goodput_ratio > 0.3);
    assert_true(first->weeks->low_ratio <= first->weeks->goodput_ratio);
    assert_true(first->weeks->tokens_per_s <= first->tokens_per_s);
    scenario_destroy(own);
    search_destroy(s);
    scenario_destroy(scenario);
}

/* Every layout that fits, with its weeks; the best rate. */
static double exhaustive_rate(struct arena *arena, const struct search_weeks_wish *wish,
                              const struct configuration *c)
{
    struct space_played *all;
    double best = 0.0;
    const size_t count = space_play(arena, c, 0, c->gpu.usable_hbm_bytes * 0.98, &all);
    for (size_t i = 0; i < count; i++) {
        struct search_weeks weeks;
        struct error error = {""};
        assert_true(search_weeks_play(arena, wish, &all[i].row.layout, &weeks, &error));
        best = fmax(best, weeks.tokens_per_s);
    }
    return best;
}

static void the_best_keeps_most_of_all(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct scenario *scenario = read_failing(3);
    const struct search_weeks_wish wish = {.scenario = scenario, .seeds = 2};
    const double best = exhaustive_rate(arena, &wish, &scenario->configuration);
    struct search *s =
        search_for(scenario, &wish, (struct search_terms){.best = BEST_GOODPUT}, ALL_LEADERS);
    assert_true(isnan(s->needed_goodput_ratio)); /* all are listed */
    assert_true(s->leaders[0].weeks->tokens_per_s == best);
    for (uint32_t i = 1; i < s->leader_count; i++)
        if (s->leaders[i].weeks != NULL)
            assert_true(s->leaders[i].weeks->tokens_per_s <= best);
    search_destroy(s);
    /* A shorter list says what a layout beyond it would need; where that is more than all there is,
     * its first is the best of all, too. */
    unsigned sure = 0;
    for (uint32_t leaders = 2; leaders <= 32; leaders *= 4) {
        s = search_for(scenario, &wish, (struct search_terms){.best = BEST_GOODPUT}, leaders);
        assert_true(s->leaders[0].weeks->tokens_per_s <= best);
        if (s->needed_goodput_ratio > 1.0) {
            assert_true(s->leaders[0].weeks->tokens_per_s == best);
            sure++;
        }
        search_destroy(s);
    }
    assert_true(sure > 0);
    scenario_destroy(scenario);
    arena_destroy(arena);
}

/* The same failures for all: of two leaders the difference is known far better than each. */
static void seeds_are_common(void **state)
{
    (void)state;
    struct scenario *scenario = read_failing(1);
    const struct search_weeks_wish wish = {.scenario = scenario, .seeds = 16};
    struct search *s = search_for(scenario, &wish, (struct search_terms){.best = BEST_GOODPUT}, 4);
    const struct search_weeks *a = s->leaders[0].weeks, *b = s->leaders[1].weeks;
    double error, spread = 0.0, mean = 0.0;
    assert_true(search_weeks_log_ratio(a, a, &error) == 0.0 && error == 0.0);
    search_weeks_log_ratio(a, b, &error);
    for (unsigned i = 0; i < a->seeds; i++)
        mean += log(a->rates[i]) / a->seeds;
    for (unsigned i = 0; i < a->seeds; i++)
        spread += (log(a->rates[i]) - mean) * (log(a->rates[i]) - mean);
    const double own = sqrt(spread / (a->seeds * (a->seeds - 1.0)));
    print_message("standard error of one %.2g, of the difference %.2g\n", own, error);
    assert_true(error < 0.5 * own);
    search_destroy(s);
    scenario_destroy(scenario);
}

static void terms_count_failures(void **state)
{
    (void)state;
    struct scenario *scenario = read_failing(1);
    const struct search_weeks_wish wish = {.scenario = scenario, .seeds = 2};
    struct search *freely =
        search_for(scenario, &wish, (struct search_terms){.best = BEST_DAYS}, 6);
    const double middle_s = freely->leaders[3].training_s;
    assert_true(freely->leaders[0].training_s > 40e9 / freely->leaders[0].tokens_per_s);
    for (uint32_t i = 1; i < freely->leader_count; i++)
        assert_true(freely->leaders[i].training_s >= freely->leaders[i - 1].training_s);
    struct search *kept = search_for(
        scenario, &wish, (struct search_terms){.best = BEST_DAYS, .deadline_s = middle_s}, 6);
    assert_true(kept->leader_count >= 4 && kept->fates[FATE_DEADLINE] > 0);
    for (uint32_t i = 0; i < kept->leader_count; i++)
        assert_true(kept->leaders[i].training_s <= middle_s);
    assert_true(kept->leaders[0].training_s == freely->leaders[0].training_s);
    search_destroy(kept);
    search_destroy(freely);
    scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weeks_are_those_of_a_run),
        cmocka_unit_test(the_best_keeps_most_of_all),
        cmocka_unit_test(seeds_are_common),
        cmocka_unit_test(terms_count_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
