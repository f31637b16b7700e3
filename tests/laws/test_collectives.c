/* Law: a collective alone takes latency + bytes / min(ceiling, wires), to 1e-12, for every kind and
 * operation on every node kind and fabric kind; two on the same wires take the doubled wire time.
 * First with algorithm and protocol given, then as symmetry and tuner choose them. */
#include <math.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/units.h"
#include "tests/laws/law_cluster.h"
#include "tests/laws/law_lone.h"
#include "tests/laws/law_play.h"
#include "tests/test.h"

enum {
    NODES_MAX = 4,
    GPU_COUNTS = 3,
    GPUS_MAX = 4
};
static const unsigned gpu_counts[GPU_COUNTS] = {1, 2, GPUS_MAX};
static const double relative = 1e-12;

static bool is_close(double value, double expected)
{
    return fabs(value - expected) <= relative * expected;
}

static double alone_s(const struct collective_plan *plan, double bytes, double wires_bytes_per_s)
{
    return plan->latency_s + bytes / fmin(plan->cap_bytes_per_s, wires_bytes_per_s);
}

typedef void cluster_fn(const struct topology *topology, void *context);
/* Every node kind x fabric kind x variant x small counts; returns how many could be built. */
static unsigned each_cluster(cluster_fn *visit, void *context)
{
    unsigned count = 0;
    const unsigned fabrics = law_kind_count(TOPOLOGY_FABRIC);
    const unsigned kinds = law_kind_count(TOPOLOGY_NODE) * fabrics;
    for (unsigned i = 0; i < kinds * LAW_VARIANT_COUNT * NODES_MAX * GPU_COUNTS; i++) {
        const unsigned gpus = gpu_counts[i % GPU_COUNTS], nodes = i / GPU_COUNTS % NODES_MAX + 1;
        const unsigned variant = i / GPU_COUNTS / NODES_MAX % LAW_VARIANT_COUNT;
        const unsigned kind = i / GPU_COUNTS / NODES_MAX / LAW_VARIANT_COUNT;
        struct topology_spec spec;
        if (!law_cluster(&spec, law_kind(TOPOLOGY_NODE, kind / fabrics),
                         law_kind(TOPOLOGY_FABRIC, kind % fabrics), nodes, gpus,
                         (enum law_variant)variant))
            continue;
        struct arena *arena = arena_create();
        struct topology topology;
        struct error error;
        assert_true(topology_build(arena, &spec, &topology, &error));
        visit(&topology, context);
        arena_destroy(arena);
        count++;
    }
    return count;
}

/* Members: all GPUs; the first of each node; or all but the last (uneven over nodes). */
enum {
    MEMBERSHIP_COUNT = 3
};
static uint32_t members_of(const struct topology *t, unsigned membership, uint32_t *gpus)
{
    uint32_t count = 0;
    for (uint32_t gpu = 0; gpu < t->gpu_count; gpu++) {
        const bool first = gpu % t->gpus_per_node == 0, last = gpu + 1 == t->gpu_count;
        if (membership == 0 || (membership == 1 && first) || (membership == 2 && !last))
            gpus[count++] = gpu;
    }
    return count;
}

struct census { /* what has been played */
    unsigned of_kind[16], halved, total;
};

static void play_alone(const struct topology *t, const struct law_activity *activity,
                       struct census *census, unsigned kind)
{
    struct law_lone l;
    law_lone_begin(&l, t);
    if (law_lone_add(&l, activity)) {
        law_lone_run(&l);
        /* A link that is left out of the sharing could not have bound (2^-24: weights are rounded).
         */
        assert_true(l.wires[0].any_bytes_per_s >=
                    l.wires[0].binding_bytes_per_s * (1.0 - 1.0 / (1 << 20)));
        const double expected_s =
            alone_s(&l.plan[0], activity->bytes, l.wires[0].binding_bytes_per_s);
        assert_true(is_close(law_lone_finish_s(&l, 0), expected_s));
        assert_int_equal(network_activity_count(l.network), 1);
        assert_int_equal(sim_event_count(l.sim), l.symmetry.plans[0].use_count > 0 ? 2 : 0);
        assert_true(network_moved_bytes(l.network) == activity->bytes);
        census->of_kind[kind]++;
    }
    law_lone_end(&l);
}

