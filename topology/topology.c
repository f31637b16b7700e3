/* topology.c - the table of kinds, the checks they all share, building and routing.
 *
 * Invariants:
 * 1. A built graph holds exactly the vertices and links that the kinds counted.
 * 2. Node blocks have one stride, so a GPU's or NIC's vertex follows from its number. */
#include "topology/topology.h"

#include <math.h>
#include <string.h>

#include "sim/check.h"
#include "topology/topology_kind.h"

#define X(name) &topology_##name,
const struct topology_kind *const topology_kinds[] = {
#include "topology/topology_list.h"
};
#undef X
const unsigned topology_kind_count = sizeof topology_kinds / sizeof topology_kinds[0];

/* Kind number `index` of those of one role. */
static const struct kind *at(enum topology_role role, unsigned index)
{
    for (unsigned i = 0; i < topology_kind_count; i++)
        if (topology_kinds[i]->role == role && index-- == 0)
            return &topology_kinds[i]->head;
    return NULL;
}

const struct kind *topology_node_at(unsigned index)
{
    return at(TOPOLOGY_NODE, index);
}

const struct kind *topology_fabric_at(unsigned index)
{
    return at(TOPOLOGY_FABRIC, index);
}

const struct topology_kind *topology_find(enum topology_role role, const char *name)
{
    kind_at_fn *const of_role = role == TOPOLOGY_NODE ? topology_node_at : topology_fabric_at;
    return (const struct topology_kind *)kind_find(of_role, name);
}

static bool check_network(const struct topology_spec *spec, struct error *error)
{
    uint64_t nics = topology_nics(spec);
    unsigned long long n = nics, gpus = spec->node.gpus;
    if (nics == 0)
        return error_set(error, "several nodes need a network, but a node has no NIC: set nics");
    if (nics > spec->node.gpus) {
        return error_set(error,
                         "more NICs (%llu) than GPUs (%llu) in a node: give at most one NIC for "
                         "each GPU and add up the rates of those that a GPU uses",
                         n, gpus);
    }
    if (spec->node.gpus % nics != 0) {
        return error_set(error,
                         "%llu NICs cannot be shared evenly by %llu GPUs: nics must divide gpus", n,
                         gpus);
    }
    double rate = topology_nic_bytes_per_s(spec);
    if (!(rate > 0 && isfinite(topology_port_bytes_per_s(spec)))) {
        return error_set(error, "several nodes need NICs with a line rate, an efficiency and a "
                                "PCIe bandwidth above 0");
    }
    return true;
}

static bool check_cluster(const struct topology_spec *spec, struct error *error)
{
    uint64_t gpus = spec->node.gpus;
    if (spec->nodes == 0 || gpus == 0)
        return error_set(error, "a cluster needs at least one node with at least one GPU");
    if (gpus > TOPOLOGY_GPU_MAX || spec->nodes > TOPOLOGY_GPU_MAX / gpus) {
        return error_set(error,
                         "%llu nodes of %llu GPUs are more than the %d GPUs that a cluster "
                         "may have",
                         (unsigned long long)spec->nodes, (unsigned long long)gpus,
                         TOPOLOGY_GPU_MAX);
    }
    const double latencies_s[] = {spec->node.nvlink.latency_s, spec->node.nvlink.step_s,
                                  spec->node.pcie.latency_s, spec->node.nic.latency_s,
                                  spec->fabric.switch_latency_s};
    for (unsigned i = 0; i < sizeof latencies_s / sizeof latencies_s[0]; i++)
        if (!(latencies_s[i] >= 0 && isfinite(latencies_s[i])))
            return error_set(error, "latencies must be finite and not below 0");
    return true;
}

/* What a cluster is made of: NICs of its nodes, devices and links. */
struct extent {
    uint64_t ports, node_vertices, node_links, vertices, links;
};

static struct extent extent_of(const struct topology_spec *spec)
{
    struct topology_size node = {0, 0}, fabric = {0, 0};
    spec->node.kind->size(spec, &node);
    uint64_t ports = spec->nodes > 1 ? spec->nodes * topology_nics(spec) : 0;
    if (spec->nodes > 1)
        spec->fabric.kind->size(spec, &fabric);
    return (struct extent){ports, node.vertices, node.links,
                           spec->nodes * node.vertices + fabric.vertices,
                           spec->nodes * node.links + 2 * ports + fabric.links};
}

bool topology_has_tiers(const struct topology_spec *spec)
{
    struct topology_size fabric = {0, 0};
    if (spec->nodes > 1)
        spec->fabric.kind->size(spec, &fabric);
    return fabric.links > 0;
}

/* Collisions are drawn, or expected, not both. */
static bool check_routing(const struct topology_spec *spec, struct error *error)
{
    bool both = spec->fabric.routing == ROUTING_HASHED && spec->fabric.kind->choices != NULL &&
                topology_draws_paths(spec);
    return !both || error_set(error, "routing: hashed expects the collisions that ecmp: 1 draws by "
                                     "`seed`: give one of the two");
}

static bool check_extent(const struct topology_spec *spec, struct error *error)
{
    struct extent extent = extent_of(spec);
    return (extent.vertices < 1U << 28 && extent.links < 1U << 28) ||
           error_set(error, "a cluster of %llu devices and %llu links is too large",
                     (unsigned long long)extent.vertices, (unsigned long long)extent.links);
}

