/* Laws of routes over every small cluster, and the faults that they must catch. */
#include <string.h>

#include "tests/test.h"
#include "tests/topology/shapes.h"

static bool is_bridged(const struct topology *t)
{
    return t->spec.node.kind == &topology_pcie && t->spec.node.options.value[1] > 1;
}

static void check_routes(const struct topology *t, void *context)
{
    unsigned *routes = context;
    struct route there, back, again;
    for (uint32_t a = 0; a < t->gpu_count; a++) {
        for (uint32_t b = 0; b < t->gpu_count; b++) {
            for (uint64_t seed = 0; seed < 2; seed++) {
                topology_route(t, a, b, seed, &there);
                topology_route(t, b, a, seed, &back);
                topology_route(t, a, b, seed, &again);
                const char *fault = route_fault(t, a, b, &there);
                if (fault != NULL) {
                    fail_msg("%s: from %u to %u of %u nodes: %s", t->spec.fabric.kind->head.name, a,
                             b, t->node_count, fault);
                }
                assert_int_equal(there.link_count, back.link_count);
                assert_true(there.latency_s == back.latency_s);
                assert_int_equal(there.link_count, again.link_count);
                assert_memory_equal(there.links, again.links,
                                    there.link_count * sizeof there.links[0]);
                ++*routes;
            }
        }
    }
}

static void every_route_connects(void **state)
{
    unsigned routes = 0;
    unsigned shapes = shapes_each(check_routes, &routes);
    assert_true(shapes > 2000);
    assert_true(routes > 100000);
}

static void check_places(const struct topology *t, void *context)
{
    (void)context;
    for (uint32_t gpu = 0; gpu < t->gpu_count; gpu++) {
        const struct vertex v = graph_vertex_at(&t->graph, topology_gpu(t, gpu));
        assert_int_equal(v.kind, VERTEX_GPU);
        assert_int_equal(v.node, topology_node_of(t, gpu));
        assert_int_equal(v.index, gpu % t->gpus_per_node);
    }
    for (uint32_t port = 0; port < t->node_count * t->nics_per_node; port++) {
        uint32_t node = port / t->nics_per_node, nic = port % t->nics_per_node;
        struct vertex_id id = topology_nic(t, node, nic);
        const struct vertex v = graph_vertex_at(&t->graph, id);
        assert_int_equal(v.kind, VERTEX_NIC);
        assert_int_equal(v.node, node);
        assert_int_equal(v.index, nic);
        const struct link out = graph_link_at(&t->graph, topology_nic_out(t, port));
        const struct link in = graph_link_at(&t->graph, topology_nic_in(t, port));
        assert_int_equal(out.from.value, id.value);
        assert_int_equal(in.to.value, id.value);
        assert_int_equal(out.to.value, in.from.value);
    }
}

static void vertices_stand_where_numbers_say(void **state)
{
    assert_true(shapes_each(check_places, NULL) > 0);
}

/* Hops from one vertex to all others over the links [first, end) but NVLink, by breadth-first
 * search. */
static void search(const struct topology *t, uint32_t from, uint32_t first, uint32_t end,
                   uint32_t *hops)
{
    uint32_t vertices = t->graph.vertex_count;
    for (uint32_t i = 0; i < vertices; i++)
        hops[i] = UINT32_MAX;
    hops[from] = 0;
    for (uint32_t distance = 0, moved = 1; moved; distance++) {
        moved = 0;
        for (uint32_t l = first; l < end; l++) {
            const struct link link = graph_link_at(&t->graph, (struct link_id){l});
            if (graph_link_type(&t->graph, (struct link_id){l})->kind == LINK_NVLINK)
                continue;
            if (hops[link.from.value] == distance && hops[link.to.value] == UINT32_MAX) {
                hops[link.to.value] = distance + 1;
                moved = 1;
            }
        }
    }
}

