/* Symmetry on real clusters: folded and unfolded give the same times, bit for bit, for every node
 * and fabric kind, several layouts, with and without what breaks the symmetry; classes are as many
 * as the reasoning beside each case says; planted faults in the folded structure are seen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/worker.h"
#include "sim/units.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

struct shape {
    const char *node, *fabric;
    uint64_t nodes, gpus, tp, pp, dp;
    const char *order;
    int placement;
    double ecmp, oversubscription;
    double bridged; /* of a pcie node; 0: none */
};
struct play {
    struct sim *sim;
    struct configuration c;
    struct topology topology;
    struct layout layout;
    struct lowered lowered;
    struct symmetry symmetry;
    struct worker *worker;
};

static void set_options(const struct topology_kind *kind, struct kind_options *options,
                        const struct shape *shape)
{
    for (unsigned i = 0; i < kind->head.options.count; i++) {
        const struct param *p = &kind->head.options.rows[i];
        double value = p->fallback == NULL ? (double)shape->nodes : strtod(p->fallback, NULL);
        if (strcmp(p->name, "ecmp") == 0)
            value = shape->ecmp;
        else if (strcmp(p->name, "oversubscription") == 0)
            value = shape->oversubscription;
        else if (strcmp(p->name, "nodes_per_leaf") == 0)
            value = 2.0;
        else if (strcmp(p->name, "radix") == 0)
            value = 8.0;
        else if (strcmp(p->name, "gpus_per_switch") == 0)
            value = 2.0;
        else if (strcmp(p->name, "bridged") == 0 && shape->bridged > 0.0)
            value = shape->bridged;
        options->value[p->offset] = value;
    }
}

static void configure(struct configuration *c, const struct shape *shape)
{
    memset(c, 0, sizeof *c);
    struct node_spec *node = &c->cluster.node;
    struct fabric_spec *fabric = &c->cluster.fabric;
    const bool island = strcmp(shape->node, "nvlink_island") == 0;
    c->cluster.nodes = shape->nodes;
    node->kind = topology_find(TOPOLOGY_NODE, shape->node);
    fabric->kind = topology_find(TOPOLOGY_FABRIC, shape->fabric);
    assert_non_null(node->kind);
    assert_non_null(fabric->kind);
    set_options(node->kind, &node->options, shape);
    set_options(fabric->kind, &fabric->options, shape);
    node->gpus = shape->gpus;
    node->nvlink.bytes_per_s = island || shape->bridged > 0.0 ? 400 * GIGA : 0.0;
    node->nvlink.latency_s = MICROSECOND;
    node->nvlink.nvls = island;
    node->nvlink.nvls_ratio = 0.75;
    node->nvlink.nvls_channels = 16;
    node->nvlink.exchange_ratio = 0.77;
    node->collective_start_s = 16 * MICROSECOND;
    node->pcie.bytes_per_s = 25 * GIGA;
    node->pcie.latency_s = 2 * MICROSECOND;
    node->pcie.host_bytes_per_s = 40 * GIGA;
    node->nic.count = strcmp(shape->fabric, "torus") == 0 ? 1 : shape->gpus;
    node->nic.bytes_per_s = 50 * GIGA;
    node->nic.efficiency_ratio = 0.9;
    node->nic.latency_s = 2 * MICROSECOND;
    fabric->efficiency_ratio = 1.0;
    fabric->switch_latency_s = MICROSECOND;
    c->layout = (struct layout_spec){.tp = shape->tp,
                                     .pp = shape->pp,
                                     .dp = shape->dp,
                                     .cp = 1,
                                     .pipeline.vpp = 1,
                                     .microbatch = 1,
                                     .order = shape->order,
                                     .placement = shape->placement,
                                     .pipeline.schedule = schedule_find("1f1b"),
                                     .data.sharding = sharding_find("zero-0")};
    c->training.global_batch = 4 * shape->dp;
}

enum {
    MICROBATCHES = 4,
    LAYERS = 2
};

