/* Specs that are refused, the parameter tables, rates, degraded cables, names, and size. */
#include <math.h>
#include <string.h>

#include "sim/units.h"
#include "tests/test.h"
#include "tests/topology/shapes.h"

static const struct topology_kind *const island = &topology_nvlink_island;

/* The sentence with which a spec is refused; "" when it is not. topology_build says the same. */
static const char *refusal(const struct topology_spec *spec)
{
    static _Thread_local struct error error, built;
    struct arena *arena = arena_create();
    struct topology t;
    error.text[0] = built.text[0] = '\0';
    assert_int_equal(topology_check(spec, &error), topology_build(arena, spec, &t, &built));
    assert_string_equal(error.text, built.text);
    arena_destroy(arena);
    return error.text;
}

static void assert_refused(const struct topology_spec *spec, const char *words)
{
    const char *text = refusal(spec);
    if (strstr(text, words) == NULL)
        fail_msg("expected a sentence with '%s', got '%s'", words, text);
}

/* A good spec, refused once `option` has this value. */
static void assert_option_refused(const struct topology_spec *good, const char *option,
                                  double value, const char *words)
{
    struct topology_spec spec = *good;
    assert_string_equal(refusal(&spec), "");
    shape_option(&spec, option, value);
    assert_refused(&spec, words);
}

/* One leaf of a rail joins two nodes and two leaves join four; one node has no network. */
static void tiers_join_switches(void **state)
{
    struct topology_spec spec = shape_spec(island, &topology_rail, 2, 4, 4);
    spec.fabric.options.value[0] = 2; /* nodes_per_leaf */
    assert_string_equal(refusal(&spec), "");
    assert_false(topology_has_tiers(&spec));
    spec.nodes = 4;
    assert_true(topology_has_tiers(&spec));
    spec.nodes = 1;
    spec.fabric.options.value[0] = 0.5;
    assert_false(topology_has_tiers(&spec));
}

static void bad_nodes_are_refused(void **state)
{
    struct topology_spec good = shape_spec(island, &topology_rail, 2, 4, 4), bad = good;
    assert_string_equal(refusal(&good), "");
    bad.nodes = 0;
    assert_refused(&bad, "at least one node");
    bad = good;
    bad.nodes = UINT64_MAX;
    assert_refused(&bad, "more than the");
    bad = good;
    bad.node.nic.count = 8;
    assert_refused(&bad, "more NICs (8) than GPUs (4)");
    bad.node.nic.count = 3;
    assert_refused(&bad, "must divide gpus");
    bad.node.nic.count = 0;
    assert_refused(&bad, "no NIC");
    bad.nodes = 1; /* no network, so no NIC is missed */
    assert_string_equal(refusal(&bad), "");
    bad = good;
    bad.fabric.nics = 5;
    assert_refused(&bad, "more NICs (5) than GPUs (4)");
    bad = good;
    bad.node.nic.bytes_per_s = 0;
    assert_refused(&bad, "line rate");
    bad = good;
    bad.node.nvlink.bytes_per_s = 0;
    assert_refused(&bad, "nvlink_bandwidth");
    bad = good;
    bad.node.nvlink.latency_s = -1;
    assert_refused(&bad, "latencies");
    bad = shape_spec(&topology_pcie, &topology_rail, 2, 8, 4);
    assert_string_equal(refusal(&bad), "");
    bad.node.pcie.host_bytes_per_s = 0;
    assert_refused(&bad, "host_bandwidth");
    bad.node.options.value[0] = 8; /* one switch: nothing goes through the CPUs */
    assert_string_equal(refusal(&bad), "");
    bad.node.options.value[0] = 0.5;
    assert_refused(&bad, "gpus_per_switch must be a whole number");
}

