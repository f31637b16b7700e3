/* Routes of every kind by hand, vertex by vertex, with latency and narrowest link; the capacity,
 * kind and number of the links between tiers; who draws paths.
 *
 * The bench of shapes.c: NVLink 64 bytes/s and 2 s to or from its switch, PCIe 16 and 1 s of a GPU,
 * 24 between a PCIe switch and the CPUs (1 s), NICs 8 and 8 s, a switch of the fabric 1 s. A
 * message between neighbours on one switch takes 1 + (8 + 1) + 8 + 1 = 19 s. */
#include <stdio.h>
#include <string.h>

#include "tests/test.h"
#include "tests/topology/shapes.h"

static const struct topology_kind *const island = &topology_nvlink_island;

static struct topology_spec rail(void)
{
    struct topology_spec spec = shape_spec(island, &topology_rail, 4, 4, 2);
    shape_option(&spec, "nodes_per_leaf", 2);
    return spec;
}

/* Two switches of two GPUs below the CPUs. */
static struct topology_spec pcie(void)
{
    struct topology_spec spec = shape_spec(&topology_pcie, &topology_rail, 2, 4, 2);
    spec.node.options.value[0] = 2;
    return spec;
}

/* The same with pairs of bridges: GPUs 0 and 1, 2 and 3. */
static struct topology_spec bridged(void)
{
    struct topology_spec spec = pcie();
    spec.node.options.value[1] = 2;
    return spec;
}

/* Four GPUs, each joined to each: a third of 96 bytes/s over each bridge. */
static struct topology_spec bridged_by_four(void)
{
    struct topology_spec spec = pcie();
    spec.node.options.value[1] = 4;
    spec.node.nvlink.bytes_per_s = 96;
    return spec;
}

/* One NIC for four GPUs stands on the first switch. */
static struct topology_spec pcie_one_nic(void)
{
    struct topology_spec spec = shape_spec(&topology_pcie, &topology_rail, 2, 4, 1);
    spec.node.options.value[0] = 2;
    return spec;
}

/* Switches of 4 ports: leaves of 2 NICs, pods of 2 leaves, so 3 tiers for 8 nodes of 2 NICs. */
static struct topology_spec fat_tree(void)
{
    struct topology_spec spec = shape_spec(island, &topology_fat_tree, 8, 2, 2);
    shape_option(&spec, "radix", 4);
    return spec;
}

/* Leaves of 4 NICs with 2 uplinks. */
static struct topology_spec thin_tree(void)
{
    struct topology_spec spec = shape_spec(island, &topology_fat_tree, 4, 2, 2);
    shape_option(&spec, "radix", 6);
    shape_option(&spec, "oversubscription", 2);
    return spec;
}

static struct topology_spec torus(void)
{
    struct topology_spec spec = shape_spec(island, &topology_torus, 12, 1, 1);
    shape_option(&spec, "x", 4);
    shape_option(&spec, "y", 3);
    return spec;
}

/* Routers 0 and 1 in group 0, 2 and 3, 4 and 5: cables 0-3, 1-4, 2-5. */
static struct topology_spec dragonfly(void)
{
    struct topology_spec spec = shape_spec(island, &topology_dragonfly, 6, 1, 1);
    shape_option(&spec, "terminals", 1);
    shape_option(&spec, "routers", 2);
    shape_option(&spec, "globals", 1);
    return spec;
}

