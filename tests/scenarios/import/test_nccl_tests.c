/* Outputs of nccl-tests of several versions, and outputs that are none: read, or refused with the
 * line. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/import/machine/nccl_tests.h"
#include "tests/test.h"

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

/* The text with `before` in front of each line, its '@' a digit that goes on, and lines of another
 * process between them. */
static const char *prefixed(struct arena *arena, const char *before, const char *other,
                            const char *text)
{
    const char *out = "";
    char moment[64];
    for (char digit = '0'; strchr(text, '\n') != NULL; digit = digit == '9' ? '0' : digit + 1) {
        const char *end = strchr(text, '\n');
        snprintf(moment, sizeof moment, "%s", before);
        for (char *at = moment; *at != '\0'; at++)
            *at = *at == '@' ? digit : *at;
        out = arena_format(arena, "%s%s%.*s\n%s", out, moment, (int)(end - text), text, other);
        text = end + 1;
    }
    return out;
}

/* What launchers write before each line. */
static void test_launchers_prefixes(void **state)
{
    static const char *const before[][2] = {
        {"0: ", "1: node-b:7:9 [0] NCCL INFO Using network IB\n"},
        {"00: ", "01: 5 words of another rank\n"},
        {"[1,0]<stdout>:", "[1,1]<stderr>:8 warnings\n"},
        {"Tue Nov  3 04:05:0@ 2026[1,0]<stdout>:",
         "Tue Nov  3 04:05:01 2026[1,1]<stdout>:8 warnings\n"},
        {"Tue Nov 13 04:05:0@ 2026<stdout>:", "Tue Nov 13 04:05:01 2026<stderr>:8 warnings\n"},
        {"[pod/nccl-launcher-x7/nccl] ", ""},
        {"[pod/a/nccl] 2026-11-03T04:05:0@.789Z ", "[pod/b/nccl] 2026-11-03T04:05:06.789Z 1 2\n"},
        {"2026-11-03T04:05:06.78901234@Z ", ""},
        {"2026-11-03T04:05:0@Z nccl-1 ", "2026-11-03T04:05:06Z nccl-2 1 2\n"},
        {"nccl-1  | ", "nccl-2  | 1 2 3\n"},
        {"    ", ""}};
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        struct arena *arena = arena_create();
        struct reading r =
            read_text(prefixed(arena, before[i][0], before[i][1], RANKS HEADER ROW), "all_reduce");
        if (!r.good || r.tests.point_count != 1 || r.tests.points[0].measurement.samples != 2)
            fail_msg("'%s': %s", before[i][0], r.error.text);
        expect_near(r.tests.points[0].measurement.median_s, 50.5e-6, 1e-12);
        arena_destroy(r.arena);
        arena_destroy(arena);
    }
    refused("0: " ROW "0: # size count type time algbw busbw\n1: # size count type time\n",
            "all_reduce", "no 'Rank' lines above");
    struct arena *arena = arena_create();
    const char *two = arena_format(arena, "%s%s", prefixed(arena, "0: ", "", RANKS HEADER ROW),
                                   prefixed(arena, "1: ", "", RANKS HEADER ROW));
    refused(two, "all_reduce",
            "file:10: outputs of two processes: the lines of the first table "
            "begin with '0:'");
    refused(arena_format(arena, "%s%s", RANKS HEADER ROW, "1: # size count type\n"), "all_reduce",
            "outputs of two processes");
    arena_destroy(arena);
}

#define FOUR                                                                                       \
    RANKS "#  Rank  2 Group  0 Pid  7 on node-a device  2 [0x1b] NVIDIA H100 80GB HBM3\n"          \
          "#  Rank  3 Group  0 Pid  7 on node-a device  3 [0x43] NVIDIA H100 80GB HBM3\n"
#define ONE_HALF "# size count type redop root time algbw busbw #wrong\n"
/* 1 GiB in 10 ms among four: 107.37 GB/s; a small row, whose decimals tell nothing, stands first.
 */
static const struct {
    const char *ranks, *hints, *busbw, *op; /* op NULL: it may be several */
} guesses[] = {
    {FOUR, "sum -1", "161.06", "all_reduce"}, {FOUR, "sum -1", "80.53", "reduce_scatter"},
    {FOUR, "none -1", "80.53", NULL},         {FOUR, "none 0", "107.37", "broadcast"},
    {FOUR, "sum 0", "107.37", NULL},          {FOUR, "sum -1", "107.37", "send"},
    {FOUR, "sum -1", "120.00", NULL},         {RANKS, "sum -1", "107.37", NULL},
    {RANKS, "none 0", "107.37", "broadcast"}, {RANKS, "sum -1", "53.69", "reduce_scatter"},
};

