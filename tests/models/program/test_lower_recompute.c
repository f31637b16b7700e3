/* Recomputation of some layers: of the first of each chunk, and of groups that share one kept
 * input. Laws: none of them is no recomputation, all of them is full recomputation, and in between
 * time grows and memory falls by what one layer costs and keeps. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/memory/ledger.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/step.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmin(fabs(a), fabs(b));
}

static struct configuration deep_case(uint64_t layers, uint64_t pp, uint64_t microbatches)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 1, 1, 1, pp, microbatches);
    c.model.layers = layers;
    c.cluster.fabric.kind = &topology_none;
    return c;
}

static struct configuration with(struct configuration c, int kind, uint64_t layers)
{
    c.layout.recompute = kind;
    c.layout.recompute_layers = layers;
    return c;
}

static const struct program *stage_of(struct arena *arena, const struct configuration *c,
                                      uint32_t stage)
{
    struct lowered lowered;
    lower(arena, c, &lowered);
    return lowered.programs[stage];
}

static double peak_of(const struct configuration *c, uint32_t stage)
{
    struct arena *arena = arena_create();
    struct ledger_limits limits = {INFINITY, false};
    struct ledger_result result;
    ledger_play(arena, stage_of(arena, c, stage), &limits, false, &result);
    const double peak = result.peak_allocated_bytes;
    arena_destroy(arena);
    return peak;
}

static double step_of(const struct configuration *c)
{
    struct step_options options = {.ignore_memory = true};
    struct step *step;
    struct error error = {""};
    assert_int_equal(lower_case_errors(c), 0);
    assert_true(step_run(c, &options, &step, &error));
    const double step_s = step->step_s;
    step_destroy(step);
    return step_s;
}

static double repeated_flops(const struct configuration *c)
{
    struct arena *arena = arena_create();
    struct lowered lowered;
    double sum = 0.0;
    lower(arena, c, &lowered);
    for (uint32_t s = 0; s < lowered.program_count; s++)
        for (uint32_t i = 0; i < lowered.programs[s]->op_count; i++)
            if (lowered.programs[s]->ops[i].phase == PHASE_RECOMPUTE &&
                lowered.programs[s]->ops[i].kind == OP_COMPUTE)
                sum += lowered.programs[s]->costs[lowered.programs[s]->ops[i].cost].flops;
    arena_destroy(arena);
    return sum;
}

/* Bytes of activations that the forward pass of the first microbatch allocates for a layer, of all
 * names or of one; those that the same pass frees again are not counted. */
static double kept_bytes(const struct configuration *c, uint16_t layer, const char *name)
{
    struct arena *arena = arena_create();
    const struct program *p = stage_of(arena, c, 0);
    double sum = 0.0;
    for (uint32_t i = 0; i < p->ledger_count; i++) {
        const struct ledger_entry *e = &p->ledger[i];
        if (e->layer != layer || e->microbatch != 0 || e->tenant != TENANT_ACTIVATIONS ||
            strcmp(e->call_site, "forward") != 0 || (name != NULL && strcmp(e->name, name) != 0))
            continue;
        sum += e->action == LEDGER_ALLOCATE ? e->bytes : -e->bytes;
    }
    arena_destroy(arena);
    return sum;
}

static void same(const struct configuration *a, const struct configuration *b)
{
    struct arena *arena = arena_create();
    struct lowered x, y;
    lower(arena, a, &x);
    lower(arena, b, &y);
    assert_int_equal(x.program_count, y.program_count);
    for (uint32_t s = 0; s < x.program_count; s++) {
        const struct program *p = x.programs[s], *q = y.programs[s];
        assert_int_equal(p->op_count, q->op_count);
        assert_int_equal(p->ledger_count, q->ledger_count);
        for (uint32_t i = 0; i < p->ledger_count; i++) {
            assert_int_equal(p->ledger[i].op, q->ledger[i].op);
            assert_true(p->ledger[i].bytes == q->ledger[i].bytes);
            assert_string_equal(p->ledger[i].call_site, q->ledger[i].call_site);
        }
        for (uint32_t i = 0; i < p->op_count; i++) {
            assert_int_equal(p->ops[i].phase, q->ops[i].phase);
            assert_int_equal(p->ops[i].layer, q->ops[i].layer);
        }
        assert_true(peak_of(a, s) == peak_of(b, s));
    }
    assert_true(step_of(a) == step_of(b));
    arena_destroy(arena);
}

static void test_all_is_full(void **state)
{
    for (uint64_t pp = 1; pp <= 2; pp++) {
        const struct configuration c = deep_case(8, pp, 4);
        const struct configuration full = with(c, RECOMPUTE_FULL, 0);
        const struct configuration all = with(c, RECOMPUTE_BLOCK, 8 / pp);
        const struct configuration alone = with(c, RECOMPUTE_UNIFORM, 1);
        same(&full, &all);
        same(&full, &alone);
    }
}

/* Each layer more costs the same time and FLOPs, and frees what it keeps but for its input, times
 * the microbatches in flight: min(p, m) on the first stage. Where all but two layers are recomputed
 * the moment that decides is another. */