struct route_row {
    struct topology_spec (*spec)(void);
    uint32_t from, to;
    const char *path; /* vertices between the two GPUs; n0 stands for "node 0" */
    double latency_s, bytes_per_s;
};
static const struct route_row rows[] = {
    {rail, 0, 3, "n0 nvswitch 0", 4, 64},
    {rail, 2, 2, "n0 nvswitch 0", 4, 64},
    /* Neighbours of a leaf; on other leaves; another rail by the GPU of one's own place. */
    {rail, 1, 4, "n0 nic 0, leaf 0, n1 nic 0", 19, 8},
    {rail, 3, 6, "n0 nic 1, leaf 2, n1 nic 1", 19, 8},
    {rail, 2, 10, "n0 nic 1, leaf 2, spine 0, leaf 3, n2 nic 1", 21, 8},
    {rail, 1, 7, "n0 nvswitch 0, n0 gpu 3, n0 nic 1, leaf 2, n1 nic 1", 23, 8},
    {rail, 6, 1, "n1 nvswitch 0, n1 gpu 0, n1 nic 0, leaf 0, n0 nic 0", 23, 8},
    {pcie, 0, 1, "n0 pcie switch 0", 2, 16},
    {pcie, 0, 0, "", 0, 0},
    {pcie, 3, 0, "n0 pcie switch 1, n0 host 0, n0 pcie switch 0", 4, 16},
    {pcie, 0, 5, "n0 pcie switch 0, n0 nic 0, leaf 0, n1 nic 0, n1 pcie switch 0", 19, 8},
    /* Another rail's NIC lies beyond the CPUs. */
    {pcie, 1, 7,
     "n0 pcie switch 0, n0 host 0, n0 pcie switch 1, n0 nic 1, leaf 1, n1 nic 1, n1 pcie switch 1",
     21, 8},
    {pcie_one_nic, 2, 4,
     "n0 pcie switch 1, n0 host 0, n0 pcie switch 0, n0 nic 0, leaf 0, n1 nic 0, n1 pcie switch 0",
     21, 8},
    /* A bridge is one link; who has none, and who leaves the node, goes by PCIe as before. */
    {bridged, 0, 1, "", 4, 64},
    {bridged, 7, 6, "", 4, 64},
    {bridged, 5, 5, "", 0, 0},
    {bridged, 1, 2, "n0 pcie switch 0, n0 host 0, n0 pcie switch 1", 4, 16},
    {bridged, 0, 5, "n0 pcie switch 0, n0 nic 0, leaf 0, n1 nic 0, n1 pcie switch 0", 19, 8},
    {bridged_by_four, 4, 7, "", 4, 32},
    {bridged_by_four, 2, 1, "", 4, 32},
    {fat_tree, 0, 3, "n0 nic 0, leaf 0, spine 0, leaf 1, n1 nic 1", 21, 8},
    {fat_tree, 1, 15, "n0 nic 1, leaf 0, spine 0, core 0, spine 3, leaf 7, n7 nic 1", 23, 8},
    {fat_tree, 8, 5, "n4 nic 0, leaf 4, spine 2, core 0, spine 1, leaf 2, n2 nic 1", 23, 8},
    {thin_tree, 0, 2, "n0 nic 0, leaf 0, n1 nic 0", 19, 8},
    {thin_tree, 0, 7, "n0 nic 0, leaf 0, spine 0, leaf 1, n3 nic 1", 21, 8},
    /* x first, the shorter way round; half way round up from even places, down from odd ones. */
    {torus, 0, 1, "n0 nic 0, router 0, router 1, n1 nic 0", 20, 8},
    {torus, 0, 3, "n0 nic 0, router 0, router 3, n3 nic 0", 20, 8},
    {torus, 0, 2, "n0 nic 0, router 0, router 1, router 2, n2 nic 0", 21, 8},
    {torus, 1, 3, "n1 nic 0, router 1, router 0, router 3, n3 nic 0", 21, 8},
    {torus, 0, 8, "n0 nic 0, router 0, router 8, n8 nic 0", 20, 8},
    {torus, 5, 10, "n5 nic 0, router 5, router 6, router 10, n10 nic 0", 21, 8},
    {dragonfly, 0, 1, "n0 nic 0, router 0, router 1, n1 nic 0", 20, 8},
    {dragonfly, 1, 4, "n1 nic 0, router 1, router 4, n4 nic 0", 20, 8},
    {dragonfly, 0, 2, "n0 nic 0, router 0, router 3, router 2, n2 nic 0", 21, 8},
    {dragonfly, 0, 5, "n0 nic 0, router 0, router 1, router 4, router 5, n5 nic 0", 22, 8},
    {dragonfly, 5, 2, "n5 nic 0, router 5, router 2, n2 nic 0", 20, 8},
};

static void spell(const struct topology *t, const struct route *r, char text[512])
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i + 1 < r->link_count; i++) {
        char name[64];
        graph_vertex_name(&t->graph, graph_link_at(&t->graph, r->links[i]).to, name, sizeof name);
        bool inside = strncmp(name, "node ", 5) == 0;
        at += (size_t)snprintf(text + at, 512 - at, "%s%s%s", i ? ", " : "", inside ? "n" : "",
                               name + (inside ? 5 : 0));
    }
}

