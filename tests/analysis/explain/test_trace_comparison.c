/* A trace that is written from a simulated step differs from it by nothing; where one of its
 * kernels is slower, or missing, or one too many, the comparison names that one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/explain/trace_comparison.h"
#include "analysis/explain/trace_simulated.h"
#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

enum {
    RANK = 5
};
#define TRACE_ZERO_US 1000.0
#define ROUNDING_S 4e-9 /* of up to three kernels a span, each cut to nanoseconds */

static const char moe[] =
    "model: {layers: 4, hidden: 2048, heads: 16, vocabulary: 32k, experts: 16, "
    "experts_per_token: 2, moe_ffn_hidden: 1024}\n";
static const char dense[] = "model: {layers: 4, hidden: 2048, heads: 16, vocabulary: 32k}\n";
static const char text[] = "cluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
                           "training: {sequence: 2048, global_batch: 8}\n"
                           "software: megatron\n";
static const char layout[] =
    "layout: {tp: 2, pp: 2, dp: 2, microbatch: 1, sharding: zero-1, sequence_parallel: true}\n";

struct traced {
    struct arena *arena;
    struct scenario *scenario;
    struct step *step;
    struct trace_span *simulated;
    uint32_t count;
};

static void open_step_of(struct traced *t, const char *model_line, const char *layout_line)
{
    const struct step_options options = {.time_only = true, .threads = 1};
    struct error error = {""};
    t->arena = arena_create();
    const char *whole = arena_format(t->arena, "%s%s%s", model_line, text, layout_line);
    t->scenario = scenario_read("t", whole, strlen(whole), NULL, &error);
    assert_non_null(t->scenario);
    assert_int_equal(t->scenario->diagnostics.error_count, 0);
    assert_true(step_run(&t->scenario->configuration, &options, &t->step, &error));
    t->count = trace_simulated(t->arena, t->step, RANK, &t->simulated);
    assert_true(t->count > 100);
}

static void open_step(struct traced *t)
{
    open_step_of(t, dense, layout);
}

static void close_step(struct traced *t)
{
    step_destroy(t->step);
    scenario_destroy(t->scenario);
    arena_destroy(t->arena);
}

/* What the writer does to the simulated step. */
struct fault {
    uint32_t slowed, missing; /* spans; UINT32_MAX: none */
    double longer_s;
    bool stranger; /* a kernel that no simulation knows, at the end */
};
static const struct fault none = {UINT32_MAX, UINT32_MAX, 0.0, false};

struct trace_writer {
    FILE *out;
    unsigned events, external, correlation;
};

static void write_kernel(struct trace_writer *w, const char *name, double begin_us, double dur_us,
                         const struct trace_span *s, const char *collective)
{
    fprintf(w->out,
            "%s{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"ts\":%.3f,"
            "\"dur\":1,\"args\":{\"correlation\":%u}}",
            w->events++ > 0 ? ",\n" : "", TRACE_ZERO_US + 1.0, ++w->correlation);
    fprintf(w->out,
            ",\n{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"ts\":%.3f,\"dur\":%.3f,"
            "\"args\":{\"External id\":%u,\"correlation\":%u,\"device\":0,\"stream\":%d",
            name, begin_us, dur_us, w->external, w->correlation, (int)s->stream[0]);
    if (collective != NULL)
        fprintf(w->out,
                ",\"Collective name\":\"%s\",\"In msg nelems\":%.0f,\"Out msg nelems\":1,"
                "\"dtype\":\"Byte\",\"Group size\":2",
                collective, s->amount);
    fputs("}}", w->out);
}

