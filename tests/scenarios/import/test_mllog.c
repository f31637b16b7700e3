/* Result logs of MLPerf Training, written by hand from the format's sources: the time of a step by
 * each of its sources, start-up, layout by log and configuration, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/import/mllog/mllog_layout.h"
#include "tests/scenarios/import/mllog_case.h"
#include "tests/test.h"

static void near(double got, double expected, double error)
{
    if (!(fabs(got - expected) <= error))
        fail_msg("%.9g is not %.9g", got, expected);
}

static struct mllog_layout layout;

/* Values 12, 8, 9, 7: median (8 + 9) / 2 = 8.5 s. Blocks with `step` and a size of their own, the
 * form of mlperf-common: 40 s / 4, 18 s / 2, 28 s / 2 = 10, 9, 14: 10 s. Throughputs 100, 128, 200
 * at 1152 a step: 1152 / 128 = 9 s. */
static void test_steps_of_each_source(void **state)
{
    mllog_case_begin_run("\"llama31_405b\"", "1152");
    mllog_case_event(301, "tracked_stats", "{\"warmup_time\": 3}", "\"step\": 0");
    mllog_case_event(310, "block_start", "null", "\"samples_count\": 4608, \"step\": 0");
    mllog_case_event(350, "tracked_stats", "{\"train_step_time\": 12, \"reduced_train_loss\": 8}",
                     "");
    mllog_case_event(350, "tracked_stats", "{\"throughput\": 100}", "");
    mllog_case_event(350, "block_stop", "null", "\"samples_count\": 4608, \"step\": 4");
    mllog_case_event(350, "eval_start", "null", "\"samples_count\": 5760");
    mllog_case_event(390, "eval_accuracy", "6.1", "\"samples_count\": 5760");
    mllog_case_event(390, "eval_stop", "null", "\"samples_count\": 5760");
    mllog_case_event(390, "block_start", "null", "\"samples_count\": 2304, \"step\": 4");
    mllog_case_event(408, "tracked_stats", "{\"train_step_time\": 8.0, \"throughput\": 200}", "");
    mllog_case_event(408, "block_stop", "null", "\"samples_count\": 2304, \"step\": 6");
    mllog_case_event(410, "block_start", "null", "\"samples_count\": 2304, \"step\": 6");
    mllog_case_event(438, "tracked_stats", "{\"train_step_time\": 9, \"throughput\": 128}", "");
    mllog_case_event(438, "tracked_stats", "{\"train_step_time\": \"7\"}", "");
    mllog_case_event(438, "block_stop", "null", "\"samples_count\": 2304, \"step\": 8");
    mllog_case_event(440, "run_stop", "null", "\"status\": \"success\"");
    /* Behind the run: power is measured on. */
    mllog_case_event(440, "block_start", "null", "\"samples_count\": 2304, \"step\": 8");
    mllog_case_event(900, "tracked_stats", "{\"train_step_time\": 30}", "");
    mllog_case_event(900, "block_stop", "null", "\"samples_count\": 2304, \"step\": 9");
    mllog_case_sound();
    mllog_case_step_is(MLLOG_STEP_TIMES, 8.5, 4);
    mllog_case_step_is(MLLOG_BLOCKS, 10.0, 3);
    mllog_case_step_is(MLLOG_THROUGHPUTS, 9.0, 3);
    near(mllog_case.log.run.init_stop_s - mllog_case.log.run.init_start_s, 300.0, 1e-6);
    near(mllog_case.log.run.run_stop_s - mllog_case.log.run.run_start_s, 140.0, 1e-6);
    assert_string_equal(mllog_case.log.run.status, "success");
    assert_int_equal(mllog_case.log.blocks.halves, 0);
}

/* samples_count since the beginning: 0 to 3456 of 1152 a step is 3 steps in 60 s, 20 s each; then
 * 1 step in 11 s; the evaluation of 20 s within the third block of 50 s is no training: 30 s / 2 is
 * 15 s, the median of 20, 11, 15. A block of no step and one without an end count for nothing. */