static void test_routes(void **state)
{
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct topology_spec spec = rows[i].spec();
        struct arena *arena = arena_create();
        struct topology t;
        struct error error;
        struct route r;
        char text[512];
        assert_true(topology_build(arena, &spec, &t, &error));
        topology_route(&t, rows[i].from, rows[i].to, 0, &r);
        spell(&t, &r, text);
        assert_string_equal(text, rows[i].path);
        assert_true(r.latency_s == rows[i].latency_s);
        assert_true(r.link_count == 0 || r.bytes_per_s == rows[i].bytes_per_s);
        arena_destroy(arena);
    }
}

/* Links from one kind of vertex to another, all of one rate and kind. */
struct tier_row {
    struct topology_spec (*spec)(void);
    bool ecmp;
    enum vertex_kind from, to;
    unsigned links;
    enum link_kind kind;
    double bytes_per_s, latency_s;
    bool binding;
};
static const struct tier_row tiers[] = {
    {rail, false, VERTEX_GPU, VERTEX_NVSWITCH, 16, LINK_NVLINK, 64, 2, true},
    {rail, false, VERTEX_NVSWITCH, VERTEX_GPU, 16, LINK_NVLINK, 64, 2, true},
    {rail, false, VERTEX_GPU, VERTEX_NIC, 16, LINK_PCIE, 16, 1, false},
    {rail, false, VERTEX_NIC, VERTEX_GPU, 16, LINK_PCIE, 16, 1, false},
    {rail, false, VERTEX_NIC, VERTEX_LEAF, 8, LINK_NIC, 8, 9, true},
    {rail, false, VERTEX_LEAF, VERTEX_NIC, 8, LINK_NIC, 8, 8, true},
    {rail, false, VERTEX_LEAF, VERTEX_SPINE, 4, LINK_FABRIC, 16, 1, false},
    {rail, false, VERTEX_SPINE, VERTEX_LEAF, 4, LINK_FABRIC, 16, 1, false},
    {rail, true, VERTEX_LEAF, VERTEX_SPINE, 8, LINK_FABRIC, 8, 1, true},
    {pcie, false, VERTEX_GPU, VERTEX_PCIE_SWITCH, 8, LINK_PCIE, 16, 1, true},
    {pcie, false, VERTEX_NIC, VERTEX_PCIE_SWITCH, 4, LINK_PCIE, 16, 0, false},
    {pcie, false, VERTEX_PCIE_SWITCH, VERTEX_HOST, 4, LINK_HOST, 24, 1, true},
    {pcie, false, VERTEX_HOST, VERTEX_PCIE_SWITCH, 4, LINK_HOST, 24, 1, true},
    {pcie, false, VERTEX_GPU, VERTEX_GPU, 0, LINK_NVLINK, 0, 0, true},
    {bridged, false, VERTEX_GPU, VERTEX_GPU, 8, LINK_NVLINK, 64, 4, true},
    {bridged, false, VERTEX_GPU, VERTEX_PCIE_SWITCH, 8, LINK_PCIE, 16, 1, true},
    {bridged_by_four, false, VERTEX_GPU, VERTEX_GPU, 24, LINK_NVLINK, 32, 4, true},
    {fat_tree, false, VERTEX_NIC, VERTEX_LEAF, 16, LINK_NIC, 8, 9, true},
    {fat_tree, false, VERTEX_LEAF, VERTEX_SPINE, 8, LINK_FABRIC, 16, 1, false},
    {fat_tree, false, VERTEX_SPINE, VERTEX_CORE, 4, LINK_FABRIC, 32, 1, false},
    {fat_tree, false, VERTEX_CORE, VERTEX_SPINE, 4, LINK_FABRIC, 32, 1, false},
    {fat_tree, true, VERTEX_LEAF, VERTEX_SPINE, 16, LINK_FABRIC, 8, 1, true},
    {fat_tree, true, VERTEX_SPINE, VERTEX_CORE, 16, LINK_FABRIC, 8, 1, true},
    {thin_tree, false, VERTEX_LEAF, VERTEX_SPINE, 2, LINK_FABRIC, 16, 1, true},
    {thin_tree, true, VERTEX_LEAF, VERTEX_SPINE, 4, LINK_FABRIC, 8, 1, true},
    {torus, false, VERTEX_ROUTER, VERTEX_ROUTER, 48, LINK_FABRIC, 8, 1, true},
    {dragonfly, false, VERTEX_ROUTER, VERTEX_ROUTER, 12, LINK_FABRIC, 8, 1, true},
};

