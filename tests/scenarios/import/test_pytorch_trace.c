/* Traces of the PyTorch profiler: products become points; what is no trace is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/import/trace/pytorch_trace.h"
#include "tests/test.h"

#define OP(id, name, dims, type)                                                                   \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::" name "\",\"ts\":1,\"dur\":9,\"args\":{"   \
    "\"External id\":" id ",\"Input Dims\":" dims ",\"Input type\":[\"" type "\",\"" type          \
    "\",\"" type "\"]}},"
#define KERNEL(id, dur)                                                                            \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"ts\":2,\"dur\":" dur ",\"args\":{"       \
    "\"External id\":" id ",\"correlation\":42}},"
#define TRACE(events)                                                                              \
    "{\"schemaVersion\":1,\"deviceProperties\":[{\"name\":\"NVIDIA "                               \
    "H100\"}],\"traceEvents\":[" events "{\"ph\":\"M\",\"name\":\"end\"}]}"
#define BF16 "c10::BFloat16"

static void refused(const char *text, const char *why)
{
    struct arena *arena = arena_create();
    struct pytorch_trace trace;
    struct error error = {""};
    const struct import_file file = {"trace", arena_text(arena, text), strlen(text)};
    if (pytorch_trace_read(arena, file, 8, &trace, &error) || strstr(error.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, why);
    arena_destroy(arena);
}

static void test_products_become_points(void **state)
{
    static const char text[] = TRACE(
        OP("7", "mm", "[[64,32],[32,16]]", BF16) KERNEL("7", "3.25") /* split in two */
        KERNEL("7", "0.75") OP("8", "mm", "[[64,32],[32,16]]", BF16) KERNEL("8", "6")
            OP("9", "addmm", "[[16],[64,32],[32,16]]", BF16) KERNEL("9", "5") /* the same product */
        OP("10", "bmm", "[[4,8,2],[4,2,6]]", "c10::Half") KERNEL("10", "1")
            OP("11", "mm", "[[64,32],[32,16]]", "float") KERNEL("11", "100") /* tf32 or not */
        OP("12", "mm", "[[64,32],[31,16]]", BF16) KERNEL("12", "1000")       /* no product */
        OP("13", "mm", "[[1,1],[1,1]]", BF16)                                /* without kernel */
        KERNEL("99", "10000"));
    struct arena *arena = arena_create();
    struct pytorch_trace trace;
    struct error error = {""};
    char line[POINT_LINE_BYTES];
    const struct import_file file = {"trace", arena_text(arena, text), strlen(text)};
    if (!pytorch_trace_read(arena, file, 8, &trace, &error))
        fail_msg("%s", error.text);
    assert_int_equal(trace.point_count, 2);
    assert_int_equal(trace.operators, 4);
    assert_string_equal(trace.device.name, "NVIDIA H100");
    point_print(&trace.points[0].point, line);
    assert_string_equal(line, "gemm - bf16 m=64 n=16 k=32 batch=1");
    assert_true(fabs(trace.points[0].measurement.median_s - 5e-6) < 1e-15); /* of 4, 5, 6 us */
    point_print(&trace.points[1].point, line);
    assert_string_equal(line, "gemm - fp16 m=8 n=6 k=2 batch=4");
    assert_true(fabs(trace.points_s - 16e-6) < 1e-15);
    assert_true(fabs(trace.kernels_s - 11116e-6) < 1e-12);
    arena_destroy(arena);
}

/* An operator with the sizes, types and values of its inputs, and its kernel. */
#define WITH(id, name, dims, types, values, dur)                                                   \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"ts\":1,\"dur\":9,\"args\":{"         \
    "\"External id\":" id ",\"Input Dims\":[" dims "],\"Input type\":[" types                      \
    "],\"Concrete Inputs\":[" values "]}}," KERNEL(id, dur)
#define B "\"c10::BFloat16\""
#define QKV "[2,512,8,64],[2,512,4,64],[2,512,4,64]"
#define HEADS "[2,8,512,64],[2,4,512,64],[2,4,512,64]"

static void points_of(struct arena *arena, const char *text, struct pytorch_trace *out)
{
    struct error error = {""};
    const struct import_file file = {"trace", arena_text(arena, text), strlen(text)};
    if (!pytorch_trace_read(arena, file, 0, out, &error))
        fail_msg("%s", error.text);
}

static void has_point(const struct pytorch_trace *trace, const char *wanted, double s)
{
    char line[POINT_LINE_BYTES];
    for (unsigned i = 0; i < trace->point_count; i++) {
        point_print(&trace->points[i].point, line);
        if (strcmp(line, wanted) != 0)
            continue;
        if (!(fabs(trace->points[i].measurement.median_s - s) <= 1e-12))
            fail_msg("%s: %g s", line, trace->points[i].measurement.median_s);
        return;
    }
    fail_msg("no point '%s'", wanted);
}

