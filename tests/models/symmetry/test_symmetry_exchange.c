/* Links of an exchange among all pairs, found by ends, against a walk through the pairs. */
#include <math.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/symmetry/symmetry_state.h"
#include "sim/units.h"
#include "tests/laws/law_cluster.h"
#include "tests/models/step/task_case.h"
#include "tests/test.h"

enum {
    GPUS_MAX = 64,
    LINKS_MAX = 4096
};
struct pair_walk {
    uint32_t links[LINKS_MAX], count;
    uint32_t wires[LINKS_MAX]; /* [link id] */
};

static void walk_pairs(const struct topology *t, const struct exchange *e, struct pair_walk *out)
{
    *out = (struct pair_walk){.count = 0};
    for (uint32_t i = 0; i < e->count; i++)
        for (uint32_t j = 0; j < e->count; j++) {
            struct route route;
            if (i == j)
                continue;
            topology_route(t, e->gpus[i], e->gpus[j], 0, &route);
            for (uint32_t k = 0; k < route.link_count; k++) {
                const uint32_t link = route.links[k].value;
                const uint32_t node = graph_place_of(&t->graph, route.links[k]).node;
                if (!graph_link_type(&t->graph, route.links[k])->binding ||
                    (e->looked_at != NULL && !e->looked_at[node]))
                    continue;
                if (out->wires[link]++ == 0)
                    out->links[out->count++] = link;
            }
        }
}

struct told_links {
    const struct pair_walk *walk;
    uint32_t count;
};

static void compare(void *context, uint32_t link, uint32_t wires)
{
    struct told_links *told = context;
    assert_true(told->count < told->walk->count);
    assert_int_equal(told->walk->links[told->count++], link);
    assert_int_equal(told->walk->wires[link], wires);
}

/* All; the first of each node; all but the last; every third, so that nodes hold other places. */
static bool is_member(const struct topology *t, unsigned membership, uint32_t gpu)
{
    switch (membership) {
    case 0:
        return true;
    case 1:
        return gpu % t->gpus_per_node == 0;
    case 2:
        return gpu + 1 < t->gpu_count;
    default:
        return gpu % 3 == 1;
    }
}

static uint32_t check_members(struct arena *arena, const struct topology *t, unsigned membership,
                              const bool *looked_at)
{
    static struct pair_walk walk;
    uint32_t gpus[GPUS_MAX], nodes[GPUS_MAX], count = 0;
    for (uint32_t gpu = 0; gpu < t->gpu_count; gpu++)
        if (is_member(t, membership, gpu)) {
            nodes[count] = topology_node_of(t, gpu);
            gpus[count++] = gpu;
        }
    const struct exchange exchange = {gpus, nodes, count, looked_at};
    struct told_links told = {&walk, 0};
    walk_pairs(t, &exchange, &walk);
    symmetry_exchange(arena, t, &exchange, compare, &told);
    assert_int_equal(told.count, walk.count);
    return walk.count;
}

/* In what an arena has held before, too; with a worn link, whose likes of other nodes are not. */
static uint32_t check_cluster(const struct topology_spec *spec)
{
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    uint32_t links = 0;
    assert_true(topology_build(arena, spec, &t, &error));
    assert_true(t.gpu_count <= GPUS_MAX && t.graph.link_count <= LINKS_MAX);
    for (unsigned worn = 0; worn < 2; worn++) {
        bool looked_at[GPUS_MAX];
        for (uint32_t node = 0; node < t.node_count; node++)
            looked_at[node] = node % 2 == 1;
        if (worn == 1)
            topology_degrade(&t, t.gpu_count / 2, LINK_PCIE, 0.5);
        if (symmetry_fabric_binds(&t))
            break;
        for (unsigned membership = 0; membership < 4; membership++) {
            links += check_members(arena, &t, membership, NULL);
            check_members(arena, &t, membership, looked_at);
        }
    }
    arena_destroy(arena);
    return links;
}

static void test_links_by_ends_are_those_of_the_pairs(void **state)
{
    unsigned clusters = 0, shared_nics = 0;
    const struct topology_kind *node, *fabric;
    for (unsigned n = 0; (node = law_kind(TOPOLOGY_NODE, n)) != NULL; n++)
        for (unsigned f = 0; (fabric = law_kind(TOPOLOGY_FABRIC, f)) != NULL; f++)
            for (uint64_t nodes = 1; nodes <= 6; nodes++)
                for (uint64_t gpus = 1; gpus <= 8; gpus++)
                    for (uint64_t nics = 1; nics <= gpus; nics++) {
                        struct topology_spec spec;
                        struct error error;
                        if (!law_cluster(&spec, node, fabric, nodes, gpus, LAW_DEFAULT))
                            continue;
                        spec.node.nic.count = nics;
                        if (topology_check(&spec, &error) && check_cluster(&spec) > 0) {
                            clusters++;
                            shared_nics += nics < gpus;
                        }
                    }
    assert_true(clusters > 100 && shared_nics > 30);
}

