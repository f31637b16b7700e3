/* A log row by row: starts, kept steps, pauses and goodput, counted by hand. */
#include <math.h>
#include <string.h>

#include "analysis/watch/watch_goodput.h"
#include "analysis/watch/watch_levels.h"
#include "sim/random.h"
#include "tests/test.h"

static struct arena *arena;
static struct iteration_log iterations;
static struct watch watch;
static struct watch_goodput goodput;

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

static void reads(const char *text, const char *format)
{
    const struct watch_work work = {8192.0 * 64.0, 16};
    struct error error = {""};
    const struct import_file file = {"log", arena_text(arena, text), strlen(text)};
    if (!iteration_log_read(arena, &file, iteration_format_find(format), &iterations, &error) ||
        !watch_read(arena, &iterations, work, &watch, &error))
        fail_msg("%s", error.text);
    watch_goodput_find(&watch, &goodput);
}

static void is(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-6 * fmax(1.0, fabs(wanted))))
        fail_msg("%.9g, not %.9g", value, wanted);
}

#define ROW(clock, step, ms)                                                                       \
    "[2026-11-03 " clock "] iteration " step "/ 900 | elapsed time per iteration (ms): " ms " |\n"

/* Rows of 10 steps of 2 s; a save of 5 s; the run dies behind step 40 and goes on behind 25.
 *
 *   10:00:00  first line: 60 s to the first step
 *   10:01:30  step 10: 30 s for 10 steps, 10 s more than the others: startup
 *   10:01:50  step 20
 *   10:02:15  step 30: 20 s, and the save before it 5 s
 *   10:02:38  step 40: 20 s, and 3 s of nothing that is told
 *   10:12:48  step 30 again, of 5 steps: 10 s; 600 s before it, of which the load is 8 s
 *   10:13:08  step 40
 *   10:13:28  step 50
 */
static void test_by_hand(void **state)
{
    reads("[2026-11-03 10:00:00] a first line\n" ROW("10:01:30", "10", "3000.0")
              ROW("10:01:50", "20", "2000.0") "    save-checkpoint ......: (4000.0, 5000.0)\n" ROW(
                  "10:02:15", "30", "2000.0")
                  ROW("10:02:38", "40",
                      "2000.0") "successfully loaded checkpoint from /c at iteration 25\n"
                                "    load-checkpoint ......: (7000.0, 8000.0)\n" ROW("10:12:48",
                                                                                     "30", "2000.0")
                                    ROW("10:13:08", "40", "2000.0") ROW("10:13:28", "50", "2000.0"),
          "megatron");
    assert_true(watch.clocked && watch.source == WATCH_TOLD);
    assert_int_equal(watch.start_count, 2);
    is(watch.starts[0].base, 0.0);
    is(watch.starts[1].base, 25.0);
    is(watch.starts[1].repeated, 15.0);
    is(watch.starts[1].between_s, 600.0);
    is(watch.rows[4].steps, 5.0);
    is(watch.rows[2].kept_ratio, 0.5);
    is(watch.rows[3].kept_ratio, 0.0);
    assert_int_equal(watch.steady_count, 5);
    is(goodput.wall_s, 808.0);
    is(goodput.productive_s, 20.0 + 20.0 + 10.0 + 10.0 + 20.0 + 20.0);
    is(goodput.wasted_s, 10.0 + 20.0);
    is(goodput.startup_s, 60.0 + 10.0);
    is(goodput.recovery_s, 592.0);
    is(goodput.pauses_s[ITERATION_SAVE], 5.0);
    is(goodput.pauses_s[ITERATION_LOAD], 8.0);
    assert_true(isnan(goodput.pauses_s[ITERATION_EVALUATION]));
    is(goodput.other_s, 3.0);
    is(goodput.kept_steps, 50.0);
    is(goodput.repeated_steps, 15.0);
    /* 20 + 25 + 23 + 20 + 20 s, less 5 s that are told, over 100 s */
    is(watch.clock_ratio, 1.03);
}