static void bad_fabrics_are_refused(void **state)
{
    struct topology_spec spec = shape_spec(island, &topology_none, 2, 2, 2);
    assert_refused(&spec, "joins nothing, but the cluster has 2 nodes");
    spec.fabric.name = "nvl72";
    assert_refused(&spec, "fabric nvl72 (kind none) joins nothing, but the cluster has 2 nodes");
    spec = shape_spec(island, &topology_rail, 8, 2, 2);
    assert_option_refused(&spec, "nodes_per_leaf", 0, "nodes_per_leaf must be a whole number");
    assert_option_refused(&spec, "oversubscription", 0.5, "oversubscription");
    assert_option_refused(&spec, "oversubscription", 33, "between 1 and nodes_per_leaf");
    assert_option_refused(&spec, "ecmp", 2, "ecmp must be a whole number from 0 to 1");
    shape_option(&spec, "ecmp", 1);
    assert_option_refused(&spec, "oversubscription", 3, "must be a whole number");
    assert_option_refused(&spec, "spines", 5, "cannot be dealt evenly to 5 spines");
    spec = shape_spec(island, &topology_fat_tree, 8, 2, 2);
    assert_option_refused(&spec, "radix", 0, "radix must be a whole number");
    assert_option_refused(&spec, "radix", 1, "radix must be a whole number");
    assert_option_refused(&spec, "radix", 2, "3 tiers of 2-port switches holds 2 NICs");
    assert_option_refused(&spec, "tiers", 4, "tiers must be a whole number");
    assert_option_refused(&spec, "oversubscription", 0, "cannot be dealt");
    assert_option_refused(&spec, "core_oversubscription", 64, "cannot be dealt");
    spec.nodes = 1025;
    assert_option_refused(&spec, "tiers", 2, "2 tiers of 64-port switches holds 2048 NICs");
    spec = shape_spec(island, &topology_torus, 8, 2, 1);
    shape_option(&spec, "x", 4);
    shape_option(&spec, "y", 2);
    assert_option_refused(&spec, "z", 3, "4 x 2 x 3 holds 24 nodes, but the cluster has 8");
    assert_option_refused(&spec, "x", 0, "x must be a whole number");
    assert_option_refused(&spec, "cables", 0, "cables must be a whole number");
    spec = shape_spec(island, &topology_torus, 110, 2, 1);
    shape_option(&spec, "x", 110);
    assert_refused(&spec, "has 55 hops");
    spec = shape_spec(island, &topology_dragonfly, 64, 1, 1);
    assert_option_refused(&spec, "terminals", -1, "terminals must be a whole number");
    shape_option(&spec, "terminals", 1);
    shape_option(&spec, "routers", 4);
    shape_option(&spec, "globals", 4);
    assert_option_refused(&spec, "globals", 3, "join only 13 groups");
}

/* Each bound from both sides: the last value that stands, the first that does not. */
static void bounds_are_exact(void **state)
{
    struct topology_spec spec = shape_spec(island, &topology_rail, 8, 4, 4);
    shape_option(&spec, "oversubscription", 32); /* as many as nodes on a leaf */
    assert_string_equal(refusal(&spec), "");
    assert_option_refused(&spec, "oversubscription", 32.5, "(32), not 32.5");
    spec = shape_spec(island, &topology_rail, 8, 4, 4);
    shape_option(&spec, "spines", 32); /* not looked at: ecmp is 0 */
    assert_string_equal(refusal(&spec), "");
    shape_option(&spec, "spines", 5);
    assert_string_equal(refusal(&spec), "");
    shape_option(&spec, "oversubscription", 3);
    assert_string_equal(refusal(&spec), "");
    shape_option(&spec, "oversubscription", 2);
    shape_option(&spec, "ecmp", 1);
    assert_refused(&spec, "the 16 uplinks of a leaf cannot be dealt evenly to 5 spines");
    shape_option(&spec, "spines", 16);
    assert_option_refused(&spec, "spines", 17, "16 uplinks");
    spec = shape_spec(island, &topology_fat_tree, 16, 8, 8);
    shape_option(&spec, "radix", 8); /* k^3 / 4 NICs */
    assert_string_equal(refusal(&spec), "");
    spec.nodes = 17;
    assert_refused(&spec, "3 tiers of 8-port switches holds 128 NICs");
    spec.nodes = 4; /* k^2 / 2 */
    assert_option_refused(&spec, "tiers", 1, "1 tiers of 8-port switches holds 8 NICs");
    shape_option(&spec, "tiers", 2);
    assert_string_equal(refusal(&spec), "");
    spec.nodes = 5;
    assert_refused(&spec, "2 tiers of 8-port switches holds 32 NICs");
    shape_option(&spec, "tiers", 3);
    assert_option_refused(&spec, "oversubscription", 0.999, "cannot be dealt");
    shape_option(&spec, "oversubscription", 7); /* one uplink, seven NICs */
    assert_string_equal(refusal(&spec), "");
    assert_option_refused(&spec, "oversubscription", 7.5, "cannot be dealt");
    shape_option(&spec, "core_oversubscription", 7);
    assert_string_equal(refusal(&spec), "");
    assert_option_refused(&spec, "core_oversubscription", 8, "core_oversubscription 8");
    assert_option_refused(&spec, "ecmp", 2, "ecmp must be a whole number");
    spec = shape_spec(island, &topology_torus, 108, 2, 1);
    shape_option(&spec, "x", 108); /* 54 hops, 4 links in each node, 2 of NICs: 64 */
    assert_string_equal(refusal(&spec), "");
    spec = shape_spec(island, &topology_torus, 27, 2, 1);
    shape_option(&spec, "x", 3);
    shape_option(&spec, "y", 3);
    shape_option(&spec, "z", 3);
    assert_string_equal(refusal(&spec), "");
    assert_option_refused(&spec, "y", 2, "3 x 2 x 3 holds 18 nodes, but the cluster has 27");
    assert_option_refused(&spec, "cables", 1025, "cables must be a whole number from 1 to 1024");
    spec = shape_spec(island, &topology_dragonfly, 20, 1, 1);
    shape_option(&spec, "terminals", 1);
    shape_option(&spec, "routers", 4);
    shape_option(&spec, "globals", 1); /* 5 groups: the most that one cable a router can join */
    assert_string_equal(refusal(&spec), "");
    spec.nodes = 21;
    assert_refused(&spec, "21 NICs fill 6 groups of 4 routers with 1 NICs each, but 1 global "
                          "cables for each router join only 5 groups");
    spec.nodes = 20;
    assert_option_refused(&spec, "routers", 4097, "routers must be a whole number");
}

