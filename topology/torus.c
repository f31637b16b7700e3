/* torus - nodes on a ring, a 2D or a 3D torus, a router in each.
 *
 *      |   |   |
 *    --R---R---R--        every router is joined to its two neighbours in each dimension, the last
 *      |   |   |          to the first; the NICs of a node all hang on its router
 *    --R---R---R--
 *      |   |   |
 *
 * Node n stands at x = n mod X, y = n / X mod Y, z = n / (X Y). Between two neighbours lie `cables`
 * cables of the NICs' rate, which act as one link: routers on both ends deal packets to parallel
 * cables. A dimension of side 2 has one such bundle, not two.
 * Routes are dimension-ordered (x, then y, then z), each the shorter way round; when both ways are
 * equal, even positions go up and odd ones down, which loads both directions alike (Dally & Towles,
 * Principles and Practices of Interconnection Networks, 8.4.2, choose at random there).
 *
 * Binding: every link between routers: what passes through joins what is sent. */
#include "sim/check.h"
#include "topology/topology_kind.h"

enum {
    DIMENSIONS = 3
};
enum {
    SIDE_X,
    SIDE_Y,
    SIDE_Z,
    CABLES
};

static const struct param options[] = {
    {"x", PARAM_COUNT, SIDE_X, 1, 65536, NULL, NULL, "Nodes along the first dimension."},
    {"y", PARAM_COUNT, SIDE_Y, 1, 65536, "1", NULL, "Nodes along the second dimension; 1: a ring."},
    {"z", PARAM_COUNT, SIDE_Z, 1, 65536, "1", NULL, "Nodes along the third dimension; 1: flat."},
    {"cables", PARAM_COUNT, CABLES, 1, 1024, "1", NULL,
     "Cables of the NICs' rate between two neighbours."},
};

/* stride: nodes between neighbours. ways: links that leave a router in a dimension (2; 1 when side
 * is 2; 0 when it is 1). first: how many leave it in the dimensions before. */
struct torus_shape {
    uint32_t side[DIMENSIONS], stride[DIMENSIONS], ways[DIMENSIONS], first[DIMENSIONS];
    uint32_t degree, nics;
};

static void measure(const struct topology_spec *spec, struct torus_shape *a)
{
    uint32_t stride = 1, degree = 0;
    for (unsigned d = 0; d < DIMENSIONS; d++) {
        uint32_t side = (uint32_t)spec->fabric.options.value[d];
        a->side[d] = side;
        a->stride[d] = stride;
        a->ways[d] = side > 2 ? 2 : side - 1;
        a->first[d] = degree;
        stride *= side;
        degree += a->ways[d];
    }
    a->degree = degree;
    a->nics = (uint32_t)topology_nics(spec);
}

/* Hops are at most the sum of half sides; besides those a route has the links inside two nodes (PXN
 * or the host's: 4 each) and of two NICs. */
enum {
    HOPS_MAX = ROUTE_MAX - 2 * 4 - 2
};

static bool check(const struct topology_spec *spec, struct error *error)
{
    const struct kind_options *given = &spec->fabric.options;
    uint64_t side[DIMENSIONS], cables, product = 1, hops = 0;
    if (!topology_option(given, options, CABLES, &cables, error))
        return false;
    for (unsigned d = 0; d < DIMENSIONS; d++) {
        if (!topology_option(given, options, d, &side[d], error))
            return false;
        product *= side[d];
        hops += side[d] / 2;
    }
    if (product != spec->nodes) {
        return error_set(
            error, "a torus of %llu x %llu x %llu holds %llu nodes, but the cluster has %llu",
            (unsigned long long)side[0], (unsigned long long)side[1], (unsigned long long)side[2],
            (unsigned long long)product, (unsigned long long)spec->nodes);
    }
    if (hops > HOPS_MAX) {
        return error_set(error,
                         "the longest route of this torus has %llu hops, more than the %d that a "
                         "route may have: choose sides that are more alike",
                         (unsigned long long)hops, HOPS_MAX);
    }
    return true;
}

static void size(const struct topology_spec *spec, struct topology_size *size)
{
    struct torus_shape a;
    measure(spec, &a);
    *size = (struct topology_size){.vertices = spec->nodes, .links = spec->nodes * a.degree};
}

static uint32_t neighbour(const struct torus_shape *a, uint32_t node, unsigned d, uint32_t way)
{
    uint32_t place = node / a->stride[d] % a->side[d];
    uint32_t next = (place + (way == 0 ? 1 : a->side[d] - 1)) % a->side[d];
    return node + (next - place) * a->stride[d]; /* modulo 2^32, like the subtraction */
}

static void build(struct topology *t)
{
    struct graph *graph = &t->graph;
    struct torus_shape *a = ARENA_NEW(graph->arena, struct torus_shape);
    measure(&t->spec, a);
    t->fabric_private = a;
    uint32_t first = graph->vertex_count;
    for (uint32_t node = 0; node < t->node_count; node++)
        graph_vertex(graph, VERTEX_ROUTER, NODE_NONE, node);
    for (uint32_t port = 0; port < t->node_count * a->nics; port++)
        topology_join_nic(t, port, (struct vertex_id){first + port / a->nics});
    struct link_type hop = {LINK_FABRIC, true,
                            t->spec.fabric.options.value[CABLES] *
                                topology_port_bytes_per_s(&t->spec),
                            t->spec.fabric.switch_latency_s};
    uint32_t type = graph_type(graph, &hop);
    for (uint32_t node = 0; node < t->node_count; node++) {
        for (unsigned d = 0; d < DIMENSIONS; d++) {
            for (uint32_t way = 0; way < a->ways[d]; way++) {
                graph_link(graph, (struct vertex_id){first + node},
                           (struct vertex_id){first + neighbour(a, node, d, way)}, type);
            }
        }
    }
}

/* The way round from place to place that is shorter: 0 up, 1 down. */
static uint32_t shorter_way(uint32_t side, uint32_t from, uint32_t to)
{
    uint32_t up = (to + side - from) % side;
    if (side == 2 || 2 * up < side)
        return 0;
    return 2 * up > side ? 1 : from % 2;
}

static void route_between(const struct topology *t, struct nic_place from, struct nic_place to,
                          uint64_t flow_seed, struct route *r)
{
    (void)flow_seed; /* one path for each pair */
    const struct torus_shape *a = t->fabric_private;
    uint32_t base = topology_nic_out(t, t->node_count * a->nics).value, node = from.node;
    topology_route_append(t, r, topology_nic_out(t, from.node * a->nics + from.nic));
    for (unsigned d = 0; d < DIMENSIONS; d++) {
        uint32_t goal = to.node / a->stride[d] % a->side[d];
        uint32_t way = shorter_way(a->side[d], node / a->stride[d] % a->side[d], goal);
        while (node / a->stride[d] % a->side[d] != goal) {
            topology_route_append(t, r,
                                  (struct link_id){base + node * a->degree + a->first[d] + way});
            node = neighbour(a, node, d, way);
        }
    }
    CHECK(node == to.node);
    topology_route_append(t, r, topology_nic_in(t, to.node * a->nics + to.nic));
}

const struct topology_kind topology_torus = {
    .head = {.name = "torus",
             .doc = "A ring, 2D or 3D torus of nodes with dimension-ordered routes.",
             .options = {options, sizeof options / sizeof options[0]}},
    .role = TOPOLOGY_FABRIC,
    .check = check,
    .size = size,
    .build = build,
    .route_between = route_between,
};
