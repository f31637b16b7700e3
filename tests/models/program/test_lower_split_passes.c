/* Backward in two passes: what a stage keeps after each of its passes, what its kernels do, and
 * when its gradients leave.
 *
 * With dropout, 16 bit, f = 4h and unfused attention a layer keeps s b (34 h + 5 a s) bytes
 * (arXiv:2205.05198, equation 1). After the pass of inputs the inputs of its four products stay
 * (h, h, h and 4 h elements) and the gradients of what they give (3 h, h, 4 h and h):
 * s b 32 h bytes, the figure by which sail-sg/zero-bubble-pipeline-parallelism orders its passes
 * (megatron/core/pipeline_parallel/zerobubble/runtime.py). */
#include <math.h>

#include "models/lower/plan/lower_plan.h"
#include "models/lower/stage/lower.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

enum {
    STAGES = 4,
    LAYERS = 16,
    MICROBATCHES = 8
};
static const char *const names[] = {"zb-h1", "zb-h2",    "zb-1p",     "zb-2p",
                                    "zb-v",  "dualpipe", "dualpipe-v"};
enum {
    KINDS = sizeof names / sizeof *names
};

static struct configuration split_case(const char *name)
{
    struct configuration c = lower_case();
    c.model.layers = LAYERS;
    c.model.ffn = FFN_GELU;
    c.model.position = POSITION_LEARNED;
    c.model.norm.kind = NORM_LAYERNORM;
    c.model.dropout_ratio = 0.1;
    c.software.layer.save_norm_input = true;
    lower_case_size(&c, 1, 1, 2, STAGES, MICROBATCHES);
    c.layout.pipeline.schedule = schedule_find(name);
    c.layout.pipeline.vpp =
        c.layout.pipeline.schedule->chunks > 0 ? c.layout.pipeline.schedule->chunks : 1;
    assert_int_equal(lower_case_errors(&c), 0);
    return c;
}

/* Bytes of a layer of `split_case`: kept by a forward, and kept for its weights. */
static double kept_bytes(const struct configuration *c)
{
    const double rows = (double)(c->training.sequence * c->layout.microbatch);
    return rows * (34.0 * (double)c->model.hidden +
                   5.0 * (double)(c->model.attention.heads * c->training.sequence));
}

static double late_bytes(const struct configuration *c)
{
    return (double)(c->training.sequence * c->layout.microbatch) * 32.0 * (double)c->model.hidden;
}

/* What a rank keeps after each of its passes, in order. */
static uint32_t expected_bytes(const struct configuration *c, uint32_t rank, double *out)
{
    const struct schedule_kind *kind = c->layout.pipeline.schedule;
    const struct schedule_shape shape = {STAGES, (uint32_t)c->layout.pipeline.vpp, MICROBATCHES,
                                         NULL};
    const double layers = (double)LAYERS / schedule_parts(kind, &shape);
    struct arena *arena = arena_create();
    struct pass *passes = ARENA_ARRAY(arena, struct pass, schedule_room(kind, &shape));
    const uint32_t count = kind->write(&shape, rank, passes);
    double now = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t what = passes[i].kind;
        now += pass_is_forward(&passes[i]) ? kept_bytes(c) * layers : 0.0;
        now -= what == PASS_BACKWARD || what == PASS_BACKWARD_INPUT ? kept_bytes(c) * layers : 0.0;
        now += what == PASS_BACKWARD_INPUT ? late_bytes(c) * layers : 0.0;
        now -= what == PASS_WEIGHTS ? late_bytes(c) * layers : 0.0;
        out[i] = now;
    }
    arena_destroy(arena);
    return count;
}

/* Does the ledger of the step come to these figures one after another? */
static bool keeps(const struct program *p, const double *expected, uint32_t count)
{
    double now = 0.0;
    uint32_t met = 0;
    for (uint32_t i = 0; i < p->ledger_count; i++) {
        const struct ledger_entry *e = &p->ledger[i];
        if (e->tenant != TENANT_ACTIVATIONS)
            continue;
        now += e->action == LEDGER_ALLOCATE ? e->bytes : -e->bytes;
        if (met < count && fabs(now - expected[met]) < 0.5)
            met++;
    }
    return met == count && fabs(now) < 0.5;
}

/* Ranks in the middle: they hold layers alone. */
static void test_kept(void **state)
{
    for (unsigned k = 0; k < KINDS; k++) {
        const struct configuration c = split_case(names[k]);
        if (c.layout.pipeline.schedule->write_timed != NULL)
            continue; /* its order follows the cost of this configuration */
        struct arena *arena = arena_create();
        struct lowered lowered;
        lower(arena, &c, &lowered);
        for (uint32_t rank = 1; rank + 1 < STAGES; rank++) {
            double expected[6 * MICROBATCHES];
            const uint32_t count = expected_bytes(&c, rank, expected);
            assert_true(keeps(lowered.programs[rank], expected, count));
            expected[count / 2] += 0.37 * late_bytes(&c); /* planted */
            assert_false(keeps(lowered.programs[rank], expected, count));
        }
        arena_destroy(arena);
    }
}

static double flops_of(const struct program *p)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->ops[i].kind == OP_COMPUTE)
            sum += p->costs[p->ops[i].cost].flops;
    return sum;
}