/* A start that dies before it has passed what it repeats: what it trained is lost, too. */
static void test_restarts_in_restarts(void **state)
{
    reads("step,seconds\n1,2\n2,1\n3,1\n4,1\n5,1\n3,4\n4,1\n3,2\n4,1\n5,1\n6,1\n", "csv");
    assert_int_equal(watch.start_count, 3);
    is(watch.starts[1].repeated, 3.0);
    is(watch.starts[2].repeated, 2.0);
    is(goodput.kept_steps, 6.0);
    is(goodput.repeated_steps, 5.0);
    is(goodput.productive_s, 1.0 + 1.0 + 4.0);
    is(goodput.wasted_s, 3.0 + 2.0);
    is(goodput.startup_s, 1.0 + 3.0 + 1.0);
    is(goodput.wall_s, 16.0);
    assert_true(isnan(goodput.recovery_s) && isnan(goodput.other_s) && !watch.clocked);
    assert_true(isnan(watch.starts[1].between_s) && isnan(watch.clock_ratio));
}

/* The last start goes back before the one ahead of it: of the first only two steps are left. */
static void test_back_further(void **state)
{
    reads("step,seconds\n1,1\n2,1\n3,1\n4,1\n5,1\n5,2\n6,1\n3,1\n4,1\n", "csv");
    assert_int_equal(watch.start_count, 3);
    is(goodput.kept_steps, 4.0);
    is(goodput.repeated_steps, 5.0);
}

/* A first row stands for as many steps as most of the others, in whole ones, and for what lies
 * behind its checkpoint, where that lies before it. */
static void test_first_rows(void **state)
{
    reads("step,seconds\n1,1\n2,1\n4,1\n5,1\n8,1\n10,1\n", "csv"); /* 1 2 1 3 2: two */
    is(watch.rows[0].steps, 1.0);                                  /* there was no more */
    reads("step,seconds\n9,1\n10,1\n12,1\n13,1\n15,1\n", "csv");   /* 1 2 1 2: one, not 1.5 */
    is(watch.starts[0].base, 8.0);
    /* Between the last row of a start and the first of the next nothing is trained. */
    reads("step,seconds\n30,1\n32,1\n20,1\n10,1\n5,1\n", "csv");
    is(watch.rows[0].steps, 2.0);
    is(watch.rows[4].steps, 2.0);
    reads(ROW("10:00:00", "10", "1000.0") ROW("10:00:10", "20", "1000.0")
              ROW("10:00:20", "30", "1000.0") "successfully loaded checkpoint from /c at iteration "
                                              "20\n" ROW("10:01:00", "20", "1000.0"),
          "megatron");
    is(watch.starts[1].base, 10.0); /* step 20 itself is trained again, with those before it */
    /* A start beyond what was printed repeats nothing. */
    reads(ROW("10:00:00", "10", "1000.0")
              ROW("10:00:10", "20", "1000.0") "successfully loaded "
                                              "checkpoint from /c at "
                                              "iteration 25\n" ROW("10:01:00", "30", "1000.0"),
          "megatron");
    assert_int_equal(watch.start_count, 2);
    is(watch.starts[1].base, 25.0);
    is(watch.starts[1].repeated, 0.0);
}