/* What every cluster needs, at its limit. */
static void clusters_have_exact_limits(void **state)
{
    struct topology_spec good = shape_spec(island, &topology_rail, 2, 4, 4), spec = good;
    double *const latencies[] = {&spec.node.nvlink.latency_s, &spec.node.pcie.latency_s,
                                 &spec.node.nic.latency_s, &spec.fabric.switch_latency_s};
    for (unsigned i = 0; i < 4; i++) {
        spec = good;
        *latencies[i] = 0;
        assert_string_equal(refusal(&spec), "");
        *latencies[i] = -1e-9;
        assert_refused(&spec, "latencies must be finite and not below 0");
        *latencies[i] = (double)INFINITY;
        assert_refused(&spec, "latencies must be finite");
    }
    spec = good;
    spec.node.gpus = 0;
    assert_refused(&spec, "at least one node with at least one GPU");
    spec.node.gpus = TOPOLOGY_GPU_MAX + 1ULL;
    spec.nodes = 1;
    assert_refused(&spec, "are more than the");
    spec = good;
    spec.node.gpus = spec.node.nic.count = 1;
    spec.nodes = TOPOLOGY_GPU_MAX;
    assert_int_equal(topology_check(&spec, &(struct error){""}), true);
    spec.nodes++;
    assert_int_equal(topology_check(&spec, &(struct error){""}), false);
    spec = good;
    spec.node.pcie.bytes_per_s = 0;
    assert_refused(&spec, "line rate");
    spec = good;
    spec.node.nic.bytes_per_s = (double)INFINITY;
    assert_refused(&spec, "line rate");
    spec = shape_spec(&topology_pcie, &topology_none, 1, 8, 0);
    assert_string_equal(refusal(&spec), "");
    spec.node.pcie.bytes_per_s = 0;
    assert_refused(&spec, "a pcie node needs pcie_bandwidth above 0");
    spec = shape_spec(&topology_pcie, &topology_none, 1, 5, 0); /* the fifth on a second switch */
    spec.node.pcie.host_bytes_per_s = 0;
    assert_refused(&spec, "host_bandwidth above 0");
    spec.node.gpus = 4;
    assert_string_equal(refusal(&spec), "");
}

