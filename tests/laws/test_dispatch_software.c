/* Laws of recomputation with experts: every software profile of the catalogue, with every dispatch
 * and every kind of recomputation, is lowered, and what runs again is at most what ran.
 *
 * Software that stops early (torch/utils/checkpoint.py, _StopRecomputationError) ends a layer at
 * the last kernel that saves a tensor. Where rows come back added up (deepep, hybridep) nothing is
 * saved behind the experts' own copies, so the exchange that brings the rows back is not repeated:
 * of the two exchanges of a layer one is. Where copies are added up by the receiver, that kernel
 * saves the order of the rows, and both exchanges come before it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/catalogue/catalogue.h"
#include "tests/models/program/lower_sums.h"
#include "tests/test.h"

enum {
    LAYERS = 4,
    MICROBATCHES = 2,
    TEXT_BYTES = 1024
};

struct point {
    const char *software, *recompute;
    const struct dispatch_kind *dispatch;
    unsigned tp;
    const char *shared; /* experts that every token visits */
};

/* Half of the GPUs of a node a replica at most: 8 ranks, of which 4 share the experts. */
static struct scenario *read_point(const struct point *p)
{
    const bool counts = strcmp(p->recompute, "block") == 0 || strcmp(p->recompute, "uniform") == 0;
    char text[TEXT_BYTES];
    const int bytes = snprintf(
        text, sizeof text,
        "model: {layers: %d, hidden: 256, heads: 8, vocabulary: 1000, experts: 8, "
        "experts_per_token: 2, moe_ffn_hidden: 128%s}\n"
        "cluster: {gpu: h100-80gb-sxm, nodes: 1}\n"
        "training: {sequence: 512, global_batch: %u}\n"
        "layout: {tp: %u, pp: 1, ep: 4, etp: 1, dispatch: %s, recompute: %s%s, microbatch: 1}\n"
        "software: %s\n",
        LAYERS, p->shared, MICROBATCHES * 8 / p->tp, p->tp, p->dispatch->head.name, p->recompute,
        counts ? ", recompute_layers: 2" : "", p->software);
    const struct scenario_options options = {0};
    struct error error;
    struct scenario *s = scenario_read("law.yaml", text, (size_t)bytes, &options, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count == 0)
        return s;
    scenario_destroy(s);
    return NULL;
}

struct work {
    double flops, bytes, sent;
    unsigned exchanges; /* rows to experts, and back */
};

static struct work work_of(const struct program *p, enum phase phase)
{
    struct work w = {.flops = sum_flops(p, phase)};
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        if (op->phase != phase)
            continue;
        w.bytes += op->kind == OP_COMPUTE ? p->costs[op->cost].bytes : 0.0;
        if (op->kind != OP_COLLECTIVE)
            continue;
        w.sent += p->transfers[op->cost].bytes;
        w.exchanges += op->stream == STREAM_EP && p->transfers[op->cost].op != COMM_ALL_GATHER;
    }
    return w;
}

/* Layers whose whole forward runs again. */
static unsigned again_layers(int recompute)
{
    switch ((enum recompute)recompute) {
    case RECOMPUTE_NONE:
    case RECOMPUTE_SELECTIVE:
    case RECOMPUTE_PER_OPERATOR:
    case RECOMPUTE_MODULES:
        return 0;
    case RECOMPUTE_EVERY_OTHER_LAYER:
    case RECOMPUTE_BLOCK:
        return LAYERS / 2;
    case RECOMPUTE_UNIFORM:
    case RECOMPUTE_FULL:
        return LAYERS;
    }
    return 0;
}

/* Of those, the layers that stop early: of a group that runs again together the last alone. */
static unsigned early_layers(const struct configuration *c)
{
    if (!c->software.layer.recompute_stops_early)
        return 0;
    const unsigned again = again_layers(c->layout.recompute);
    return c->layout.recompute == RECOMPUTE_UNIFORM ? again / 2 : again;
}

/* Kernels of that name in all forward passes. */
static unsigned kernels_named(const struct program *p, const char *name)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        if (p->ops[i].kind != OP_COMPUTE || p->ops[i].phase != PHASE_FORWARD)
            continue;
        const struct op_cost *cost = &p->costs[p->ops[i].cost];
        for (uint32_t k = 0; k < cost->kernel_count; k++)
            count += strcmp(p->kernels[cost->kernel_first + k].name, name) == 0;
    }
    return count;
}

static void check_point(const struct point *p, const struct configuration *c)
{
    struct arena *arena = arena_create();
    struct lowered lowered;
    lower(arena, c, &lowered);
    assert_int_equal(lowered.program_count, 1);
    const struct program *program = lowered.programs[0];
    const struct work forward = work_of(program, PHASE_FORWARD),
                      again = work_of(program, PHASE_RECOMPUTE);
    const unsigned gates = strstr(p->shared, "gate") != NULL ? LAYERS * MICROBATCHES : 0;
    assert_int_equal(kernels_named(program, "shared expert gate"), gates);
    const unsigned layers = again_layers(c->layout.recompute), early = early_layers(c);
    const unsigned left_out = p->dispatch->once_per_rank ? early * MICROBATCHES : 0;
    assert_int_equal(forward.exchanges, 2 * LAYERS * MICROBATCHES);
    assert_int_equal(again.exchanges, 2 * layers * MICROBATCHES - left_out);
    assert_true(again.flops <= forward.flops && again.bytes < forward.bytes);
    assert_true(again.sent <= forward.sent);
    if (layers > 0)
        assert_true(again.flops > 0.0 && again.bytes > 0.0);
    if (early > 0) { /* at least the last kernel less than without */
        struct configuration all = *c;
        all.software.layer.recompute_stops_early = false;
        lower(arena, &all, &lowered);
        assert_true(again.bytes < work_of(lowered.programs[0], PHASE_RECOMPUTE).bytes);
    }
    arena_destroy(arena);
}

static void every_software_recomputes_with_every_dispatch(void **state)
{
    struct arena *arena = arena_create();
    struct catalogue catalogue;
    catalogue_open(&catalogue, arena, NULL, NULL);
    const struct name_list software = catalogue_names(&catalogue, FAMILY_SOFTWARE);
    static const char *const shared[] = {"", ", shared_experts: 1",
                                         ", shared_experts: 1, shared_expert_gate: true"};
    unsigned legal[8] = {0}, early = 0, whole = 0;
    for (unsigned s = 0; s < software.count; s++)
        for (unsigned r = 0; recompute_names[r] != NULL; r++)
            for (unsigned at = 0; at < 6 * dispatch_kind_count; at++) {
                const struct point p = {software.names[s], recompute_names[r],
                                        dispatch_kinds[at / 6], 1 + at % 2, shared[at / 2 % 3]};
                struct scenario *scenario = read_point(&p);
                if (scenario == NULL)
                    continue;
                assert_int_equal(scenario->configuration.layout.recompute, r);
                check_point(&p, &scenario->configuration);
                legal[r]++;
                *(early_layers(&scenario->configuration) > 0 ? &early : &whole) += 1;
                scenario_destroy(scenario);
            }
    print_message("%u software profiles: %u points stop early, %u do not\n", software.count, early,
                  whole);
    /* All dispatch kinds, tp and shared experts but for software without experts across tp. */
    assert_true(legal[RECOMPUTE_FULL] >= 21 * software.count);
    assert_int_equal(legal[RECOMPUTE_NONE], legal[RECOMPUTE_FULL]);
    assert_int_equal(legal[RECOMPUTE_BLOCK], legal[RECOMPUTE_FULL]);
    assert_true(early > 100 && whole > 500);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_software_recomputes_with_every_dispatch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