/* As libraries call them. */
static void write_span(struct trace_writer *w, const struct trace_span *s, double begin_us,
                       double dur_us)
{
    static const char *const compute[] = {
        [SPAN_GEMM] = "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT",
        [SPAN_ATTENTION] =
            "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(Params)",
        [SPAN_NORM] = "void transformer_engine::normalization::rmsnorm_fwd_tuned_kernel<>(Params)",
        [SPAN_ELEMENTWISE] = "void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add>()",
        [SPAN_OPTIMIZER] = "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor>()",
    };
    static const char *const backward[] = {"void flash_bwd_dot_do_o_kernel<>(Params)",
                                           "void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<>()",
                                           "void flash_bwd_convert_dq_kernel<>(Params)"};
    static const char *const collectives[][2] = {
        {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL()", "allreduce"},
        {"ncclDevKernel_AllGather_RING_LL()", "_allgather_base"},
        {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL()", "_reduce_scatter_base"},
        {"ncclDevKernel_Broadcast_RING_LL()", "broadcast"},
        {"ncclDevKernel_SendRecv()", "all_to_all"},
        {"ncclDevKernel_SendRecv()", "send"}};
    w->external++;
    if (s->role == SPAN_GROUPED) {
        write_kernel(w, "void deep_gemm::sm90_m_grouped_gemm_impl<>()", begin_us, dur_us, s, NULL);
    } else if (s->role == SPAN_DISPATCH) {
        write_kernel(w, "void deep_ep::internode::dispatch<>()", begin_us, dur_us, s, NULL);
    } else if (s->role == SPAN_COMBINE) {
        write_kernel(w, "void deep_ep::internode::combine<>()", begin_us, dur_us, s, NULL);
    } else if (span_communicates(s->kind)) {
        const char *const *names = collectives[s->kind - SPAN_ALL_REDUCE];
        write_kernel(w, names[0], begin_us, dur_us, s, names[1]);
    } else if (strcmp(s->name, "attention gradient") == 0) {
        for (unsigned i = 0; i < 3; i++)
            write_kernel(w, backward[i], begin_us + i * dur_us / 3.0, dur_us / 3.0, s, NULL);
    } else if (s->kind == SPAN_NORM && strstr(s->name, "gradient") != NULL) {
        write_kernel(w, "void transformer_engine::normalization::rmsnorm_bwd_tuned_kernel<>()",
                     begin_us, dur_us, s, NULL);
    } else {
        write_kernel(w, compute[s->kind], begin_us, dur_us, s, NULL);
    }
}

/* A step before, this one as it was simulated but for the fault; 1000 us later than it began. */
static char *write_trace(const struct traced *t, const struct fault *fault)
{
    char *buffer = NULL;
    size_t bytes = 0;
    struct trace_writer w = {.out = open_memstream(&buffer, &bytes)};
    assert_non_null(w.out);
    fputs("{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":5,\"world_size\":8},\"traceEvents\":["
          "{\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#3\",\"ts\":0,\"dur\":900},"
          "{\"cat\":\"kernel\",\"name\":\"before\",\"ts\":5,\"dur\":800,\"args\":{\"stream\":7}},"
          "{\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#4\",\"ts\":1000,\"dur\":900}",
          w.out);
    w.events = 3;
    const double from_s =
        fault->slowed != UINT32_MAX ? t->simulated[fault->slowed].finish_s : INFINITY;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct trace_span *s = &t->simulated[i];
        const double late_s = s->begin_s >= from_s ? fault->longer_s : 0.0;
        const double longer_s = i == fault->slowed ? fault->longer_s : 0.0;
        if (i != fault->missing)
            write_span(&w, s, TRACE_ZERO_US + (s->begin_s + late_s) * 1e6,
                       (s->busy_s + longer_s) * 1e6);
    }
    if (fault->stranger)
        write_kernel(&w, "mystery", TRACE_ZERO_US + 1e6, 17.0, &t->simulated[0], NULL);
    fputs("]}", w.out);
    fclose(w.out);
    return buffer;
}

static void compare(struct traced *t, const struct fault *fault, struct trace_comparison *out)
{
    struct error error = {""};
    struct pytorch_step *trace = ARENA_NEW(t->arena, struct pytorch_step);
    char *written = write_trace(t, fault);
    const struct import_file file = {"trace", written, strlen(written)};
    if (!pytorch_spans_read(t->arena, file, PYTORCH_UNTOLD, trace, &error))
        fail_msg("%s", error.text);
    free(written);
    assert_int_equal(trace->number, 4);
    assert_int_equal(trace->rank, RANK);
    const struct trace_span *const spans[TRACE_SIDES] = {trace->spans, t->simulated};
    const uint32_t counts[TRACE_SIDES] = {trace->count, t->count};
    assert_true(trace_compare(t->arena, spans, counts, out, &error));
}

/* Sums of some hundred spans, each cut to nanoseconds. */
static void alike(double a, double b)
{
    if (!(fabs(a - b) <= 1e-5 * b + ROUNDING_S))
        fail_msg("%.12g beside %.12g", a, b);
}

static void test_its_own_trace_differs_by_nothing(void **state)
{
    struct traced t;
    struct trace_comparison c;
    open_step(&t);
    compare(&t, &none, &c);
    assert_int_equal(c.pair_count, t.count);
    assert_int_equal(c.left_count, 0);
    for (uint32_t i = 0; i < c.pair_count; i++) {
        const struct trace_span *const *of = c.pairs[i].of;
        assert_int_equal(of[TRACE_MEASURED]->kind, of[TRACE_SIMULATED]->kind);
        assert_true(fabs(c.pairs[i].difference_s) <= ROUNDING_S);
        assert_true(fabs(of[0]->begin_s - of[1]->begin_s) <= ROUNDING_S);
        assert_true(fabs(of[0]->finish_s - of[1]->finish_s) <= 2.0 * ROUNDING_S);
    }
    const struct trace_times *m = &c.times[TRACE_MEASURED], *s = &c.times[TRACE_SIMULATED];
    alike(m->step_s, s->step_s);
    alike(m->compute_s, s->compute_s);
    alike(m->communication_s, s->communication_s);
    alike(m->exposed_s, s->exposed_s);
    alike(s->compute_s + s->exposed_s + s->idle_s, s->step_s); /* the three tile the step */
    assert_true(s->exposed_s > 0.0 && s->idle_s > 0.0);
    for (unsigned kind = 0; kind < SPAN_KIND_COUNT; kind++)
        assert_int_equal(c.kinds[kind].count[TRACE_MEASURED], c.kinds[kind].count[TRACE_SIMULATED]);
    assert_true(c.kinds[SPAN_GEMM].count[TRACE_SIMULATED] > 0);
    assert_true(c.kinds[SPAN_REDUCE_SCATTER].count[TRACE_SIMULATED] > 0);
    assert_true(c.kinds[SPAN_SEND_RECV].count[TRACE_SIMULATED] > 0);
    close_step(&t);
}

static uint32_t find_from(const struct traced *t, uint32_t from, const char *name)
{
    for (uint32_t i = from; i < t->count; i++)
        if (strcmp(t->simulated[i].name, name) == 0)
            return i;
    fail_msg("no %s behind span %u", name, from);
    return 0;
}

/* The span of a kernel in the middle of the step. */
static uint32_t find(const struct traced *t, const char *name)
{
    return find_from(t, t->count / 2, name);
}

static void test_a_slow_kernel_is_named(void **state)
{
    static const char *const names[] = {"up", "attention gradient", "norm", "projection dgrad",
                                        "optimizer update"};
    struct traced t;
    open_step(&t);
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct trace_comparison c;
        struct fault fault = none;
        fault.slowed = find(&t, names[i]);
        fault.longer_s = 9.0 * t.simulated[fault.slowed].busy_s;
        compare(&t, &fault, &c);
        assert_int_equal(c.left_count, 0);
        assert_ptr_equal(c.worst[0]->of[TRACE_SIMULATED], &t.simulated[fault.slowed]);
        alike(c.worst[0]->difference_s, fault.longer_s);
        assert_true(fabs(c.worst[1]->difference_s) <= ROUNDING_S);
        assert_string_equal(c.parts[0].name, names[i]);
        alike(c.times[TRACE_MEASURED].step_s, c.times[TRACE_SIMULATED].step_s + fault.longer_s);
    }
    close_step(&t);
}