/* 16 groups of 4,096 routers, all joined to all, are just above 2^28 links. */
static void graphs_too_large_are_refused(void **state)
{
    struct topology_spec spec = shape_spec(island, &topology_dragonfly, 65536, 1, 1);
    struct error error = {""};
    shape_option(&spec, "terminals", 1);
    shape_option(&spec, "routers", 4096);
    shape_option(&spec, "globals", 1);
    assert_false(topology_check(&spec, &error));
    assert_non_null(strstr(error.text, "a cluster of 262144 devices and 268828"));
    assert_non_null(strstr(error.text, " links is too large"));
    spec.nodes = 61440;
    assert_true(topology_check(&spec, &error));
}

/* Flows are hashed only where there is more than one path to draw. */
static void draws(const struct topology_kind *kind, uint64_t nodes, const char *option,
                  double value, bool expected)
{
    struct topology_spec spec = shape_spec(island, kind, nodes, 2, 2);
    shape_option(&spec, "ecmp", 1);
    shape_option(&spec, option, value);
    assert_string_equal(refusal(&spec), "");
    assert_int_equal(topology_draws_paths(&spec), expected);
}

static void paths_are_drawn_where_there_are_several(void **state)
{
    draws(&topology_rail, 8, "nodes_per_leaf", 4, true);
    draws(&topology_rail, 8, "nodes_per_leaf", 8, false);    /* one leaf */
    draws(&topology_rail, 8, "oversubscription", 32, false); /* one leaf, one uplink */
    draws(&topology_rail, 8, "nodes_per_leaf", 1, false);    /* one uplink */
    draws(&topology_rail, 8, "nodes_per_leaf", 2, true);
    draws(&topology_rail, 2, "nodes_per_leaf", 1, false);
    draws(&topology_rail, 8, "ecmp", 0, false);
    draws(&topology_fat_tree, 8, "radix", 4, true);
    draws(&topology_fat_tree, 8, "radix", 16, false); /* one switch */
    draws(&topology_fat_tree, 8, "ecmp", 0, false);
    draws(&topology_fat_tree, 1, "tiers", 2, false); /* one node */
    struct topology_spec spec = shape_spec(island, &topology_torus, 4, 2, 2);
    shape_option(&spec, "x", 4);
    assert_false(topology_draws_paths(&spec));
    spec = shape_spec(island, &topology_dragonfly, 8, 1, 1);
    shape_option(&spec, "terminals", 1);
    shape_option(&spec, "routers", 4);
    shape_option(&spec, "globals", 1); /* 2 groups, 4 cables */
    assert_true(topology_draws_paths(&spec));
    spec.nodes = 20; /* 5 groups, 1 cable */
    assert_false(topology_draws_paths(&spec));
}

static void check_table(const struct param *params, unsigned count, size_t size)
{
    for (unsigned i = 0; i < count; i++) {
        const struct param *p = &params[i];
        size_t length = strlen(p->doc);
        assert_true(length > 10 && p->doc[length - 1] == '.');
        bool words = p->type == PARAM_FLAG || p->type == PARAM_CHOICE || p->type == PARAM_TEXT;
        assert_true(words ? p->minimum == 0 && p->maximum == 0 : p->minimum < p->maximum);
        assert_true(p->offset < size);
        for (unsigned j = 0; j < i; j++) {
            assert_string_not_equal(p->name, params[j].name);
            assert_true(p->offset != params[j].offset);
        }
    }
}

static void tables_are_whole(void **state)
{
    check_table(node_params, node_param_count, sizeof(struct node_spec));
    check_table(fabric_params, fabric_param_count, sizeof(struct fabric_spec));
    /* Every field but name, kind and options has its row. */
    size_t node = offsetof(struct node_spec, gpus), fabric = offsetof(struct fabric_spec, options);
    fabric += sizeof(struct kind_options);
    assert_int_equal(sizeof(struct node_spec) - node, node_param_count * sizeof(double));
    assert_int_equal(sizeof(struct fabric_spec) - fabric, fabric_param_count * sizeof(double));
    for (unsigned i = 0; i < topology_kind_count; i++) {
        const struct topology_kind *kind = topology_kinds[i];
        check_table(kind->head.options.rows, kind->head.options.count, KIND_OPTION_MAX);
        assert_ptr_equal(topology_find(kind->role, kind->head.name), kind);
        assert_null(topology_find(kind->role == TOPOLOGY_NODE ? TOPOLOGY_FABRIC : TOPOLOGY_NODE,
                                  kind->head.name));
        for (unsigned j = 0; j < kind->head.options.count; j++)
            assert_int_equal(kind->head.options.rows[j].offset, j);
    }
    assert_null(topology_find(TOPOLOGY_FABRIC, "rails"));
}