static void test_counts_that_go_on(void **state)
{
    mllog_case_begin_run("\"llama31_405b\"", "1152");
    mllog_case_event(300, "block_start", "null", "\"samples_count\": 0");
    mllog_case_event(360, "block_stop", "null", "\"samples_count\": 3456");
    mllog_case_event(360, "block_start", "null", "\"samples_count\": 3456");
    mllog_case_event(371, "block_stop", "null", "\"samples_count\": 4608");
    mllog_case_event(371, "block_start", "null", "\"samples_count\": 4608");
    mllog_case_event(380, "eval_start", "null", "\"samples_count\": 5760");
    mllog_case_event(400, "eval_stop", "null", "\"samples_count\": 5760");
    mllog_case_event(421, "block_stop", "null", "\"samples_count\": 6912");
    mllog_case_event(421, "block_start", "null", "\"samples_count\": 6912");
    mllog_case_event(470, "block_stop", "null", "\"samples_count\": 6912");
    mllog_case_event(470, "block_start", "null", "\"samples_count\": 6912");
    mllog_case_event(500, "block_stop", "null", "\"samples_count\": 8640"); /* one and a half */
    mllog_case_event(500, "block_start", "null", "\"samples_count\": 8640");
    mllog_case_sound();
    mllog_case_step_is(MLLOG_BLOCKS, 15.0, 3);
    assert_int_equal(mllog_case.log.blocks.halves, 1);
    assert_true(isnan(mllog_case.log.run.run_stop_s));
    near(mllog_case.steps[MLLOG_STEP_TIMES].step_s, 0.0, 0.0);
}

/* GPT-3 counts tokens: 2 steps of 4 sequences of 8192 are 65,536 tokens, in 12 s: 6 s a step. As
 * sequences they would be 16,384 steps of 0.7 ms. epoch_count of the block alone, too. */
static void test_tokens(void **state)
{
    mllog_case_begin_run("\"gpt3\"", "4");
    mllog_case_event(300, "block_start", "null", "\"first_epoch_num\": 0, \"epoch_count\": 65536");
    mllog_case_event(312, "block_stop", "null", "\"first_epoch_num\": 0");
    mllog_case_sound();
    mllog_case_step_is(MLLOG_BLOCKS, 6.0, 1);
    mllog_case_begin_run("\"gpt3\"", "4");
    mllog_case_event(300, "epoch_start", "null", "\"epoch_num\": 0");
    mllog_case_event(301, "eval_start", "null", "\"epoch_num\": 0");
    mllog_case_event(305, "eval_stop", "null", "\"epoch_num\": 0");
    mllog_case_event(314, "epoch_stop", "null", "\"epoch_num\": 65536");
    mllog_case_sound();
    mllog_case_step_is(MLLOG_BLOCKS, 5.0, 1); /* (14 - 4) / 2 */
}

/* Epochs of a data set tell no step; another source does. */
static void test_blocks_that_tell_none(void **state)
{
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(300, "block_start", "null", "\"first_epoch_num\": 1, \"epoch_count\": 1");
    mllog_case_event(330, "block_stop", "null", "\"first_epoch_num\": 1");
    mllog_case_refused("result.txt: the time of a step is not told");
    mllog_case_event(331, "tracked_stats", "{\"throughput\": 64}", "");
    mllog_case_sound();
    mllog_case_step_is(MLLOG_THROUGHPUTS, 0.5, 1);
    assert_non_null(mllog_case.steps[MLLOG_BLOCKS].unread);
}