static void test_a_missing_kernel_and_a_stranger_are_named(void **state)
{
    static const char *const names[] = {"up", "attention gradient", "norm", "optimizer update",
                                        "reduce gradients"};
    struct traced t;
    open_step(&t);
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct trace_comparison c;
        struct fault fault = none;
        uint32_t alone = 0;
        fault.missing = find(&t, names[i]);
        fault.stranger = i % 2 == 1;
        compare(&t, &fault, &c);
        for (uint32_t k = 0; k < c.pair_count; k++) {
            const struct trace_pair *pair = &c.pairs[k];
            if (pair->of[TRACE_MEASURED] != NULL && pair->of[TRACE_SIMULATED] != NULL) {
                assert_true(fabs(pair->difference_s) <= ROUNDING_S);
                continue;
            }
            alone++;
            if (pair->of[TRACE_MEASURED] != NULL)
                assert_string_equal(pair->of[TRACE_MEASURED]->name, "mystery");
            else
                assert_ptr_equal(pair->of[TRACE_SIMULATED], &t.simulated[fault.missing]);
        }
        assert_int_equal(alone, fault.stranger ? 2 : 1);
        assert_int_equal(c.all.left[TRACE_SIMULATED], 1);
        assert_int_equal(c.kinds[SPAN_OTHER].left[TRACE_MEASURED], fault.stranger);
        double left_s[TRACE_SIDES] = {0.0, 0.0};
        for (uint32_t k = 0; k < c.left_count; k++)
            for (unsigned side = 0; side < TRACE_SIDES; side++)
                left_s[side] += c.left[k].seconds[side];
        assert_true(left_s[TRACE_SIMULATED] == t.simulated[fault.missing].busy_s);
        assert_true((left_s[TRACE_MEASURED] > 0.0) == fault.stranger &&
                    left_s[TRACE_MEASURED] < 0.5);
    }
    close_step(&t);
}

