/* Training logs as users keep them: each format's lines, and what stands around them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/import/iterations/iteration_log.h"
#include "tests/test.h"

static struct arena *arena;
static struct iteration_log iterations;

static int begin(void **state)
{
    arena = arena_create();
    return 0;
}

static int end(void **state)
{
    arena_destroy(arena);
    return 0;
}

static bool read_bytes(const char *text, size_t bytes, const char *format, struct error *error)
{
    char *copy = arena_room(arena, bytes + 1, 1);
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    const struct import_file file = {"train.log", copy, bytes};
    return iteration_log_read(arena, &file, format != NULL ? iteration_format_find(format) : NULL,
                              &iterations, error);
}

static void reads(const char *text, const char *format, unsigned rows)
{
    struct error error;
    if (!read_bytes(text, strlen(text), NULL, &error))
        fail_msg("%s", error.text);
    assert_string_equal(iterations.format->head.name, format);
    assert_int_equal(iterations.count, rows);
    assert_true(iterations.rows[0].first);
}

static void refused(const char *text, const char *format, const char *why)
{
    struct error error;
    if (read_bytes(text, strlen(text), format, &error) || strstr(error.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, why);
}

static void row_is(unsigned i, unsigned number, double step_s, unsigned line)
{
    const struct iteration *row = &iterations.rows[i];
    if (row->number != number || fabs(row->step_s - step_s) > 1e-9 || row->line != line)
        fail_msg("row %u: step %u, %.9g s, line %u", i, (unsigned)row->number, row->step_s,
                 row->line);
}

/* 2026-11-03T04:05:06Z is 1793678706 s: 20,760 days of 86,400 s, and 4 h 5 min 6 s. */
#define AT 1793678706.0

static void at_is(unsigned i, double at_s)
{
    if (fabs(iterations.rows[i].at_s - at_s) > 1e-5)
        fail_msg("row %u: at %.6f", i, iterations.rows[i].at_s);
}

static void test_megatron(void **state)
{
    reads("7:  > setting tensorboard ...\r\n"
          "7:  [2026-11-03 04:05:06.500000] iteration       10/  500000 | consumed samples:     "
          "    2560 | elapsed time per iteration (ms): 3104.5 | throughput per GPU (TFLOP/s/GPU): "
          "412.3 | learning rate: 1.0E-05 |\r\n"
          "saving checkpoint at iteration      10 to /ckpt\n"
          "  successfully saved checkpoint from iteration      10 to /ckpt\n"
          "(min, max) time across ranks (ms):\n"
          "    save-checkpoint ................................: (2400.00, 2500.25)\n"
          "    evaluate .......................................: (700.00, 1500.00)\n"
          "    save-checkpoint-non-persistent .................: (9.00, 9.00)\n"
          " validation loss at iteration 10 | lm loss value: 2.0 |\n"
          "7:  [2026-11-03 04:06:06] iteration       20/  500000 | consumed samples:        5120 |"
          " elapsed time per iteration (ms): 3000.0/3050.1 | learning rate: 1.0E-05 |\n",
          "megatron", 2);
    row_is(0, 10, 3.1045, 2);
    row_is(1, 20, 3.0, 10);
    at_is(0, AT + 0.5);
    at_is(1, AT + 60.0);
    assert_false(iterations.rows[1].first);
    assert_true(fabs(iterations.rows[1].pauses_s[ITERATION_SAVE] - 2.50025) < 1e-12);
    assert_true(fabs(iterations.rows[1].pauses_s[ITERATION_EVALUATION] - 1.5) < 1e-12);
    assert_true(iterations.rows[0].pauses_s[ITERATION_SAVE] == 0.0);
    assert_int_equal(iterations.told_pauses[ITERATION_SAVE], 1);
    assert_int_equal(iterations.told_pauses[ITERATION_LOAD], 0);
    assert_true(iterations.begin_s == iterations.rows[0].at_s);
}

static void test_seconds_of_deepspeed(void **state)
{
    reads(" iteration        1/     100 | elapsed time per iteration (s): 12.34 | lm loss: 1 |\n",
          "megatron", 1);
    row_is(0, 1, 12.34, 1);
    assert_true(isnan(iterations.rows[0].at_s) && isnan(iterations.begin_s));
}