static void test_lines(void **state)
{
    mllog_case_begin_run("\"llama31_8b\"", "\"32\"");
    mllog_case_line("some text");
    mllog_case_line(":::MLLOG Weight initialization: dict_keys([])");
    mllog_case_line(":::MLLOG [convert-error: x]");
    mllog_case_event(310, "tracked_stats", "{\"throughput\": 64}", "");
    mllog_case_line(
        "0: :::MLLOG {\"key\": \"tracked_stats\", \"time_ms\": 1750000320000, \"value\": "
        "{\"throughput\": 32}, \"metadata\": null}\r");
    /* A clock of its own. */
    mllog_case_line(
        ":::MLLOG {\"key\": \"power_reading\", \"time_ms\": 1650000320000, \"value\": 9000}");
    mllog_case_sound();
    mllog_case_step_is(MLLOG_THROUGHPUTS, 32 / 48.0, 2);
    assert_int_equal(mllog_case.log.lines.events, 11);
    assert_int_equal(mllog_case.log.lines.no_events, 3);
    assert_int_equal(mllog_case.log.lines.power, 1);
}

static void test_what_is_cut_or_joined(void **state)
{
    mllog_case.text[0] = '\0';
    mllog_case_line("no log");
    mllog_case_refused("no line with :::MLLOG {...}");
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_line(":::MLLOG {\"namespace\": \"\", \"time_ms\": 17500");
    mllog_case_refused("result.txt:9: what follows :::MLLOG is no JSON");
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(310, "init_start", "null", "");
    mllog_case_refused("result.txt:9: init_start again");
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(310, "run_start", "null", "");
    mllog_case_refused("result.txt:9: run_start again");
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(310, "run_stop", "null", "");
    mllog_case_event(320, "run_stop", "null", "");
    mllog_case_refused("result.txt:10: run_stop again");
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(310, "global_batch_size", "64", "");
    mllog_case_refused("result.txt:9: global_batch_size is 64 here and 32 in line 5");
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(310, "submission_benchmark", "\"gpt3\"", "");
    mllog_case_refused("result.txt:9: submission_benchmark is gpt3 here and not that of line 4");
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(299.5, "eval_start", "null", ""); /* clocks of two processes */
    mllog_case_event(310, "tracked_stats", "{\"throughput\": 64}", "");
    mllog_case_sound();
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(298.5, "block_start", "null", "");
    mllog_case_refused("result.txt:9: time_ms goes back by 1.5 s against line 7");
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_line(":::MLLOG {\"key\": \"a\", \"time_ms\": 1}:::MLLOG {\"key\": \"b\"}");
    mllog_case_refused("result.txt:9: two events in one line");
    mllog_case.text[0] = '\0';
    mllog_case_event(0, "run_start", "null", "");
    mllog_case_refused("result.txt:1: run_start without an init_start");
    mllog_case.text[0] = '\0';
    mllog_case_event(0, "init_start", "null", "");
    mllog_case_event(5, "run_stop", "null", "");
    mllog_case_refused("result.txt:2: run_stop without a run_start");
    mllog_case_begin_run("null", "32");
    mllog_case_refused("no submission_benchmark");
    mllog_case.text[0] = '\0';
    mllog_case_event(0, "submission_benchmark", "\"gpt3\"", "");
    mllog_case_refused("no run_start");
    mllog_case_event(0, "init_start", "null", "");
    mllog_case_event(0, "run_start", "null", "");
    mllog_case_refused("no global_batch_size");
}