static void test_the_table_tells_its_collective(void **state)
{
    char text[2048], line[POINT_LINE_BYTES], start[64];
    for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++) {
        snprintf(text, sizeof text,
                 "%s" ONE_HALF "#  (B)  (elements)\n0 0 float %s 9.00 0.00 0.00 0\n"
                 "1073741824 268435456 float %s 10000 107.37 %s 0\n",
                 guesses[i].ranks, guesses[i].hints, guesses[i].hints, guesses[i].busbw);
        if (guesses[i].op == NULL) {
            refused(text, NULL, "which collective is it? Nothing above says so");
            continue;
        }
        struct reading r = read_text(text, NULL);
        if (!r.good)
            fail_msg("row %zu: %s", i, r.error.text);
        point_print(&r.tests.points[0].point, line);
        snprintf(start, sizeof start, "collective %s fp32 ranks=", guesses[i].op);
        if (strncmp(line, start, strlen(start)) != 0)
            fail_msg("row %zu: %s", i, line);
        arena_destroy(r.arena);
    }
    /* Each table tells its own, whatever bandwidth the next one has. */
    struct reading two =
        read_text(FOUR ONE_HALF "1048576 9 float sum -1 50.00 20.97 31.46 0\n" ONE_HALF
                                "1048576 9 float sum -1 50.00 20.97 15.73 0\n",
                  NULL);
    if (!two.good)
        fail_msg("%s", two.error.text);
    assert_int_equal(two.tests.point_count, 2);
    arena_destroy(two.arena);
    two = read_text(FOUR ONE_HALF "1048576 9 float sum -1 50.00 20.97 31.46 0\n" ONE_HALF
                                  "1073741824 9 float sum -1 10000 107.37 80.53 0\n",
                    NULL);
    assert_true(two.good && two.tests.point_count == 2);
    arena_destroy(two.arena);
    /* Without redop and root a factor of 1 may be that of `reduce`; one above 1 is no other's. */
    refused(FOUR "# size count type time algbw busbw\n1073741824 9 float 10000 107.37 107.37\n",
            NULL, "which collective");
    struct reading r = read_text(
        FOUR "# size count type time algbw busbw\n1073741824 9 float 10000 107.37 161.06\n", NULL);
    assert_true(r.good);
    arena_destroy(r.arena);
}

#define RCCL(more)                                                                                 \
    "{\"wrong\":\"0\",\"algBw\":107.374182,\"busBw\":161.061274," more                             \
    "\"name\":\"AllReduce\",\"redop\":\"sum\",\"size\":1073741824,\"time\":10000.0,"               \
    "\"type\":\"bfloat16\"}"
#define NCCL(config, results)                                                                      \
    "{\"version\": 2, \"args\": [\"./build/all_reduce_perf\", \"-g\", \"2\"], \"config\": {"       \
    "\"nthreads\": 1, " config "}, \"results\": [" results "], \"errors\": []}"
#define DEVICES(second)                                                                            \
    "\"ngpus\": 2, \"devices\": [{\"rank\": 0, \"group\": 0, \"hostname\": \"a\", "                \
    "\"device_info\": "                                                                            \
    "\"NVIDIA H200\"}, {\"rank\": " second                                                         \
    ", \"group\": 0, \"hostname\": \"b\", \"device_info\": "                                       \
    "\"NVIDIA H200\"}]"
#define RESULT(wrong)                                                                              \
    "{\"size\": 1073741824, \"count\": 1, \"type\": \"half\", \"redop\": \"sum\", \"root\": \"   " \
    " -1\", "                                                                                      \
    "\"out_of_place\": null, \"in_place\": {\"time\": 10000.0, \"alg_bw\": 107.374182, "           \
    "\"bus_bw\": "                                                                                 \
    "161.061274, \"nwrong\": " wrong "}}"

static void expect_point(const char *text, const char *op, const char *expected)
{
    char line[POINT_LINE_BYTES];
    struct reading r = read_text(text, op);
    if (!r.good)
        fail_msg("%s", r.error.text);
    assert_int_equal(r.tests.point_count, 1);
    point_print(&r.tests.points[0].point, line);
    assert_string_equal(line, expected);
    expect_near(r.tests.points[0].measurement.median_s, 0.01, 1e-12);
    arena_destroy(r.arena);
}

/* Forms: ROCm/rccl-tests src/common.cu (Reporter), NVIDIA/nccl-tests src/util.cu. */
static void test_json(void **state)
{
    expect_point(RCCL("\"gpus\":4,") "\n" RCCL("\"gpus\":4,") "\n", NULL,
                 "collective all_reduce bf16 ranks=4 bytes=1073741824");
    expect_point(
        "[\n" RCCL("\"nodes\":2,\"ranks\":2,\"ranksPerNode\":1,\"gpusPerRank\":2,") "\n]\n", NULL,
        "collective all_reduce bf16 ranks=4 bytes=1073741824 nodes=2");
    expect_point(NCCL(DEVICES("2"), RESULT("null")), NULL,
                 "collective all_reduce fp16 ranks=4 bytes=1073741824 nodes=2");
    expect_point(
        "{\"config\": {\"nthreads\": 1, " DEVICES("2") "}, \"results\": [" RESULT("0.0") "]}", NULL,
        "collective all_reduce fp16 ranks=4 bytes=1073741824 nodes=2");
    refused(RCCL(""), NULL, "among how many GPUs");
    refused(RCCL("\"gpus\":8,"), NULL,
            "busbw is 1.5 of algbw, that of all_reduce among 8 ranks 1.75");
    refused("\n" RCCL("\"gpus\":4,") "\n{\"name\":", NULL, "file:3: not JSON");
    refused("{\"name\": \"Reduce\"}", NULL, "'Reduce' is no collective that a step plays");
    refused(NCCL(DEVICES("1"), RESULT("0")), NULL, "the ranks of `devices` do not count up");
    refused(NCCL(DEVICES("2"), RESULT("3.0")), NULL, "3 wrong values");
    refused(NCCL("\"ngpus\": 2", RESULT("0")), NULL, "among how many GPUs");
    refused(NCCL(DEVICES("2"), ""), NULL, "no row that a step can use");
}