static uint32_t emit(struct program_writer *w, enum op_kind kind, enum stream stream, uint32_t row,
                     uint32_t wait)
{
    return program_op(w, (struct op){.kind = (uint8_t)kind,
                                     .stream = (uint8_t)stream,
                                     .cost = row,
                                     .wait = {wait, OP_NONE},
                                     .flags = kind == OP_COMPUTE ? OP_SENSITIVE : 0});
}

/* GPipe with tensor-parallel collectives, messages, an overlapped gradient all-reduce that slows
 * compute, and a norm over the replica; sizes that take every protocol. */
static struct program *write_stage(struct arena *arena, const struct shape *shape, uint32_t stage)
{
    struct program_writer *w = program_begin(arena, stage);
    program_name(w, "op");
    program_host(w, 3 * MICROSECOND);
    const struct op_cost forward = {.gpu_s = (1.0 + stage) * MILLISECOND};
    const uint32_t cost = program_cost(w, &forward, NULL, 0);
    const uint32_t reduce = program_transfer(w, COMM_ALL_REDUCE, 30 * MEGA);
    const uint32_t scatter = program_transfer(w, COMM_REDUCE_SCATTER, 20 * KILO);
    const uint32_t message = program_transfer(w, COMM_SEND, 10 * MEGA);
    const uint32_t gradients = program_transfer(w, COMM_ALL_REDUCE, 200 * MEGA);
    const uint32_t norm = program_transfer(w, COMM_ALL_REDUCE, 4.0);
    const bool first = stage == 0, last = stage + 1 == shape->pp;
    uint32_t wait = OP_NONE;
    for (unsigned pass = 0; pass < 2 * MICROBATCHES; pass++) {
        const bool ahead = pass < MICROBATCHES;
        if (ahead ? !first : !last) {
            const enum stream from = ahead ? STREAM_RECV_PREV : STREAM_RECV_NEXT;
            wait = emit(w, OP_RECV, from, message, OP_NONE);
        }
        for (unsigned layer = 0; layer < LAYERS; layer++) {
            wait = emit(w, OP_COMPUTE, STREAM_COMPUTE, cost, wait);
            if (shape->tp > 1)
                wait = emit(w, OP_COLLECTIVE, STREAM_TP, layer % 2 ? scatter : reduce, wait);
            if (!ahead && shape->dp > 1 && pass + 1 == 2 * MICROBATCHES)
                emit(w, OP_COLLECTIVE, STREAM_DP, gradients, wait);
        }
        if (ahead ? !last : !first)
            emit(w, OP_SEND, ahead ? STREAM_SEND_NEXT : STREAM_SEND_PREV, message, wait);
    }
    wait = emit(w, OP_COLLECTIVE, STREAM_WORLD, norm, wait);
    emit(w, OP_COMPUTE, STREAM_COMPUTE, cost, wait);
    struct program *program = program_end(w);
    program->interference.streams = 1u << STREAM_DP;
    program->interference.ratio = 0.25;
    return program;
}

static void prepare(struct play *p, const struct shape *shape, struct perturbation *perturbation)
{
    memset(p, 0, sizeof *p);
    p->sim = sim_create(1);
    struct arena *arena = sim_arena(p->sim);
    configure(&p->c, shape);
    struct error error;
    if (!topology_build(arena, &p->c.cluster, &p->topology, &error)) {
        print_message("%s\n", error.text);
        fail();
    }
    if (perturbation != NULL) {
        p->c.perturbations = perturbation;
        p->c.perturbation_count = 1;
        if (perturbation->what == PERTURB_LINK) {
            topology_degrade(&p->topology, (uint32_t)perturbation->gpu,
                             (enum link_kind)perturbation->link, perturbation->ratio);
        }
    }
    struct lowered *l = &p->lowered;
    l->program_count = (uint32_t)shape->pp;
    l->programs = ARENA_ARRAY(arena, struct program *, shape->pp);
    for (uint32_t s = 0; s < shape->pp; s++) {
        l->programs[s] = write_stage(arena, shape, s);
        for (uint32_t i = 0; i < l->programs[s]->op_count; i++)
            l->streams |= 1u << l->programs[s]->ops[i].stream;
    }
    l->rank_count = (uint32_t)configuration_ranks(&p->c);
    l->program_of_rank = ARENA_ARRAY(arena, uint32_t, l->rank_count);
    for (uint32_t r = 0; r < l->rank_count; r++)
        l->program_of_rank[r] = layout_coordinates(&p->c, r).pp;
    layout_build(arena, &p->c, l->streams & ~(1u << STREAM_COMPUTE), &p->layout);
}