static void test_attention_becomes_points(void **state)
{
    static const char text[] = TRACE(
        /* query, key, value, two of packed sequences, two lengths, dropout, causal, ... */
        WITH("1", "aten::_flash_attention_forward", QKV ",[],[],[],[],[],[],[]", B "," B "," B,
             "\"\",\"\",\"\",\"\",\"\",\"512\",\"512\",\"0.\",\"True\",\"False\"", "11")
        /* gradient, query, key, value, output, logarithms, packed, lengths, dropout, causal */
        WITH("2", "aten::_flash_attention_backward",
             "[2,512,8,64]," QKV ",[2,512,8,64],[2,8,512],[],[],[],[],[],[]", B "," B "," B "," B,
             "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"512\",\"512\",\"0.\",\"True\"", "20")
            KERNEL("2", "2") KERNEL("2", "3") /* flash: three kernels for one backward pass */
        WITH("3", "aten::_cudnn_attention_forward", HEADS ",[],[],[],[],[],[],[],[]", B "," B "," B,
             "\"\",\"\",\"\",\"\",\"\",\"\",\"512\",\"512\",\"True\",\"0.\",\"False\"", "12")
            WITH("4", "flash_attn::_flash_attn_forward", QKV ",[],[],[],[],[]", B "," B "," B,
                 "\"\",\"\",\"\",\"0.0\",\"0.125\",\"True\",\"-1\",\"-1\"", "13")
        /* not plain: dropout, a window, packed sequences, no mask told */
        WITH("5", "aten::_flash_attention_forward", QKV ",[],[],[],[],[],[],[]", B "," B "," B,
             "\"\",\"\",\"\",\"\",\"\",\"512\",\"512\",\"0.1\",\"True\",\"False\"", "99")
            WITH("6", "flash_attn::_flash_attn_forward", QKV ",[],[],[],[],[]", B "," B "," B,
                 "\"\",\"\",\"\",\"0.0\",\"0.125\",\"True\",\"128\",\"0\"", "99")
                WITH("7", "aten::_flash_attention_forward", QKV ",[9],[9],[],[],[],[],[]",
                     B "," B "," B,
                     "\"\",\"\",\"\",\"\",\"\",\"512\",\"512\",\"0.\",\"True\",\"False\"", "99")
                    WITH("8", "aten::_flash_attention_forward", QKV, B "," B "," B, "", "99"));
    struct arena *arena = arena_create();
    struct pytorch_trace trace;
    points_of(arena, text, &trace);
    has_point(&trace,
              "attention flash2 bf16 causal batch=2 query_tokens=512 key_tokens=512 heads=8 "
              "kv_heads=4 head_size=64 value_size=64",
              12e-6); /* PyTorch's and flash_attn's: 11 and 13 */
    has_point(&trace,
              "attention flash2 bf16 causal,backward batch=2 query_tokens=512 key_tokens=512 "
              "heads=8 kv_heads=4 head_size=64 value_size=64",
              25e-6);
    has_point(&trace,
              "attention cudnn bf16 batch=2 query_tokens=512 key_tokens=512 heads=8 kv_heads=4 "
              "head_size=64 value_size=64",
              12e-6);
    assert_int_equal(trace.point_count, 3);
    assert_int_equal(trace.operators, 4);
    arena_destroy(arena);
}

static void test_streams_become_points(void **state)
{
    static const char text[] = TRACE(
        WITH("9", "aten::native_layer_norm", "[2,512,1024],[],[1024],[1024],[]", B, "", "4")
            WITH("10", "aten::silu_backward", "[2,512,1024],[2,512,1024]", B "," B, "", "5")
                WITH("11", "aten::add", "[2,512,1024],[2,512,1024],[]", B "," B, "", "6")
                    WITH("12", "aten::add", "[2,512,1024],[1024],[]", B "," B, "", "7") /* a bias */
        WITH("13", "aten::copy_", "[512,64],[512,64]", B ",\"float\"", "", "8")
            WITH("14", "aten::embedding", "[3000,1024],[2,512]", B ",\"long int\"", "", "9"));
    struct arena *arena = arena_create();
    struct pytorch_trace trace;
    points_of(arena, text, &trace);
    /* 2 x 512 x 1024 elements of two bytes: 2 MiB, read and written; of a gradient three times */
    has_point(&trace, "memory norm bf16 bytes=4194304", 4e-6);
    has_point(&trace, "memory activation-gradient bf16 bytes=6291456", 5e-6);
    has_point(&trace, "memory add bf16 bytes=6291456", 6e-6);
    has_point(&trace, "memory cast bf16 bytes=196608", 8e-6);
    has_point(&trace, "memory embedding bf16 bytes=4194304", 9e-6);
    assert_int_equal(trace.point_count, 5);
    arena_destroy(arena);
}