static void rates_are_payload_rates(void **state)
{
    struct topology_spec spec = shape_spec(island, &topology_rail, 2, 8, 8);
    spec.node.nic.bytes_per_s = 16;
    spec.node.nic.efficiency_ratio = 0.5;
    spec.fabric.efficiency_ratio = 0.5;
    assert_true(topology_port_bytes_per_s(&spec) == 4);
    spec.fabric.nic_bytes_per_s = 128; /* the fabric's NIC, then wider than its slot of 16 */
    assert_true(topology_port_bytes_per_s(&spec) == 32);
    assert_true(topology_nic_bytes_per_s(&spec) == 16);
    assert_int_equal(topology_nics(&spec), 8);
    spec.fabric.nics = 4;
    assert_int_equal(topology_nics(&spec), 4);
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    assert_true(topology_build(arena, &spec, &t, &error));
    assert_int_equal(t.nics_per_node, 4);
    assert_int_equal(topology_nic_of(&t, 8 + 5), 2);
    struct route r;
    topology_route(&t, 0, 15, 0, &r);
    assert_true(r.bytes_per_s == 16);
    arena_destroy(arena);
}

static void a_degraded_cable_slows_only_its_own_routes(void **state)
{
    struct topology_spec spec = shape_spec(island, &topology_rail, 3, 4, 2);
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    struct route r;
    assert_true(topology_build(arena, &spec, &t, &error));
    assert_int_equal(topology_degrade(&t, 5, LINK_NIC, 0.5), 2); /* NIC 0 of node 1 */
    for (uint32_t a = 0; a < t.gpu_count; a++) {
        for (uint32_t b = 0; b < t.gpu_count; b++) {
            topology_route(&t, a, b, 0, &r);
            bool crosses = topology_node_of(&t, a) != topology_node_of(&t, b);
            bool hit = crosses && (topology_node_of(&t, a) == 1 || topology_node_of(&t, b) == 1) &&
                       topology_nic_of(&t, b) == 0;
            assert_true(r.bytes_per_s == (!crosses ? 64 : hit ? 4 : 8));
        }
    }
    assert_int_equal(topology_degrade(&t, 0, LINK_NVLINK, 0.25), 2);
    topology_route(&t, 0, 1, 0, &r);
    assert_true(r.bytes_per_s == 16);
    topology_route(&t, 1, 2, 0, &r);
    assert_true(r.bytes_per_s == 64);
    assert_int_equal(topology_degrade(&t, 0, LINK_HOST, 0.5), 0);
    assert_int_equal(topology_degrade(&t, 0, LINK_PCIE, 0.5), 2);
    topology_route(&t, 0, 4, 0, &r);
    assert_true(graph_link_type(&t.graph, r.links[0])->binding);
    spec = shape_spec(&topology_pcie, &topology_none, 1, 2, 0);
    assert_true(topology_build(arena, &spec, &t, &error));
    assert_int_equal(topology_degrade(&t, 0, LINK_NVLINK, 0.5), 0);
    assert_int_equal(topology_degrade(&t, 0, LINK_NIC, 0.5), 0);
    arena_destroy(arena);
}

