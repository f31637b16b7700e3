/* What weeks take where nothing is said: an operator's recovery and checkpoints, listed as chosen.
 * What is said stays as it was: no default reaches into a chain, a policy or an interval that was
 * given. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/job/player/job.h"
#include "models/step/simulate/condition.h"
#include "scenarios/assemble/scenario.h"
#include "sim/units.h"
#include "tests/test.h"

static struct scenario *read_nodes(unsigned nodes, const char *more)
{
    char text[2048];
    struct error error = {{0}};
    snprintf(text, sizeof text,
             "model: {preset: llama3-8b}\n"
             "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: %u, fabric: ib-ndr-8x400}\n"
             "training: {sequence: 8192, global_batch: %u}\n"
             "layout: {tp: 8, sharding: zero-1}\n"
             "run: {duration: 54d}\n"
             "failures: [{cause: gpu, mtbf: 5.8y}]\n%s\n",
             nodes, nodes, more);
    struct scenario *scenario = scenario_read("t.yaml", text, strlen(text), NULL, &error);
    assert_non_null(scenario);
    assert_int_equal(scenario->diagnostics.error_count, 0);
    return scenario;
}

static const char *chosen(const struct scenario *scenario, const char *key)
{
    for (unsigned i = 0; i < scenario->stated.default_count; i++)
        if (strcmp(scenario->stated.defaults[i].key, key) == 0)
            return scenario->stated.defaults[i].value;
    return NULL;
}

/* NULL: the key was given, or is none of a default. */
static void expect_chosen(const struct scenario *scenario, const char *key, const char *value)
{
    const char *found = chosen(scenario, key);
    if (value == NULL)
        assert_null(found);
    else
        assert_string_equal(found ? found : "nothing", value);
}

static void test_operator_recovery(void **state)
{
    struct scenario *scenario = read_nodes(4, "");
    const struct recovery_spec *recovery = &scenario->job.recovery;
    const struct duration *links = recovery->restart.links;
    assert_string_equal(recovery->kind->head.name, "warm-spare");
    assert_true(recovery->kind->has_spares);
    assert_int_equal(recovery->spares, 1);
    assert_true(recovery->repair.mean_s == DAY);
    assert_true(links[LINK_DETECT].mean_s == 600.0 && links[LINK_START].mean_s == 300.0);
    assert_true(links[LINK_SCHEDULE].mean_s == 120.0);
    assert_true(recovery->restart.communicators_per_rank_s == 0.0025);
    assert_true(links[LINK_COMMUNICATORS].mean_s == 0.0 && links[LINK_PROVISION].mean_s == 600.0);
    expect_chosen(scenario, "recovery.policy", "warm-spare");
    expect_chosen(scenario, "recovery.spares", "1");
    expect_chosen(scenario, "recovery.restart.schedule.mean", "2min");
    expect_chosen(scenario, "recovery.restart.communicators_per_rank", "2.5ms");
    expect_chosen(scenario, "recovery.restart.detect.mean", "10min");
    expect_chosen(scenario, "recovery.restart.start.mean", "5min");
    scenario_destroy(scenario);
}

/* Four for every 1,024 nodes, begun ones too: 256 nodes are the last that one is enough for. */
static void test_spares_by_nodes(void **state)
{
    static const struct {
        unsigned nodes;
        uint64_t spares;
    } rows[] = {{1, 1}, {256, 1}, {257, 2}, {1024, 4}, {1025, 5}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scenario *scenario = read_nodes(rows[i].nodes, "");
        assert_int_equal(scenario->job.recovery.spares, rows[i].spares);
        scenario_destroy(scenario);
    }
}

/* Kept steps of 5 runs of 40 nodes, of which 64 fail. */
static double kept_with(const char *policy, const char *restart)
{
    char more[256];
    snprintf(more, sizeof more, "recovery: {policy: %s, spares: 40, repair: 1h, restart: {%s}}",
             policy, restart);
    struct scenario *scenario = read_nodes(40, more);
    struct error error;
    struct job_spec job;
    struct condition_table *conditions = condition_create(&scenario->configuration, &error);
    double steps = 0.0;
    scenario_job(scenario, conditions, NULL, &job);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct job_result result;
        job_run(&job, conditions, seed, NULL, &result);
        assert_true(result.spares_taken > 0 && result.spares_taken == result.interruptions);
        steps += result.steps_completed;
    }
    condition_destroy(conditions);
    scenario_destroy(scenario);
    return steps;
}

/* A cold spare has to boot, a warm one to be scheduled, a hot one neither: with equal failures each
 * costs more than the next, whatever link of the chain is given beside. */
static void test_cold_warm_hot(void **state)
{
    for (int link = -1; link < RESTART_LINK_COUNT; link++) {
        char given[64] = "";
        if (link >= 0)
            snprintf(given, sizeof given, "%s: 90s", restart_link_names[link]);
        const double cold = kept_with("cold-spare", given), warm = kept_with("warm-spare", given),
                     hot = kept_with("hot-spare", given);
        if (!(cold < warm && warm < hot))
            fail_msg("'%s': cold %.1f, warm %.1f, hot %.1f", given, cold, warm, hot);
    }
}