static void test_times_and_units(void **state)
{
    static const char *const times[][2] = {{"1750000000", "is in seconds"},
                                           {"-5", "no time in milliseconds"},
                                           {"1750000000000000", "no time in milliseconds"},
                                           {"\"1750000000000\"", "no time in milliseconds"},
                                           {"null", "no time in milliseconds"}};
    for (unsigned i = 0; i < sizeof times / sizeof times[0]; i++) {
        snprintf(mllog_case.text, sizeof mllog_case.text,
                 ":::MLLOG {\"key\": \"a\", \"time_ms\": %s}\n", times[i][0]);
        mllog_case_refused(times[i][1]);
    }
    strcpy(mllog_case.text, ":::MLLOG {\"time_ms\": 1750000000000}\n");
    mllog_case_refused("result.txt:1: an event without a key");
    mllog_case_begin_run("\"llama31_8b\"", "0");
    mllog_case_refused("result.txt:5: global_batch_size is no whole number");
    mllog_case_begin_run("\"llama31_8b\"", "1.5");
    mllog_case_refused("global_batch_size is no whole number");
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(310, "tracked_stats", "{\"train_step_time\": -2}", "");
    mllog_case_refused("result.txt:9: train_step_time of tracked_stats is no number above 0");
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(310, "tracked_stats", "{\"throughput\": \"NaN\"}", "");
    mllog_case_refused("result.txt:9: throughput of tracked_stats is no number above 0");
    /* 5 s a step, logged as 5000: 400 s cannot hold two of them, though two loggers wrote each. */
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(400, "tracked_stats", "{\"train_step_time\": 5000}", "");
    mllog_case_refused(
        "result.txt:9: the values of train_step_time add up to 5000, and the log is of 400");
    /* 0.5 s by blocks, 100 by the stats: within the clock, not within each other. */
    mllog_case_begin_run("\"llama31_8b\"", "32");
    mllog_case_event(300, "block_start", "null", "\"step\": 0");
    mllog_case_event(400, "tracked_stats", "{\"train_step_time\": 100}", "");
    mllog_case_event(400, "block_stop", "null", "\"step\": 200");
    mllog_case_refused(
        "a step takes 100 s by train_step_time (median of 1, to this line) and 0.5 s "
        "by blocks");
}

/* Blocks of 5 steps in 50 s, beside what is tracked: the square root of 2 parts once from twice. */
static void test_sources_agree(void **state)
{
    static const char *const rows[][2] = {
        {"{\"train_step_time\": 7.08}", NULL},
        {"{\"train_step_time\": 14.14}", NULL},
        {"{\"train_step_time\": 7.07}", "result.txt:11: a step takes 7.07 s by train_step_time "
                                        "(median of 1, to this line) and 10 s "
                                        "by blocks (median of 2, to line 13)"},
        {"{\"train_step_time\": 14.15}", "14.15 s by train_step_time"},
        {"{\"throughput\": 4.5}", NULL}, /* 32 / 4.5 = 7.11 s */
        {"{\"throughput\": 2.2}", "14.55 s by throughput (median of 1, to line 11)"}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mllog_case_begin_run("\"llama31_8b\"", "32");
        mllog_case_event(300, "block_start", "null", "\"step\": 0");
        mllog_case_event(350, "block_stop", "null", "\"step\": 5");
        mllog_case_event(351, "tracked_stats", rows[i][0], "");
        mllog_case_event(352, "block_start", "null", "\"step\": 5");
        mllog_case_event(402, "block_stop", "null", "\"step\": 10");
        rows[i][1] == NULL ? mllog_case_sound() : mllog_case_refused(rows[i][1]);
    }
}

/* A log of `batch` and a configuration. */
static bool joined(const char *batch, const char *config, struct error *error)
{
    struct shell shell;
    mllog_case_begin_run("\"llama31_405b\"", batch);
    mllog_case_event(310, "tracked_stats", "{\"throughput\": 64}", "");
    mllog_case_event(310, "submission_platform", "\"384xGB200\"", "");
    mllog_case_event(310, "gradient_accumulation_steps", "0.5", "");
    mllog_case_event(310, "gradient_accumulation_steps", "0", "");
    mllog_case_event(310, "gradient_accumulation_steps", "48.0", "");
    if (!mllog_case_read(error))
        return false;
    return (config == NULL ||
            shell_parse(mllog_case.arena, "c.sh", arena_text(mllog_case.arena, config),
                        strlen(config), &shell, error)) &&
           mllog_layout(mllog_case.arena, &mllog_case.log, config != NULL ? &shell : NULL,
                        "config_X_384x4x48.sh", &layout, error);
}

