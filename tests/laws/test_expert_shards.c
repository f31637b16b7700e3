/* Laws of sharded experts that other ranks hold than all else: what is gathered and scattered is
 * the closed form of each part, over its own ranks; state is shared by them; whoever has experts
 * alone gathers none; folded and unfolded plays are the same to the bit. */
#include <math.h>
#include <string.h>

#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/step.h"
#include "tests/laws/law_case.h"
#include "tests/test.h"

enum {
    RANK_MAX = 16,
    LAYERS = 3
};
static const struct sharding_kind *const kinds[] = {&sharding_zero_2, &sharding_zero_3,
                                                    &sharding_fsdp, &sharding_hsdp};
enum {
    KINDS = sizeof kinds / sizeof kinds[0]
};

static void give_experts(struct configuration *c, uint64_t ep)
{
    struct model_shape *m = &c->model;
    m->moe.experts = 8;
    m->moe.experts_per_token = 2;
    m->moe.ffn_hidden = 32 * c->layout.tp;
    m->moe.shared_experts = 1;
    c->layout.ep = ep;
    c->layout.etp = 1;
    c->layout.sequence_parallel = c->layout.tp > 1;
}

/* Eight ranks of one node, two microbatches; hsdp: two shard groups of four. False: not so many
 * share the experts of a shard group. */
static bool one_node(struct law_setup *s, const struct sharding_kind *kind, uint64_t ep)
{
    struct law_case k = {.level = {[LAW_GPUS] = 2, [LAW_DP] = 4, [LAW_SCHEDULE] = 1}};
    assert_true(law_configure(&k, RANK_MAX, s));
    give_experts(&s->c, ep);
    s->c.model.layers = LAYERS;
    s->c.layout.data.sharding = kind;
    s->c.layout.data.shard_group = kind->hybrid ? 4 : 0;
    s->c.software.shards.reshard = true;
    s->c.training.global_batch = 2 * s->c.layout.dp * s->c.layout.microbatch;
    assert_true(configuration_legal(&s->c) == !(kind->hybrid && ep > 4));
    return configuration_legal(&s->c);
}

static double sent(const struct program *p, enum stream stream, enum comm_op what)
{
    double bytes = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->ops[i].stream == stream && p->transfers[p->ops[i].cost].op == what)
            bytes += p->transfers[p->ops[i].cost].bytes;
    return bytes;
}

static double held(const struct program *p, enum tenant tenant)
{
    double bytes = 0.0;
    for (uint32_t i = 0; i < p->setup_count; i++)
        bytes += p->setup[i].tenant == tenant ? p->setup[i].bytes : 0.0;
    return bytes;
}

/* What the second layer takes at once of what has this name. */
static double taken(const struct program *p, const char *name)
{
    double most = 0.0;
    for (uint32_t i = 0; i < p->ledger_count; i++)
        if (p->ledger[i].layer == 1 && p->ledger[i].action == LEDGER_ALLOCATE &&
            strcmp(p->ledger[i].name, name) == 0)
            most = fmax(most, p->ledger[i].bytes);
    return most;
}

/* Does compute wait for each gather and the update for each last scatter of this stream? */
static bool all_waited_for(const struct program *p, enum stream stream, enum comm_op what)
{
    uint32_t sent = 0, waited = 0, last = 0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        if (p->ops[i].stream != stream || p->transfers[p->ops[i].cost].op != what)
            continue;
        bool found = false;
        for (uint32_t k = i + 1; k < p->op_count; k++)
            found = found || (p->ops[k].stream == STREAM_COMPUTE &&
                              (p->ops[k].wait[0] == i + 1 || p->ops[k].wait[1] == i + 1));
        sent++;
        waited += found;
        last = found;
    }
    return what == COMM_ALL_GATHER ? waited == sent : sent == 0 || last == 1;
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * expected + 1e-3))
        fail_msg("%.17g, not %.17g", value, expected);
}

/* Gathers: zero-2 once a step, the others in each forward and backward; scatters: each backward. Of
 * N elements of 2 bytes, or 4 of the reduced type. */