static void test_json_lacks_nothing(void **state)
{
    static const char *const names[] = {"\"size\"", "\"type\"", "\"time\"", "\"alg_bw\"",
                                        "\"bus_bw\""};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[] = NCCL(DEVICES("2"), RESULT("0.0"));
        strstr(text, names[i])[1] = 'x';
        refused(text, NULL, "a result without size, type, time and bandwidths");
    }
}

/* What each program of nccl-tests prints under redop and root (TimeTest in src/NAME.cu), with its
 * factor of busbw among four in hundredths; each is taken as itself, and as no other one. */
static const struct {
    const char *op, *hints, *json;
    double busbw;
    bool apart; /* reportErrors is 0 in place */
} programs[] = {
    {"all_reduce", "sum -1", "\"redop\":\"sum\",\"root\":\"-1\"", 161.06, false},
    {"all_gather", "none -1", "\"redop\":\"none\",\"root\":\"-1\"", 80.53, false},
    {"reduce_scatter", "prod -1", "\"redop\":\"prod\",\"root\":\"-1\"", 80.53, false},
    {"broadcast", "none 3", "\"redop\":\"none\",\"root\":\" 3\"", 107.37, false},
    {"all_to_all", "none -1", "\"redop\":\"none\",\"root\":\"-1\"", 80.53, true},
    {"sendrecv", "max -1", "\"redop\":\"max\",\"root\":\"-1\"", 107.37, true},
};

static void expect_taken(const char *text, const char *op, bool taken, const char *what)
{
    struct reading r = read_text(text, op);
    if (r.good != taken)
        fail_msg("%s as %s: %s", what, op, r.good ? "taken" : r.error.text);
    if (!r.good && strstr(r.error.text, "--op") == NULL)
        fail_msg("%s as %s: %s", what, op, r.error.text);
    arena_destroy(r.arena);
}

static void test_a_collective_is_taken_as_itself_alone(void **state)
{
    char text[2048];
    const unsigned count = sizeof programs / sizeof programs[0];
    for (unsigned is = 0; is < count; is++) {
        for (unsigned as = 0; as < count; as++) {
            const double busbw = programs[is].busbw;
            const char *what = programs[is].op, *op = programs[as].op;
            /* between two ranks sendrecv is the only one that a step plays */
            const bool send = strcmp(op, "sendrecv") == 0;
            snprintf(text, sizeof text,
                     "%s" HEADER "1073741824 9 float %s 10000 107.37 %.2f 0 10000 107.37 %.2f %s\n",
                     FOUR, programs[is].hints, busbw, busbw, programs[is].apart ? "N/A" : "0");
            /* a table whose values nobody checked in place: not told from its like */
            if (!send)
                expect_taken(text, op,
                             is == as || (!programs[is].apart && programs[as].apart &&
                                          strcmp(programs[is].hints, programs[as].hints) == 0),
                             what);
            snprintf(
                text, sizeof text,
                "{\"config\": {\"nthreads\": 1, " DEVICES(
                    "2") "}, \"results\": [{\"size\":"
                         "1073741824, \"type\": \"half\", %s, \"in_place\": {\"time\": 10000.0, "
                         "\"alg_bw\": 107.374182, \"bus_bw\": %.2f}}]}",
                programs[is].json, busbw);
            if (!send)
                expect_taken(text, op,
                             strcmp(programs[is].json, programs[as].json) == 0 &&
                                 busbw == programs[as].busbw,
                             what);
        }
    }
    /* What only all-to-all prints names it. */
    expect_point(FOUR HEADER
                 "1073741824 9 half none -1 10000 107.37 80.53 0 10000 107.37 80.53 N/A\n",
                 NULL, "collective all_to_all fp16 ranks=4 bytes=1073741824");
    refused(FOUR HEADER "1073741824 9 half none -1 10000 107.37 80.53 0 10000 107.37 80.53 N/A\n",
            "all_gather", "#wrong in place is not what all_gather prints there");
}

static void test_what_does_not_agree_is_refused_with_its_line(void **state)
{
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
        cmocka_unit_test(test_launchers_prefixes),
        cmocka_unit_test(test_the_table_tells_its_collective),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_lacks_nothing),
        cmocka_unit_test(test_a_collective_is_taken_as_itself_alone),
        cmocka_unit_test(test_what_does_not_agree_is_refused_with_its_line),
        cmocka_unit_test(test_hostile_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
