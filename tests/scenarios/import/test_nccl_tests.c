/* Outputs of nccl-tests of several versions, and outputs that are none: read, or refused with the
 * line. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scenarios/import/nccl_tests.h"

#define RANKS                                                                                      \
    "#  Rank  0 Group  0 Pid  7 on node-a device  0 [0x1b] NVIDIA H100 80GB HBM3\n"                \
    "#  Rank  1 Group  0 Pid  7 on node-a device  1 [0x43] NVIDIA H100 80GB HBM3\n"
#define TWO_NODES                                                                                  \
    "#  Rank  0 Group  0 Pid  7 on node-a device  0 [0x1b] NVIDIA H100 80GB HBM3\n"                \
    "#  Rank  1 Group  0 Pid  9 on node-b device  0 [0x1b] NVIDIA H100 80GB HBM3\n"
#define HEADER                                                                                     \
    "#                                    out-of-place                in-place\n"                  \
    "#   size  count  type  redop  root   time  algbw  busbw #wrong   time  algbw  busbw #wrong\n" \
    "#    (B)  (elements)                 (us) (GB/s) (GB/s)          (us) (GB/s) (GB/s)\n"
/* 1 MiB in 50 and 51 us among two: busbw = algbw. */
#define ROW "  1048576  262144  float  sum  -1  50.00  20.97  20.97  0  51.00  20.56  20.56  0\n"

static void expect_near(double value, double wanted, double slack)
{
    if (!(fabs(value - wanted) <= slack))
        fail_msg("%.17g is not %.17g", value, wanted);
}

struct reading {
    struct arena *arena;
    struct nccl_tests tests;
    struct error error;
    bool good;
};

static struct reading read_text(const char *text, const char *op)
{
    struct reading r = {.arena = arena_create(), .error = {""}};
    const struct import_file file = {"file", arena_text(r.arena, text), strlen(text)};
    r.good = nccl_tests_read(r.arena, file, op, &r.tests, &r.error);
    return r;
}