/* An oversubscribed fabric binds, one as wide as its NICs does not. */
static void test_which_fabrics_bind(void **state)
{
    struct topology_spec spec;
    struct topology t;
    struct error error;
    const struct topology_kind *island = law_kind(TOPOLOGY_NODE, 0);
    for (unsigned tight = 0; tight < 2; tight++) {
        struct arena *arena = arena_create();
        assert_true(
            law_cluster(&spec, island, &topology_fat_tree, 6, 4, tight ? LAW_TIGHT : LAW_DEFAULT));
        assert_true(topology_build(arena, &spec, &t, &error));
        assert_int_equal(symmetry_fabric_binds(&t), tight);
        arena_destroy(arena);
    }
}

/* All ranks exchange once, as data parallel ranks. */
static void build_exchange(struct task_case *t, uint32_t ranks, bool unfold,
                           struct topology *topology, struct symmetry *out)
{
    struct error error;
    struct lowered lowered = {.rank_count = ranks, .program_count = 1, .streams = 1u << STREAM_DP};
    struct layout layout;
    struct program_writer *w = program_begin(t->arena, 0);
    program_op(w, (struct op){.kind = OP_COLLECTIVE,
                              .stream = STREAM_DP,
                              .cost = program_transfer(w, COMM_ALL_TO_ALL, 1 * GIB),
                              .host = program_host(w, 0.0),
                              .name = (uint16_t)program_name(w, "exchange"),
                              .microbatch = UINT16_MAX,
                              .layer = UINT16_MAX});
    lowered.programs = ARENA_ARRAY(t->arena, struct program *, 1);
    lowered.programs[0] = program_end(w);
    lowered.program_of_rank = ARENA_ARRAY(t->arena, uint32_t, ranks);
    t->c.layout = (struct layout_spec){.tp = 1,
                                       .cp = 1,
                                       .pp = 1,
                                       .dp = ranks,
                                       .pipeline.vpp = 1,
                                       .microbatch = 1,
                                       .pipeline.schedule = &schedule_one_f_one_b,
                                       .data.sharding = sharding_find("zero-0"),
                                       .placement = t->c.layout.placement,
                                       .order = "tp-cp-dp-pp"};
    assert_true(topology_build(t->arena, &t->c.cluster, topology, &error));
    layout_build(t->arena, &t->c, lowered.streams, &layout);
    symmetry_build(t->arena, &(struct symmetry_input){&t->c, topology, &layout, &lowered}, unfold,
                   out);
}

/* What one NIC carries of a member's payload: its n-ths for the members of other nodes. With GPUs
 * that share a NIC, for each of them. */
static void test_a_nic_carries_what_leaves_the_node(void **state)
{
    static const uint32_t rank_counts[] = {16, 24, 64};
    for (unsigned i = 0; i < 12; i++) {
        const uint32_t ranks = rank_counts[i / 4], share = i % 4 < 2 ? 1 : 4;
        const bool unfold = i % 2 == 1;
        struct task_case t;
        struct topology topology;
        struct symmetry y;
        unsigned met = 0;
        task_case_begin(&t, ranks);
        t.c.cluster.node.nic.count = 8 / share;
        build_exchange(&t, ranks, unfold, &topology, &y);
        const struct played_plan *plan = &y.plans[0];
        const double is = share * (ranks - 8.0) / ranks;
        for (uint32_t u = plan->own_first; u < plan->own_first + plan->own_count; u++) {
            const struct link_class *links = &y.links[y.uses[u].link];
            const struct link_id link = {links->representative};
            if (graph_link_type(&topology.graph, link)->kind != LINK_NIC)
                continue;
            assert_true(fabs(plan->wire_weight * y.uses[u].weight - is) < 1e-12);
            met += links->link_count;
        }
        assert_int_equal(y.plan_count, 1);
        assert_int_equal(plan->use_count, 0);
        assert_int_equal(met, 2 * ranks / share);
        task_case_end(&t);
    }
}

/* A leaf of 8 NICs under 4 uplinks binds: each trunk carries what leaves its leaf, and what comes.
 */
static void test_a_trunk_carries_what_leaves_the_leaf(void **state)
{
    struct task_case t;
    struct topology topology;
    struct symmetry y;
    unsigned met = 0;
    task_case_begin(&t, 24);
    t.c.cluster.fabric.kind = &topology_fat_tree; /* tiers as needed, ports, over, core, no hash */
    t.c.cluster.fabric.options = (struct kind_options){{0, 12, 2, 1, 0}};
    build_exchange(&t, 24, true, &topology, &y);
    const struct played_plan *plan = &y.plans[0];
    for (uint32_t u = plan->own_first; u < plan->own_first + plan->own_count; u++) {
        const struct link_id link = {y.links[y.uses[u].link].representative};
        if (graph_link_type(&topology.graph, link)->kind == LINK_FABRIC) {
            assert_true(fabs(plan->wire_weight * y.uses[u].weight - 8.0 * 16.0 / 24.0) < 1e-12);
            met++;
        }
    }
    assert_int_equal(met, 2 * 3);
    task_case_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links_by_ends_are_those_of_the_pairs),
        cmocka_unit_test(test_which_fabrics_bind),
        cmocka_unit_test(test_a_nic_carries_what_leaves_the_node),
        cmocka_unit_test(test_a_trunk_carries_what_leaves_the_leaf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