static void test_restarts(void **state)
{
    reads(" iteration 90/ 100 | elapsed time per iteration (ms): 1000.0 |\n"
          " iteration 100/ 200 | elapsed time per iteration (ms): 1000.0 |\n"
          "  successfully loaded checkpoint from /ckpt [ t 1/1, p 1/1 ] at iteration 75\n"
          "    load-checkpoint ................................: (100.0, 4000.0)\n"
          " iteration 80/ 200 | elapsed time per iteration (ms): 1000.0 |\n"
          " iteration 90/ 200 | elapsed time per iteration (ms): 1000.0 |\n"
          " iteration 85/ 200 | elapsed time per iteration (ms): 1000.0 |\n"
          "  successfully loaded checkpoint from /ckpt at iteration 85\n"
          " iteration 95/ 200 | elapsed time per iteration (ms): 1000.0 |\n",
          "megatron", 6);
    assert_false(iterations.rows[1].first);
    assert_true(iterations.rows[2].first && iterations.rows[2].loaded == 75.0);
    assert_true(iterations.rows[2].pauses_s[ITERATION_LOAD] == 4.0);
    assert_false(iterations.rows[3].first);
    assert_true(iterations.rows[4].first && isnan(iterations.rows[4].loaded));  /* it went back */
    assert_true(iterations.rows[5].first && iterations.rows[5].loaded == 85.0); /* it did not */
}

/* What stands again behind a load was trained again, whatever rank prints it now. */
static void test_same_step_again(void **state)
{
    reads("3: iteration 10/ 20 | elapsed time per iteration (ms): 1000.0 |\n"
          "0: successfully loaded checkpoint from /c at iteration 5\n"
          "7: iteration 10/ 20 | elapsed time per iteration (ms): 1000.0 |\n",
          "megatron", 2);
    assert_true(iterations.rows[1].first && iterations.rows[1].loaded == 5.0);
    assert_int_equal(iterations.repeated, 0);
}

static void test_torchtitan(void **state)
{
    reads("[rank0]:[titan] 2026-11-03 04:05:06,250 - root - INFO - Training starts at step 1.\n"
          "[rank0]:[titan] 2026-11-03 04:05:16,250 - root - INFO - \x1b[31mstep:  1  "
          "\x1b[32mloss: 12.2713  \x1b[38;2;180;60;0mgrad_norm:  1.2  \x1b[36mmemory: "
          "44.10GiB(55.7%)  \x1b[34mtps: 576  \x1b[36mtflops: 41.2  \x1b[35mmfu: 4.17%\x1b[39m\n"
          "[rank0]:[titan] 2026-11-03 04:05:17,000 - root - INFO - Finished saving the checkpoint "
          "(or staging if async is enabled)in 5.53 seconds.\n"
          "[rank1]:[titan] 2026-11-03 04:05:26,250 - root - INFO - step: 10  loss:  7.0  "
          "memory: 1GiB(1%)  tps: 5,761  tflops: 412.3  mfu: 41.7%\n"
          "[rank0]:[titan] 2026-11-03 04:05:26,250 - root - INFO - step: 10  loss:  7.1  "
          "memory: 1GiB(1%)  tps: 5,762  tflops: 412.3  mfu: 41.7%\n"
          "[rank0]:[titan] 2026-11-03 04:05:27,250 - root - INFO - validate step: 10  loss:  7.1  "
          "memory: 1GiB(1%)  tps: 9,999\n"
          "[rank0]:[titan] 2026-11-03 04:15:00,000 - root - INFO - Loading the checkpoint from "
          "out/checkpoint/step-5.\n"
          "[rank0]:[titan] 2026-11-03 04:15:02,000 - root - INFO - Finished loading the "
          "checkpoint in 1.75 seconds.\n"
          "[rank0]:[titan] 2026-11-03 04:15:26,250 - root - INFO - step: 20/644 = 3.1%  loss:  "
          "7.1  memory: 1GiB(1%)  wps: 5,000  mfu: 41.7%\n",
          "torchtitan", 3);
    assert_int_equal(iterations.rows[1].number, 10);
    assert_true(iterations.rows[0].tokens_per_s_per_gpu == 576.0);
    assert_true(iterations.rows[1].tokens_per_s_per_gpu == 5761.0);
    assert_true(isnan(iterations.rows[1].step_s));
    assert_int_equal(iterations.repeated, 1);
    assert_true(iterations.rows[1].pauses_s[ITERATION_SAVE] == 5.53);
    assert_true(iterations.rows[2].pauses_s[ITERATION_LOAD] == 1.75);
    assert_true(iterations.rows[2].first && iterations.rows[2].loaded == 5.0);
    assert_true(iterations.rows[2].number == 20);
    assert_true(fabs(iterations.begin_s - (AT + 0.25)) < 1e-5);
    at_is(2, AT + 620.25);
}

