/* The binding flag by brute force, the cross-section tier by tier, the anatomy of each fabric, and
 * what permuting nodes changes. */
#include <math.h>

#include "sim/check.h"
#include "tests/test.h"
#include "tests/topology/shapes.h"

static void check_binding(const struct topology *t, void *context)
{
    unsigned *cleared = context;
    const char *fault = t->gpu_count <= 16 ? binding_fault(t) : NULL;
    if (fault != NULL)
        fail_msg("%s of %u nodes: %s", t->spec.fabric.kind->head.name, t->node_count, fault);
    for (uint32_t l = 0; l < t->graph.link_count; l++) {
        const struct link_type *type = graph_link_type(&t->graph, (struct link_id){l});
        *cleared += type->kind == LINK_FABRIC && !type->binding;
    }
}

static void cleared_links_cannot_bind(void **state)
{
    unsigned cleared = 0;
    shapes_each(check_binding, &cleared);
    assert_true(cleared > 1000);
}

static void build(struct arena *arena, const struct topology_spec *spec, struct topology *t)
{
    struct error error;
    if (!topology_build(arena, spec, t, &error))
        fail_msg("%s", error.text);
}

/* Clearing the flag of any link that is set for a reason must be seen. */
static void a_flag_cleared_wrongly_is_caught(void **state)
{
    struct topology_spec spec = shape_spec(&topology_nvlink_island, &topology_rail, 4, 2, 2);
    shape_option(&spec, "nodes_per_leaf", 2);
    shape_option(&spec, "oversubscription", 2);
    struct arena *arena = arena_create();
    struct topology t;
    build(arena, &spec, &t);
    assert_null(binding_fault(&t));
    unsigned caught = 0;
    for (uint32_t i = 0; i < t.graph.type_count; i++) {
        if (t.graph.types[i].binding) {
            t.graph.types[i].binding = false;
            assert_non_null(binding_fault(&t));
            t.graph.types[i].binding = true;
            caught++;
        }
    }
    assert_int_equal(caught, 4); /* NVLink, NIC out and in, the uplinks */
    assert_int_equal(topology_degrade(&t, 1, LINK_PCIE, 0.25), 2);
    assert_null(binding_fault(&t));
    t.graph.types[t.graph.type_count - 1].binding = false; /* as if degrade had left it cleared */
    assert_non_null(binding_fault(&t));
    arena_destroy(arena);
}

static double sum_between(const struct topology *t, uint32_t from, enum vertex_kind to)
{
    double sum = 0;
    for (uint32_t l = 0; l < t->graph.link_count; l++) {
        const struct link link = graph_link_at(&t->graph, (struct link_id){l});
        if (link.from.value == from && graph_vertex_at(&t->graph, link.to).kind == to)
            sum += graph_link_type(&t->graph, (struct link_id){l})->bytes_per_s;
    }
    return sum;
}

static unsigned links_from(const struct topology *t, uint32_t from)
{
    unsigned count = 0;
    for (uint32_t l = 0; l < t->graph.link_count; l++)
        count += graph_link_at(&t->graph, (struct link_id){l}).from.value == from;
    return count;
}

static uint32_t first_of(const struct topology *t, enum vertex_kind kind)
{
    for (uint32_t v = 0; v < t->graph.vertex_count; v++)
        if (graph_vertex_at(&t->graph, (struct vertex_id){v}).kind == kind)
            return v;
    return UINT32_MAX;
}

static unsigned count_of(const struct topology *t, enum vertex_kind kind)
{
    unsigned count = 0;
    for (uint32_t v = 0; v < t->graph.vertex_count; v++)
        count += graph_vertex_at(&t->graph, (struct vertex_id){v}).kind == kind;
    return count;
}

/* Spines: none below one leaf a rail; one where flows spread; as many as were asked for, or as a
 * leaf has uplinks, where they are hashed. Every leaf has as many cables to each. */
static void check_rail_spines(const struct topology *t)
{
    const double *option = t->spec.fabric.options.value;
    uint32_t groups = (t->node_count + (uint32_t)option[0] - 1) / (uint32_t)option[0];
    double uplinks = option[3] > 0 ? option[0] / option[1] : 1;
    double spines = option[3] > 0 ? (option[2] > 0 ? option[2] : uplinks) : 1;
    assert_int_equal(count_of(t, VERTEX_LEAF), t->nics_per_node * groups);
    assert_int_equal(count_of(t, VERTEX_SPINE), groups > 1 ? (unsigned)spines : 0);
    for (uint32_t v = 0; v < t->graph.vertex_count; v++)
        if (graph_vertex_at(&t->graph, (struct vertex_id){v}).kind == VERTEX_SPINE)
            assert_true(links_from(t, v) == t->nics_per_node * groups * uplinks / spines);
}