bool topology_check(const struct topology_spec *spec, struct error *error)
{
    CHECK(spec->node.kind->role == TOPOLOGY_NODE && spec->fabric.kind->role == TOPOLOGY_FABRIC);
    return check_cluster(spec, error) && (spec->nodes == 1 || check_network(spec, error)) &&
           spec->node.kind->check(spec, error) && spec->fabric.kind->check(spec, error) &&
           (spec->nodes == 1 || check_routing(spec, error)) && check_extent(spec, error);
}

bool topology_build(struct arena *arena, const struct topology_spec *spec, struct topology *out,
                    struct error *error)
{
    if (!topology_check(spec, error))
        return false;
    struct extent extent = extent_of(spec);
    const uint32_t nics = (uint32_t)(extent.ports / spec->nodes);
    *out = (struct topology){.spec = *spec,
                             .node_count = (uint32_t)spec->nodes,
                             .gpus_per_node = (uint32_t)spec->node.gpus,
                             .gpu_count = (uint32_t)(spec->nodes * spec->node.gpus),
                             .nics_per_node = nics,
                             .node_vertices = (uint32_t)extent.node_vertices,
                             .node_links = (uint32_t)extent.node_links,
                             .by_gpus = divisor_of((uint32_t)spec->node.gpus),
                             .by_nic_gpus =
                                 divisor_of(nics > 0 ? (uint32_t)spec->node.gpus / nics : 1)};
    const struct graph_size size = {
        .nodes = out->node_count,
        .node_vertices = out->node_vertices,
        .node_links = out->node_links,
        .node_ports = out->nics_per_node,
        .vertices = (uint32_t)(extent.vertices - spec->nodes * extent.node_vertices),
        .links = (uint32_t)(extent.links - spec->nodes * extent.node_links - 2 * extent.ports),
    };
    graph_init(&out->graph, arena, &size);
    spec->node.kind->build(out);
    graph_repeat(&out->graph); /* invariants 1 and 2 */
    if (spec->nodes > 1)
        spec->fabric.kind->build(out);
    CHECK(out->graph.vertex_count == extent.vertices && out->graph.link_count == extent.links);
    return true;
}

void topology_route(const struct topology *t, uint32_t gpu_a, uint32_t gpu_b, uint64_t flow_seed,
                    struct route *route)
{
    CHECK(gpu_a < t->gpu_count && gpu_b < t->gpu_count);
    const struct topology_kind *node = t->spec.node.kind, *fabric = t->spec.fabric.kind;
    uint32_t node_a = topology_node_of(t, gpu_a), node_b = topology_node_of(t, gpu_b);
    route->link_count = 0;
    route->latency_s = 0;
    route->bytes_per_s = INFINITY;
    if (node_a == node_b) {
        node->route_inside(t, gpu_a, gpu_b, route);
        return;
    }
    uint32_t nic_b = node->nic_of(t, gpu_b);
    uint32_t nic_a = fabric->same_rail ? nic_b : node->nic_of(t, gpu_a);
    node->route_nic(t, gpu_a, nic_a, true, route);
    fabric->route_between(t, (struct nic_place){node_a, nic_a}, (struct nic_place){node_b, nic_b},
                          flow_seed, route);
    node->route_nic(t, gpu_b, nic_b, false, route);
}

bool topology_draws_paths(const struct topology_spec *spec)
{
    const struct topology_kind *fabric = spec->fabric.kind;
    return spec->nodes > 1 && fabric->draws_paths != NULL && fabric->draws_paths(spec);
}

struct vertex_id topology_gpu(const struct topology *t, uint32_t gpu)
{
    CHECK(gpu < t->gpu_count);
    const uint32_t node = topology_node_of(t, gpu);
    return (struct vertex_id){node * t->node_vertices + gpu - node * t->gpus_per_node};
}

uint32_t topology_nic_of(const struct topology *t, uint32_t gpu)
{
    CHECK(gpu < t->gpu_count && t->nics_per_node > 0);
    return t->spec.node.kind->nic_of(t, gpu);
}

static void scale_link(struct topology *t, uint32_t link, double ratio)
{
    struct link_type type = *graph_link_type(&t->graph, (struct link_id){link});
    type.bytes_per_s *= ratio;
    /* What came before or after it no longer proves that it cannot bind. */
    type.binding = true;
    graph_set_type(&t->graph, (struct link_id){link}, graph_type(&t->graph, &type));
}

uint32_t topology_degrade(struct topology *t, uint32_t gpu, enum link_kind kind, double ratio)
{
    CHECK(ratio > 0 && ratio <= 1);
    uint32_t node = topology_node_of(t, gpu);
    if (kind == LINK_NIC) {
        if (t->nics_per_node == 0)
            return 0;
        uint32_t port = node * t->nics_per_node + topology_nic_of(t, gpu);
        scale_link(t, topology_nic_out(t, port).value, ratio);
        scale_link(t, topology_nic_in(t, port).value, ratio);
        return 2;
    }
    uint32_t vertex = topology_gpu(t, gpu).value, scaled = 0;
    for (uint32_t i = node * t->node_links; i < (node + 1) * t->node_links; i++) {
        const struct link link = graph_link_at(&t->graph, (struct link_id){i});
        bool touches = link.from.value == vertex || link.to.value == vertex;
        if (touches && graph_link_type(&t->graph, (struct link_id){i})->kind == kind) {
            scale_link(t, i, ratio);
            scaled++;
        }
    }
    return scaled;
}