static void test_nemo(void **state)
{
    reads("[NeMo I 2026-11-03 04:05:06 nemo_logging:393] Global Checkpoint Save : Rank: 0 : "
          "Iteration: 50 : Start time: 1744408121.151s : Save duration: 4.389s\n"
          "[NeMo I 2026-11-03 04:05:06 nemo_logging:393] Global Checkpoint Save : Rank: 3 : "
          "Iteration: 50 : Start time: 1744408121.151s : Save duration: 9.9s\n"
          "Training epoch 0, iteration 0/249 | lr: 1.961e-06 | global_batch_size: 8 | "
          "global_step: 0 | reduced_train_loss: 1.315 | train_step_timing in s: 7.126\n"
          "Training epoch 0, iteration 1/249 | lr: 3.922e-06 | global_batch_size: 8 | "
          "global_step: 1 | train_step_timing in s: 2.505 | consumed_samples: 16\n",
          "nemo", 2);
    row_is(0, 0, 7.126, 3);
    row_is(1, 1, 2.505, 4);
    assert_true(iterations.rows[0].pauses_s[ITERATION_SAVE] == 4.389);
}

#define NEMO(step, seconds)                                                                        \
    "Training epoch 0, iteration " step "/249 | global_step: " step                                \
    " | reduced_train_loss: 1.3 | train_step_timing in s: " seconds "\n"

/* States that are restored begin anew, whatever the number; a load takes what it says. */
static void test_loads_of_nemo(void **state)
{
    reads(NEMO("4", "2.5")
              NEMO("5", "2.5") "Restored all states from the checkpoint at /c\n"
                               "Global Checkpoint Load : Rank : 0 : Start time : 1744408121.151s : "
                               "Time spent in load_checkpoint: 3.25s\n" NEMO("6", "2.5")
                                   NEMO("7", "2.75") NEMO("8", "0.0") NEMO("9", "2.5"),
          "nemo", 5);
    assert_true(!iterations.rows[1].first && iterations.rows[2].first);
    assert_true(isnan(iterations.rows[2].loaded) && !iterations.rows[3].first);
    assert_true(iterations.rows[2].pauses_s[ITERATION_LOAD] == 3.25);
    assert_true(iterations.rows[3].pauses_s[ITERATION_LOAD] == 0.0);
    assert_int_equal(iterations.told_pauses[ITERATION_LOAD], 1);
    assert_int_equal(iterations.told_pauses[ITERATION_SAVE], 0);
    row_is(4, 9, 2.5, 8); /* 8 was rounded to nothing */
    /* A decimal of a progress bar's step is cut off. */
    reads("Epoch 0: 1/9 [global_step=3.700, train_step_timing in s=2.500]\n", "nemo", 1);
    row_is(0, 3, 2.5, 1);
}

/* Times and rates that are none, and what a load says of its step. */
static void test_rows_that_are_none(void **state)
{
    refused("step,seconds\n1,1e-10\n", "csv", "train.log:2: the time or the rate");
    refused("step,seconds\n1,0\n", "csv", "train.log:2: the time or the rate");
    refused("step,seconds\n-1,1\n", "csv", "train.log:2: the number of the iteration");
    reads("step,seconds\n0,1e-9\n1,2\n", "csv", 2);
    reads("step: 10  loss: 1  tps: 0\nstep: 20  loss: 1  tps: 4\n", "torchtitan", 1);
    assert_int_equal(iterations.rows[0].number, 20);
    reads("Loading the checkpoint from /c at step 7.\nstep: 10  loss: 1  wps: 4,096\n"
          "step: 20  loss: 1  wps: 4,096\nLoading the checkpoint\nstep: 30  loss: 1  wps: 4\n",
          "torchtitan", 3);
    assert_true(iterations.rows[0].loaded == 7.0 && iterations.rows[0].first);
    assert_true(isnan(iterations.rows[1].loaded) && !iterations.rows[1].first);
    assert_true(iterations.rows[2].first && isnan(iterations.rows[2].loaded));
    assert_true(iterations.rows[1].tokens_per_s_per_gpu == 4096.0);
}