/* Every leaf of a rail offers nodes_per_leaf x port / oversubscription upwards, and takes as much.
 */
static void check_rail(const struct topology *t)
{
    const double *option = t->spec.fabric.options.value;
    uint32_t nodes_per_leaf = (uint32_t)option[0], first = first_of(t, VERTEX_LEAF);
    uint32_t groups = (t->node_count + nodes_per_leaf - 1) / nodes_per_leaf;
    double up = option[0] / option[1] * topology_port_bytes_per_s(&t->spec), down = 0;
    for (uint32_t leaf = first; leaf < first + t->nics_per_node * groups; leaf++) {
        assert_int_equal(graph_vertex_at(&t->graph, (struct vertex_id){leaf}).kind, VERTEX_LEAF);
        assert_true(sum_between(t, leaf, VERTEX_SPINE) == (groups > 1 ? up : 0));
    }
    for (uint32_t v = 0; v < t->graph.vertex_count; v++) {
        down += graph_vertex_at(&t->graph, (struct vertex_id){v}).kind == VERTEX_SPINE
                    ? sum_between(t, v, VERTEX_LEAF)
                    : 0;
    }
    assert_true(fabs(down - (groups > 1 ? up * groups * t->nics_per_node : 0)) <= 1e-12 * down);
}

/* A rail's uplink can bind exactly when the NICs of its leaf, all or some of which may choose it,
 * are more than it carries; the last leaf has fewer. */
static void check_rail_flags(const struct topology *t)
{
    for (uint32_t l = 0; l < t->graph.link_count; l++) {
        const struct link link = graph_link_at(&t->graph, (struct link_id){l});
        const struct link_type *type = graph_link_type(&t->graph, (struct link_id){l});
        if (graph_vertex_at(&t->graph, link.to).kind == VERTEX_SPINE) {
            unsigned nics = 0;
            for (uint32_t port = 0; port < t->node_count * t->nics_per_node; port++) {
                struct link_id out = topology_nic_out(t, port);
                nics += graph_link_at(&t->graph, out).to.value == link.from.value;
            }
            double sent = nics * topology_nic_bytes_per_s(&t->spec);
            assert_int_equal(type->binding, sent > type->bytes_per_s);
        }
    }
}

/* The first of several leaves is full: its uplinks times the oversubscription are its NICs; the
 * first of several pods likewise. With ecmp every switch keeps to its radix, and one uplink more
 * would not. */
static void check_fat_tree(const struct topology *t)
{
    const double *option = t->spec.fabric.options.value;
    uint32_t leaf = first_of(t, VERTEX_LEAF), spine = first_of(t, VERTEX_SPINE);
    double port = topology_port_bytes_per_s(&t->spec);
    if (spine == UINT32_MAX)
        return;
    double up = sum_between(t, leaf, VERTEX_SPINE), nics = links_from(t, leaf) * 1.0;
    bool ecmp = option[4] > 0;
    nics -= ecmp ? up / port : 1;
    assert_true(up * option[2] == nics * port);
    if (first_of(t, VERTEX_CORE) != UINT32_MAX) {
        double below = sum_between(t, spine, VERTEX_LEAF);
        assert_true(sum_between(t, spine, VERTEX_CORE) * option[3] == below);
    }
    for (uint32_t v = leaf; ecmp && v < t->graph.vertex_count; v++)
        assert_true(links_from(t, v) <= option[1]);
    for (double more = up / port + 1; more * (1 + option[2]) <= option[1]; more++)
        assert_true(more * option[2] != floor(more * option[2]));
}

/* The cables between two groups of a dragonfly, one way. */
static unsigned cables_between(const struct topology *t, uint32_t routers, uint32_t a, uint32_t b)
{
    unsigned count = 0;
    for (uint32_t l = 0; l < t->graph.link_count; l++) {
        const struct link link = graph_link_at(&t->graph, (struct link_id){l});
        const struct vertex from = graph_vertex_at(&t->graph, link.from);
        const struct vertex to = graph_vertex_at(&t->graph, link.to);
        count += from.kind == VERTEX_ROUTER && to.kind == VERTEX_ROUTER &&
                 from.index / routers == a && to.index / routers == b;
    }
    return count;
}

static void check_dragonfly(const struct topology *t)
{
    const double *option = t->spec.fabric.options.value;
    if (option[0] * option[1] * option[2] == 0)
        return; /* balanced by itself: see balanced_dragonfly */
    uint32_t p = (uint32_t)option[0], a = (uint32_t)option[1], h = (uint32_t)option[2];
    uint32_t ports = t->node_count * t->nics_per_node, groups = (ports + p * a - 1) / (p * a);
    for (uint32_t i = 0; i < groups; i++) {
        for (uint32_t j = 0; j < groups; j++) {
            uint32_t expected = i == j ? a * (a - 1) : a * h / (groups - 1);
            assert_int_equal(cables_between(t, a, i, j), expected);
        }
    }
    for (uint32_t v = first_of(t, VERTEX_ROUTER); v < t->graph.vertex_count; v++)
        assert_true(links_from(t, v) <= p + (a - 1) + h);
}

