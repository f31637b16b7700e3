/* Kernels of public traces and libraries are told for what they are, and `other` holds at most 5 %
 * of the seconds of each trace: what is not known counts as compute. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/trace/span_unknown.h"
#include "tests/test.h"

enum {
    LINE_BYTES = 512
};
#define OTHER_MOST 0.05

struct listed {
    char kind[32], pass[16], us[16];
    const char *name;
};
/* One trace of the list. */
struct totals {
    double us[SPAN_KIND_COUNT], all_us;
};

/* "kind pass us name"; false: a comment or the end of the file. */
static bool next_line(FILE *file, char line[LINE_BYTES], struct listed *out)
{
    int used = 0;
    if (fgets(line, LINE_BYTES, file) == NULL || *line == '#')
        return false;
    line[strcspn(line, "\n")] = '\0';
    assert_int_equal(sscanf(line, "%31s %15s %15s %n", out->kind, out->pass, out->us, &used), 3);
    out->name = line + used;
    assert_true(*out->name != '\0');
    return true;
}

static FILE *open_list(void)
{
    FILE *file = fopen(KERNEL_NAMES, "r");
    assert_non_null(file);
    return file;
}

static void test_each_name(void **state)
{
    static const char *const passes[] = {
        [SPAN_EITHER] = "-", [SPAN_FORWARD] = "forward", [SPAN_BACKWARD] = "backward"};
    char line[LINE_BYTES];
    unsigned count = 0, wrong = 0;
    FILE *file = open_list();
    while (!feof(file)) {
        struct listed of;
        if (!next_line(file, line, &of))
            continue;
        const char *kind = span_kind_names[span_kind_of_kernel(of.name)];
        const char *pass = passes[span_direction_of_kernel(of.name)];
        if (strcmp(kind, of.kind) != 0 || strcmp(pass, of.pass) != 0) {
            printf("%s %s, not %s %s: %s\n", kind, pass, of.kind, of.pass, of.name);
            wrong++;
        }
        count++;
    }
    fclose(file);
    assert_true(count > 150);
    assert_int_equal(wrong, 0);
}

/* What a namespace, a library or a type of arguments names beside it does not tell. */
static void test_roles(void **state)
{
    static const struct {
        enum span_role role;
        const char *name;
    } rows[] = {
        {SPAN_GROUPED, "cutlass::device_kernel<dpsk::grouped_gemm::cuda::m_grouped_fp8_ptp128c>"},
        {SPAN_GROUPED, "void deep_gemm::sm90_bf16_k_grouped_gemm_impl<0u>(float*)"},
        {SPAN_GROUPED, "cutlass::device_kernel<GemmUniversal<cutlass::gemm::GroupProblemShape<>>>"},
        {SPAN_GROUPED, "kernel_cutlass_kernel_cudnngrouped_gemm_BlockScaledGroupedGemmQuantKernel"},
        {SPAN_GROUPED, "cutlass::Kernel2<cutlass::gemm::kernel::GemmGrouped<cutlass::gemm>>"},
        {SPAN_GROUPED, "fused_moe_kernel"},
        {SPAN_GROUPED, "_ZN5aiter59fmoe_stage1_bf16_pertokenFp8_blockscale_g1u1_32x128_3tg_pf3E"},
        {SPAN_ANY, "cutlass::device_kernel<dpsk::grouped_gemm::cuda::fp8_ptp128c::GemmKernel>"},
        {SPAN_ANY, "cudnn::cnn::wgrad2d_grouped_direct_kernel<__half, float, int, 3>"},
        {SPAN_ANY, "ck::tensor_operation::device::kernel_grouped_conv_fwd_multiple_abd_xdl"},
        {SPAN_ANY, "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT"},
        {SPAN_ANY, "_fwd_grouped_kernel_stage1"},
        {SPAN_ANY, "moe_align_block_size_kernel"},
        {SPAN_DISPATCH, "void dpsk::ep::internode::dispatch<false, 8, false, 8>(int4*)"},
        {SPAN_DISPATCH, "void deep_ep::intranode::notify_dispatch<8>(int const*, int*)"},
        {SPAN_DISPATCH, "mori::moe::EpDispatchInterNodeKernel(EpDispatchCombineArgs<bf16>)"},
        {SPAN_COMBINE, "mori::moe::EpCombineIntraNodeKernel(EpDispatchCombineArgs<bf16>)"},
        {SPAN_COMBINE, "void hybrid_ep::combine_kernel<hybrid_ep::warp_group<1, 0> >()"},
        {SPAN_COMBINE, "_ZN4uccl12internode_ll7combineILb1EEEvPv"},
        {SPAN_ANY, "void dpsk::ep::internode::cached_notify<false>(int, int, int, int)"},
        {SPAN_ANY, "void dpsk::ep::internode::get_dispatch_layout<256, 32, 8>(long const*)"},
        {SPAN_ANY, "_combined_routing_compute"},
        {SPAN_ANY, "ncclDevKernel_SendRecv()"},
    };
    struct span_names *names = calloc(1, sizeof *names);
    assert_non_null(names);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (span_role_of_kernel(rows[i].name) != rows[i].role)
            fail_msg("role %d: %s", (int)span_role_of_kernel(rows[i].name), rows[i].name);
        assert_int_equal(span_told(names, rows[i].name)->role, rows[i].role);
    }
    free(names);
}