/* What is told beside steps has the room that the stamps leave for it, and no more. */
static void test_pauses_that_do_not_fit(void **state)
{
    /* 12 s by the stamps, 10 of them steps; a load of 6 s and an evaluation of 3 s share 12 s. */
    reads(ROW("10:00:00", "10", "1000.0") ROW("10:00:10", "20", "1000.0")
              ROW("10:00:20", "30", "1000.0") "    load-checkpoint ...: (1.0, 60000.0)\n"
                                              "    evaluate .......: (1.0, 30000.0)\n" ROW(
                                                  "10:00:32", "40", "1000.0"),
          "megatron");
    is(watch.rows[3].inside_s, 10.0);
    is(watch.rows[3].pauses_s, 12.0);
    assert_true(isnan(watch.rows[3].step_s) && !watch.rows[3].steady);
    is(goodput.pauses_s[ITERATION_LOAD], 8.0);
    is(goodput.pauses_s[ITERATION_EVALUATION], 4.0);
    is(goodput.productive_s, 30.0);
    is(goodput.wall_s, 42.0);
    is(goodput.other_s, 0.0);
    /* Ahead of a first step nothing of its time is a pause. */
    reads("Finished loading the checkpoint in 7.0 seconds.\nstep: 10  loss: 1  tps: 4,096\n"
          "step: 20  loss: 1  tps: 4,096\n",
          "torchtitan");
    is(watch.rows[0].inside_s, 0.0);
    is(watch.rows[0].pauses_s, 7.0);
    is(watch.rows[0].step_s, 8.0);
    is(goodput.recovery_s, 0.0); /* it never went down */
    /* Stamps say so too: 80 s of steps end 5 s after the first line. */
    reads("[titan] 2026-11-03 10:00:00,000 - root - INFO - begun\n"
          "Finished loading the checkpoint in 7.0 seconds.\n"
          "[titan] 2026-11-03 10:00:05,000 - root - INFO - step: 10  loss: 1  tps: 4,096\n"
          "[titan] 2026-11-03 10:01:25,000 - root - INFO - step: 20  loss: 1  tps: 4,096\n"
          "[titan] 2026-11-03 10:03:05,000 - root - INFO - step: 30  loss: 1  tps: 4,096\n",
          "torchtitan");
    is(watch.rows[0].inside_s, 0.0);
    is(goodput.other_s, 20.0);
    is(goodput.wall_s, 260.0); /* from the first step's begin, which is before the first line */
}

/* A first step that is faster than the others, and stamps that leave no room before it. */
static void test_starts_that_are_short(void **state)
{
    reads(ROW("10:00:00", "10", "1000.0") ROW("10:00:20", "20", "2000.0")
              ROW("10:00:25", "20", "1000.0") ROW("10:00:45", "30", "2000.0"),
          "megatron");
    assert_int_equal(watch.start_count, 2);
    is(watch.starts[1].between_s, 0.0); /* 5 s after it, ten steps of 1 s */
    is(goodput.startup_s, 0.0);
    is(goodput.productive_s + goodput.wasted_s, 60.0);
    /* A stamp that is missing: the gap before the second start is not known, and no clock is. */
    reads(ROW("10:00:00", "10", "1000.0") ROW("10:00:10", "20", "1000.0")
              ROW("10:05:00", "20", "1000.0") "iteration 30/ 900 | elapsed time per iteration "
                                              "(ms): 1000.0 |\n",
          "megatron");
    assert_true(!watch.clocked && isnan(goodput.recovery_s) && isnan(watch.starts[1].between_s));
    is(goodput.startup_s, 0.0);
    is(goodput.wall_s, 40.0);
    reads(ROW("10:00:00", "10", "1000.0") ROW("10:00:10", "20", "1000.0")
              ROW("09:00:00", "20", "1000.0") ROW("09:00:10", "30", "1000.0"),
          "megatron");
    assert_true(isnan(watch.clock_ratio));
}

/* 64 sequences of 8192 tokens on 16 GPUs at 4096 tokens a second each: 8 s a step. */
static void test_rate(void **state)
{
    reads("step: 10  loss: 1  tps: 4,096\n"
          "Finished saving the checkpoint in 16.0 seconds.\n"
          "step: 20  loss: 1  tps: 2,048\nstep: 30  loss: 1  tps: 4,096\n",
          "torchtitan");
    assert_true(watch.source == WATCH_RATE);
    is(watch.rows[0].step_s, 8.0);
    is(watch.rows[1].whole_s, 160.0);
    is(watch.rows[1].step_s, 14.4); /* the save is inside of its 160 s */
    is(watch.rows[2].step_s, 8.0);
    is(goodput.pauses_s[ITERATION_SAVE], 16.0);
    is(goodput.wall_s, 320.0);
}

/* Without times: 40 s for 4 steps, then 10 s for one; the first row tells none, and of the last one
 * 830 s are more than its two steps take. */