/* Nodes share the types of their links until one is changed: then that one alone differs. */
static void only_degraded_links_differ(void **state)
{
    struct topology_spec spec = shape_spec(island, &topology_fat_tree, 5, 2, 2);
    shape_option(&spec, "radix", 4);
    struct arena *arena = arena_create();
    struct topology t, plain;
    struct error error;
    assert_true(topology_build(arena, &spec, &t, &error));
    assert_true(topology_build(arena, &spec, &plain, &error));
    for (uint32_t node = 0; node < 4; node++) /* GPU 1 of four nodes, of the first node twice */
        assert_int_equal(topology_degrade(&t, 2 * node + 1, LINK_NVLINK, 0.5), 2);
    assert_int_equal(topology_degrade(&t, 1, LINK_NVLINK, 0.5), 2);
    assert_int_equal(topology_degrade(&t, 7, LINK_NIC, 0.25), 2);
    unsigned slower = 0;
    for (uint32_t l = 0; l < t.graph.link_count; l++) {
        const struct link_id id = {l};
        const struct link a = graph_link_at(&t.graph, id), b = graph_link_at(&plain.graph, id);
        const struct link_type *now = graph_link_type(&t.graph, id);
        const struct link_type *built = graph_link_type(&plain.graph, id);
        const uint32_t node = l / t.node_links, at = l % t.node_links;
        double ratio = node < 4 && (at == 2 || at == 3) ? (node == 0 ? 0.25 : 0.5) : 1.0;
        if (l == topology_nic_out(&t, 7).value || l == topology_nic_in(&t, 7).value)
            ratio = 0.25;
        assert_true(now->bytes_per_s == ratio * built->bytes_per_s);
        assert_true(now->kind == built->kind && now->latency_s == built->latency_s);
        assert_int_equal(a.from.value, b.from.value);
        assert_int_equal(a.to.value, b.to.value);
        assert_true(a.type == graph_type_of(&t.graph, id));
        slower += ratio < 1.0;
    }
    assert_int_equal(slower, 4 * 2 + 2);
    const struct link_id last = {t.graph.link_count - 1}; /* a link of the fabric itself */
    assert_int_equal(graph_link_type(&t.graph, last)->kind, LINK_FABRIC);
    graph_set_type(&t.graph, last, graph_type_of(&t.graph, (struct link_id){0}));
    assert_int_equal(graph_link_type(&t.graph, last)->kind, LINK_NVLINK);
    const struct link_id before = {last.value - 1};
    assert_int_equal(graph_link_type(&t.graph, before)->kind, LINK_FABRIC);
    arena_destroy(arena);
}

static void vertices_have_names(void **state)
{
    struct topology_spec spec = shape_spec(island, &topology_rail, 2, 2, 2);
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    char text[32], narrow[7];
    assert_true(topology_build(arena, &spec, &t, &error));
    graph_vertex_name(&t.graph, topology_gpu(&t, 3), text, sizeof text);
    assert_string_equal(text, "node 1 gpu 1");
    graph_vertex_name(&t.graph, topology_gpu(&t, 3), narrow, sizeof narrow);
    assert_string_equal(narrow, "node 1");
    struct link_id out = topology_nic_out(&t, 1);
    graph_vertex_name(&t.graph, graph_link_at(&t.graph, out).to, text, sizeof text);
    assert_string_equal(text, "leaf 1");
    assert_string_equal(graph_link_kind_name(LINK_NVLINK), "nvlink");
    assert_string_equal(graph_link_kind_name(LINK_FABRIC), "fabric");
    arena_destroy(arena);
}

/* A rack of 72 GPUs is a node; and 131,072 GPUs take 12 bytes a link and 8 a vertex, so that a
 * million stay near 100 MB. */
static void large_clusters_are_small(void **state)
{
    struct topology_spec spec = shape_spec(island, &topology_rail, 4, 72, 72);
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    struct route r;
    assert_true(topology_build(arena, &spec, &t, &error));
    topology_route(&t, 3, 71, 0, &r);
    assert_int_equal(r.link_count, 2);
    arena_destroy(arena);
    arena = arena_create();
    spec = shape_spec(island, &topology_rail, 16384, 8, 8);
    assert_true(topology_build(arena, &spec, &t, &error));
    assert_int_equal(t.graph.link_count, 16384 * (2 * 8 + 2 * 8 + 2 * 8) + 2 * 8 * 512);
    assert_true((double)arena_bytes(arena) / t.gpu_count < 16); /* nodes stand once */
    topology_route(&t, 0, t.gpu_count - 1, 0, &r);
    assert_null(route_fault(&t, 0, t.gpu_count - 1, &r));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_nodes_are_refused),
        cmocka_unit_test(tiers_join_switches),
        cmocka_unit_test(bad_fabrics_are_refused),
        cmocka_unit_test(bounds_are_exact),
        cmocka_unit_test(clusters_have_exact_limits),
        cmocka_unit_test(graphs_too_large_are_refused),
        cmocka_unit_test(paths_are_drawn_where_there_are_several),
        cmocka_unit_test(tables_are_whole),
        cmocka_unit_test(rates_are_payload_rates),
        cmocka_unit_test(a_degraded_cable_slows_only_its_own_routes),
        cmocka_unit_test(only_degraded_links_differ),
        cmocka_unit_test(vertices_have_names),
        cmocka_unit_test(large_clusters_are_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