/* Rows go to the experts first and come back then, in each pass of each layer; gradients of what
 * came back go there first. */
static void expect_roles(const struct traced *t, unsigned count)
{
    unsigned grouped = 0, dispatched[2] = {0, 0}, combined[2] = {0, 0};
    for (uint32_t i = 0; i < t->count; i++) {
        const struct trace_span *s = &t->simulated[i];
        const unsigned back = strcmp(s->phase, "backward") == 0;
        grouped += s->role == SPAN_GROUPED;
        dispatched[back] += s->role == SPAN_DISPATCH;
        combined[back] += s->role == SPAN_COMBINE;
        if (s->kind == SPAN_GEMM)
            assert_int_equal(s->role, strstr(s->name, "expert") ? SPAN_GROUPED : SPAN_DENSE);
        if (s->kind != SPAN_ALL_TO_ALL)
            continue;
        assert_int_equal(s->during == SPAN_FORWARD, strcmp(s->phase, "forward") == 0);
        assert_true(s->during != SPAN_EITHER);
        assert_int_equal(s->role, strcmp(s->name, back ? "combine" : "router") == 0 ? SPAN_DISPATCH
                                                                                    : SPAN_COMBINE);
    }
    assert_true(grouped > 0 && dispatched[1] == count && combined[1] == count);
    assert_true(dispatched[0] >= count && combined[0] >= count);
}

static void expect_itself(const struct traced *t, const struct trace_comparison *c,
                          const struct fault *fault)
{
    assert_int_equal(c->all.left[TRACE_MEASURED], 0);
    assert_int_equal(c->all.left[TRACE_SIMULATED], fault->missing != UINT32_MAX);
    for (uint32_t n = 0; n < c->pair_count; n++) {
        const struct trace_span *m = c->pairs[n].of[TRACE_MEASURED];
        const struct trace_span *s = c->pairs[n].of[TRACE_SIMULATED];
        if (m == NULL)
            assert_ptr_equal(s, &t->simulated[fault->missing]);
        else
            assert_true(fabs(m->begin_s - s->begin_s) <= ROUNDING_S);
    }
}