static void refused(const char *text, const char *op, const char *why)
{
    struct reading r = read_text(text, op);
    if (r.good || strstr(r.error.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", r.error.text, why);
    arena_destroy(r.arena);
}

static void test_a_table_becomes_points(void **state)
{
    (void)state;
    char line[POINT_LINE_BYTES];
    struct reading r = read_text(RANKS HEADER ROW, "all_reduce");
    assert_true(r.good);
    assert_int_equal(r.tests.point_count, 1);
    assert_string_equal(r.tests.device, "NVIDIA H100 80GB HBM3");
    point_print(&r.tests.points[0].point, line);
    assert_string_equal(line, "collective all_reduce fp32 ranks=2 bytes=1048576");
    expect_near(r.tests.points[0].measurement.median_s, 50.5e-6, 1e-12);
    assert_int_equal(r.tests.points[0].measurement.samples, 2);
    arena_destroy(r.arena);
}

static void test_the_output_names_its_collective_and_nodes(void **state)
{
    (void)state;
    char line[POINT_LINE_BYTES];
    struct reading r =
        read_text("# nccl-tests version 2.17.6 nccl-headers=22703 nccl-library=22703\n"
                  "# Collective test starting: all_gather_perf\n" TWO_NODES
                  "node-a:7:9 [0] NCCL INFO Bootstrap : Using eth0\n" HEADER
                  "1048576 262144 half none -1 50.00 20.97 10.49 N/A 51.00 20.56 10.28 N/A\n"
                  "2097152 262144 int8 none -1 50.00 41.94 20.97 N/A 51.00 41.12 20.56 N/A\n"
                  "0 0 half none -1 5.00 0.00 0.00 N/A 5.00 0.00 0.00 N/A\n"
                  "# Out of bounds values : 0 OK\n"
                  "# Collective test starting: alltoall_perf\n" RANKS HEADER
                  "1048576 262144 bfloat16 none -1 50.00 20.97 10.49 N/A 51.00 20.56 10.28 N/A\n",
                  NULL);
    if (!r.good)
        fail_msg("%s", r.error.text);
    assert_int_equal(r.tests.table_count, 2);
    assert_int_equal(r.tests.point_count, 2);
    assert_int_equal(r.tests.left_out, 2);
    point_print(&r.tests.points[0].point, line);
    assert_string_equal(line, "collective all_gather fp16 ranks=2 bytes=1048576 nodes=2");
    point_print(&r.tests.points[1].point, line);
    assert_string_equal(line, "collective all_to_all bf16 ranks=2 bytes=1048576");
    arena_destroy(r.arena);
}

static void test_columns_go_by_their_names(void **state)
{
    (void)state;
    /* No redop and root, `error` for #wrong, as to 2.11; i_ columns and a timestamp, as of 2.19. */
    struct reading r = read_text(RANKS "# size count type time algbw busbw error time algbw busbw "
                                       "error\n"
                                       "1048576 262144 float 50.00 20.97 20.97 1e-7 50 20.97 20.97 "
                                       "0\n",
                                 "broadcast");
    assert_true(r.good);
    assert_int_equal(r.tests.point_count, 1);
    arena_destroy(r.arena);
    r = read_text(RANKS "# size count type redop root time algbw busbw #wrong i_min i_max\n"
                        "1048576 262144 float sum -1 50.00 20.97 20.97 0 49 51 2026-11-03 04:05\n",
                  "sendrecv_perf");
    assert_true(r.good);
    assert_int_equal(r.tests.points[0].measurement.samples, 1);
    arena_destroy(r.arena);
}

static void test_what_does_not_agree_is_refused_with_its_line(void **state)
{
    (void)state;
    refused(RANKS HEADER ROW, "all_gather", "file:6: busbw is 1 of algbw");
    refused(RANKS
            "#  Rank  2 Group  0 Pid  7 on a device  2 [0x1b] NVIDIA H100 80GB HBM3\n" HEADER ROW,
            "all_reduce", "'Rank' lines are missing");
    refused(RANKS HEADER "1048576 262144 float sum -1 0.05 20.97 20.97 0 0.05 20.56 20.56 0\n",
            "all_reduce", "the units are not B, us and GB/s");
    refused(RANKS "# size count type time algbw busbw\n# (B) (elements) (ms) (GB/s) (GB/s)\n" ROW,
            "all_reduce", "file:4: the unit (ms)");
    refused(RANKS HEADER ROW "# Out of bounds values : 3 FAILED\n", "all_reduce",
            "values came out wrong");
    refused(RANKS HEADER "1048576 262144 float sum -1 50.00 20.97 20.97 7 51.00 20.56 20.56 0\n",
            "all_reduce", "7 wrong values");
    refused(RANKS "# size count type cputime algbw busbw\n", "all_reduce", "without -C 1");
    refused(RANKS HEADER ROW, NULL, "give --op");
    refused(HEADER ROW, "all_reduce", "no 'Rank' lines");
    refused("# Collective test starting: hypercube_perf\n" RANKS HEADER ROW, NULL,
            "no collective that a step plays");
}

static void test_hostile_texts_are_refused(void **state)
{
    (void)state;
    refused("", "all_reduce", "empty");
    refused(RANKS HEADER ROW, "gather", "no collective 'gather'");
    refused("hello\n", "all_reduce", "no table of nccl-tests");
    refused(RANKS HEADER, "all_reduce", "no row");
    refused(RANKS HEADER ROW "1048576 262144 float sum -1 50.00 20.9", "all_reduce",
            "file:7: 7 words");
    refused(RANKS HEADER "1048576 262144 float sum -1 nan 20.97 20.97 0 51.00 20.56 20.56 0\n",
            "all_reduce", "time: 'nan'");
    refused(RANKS HEADER "1048576 262144 float sum -1 -50 20.97 20.97 0 51.00 20.56 20.56 0\n",
            "all_reduce", "time: '-50'");
    refused(RANKS HEADER "1048576 262144 float sum -1 50 0x20 20.97 0 51.00 20.56 20.56 0\n",
            "all_reduce", "algbw: '0x20'");
    refused(RANKS HEADER "1048576 262144 float sum -1 0.00 20.97 20.97 0 51.00 20.56 20.56 0\n",
            "all_reduce", "a time of 0");
    refused(RANKS HEADER "1e30 262144 float sum -1 1e24 1000 1000 0 1e24 1000 1000 0\n",
            "all_reduce", "gigantic");
    refused(RANKS HEADER "1.5 262144 float sum -1 50 20.97 20.97 0 51.00 20.56 20.56 0\n",
            "all_reduce", "no count of bytes");
    refused(RANKS HEADER "1048576 262144 quad sum -1 50 20.97 20.97 0 51.00 20.56 20.56 0\n",
            "all_reduce", "type: 'quad'");
    refused(RANKS "# size type size time algbw busbw\n", "all_reduce", "stands twice");
    refused(RANKS "# size type time algbw algbw busbw\n", "all_reduce", "stands twice");
    refused(RANKS "# size type time algbw\n", "all_reduce", "without algbw and busbw");
    refused(RANKS "# size type time algbw busbw time algbw busbw time\n", "all_reduce",
            "more than two");
    refused(RANKS "# size count\n", "all_reduce", "no columns");
    refused("#  Rank  1 Group  0 Pid  7 on a device  0 [0x1b] X\n", "all_reduce",
            "rank 1 behind 0 ranks");
    refused("#  Rank  x Group  0 Pid  7 on a device  0 [0x1b] X\n", "all_reduce", "no number");
    refused("#  Rank  0 Group  1 Pid  7 on a device  0 [0x1b] X\n", "all_reduce", "several groups");
    refused("#  Rank  0 Group  0\n", "all_reduce", "names host and device");
    refused("#  Rank  0 Group  0 Pid  7 on a device  0 [0x1b] X\n"
            "#  Rank  1 Group  0 Pid  7 on a device  0 [0x1b] Y\n",
            "all_reduce", "of one card");
    refused("abc\x01", "all_reduce", "control character");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_table_becomes_points),
        cmocka_unit_test(test_the_output_names_its_collective_and_nodes),
        cmocka_unit_test(test_columns_go_by_their_names),
        cmocka_unit_test(test_what_does_not_agree_is_refused_with_its_line),
        cmocka_unit_test(test_hostile_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