static void fold(struct play *p, bool unfold)
{
    symmetry_build(sim_arena(p->sim),
                   &(struct symmetry_input){&p->c, &p->topology, &p->layout, &p->lowered}, unfold,
                   &p->symmetry);
}

static void run(struct play *p)
{
    const struct worker_options options = {.jitter_sigma = 0.0};
    p->worker = worker_create(p->sim, &p->symmetry, &p->lowered, &p->layout, &options);
    worker_start(p->worker);
    sim_run(p->sim);
}

static bool same_times(const struct play *a, const struct play *b)
{
    for (uint32_t r = 0; r < a->lowered.rank_count; r++) {
        const struct program *program = a->lowered.programs[a->lowered.program_of_rank[r]];
        for (uint32_t i = 0; i < program->op_count; i++) {
            const struct op_times x = worker_times(a->worker, a->symmetry.class_of_rank[r], i);
            const struct op_times y = worker_times(b->worker, b->symmetry.class_of_rank[r], i);
            if (x.post_s != y.post_s || x.begin_s != y.begin_s || x.finish_s != y.finish_s)
                return false;
        }
    }
    return true;
}

/* Every link carries in the unfolded run what its class carries in the folded one. */
static void same_loads(const struct play *folded, const struct play *unfolded)
{
    const struct network *f = worker_network(folded->worker);
    const struct network *u = worker_network(unfolded->worker);
    double folded_bytes = 0.0, unfolded_bytes = 0.0;
    for (uint32_t l = 0; l < folded->symmetry.link_class_count; l++)
        folded_bytes += folded->symmetry.links[l].link_count * network_link_bytes(f, l);
    for (uint32_t l = 0; l < unfolded->symmetry.link_class_count; l++)
        unfolded_bytes += network_link_bytes(u, l);
    assert_true(fabs(folded_bytes - unfolded_bytes) <= 1e-9 * unfolded_bytes);
    assert_true(network_moved_bytes(f) == network_moved_bytes(u));
    assert_true(network_moved_bytes(u) == network_posted_bytes(u));
}

/* Returns the number of rank classes. */
static uint32_t folded_equals_unfolded(const struct shape *shape, struct perturbation *perturbation)
{
    struct play folded, unfolded;
    prepare(&folded, shape, perturbation);
    prepare(&unfolded, shape, perturbation);
    fold(&folded, false);
    fold(&unfolded, true);
    assert_int_equal(unfolded.symmetry.rank_class_count, unfolded.lowered.rank_count);
    run(&folded);
    run(&unfolded);
    assert_true(same_times(&folded, &unfolded));
    same_loads(&folded, &unfolded);
    const uint32_t classes = folded.symmetry.rank_class_count;
    sim_destroy(folded.sim);
    sim_destroy(unfolded.sim);
    return classes;
}