static void test_roles_pair_with_themselves(void **state)
{
    static const char *const layouts[] = {
        "layout: {tp: 1, pp: 1, dp: 8, ep: 8, dispatch: deepep, microbatch: 1, sharding: zero-1}\n",
        "layout: {tp: 1, pp: 1, dp: 8, ep: 8, microbatch: 1, sharding: zero-1, recompute: full}\n",
        ("layout: {tp: 2, pp: 2, dp: 2, ep: 2, microbatch: 1, sharding: zero-1, "
         "schedule: dualpipe, sequence_parallel: true}\n")};
    static const unsigned exchanges[] = {4, 4, 8}; /* layers of a rank by microbatches */
    static const char *const gone[] = {"expert up", "expert down dgrad", "logits", "combine"};
    for (unsigned k = 0; k < sizeof layouts / sizeof layouts[0]; k++) {
        struct traced t;
        struct trace_comparison c;
        open_step_of(&t, moe, layouts[k]);
        expect_roles(&t, exchanges[k]);
        compare(&t, &none, &c);
        expect_itself(&t, &c, &none);
        for (unsigned i = 0; i < sizeof gone / sizeof gone[0]; i++) {
            struct fault fault = none;
            fault.missing = find_from(&t, 0, gone[i]);
            compare(&t, &fault, &c);
            expect_itself(&t, &c, &fault);
        }
        close_step(&t);
    }
}

/* Of two that stand alone and are alike else. */
static void test_other_roles_make_no_pair(void **state)
{
    struct arena *arena = arena_create();
    for (unsigned i = 0; i < 25; i++) {
        const enum span_role a = (enum span_role)(i % 5), b = (enum span_role)(i / 5);
        const struct trace_span spans[] = {{.kind = SPAN_GEMM, .role = a},
                                           {.kind = SPAN_GEMM, .role = b}};
        const struct trace_span *rows[] = {&spans[0], &spans[1]};
        uint32_t partner;
        const struct trace_list one = {&rows[0], 1}, other = {&rows[1], 1};
        trace_align(arena, one, other, &partner);
        assert_int_equal(partner, a == b || a == SPAN_ANY || b == SPAN_ANY ? 0 : TRACE_NONE);
    }
    arena_destroy(arena);
}

/* The cheapest of all alignments, by trying each. */
static uint32_t pairs_by_trial(const struct trace_span *a, uint32_t n, const struct trace_span *b,
                               uint32_t m)
{
    if (n == 0 || m == 0)
        return 0;
    const uint32_t without_a = pairs_by_trial(a + 1, n - 1, b, m);
    const uint32_t without_b = pairs_by_trial(a, n, b + 1, m - 1);
    const uint32_t with = a->kind == b->kind ? 1 + pairs_by_trial(a + 1, n - 1, b + 1, m - 1) : 0;
    const uint32_t best = without_a > without_b ? without_a : without_b;
    return with > best ? with : best;
}

/* Where kinds alone tell spans apart and none may pair with another, the cheapest alignment has the
 * most pairs. */
static void test_alignments_have_the_most_pairs(void **state)
{
    static const enum span_kind kinds[] = {SPAN_GEMM, SPAN_ATTENTION, SPAN_OPTIMIZER};
    struct arena *arena = arena_create();
    unsigned seed = 7;
    for (unsigned trial = 0; trial < 300; trial++) {
        struct trace_span spans[2][8] = {{{.amount = 0.0}}};
        const struct trace_span *rows[2][8];
        uint32_t partner[8], pairs = 0;
        for (unsigned i = 0; i < 16; i++) {
            seed = seed * 1103515245u + 12345u;
            spans[i / 8][i % 8] =
                (struct trace_span){.kind = kinds[seed >> 16 & 1 ? 2 : seed >> 17 & 1]};
            rows[i / 8][i % 8] = &spans[i / 8][i % 8];
        }
        const uint32_t n = trial % 9, m = trial / 9 % 9;
        trace_align(arena, (struct trace_list){rows[0], n}, (struct trace_list){rows[1], m},
                    partner);
        for (uint32_t i = 0; i < n; i++) {
            pairs += partner[i] != TRACE_NONE;
            if (partner[i] != TRACE_NONE)
                assert_int_equal(spans[0][i].kind, spans[1][partner[i]].kind);
        }
        assert_int_equal(pairs, pairs_by_trial(spans[0], n, spans[1], m));
    }
    arena_destroy(arena);
}