static void check_shortest(const struct topology *t, void *context)
{
    unsigned *routes = context;
    uint32_t hops[512];
    const struct topology_kind *fabric = t->spec.fabric.kind;
    assert_true(t->graph.vertex_count <= 512);
    for (uint32_t a = 0; a < t->node_count * t->nics_per_node; a++) {
        uint32_t node_a = a / t->nics_per_node, nic_a = a % t->nics_per_node;
        search(t, topology_nic(t, node_a, nic_a).value, t->node_count * t->node_links,
               t->graph.link_count, hops);
        for (uint32_t node_b = 0; node_b < t->node_count; node_b++) {
            uint32_t nic_b = fabric->same_rail ? nic_a : t->nics_per_node - 1;
            struct route r = {0};
            if (node_b == node_a)
                continue;
            fabric->route_between(t, (struct nic_place){node_a, nic_a},
                                  (struct nic_place){node_b, nic_b}, 3, &r);
            uint32_t shortest = hops[topology_nic(t, node_b, nic_b).value];
            if (fabric == &topology_dragonfly)
                assert_in_range(r.link_count, shortest, 5); /* minimal is not always shortest */
            else
                assert_int_equal(r.link_count, shortest);
            ++*routes;
        }
    }
}

static void no_route_is_longer_than_needed(void **state)
{
    unsigned routes = 0;
    shapes_each(check_shortest, &routes);
    assert_true(routes > 10000);
}

/* Inside a node a bridge is taken wherever there is one: to as many others as a GPU's group has in
 * this node, at the same part of what a card can send; elsewhere the shortest way of PCIe, without
 * a detour over a third card's bridge. */
static void check_bridges(const struct topology *t, void *context)
{
    unsigned *bridges = context;
    uint32_t hops[512];
    const uint32_t gpus = t->gpus_per_node;
    if (!is_bridged(t))
        return;
    const uint32_t bridged = (uint32_t)t->spec.node.options.value[1];
    for (uint32_t a = 0; a < t->gpu_count; a++) {
        const uint32_t node = a / gpus, first = a % gpus / bridged * bridged;
        uint32_t direct = 0;
        search(t, topology_gpu(t, a).value, node * t->node_links, (node + 1) * t->node_links, hops);
        for (uint32_t b = node * gpus; b < (node + 1) * gpus; b++) {
            struct route r;
            topology_route(t, a, b, 0, &r);
            if (b == a || b % gpus / bridged != a % gpus / bridged) {
                assert_int_equal(r.link_count, hops[topology_gpu(t, b).value]);
            } else {
                assert_int_equal(r.link_count, 1);
                const struct link_type *type = graph_link_type(&t->graph, r.links[0]);
                assert_true(type->kind == LINK_NVLINK && type->binding);
                assert_true(r.bytes_per_s == 64.0 / (bridged - 1) && r.latency_s == 4);
                direct++;
            }
        }
        assert_int_equal(direct + 1, gpus - first < bridged ? gpus - first : bridged);
        *bridges += direct;
    }
}

static void bridges_are_taken(void **state)
{
    unsigned bridges = 0;
    shapes_each(check_bridges, &bridges);
    assert_true(bridges > 1000);
}

/* A message for another rail goes by NVLink to the GPU beside that rail's NIC, and its own rail is
 * never left in the fabric. */
static void other_rails_are_reached_through_nvlink(void **state)
{
    struct topology_spec spec = shape_spec(&topology_nvlink_island, &topology_rail, 4, 4, 2);
    shape_option(&spec, "nodes_per_leaf", 2);
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    assert_true(topology_build(arena, &spec, &t, &error));
    struct route r;
    topology_route(&t, 1, 12 + 3, 0, &r); /* node 0 gpu 1 (NIC 0) to node 3 gpu 3 (NIC 1) */
    static const char *const path[] = {
        "node 0 gpu 1", "node 0 nvswitch 0", "node 0 gpu 3", "node 0 nic 1", "leaf 2", "spine 0",
        "leaf 3",       "node 3 nic 1",      "node 3 gpu 3"};
    assert_int_equal(r.link_count, 8);
    for (uint32_t i = 0; i < r.link_count; i++) {
        char from[64], to[64];
        graph_vertex_name(&t.graph, graph_link_at(&t.graph, r.links[i]).from, from, sizeof from);
        graph_vertex_name(&t.graph, graph_link_at(&t.graph, r.links[i]).to, to, sizeof to);
        assert_string_equal(from, path[i]);
        assert_string_equal(to, path[i + 1]);
    }
    /* NVLink 2 + 2, PCIe 1, NIC 8 + its switch 1, spine 1, leaf 1, NIC 8, PCIe 1. */
    assert_true(r.latency_s == 25);
    assert_true(r.bytes_per_s == 8);
    topology_route(&t, 5, 5, 0, &r); /* the round of in-switch reduction */
    assert_int_equal(r.link_count, 2);
    assert_true(r.latency_s == 4);
    arena_destroy(arena);
}

