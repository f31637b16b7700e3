/* Leaders with failures: the weeks are those that `run` plays, the best is that of all layouts, and
 * what is not listed cannot lead where the search says so. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/plan/search/search_weeks.h"
#include "analysis/plan/search/search_why.h"
#include "analysis/record/evidence/model_error.h"
#include "analysis/record/numbers/job_record.h"
#include "sim/units.h"
#include "tests/analysis/plan/search_spaces.h"
#include "tests/sanitized.h"
#include "tests/test.h"

enum {
    SEEDS = 4,
    ALL_LEADERS = 100000
};

/* A card fails every three weeks: nodes of them every few days. The run ends with its tokens, or
 * when `run` says so. */
static struct scenario *read_job(unsigned space, const char *run, const char *mtbf)
{
    char text[1024];
    const char *batch = strstr(space_texts[space], "global_batch");
    snprintf(text, sizeof text,
             "%.*stokens: 40B, %scost: {gpu_hour: 2USD}\nrun: {strike: always%s}\n"
             "failures: [{cause: GPU, unit: gpu, mtbf: %s}]\ncheckpoint: {policy: sync}\n",
             (int)(batch - space_texts[space]), space_texts[space], batch, run, mtbf);
    return space_read(text);
}

static struct scenario *read_run(unsigned space, const char *run)
{
    return read_job(space, run, "8d");
}