/* Of two spans that stand alone, all passes and kinds: they make a pair unless told otherwise. */
static void test_opposed_passes_make_no_pair(void **state)
{
    struct arena *arena = arena_create();
    static const enum span_direction passes[] = {SPAN_EITHER, SPAN_FORWARD, SPAN_BACKWARD};
    for (unsigned i = 0; i < 81; i++) {
        const struct trace_span spans[] = {
            {.kind = SPAN_NORM, .does = passes[i % 3], .during = passes[i / 3 % 3]},
            {.kind = SPAN_NORM, .does = passes[i / 9 % 3], .during = passes[i / 27]}};
        const struct trace_span *rows[] = {&spans[0], &spans[1]};
        /* Apart by one step of the list: untold, forward, backward. */
        const bool right = !(i % 3 && i / 9 % 3 && i % 3 != i / 9 % 3) &&
                           !(i / 3 % 3 && i / 27 && i / 3 % 3 != i / 27);
        uint32_t partner;
        trace_align(arena, (struct trace_list){&rows[0], 1}, (struct trace_list){&rows[1], 1},
                    &partner);
        if (right != (partner == 0))
            fail_msg("case %u", i);
    }
    const struct trace_span strangers[] = {{.kind = SPAN_OTHER}, {.kind = SPAN_ELEMENTWISE}};
    const struct trace_span *rows[] = {&strangers[0], &strangers[1]};
    for (unsigned i = 0; i < 3; i++) {
        uint32_t partner;
        trace_align(arena, (struct trace_list){&rows[i == 2], 1},
                    (struct trace_list){&rows[i == 1], 1}, &partner);
        assert_int_equal(partner, TRACE_NONE);
    }
    arena_destroy(arena);
}

/* Compute of a simulated step tells its pass: forward work runs forwards, or again (recompute);
 * what is called after a gradient runs backwards; messages tell nothing. */
static void test_simulated_spans_tell_their_pass(void **state)
{
    unsigned seen[3][3] = {{0}};
    struct traced t;
    open_step_of(&t, dense,
                 "layout: {tp: 2, pp: 2, dp: 2, microbatch: 1, sharding: zero-1, "
                 "sequence_parallel: true, recompute: full}\n");
    for (uint32_t i = 0; i < t.count; i++) {
        const struct trace_span *s = &t.simulated[i];
        const bool ahead = strcmp(s->phase, "forward") == 0;
        const bool back = strcmp(s->phase, "backward") == 0;
        const bool again = strcmp(s->phase, "recompute") == 0;
        seen[s->does][s->during]++;
        if (span_communicates(s->kind)) {
            assert_int_equal(s->does, SPAN_EITHER);
            assert_int_equal(s->during, SPAN_EITHER);
            continue;
        }
        assert_int_equal(s->during, ahead           ? SPAN_FORWARD
                                    : again || back ? SPAN_BACKWARD
                                                    : SPAN_EITHER);
        if (strstr(s->name, "gradient") != NULL && back)
            assert_int_equal(s->does, SPAN_BACKWARD);
        if (strcmp(s->name, "attention") == 0)
            assert_int_equal(s->does, SPAN_FORWARD);
        assert_true(ahead || again || back || s->does == SPAN_EITHER);
    }
    assert_true(seen[SPAN_FORWARD][SPAN_FORWARD] > 0 && seen[SPAN_BACKWARD][SPAN_BACKWARD] > 0);
    assert_true(seen[SPAN_FORWARD][SPAN_BACKWARD] > 0); /* recomputed */
    assert_true(seen[SPAN_EITHER][SPAN_EITHER] > 0);    /* messages, the optimizer */
    close_step(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_its_own_trace_differs_by_nothing),
        cmocka_unit_test(test_a_slow_kernel_is_named),
        cmocka_unit_test(test_a_missing_kernel_and_a_stranger_are_named),
        cmocka_unit_test(test_roles_pair_with_themselves),
        cmocka_unit_test(test_other_roles_make_no_pair),
        cmocka_unit_test(test_alignments_have_the_most_pairs),
        cmocka_unit_test(test_opposed_passes_make_no_pair),
        cmocka_unit_test(test_simulated_spans_tell_their_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