/* Cut across x in two halves: 2 bundles for each line of nodes, 1 where x is 2. */
static void check_torus(const struct topology *t)
{
    const double *option = t->spec.fabric.options.value;
    uint32_t x = (uint32_t)option[0];
    double cut = 0, bundle = option[3] * topology_port_bytes_per_s(&t->spec);
    if (x < 2)
        return;
    for (uint32_t l = 0; l < t->graph.link_count; l++) {
        const struct link link = graph_link_at(&t->graph, (struct link_id){l});
        const struct vertex from = graph_vertex_at(&t->graph, link.from);
        const struct vertex to = graph_vertex_at(&t->graph, link.to);
        bool routers = from.kind == VERTEX_ROUTER && to.kind == VERTEX_ROUTER;
        bool crosses = routers && from.index % x < x / 2 && to.index % x >= x / 2;
        cut += crosses ? graph_link_type(&t->graph, (struct link_id){l})->bytes_per_s : 0;
    }
    assert_true(cut == (x > 2 ? 2 : 1) * bundle * t->node_count / x);
}

/* Without oversubscription and with spread flows, trunks are as wide as what they join. */
static void check_full_trunks(const struct topology *t)
{
    const struct topology_kind *fabric = t->spec.fabric.kind;
    const double *option = t->spec.fabric.options.value;
    bool rail = fabric == &topology_rail && option[1] == 1 && option[3] == 0;
    bool tree = fabric == &topology_fat_tree && option[2] == 1 && option[3] == 1 && option[4] == 0;
    for (uint32_t l = 0; (rail || tree) && l < t->graph.link_count; l++) {
        const struct link_type *type = graph_link_type(&t->graph, (struct link_id){l});
        assert_false(type->kind == LINK_FABRIC && type->binding);
    }
}

static void check_anatomy(const struct topology *t, void *context)
{
    unsigned *count = context;
    const struct topology_kind *fabric = t->spec.fabric.kind;
    if (t->node_count == 1) {
        assert_int_equal(t->graph.vertex_count, t->node_vertices);
        return;
    }
    ++*count;
    check_full_trunks(t);
    if (fabric == &topology_rail) {
        check_rail(t);
        check_rail_spines(t);
        check_rail_flags(t);
    } else if (fabric == &topology_fat_tree) {
        check_fat_tree(t);
    } else if (fabric == &topology_torus) {
        check_torus(t);
    } else {
        assert_ptr_equal(fabric, &topology_dragonfly);
        check_dragonfly(t);
    }
}

static void cross_sections_are_those_of_the_spec(void **state)
{
    unsigned count = 0;
    shapes_each(check_anatomy, &count);
    assert_true(count > 1000);
}

/* DGX SuperPOD reference architecture (B200; table of larger component counts): 4 scalable units,
 * 128 nodes, are 32 leaves, 16 spines, 1,024 cables between them. When traffic spreads, none binds.
 */
static void superpod_has_its_published_counts(void **state)
{
    struct topology_spec spec = shape_spec(&topology_nvlink_island, &topology_rail, 128, 8, 8);
    shape_option(&spec, "ecmp", 1);
    shape_option(&spec, "spines", 16);
    struct arena *arena = arena_create();
    struct topology t;
    build(arena, &spec, &t);
    unsigned leaves = 0, spines = 0;
    for (uint32_t v = 0; v < t.graph.vertex_count; v++) {
        leaves += graph_vertex_at(&t.graph, (struct vertex_id){v}).kind == VERTEX_LEAF;
        spines += graph_vertex_at(&t.graph, (struct vertex_id){v}).kind == VERTEX_SPINE;
    }
    assert_int_equal(leaves, 32);
    assert_int_equal(spines, 16);
    assert_int_equal(links_from(&t, first_of(&t, VERTEX_SPINE)), 64); /* ports of a QM9700 */
    assert_int_equal(t.graph.link_count, 128 * 32 + 2 * 1024 + 2 * 1024);
    shape_option(&spec, "ecmp", 0);
    build(arena, &spec, &t);
    for (uint32_t l = 0; l < t.graph.link_count; l++) {
        const struct link_type *type = graph_link_type(&t.graph, (struct link_id){l});
        assert_int_equal(type->binding, type->kind == LINK_NVLINK || type->kind == LINK_NIC);
    }
    arena_destroy(arena);
}