static void test_progress_bars(void **state)
{
    reads("Epoch 0: :   0%|          | 0/100 [00:00<?, ?it/s]\r"
          "Epoch 0: :   1%|1         | 1/100 [00:03<05:10, reduced_train_loss=0.0172, "
          "global_step=0.000, consumed_samples=256.0, train_step_timing in s=3.130]\r"
          "Epoch 0: :   1%|1         | 1/100 [00:04<05:10, reduced_train_loss=0.0172, "
          "global_step=0.000, consumed_samples=256.0, train_step_timing in s=3.140]\x1b[A\r"
          "Epoch 0: :   2%|2         | 2/100 [00:06<05:10, "
          "global_step=1.000, consumed_samples=512.0, train_step_timing in s=3.200]\n",
          "nemo", 2);
    row_is(0, 0, 3.13, 1);
    row_is(1, 1, 3.2, 1);
    assert_int_equal(iterations.repeated, 1);
}

#define EVENT(ms, key, value, metadata)                                                            \
    ":::MLLOG {\"namespace\": \"\", \"time_ms\": 17936787" ms ", \"event_type\": "                 \
    "\"POINT_IN_TIME\", \"key\": \"" key "\", \"value\": " value                                   \
    ", \"metadata\": {\"file\": \"a.py\", \"lineno\": 1" metadata "}}\n"

static void test_mllog(void **state)
{
    reads(EVENT("06000", "init_start", "null", "") "0: " EVENT("07000", "global_batch_size", "128",
                                                               "")
              EVENT("20000", "tracked_stats", "{\"train_step_time\": 2.5, \"throughput\": 50}",
                    ", \"step\": 4") EVENT("20500", "eval_start", "null", "")
                  EVENT("21700", "eval_stop", "null", "") ":::MLLOG {\"cut\n" EVENT(
                      "30000", "tracked_stats", "{\"train_step_time\": 2.25}",
                      ", \"samples_count\": 1024"),
          "mllog", 2);
    row_is(0, 4, 2.5, 3);
    row_is(1, 8, 2.25, 7);
    at_is(0, AT + 14.0);
    assert_true(iterations.begin_s == AT);
    /* Seconds since 1970 are told to 0.24 us. */
    assert_true(fabs(iterations.rows[1].pauses_s[ITERATION_EVALUATION] - 1.2) < 1e-6);
}

/* 10 s from start to stop, 2 s of them an evaluation, 4 steps. */
static void test_blocks_of_mllog(void **state)
{
    reads(EVENT("07000", "global_batch_size", "16", "")
              EVENT("10000", "block_start", "null", ", \"samples_count\": 32")
                  EVENT("11000", "eval_start", "null", "") EVENT("13000", "eval_stop", "null", "")
                      EVENT("20000", "block_stop", "null", ", \"samples_count\": 96"),
          "mllog", 1);
    row_is(0, 6, 2.0, 5);
    /* Blocks by other names of their step: (10 - 2) / 4 and (8 - 0) / 2; an evaluation ends once,
     * and a block that did not begin has no time. */
    reads(EVENT("07000", "global_batch_size", "16", "") EVENT("08000", "tracked_stats", "{}", "")
              EVENT("10000", "block_start", "null", ", \"step_num\": 2")
                  EVENT("11000", "eval_start", "null", "") EVENT("13000", "eval_stop", "null", "")
                      EVENT("14000", "eval_stop", "null", "")
                          EVENT("20000", "block_stop", "null", ", \"step_num\": 6")
                              EVENT("21000", "block_stop", "null", ", \"step_num\": 8")
                                  EVENT("30000", "block_start", "null", ", \"first_epoch_num\": 96")
                                      EVENT("38000", "block_stop", "null",
                                            ", \"first_epoch_num\": 128"),
          "mllog", 2);
    row_is(0, 6, 2.0, 7);
    row_is(1, 8, 4.0, 10);
    assert_true(fabs(iterations.rows[0].pauses_s[ITERATION_EVALUATION] - 2.0) < 1e-6);
}

/* Steps that say no number are counted; an event without a key tells nothing. */
static void test_steps_without_a_number(void **state)
{
    reads(":::MLLOG {\"time_ms\": 1793678706000}\n" EVENT("20000", "tracked_stats",
                                                          "{\"train_step_time\": 2.5}", "")
              EVENT("30000", "tracked_stats", "{\"train_step_time\": 2.75}", ""),
          "mllog", 2);
    row_is(0, 1, 2.5, 2);
    row_is(1, 2, 2.75, 3);
}