static void test_what_is_said_stays(void **state)
{
    struct scenario *scenario = read_nodes(4, "recovery: {policy: hot-spare}");
    assert_int_equal(scenario->job.recovery.spares, 1);
    expect_chosen(scenario, "recovery.spares", "1");
    assert_true(scenario->job.recovery.restart.links[LINK_SCHEDULE].mean_s == 120.0);
    scenario_destroy(scenario);
    scenario = read_nodes(4, "recovery: {spares: 3, restart: {start: 7min}}");
    assert_int_equal(scenario->job.recovery.spares, 3);
    assert_string_equal(scenario->job.recovery.kind->head.name, "warm-spare");
    assert_true(scenario->job.recovery.restart.links[LINK_START].mean_s == 420.0);
    assert_true(scenario->job.recovery.restart.links[LINK_SCHEDULE].mean_s == 120.0);
    assert_true(scenario->job.recovery.restart.communicators_per_rank_s == 0.0025);
    expect_chosen(scenario, "recovery.spares", NULL);
    expect_chosen(scenario, "recovery.restart.schedule.mean", "2min");
    scenario_destroy(scenario);
    scenario = read_nodes(4, "recovery: {policy: restart-in-place, repair: 2h}");
    assert_int_equal(scenario->job.recovery.spares, 0);
    assert_true(scenario->job.recovery.repair.mean_s == 2.0 * HOUR);
    scenario_destroy(scenario);
}

static void test_write_share(void **state)
{
    static const struct {
        const char *checkpoint;
        double share;
    } rows[] = {{"", 0.011},
                {"checkpoint: {storage: host+pfs}", 0.011},
                {"checkpoint: {write_share: 3%}", 0.03},
                {"checkpoint: {interval: optimal}", 0.0},
                {"checkpoint: {interval: optimal, write_share: 2%}", 0.02},
                {"checkpoint: {interval: 10min}", 0.0},
                {"checkpoint: {interval_steps: 100}", 0.0}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scenario *scenario = read_nodes(4, rows[i].checkpoint);
        assert_true(scenario->job.checkpoint.write_share_ratio == rows[i].share);
        if (i < 2)
            expect_chosen(scenario, "checkpoint.write_share", "1.1%");
        scenario_destroy(scenario);
    }
}

/* 112 GB of Llama 3 8B (14 B for each of 8.03e9) through four nodes of 1.95 GB/s each: 14.41 s,
 * so every 1,310 s are 1.1 % of the time; the exact optimum of a snapshot of milliseconds is far
 * shorter, and is taken where it is asked for. */
static void test_interval(void **state)
{
    struct job_spec floor, optimum;
    struct scenario *scenario = read_nodes(4, "");
    struct condition_table *conditions = condition_fixed(5.0);
    scenario_job(scenario, conditions, NULL, &floor);
    double flow_s = 14.0 * 8030261248.0 / (4.0 * 1.95e9);
    assert_true(fabs(floor.checkpoint.floor_s / (flow_s / 0.011) - 1.0) < 1e-6);
    assert_true(floor.checkpoint.interval_s == floor.checkpoint.floor_s);
    scenario_destroy(scenario);
    scenario = read_nodes(4, "checkpoint: {interval: optimal}");
    scenario_job(scenario, conditions, NULL, &optimum);
    const struct checkpoint_level *host = &optimum.checkpoint.plan.levels[0];
    double exact_s = checkpoint_optimum_s(host->stall_s, optimum.checkpoint.job_mtbf_s);
    assert_true(fabs(optimum.checkpoint.interval_s / exact_s - 1.0) < 1e-12);
    assert_true(exact_s < floor.checkpoint.interval_s);
    assert_true(optimum.checkpoint.floor_s == 0.0);
    scenario_destroy(scenario);
    condition_destroy(conditions);
}

/* 32 GPUs that fail each hour are a job that fails every 112.5 s, and restarts for 10 + 2 + 5 min
 * and 32 times 2.5 ms. An hour for the whole job is 32 h for each of them. */