/* Two of the same at once: each gets half of every wire, or its ceiling where that is less. */
static void play_twice(const struct topology *t, const struct law_activity *activity,
                       struct census *census)
{
    struct law_lone l;
    law_lone_begin(&l, t);
    if (law_lone_add(&l, activity) && law_lone_add(&l, activity)) {
        law_lone_run(&l);
        const double half = l.wires[0].binding_bytes_per_s / 2.0;
        const double expected_s = alone_s(&l.plan[0], activity->bytes, half);
        assert_true(is_close(law_lone_finish_s(&l, 0), expected_s));
        assert_true(is_close(law_lone_finish_s(&l, 1), expected_s));
        census->halved += half * 2.0 <= l.plan[0].cap_bytes_per_s;
    }
    law_lone_end(&l);
}

static void visit_given(const struct topology *t, void *context)
{
    struct census *census = context;
    uint32_t gpus[NODES_MAX * GPUS_MAX];
    static const double sizes[] = {4 * KIB, 64 * MIB};
    for (unsigned membership = 0; membership < MEMBERSHIP_COUNT; membership++) {
        const uint32_t count = members_of(t, membership, gpus);
        for (unsigned i = 0; count > 1 && i < collective_kind_count * PROTOCOL_COUNT * 2; i++) {
            const unsigned kind = i / 2 / PROTOCOL_COUNT;
            for (int op = 0; comm_op_names[op] != NULL; op++) {
                const struct law_activity activity = {
                    .kind = collective_kinds[kind],
                    .op = (enum comm_op)op,
                    .protocol = (enum protocol)(i / 2 % PROTOCOL_COUNT),
                    .bytes = sizes[i % 2],
                    .gpus = gpus,
                    .gpu_count = op == COMM_SEND ? 2 : count,
                };
                play_alone(t, &activity, census, kind);
                if (activity.bytes > MIB)
                    play_twice(t, &activity, census);
            }
        }
    }
    census->total++;
}

static void given_algorithms_take_their_closed_form(void **state)
{
    struct census census = {0};
    assert_true(collective_kind_count <= sizeof census.of_kind / sizeof census.of_kind[0]);
    each_cluster(visit_given, &census);
    for (unsigned k = 0; k < collective_kind_count; k++)
        assert_true(census.of_kind[k] > 0);
    assert_true(census.halved > 0);
    assert_true(census.total >= law_kind_count(TOPOLOGY_NODE) * law_kind_count(TOPOLOGY_FABRIC));
}

/* Messages of S and 2 S bytes from one GPU to another, without ceiling or latency: the rate is
 * halved while both move, so they end at 2 S / rate and 3 S / rate. */
static void visit_flows(const struct topology *t, void *context)
{
    if (t->gpu_count < 2)
        return;
    const uint32_t gpus[] = {0, t->gpu_count - 1};
    const double bytes = 256 * MIB;
    struct law_activity activity = {.kind = &collective_p2p,
                                    .op = COMM_SEND,
                                    .protocol = PROTOCOL_SIMPLE,
                                    .bytes = bytes,
                                    .gpus = gpus,
                                    .gpu_count = 2};
    struct law_lone l;
    law_lone_begin(&l, t);
    assert_true(law_lone_add(&l, &activity));
    activity.bytes = 2.0 * bytes;
    assert_true(law_lone_add(&l, &activity));
    for (unsigned n = 0; n < 2; n++) {
        l.symmetry.plans[n].cap_bytes_per_s = INFINITY;
        l.symmetry.plans[n].latency_s = 0.0;
    }
    law_lone_run(&l);
    const double unit_s = bytes / l.wires[0].binding_bytes_per_s;
    assert_true(is_close(law_lone_finish_s(&l, 0), 2.0 * unit_s));
    assert_true(is_close(law_lone_finish_s(&l, 1), 3.0 * unit_s));
    assert_int_equal(sim_event_count(l.sim), 4);
    law_lone_end(&l);
    ++*(unsigned *)context;
}