static void test_clock(void **state)
{
    reads("step,at\n2,100\n6,140\n7,150\n9,1000\n", "csv");
    assert_true(watch.source == WATCH_CLOCK && watch.clocked);
    assert_true(isnan(watch.rows[0].step_s));
    is(watch.rows[1].step_s, 10.0);
    is(watch.rows[2].step_s, 10.0);
    assert_true(isnan(watch.rows[3].step_s));
    assert_int_equal(watch.steady_count, 2);
    is(goodput.productive_s, 70.0);
    is(goodput.other_s, 830.0);
    is(goodput.wall_s, 900.0);
    /* Twice as long is still a step. */
    reads("step,at\n1,100\n2,110\n3,120\n4,140\n5,150\n", "csv");
    is(watch.rows[3].step_s, 20.0);
    is(goodput.other_s, 0.0);
    reads("step,at\n1,100\n2,110\n3,120\n4,141\n5,151\n", "csv"); /* and longer is a gap */
    assert_true(isnan(watch.rows[3].step_s));
    is(goodput.other_s, 11.0);
    /* Of a start the first row has no time of its own, whatever lies before it. */
    reads("step,at\n1,100\n2,110\n3,120\n2,125\n3,135\n", "csv");
    assert_true(isnan(watch.rows[3].step_s) && watch.rows[3].whole_s == 0.0);
    is(watch.starts[1].between_s, 5.0);
    /* The rows around are four before and four behind: 1 1 1 1 5 5 5 5 around a row of 11. */
    reads("step,at\n1,0\n2,1\n3,2\n4,3\n5,4\n6,15\n7,20\n8,25\n9,30\n10,35\n", "csv");
    is(watch.rows[5].whole_s, 5.0);
    assert_true(isnan(watch.rows[5].step_s));
}

/* A change of level is no gap, on either side of it, and gaps beside it are. */
static void test_clock_of_levels(void **state)
{
    const char *text = "step,at\n";
    double at_s = 1000.0;
    for (unsigned i = 0; i < 60; i++) {
        at_s += (i < 30 ? 1.0 : 7.0) + (i == 10 || i == 20 || i == 40 ? 100.0 : 0.0);
        text = arena_format(arena, "%s%u,%.3f\n", text, i + 1, at_s);
    }
    reads(text, "csv");
    is(goodput.other_s, 300.0);
    is(goodput.productive_s, 29.0 + 7.0 * 30.0);
    assert_int_equal(watch.steady_count, 60 - 1 - 3);
}

/* Law: what stamps alone tell is what they tell beside the times of the steps, but for the first
 * step, whose begin they do not know. */
static void test_two_views(void **state)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        const char *both = "step,seconds,at\n", *alone = "step,at\n";
        const double step_s = 0.05 + 0.01 * (double)(seed % 7);
        const unsigned each = 1 + (unsigned)(seed % 3);
        double at_s = seed % 2 == 0 ? 100.0 : 1793678706.0, gaps_s = 0.0;
        for (unsigned i = 0; i < 120; i++) {
            const double noise = 1.0 + 0.02 * ((double)(random_hash(seed, i) % 100) / 100.0 - 0.5);
            const bool gap = i > 0 && random_hash(seed, 1000 + i) % 23 == 0;
            const double told_s = round(1e6 * step_s * noise) / 1e6;
            at_s += told_s * each + (gap ? 300.0 : 0.0);
            gaps_s += gap ? 300.0 : 0.0;
            both = arena_format(arena, "%s%u,%.6f,%.6f\n", both, (i + 1) * each, told_s, at_s);
            alone = arena_format(arena, "%s%u,%.6f\n", alone, (i + 1) * each, at_s);
        }
        reads(both, "csv");
        const struct watch_goodput told = goodput;
        reads(alone, "csv");
        assert_true(watch.source == WATCH_CLOCK);
        if (fabs(told.other_s - gaps_s) > 1e-3 || fabs(goodput.other_s - gaps_s) > 0.05 ||
            fabs(told.wall_s - goodput.wall_s) > 1.1 * each * step_s ||
            fabs(told.productive_s - goodput.productive_s) > 0.05 + 1.1 * each * step_s)
            fail_msg("seed %u: gaps of %g s: %g s and %g s of %g s and %g s", (unsigned)seed,
                     gaps_s, told.other_s, goodput.other_s, told.wall_s, goodput.wall_s);
    }
}