static void agrees(const char *batch, const char *config)
{
    struct error error;
    if (!joined(batch, config, &error))
        fail_msg("%s", error.text);
}

static void disagrees(const char *batch, const char *config, const char *why)
{
    struct error error;
    if (joined(batch, config, &error) || strstr(error.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, why);
}

#define LAYOUT                                                                                     \
    "MINIBS=48\nTENSOR_MODEL_PARALLEL=4\nPIPELINE_MODEL_PARALLEL=8\nCONTEXT_PARALLEL=2\n"          \
    "MICRO_BATCH_SIZE=1\nDGXNNODES=384\n"

/* 384 x 4 = 1536 GPUs, over 4 x 8 x 2 = 64: 24 replicas of 48 sequences, 1152. */
static void test_a_configuration(void **state)
{
    agrees("1152",
           LAYOUT "DGXNGPU=4\nINTERLEAVED_PIPELINE=8\nMODEL_SIZE=405b\nFP8=True\nFP4=False\n"
                  "FP8_RECIPE=tensorwise\nSEQ_PARALLEL=false\nASYM_PP_LOSS=1\n");
    assert_string_equal(layout.preset.text, "llama3-405b");
    near(layout.gpus.value, 1536, 0);
    near(layout.dp.value, 24, 0);
    near(layout.counts[MLLOG_TP].value, 4, 0);
    near(layout.counts[MLLOG_PP].value, 8, 0);
    near(layout.counts[MLLOG_CP].value, 2, 0);
    near(layout.counts[MLLOG_VPP].value, 8, 0);
    near(layout.counts[MLLOG_MICROBATCH].value, 1, 0);
    assert_string_equal(layout.counts[MLLOG_TP].place, "c.sh:2, TENSOR_MODEL_PARALLEL");
    assert_string_equal(layout.counts[MLLOG_GLOBAL_BATCH].place, "result.txt:5");
    assert_string_equal(layout.precision.text, "fp8");
    assert_string_equal(layout.fp8_recipe.text, "current");
    assert_int_equal(layout.flags[MLLOG_SEQUENCE_PARALLEL].value, 0);
    assert_int_equal(layout.flags[MLLOG_HEAD_COUNTS].value, 1);
    assert_int_equal(layout.flags[MLLOG_EMBEDDING_COUNTS].value, -1);
    assert_int_equal(layout.note_count, 0);
    assert_false(layout.lora);
}

/* What is missing follows from the rest, or is not said. */
static void test_what_follows(void **state)
{
    agrees("1152",
           LAYOUT); /* GPUs of a node: by the name, whose 384 and 48 are those of the file */
    near(layout.counts[MLLOG_NODE_GPUS].value, 4, 0);
    assert_string_equal(layout.counts[MLLOG_NODE_GPUS].place, "the configuration's name");
    agrees("1152", "MINIBS=48 TP=4 PP=8 DGXNNODES=384 DGXNGPU=4"); /* cp = 1536 / (32 x 24) */
    near(layout.counts[MLLOG_CP].value, 2, 0);
    agrees("576", "MINIBS=96 TP=8 PP=2 CP=4 DGXNNODES=384"); /* 6 replicas of 64: 384 GPUs */
    near(layout.gpus.value, 384, 0);
    near(layout.counts[MLLOG_NODE_GPUS].value, 1, 0);
    agrees("1152",
           "FP8=True INTERLEAVED_PIPELINE=null MBS=2"); /* 48 x 2 by the log's accumulation */
    near(layout.gpus.value, 0, 0);
    near(layout.dp.value, 0, 0);
    near(layout.counts[MLLOG_VPP].value, 1, 0);
    near(layout.counts[MLLOG_REPLICA_SAMPLES].value, 96, 0);
    near(layout.counts[MLLOG_TP].value, 0, 0);
    agrees("1152", "MINIBS=48 MBS=2");
    assert_int_equal(layout.note_count, 1);
    assert_non_null(strstr(layout.notes[0], "gradient_accumulation_steps is 48"));
    /* 1536 / 64 = 24 replicas of 1152 / 24 = 48 sequences: 24 microbatches of 2, not 48. */
    agrees("1152", "GBS=1152 MBS=2 TP=4 PP=8 CP=2 NNODES=384 GPUS_PER_NODE=4");
    near(layout.dp.value, 24, 0);
    near(layout.counts[MLLOG_REPLICA_SAMPLES].value, 48, 0);
    assert_non_null(strstr(layout.notes[0], "has 24 microbatches of 2"));
    /* 384 racks of four? It may be. */
    agrees("1152", "MINIBS=48 TP=4 PP=8 CP=2 NNODES=768 GPUS_PER_NODE=2");
    assert_int_equal(layout.note_count, 1);
    assert_non_null(
        strstr(layout.notes[0], "submission_platform is 384xGB200; by the configuration 768"));
    agrees("1152", "TP=4 FP8_RECIPE=new SIZE=large");
    assert_null(layout.fp8_recipe.text);
    assert_non_null(strstr(layout.notes[0], "c.sh:1, FP8_RECIPE is new, which no scenario has"));
    agrees("1152", NULL);
    assert_null(layout.precision.text);
    agrees("1152", "TP=4 FP8=False");
    assert_string_equal(layout.precision.text, "bf16");
    agrees("1152", "TP=4 FP8=False FP4=True");
    assert_string_equal(layout.precision.text, "nvfp4");
    agrees("1152", "TP=4 FP4=False");
    assert_null(layout.precision.text);
}

static void test_contradictions(void **state)
{
    disagrees("2304", LAYOUT "DGXNGPU=4",
              "c.sh:1, MINIBS: the global batch is 1152 here and 2304 by "
              "result.txt:5: give the configuration of this run");
    disagrees("1150", LAYOUT "DGXNGPU=4",
              "c.sh:1, MINIBS: a global batch of 1150 by result.txt:5 is");
    disagrees("1152", "GBS=1024", "c.sh:1, GBS: the global batch is 1024 here and 1152");
    disagrees("1152", "MINIBS=48 MBS=5",
              "c.sh:1, MBS: a microbatch of 5 does not divide the 48 samples of a replica (c.sh:1, "
              "MINIBS)");
    disagrees("1152", "MINIBS=48 TP=4 PP=8 CP=5 DGXNNODES=384 DGXNGPU=4",
              "tp x pp x cp are 160 GPUs");
    disagrees(
        "1000", "MINIBS=4 TP=4 PP=1 CP=1 NNODES=250 GPUS_PER_NODE=4",
        "250 nodes and 1000 GPUs here, and submission_platform is 384xGB200 in result.txt:10");
    disagrees(
        "1150", "GBS=1150 TP=4 PP=8 CP=2 NNODES=384 GPUS_PER_NODE=4",
        "c.sh:1, GBS: a global batch of 1150 is no multiple of the 24 replicas that 1536 GPUs");
    disagrees("1152", "MINIBS=48 TP=4 PP=8 CP=2 DGXNNODES=1000", "do not fill 1000 nodes evenly");
    disagrees("1152", "TP=4\nTENSOR_MODEL_PARALLEL=8",
              "c.sh:1: TP is 4, and TENSOR_MODEL_PARALLEL");
    disagrees("1152", "MODEL_SIZE=8b TP=1",
              "c.sh:1: MODEL_SIZE is 8b, and the benchmark is llama31");
    disagrees("1152", "SIZE=8b TP=1", "c.sh:1: SIZE is 8b, and the benchmark is llama31");
    disagrees("1152", "TP=1 FP8_RECIPE=$(x)", "c.sh:1: FP8_RECIPE is not known without running");
    disagrees("1152", "TP=$(nproc)",
              "c.sh:1: TP is not known without running the script (the output");
    disagrees("1152", "TP=four", "c.sh:1: TP is no whole number");
    disagrees("1152", "FP8=maybe", "c.sh:1: FP8 is neither True nor False");
    disagrees("1152", "LOGDIR=./results", "config_X_384x4x48.sh: it sets nothing of a layout");
    struct error error;
    mllog_case_begin_run("\"bert\"", "32");
    mllog_case_event(310, "tracked_stats", "{\"throughput\": 64}", "");
    assert_true(mllog_case_read(&error));
    assert_false(mllog_layout(mllog_case.arena, &mllog_case.log, NULL, NULL, &layout, &error));
    assert_non_null(
        strstr(error.text, "result.txt:4: the benchmark bert trains no language model"));
}

/* The keys that logs have from v6.0 on (mllog/examples/parallelism.py) tell a layout alone:
 * 1152 / (48 x 1) = 24 replicas of 8 x 4 x 2 = 64: 1536 GPUs. */
static void test_a_log_with_a_layout(void **state)
{
    struct error error;
    mllog_case_begin_run("\"llama2_70b_lora\"", "1152");
    mllog_case_event(310, "tensor_parallelism", "8", "");
    mllog_case_event(310, "pipeline_parallelism", "4", "");
    mllog_case_event(310, "context_parallelism", "2", "");
    mllog_case_event(310, "expert_parallelism", "1", "");
    mllog_case_event(310, "micro_batch_size", "1", "");
    mllog_case_event(310, "gradient_accumulation_steps", "48", "");
    mllog_case_event(310, "lora_rank", "16", "");
    mllog_case_event(310, "lowest_numerical_precision_in_linear", "\"mxfp8\"", "");
    mllog_case_event(310, "tracked_stats", "{\"throughput\": 64}", "");
    assert_true(mllog_case_read(&error));
    assert_true(mllog_layout(mllog_case.arena, &mllog_case.log, NULL, NULL, &layout, &error));
    near(layout.gpus.value, 1536, 0);
    near(layout.dp.value, 24, 0);
    near(layout.counts[MLLOG_EP].value, 1, 0);
    near(layout.counts[MLLOG_LORA_RANK].value, 16, 0);
    assert_string_equal(layout.precision.text, "fp8");
    assert_true(layout.lora);
    struct shell shell;
    char config[] = "FP4=True TP=8";
    assert_true(shell_parse(mllog_case.arena, "c.sh", config, strlen(config), &shell, &error));
    assert_false(mllog_layout(mllog_case.arena, &mllog_case.log, &shell, "c.sh", &layout, &error));
    assert_non_null(
        strstr(error.text, "c.sh:1, FP4: the precision of linear layers is nvfp4 here"));
    char other[] = "TP=4";
    error.text[0] = '\0';
    assert_true(shell_parse(mllog_case.arena, "c.sh", other, strlen(other), &shell, &error));
    assert_false(mllog_layout(mllog_case.arena, &mllog_case.log, &shell, "c.sh", &layout, &error));
    assert_non_null(strstr(error.text, "c.sh:1, TP: the tensor parallel size is 4 here and 8 by "
                                       "result.txt:9"));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, mllog_case_begin, mllog_case_end)
    const struct CMUnitTest tests[] = {TEST(test_steps_of_each_source),
                                       TEST(test_counts_that_go_on),
                                       TEST(test_tokens),
                                       TEST(test_blocks_that_tell_none),
                                       TEST(test_lines),
                                       TEST(test_what_is_cut_or_joined),
                                       TEST(test_times_and_units),
                                       TEST(test_sources_agree),
                                       TEST(test_a_configuration),
                                       TEST(test_what_follows),
                                       TEST(test_contradictions),
                                       TEST(test_a_log_with_a_layout)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