static const struct shape shapes[] = {
    {"nvlink_island", "none", 1, 8, 4, 2, 1, "tp-cp-dp-pp", PLACEMENT_PACKED, 0, 1, 0},
    {"nvlink_island", "rail", 4, 4, 4, 2, 2, "tp-cp-dp-pp", PLACEMENT_PACKED, 0, 1, 0},
    {"nvlink_island", "rail", 8, 2, 2, 2, 4, "tp-cp-dp-pp", PLACEMENT_PACKED, 1, 2, 0},
    {"nvlink_island", "rail", 4, 4, 8, 1, 2, "tp-cp-dp-pp", PLACEMENT_PACKED, 0, 1, 0},
    {"nvlink_island", "fat_tree", 8, 2, 2, 4, 2, "tp-cp-pp-dp", PLACEMENT_PACKED, 0, 2, 0},
    {"nvlink_island", "fat_tree", 8, 2, 2, 4, 2, "tp-cp-pp-dp", PLACEMENT_PACKED, 1, 1, 0},
    {"nvlink_island", "fat_tree", 8, 2, 2, 2, 4, "tp-cp-dp-pp", PLACEMENT_SCATTERED, 0, 4, 0},
    {"nvlink_island", "torus", 4, 2, 2, 2, 2, "tp-cp-dp-pp", PLACEMENT_PACKED, 0, 1, 0},
    {"nvlink_island", "dragonfly", 8, 2, 2, 2, 4, "tp-cp-dp-pp", PLACEMENT_PACKED, 0, 1, 0},
    {"pcie", "fat_tree", 4, 4, 2, 2, 4, "tp-cp-dp-pp", PLACEMENT_PACKED, 0, 2, 0},
    {"pcie", "rail", 4, 4, 4, 4, 1, "dp-tp-cp-pp", PLACEMENT_SCATTERED, 0, 1, 0},
    {"pcie", "none", 1, 4, 2, 2, 1, "tp-cp-dp-pp", PLACEMENT_PACKED, 0, 1, 2},
    {"pcie", "none", 1, 8, 4, 1, 2, "tp-cp-dp-pp", PLACEMENT_PACKED, 0, 1, 4},
    {"pcie", "rail", 4, 4, 2, 2, 4, "tp-cp-dp-pp", PLACEMENT_PACKED, 0, 1, 2},
    {"pcie", "fat_tree", 4, 4, 4, 2, 2, "tp-cp-dp-pp", PLACEMENT_PACKED, 0, 2, 2},
};

static void every_cluster_folds(void **state)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const uint32_t gpus = (uint32_t)(shapes[i].nodes * shapes[i].gpus);
        const int cable = shapes[i].nodes > 1 ? LINK_NIC : LINK_NVLINK;
        struct perturbation slow = {.what = PERTURB_GPU_SPEED, .gpu = gpus / 2, .ratio = 0.75};
        struct perturbation degraded = {
            .what = PERTURB_LINK, .gpu = 1, .ratio = 0.5, .link = cable};
        const uint32_t classes = folded_equals_unfolded(&shapes[i], NULL);
        assert_true(classes <= gpus);
        assert_true(folded_equals_unfolded(&shapes[i], &slow) >= classes);
        assert_true(folded_equals_unfolded(&shapes[i], &degraded) >= classes);
    }
}

/* Eight replicas, one or two to a node, and what sets some of them apart: a slow card or a narrow
 * link in one, leaves between which latencies differ, a norm whose tree is not the same for all. */
static void replicas_that_differ_fold(void **state)
{
    static const struct shape many[] = {
        {"nvlink_island", "rail", 16, 2, 2, 2, 8, "tp-cp-dp-pp", PLACEMENT_PACKED, 0, 1, 0},
        {"nvlink_island", "rail", 16, 2, 2, 2, 8, "tp-cp-pp-dp", PLACEMENT_PACKED, 0, 1, 0},
        {"nvlink_island", "rail", 8, 4, 2, 2, 8, "tp-cp-dp-pp", PLACEMENT_PACKED, 0, 1, 0},
        {"nvlink_island", "rail", 12, 4, 2, 2, 12, "tp-cp-dp-pp", PLACEMENT_PACKED, 0, 1, 0},
        {"pcie", "fat_tree", 16, 2, 2, 2, 8, "tp-cp-dp-pp", PLACEMENT_PACKED, 0, 1, 0},
        {"nvlink_island", "fat_tree", 16, 2, 2, 2, 8, "dp-tp-cp-pp", PLACEMENT_SCATTERED, 0, 1, 0},
        {"nvlink_island", "fat_tree", 8, 2, 1, 2, 8, "dp-tp-cp-pp", PLACEMENT_PACKED, 0, 2, 0},
    };
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++) {
        const uint32_t gpus = (uint32_t)(many[i].nodes * many[i].gpus);
        const uint32_t classes = folded_equals_unfolded(&many[i], NULL);
        for (uint32_t gpu = 0; gpu < gpus; gpu += gpus / 4 - 1) {
            struct perturbation slow = {.what = PERTURB_GPU_SPEED, .gpu = gpu, .ratio = 0.75};
            struct perturbation narrow = {
                .what = PERTURB_LINK, .gpu = gpu, .ratio = 0.5, .link = LINK_NIC};
            assert_true(folded_equals_unfolded(&many[i], &slow) >= classes);
            assert_true(folded_equals_unfolded(&many[i], &narrow) >= classes);
        }
    }
}

