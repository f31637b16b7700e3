/* Traces of the PyTorch profiler: products become points; what is no trace is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scenarios/import/pytorch_trace.h"

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
    if (pytorch_trace_read(arena, file, &trace, &error) || strstr(error.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, why);
    arena_destroy(arena);
}

static void test_products_become_points(void **state)
{
    (void)state;
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
    if (!pytorch_trace_read(arena, file, &trace, &error))
        fail_msg("%s", error.text);
    assert_int_equal(trace.point_count, 2);
    assert_int_equal(trace.products, 4);
    assert_string_equal(trace.device, "NVIDIA H100");
    point_print(&trace.points[0].point, line);
    assert_string_equal(line, "gemm - bf16 m=64 n=16 k=32 batch=1");
    assert_true(fabs(trace.points[0].measurement.median_s - 5e-6) < 1e-15); /* of 4, 5, 6 us */
    point_print(&trace.points[1].point, line);
    assert_string_equal(line, "gemm - fp16 m=8 n=6 k=2 batch=4");
    assert_true(fabs(trace.products_s - 16e-6) < 1e-15);
    assert_true(fabs(trace.kernels_s - 11116e-6) < 1e-12);
    arena_destroy(arena);
}

static void test_hostile_traces_are_refused(void **state)
{
    (void)state;
    refused("", "no JSON");
    refused("{\"traceEvents\":[", "no JSON");
    refused("[]", "no list traceEvents");
    refused("{\"traceEvents\":{}}", "no list traceEvents");
    refused("{\"schemaVersion\":2,\"traceEvents\":[]}", "schemaVersion");
    refused("{\"traceEvents\":[],\"traceEvents\":[]}", "duplicate");
    refused(TRACE(""), "no kernel");
    refused(TRACE(KERNEL("7", "-1")), "traceEvents[0]: a kernel's dur");
    refused(TRACE(KERNEL("7", "\"3us\"")), "a kernel's dur");
    refused(TRACE(KERNEL("7", "1e30")), "a kernel's dur");
    refused(TRACE(KERNEL("7", "NaN")), "no JSON");
    refused(TRACE(KERNEL("7", "1")), "record_shapes=True");
    refused(TRACE(OP("7", "mm", "[[64,-32],[-32,16]]", BF16) KERNEL("7", "1")), "record_shapes");
    refused(TRACE(OP("7", "mm", "[[64,99999999999],[99999999999,16]]", BF16) KERNEL("7", "1")),
            "record_shapes");
    refused(TRACE(OP("7", "mm", "[[2,2],[2,2]]", BF16) OP("7", "mm", "[[2,2],[2,2]]", BF16)),
            "External id 7");
    refused("{\"deviceProperties\":[{\"name\":\"A\"},{\"name\":\"B\"}],\"traceEvents\":[]}",
            "two kinds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_become_points),
        cmocka_unit_test(test_hostile_traces_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