#define NCCL(name, members, size, in, out, dur)                                                    \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel\",\"ts\":2,\"dur\":" dur            \
    ",\"args\":{\"Collective name\":\"" name "\",\"In msg nelems\":" in ",\"Out msg nelems\":" out \
    ",\"Group size\":" size ",\"dtype\":\"BFloat16\",\"Process Group Ranks\":\"" members "\"}},"
#define NODE "{\"name\":\"H\"},{\"name\":\"H\"}"
#define GATHER(dur) NCCL("_allgather_base", "[0, 1]", "2", "1024", "2048", dur)
#define REDUCE(dur) NCCL("allreduce", "[0, 1, 2, 3]", "4", "1024", "1024", dur)

static void test_collectives_that_wait_for_nobody_become_points(void **state)
{
    static const char text[] =
        "{\"deviceProperties\":[" NODE "],\"traceEvents\":["                  /* two cards a node */
        GATHER("900") GATHER("10") GATHER("10.1") GATHER("10.2") GATHER("30") /* three are alike */
        REDUCE("20") REDUCE("20.5") REDUCE("20.2")
            NCCL("_reduce_scatter_base", "[0, 1]", "2", "2048", "1024", "7") /* alone */
        NCCL("allreduce", "[0, 1, ...]", "9", "64", "64", "1")
            NCCL("barrier", "[0, 1]", "2", "1", "1", "1") "{}]}";
    struct arena *arena = arena_create();
    struct pytorch_trace trace;
    points_of(arena, text, &trace);
    has_point(&trace, "collective all_gather bf16 ranks=2 bytes=4096", 10.1e-6);
    has_point(&trace, "collective all_reduce bf16 ranks=4 bytes=2048 nodes=2", 20.2e-6);
    assert_int_equal(trace.point_count, 2);
    assert_int_equal(trace.collectives_left, 1);
    arena_destroy(arena);
}

/* Names of Python functions may hold any bytes; what is read keeps its place and its worth. */
static void test_bytes_that_are_no_text(void **state)
{
    struct arena *arena = arena_create();
    struct pytorch_trace trace;
    points_of(arena,
              TRACE("{\"cat\":\"python_function\",\"name\":\"Gr\xc3\xb6\xc3\x9f"
                    "e \xff\x1b[31m\xc3(\"}," OP("7", "mm", "[[64,32],[32,16]]", BF16)
                        KERNEL("7", "3.25")),
              &trace);
    assert_int_equal(trace.mended, 3);
    has_point(&trace, "gemm - bf16 m=64 n=16 k=32 batch=1", 3.25e-6);
    arena_destroy(arena);
    refused("{\"traceEvents\":[{\"cat\":\xff}]}", "no JSON");
}

/* Each reason by its count, in the refusal and beside points. */
static void test_what_is_left_out_is_said(void **state)
{
    static const char fp32[] =
        "2 products in fp32, of which a trace does not tell whether tf32 ran";
    static const char unsized[] = "1 operator without the sizes of their inputs (record with "
                                  "record_shapes=True)";
#define LEFT                                                                                       \
    OP("1", "mm", "[[64,32],[32,16]]", "float")                                                    \
    OP("2", "bmm", "[[4,8,2],[4,2,6]]", "float")                                                   \
    OP("3", "gelu", "[[64,32]]", "float")                                                          \
    "{\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"args\":{\"External id\":4}}," KERNEL("1", "1")
    refused(TRACE(LEFT), fp32);
    refused(TRACE(LEFT), unsized);
    refused(TRACE(LEFT), "1 operator of another number format");
    refused(TRACE(KERNEL("7", "1")), "no operators of the host: record ProfilerActivity.CPU, too");
    refused(TRACE(OP("7", "sort", "[[64]]", BF16) KERNEL("7", "1")),
            "none of its 1 operator is one that a profile takes");
    struct arena *arena = arena_create();
    struct pytorch_trace trace;
    struct error error = {""};
    const char *text = TRACE(LEFT OP("9", "mm", "[[64,32],[32,16]]", BF16) KERNEL("9", "3"));
    const struct import_file file = {"trace", arena_text(arena, text), strlen(text)};
    assert_true(pytorch_trace_read(arena, file, 8, &trace, &error));
    assert_int_equal(trace.recorded, 5);
    assert_int_equal(trace.left[PYTORCH_LEFT_NAME], 0);
    assert_non_null(strstr(pytorch_trace_left(arena, &trace), fp32));
    assert_non_null(strstr(pytorch_trace_left(arena, &trace), unsized));
    arena_destroy(arena);
}

