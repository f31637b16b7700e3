/* Steps in traces of the PyTorch profiler: which kernels are one's, what they are, what is joined.
 */
#include <math.h>
#include <string.h>

#include "scenarios/import/trace/pytorch_spans.h"
#include "tests/test.h"

#define MARK(n, ts, dur)                                                                           \
    "{\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#" n "\",\"ts\":" ts ",\"dur\":" dur "},"
#define LAUNCH(id, ts)                                                                             \
    "{\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"ts\":" ts                           \
    ",\"dur\":1,\"args\":{\"correlation\":" id "}},"
#define KERNEL(id, name, ts, dur, stream, external)                                                \
    "{\"cat\":\"kernel\",\"name\":\"" name "\",\"ts\":" ts ",\"dur\":" dur                         \
    ",\"args\":{\"correlation\":" id ",\"stream\":" stream ",\"External id\":" external "}},"
#define TRACE(events) "{\"traceEvents\":[" events "{\"ph\":\"M\"}]}"

static bool read_step(struct arena *arena, const char *text, int64_t number,
                      struct pytorch_step *out, struct error *error)
{
    const struct import_file file = {"trace", arena_text(arena, text), strlen(text)};
    return pytorch_spans_read(arena, file, number, out, error);
}

static void refused(const char *text, int64_t number, const char *why)
{
    struct arena *arena = arena_create();
    struct pytorch_step step;
    struct error error = {""};
    if (read_step(arena, text, number, &step, &error) || strstr(error.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, why);
    arena_destroy(arena);
}

/* The kernel of step 1 that runs after the host has begun step 2 is of step 1. */
static const char two_steps[] =
    TRACE(MARK("1", "0", "100") LAUNCH("1", "50") KERNEL("1", "gemm", "150", "30", "7", "1")
              MARK("2", "100", "100") LAUNCH("2", "120") LAUNCH("3", "130")
                  KERNEL("2", "gemm", "180", "10", "7", "2")
                      KERNEL("3", "sort", "200", "5", "7", "3") MARK("3", "300", "1"));

static void test_kernels_are_of_the_step_that_launched_them(void **state)
{
    struct arena *arena = arena_create();
    struct pytorch_step step;
    struct error error = {""};
    assert_true(read_step(arena, two_steps, 1, &step, &error));
    assert_int_equal(step.count, 1);
    assert_true(fabs(step.spans[0].busy_s - 30e-6) < 1e-15);
    assert_true(read_step(arena, two_steps, PYTORCH_UNTOLD, &step, &error));
    assert_int_equal(step.number, 2); /* nothing was launched in step 3 */
    assert_int_equal(step.count, 2);
    assert_true(fabs(step.host_s - 100e-6) < 1e-15);
    assert_true(step.spans[0].begin_s == 0.0 && fabs(step.spans[1].begin_s - 20e-6) < 1e-15);
    arena_destroy(arena);
    refused(two_steps, 7, "no ProfilerStep#7 in it; there are 3");
    refused(two_steps, 3, "no kernel was launched in ProfilerStep#3");
    refused(TRACE(MARK("1", "0", "1")), PYTORCH_UNTOLD, "no kernel in it");
    refused(TRACE(MARK("1", "9", "1") KERNEL("1", "gemm", "2", "1", "7", "1")), PYTORCH_UNTOLD,
            "in any ProfilerStep");
    refused(TRACE(KERNEL("1", "gemm", "2", "-1", "7", "1")), PYTORCH_UNTOLD, "dur");
    refused("{", PYTORCH_UNTOLD, "no JSON");
}

static void test_kernels_that_do_one_thing_are_one_span(void **state)
{
    static const char text[] = TRACE(
        KERNEL("1", "flash_bwd_dot_do_o_kernel", "0", "1", "7", "4")
            KERNEL("2", "flash_bwd_dq_dk_dv_loop_kernel", "2", "10", "7", "4")
                KERNEL("3", "flash_bwd_convert_dq_kernel", "12", "2", "7", "4")
                    KERNEL("4", "nvjet_tst_64x8_64x16_splitK_NNT", "20", "5", "7", "5")
                        KERNEL("5", "void cublasLt::splitKreduce_kernel<>()", "26", "1", "7", "5")
                            KERNEL("6", "nvjet_tst_64x8_64x16_1x2_NNT", "30", "5", "7", "5"));
    struct arena *arena = arena_create();
    struct pytorch_step step;
    struct error error = {""};
    assert_true(read_step(arena, text, PYTORCH_UNTOLD, &step, &error));
    assert_int_equal(step.number == PYTORCH_UNTOLD, true);
    assert_int_equal(step.kernels, 6);
    assert_int_equal(step.count, 3); /* two products of one operator stay two */
    assert_int_equal(step.spans[0].kind, SPAN_ATTENTION);
    assert_true(fabs(step.spans[0].busy_s - 13e-6) < 1e-15);
    assert_true(fabs(step.spans[0].finish_s - 14e-6) < 1e-15);
    assert_int_equal(step.spans[1].kind, SPAN_GEMM);
    assert_true(fabs(step.spans[1].busy_s - 6e-6) < 1e-15);
    arena_destroy(arena);
}

/* Of a CUDA graph's kernels no operator is told; they have the correlation of its launch. */
static void test_kernels_of_a_graph_that_do_one_thing_are_one_span(void **state)
{
#define CAPTURED(id, name, ts, stream)                                                             \
    "{\"cat\":\"kernel\",\"name\":\"" name "\",\"ts\":" ts                                         \
    ",\"dur\":2,\"args\":{\"correlation\":" id ",\"stream\":" stream "}},"
    static const char text[] =
        TRACE(CAPTURED("9", "flash_bwd_dot_do_o_kernel", "0", "7")
                  CAPTURED("9", "flash_bwd_dq_dk_dv_loop_kernel", "2", "7")
                      CAPTURED("9", "flash_bwd_convert_dq_kernel", "4", "8")
                          CAPTURED("9", "multi_tensor_norm", "10", "7")
                              CAPTURED("9", "multi_tensor_norm", "12", "7")
                                  CAPTURED("9", "multi_tensor_adam", "14", "7")
                                      CAPTURED("9", "multi_tensor_adam", "16", "7")
                                          CAPTURED("10", "multi_tensor_adam", "18", "7"));
    struct arena *arena = arena_create();
    struct pytorch_step step;
    struct error error = {""};
    assert_true(read_step(arena, text, PYTORCH_UNTOLD, &step, &error));
    assert_int_equal(step.kernels, 8);
    assert_int_equal(step.count, 5); /* by stream, by name and by launch */
    assert_true(fabs(step.spans[0].busy_s - 4e-6) < 1e-15);
    assert_true(fabs(step.spans[1].busy_s - 2e-6) < 1e-15);
    assert_true(fabs(step.spans[2].busy_s - 4e-6) < 1e-15);
    assert_true(fabs(step.spans[3].busy_s - 4e-6) < 1e-15);
    assert_true(fabs(step.spans[4].busy_s - 2e-6) < 1e-15);
    static const char untold[] = TRACE(
        "{\"cat\":\"kernel\",\"name\":\"multi_tensor_adam\",\"ts\":1,\"dur\":1,\"args\":{}},"
        "{\"cat\":\"kernel\",\"name\":\"multi_tensor_adam\",\"ts\":2,\"dur\":1,\"args\":{}},");
    assert_true(read_step(arena, untold, PYTORCH_UNTOLD, &step, &error));
    assert_int_equal(step.count, 2);
    arena_destroy(arena);
}

/* An optimizer's kernels of one operator are one span, elementwise ones of an operator are not. */
static void test_an_optimizer_is_one_span(void **state)
{
    static const char adam[] = TRACE(KERNEL("1", "multi_tensor_adam", "0", "4", "7", "4")
                                         KERNEL("2", "multi_tensor_adam", "5", "4", "7", "4")
                                             KERNEL("3", "multi_tensor_adam", "10", "4", "7", "5"));
    static const char casts[] = TRACE(KERNEL("1", "cast_kernel", "0", "4", "7", "4")
                                          KERNEL("2", "cast_kernel", "5", "4", "7", "4"));
    struct arena *arena = arena_create();
    struct pytorch_step step;
    struct error error = {""};
    assert_true(read_step(arena, adam, PYTORCH_UNTOLD, &step, &error));
    assert_int_equal(step.count, 2);
    assert_int_equal(step.spans[0].kind, SPAN_OPTIMIZER);
    assert_true(fabs(step.spans[0].busy_s - 8e-6) < 1e-15);
    assert_true(read_step(arena, casts, PYTORCH_UNTOLD, &step, &error));
    assert_int_equal(step.count, 2);
    arena_destroy(arena);
}

#define ENGINE(ts, dur, thread)                                                                    \
    "{\"cat\":\"cpu_op\",\"name\":\"autograd::engine::evaluate_function: "                         \
    "MulBackward0\",\"tid\":" thread ",\"ts\":" ts ",\"dur\":" dur "},"
#define LAUNCH_ON(id, ts, thread)                                                                  \
    "{\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"tid\":" thread ",\"ts\":" ts        \
    ",\"dur\":1,\"args\":{\"correlation\":" id "}},"

/* The engine goes back on thread 2 from 100 to 140 (in three nodes, the second inside the first and
 * longer, the third inside both) and from 200 to 210: what is launched there then is of the
 * backward pass. */
static const char two_threads[] = TRACE(
    ENGINE("200", "10", "2") ENGINE("100", "30", "2") ENGINE("110", "30", "2") ENGINE(
        "115", "3", "2") LAUNCH_ON("1", "99", "2") LAUNCH_ON("2", "100", "2")
        LAUNCH_ON("3", "139", "2") LAUNCH_ON("4", "140", "2") LAUNCH_ON("5", "120", "1") LAUNCH_ON(
            "6", "205", "2") LAUNCH_ON("7", "205", "3") LAUNCH_ON("8", "120", "1")
            LAUNCH_ON("9", "120", "2") LAUNCH_ON("11", "120", "2") LAUNCH_ON("12", "120", "1")
                KERNEL("1", "sort", "301", "1", "7", "1") KERNEL("2", "sort", "302", "1", "7", "2")
                    KERNEL("3", "sort", "303", "1", "7", "3") KERNEL(
                        "4", "sort", "304", "1", "7", "4") KERNEL("5", "sort", "305", "1", "7", "5")
                        KERNEL("6", "sort", "306", "1", "7", "6") KERNEL("7", "sort", "307",
                                                                         "1", "7", "7")
                            KERNEL("8", "gemm", "308", "1", "7",
                                   "8") KERNEL("9", "ncclDevKernel_AllReduce", "309", "1", "7", "9")
                                KERNEL("10", "flash_fwd", "310", "1", "7", "10")
                                    KERNEL("11", "deep_ep::dispatch", "311", "1", "7", "11")
                                        KERNEL("12", "deep_ep::combine", "312", "1", "7", "12"));

static void test_passes_by_the_host(void **state)
{
    static const enum span_direction right[] = {
        SPAN_FORWARD,
        SPAN_BACKWARD,
        SPAN_BACKWARD,
        SPAN_FORWARD,
        SPAN_FORWARD,
        SPAN_BACKWARD,
        SPAN_FORWARD,
        SPAN_EITHER /* a product: perhaps a weight gradient that was put off */,
        SPAN_EITHER /* a message */,
        SPAN_EITHER /* without a launch */,
        SPAN_BACKWARD /* rows of experts */,
        SPAN_EITHER /* perhaps of the other pass of a pair */};
    struct arena *arena = arena_create();
    struct pytorch_step step;
    struct error error = {""};
    assert_true(read_step(arena, two_threads, PYTORCH_UNTOLD, &step, &error));
    assert_int_equal(step.count, sizeof right / sizeof right[0]);
    for (unsigned i = 0; i < step.count; i++)
        if (step.spans[i].during != right[i])
            fail_msg("span %u: %d, not %d", i, step.spans[i].during, right[i]);
    assert_int_equal(step.spans[9].does, SPAN_FORWARD);
    assert_int_equal(step.spans[9].role, SPAN_ANY);
    assert_int_equal(step.spans[10].role, SPAN_DISPATCH);
    assert_int_equal(step.spans[11].role, SPAN_COMBINE);
    assert_false(step.forward_only);
    arena_destroy(arena);
}

/* A forward kernel and nothing that goes back or updates weights: inference. */
static void test_inference(void **state)
{
    static const struct {
        const char *events;
        bool forward_only;
    } rows[] = {
        {TRACE(KERNEL("1", "flash_fwd", "1", "1", "7", "1")
                   KERNEL("2", "sort", "2", "1", "7", "2")),
         true},
        {TRACE(KERNEL("1", "flash_fwd", "1", "1", "7", "1")
                   KERNEL("2", "ncclDevKernel_AllReduce", "2", "1", "7", "2")),
         true},
        /* one span of two kernels, of which the second tells */
        {TRACE(KERNEL("1", "flash_fwd", "1", "1", "7", "1") KERNEL(
             "2", "fmha_prepare", "2", "1", "7", "2") KERNEL("3", "fmha_bwd", "3", "1", "7", "2")),
         false},
        {TRACE(KERNEL("2", "sort", "2", "1", "7", "2")), false},
        {TRACE(KERNEL("1", "flash_fwd", "1", "1", "7", "1")
                   KERNEL("2", "ln_bwd", "2", "1", "7", "2")),
         false},
        {TRACE(KERNEL("1", "flash_fwd", "1", "1", "7", "1")
                   KERNEL("2", "multi_tensor_adam", "2", "1", "7", "2")),
         false},
        {TRACE(ENGINE("0", "9", "2") LAUNCH_ON("2", "1", "2") KERNEL(
             "1", "flash_fwd", "1", "1", "7", "1") KERNEL("2", "sort", "2", "1", "7", "2")),
         false},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena *arena = arena_create();
        struct pytorch_step step;
        struct error error = {""};
        assert_true(read_step(arena, rows[i].events, PYTORCH_UNTOLD, &step, &error));
        if (step.forward_only != rows[i].forward_only)
            fail_msg("trace %u", i);
        for (unsigned k = 0; step.forward_only && k < step.count; k++)
            assert_int_equal(step.spans[k].during,
                             span_communicates(step.spans[k].kind) ? SPAN_EITHER : SPAN_FORWARD);
        arena_destroy(arena);
    }
}

/* As profilers wrote before PyTorch 2.0. */
static void test_categories_of_old(void **state)
{
    static const char text[] = TRACE(
        "{\"cat\":\"Operator\",\"name\":\"ProfilerStep#3\",\"ts\":0,\"dur\":50},"
        "{\"cat\":\"Operator\",\"name\":\"aten::mm\",\"ts\":1,\"dur\":2,\"args\":{\"External "
        "id\":5,"
        "\"Input dims\":[[64,32],[32,16]],\"Input type\":[\"float\",\"float\"]}},"
        "{\"cat\":\"Runtime\",\"name\":\"cudaLaunchKernel\",\"ts\":2,\"dur\":1,\"args\":{"
        "\"correlation\":1}},"
        "{\"cat\":\"Kernel\",\"name\":\"gemm\",\"ts\":90,\"dur\":3,\"args\":{\"external id\":5,"
        "\"correlation\":1,\"stream\":7}},"
        "{\"cat\":\"Memcpy\",\"name\":\"Memcpy DtoH\",\"ts\":4,\"dur\":1},"
        "{\"cat\":\"Memset\",\"name\":\"Memset\",\"ts\":6,\"dur\":1},");
    struct arena *arena = arena_create();
    struct pytorch_step step;
    struct error error = {""};
    assert_true(read_step(arena, text, PYTORCH_UNTOLD, &step, &error));
    assert_int_equal(step.number, 3);
    assert_int_equal(step.count, 3);
    assert_int_equal(step.spans[0].kind, SPAN_COPY);
    assert_int_equal(step.spans[1].kind, SPAN_COPY);
    assert_int_equal(step.spans[2].kind, SPAN_GEMM);
    assert_true(step.spans[2].amount == 2.0 * 64.0 * 32.0 * 16.0);
    arena_destroy(arena);
}

static void test_amounts_of_operators_and_collectives(void **state)
{
    static const char text[] = TRACE(
        "{\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"ts\":1,\"dur\":2,\"args\":{\"External id\":5,"
        "\"Input Dims\":[[64,32],[32,16]],\"Input type\":[\"float\",\"float\"]}}," KERNEL(
            "1", "gemm", "0", "1", "7",
            "5") "{\"cat\":\"kernel\",\"name\":\"ncclDevKernel_SendRecv("
                 ")\",\"ts\":5,\"dur\":2,\"args\":{\"Collective name\":\"all_to_all\",\"In msg "
                 "nelems\":64,"
                 "\"Out msg nelems\":64,\"dtype\":\"BFloat16\",\"stream\":20}},"
                 "{\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy DtoH (Device -> "
                 "Pinned)\",\"ts\":9,\"dur\":1,"
                 "\"args\":{\"stream\":7}},");
    struct arena *arena = arena_create();
    struct pytorch_step step;
    struct error error = {""};
    assert_true(read_step(arena, text, PYTORCH_UNTOLD, &step, &error));
    assert_int_equal(step.count, 3);
    assert_true(step.spans[0].amount == 2.0 * 64.0 * 32.0 * 16.0);
    assert_int_equal(step.spans[1].kind, SPAN_ALL_TO_ALL);
    assert_true(step.spans[1].amount == 128.0);
    assert_string_equal(step.spans[1].stream, "20");
    assert_int_equal(step.spans[2].kind, SPAN_COPY);
    arena_destroy(arena);
}

/* Names that libraries give their kernels. */
static void test_kinds_by_name(void **state)
{
    static const struct {
        const char *name;
        enum span_kind kind;
    } known[] = {
        {"nvjet_hsh_192x192_64x4_2x1_v_bz_coopB_TNN", SPAN_GEMM},
        {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1",
         SPAN_GEMM},
        {"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", SPAN_GEMM},
        {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128>(Params)",
         SPAN_GEMM},
        {"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<>>>()",
         SPAN_ATTENTION},
        {"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_7", SPAN_ATTENTION},
        {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80(Params)", SPAN_ATTENTION},
        {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<>()", SPAN_NORM},
        {"void transformer_engine::normalization::ln_bwd_finalize_tuned_kernel<>()", SPAN_NORM},
        {"triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0", SPAN_NORM},
        {"triton_poi_fused_mul_silu_3", SPAN_ELEMENTWISE},
        {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, NormTwoOps<>>>()",
         SPAN_OPTIMIZER},
        {"void at::native::(anonymous "
         "namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>()",
         SPAN_OPTIMIZER},
        {"void multi_tensor_apply_kernel<TensorListMetadata<2>, L2NormFunctor<float>>()",
         SPAN_OPTIMIZER},
        {"void multi_tensor_apply_kernel<TensorListMetadata<2>, at::native::CopyFunctor<>>()",
         SPAN_ELEMENTWISE},
        {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<>()", SPAN_ELEMENTWISE},
        {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", SPAN_ALL_GATHER},
        {"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         SPAN_REDUCE_SCATTER},
        {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
         SPAN_ALL_REDUCE},
        {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", SPAN_SEND_RECV},
        {"void hybrid_ep::dispatch_kernel<hybrid_ep::Config>()", SPAN_ALL_TO_ALL},
        {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", SPAN_COMMUNICATION},
        {"mystery", SPAN_OTHER},
        {"", SPAN_OTHER},
    };
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        if (span_kind_of_kernel(known[i].name) != known[i].kind)
            fail_msg("%s: %s", known[i].name, span_kind_names[span_kind_of_kernel(known[i].name)]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_are_of_the_step_that_launched_them),
        cmocka_unit_test(test_kernels_that_do_one_thing_are_one_span),
        cmocka_unit_test(test_kernels_of_a_graph_that_do_one_thing_are_one_span),
        cmocka_unit_test(test_an_optimizer_is_one_span),
        cmocka_unit_test(test_passes_by_the_host),
        cmocka_unit_test(test_inference),
        cmocka_unit_test(test_categories_of_old),
        cmocka_unit_test(test_amounts_of_operators_and_collectives),
        cmocka_unit_test(test_kinds_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