/* The example of Kim et al. 2008: N = ap(ah + 1) with p = h = 2, a = 4 is 72 terminals in 9 groups;
 * one more NIC needs p = 3. Likewise 6 terminals with p = h = 1, a = 2, and the seventh. */
static void balanced_dragonfly(void **state)
{
    static const unsigned nodes[] = {72, 73, 6, 7, 2}, routers[] = {36, 5 * 6, 6, 4, 2};
    static const unsigned links[] = {36 * (3 + 2), 30 * 5 + 5 * 4 * 4, 6 * (1 + 1), 4 * 3, 2};
    for (unsigned i = 0; i < 5; i++) {
        struct topology_spec spec =
            shape_spec(&topology_nvlink_island, &topology_dragonfly, nodes[i], 1, 1);
        struct arena *arena = arena_create();
        struct topology t;
        build(arena, &spec, &t);
        uint32_t first = first_of(&t, VERTEX_ROUTER);
        assert_int_equal(t.graph.vertex_count - first, routers[i]);
        assert_int_equal(t.graph.link_count - nodes[i] * (t.node_links + 2), links[i]);
        arena_destroy(arena);
    }
}

typedef uint32_t permute_fn(uint32_t node);

static uint32_t swap_pairs(uint32_t node)
{
    return node ^ 1;
}

static uint32_t swap_halves_of_16(uint32_t node)
{
    return node ^ 8;
}

static uint32_t rotate_16(uint32_t node)
{
    return (node + 1) % 16;
}

static uint32_t rotate_rows_of_4x4(uint32_t node)
{
    return (node + 4) % 16;
}

/* Routes of renamed nodes are the renamed routes: as long, over links of the same types, inside the
 * same tiers. `permute` maps the machine onto itself. Returns how many pairs differ. */
static unsigned differences(const struct topology_spec *spec, permute_fn *permute)
{
    struct arena *arena = arena_create();
    struct topology t;
    build(arena, spec, &t);
    unsigned different = 0;
    uint32_t gpus = t.gpus_per_node;
    struct route plain, renamed;
    for (uint32_t a = 0; a < t.gpu_count; a++) {
        for (uint32_t b = 0; b < t.gpu_count; b++) {
            topology_route(&t, a, b, 0, &plain);
            topology_route(&t, permute(a / gpus) * gpus + a % gpus,
                           permute(b / gpus) * gpus + b % gpus, 0, &renamed);
            bool same = plain.link_count == renamed.link_count;
            for (uint32_t i = 0; same && i < plain.link_count; i++) {
                same = graph_type_of(&t.graph, plain.links[i]) ==
                       graph_type_of(&t.graph, renamed.links[i]);
            }
            different += !same;
        }
    }
    arena_destroy(arena);
    return different;
}

static void permuting_nodes_changes_only_names(void **state)
{
    const struct topology_kind *island = &topology_nvlink_island;
    struct topology_spec spec = shape_spec(island, &topology_rail, 16, 2, 2);
    shape_option(&spec, "nodes_per_leaf", 4);
    assert_int_equal(differences(&spec, swap_pairs), 0);
    assert_int_equal(differences(&spec, swap_halves_of_16), 0);
    shape_option(&spec, "ecmp", 1);
    assert_int_equal(differences(&spec, swap_halves_of_16), 0);
    spec = shape_spec(island, &topology_fat_tree, 16, 2, 2);
    shape_option(&spec, "radix", 8);
    assert_int_equal(differences(&spec, swap_pairs), 0);
    assert_int_equal(differences(&spec, swap_halves_of_16), 0);
    /* Rotating by one moves nodes between leaves that hold two: this is no symmetry, and is seen.
     */
    assert_true(differences(&spec, rotate_16) > 0);
    spec = shape_spec(island, &topology_torus, 16, 2, 1);
    shape_option(&spec, "x", 4);
    shape_option(&spec, "y", 4);
    assert_int_equal(differences(&spec, rotate_rows_of_4x4), 0);
    shape_option(&spec, "x", 16);
    shape_option(&spec, "y", 1);
    assert_int_equal(differences(&spec, rotate_16), 0);
    spec = shape_spec(island, &topology_dragonfly, 16, 1, 1);
    shape_option(&spec, "terminals", 1);
    shape_option(&spec, "routers", 4);
    shape_option(&spec, "globals", 1);
    assert_int_equal(differences(&spec, rotate_rows_of_4x4), 0); /* group to group */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cleared_links_cannot_bind),
        cmocka_unit_test(a_flag_cleared_wrongly_is_caught),
        cmocka_unit_test(cross_sections_are_those_of_the_spec),
        cmocka_unit_test(superpod_has_its_published_counts),
        cmocka_unit_test(balanced_dragonfly),
        cmocka_unit_test(permuting_nodes_changes_only_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