/* A quarter of the seconds in kernels of no known kind, and which. */
static void test_unknown_kernels_are_counted(void **state)
{
    struct arena *arena = arena_create();
    struct pytorch_trace trace;
    struct error error = {""};
    const char *text = TRACE(OP("9", "mm", "[[64,32],[32,16]]", BF16) KERNEL(
        "9", "3") "{\"cat\":\"kernel\",\"name\":\"main_kernel\",\"ts\":9,\"dur\":1.5},"
                  "{\"cat\":\"kernel\",\"name\":\"main_kernel\",\"ts\":9,\"dur\":1.5,\"args\":"
                  "{\"Collective name\":\"allreduce\"}},");
    const struct import_file file = {"trace", arena_text(arena, text), strlen(text)};
    assert_true(pytorch_trace_read(arena, file, 8, &trace, &error));
    assert_true(fabs(trace.unknown.ratio - 0.25) < 1e-12);
    assert_int_equal(trace.unknown.count, 1);
    assert_string_equal(trace.unknown.largest[0].name, "main_kernel");
    arena_destroy(arena);
}

static void test_hostile_traces_are_refused(void **state)
{
    refused("", "no JSON: the file is cut");
    refused("{\"traceEvents\":[", "trace:1: no JSON: the file is cut");
    refused("{\n\"traceEvents\":[\n{},\n{\"cat\":\"x\"", "trace:4: no JSON: the file is cut");
    refused("{\"traceEvents\":[\n{},\n{\"name\":\"lib = (\"x\", 1)\"}]}",
            "trace:3: no JSON: '}' expected near 'x'; names that the profiler did not escape");
    refused("{\"traceEvents\":[\n{}\n{}]}", "trace:3: no JSON: a separator is missing");
    refused("{\"traceEvents\":[{}]}\n{}", "trace:2: no JSON: something stands behind");
    refused("{\"a\":1,\"\\u0061\":2}", "a duplicate name");
    refused("name: x", "trace:1: no JSON: '{' expected");
    refused("[]", "no list traceEvents");
    refused("{\"traceEvents\":{}}", "no list traceEvents");
    refused("{\"schemaVersion\":2,\"traceEvents\":[]}", "schemaVersion");
    refused("{\"traceEvents\":[],\"traceEvents\":[]}", "duplicate");
    refused(TRACE(""), "neither kernels nor operators of torch.profiler");
    refused(TRACE(OP("7", "aten::mm", "[[2, 3], [3, 4]]", "c10::BFloat16")),
            "no kernel in it: record ProfilerActivity.CUDA");
    refused(TRACE(KERNEL("7", "-1")), "traceEvents[0]: a kernel's dur");
    refused(TRACE(KERNEL("7", "\"3us\"")), "a kernel's dur");
    refused(TRACE(KERNEL("7", "1e30")), "a kernel's dur");
    refused(TRACE(KERNEL("7", "NaN")), "no JSON");
    refused(TRACE(KERNEL("7", "1")), "record_shapes=True");
    refused("{\"traceEvents\":[{\"cat\":\"kernel\",\"dur\":1}]}", "its ts is no moment");
    refused("{\"traceEvents\":[{\"cat\":\"kernel\",\"ts\":1e300,\"dur\":1}]}",
            "its ts is no moment");
    refused("{\"traceEvents\":[{\"cat\":\"cpu_op\",\"ts\":1,\"dur\":-1}]}", "its dur");
    refused("{\"traceEvents\":[{\"cat\":\"kernel\",\"ts\":1,\"dur\":1,\"args\":{\"device\":0}},"
            "{\"cat\":\"kernel\",\"ts\":1,\"dur\":1,\"args\":{\"device\":1}}]}",
            "traceEvents[1]: a kernel of a second card");
    refused(TRACE(OP("7", "mm", "[[64,-32],[-32,16]]", BF16) KERNEL("7", "1")), "or form");
    refused(TRACE(OP("7", "mm", "[[64,99999999999],[99999999999,16]]", BF16) KERNEL("7", "1")),
            "or form");
    refused(TRACE(OP("7", "mm", "[[2,2],[2,2]]", BF16) OP("7", "mm", "[[2,2],[2,2]]", BF16)),
            "External id 7");
    refused("{\"deviceProperties\":[{\"name\":\"A\"},{\"name\":\"B\"}],\"traceEvents\":[]}",
            "two kinds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_become_points),
        cmocka_unit_test(test_attention_becomes_points),
        cmocka_unit_test(test_streams_become_points),
        cmocka_unit_test(test_collectives_that_wait_for_nobody_become_points),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_what_is_left_out_is_said),
        cmocka_unit_test(test_unknown_kernels_are_counted),
        cmocka_unit_test(test_hostile_traces_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