/* What a log states of its work; a row that does not is of none that is known. */
static void test_work(void **state)
{
    reads(" iteration 1/ 9 | elapsed time per iteration (ms): 1.0 | global batch size:    64 |\n"
          " iteration 2/ 9 | elapsed time per iteration (ms): 1.0 | global batch size: 1,024 |\n"
          " iteration 3/ 9 | elapsed time per iteration (ms): 1.0 |\n",
          "megatron", 3);
    assert_true(iterations.rows[0].batch == 64.0 && iterations.rows[1].batch == 1024.0);
    assert_true(isnan(iterations.rows[2].batch) && isnan(iterations.sequence));
    reads("iteration 1/9 | global_batch_size: 16 | global_step: 1 | train_step_timing in s: 2.4\n",
          "nemo", 1);
    assert_true(iterations.rows[0].batch == 16.0 && !iterations.dated);
    reads(EVENT("07000", "global_batch_size", "128", "")
              EVENT("07000", "max_sequence_length", "8192", "")
                  EVENT("20000", "tracked_stats", "{\"train_step_time\": 2.5}", ", \"step\": 4"),
          "mllog", 1);
    assert_true(iterations.rows[0].batch == 128.0 && iterations.sequence == 8192.0);
    reads(EVENT("07000", "global_batch_size", "16", "")
              EVENT("10000", "block_start", "null", ", \"samples_count\": 32")
                  EVENT("20000", "block_stop", "null", ", \"samples_count\": 96"),
          "mllog", 1);
    assert_true(iterations.rows[0].batch == 16.0 && isnan(iterations.sequence));
    reads(EVENT("20000", "tracked_stats", "{\"train_step_time\": 2.5}", ", \"step\": 4"), "mllog",
          1);
    assert_true(isnan(iterations.rows[0].batch));
    reads("step: 10  loss: 1  tps: 4,096\n", "torchtitan", 1);
    assert_true(isnan(iterations.rows[0].batch));
}

static void test_dates(void **state)
{
    reads("step,at\n1,100\n2,101.5\n", "csv", 2);
    assert_true(!iterations.dated && isnan(iterations.rows[0].batch));
    reads("step,at\n1,100\n2,2026-11-03T04:05:06\n", "csv", 2);
    assert_true(iterations.dated);
    reads("[2026-11-03 04:05:06] iteration 1/ 9 | elapsed time per iteration (ms): 1.0 |\n",
          "megatron", 1);
    assert_true(iterations.dated);
    reads(EVENT("20000", "tracked_stats", "{\"train_step_time\": 2.5}", ", \"step\": 4"), "mllog",
          1);
    assert_true(iterations.dated);
}

static void test_tables(void **state)
{
    reads("step,loss,seconds,at\n1,2.0,3.5,2026-11-03T04:05:06Z\n2,1.9,,1793678709.5\n"
          "2,1.9,3.25,\n",
          "csv", 3);
    row_is(0, 1, 3.5, 2);
    at_is(0, AT);
    at_is(1, AT + 3.5);
    assert_true(isnan(iterations.rows[1].step_s) && isnan(iterations.rows[2].at_s));
    assert_true(iterations.rows[2].first);
    reads("\"at\",\"iteration\"\n2026-11-03 04:05:06,7\n", "csv", 1);
    assert_int_equal(iterations.rows[0].number, 7);
    reads("at,step\n2026-11-03 04:05:06,7\n2026-11-03 04:05:09,8\n", "csv", 2);
    assert_true(isnan(iterations.begin_s)); /* nothing is said of what was before */
}

static void test_refused_tables(void **state)
{
    refused("step,loss\n1,2\n", NULL,
            "train.log:1: a table of steps has the columns step and "
            "seconds");
    refused("step,seconds\n1,2\nx,2\n", NULL, "train.log:3: 'x' is no number of a step");
    refused("step,seconds\n1,2\n1.5,2\n", NULL, "train.log:3: '1.5' is no number");
    refused("step,seconds\n1,2\n2,-1\n", NULL, "train.log:3: the time or the rate");
    refused("step,seconds\n1,2\n2,1 s\n", NULL, "train.log:3: '1 s' are no seconds");
    refused("step,at\n1,2\n2,noon\n", NULL, "train.log:3: 'noon' is no moment");
    refused("step,at\n1,2\n2,1e300\n", NULL, "train.log:3: its moment is none");
    refused("step,seconds\n1,2\n1e13,2\n", NULL, "train.log:3: the number of the iteration");
    refused("step,seconds\n1,2\n2\n", "csv", "train.log:3: 1 field");
}