static void test_block_goes_straight(void **state)
{
    for (uint64_t pp = 1; pp <= 2; pp++) {
        const uint64_t most = 12;
        const struct configuration c = deep_case(most * pp, pp, 2 * pp);
        const struct configuration full = with(c, RECOMPUTE_FULL, 0);
        const double freed = kept_bytes(&c, 0, NULL) - kept_bytes(&full, 0, "layer input");
        const double flops = repeated_flops(&full) / (double)most;
        double peak = peak_of(&c, 0), step_s = step_of(&c), slope_s = 0.0;
        assert_true(freed > 0.0);
        assert_true(kept_bytes(&full, 0, NULL) == kept_bytes(&full, 0, "layer input"));
        for (uint64_t n = 1; n <= most; n++) {
            const struct configuration block = with(c, RECOMPUTE_BLOCK, n);
            const double now = peak_of(&block, 0), now_s = step_of(&block);
            assert_true(close_to(repeated_flops(&block), flops * (double)n));
            assert_true(now <= peak);
            if (n + 2 <= most)
                assert_true(close_to(peak - now, freed * (double)pp));
            if (n > 1)
                assert_true(close_to(now_s - step_s, slope_s));
            slope_s = now_s - step_s;
            assert_true(slope_s > 0.0);
            peak = now;
            step_s = now_s;
        }
    }
}

/* The first layers of every chunk, not of every stage. */
static void test_of_every_chunk(void **state)
{
    struct configuration c = with(deep_case(12, 2, 4), RECOMPUTE_BLOCK, 2);
    c.layout.pipeline.vpp = 2;
    c.layout.pipeline.schedule = &schedule_interleaved;
    struct arena *arena = arena_create();
    struct lowered lowered;
    uint32_t seen = 0;
    lower(arena, &c, &lowered);
    for (uint32_t s = 0; s < 2; s++)
        for (uint32_t i = 0; i < lowered.programs[s]->op_count; i++)
            if (lowered.programs[s]->ops[i].phase == PHASE_RECOMPUTE)
                seen |= 1u << lowered.programs[s]->ops[i].layer;
    assert_int_equal(seen, 0x6db); /* 0 1, 3 4, 6 7, 9 10 */
    arena_destroy(arena);
}

/* All is computed again once, from the inputs of the groups; the last group may be smaller. */
static void test_groups_keep_their_input(void **state)
{
    const uint64_t layers = 8;
    for (uint64_t n = 1; n <= layers; n++) {
        const struct configuration c = deep_case(layers, 1, 1);
        const struct configuration full = with(c, RECOMPUTE_FULL, 0);
        struct configuration group = with(c, RECOMPUTE_UNIFORM, n);
        assert_true(close_to(repeated_flops(&group), repeated_flops(&full)));
        for (uint16_t layer = 0; layer < layers; layer++) {
            const double input = kept_bytes(&full, layer, NULL);
            assert_true(kept_bytes(&group, layer, NULL) == (layer % n == 0 ? input : 0.0));
        }
        /* Who stops early leaves out the last product of a group alone. */
        struct configuration early = full;
        early.software.layer.recompute_stops_early = group.software.layer.recompute_stops_early =
            true;
        const double product = (repeated_flops(&full) - repeated_flops(&early)) / (double)layers;
        const double groups = (double)((layers + n - 1) / n);
        assert_true(product > 0.0);
        assert_true(close_to(repeated_flops(&full) - repeated_flops(&group), groups * product));
    }
}

/* At the first backward pass of the last group all inputs are there, and its layers rebuilt. */
static void test_groups_rebuild_together(void **state)
{
    const uint64_t layers = 32;
    const struct configuration c = deep_case(layers, 1, 1);
    const struct configuration full = with(c, RECOMPUTE_FULL, 0);
    const double input = kept_bytes(&full, 0, NULL), layer = kept_bytes(&c, 0, NULL);
    for (uint64_t n = 2; n <= 8; n *= 2) {
        const struct configuration group = with(c, RECOMPUTE_UNIFORM, n);
        const double wanted =
            peak_of(&full, 0) - (double)(layers - layers / n) * input + (double)(n - 1) * layer;
        assert_true(close_to(peak_of(&group, 0), wanted));
    }
}

/* A group's layers run forward, in order, before the first of them runs backward. */
static void test_order_of_a_group(void **state)
{
    const struct configuration c = with(deep_case(5, 1, 1), RECOMPUTE_UNIFORM, 2);
    static const struct {
        uint8_t phase;
        uint16_t layer;
    } wanted[] = {{PHASE_RECOMPUTE, 4}, {PHASE_BACKWARD, 4},  {PHASE_RECOMPUTE, 2},
                  {PHASE_RECOMPUTE, 3}, {PHASE_BACKWARD, 3},  {PHASE_BACKWARD, 2},
                  {PHASE_RECOMPUTE, 0}, {PHASE_RECOMPUTE, 1}, {PHASE_BACKWARD, 1},
                  {PHASE_BACKWARD, 0}};
    struct arena *arena = arena_create();
    const struct program *p = stage_of(arena, &c, 0);
    unsigned at = 0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        const bool passed = op->phase == PHASE_RECOMPUTE || op->phase == PHASE_BACKWARD;
        if (op->kind != OP_COMPUTE || !passed || op->layer == UINT16_MAX)
            continue;
        if (at > 0 && wanted[at - 1].phase == op->phase && wanted[at - 1].layer == op->layer)
            continue;
        assert_true(at < sizeof wanted / sizeof wanted[0]);
        assert_int_equal(op->phase, wanted[at].phase);
        assert_int_equal(op->layer, wanted[at].layer);
        at++;
    }
    assert_int_equal(at, sizeof wanted / sizeof wanted[0]);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_full),
        cmocka_unit_test(test_block_goes_straight),
        cmocka_unit_test(test_of_every_chunk),
        cmocka_unit_test(test_groups_keep_their_input),
        cmocka_unit_test(test_groups_rebuild_together),
        cmocka_unit_test(test_order_of_a_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