/* Stamps of whole seconds: what the log tells stands, whatever a stamp leaves out. */
static void test_whole_seconds(void **state)
{
    for (unsigned save_ms = 200; save_ms < 7000; save_ms += 700) {
        const char *text = "";
        double at_s = 1.3;
        for (unsigned i = 1; i <= 100; i++) {
            at_s += 7.5;
            const unsigned whole = (unsigned)floor(at_s);
            text = arena_format(arena,
                                "%s[2026-11-03 04:%02u:%02u] iteration %u/ 900 | elapsed time per "
                                "iteration (ms): 750.0 |\n    save-checkpoint ...: (1.0, %u.0)\n",
                                text, whole / 60, whole % 60, 10 * i, save_ms);
            at_s += save_ms * 1e-3;
        }
        reads(text, "megatron");
        for (uint32_t i = 0; i < iterations.count; i++)
            is(watch.rows[i].step_s, 0.75);
        is(goodput.pauses_s[ITERATION_SAVE], 99.0 * save_ms * 1e-3);
        assert_true(goodput.other_s >= 0.0 && goodput.other_s < 1.0);
    }
    /* Steps that hold their save leave no room for it: 13.5 s by the stamps, 10 x 1.35 s told. */
    reads(ROW("10:00:00", "10", "1350.0") "    save-checkpoint ...: (1.0, 6000.0)\n" ROW(
              "10:00:13", "20",
              "1350.0") "    save-checkpoint ...: (1.0, 6000.0)\n" ROW("10:00:27", "30", "1350.0"),
          "megatron");
    is(watch.rows[1].step_s, 0.75);
    is(watch.rows[2].step_s, 0.8); /* 14 s by the stamps: half a second of it has room */
    /* Stamps of milliseconds tell what those of seconds do not: 1.5 s for ten steps of 0.15 s. */
    reads(ROW("10:00:00.500", "10",
              "150.0") "    save-checkpoint ...: (1.0, 800.0)\n" ROW("10:00:02.000", "20", "150.0"),
          "megatron");
    is(watch.rows[1].step_s, 0.07);
}

/* A clock that goes back is none; a row alone is steady all the same. */
static void test_no_clock(void **state)
{
    reads("step,seconds,at\n1,2,100\n2,2,90\n", "csv");
    assert_false(watch.clocked);
    assert_int_equal(watch.back, 1);
    is(goodput.wall_s, 4.0);
    reads("step,seconds,at\n1,2,100\n2,2,102\n3,2,101\n4,2,99\n", "csv");
    assert_int_equal(watch.back, 2);
    reads("step,seconds,at\n1,2,100\n2,2,\n3,2,104\n4,2,104\n", "csv");
    assert_true(!watch.clocked && watch.back == 0);
    reads("step,seconds\n7,2\n", "csv");
    assert_int_equal(watch.steady_count, 1);
    is(goodput.kept_steps, 1.0);
}

static void test_no_time(void **state)
{
    struct error error = {""};
    static char text[] = "step,at\n1,100\n2,\n1,300\n";
    const struct import_file file = {"log", text, sizeof text - 1};
    assert_true(iteration_log_read(arena, &file, NULL, &iterations, &error));
    assert_false(watch_read(arena, &iterations, (struct watch_work){1.0, 1}, &watch, &error));
    assert_non_null(strstr(error.text, "it tells no time of a step"));
}