static void test_tiers(void **state)
{
    for (unsigned i = 0; i < sizeof tiers / sizeof *tiers; i++) {
        const struct tier_row *row = &tiers[i];
        struct topology_spec spec = row->spec();
        struct arena *arena = arena_create();
        struct topology t;
        struct error error;
        unsigned links = 0;
        if (row->ecmp)
            shape_option(&spec, "ecmp", 1);
        assert_true(topology_build(arena, &spec, &t, &error));
        for (uint32_t l = 0; l < t.graph.link_count; l++) {
            const struct link link = graph_link_at(&t.graph, (struct link_id){l});
            const struct link_type *type = graph_link_type(&t.graph, (struct link_id){l});
            if (graph_vertex_at(&t.graph, link.from).kind == row->from &&
                graph_vertex_at(&t.graph, link.to).kind == row->to) {
                assert_int_equal(type->kind, row->kind);
                assert_true(type->bytes_per_s == row->bytes_per_s);
                assert_true(type->latency_s == row->latency_s);
                assert_int_equal(type->binding, row->binding);
                links++;
            }
        }
        assert_int_equal(links, row->links);
        arena_destroy(arena);
    }
}

/* Cables of a torus add up; oversubscription divides; a fabric's efficiency is of every port. */
static void test_rates(void **state)
{
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    struct route r;
    struct topology_spec spec = torus();
    shape_option(&spec, "cables", 3);
    spec.fabric.efficiency_ratio = 0.25;
    assert_true(topology_build(arena, &spec, &t, &error));
    topology_route(&t, 0, 1, 0, &r);
    assert_true(graph_link_type(&t.graph, r.links[2])->bytes_per_s == 6);
    assert_true(r.bytes_per_s == 2);
    spec = rail();
    shape_option(&spec, "oversubscription", 2);
    spec.node.nic.efficiency_ratio = 0.5;
    assert_true(topology_build(arena, &spec, &t, &error));
    topology_route(&t, 0, 8, 0, &r);
    assert_true(graph_link_type(&t.graph, r.links[2])->bytes_per_s == 4);
    spec = fat_tree();
    shape_option(&spec, "radix", 6);
    shape_option(&spec, "tiers", 3);
    shape_option(&spec, "core_oversubscription", 2);
    assert_true(topology_build(arena, &spec, &t, &error));
    topology_route(&t, 0, 15, 0, &r); /* leaves of 3, pods of 4 leaves, 2 x 3 ports to the core */
    assert_int_equal(r.link_count, 8);
    assert_true(graph_link_type(&t.graph, r.links[2])->bytes_per_s == 24);
    assert_true(graph_link_type(&t.graph, r.links[3])->bytes_per_s == 48);
    arena_destroy(arena);
}

static void test_who_draws_paths(void **state)
{
    struct topology_spec spec = rail();
    assert_false(topology_draws_paths(&spec));
    shape_option(&spec, "ecmp", 1);
    assert_true(topology_draws_paths(&spec));
    shape_option(&spec, "oversubscription", 2); /* one uplink */
    assert_false(topology_draws_paths(&spec));
    shape_option(&spec, "oversubscription", 1);
    spec.nodes = 2; /* one leaf for each rail */
    assert_false(topology_draws_paths(&spec));
    spec = fat_tree();
    assert_false(topology_draws_paths(&spec));
    shape_option(&spec, "ecmp", 1);
    assert_true(topology_draws_paths(&spec));
    spec.nodes = 1;
    assert_false(topology_draws_paths(&spec));
    spec = thin_tree();
    shape_option(&spec, "ecmp", 1);
    spec.nodes = 2; /* one leaf */
    assert_false(topology_draws_paths(&spec));
    spec = torus();
    assert_false(topology_draws_paths(&spec));
    spec = dragonfly();
    assert_false(topology_draws_paths(&spec));
    shape_option(&spec, "globals", 2);
    assert_true(topology_draws_paths(&spec));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_routes),
        cmocka_unit_test(test_tiers),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_who_draws_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