static void two_flows_on_one_link_halve(void **state)
{
    unsigned count = 0;
    each_cluster(visit_flows, &count);
    assert_true(count > 0);
}

static const double tuned_bytes[] = {8 * KIB, 1 * MIB, 512 * MIB};
enum {
    TUNED_SIZES = 3
};

/* Every collective at every size, one after the other, between short computes. */
static struct program *tuned_program(struct arena *arena)
{
    struct program_writer *w = program_begin(arena, 0);
    const struct op_cost cost = {.gpu_s = 1 * MICROSECOND};
    const uint32_t row = program_cost(w, &cost, NULL, 0), host = program_host(w, 0.0);
    const uint16_t name = (uint16_t)program_name(w, "op");
    uint32_t last = OP_NONE;
    for (unsigned i = 0; comm_op_names[i / TUNED_SIZES] != NULL; i++) {
        const enum comm_op what = (enum comm_op)(i / TUNED_SIZES);
        if (what == COMM_SEND || what == COMM_EXPERT_EXCHANGE)
            continue; /* not of replicas */
        last = program_op(w, (struct op){.kind = OP_COMPUTE,
                                         .stream = STREAM_COMPUTE,
                                         .cost = row,
                                         .wait = {last, OP_NONE},
                                         .name = name,
                                         .host = host});
        last = program_op(
            w, (struct op){.kind = OP_COLLECTIVE,
                           .stream = STREAM_DP,
                           .cost = program_transfer(w, what, tuned_bytes[i % TUNED_SIZES]),
                           .wait = {last, OP_NONE},
                           .name = name,
                           .host = host});
    }
    return program_end(w);
}

static void begin_tuned(struct law_play *p, struct configuration *c, const struct topology_spec *s)
{
    *c = (struct configuration){.name = "tuned", .cluster = *s};
    c->layout = (struct layout_spec){.tp = 1,
                                     .pp = 1,
                                     .dp = s->nodes * s->node.gpus,
                                     .cp = 1,
                                     .pipeline.vpp = 1,
                                     .microbatch = 1,
                                     .pipeline.schedule = schedule_kinds[0],
                                     .data.sharding = sharding_kinds[0],
                                     .order = "tp-cp-dp-pp"};
    law_begin(p, c);
    p->lowered = (struct lowered){.program_count = 1, .streams = 1u << STREAM_DP};
    p->lowered.rank_count = (uint32_t)c->layout.dp;
    p->lowered.programs = ARENA_ARRAY(p->arena, struct program *, 1);
    p->lowered.programs[0] = tuned_program(p->arena);
    p->lowered.program_of_rank = ARENA_ARRAY(p->arena, uint32_t, p->lowered.rank_count);
}

/* The time of the collective `op` of the program as the closed form has it. */
static double tuned_s(const struct law_play *p, const struct op *op)
{
    uint32_t gpus[NODES_MAX * GPUS_MAX];
    struct group_shape shape;
    struct collective_plan plan;
    const struct transfer *transfer = &p->lowered.programs[0]->transfers[op->cost];
    members_of(&p->topology, 0, gpus);
    collective_shape(&p->topology, gpus, p->topology.gpu_count, true, &shape);
    collective_tune(transfer->op, &shape, transfer->bytes, &plan);
    if (p->topology.gpu_count == 1)
        return 0.0;
    const struct law_activity activity = {.kind = plan.kind,
                                          .op = transfer->op,
                                          .gpus = gpus,
                                          .gpu_count = p->topology.gpu_count,
                                          .flow_seed = configuration_flow_seed(p->c, STREAM_DP)};
    double *load = ARENA_ARRAY(p->arena, double, p->topology.graph.link_count);
    const struct law_wires wires = law_wire_rate(&p->topology, &activity, &shape, load);
    return alone_s(&plan, transfer->bytes, wires.binding_bytes_per_s);
}