/* The totals of the trace whose heading has `word`. */
static struct totals sum_up(const char *word)
{
    char line[LINE_BYTES];
    struct totals t = {.all_us = 0.0};
    bool in = false;
    FILE *file = open_list();
    while (!feof(file)) {
        struct listed of;
        if (!next_line(file, line, &of)) {
            in = !feof(file) && strstr(line, word) != NULL;
        } else if (in) {
            const double us = strtod(of.us, NULL);
            t.us[span_kind_of_kernel(of.name)] += us;
            t.all_us += us;
        }
    }
    fclose(file);
    return t;
}

/* Beside counts that did not use this program, of the whole traces; the list has 99.7 % of each. */
static void test_each_trace(void **state)
{
    static const struct {
        const char *trace;
        enum span_kind kind;
        double us;
    } counted[] = {
        {"profile-data, train.json", SPAN_ALL_TO_ALL, 113030.0},
        {"tests/traces/mi300", SPAN_GEMM, 16890.0},
        {"tests/traces/mi300", SPAN_ATTENTION, 5695.0},
        {"tests/traces/h100", SPAN_GEMM, 12793.0},
        {"tests/traces/h100", SPAN_ATTENTION, 3855.0},
    };
    for (unsigned i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        const struct totals t = sum_up(counted[i].trace);
        assert_true(t.all_us > 40e3);
        assert_true(fabs(t.us[counted[i].kind] / counted[i].us - 1.0) < 0.003);
        assert_true(t.us[SPAN_OTHER] <= OTHER_MOST * t.all_us);
    }
}

/* A name of any length: the first kilobyte decides. */
static void test_long_names(void **state)
{
    char name[4096];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(span_kind_of_kernel(name), SPAN_OTHER);
    memcpy(name + 1000, "nvjet", 5);
    assert_int_equal(span_kind_of_kernel(name), SPAN_GEMM);
    assert_int_equal(span_direction_of_kernel(name), SPAN_EITHER);
}

/* Seconds by hand: 3 + 2 of a, 4 of b, 1 of c, 0.5 of d are not known, of 20.5 in all. */
static void test_what_is_not_known(void **state)
{
    static const struct trace_span spans[] = {
        {.kind = SPAN_OTHER, .name = "a", .busy_s = 3.0},
        {.kind = SPAN_GEMM, .name = "gemm", .busy_s = 10.0},
        {.kind = SPAN_OTHER, .name = "c", .busy_s = 1.0},
        {.kind = SPAN_OTHER, .name = "b", .busy_s = 4.0},
        {.kind = SPAN_OTHER, .name = "d", .busy_s = 0.5},
        {.kind = SPAN_OTHER, .name = "a", .busy_s = 2.0},
    };
    struct arena *arena = arena_create();
    struct span_unknown unknown;
    span_unknown(arena, spans, 6, &unknown);
    assert_true(fabs(unknown.ratio - 10.5 / 20.5) < 1e-12);
    assert_int_equal(unknown.count, 3);
    assert_string_equal(unknown.largest[0].name, "a");
    assert_true(unknown.largest[0].s == 5.0);
    assert_string_equal(unknown.largest[1].name, "b");
    assert_string_equal(unknown.largest[2].name, "c");
    span_unknown(arena, &spans[1], 1, &unknown);
    assert_true(unknown.ratio == 0.0 && unknown.count == 0);
    span_unknown(arena, spans, 0, &unknown);
    assert_true(unknown.ratio == 0.0 && unknown.count == 0);
    arena_destroy(arena);
}

/* Two names that fall on one place of the memory of names are still two. */
static void test_remembered_names(void **state)
{
    static struct span_names names;
    static char text[3 * SPAN_NAMES_KEPT][32];
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 3 * SPAN_NAMES_KEPT; i++) {
            snprintf(text[i], sizeof *text, "%s_%u", i % 2 ? "gemm_bwd" : "sort", i);
            const struct span_told *told = span_told(&names, text[i]);
            assert_int_equal(told->kind, i % 2 ? SPAN_GEMM : SPAN_ELEMENTWISE);
            assert_int_equal(told->does, i % 2 ? SPAN_BACKWARD : SPAN_EITHER);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_name),         cmocka_unit_test(test_roles),
        cmocka_unit_test(test_each_trace),        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_what_is_not_known), cmocka_unit_test(test_remembered_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