static void traffic_is_closed_form(void **state)
{
    for (unsigned at = 0; at < KINDS * 3; at++) {
        const struct sharding_kind *kind = kinds[at / 3];
        const uint64_t ep = 2u << at % 3, n = kind->hybrid ? 4 : 8, edp = n / ep;
        struct law_setup s;
        struct step *step;
        struct error error = {""};
        if (!one_node(&s, kind, ep))
            continue;
        const struct step_options how = {.threads = 1};
        assert_true(step_run(&s.c, &how, &step, &error));
        const struct program *p = step->lowered.programs[0];
        const double width = (double)(s.c.model.hidden * s.c.model.moe.ffn_hidden);
        const double experts = LAYERS * 8.0 / (double)ep * 3.0 * width;
        const double others =
            transformer_parameters(&s.c.model, s.c.training.sequence) - experts * (double)ep;
        const double wire = s.c.software.data.gradient_reduce_bytes > 0.0
                                ? s.c.software.data.gradient_reduce_bytes
                                : s.c.software.data.gradient_kept_bytes;
        const bool units = kind->gather == GATHER_UNITS;
        const double times = units ? 2.0 * 2.0 : 1.0, shared = edp > 1 ? 1.0 : 0.0;
        near(sent(p, units ? STREAM_GATHER : STREAM_DP, COMM_ALL_GATHER), times * others * 2.0);
        near(sent(p, units ? STREAM_EP_GATHER : STREAM_EP_DATA, COMM_ALL_GATHER),
             shared * times * experts * 2.0);
        near(sent(p, STREAM_DP, COMM_REDUCE_SCATTER), 2.0 * others * wire);
        assert_true(all_waited_for(p, STREAM_EP_GATHER, COMM_ALL_GATHER));
        assert_true(kind->hybrid ? all_waited_for(p, STREAM_EP_REPLICATE, COMM_ALL_REDUCE)
                                 : all_waited_for(p, STREAM_EP_DATA, COMM_REDUCE_SCATTER));
        near(sent(p, STREAM_EP_DATA, COMM_REDUCE_SCATTER), shared * 2.0 * experts * wire);
        const double across = kind->hybrid ? 2.0 * wire : 0.0;
        near(sent(p, STREAM_REPLICATE, COMM_ALL_REDUCE), across * others / (double)n);
        near(sent(p, STREAM_EP_REPLICATE, COMM_ALL_REDUCE), across * experts / (double)edp);
        step_destroy(step);
    }
}

/* Weights, gradients and moments in n shards, of experts in edp; what a layer gathers is there
 * whole, but for experts that its rank has alone. */
static void state_is_shared_by_its_own_ranks(void **state)
{
    for (unsigned at = 0; at < KINDS * 3; at++) {
        const struct sharding_kind *kind = kinds[at / 3];
        const uint64_t ep = 2u << at % 3, n = kind->hybrid ? 4 : 8, edp = n / ep;
        struct law_setup s;
        struct step *step;
        struct error error = {""};
        if (!one_node(&s, kind, ep))
            continue;
        const struct step_options how = {.memory_only = true, .threads = 1};
        assert_true(step_run(&s.c, &how, &step, &error));
        const struct program *p = step->lowered.programs[0];
        const double width = (double)(s.c.model.hidden * s.c.model.moe.ffn_hidden);
        const double each = 8.0 / (double)ep * 3.0 * width, experts = LAYERS * each;
        const double others =
            transformer_parameters(&s.c.model, s.c.training.sequence) - experts * (double)ep;
        const double shards = others / (double)n + experts / (double)edp;
        const bool units = kind->gather == GATHER_UNITS;
        assert_true(fabs(held(p, TENANT_WEIGHTS) - 2.0 * (units ? shards : others + experts)) <=
                    64.0 * 2.0); /* an element of each row */
        assert_true(fabs(held(p, TENANT_MOMENTS) - 8.0 * shards) <= 64.0 * 8.0);
        const double layer = transformer_layer_parameters(&s.c.model, 1) - each * (double)ep;
        if (units)
            near(taken(p, "gathered weights"), 2.0 * (layer + (edp > 1 ? each : 0.0)));
        near(taken(p, "unsharded gradients"),
             s.c.training.precision->gradient_bytes * (layer + each));
        step_destroy(step);
    }
}

static uint32_t place_in(const struct layout *l, uint32_t rank, enum stream stream)
{
    const struct group g = layout_group(l, layout_group_of(l, rank, stream));
    uint32_t place = 0;
    while (layout_member(l, &g, place) != rank)
        place++;
    return place;
}

static bool together(const struct layout *l, uint32_t a, uint32_t b, enum stream stream)
{
    return layout_group_of(l, a, stream) == layout_group_of(l, b, stream);
}

/* Who shares the state of experts holds the same ones, in one shard group; who reduces across shard
 * groups holds the same shard of them in another. */