/* What is kept for a rank while classes are found: bounded where replicas are alike. */
static void alike_replicas_take_little_memory(void **state)
{
    struct shape shape = {"nvlink_island", "rail",           512, 8, 8, 4, 128,
                          "tp-cp-dp-pp",   PLACEMENT_PACKED, 0,   1, 0};
    struct play p;
    double bytes[2];
    for (unsigned unfold = 0; unfold < 2; unfold++) {
        struct arena *arena = arena_create();
        prepare(&p, &shape, NULL);
        symmetry_build(arena, &(struct symmetry_input){&p.c, &p.topology, &p.layout, &p.lowered},
                       unfold == 1, &p.symmetry);
        bytes[unfold] = (double)arena_bytes(arena) / p.layout.rank_count;
        arena_destroy(arena);
        sim_destroy(p.sim);
    }
    print_message("bytes a rank: %.0f folded, %.0f unfolded\n", bytes[0], bytes[1]);
    assert_true(bytes[0] < 700.0);
    assert_true(bytes[0] < 0.5 * bytes[1]);
}

/* Two nodes of two GPUs. tp 2 x dp 2: all four ranks are alike; a slow rank 0 sets apart itself,
 * its tp peer, its dp peer, and the fourth, which is the peer of both peers: 4. tp 2 x pp 2: two
 * stages, so 2; a slow rank 0 splits each stage into the rank that pairs with it and the other: 4.
 */
static void classes_are_as_few_as_they_must(void **state)
{
    struct shape shape = {"nvlink_island", "fat_tree",       2, 2, 2, 1, 2,
                          "tp-cp-dp-pp",   PLACEMENT_PACKED, 0, 1, 0};
    struct perturbation slow = {.what = PERTURB_GPU_SPEED, .gpu = 0, .ratio = 0.5};
    assert_int_equal(folded_equals_unfolded(&shape, NULL), 1);
    assert_int_equal(folded_equals_unfolded(&shape, &slow), 4);
    shape.pp = 2;
    shape.dp = 1;
    assert_int_equal(folded_equals_unfolded(&shape, NULL), 2);
    assert_int_equal(folded_equals_unfolded(&shape, &slow), 4);
}

/* Faults planted in the folded structure change times: the comparison can fail. */
static void planted_faults_are_seen(void **state)
{
    enum {
        SPEED,
        WEIGHT,
        CAPACITY,
        CEILING,
        LATENCY,
        FAULTS
    };
    for (int fault = 0; fault < FAULTS; fault++) {
        const struct shape *shape = &shapes[6]; /* four to one oversubscribed, scattered */
        struct play folded, unfolded;
        prepare(&folded, shape, NULL);
        prepare(&unfolded, shape, NULL);
        fold(&folded, false);
        fold(&unfolded, true);
        struct symmetry *y = &folded.symmetry;
        for (uint32_t i = 0; fault == WEIGHT && i < y->use_count; i++)
            y->uses[i].weight *= 2.0;
        for (uint32_t i = 0; fault == CAPACITY && i < y->link_class_count; i++)
            y->links[i].bytes_per_s /= 2.0;
        for (uint32_t i = 0; i < y->plan_count; i++) {
            y->plans[i].latency_s *= fault == LATENCY ? 1.01 : 1.0;
            y->plans[i].cap_bytes_per_s *= fault == CEILING ? 0.5 : 1.0;
        }
        y->ranks[0].speed_ratio = fault == SPEED ? 0.99 : 1.0;
        run(&folded);
        run(&unfolded);
        assert_false(same_times(&folded, &unfolded));
        sim_destroy(folded.sim);
        sim_destroy(unfolded.sim);
    }
}