/* The largest relative departure of a collective's time from its closed form. */
static double tuned_error(const struct law_play *p)
{
    double worst = 0.0;
    const struct program *program = p->lowered.programs[0];
    for (uint32_t i = 0; i < program->op_count; i++) {
        if (program->ops[i].kind != OP_COLLECTIVE)
            continue;
        const double expected_s = tuned_s(p, &program->ops[i]);
        for (uint32_t rank = 0; rank < p->lowered.rank_count; rank++) {
            const struct op_times times = law_times(p, rank, i);
            const double off_s = fabs(times.finish_s - times.begin_s - expected_s);
            worst = fmax(worst, off_s / fmax(times.finish_s, expected_s));
        }
    }
    return worst;
}

static void visit_tuned(const struct topology *t, void *context)
{
    unsigned *played = context;
    for (unsigned unfold = 0; unfold < 2; unfold++) {
        struct law_play p;
        struct configuration c;
        begin_tuned(&p, &c, &t->spec);
        law_fold(&p, unfold == 1);
        law_run(&p);
        assert_true(tuned_error(&p) <= relative);
        law_end(&p);
    }
    ++*played;
}

static void tuned_collectives_take_their_closed_form(void **state)
{
    unsigned played = 0;
    each_cluster(visit_tuned, &played);
    assert_true(played > 0);
}

/* Planted: one wire forgotten, or a plan with a wrong latency. */
static void a_forgotten_wire_is_seen(void **state)
{
    struct topology_spec spec;
    assert_true(law_cluster(&spec, law_kind(TOPOLOGY_NODE, 0),
                            topology_find(TOPOLOGY_FABRIC, "rail"), 2, 2, LAW_DEFAULT));
    struct arena *arena = arena_create();
    struct topology topology;
    struct error error;
    assert_true(topology_build(arena, &spec, &topology, &error));
    const uint32_t gpus[] = {0, 2};
    const struct law_activity activity = {.kind = &collective_p2p,
                                          .op = COMM_SEND,
                                          .protocol = PROTOCOL_SIMPLE,
                                          .bytes = GIB,
                                          .gpus = gpus,
                                          .gpu_count = 2};
    struct law_lone l;
    law_lone_begin(&l, &topology);
    assert_true(law_lone_add(&l, &activity) && law_lone_add(&l, &activity));
    l.symmetry.plans[1].use_count = 0; /* the second crosses no wire */
    law_lone_run(&l);
    const double expected_s =
        alone_s(&l.plan[0], activity.bytes, l.wires[0].binding_bytes_per_s / 2.0);
    assert_false(is_close(law_lone_finish_s(&l, 0), expected_s));
    law_lone_end(&l);
    arena_destroy(arena);
}

static void a_wrong_plan_is_seen(void **state)
{
    struct topology_spec spec;
    assert_true(law_cluster(&spec, law_kind(TOPOLOGY_NODE, 0), law_kind(TOPOLOGY_FABRIC, 0), 1, 4,
                            LAW_DEFAULT));
    struct law_play p;
    struct configuration c;
    begin_tuned(&p, &c, &spec);
    law_fold(&p, false);
    p.symmetry.plans[p.symmetry.plan_count - 1].latency_s += 1 * NANOSECOND;
    law_run(&p);
    assert_true(tuned_error(&p) > relative);
    law_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_algorithms_take_their_closed_form),
        cmocka_unit_test(two_flows_on_one_link_halve),
        cmocka_unit_test(tuned_collectives_take_their_closed_form),
        cmocka_unit_test(a_forgotten_wire_is_seen),
        cmocka_unit_test(a_wrong_plan_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