static void ranks_hold_the_same(void **state)
{
    unsigned alike = 0, across = 0;
    for (unsigned at = 0; at < KINDS * 3 * 2; at++) {
        const uint32_t wanted = 1u << STREAM_EP | 1u << STREAM_EP_DATA | 1u << STREAM_EP_REPLICATE |
                                1u << STREAM_GATHER;
        struct law_setup s;
        struct layout l;
        one_node(&s, kinds[at / 6], 2u << at % 3);
        if (at / 3 % 2 == 1) { /* the same ranks as pairs of tensor ranks */
            s.c.layout.tp = 2;
            s.c.layout.dp = 4;
            s.c.layout.data.shard_group = s.c.layout.data.sharding->hybrid ? 2 : 0;
            s.c.layout.sequence_parallel = true;
        }
        if (!configuration_legal(&s.c))
            continue;
        struct arena *arena = arena_create();
        layout_build(arena, &s.c, wanted, &l);
        for (uint32_t a = 0; a < l.rank_count; a++) {
            for (uint32_t b = a + 1; b < l.rank_count; b++) {
                const bool same = place_in(&l, a, STREAM_EP) == place_in(&l, b, STREAM_EP);
                const bool inside = a / 4 == b / 4 || !s.c.layout.data.sharding->hybrid;
                const bool shares = together(&l, a, b, STREAM_EP_DATA);
                const bool reduces = together(&l, a, b, STREAM_EP_REPLICATE);
                assert_true(shares == (same && inside));
                assert_true(!reduces ||
                            (same && !shares &&
                             place_in(&l, a, STREAM_EP_DATA) == place_in(&l, b, STREAM_EP_DATA)));
                alike += shares;
                across += reduces;
            }
        }
        arena_destroy(arena);
    }
    assert_true(alike > 0 && across > 0);
}

static void shards_fold(void **state)
{
    unsigned played = 0, apart = 0, across = 0;
    const struct step_options folded = {.threads = 1}, unfolded = {.unfold = true, .threads = 1};
    for (unsigned at = 0; at < 36 * 4 * 6 * 3; at++) {
        struct law_case k = {.level = {[LAW_GPUS] = (uint8_t)(at % 3),
                                       [LAW_TP] = (uint8_t)(at / 6 % 2),
                                       [LAW_DP] = (uint8_t)(1 + at / 3 % 2),
                                       [LAW_CP] = (uint8_t)(at / 72 % 2),
                                       [LAW_PP] = (uint8_t)(at / 18 % 2),
                                       [LAW_SCHEDULE] = 1,
                                       [LAW_SHARDING] = (uint8_t)(at / 144 % 6),
                                       [LAW_RECOMPUTE] = (uint8_t)(at / 5 % 3),
                                       [LAW_SOFTWARE] = (uint8_t)(at / 864),
                                       [LAW_TROUBLE] = (uint8_t)(at / 2 % 4)}};
        struct law_setup s;
        struct error error = {""};
        struct step *a, *b;
        if (!law_configure(&k, RANK_MAX, &s))
            continue;
        give_experts(&s.c, 1u << at / 4 % 4);
        s.c.software.shards.buffers = at % 2 == 1;
        const uint64_t replicas = configuration_replicas(&s.c);
        const bool halves = s.c.layout.data.sharding->hybrid && replicas % 2 == 0;
        s.c.layout.data.shard_group = halves ? replicas / 2 : 0;
        s.c.software.shards.weights_are_master = at % 5 == 0;
        if (!configuration_legal(&s.c))
            continue;
        assert_true(step_run(&s.c, &folded, &a, &error));
        assert_true(step_run(&s.c, &unfolded, &b, &error));
        if (a->digest != b->digest || a->step_s != b->step_s)
            fail_msg("case %u: %.17g s folded, %.17g s not", at, a->step_s, b->step_s);
        double sum_s = 0.0, tenants = 0.0;
        for (unsigned part = 0; part < PART_COUNT; part++)
            sum_s += a->parts.breakdown_s[part];
        assert_true(fabs(sum_s / a->step_s - 1.0) < 1e-9);
        for (unsigned t = 0; t < TENANT_COUNT; t++)
            tenants += a->memory[0].ledger.tenants[t];
        assert_true(fabs(tenants / a->memory[0].ledger.peak_reserved_bytes - 1.0) < 1e-9);
        assert_true(a->peak.allocated_bytes == b->peak.allocated_bytes);
        apart += s.c.layout.ep > 1 && s.c.layout.data.sharding->shards_gradients;
        across += s.c.layout.ep > 1 && halves;
        played++;
        step_destroy(a);
        step_destroy(b);
    }
    print_message("%u layouts, %u of them shard experts that are apart, %u with copies\n", played,
                  apart, across);
    assert_true(played > 100 && apart > 40 && across > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traffic_is_closed_form),
        cmocka_unit_test(state_is_shared_by_its_own_ranks),
        cmocka_unit_test(ranks_hold_the_same),
        cmocka_unit_test(shards_fold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