/* Largest relative difference of any finish. */
static double worst_difference(const struct play *a, const struct play *b)
{
    double worst = 0.0;
    for (uint32_t r = 0; r < a->lowered.rank_count; r++) {
        const struct program *program = a->lowered.programs[a->lowered.program_of_rank[r]];
        for (uint32_t i = 0; i < program->op_count; i++) {
            const double x = worker_times(a->worker, a->symmetry.class_of_rank[r], i).finish_s;
            const double y = worker_times(b->worker, b->symmetry.class_of_rank[r], i).finish_s;
            worst = fmax(worst, fabs(x - y) / fmax(x, y));
        }
    }
    return worst;
}

/* Links that a group has to itself are ceilings. Given to the shares after all (their rows follow
 * the shared ones) they change no time; and shared links taken for own ones would. */
static void own_links_are_never_contended(void **state)
{
    bool fault_seen = false;
    unsigned shapes_with_own = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct play plain, shared, fault;
        uint32_t own_count = 0;
        prepare(&plain, &shapes[i], NULL);
        prepare(&shared, &shapes[i], NULL);
        prepare(&fault, &shapes[i], NULL);
        fold(&plain, false);
        fold(&shared, false);
        fold(&fault, false);
        for (uint32_t k = 0; k < plain.symmetry.plan_count; k++) {
            struct played_plan *s = &shared.symmetry.plans[k], *f = &fault.symmetry.plans[k];
            own_count += s->own_count;
            assert_true(s->own_count == 0 || s->own_first == s->use_first + s->use_count);
            s->use_count += s->own_count;
            s->own_count = 0;
            for (uint32_t u = f->use_first; u < f->use_first + f->use_count; u++) {
                const struct share_use *use = &fault.symmetry.uses[u];
                f->cap_bytes_per_s =
                    fmin(f->cap_bytes_per_s, fault.symmetry.links[use->link].bytes_per_s /
                                                 (f->wire_weight * use->weight));
            }
            f->use_count = 0;
        }
        shapes_with_own += own_count > 0;
        run(&plain);
        run(&shared);
        run(&fault);
        assert_true(worst_difference(&plain, &shared) < 1e-9);
        assert_true(sim_event_count(plain.sim) <= sim_event_count(shared.sim));
        fault_seen = fault_seen || worst_difference(&plain, &fault) > 1e-3;
        sim_destroy(plain.sim);
        sim_destroy(shared.sim);
        sim_destroy(fault.sim);
    }
    assert_true(fault_seen);
    assert_true(shapes_with_own >= 4);
}

/* With jitter every rank is its own class, whatever was asked. */
static void jitter_unfolds(void **state)
{
    struct play play;
    prepare(&play, &shapes[1], NULL);
    play.c.kernel_jitter_sigma = 0.1;
    fold(&play, false);
    assert_int_equal(play.symmetry.rank_class_count, play.lowered.rank_count);
    sim_destroy(play.sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cluster_folds),
        cmocka_unit_test(replicas_that_differ_fold),
        cmocka_unit_test(alike_replicas_take_little_memory),
        cmocka_unit_test(classes_are_as_few_as_they_must),
        cmocka_unit_test(planted_faults_are_seen),
        cmocka_unit_test(own_links_are_never_contended),
        cmocka_unit_test(jitter_unfolds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