/* Twenty steps: MAD 0.1, median 3.0: (3.6 - 3.0) 0.6745 / 0.1 = 4.0 is slow, 3.5 of it is not. */
static void test_slow(void **state)
{
    static const double times_s[] = {2.9, 3.1, 2.9, 3.1, 3.0, 2.9, 3.1, 3.0, 3.6, 2.9,
                                     3.1, 2.9, 3.1, 3.0, 2.9, 3.1, 3.5, 3.0, 2.9};
    struct watch_levels levels;
    const char *text = "step,seconds\n0,9\n";
    for (unsigned i = 0; i < sizeof times_s / sizeof times_s[0]; i++)
        text = arena_format(arena, "%s%u,%g\n", text, i + 1, times_s[i]);
    reads(text, "csv");
    watch_levels_find(arena, &watch, 4, &levels);
    assert_int_equal(levels.level_count, 1);
    assert_int_equal(levels.slow_count, 1);
    assert_int_equal(levels.slow[0].row, 9);
    is(levels.slow[0].score, 0.6 * 0.6745 / 0.1);
    is(levels.slow[0].lost_s, 0.6);
    is(levels.all.p50_s, 3.0);
    assert_int_equal(levels.window_count, 4);
    assert_int_equal(levels.windows[0].rows + levels.windows[1].rows + levels.windows[2].rows +
                         levels.windows[3].rows,
                     19);
    is(levels.windows[0].p50_s, 3.0); /* 2.9 3.1 2.9 3.1 */
    assert_int_equal(levels.windows[0].first, 1);
    assert_int_equal(levels.windows[3].last, 19);
}

/* All alike but one: the mean deviation is 1 / 12, and 1 of 1.2533 / 12 is 9.57. */
static void test_slow_of_equals(void **state)
{
    struct watch_levels levels;
    reads("step,seconds\n0,2\n1,2\n2,2\n3,2\n4,2\n5,3\n6,2\n7,2\n8,2\n9,2\n10,2\n11,2\n12,2\n",
          "csv");
    watch_levels_find(arena, &watch, 1, &levels);
    assert_int_equal(levels.slow_count, 1);
    is(levels.slow[0].score, 12.0 / 1.253314);
    assert_int_equal(iterations.rows[levels.slow[0].row].number, 5);
}

static unsigned levels_of(double before_s, double after_s)
{
    struct watch_levels levels;
    const char *text = "step,seconds\n0,9\n";
    for (unsigned i = 0; i < 60; i++)
        text = arena_format(arena, "%s%u,%.9f\n", text, i + 1, i < 30 ? before_s : after_s);
    reads(text, "csv");
    watch_levels_find(arena, &watch, 1, &levels);
    return levels.level_count;
}

/* What would be shown as no change is none; nor is what is left of a subtraction of stamps. */
static void test_changes_below_rounding(void **state)
{
    struct watch_levels levels;
    const char *text = "step,at\n";
    assert_int_equal(levels_of(2.0, 2.0009), 1);
    assert_int_equal(levels_of(2.0, 1.9991), 1);
    assert_int_equal(levels_of(2.0, 2.0011), 2);
    assert_int_equal(levels_of(2.0, 1.9989), 2);
    for (unsigned i = 1; i <= 100; i++)
        text = arena_format(arena, "%s%u,%.4f\n", text, i, 100.0 + 0.075 * i);
    reads(text, "csv");
    for (uint32_t i = 1; i < iterations.count; i++)
        assert_true(watch.rows[i].step_s == watch.rows[1].step_s);
    watch_levels_find(arena, &watch, 1, &levels);
    assert_true(levels.level_count == 1 && levels.slow_count == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_rows),
        cmocka_unit_test(test_pauses_that_do_not_fit),
        cmocka_unit_test(test_starts_that_are_short),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_restarts_in_restarts),
        cmocka_unit_test(test_back_further),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_clock_of_levels),
        cmocka_unit_test(test_two_views),
        cmocka_unit_test(test_whole_seconds),
        cmocka_unit_test(test_changes_below_rounding),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_no_clock),
        cmocka_unit_test(test_no_time),
        cmocka_unit_test(test_slow),
        cmocka_unit_test(test_slow_of_equals),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