static struct scenario *read_failing(unsigned space)
{
    return read_run(space, "");
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

/* Four of five steps lie within 1.2816 standard deviations of the first; the second is as
 * fast with the error of the pair and that of the weeks, which are independent. */
static void check_errors(const struct search *s)
{
    const struct search_leader *a = &s->leaders[0], *b = &s->leaders[1];
    struct configuration x, y;
    double error;
    plan_layout_apply(s->base, &a->row->layout, &x);
    plan_layout_apply(s->base, &b->row->layout, &y);
    const struct model_error of_a = model_error_of(&residues_shipped, &x, NULL),
                             of_b = model_error_of(&residues_shipped, &y, NULL);
    assert_true(fabs(log(a->p90_s / a->step_s) - 1.2815515655446 * of_a.log_spread) < 1e-9);
    assert_true(fabs(log(a->p10_s / a->step_s) + 1.2815515655446 * of_a.log_spread) < 1e-9);
    const double slower = search_weeks_log_ratio(a->weeks, b->weeks, &error);
    const double pair = fmax(of_a.pair_log_spread, of_b.pair_log_spread);
    const double spread = sqrt(pair * pair + error * error);
    assert_true(error > 0.0 && pair > 0.0);
    assert_true(fabs(b->as_fast_probability - 0.5 * erfc(slower / spread / sqrt(2.0))) < 1e-9);
}

static void weeks_are_those_of_a_run(void **state)
{
    struct scenario *scenario = read_failing(1);
    const struct search_weeks_wish wish = {.scenario = scenario, .seeds = SEEDS};
    struct search *s = search_for(scenario, &wish, (struct search_terms){.best = BEST_GOODPUT}, 2);
    const struct search_leader *first = &s->leaders[0];
    assert_non_null(first->weeks);
    const char *sets[PLAN_KEY_COUNT];
    const struct scenario_options how = {
        .sets = sets, .set_count = plan_layout_sets(s->arena, s->base, &first->row->layout, sets)};
    struct error error = {""};
    struct scenario *own =
        scenario_read("own", scenario->file.text, scenario->file.text_bytes, &how, &error);
    assert_true(own != NULL && own->diagnostics.error_count == 0);
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
    /* whole steps */
    const double step_tokens = configuration_tokens(&own->configuration);
    const double trained = ceil(40e9 / step_tokens) * step_tokens;
    assert_true(fabs(first->training_s - trained / first->weeks->tokens_per_s) <= 1e-6);
    const double trained_usd = trained / 1e9 * first->weeks->usd_per_1e9_tokens;
    assert_true(trained_usd > 0.0 && fabs(first->training_usd / trained_usd - 1.0) < 1e-12);
    check_errors(s);
    assert_true(first->weeks->goodput_ratio < 1.0 && first->weeks->goodput_ratio > 0.3);
    assert_true(first->weeks->low_ratio <= first->weeks->goodput_ratio);
    assert_true(first->weeks->tokens_per_s <= first->tokens_per_s);
    scenario_destroy(own);
    search_destroy(s);
    scenario_destroy(scenario);
}

static struct scenario *read_saves(const char *checkpoint, const char *more)
{
    char text[1024];
    const char *batch = strstr(space_texts[1], "global_batch");
    snprintf(text, sizeof text,
             "%.*stokens: 1B, %srun: {duration: 2d}\n"
             "failures: [{cause: GPU, unit: gpu, mtbf: 8d}]\ncheckpoint: {%s}\n%s",
             (int)(batch - space_texts[1]), space_texts[1], batch, checkpoint, more);
    return space_read(text);
}

static struct search_weeks weeks_of(struct arena *arena, const struct scenario *s,
                                    const struct plan_layout *layout)
{
    const struct search_weeks_wish wish = {.scenario = s, .seeds = 1};
    struct search_weeks weeks;
    struct error error = {""};
    if (!search_weeks_play(arena, &wish, layout, &weeks, &error))
        fail_msg("%s", error.text);
    return weeks;
}

/* The sum of what its levels block, each as often as it is written; an interval in steps is none in
 * seconds; and one card that is slow does not belong to a layout. */
static void what_is_told_of_saves(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *usual = read_saves("policy: multi-level, second_every: 5, third_every: 3", "");
    struct search *s = search_for(usual, NULL, (struct search_terms){.best = BEST_STEP}, 1);
    const struct plan_layout *layout = &s->leaders[0].row->layout;
    const struct search_weeks timed = weeks_of(arena, usual, layout);
    const char *sets[PLAN_KEY_COUNT];
    const struct scenario_options how = {
        .sets = sets, .set_count = plan_layout_sets(arena, s->base, layout, sets)};
    struct error error;
    struct job_spec job;
    double stall_s = 0.0;
    struct scenario *own =
        scenario_read("own", usual->file.text, usual->file.text_bytes, &how, &error);
    assert_true(own != NULL && own->diagnostics.error_count == 0);
    struct condition_table *conditions = condition_create(&own->configuration, &error);
    assert_non_null(conditions);
    scenario_job(own, conditions, NULL, &job);
    for (unsigned i = 0; i < job.checkpoint.plan.level_count; i++) {
        const struct checkpoint_level *level = &job.checkpoint.plan.levels[i];
        stall_s += level->stall_s / (double)level->every;
    }
    assert_true(stall_s > 0.0 && fabs(timed.stall_s / stall_s - 1.0) < 1e-9);
    assert_true(timed.interval_s > 0.0);
    condition_destroy(conditions);
    scenario_destroy(own);
    struct scenario *counted = read_saves("policy: sync, interval_steps: 50", "");
    struct scenario *slow = read_saves("policy: sync, interval_steps: 50",
                                       "perturbations: {stragglers: [{gpu: 1, speed: 50%}]}\n");
    const struct search_weeks even = weeks_of(arena, counted, layout);
    const struct search_weeks uneven = weeks_of(arena, slow, layout);
    assert_true(isnan(even.interval_s) && even.stall_s > 0.0);
    assert_true(even.rates[0] == uneven.rates[0] && even.rates[0] > 0.0);
    scenario_destroy(slow);
    scenario_destroy(counted);
    search_destroy(s);
    scenario_destroy(usual);
    arena_destroy(arena);
}

/* The same seeds as `run` plays them: their time until the work was done, and their tokens. */
static void play_busy(struct scenario *own, uint64_t seed, double busy_s[SEEDS],
                      double tokens[SEEDS])
{
    for (unsigned i = 0; i < SEEDS; i++) {
        struct job_record *record = NULL;
        struct error error = {""};
        own->configuration.seed = seed + i;
        assert_true(job_record_play(own, false, (struct job_watches){NULL, NULL}, &record, &error));
        const struct job_result *r = &record->result;
        assert_true(r->finished && r->wall_s < 0.9 * record->spec.duration_s);
        busy_s[i] = r->wall_s;
        tokens[i] = r->tokens_completed;
        job_record_destroy(record);
    }
}

/* A run that goes on when its steps are made costs the layout nothing: neither goodput nor money
 * are of the time behind the end. */
static void the_time_behind_the_end_is_not_counted(void **state)
{
    struct scenario *scenario = read_run(1, ", duration: 400d");
    const struct search_weeks_wish wish = {.scenario = scenario, .seeds = SEEDS};
    struct search *s = search_for(scenario, &wish, (struct search_terms){.best = BEST_GOODPUT}, 1);
    const struct search_leader *first = &s->leaders[0];
    const char *sets[PLAN_KEY_COUNT];
    const struct scenario_options how = {
        .sets = sets, .set_count = plan_layout_sets(s->arena, s->base, &first->row->layout, sets)};
    struct error error = {""};
    struct scenario *own =
        scenario_read("own", scenario->file.text, scenario->file.text_bytes, &how, &error);
    assert_true(own != NULL && own->diagnostics.error_count == 0);
    double busy_s[SEEDS], tokens[SEEDS], all_s = 0.0, all_tokens = 0.0, goodput = 0.0;
    play_busy(own, scenario->configuration.seed, busy_s, tokens);
    for (unsigned i = 0; i < SEEDS; i++) {
        assert_true(fabs(first->weeks->rates[i] * busy_s[i] / tokens[i] - 1.0) < 1e-12);
        goodput += tokens[i] / (first->tokens_per_s * busy_s[i]) / SEEDS;
        all_s += busy_s[i];
        all_tokens += tokens[i];
    }
    const uint64_t spares = first->weeks->spares * s->base->cluster.node.gpus;
    const double usd = 2.0 / HOUR * (double)(configuration_gpus(s->base) + spares) * all_s;
    assert_true(fabs(first->weeks->goodput_ratio / goodput - 1.0) < 1e-9);
    assert_true(fabs(first->weeks->usd_per_1e9_tokens * all_tokens / 1e9 / usd - 1.0) < 1e-9);
    scenario_destroy(own);
    search_destroy(s);
    scenario_destroy(scenario);
}

/* Of a job that keeps nothing two seeds say all; of one that keeps something all are played. */
static void what_keeps_nothing_is_soon_known(void **state)
{
    static const char *const mtbfs[] = {"10min", "8d"};
    for (unsigned i = 0; i < 2; i++) {
        struct scenario *scenario = read_job(1, ", duration: 2d", mtbfs[i]);
        const struct search_weeks_wish wish = {.scenario = scenario, .seeds = SEEDS};
        struct search *s =
            search_for(scenario, &wish, (struct search_terms){.best = BEST_GOODPUT}, 1);
        const struct search_weeks *weeks = s->leaders[0].weeks;
        const char *sets[PLAN_KEY_COUNT];
        const struct scenario_options how = {
            .sets = sets,
            .set_count = plan_layout_sets(s->arena, s->base, &s->leaders[0].row->layout, sets)};
        struct error error = {""};
        struct scenario *own =
            scenario_read("own", scenario->file.text, scenario->file.text_bytes, &how, &error);
        double failures = 0.0;
        own->job.duration_s = 10.0 * 40e9 / s->leaders[0].tokens_per_s; /* no step in part */
        assert_int_equal(weeks->seeds, i == 0 ? 2 : SEEDS);
        assert_true((weeks->tokens_per_s > 0.0) == (i == 1));
        for (unsigned k = 0; k < weeks->seeds; k++) {
            struct job_record *record = NULL;
            own->configuration.seed = scenario->configuration.seed + k;
            assert_true(
                job_record_play(own, false, (struct job_watches){NULL, NULL}, &record, &error));
            failures += (double)record->result.failures / (double)weeks->seeds;
            job_record_destroy(record);
        }
        assert_true(failures > 0.0 && fabs(weeks->failures / failures - 1.0) < 1e-12);
        scenario_destroy(own);
        search_destroy(s);
        scenario_destroy(scenario);
    }
}

/* Every layout that fits, with its weeks; the best rate. */
static double exhaustive_rate(struct arena *arena, const struct search_weeks_wish *wish,
                              const struct configuration *c)
{
    struct space_played *all;
    double best = 0.0;
    const size_t count = space_play(arena, c, 0, c->gpu.hbm.usable_bytes * 0.98, &all);
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
    struct scenario *scenario = read_failing(1);
    const struct search_weeks_wish wish = {.scenario = scenario, .seeds = 16};
    struct search *s = search_for(scenario, &wish, (struct search_terms){.best = BEST_GOODPUT}, 4);
    const struct search_weeks *a = s->leaders[0].weeks, *b = s->leaders[1].weeks;
    double error, spread = 0.0, mean = 0.0;
    assert_true(search_weeks_log_ratio(a, a, &error) == 0.0 && error == 0.0);
    double rates[] = {exp(1.0), exp(2.0), exp(3.0)}, ones[] = {1.0, 1.0, 1.0}; /* mean 2, sd 1 */
    const struct search_weeks more = {.seeds = 3, .rates = rates},
                              one = {.seeds = 3, .rates = ones};
    assert_true(fabs(search_weeks_log_ratio(&more, &one, &error) - 2.0) < 1e-12);
    assert_true(fabs(error - 1.0 / sqrt(3.0)) < 1e-12);
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
    assert_true(kept->leader_count >= 4 && kept->counts.fates[FATE_DEADLINE] > 0);
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
        cmocka_unit_test(what_is_told_of_saves),
        cmocka_unit_test(the_time_behind_the_end_is_not_counted),
        cmocka_unit_test(what_keeps_nothing_is_soon_known),
        cmocka_unit_test(the_best_keeps_most_of_all),
        cmocka_unit_test(seeds_are_common),
        cmocka_unit_test(terms_count_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
