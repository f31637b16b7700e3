/* What submitters write in ways of their own: other names of one thing, blocks that count
 * themselves, clocks of other nodes, sources that disagree, each benchmark and number format. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/import/mllog/mllog_layout.h"
#include "tests/scenarios/import/mllog_case.h"
#include "tests/test.h"

static struct mllog_layout layout;

/* samples_count of the block alone, at both ends: 64 of 32 a step are 2 steps, 20 s. step_num is
 * step: 3 in 33 s. epoch_count of a block without another count: 32 are one step, 12 s. */
static void test_blocks_that_count_themselves(void **state)
{
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(300, "block_start", "null", "\"samples_count\": 64");
    mllog_case_event(340, "block_stop", "null", "\"samples_count\": 64");
    mllog_case_sound();
    mllog_case_step_is(MLLOG_BLOCKS, 20.0, 1);
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(300, "block_start", "null", "\"step_num\": 7");
    mllog_case_event(333, "block_stop", "null", "\"step_num\": 10");
    mllog_case_sound();
    mllog_case_step_is(MLLOG_BLOCKS, 11.0, 1);
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(300, "block_start", "null", "\"epoch_count\": 32");
    mllog_case_event(312, "block_stop", "null", "");
    mllog_case_sound();
    mllog_case_step_is(MLLOG_BLOCKS, 12.0, 1);
    /* first_epoch_num comes before epoch_num, which goes on where evaluations are: 2 steps. */
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(300, "block_start", "null", "\"epoch_num\": 320, \"first_epoch_num\": 0");
    mllog_case_event(310, "block_stop", "null", "\"epoch_num\": 640, \"first_epoch_num\": 64");
    mllog_case_sound();
    mllog_case_step_is(MLLOG_BLOCKS, 5.0, 1);
}

/* A block of 2 steps in 30 s; what comes before it, or after another end of it, is not its own. */
static void test_evaluations_and_halves(void **state)
{
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(300, "block_start", "null", "\"step\": 0"); /* never ends */
    mllog_case_event(301, "eval_start", "null", "");
    mllog_case_event(305, "eval_stop", "null", "");
    mllog_case_event(310, "block_start", "null", "\"step\": 0");
    mllog_case_event(320, "eval_start", "null", "");
    mllog_case_event(328, "eval_stop", "null", "");
    mllog_case_event(330, "eval_stop", "null", ""); /* of another process */
    mllog_case_event(348, "block_stop", "null", "\"step\": 2");
    mllog_case_event(350, "block_stop", "null", "\"step\": 2");
    mllog_case_sound();
    mllog_case_step_is(MLLOG_BLOCKS, 15.0, 1); /* (38 - 8) / 2 */
    assert_int_equal(mllog_case.log.blocks.halves, 2);
}

/* Nodes clear their caches whenever; power comes by clocks of its own. */
static void test_clocks_of_others(void **state)
{
    static const char *const power[] = {"power_reading", "interconnect_power_est",
                                        "conversion_eff"};
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(20, "cache_clear", "true", "");
    mllog_case_event(310, "tracked_stats", "{\"throughput\": 64}", "");
    for (unsigned i = 0; i < 3; i++)
        mllog_case_event(-1e6, power[i], "0.95", "");
    mllog_case_sound();
    assert_int_equal(mllog_case.log.lines.power, 3);
    mllog_case_step_is(MLLOG_THROUGHPUTS, 0.5, 1);
    /* A second start of the launch, though the first never came to its run. */
    mllog_case_begin_run("\"llama31_8b\"", "32");
    *strstr(mllog_case.text, ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1750000300000, "
                             "\"event_type\": \"POINT_IN_TIME\", \"key\": \"run_start\"") = '\0';
    mllog_case_event(310, "init_start", "null", "");
    mllog_case_event(320, "run_start", "null", "");
    mllog_case_refused("result.txt:8: init_start again");
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(310, "expert_parallelism", "0", "");
    mllog_case_refused("result.txt:9: expert_parallelism is no whole number");
}

/* 1 s by what is tracked, `ratio` of it by a block of one step: no such step from sqrt(2) on. */
static void two_sources(double ratio, bool sound)
{
    char stats[64];
    const double block_s = 10.0;
    snprintf(stats, sizeof stats, "{\"train_step_time\": %.9g}", block_s / ratio);
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(300, "block_start", "null", "\"step\": 0");
    mllog_case_event(300 + block_s, "tracked_stats", stats, "");
    mllog_case_event(300 + block_s, "block_stop", "null", "\"step\": 1");
    mllog_case_event(3000, "run_stop", "null", "");
    if (sound)
        mllog_case_sound();
    else
        mllog_case_refused("correct or remove what is not");
}