static void hashed_flows_spread_over_all_paths(void **state)
{
    struct topology_spec spec = shape_spec(&topology_nvlink_island, &topology_fat_tree, 8, 2, 2);
    shape_option(&spec, "radix", 4);
    shape_option(&spec, "ecmp", 1);
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    assert_true(topology_build(arena, &spec, &t, &error));
    unsigned used[4] = {0};
    struct route r;
    for (uint64_t seed = 0; seed < 400; seed++) {
        topology_route(&t, 0, 15, seed, &r);
        assert_int_equal(r.link_count, 8);
        struct vertex_id core = graph_link_at(&t.graph, r.links[3]).to;
        used[graph_vertex_at(&t.graph, core).index]++;
    }
    for (unsigned i = 0; i < 4; i++)
        assert_in_range(used[i], 60, 140); /* 100 in the mean, standard deviation below 9 */
    arena_destroy(arena);
}

/* One number for all that a cluster of this fabric is and does: devices, cables, which can bind,
 * and the path of every flow of two seeds. */
struct prints { /* bridges inside nodes left out: no fabric knows of them */
    const struct topology_kind *fabric;
    uint64_t sum;
};

static void mix(uint64_t *sum, uint64_t value)
{
    for (unsigned byte = 0; byte < 8; byte++)
        *sum = (*sum ^ (value >> 8 * byte & 255U)) * UINT64_C(1099511628211); /* FNV-1a */
}

static void mix_graph(const struct graph *graph, uint64_t *sum)
{
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        const struct vertex vertex = graph_vertex_at(graph, (struct vertex_id){v});
        mix(sum, (uint64_t)vertex.kind << 32 | vertex.index);
        mix(sum, vertex.node);
    }
    for (uint32_t l = 0; l < graph->link_count; l++) {
        const struct link link = graph_link_at(graph, (struct link_id){l});
        const struct link_type *type = graph_link_type(graph, (struct link_id){l});
        mix(sum, (uint64_t)link.from.value << 32 | link.to.value);
        mix(sum, (uint64_t)type->kind << 1 | type->binding);
        mix(sum, (uint64_t)(type->bytes_per_s * 1024));
        mix(sum, (uint64_t)(type->latency_s * 1024));
    }
}

static void print_cluster(const struct topology *t, void *context)
{
    struct prints *prints = context;
    if (t->spec.fabric.kind != prints->fabric || is_bridged(t))
        return;
    mix_graph(&t->graph, &prints->sum);
    mix(&prints->sum, topology_draws_paths(&t->spec));
    for (uint32_t pair = 0; pair < t->gpu_count * t->gpu_count; pair++) {
        for (uint64_t seed = 0; seed < 2; seed++) {
            struct route r;
            topology_route(t, pair / t->gpu_count, pair % t->gpu_count, seed, &r);
            for (uint32_t i = 0; i < r.link_count; i++)
                mix(&prints->sum, r.links[i].value);
        }
    }
}

/* A seed stands for the same paths in every version: what a scenario printed last year it prints
 * today. These numbers may change only together with a fabric, on purpose. */