static void test_no_log(void **state)
{
    refused("hello\nworld\n", NULL,
            "no line tells an iteration with its time, in the form of "
            "megatron, torchtitan, nemo, mllog or csv");
    refused("hello\n", "nemo", "no iteration in the form of nemo: ... global_step: N");
    refused(" iteration 10/ 20 | lm loss: 3 |\n at iteration 10 to /a/b elapsed time per "
            "iteration (ms): 3\n",
            "megatron", "no iteration in the form of megatron");
    refused("timestep,seconds\n1,2\n", NULL, "no line tells an iteration with its time");
    refused("steps,seconds\n1,2\n", NULL, "no line tells an iteration with its time");
    refused("timestep,seconds\n1,2\n", "csv", "no iteration in the form of csv");
    refused("step:  1  loss: 12.2713  memory: 4\n", "torchtitan", "no iteration");
    refused("mystep:  1  loss: 12.2713  tps: 4\n", "torchtitan", "no iteration");
}

/* Cut in the middle of its last line, with NULs that a file system left, and a bell. */
static void test_damaged(void **state)
{
    static const char text[] =
        "\0\0\0\x07 iteration 10/ 20 | elapsed time per iteration (ms): 1500.0 |\n"
        "\x1b]0;title\x07 iteration 11/ 20 | elapsed time per iteration (ms): 1600.0 |\n"
        "\x1b[?25l iteration 12/ 20 | elapsed time per iteration (ms): 17";
    struct error error;
    assert_true(read_bytes(text, sizeof text - 1, NULL, &error));
    assert_int_equal(iterations.count, 3);
    row_is(0, 10, 1.5, 1);
    row_is(1, 11, 1.6, 2);
    reads(" iteration 10/ 20 | elapsed time per iteration (ms): 1500.0 |\n"
          " iteration 11/ 20 | elapsed time per iteration (m\n"
          " iteration 12/ 20 | elapsed time per iteration (ms): \n",
          "megatron", 1);
}

/* Of several that wrote into one log, the one whose rows are the most. */
static void test_most(void **state)
{
    reads(EVENT("20000", "tracked_stats", "{\"train_step_time\": 2.5}",
                ", \"step\": 2") "iteration 1/9 | global_step: 1 | train_step_timing in s: 2.4\n"
                                 "iteration 2/9 | global_step: 2 | train_step_timing in s: 2.6\n",
          "nemo", 2);
    struct error error;
    static const char text[] =
        EVENT("20000", "tracked_stats", "{\"train_step_time\": 2.5}",
              ", \"step\": 2") "iteration 1/9 | global_step: 1 | train_step_timing in s: 2.4\n";
    assert_true(read_bytes(text, sizeof text - 1, "mllog", &error));
    row_is(0, 2, 2.5, 1);
}

static void test_prefixes(void **state)
{
    static const char *const heads[] = {"[rank3]:", "[default3]:", "3: ", "[1,3]<stdout>:"};
    for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "%s2026-11-03T05:05:06+01:00 iteration 1/ 9 | elapsed time per iteration (ms): "
                 "1000 |\n"
                 "%.*s4%s iteration 1/ 9 | elapsed time per iteration (ms): 1001 |\n",
                 heads[i], (int)strcspn(heads[i], "3"), heads[i],
                 heads[i] + strcspn(heads[i], "3") + 1);
        reads(text, "megatron", 1);
        assert_int_equal(iterations.repeated, 1);
        at_is(0, AT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_megatron),
        cmocka_unit_test(test_seconds_of_deepspeed),
        cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_same_step_again),
        cmocka_unit_test(test_torchtitan),
        cmocka_unit_test(test_nemo),
        cmocka_unit_test(test_loads_of_nemo),
        cmocka_unit_test(test_rows_that_are_none),
        cmocka_unit_test(test_progress_bars),
        cmocka_unit_test(test_mllog),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_blocks_of_mllog),
        cmocka_unit_test(test_steps_without_a_number),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_refused_tables),
        cmocka_unit_test(test_no_log),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_most),
        cmocka_unit_test(test_prefixes),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