static void test_units(void **state)
{
    two_sources(1.41, true);
    two_sources(1.42, false);
    two_sources(1.0 / 1.41, true);
    two_sources(1.0 / 1.42, false);
    /* Three loggers' worth of 310 s, since init_start, fit into the clock; more do not. */
    for (unsigned more = 0; more < 2; more++) {
        mllog_case_begin_run("\"llama31_8b\"", "32");
        for (unsigned i = 0; i < 3; i++)
            mllog_case_event(
                310, "tracked_stats",
                more && i == 2 ? "{\"train_step_time\": 311}" : "{\"train_step_time\": 310}", "");
        if (more)
            mllog_case_refused("add up to 931, and the log is of 310 s");
        else
            mllog_case_sound();
    }
}

static bool join(const char *benchmark, const char *platform, const char *precision,
                 const char *config)
{
    struct error error;
    struct shell shell;
    struct arena *arena = mllog_case.arena;
    mllog_case_begin_run(benchmark, "32");
    mllog_case_event(310, "tracked_stats", "{\"throughput\": 64}", "");
    if (platform != NULL)
        mllog_case_event(310, "submission_platform", platform, "");
    if (precision != NULL)
        mllog_case_event(310, "lowest_numerical_precision_in_linear", precision, "");
    mllog_case_sound();
    return (config == NULL || shell_parse(arena, "c.sh", arena_text(arena, config), strlen(config),
                                          &shell, &error)) &&
           mllog_layout(arena, &mllog_case.log, config != NULL ? &shell : NULL, "c.sh", &layout,
                        &error);
}

/* The model of each benchmark (training_rules.adoc), and which trains adapters alone. */
static void test_benchmarks(void **state)
{
    static const struct {
        const char *logged, *preset;
        bool lora;
    } cases[] = {{"\"gpt3\"", "gpt3-175b", false},
                 {"\"llama2_70b_lora\"", "llama2-70b", true},
                 {"\"llama31_405b\"", "llama3-405b", false},
                 {"\"llama31_8b\"", "llama3-8b", false},
                 {"\"deepseek_v3_671b\"", "deepseek-v3-671b", false},
                 {"\"deepseekv3_671b\"", "deepseek-v3-671b", false},
                 {"\"gpt_oss_20b\"", "gpt-oss-20b", false}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(join(cases[i].logged, NULL, NULL, NULL));
        assert_string_equal(layout.preset.text, cases[i].preset);
        assert_int_equal(layout.lora, cases[i].lora);
    }
}

static void test_number_formats(void **state)
{
    static const char *const cases[][2] = {
        {"\"fp8\"", "fp8"},      {"\"mxfp8\"", "fp8"}, {"\"float8\"", "fp8"},
        {"\"nvfp4\"", "nvfp4"},  {"\"fp4\"", "nvfp4"}, {"\"float4\"", "nvfp4"},
        {"\"bf16\"", "bf16"},    {"\"fp16\"", "fp16"}, {"\"bfloat16\"", "bf16"},
        {"\"float16\"", "fp16"}, {"\"posit8\"", NULL}, /* not said */
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(join("\"llama31_8b\"", NULL, cases[i][0], NULL));
        if (cases[i][1] == NULL)
            assert_null(layout.precision.text);
        else
            assert_string_equal(layout.precision.text, cases[i][1]);
    }
}

/* Names of one variable, spellings of one value; a platform that counts nodes, or GPUs. */
static void test_names_and_spellings(void **state)
{
    static const char *const once[] = {"null", "0", "None", "1"};
    char config[256];
    for (unsigned i = 0; i < sizeof once / sizeof once[0]; i++) {
        snprintf(config, sizeof config, "VP=%s MCORE_CUDA_GRAPH=True", once[i]);
        assert_true(join("\"llama31_8b\"", NULL, NULL, config));
        assert_true(layout.counts[MLLOG_VPP].value == 1.0);
        assert_int_equal(layout.flags[MLLOG_GRAPH_LAYER].value, 1);
        assert_int_equal(layout.flags[MLLOG_GRAPH_FULL].value, -1);
    }
    static const char two[] = "DGXNNODES=2 DGXNGPU=8 TP=2 PP=1 CP=1";
    static const struct {
        const char *platform;
        unsigned notes;
    } cases[] = {{"\"2xDGXH100\"", 0}, {"\"16xH100\"", 0}, {"\"4xRACK\"", 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(join("\"llama31_8b\"", cases[i].platform, NULL, two));
        assert_int_equal(layout.note_count, cases[i].notes);
    }
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, mllog_case_begin, mllog_case_end)
    const struct CMUnitTest tests[] = {TEST(test_blocks_that_count_themselves),
                                       TEST(test_evaluations_and_halves),
                                       TEST(test_clocks_of_others),
                                       TEST(test_units),
                                       TEST(test_benchmarks),
                                       TEST(test_number_formats),
                                       TEST(test_names_and_spellings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