static void a_seed_keeps_its_paths(void **state)
{
    static const struct {
        const struct topology_kind *fabric;
        uint64_t sum;
    } rows[] = {
        {&topology_none, UINT64_C(0x303838ddea2b317e)},
        {&topology_rail, UINT64_C(0x785c2cf74ba0b509)},
        {&topology_fat_tree, UINT64_C(0x960252545d8d1a1d)},
        {&topology_torus, UINT64_C(0x65642118b3ba6ec8)},
        {&topology_dragonfly, UINT64_C(0x3d502cd91eec5a56)},
    };
    unsigned different = 0;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct prints prints = {rows[i].fabric, UINT64_C(14695981039346656037)};
        shapes_each(print_cluster, &prints);
        if (prints.sum != rows[i].sum) {
            print_error("%s: 0x%016llx\n", rows[i].fabric->head.name,
                        (unsigned long long)prints.sum);
            different++;
        }
    }
    assert_int_equal(different, 0);
}

/* All to all on a ring of even side: half of the farthest pairs go each way round. */
static void a_torus_loads_both_ways_alike(void **state)
{
    for (unsigned side = 4; side <= 8; side += 2) {
        struct topology_spec spec =
            shape_spec(&topology_nvlink_island, &topology_torus, side, 1, 1);
        shape_option(&spec, "x", side);
        struct arena *arena = arena_create();
        struct topology t;
        struct error error;
        struct route r;
        unsigned load[64] = {0};
        assert_true(topology_build(arena, &spec, &t, &error));
        assert_true(t.graph.link_count <= 64);
        for (uint32_t pair = 0; pair < side * side; pair++) {
            topology_route(&t, pair / side, pair % side, 0, &r);
            for (uint32_t i = 0; i < r.link_count; i++)
                load[r.links[i].value]++;
        }
        /* side^3 / 4 hops in all (a pair is side / 4 apart in the mean), half of them upwards. */
        uint32_t first = topology_nic_in(&t, side - 1).value + 1;
        unsigned even = 0;
        for (uint32_t l = first; l < t.graph.link_count; l += 2)
            even += load[l];
        assert_int_equal(2 * even, side * side * side / 4);
        arena_destroy(arena);
    }
}

/* The law must see each of these faults. */
static void planted_faults_are_caught(void **state)
{
    struct topology_spec spec = shape_spec(&topology_nvlink_island, &topology_rail, 4, 2, 2);
    shape_option(&spec, "nodes_per_leaf", 2);
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    assert_true(topology_build(arena, &spec, &t, &error));
    struct route good, bad;
    topology_route(&t, 0, 7, 0, &good);
    assert_null(route_fault(&t, 0, 7, &good));
    assert_string_equal(route_fault(&t, 1, 7, &good), "a wrong start");
    assert_string_equal(route_fault(&t, 0, 6, &good), "a wrong end");
    bad = good;
    memmove(&bad.links[2], &bad.links[3], (--bad.link_count - 2) * sizeof bad.links[0]);
    assert_string_equal(route_fault(&t, 0, 7, &bad), "a gap in the route");
    topology_route(&t, 0, 0, 0, &bad); /* up and down, and the same once more */
    memcpy(&bad.links[2], &bad.links[0], 2 * sizeof bad.links[0]);
    bad.link_count = 4;
    assert_string_equal(route_fault(&t, 0, 0, &bad), "a link twice");
    bad = good;
    bad.latency_s += 1;
    assert_string_equal(route_fault(&t, 0, 7, &bad), "a wrong sum");
    bad.link_count = 0;
    assert_string_equal(route_fault(&t, 0, 7, &bad), "an empty route");
    bad = good;
    bad.links[1].value = t.graph.link_count;
    assert_string_equal(route_fault(&t, 0, 7, &bad), "a link that does not exist");
    t.graph.port_switch[1]++; /* a cable in the wrong switch */
    assert_string_equal(route_fault(&t, 0, 7, &good), "a gap in the route");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_connects),
        cmocka_unit_test(vertices_stand_where_numbers_say),
        cmocka_unit_test(no_route_is_longer_than_needed),
        cmocka_unit_test(bridges_are_taken),
        cmocka_unit_test(other_rails_are_reached_through_nvlink),
        cmocka_unit_test(hashed_flows_spread_over_all_paths),
        cmocka_unit_test(a_seed_keeps_its_paths),
        cmocka_unit_test(a_torus_loads_both_ways_alike),
        cmocka_unit_test(planted_faults_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