static void test_hopeless_rates(void **state)
{
#define SLIP "failures: by their rates the job fails every "
    struct error error = {{0}};
    static const struct {
        const char *failures, *text;
    } rows[] = {
        {"[{cause: g, mtbf: 1h}, {cause: s, unit: job, mtbf: 10d}]",
         SLIP "1.87476min, 'g' most, and restarts for 17.0013min: it will hardly run; mtbf is of "
              "one gpu: for the whole job give `unit: job`, or mtbf: 1.33333d"},
        {"[{cause: s, unit: job, mtbf: 10d}, {cause: g, mtbf: 1h}, {cause: t, mtbf: 5h}]",
         SLIP "1.56233min, 'g' most, and restarts for 17.0013min: it will hardly run; mtbf is of "
              "one gpu: for the whole job give `unit: job`, or mtbf: 1.33333d"},
        {"[{cause: n, unit: node, mtbf: 1h}]",
         SLIP "15min, 'n' most, and restarts for 17.0013min: it will hardly run; mtbf is of one "
              "node: for the whole job give `unit: job`, or mtbf: 4h"},
        {"[{cause: s, unit: job, mtbf: 10min}]",
         SLIP "10min, 's' most, and restarts for 17.0013min: it will hardly run; look at its mtbf, "
              "or its trace"},
        {"[{cause: s, unit: job, mtbf: 18min}]", "none"},
        {"[{cause: slow, unit: gpu, mtbf: 1h, effect: slow, slow: 0.5}]", "none"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char set[256];
        snprintf(set, sizeof set, "failures=%s", rows[i].failures);
        const char *sets[] = {set};
        struct scenario_options options = {.sets = sets, .set_count = 1};
        static const char text[] =
            "model: {preset: llama3-8b}\n"
            "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 4, fabric: ib-ndr-8x400}\n"
            "training: {sequence: 8192, global_batch: 64}\n"
            "layout: {tp: 8, sharding: zero-1}\n"
            "run: {duration: 30d}\n";
        struct scenario *scenario =
            scenario_read("t.yaml", text, sizeof text - 1, &options, &error);
        assert_non_null(scenario);
        assert_int_equal(scenario->diagnostics.error_count, 0);
        assert_int_equal(scenario->diagnostics.problem_count, strcmp(rows[i].text, "none") != 0);
        if (scenario->diagnostics.problem_count > 0)
            assert_string_equal(scenario->diagnostics.problems[0].text, rows[i].text);
        scenario_destroy(scenario);
    }
}

static void test_stops_that_lose_all(void **state)
{
    struct error error = {{0}};
    const char *sets[] = {"run={duration: 30d, maintenance_every: 1d, maintenance: 1h}",
                          "checkpoint={policy: none}"};
    for (unsigned count = 1; count <= 2; count++) {
        struct scenario_options options = {.sets = sets, .set_count = count};
        static const char text[] =
            "model: {preset: llama3-8b}\n"
            "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 4, fabric: ib-ndr-8x400}\n"
            "training: {sequence: 8192, global_batch: 64}\n"
            "layout: {tp: 8, sharding: zero-1}\n";
        struct scenario *scenario =
            scenario_read("t.yaml", text, sizeof text - 1, &options, &error);
        assert_non_null(scenario);
        assert_int_equal(scenario->diagnostics.error_count, 0);
        assert_int_equal(scenario->diagnostics.problem_count, count - 1);
        if (count == 2)
            assert_non_null(
                strstr(scenario->diagnostics.problems[0].text, "loses all work since the start"));
        scenario_destroy(scenario);
    }
}

/* Work in time is the steps that begin before it is over; steps, or tokens over those of a step,
 * are taken as they are. A step of 4 sequences of 8,192 tokens takes 7 s here. */
static void test_fractions_of_work(void **state)
{
    static const struct {
        const char *run;
        uint64_t steps;
    } rows[] = {{"run={work: 98s}", 14},
                {"run={work: 99s}", 15},
                {"run={work: 104s}", 15},
                {"run={work: 105s}", 15},
                {"run={work: 1s}", 1},
                {"run={steps: 20}", 20},
                {"run={work: 99s, duration: 1d}", 15},
                {"run={duration: 1d}", 0}};
    struct condition_table *conditions = condition_fixed(7.0);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct error error = {{0}};
        const char *sets[] = {rows[i].run};
        struct scenario_options options = {.sets = sets, .set_count = 1};
        static const char text[] =
            "model: {preset: llama3-8b}\n"
            "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 4, fabric: ib-ndr-8x400}\n"
            "training: {sequence: 8192, global_batch: 4}\n"
            "layout: {tp: 8, sharding: zero-1}\n";
        struct job_spec job;
        struct scenario *scenario =
            scenario_read("t.yaml", text, sizeof text - 1, &options, &error);
        assert_non_null(scenario);
        assert_int_equal(scenario->diagnostics.error_count, 0);
        scenario_job(scenario, conditions, NULL, &job);
        assert_int_equal(job.steps, rows[i].steps);
        assert_true(job.tokens_per_step == 4.0 * 8192.0);
        scenario_destroy(scenario);
    }
    condition_destroy(conditions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operator_recovery), cmocka_unit_test(test_spares_by_nodes),
        cmocka_unit_test(test_cold_warm_hot),     cmocka_unit_test(test_what_is_said_stays),
        cmocka_unit_test(test_write_share),       cmocka_unit_test(test_interval),
        cmocka_unit_test(test_hopeless_rates),    cmocka_unit_test(test_stops_that_lose_all),
        cmocka_unit_test(test_fractions_of_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