/* The same products as 1f1b in all, whatever pass and rank they are on. */
static void test_work(void **state)
{
    struct configuration whole = split_case("zb-h1");
    whole.layout.pipeline.schedule = schedule_find("1f1b");
    struct arena *arena = arena_create();
    struct lowered lowered;
    lower(arena, &whole, &lowered);
    double expected = 0.0;
    for (uint32_t s = 0; s < STAGES; s++)
        expected += flops_of(lowered.programs[s]);
    for (unsigned k = 0; k < KINDS; k++) {
        const struct configuration c = split_case(names[k]);
        lower(arena, &c, &lowered);
        double sum = 0.0;
        for (uint32_t s = 0; s < STAGES; s++) {
            assert_null(program_problem(lowered.programs[s]));
            sum += flops_of(lowered.programs[s]);
        }
        assert_true(fabs(sum - expected) <= 1e-12 * expected);
    }
    arena_destroy(arena);
}

static uint32_t last_named(const struct program *p, enum stream stream, unsigned nth_from_end)
{
    for (uint32_t i = p->op_count; i-- > 0;)
        if (p->ops[i].stream == stream && nth_from_end-- == 0)
            return i;
    return UINT32_MAX;
}

/* No gradient is sent before the last pass of its weights; all of them are sent. */
static void test_reduction(void **state)
{
    for (unsigned k = 0; k < KINDS; k++) {
        struct configuration c = split_case(names[k]);
        c.software.data.bucket_bytes = 1e5;
        const struct written w = lower_case_write(&c);
        double sent = 0.0;
        uint32_t first = UINT32_MAX;
        for (uint32_t i = w.p->op_count; i-- > 0;) {
            if (w.p->ops[i].stream != STREAM_DP || w.p->ops[i].phase != PHASE_GRADIENTS)
                continue;
            sent += w.p->transfers[w.p->ops[i].cost].bytes;
            first = i;
        }
        assert_true(first != UINT32_MAX);
        uint32_t weights_left = 0; /* products behind the first reduction, of other microbatches */
        for (uint32_t i = first; i < w.p->op_count; i++)
            weights_left += w.p->ops[i].kind == OP_COMPUTE && w.p->ops[i].phase == PHASE_BACKWARD &&
                            w.p->ops[i].chunk == w.p->ops[first].chunk &&
                            w.p->ops[i].microbatch != w.p->ops[first].microbatch;
        assert_int_equal(weights_left, 0);
        const double layers =
            (double)LAYERS / STAGES *
            (c.layout.pipeline.schedule->placement == PLACED_BOTH_WAYS ? 2.0 : 1.0);
        const double least =
            layers * 12.0 * 64.0 * 64.0 * lower_plan_lowering(w.arena, &c)->data.wire_bytes;
        assert_true(sent > least && sent < 2.0 * least);
        assert_true(last_named(w.p, STREAM_COMPUTE, 0) > first);
        arena_destroy(w.arena);
    }
}

/* Both holders of a part reduce together, and share its optimizer. */
static void test_two_holders(void **state)
{
    struct configuration c = split_case("dualpipe");
    assert_int_equal(configuration_holders(&c), 4);
    c.layout.data.sharding = sharding_find("zero-1");
    assert_int_equal(configuration_shards(&c), 4);
    assert_int_equal(lower_case_errors(&c), 0);
    c.layout.data.sharding = sharding_find("fsdp");
    assert_true(lower_case_breaks(&c, "layout.sharding", false));
    c = split_case("zb-v");
    assert_int_equal(configuration_holders(&c), 2);
    c = split_case("dualpipe");
    struct arena *arena = arena_create();
    struct layout layout;
    layout_build(arena, &c, 1u << STREAM_DP, &layout);
    for (uint32_t rank = 0; rank < layout.rank_count; rank++) {
        const struct group g = layout_group(&layout, layout_group_of(&layout, rank, STREAM_DP));
        const uint32_t stage = layout_coordinates(&c, rank).pp;
        assert_int_equal(g.member_count, 4);
        for (uint32_t i = 0; i < g.member_count; i++) {
            const uint32_t other = layout_coordinates(&c, layout_member(&layout, &g, i)).pp;
            assert_true(other == stage || other == STAGES - 1 - stage);
        }
    }
    arena_destroy(arena);
}

/* Schedules that go by times are told what a message takes on the wire that joins all stages. */
static void test_message(void **state)
{
    for (uint64_t nodes = 1; nodes <= 2; nodes++) {
        struct arena *arena = arena_create();
        struct configuration c = split_case("zb-2p");
        c.cluster.node.gpus = 2 * STAGES / nodes;
        c.cluster.nodes = nodes;
        const struct lowering *l = lower_plan_lowering(arena, &c);
        const double bytes = 2.0 * (double)(c.training.sequence * c.model.hidden);
        const double rate = nodes == 1 ? 300e9 : 25e9; /* of lower_case: NVLink, a NIC */
        assert_true(fabs(lower_plan_costs(arena, l).transfer_s * rate / bytes - 1.0) < 1e-12);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),      cmocka_unit_test(test_work),
        cmocka_unit_test(test_reduction), cmocka_unit_test(test_two_holders),
        cmocka_unit_test(test_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
