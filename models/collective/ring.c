/* ring - every member passes pieces to the next: n - 1 steps, twice for an all-reduce.
 *
 * Inside a node the pieces go round the switch; across nodes NCCL runs one ring for each NIC, each
 * crossing a node's border once, so that every NIC of the members carries an equal share and every
 * inside link of a k-member node carries (k - 1)/k of the payload. Uneven groups run one ring.
 * Where each member has a link to each other (no switch) there are as many rings as fellows, each
 * over other links (a complete graph falls into such rings: Tillson 1980, but of 4 and 6, which
 * share), as RCCL's on the mesh of Infinity Fabric.
 * Bytes on a port: 2(n-1)/n of the payload (all-reduce), (n-1)/n (all-gather, reduce-scatter, and a
 * ring exchange, in which every member's n-th of the payload visits the n - 1 others), 1
 * (broadcast). */
#include <math.h>

#include "models/collective/nccl_facts.h"

static bool carries(enum comm_op op, const struct group_shape *shape)
{
    (void)shape;
    return op == COMM_ALL_REDUCE || op == COMM_ALL_GATHER || op == COMM_REDUCE_SCATTER ||
           op == COMM_BROADCAST || op == COMM_RING_EXCHANGE;
}

static double step_count(enum comm_op op, double members)
{
    return (op == COMM_ALL_REDUCE ? 2.0 : 1.0) * (members - 1.0);
}

static double port_weight(enum comm_op op, const struct group_shape *shape)
{
    double n = shape->ranks;
    if (op == COMM_BROADCAST)
        return 1.0;
    return (op == COMM_ALL_REDUCE ? 2.0 : 1.0) * (n - 1.0) / n;
}

/* A ring exchange crosses nodes with whole messages, one from each node; other rings run a channel
 * for each NIC. */
static double channels(enum comm_op op, const struct group_shape *shape)
{
    bool many = shape->nodes > 1 && shape->even && op != COMM_RING_EXCHANGE;
    return many ? shape->ranks_per_node : 1.0;
}

/* Rings inside a node that go different ways; an exchange with a neighbour has one way. */
static double ways(enum comm_op op, const struct group_shape *shape)
{
    return op == COMM_RING_EXCHANGE ? 1.0 : 1.0 + shape->inside.extra_links;
}

static double rate_ceiling(enum comm_op op, const struct group_shape *shape, enum protocol protocol)
{
    double weight = port_weight(op, shape);
    double ceiling = INFINITY;
    if (shape->ranks_per_node > 1)
        ceiling = nccl_inside_bytes_per_s(shape, protocol) * ways(op, shape) / weight;
    if (shape->nodes > 1) {
        double used = channels(op, shape) / shape->ranks_per_node;
        ceiling = fmin(ceiling, nccl_outside_bytes_per_s(shape, protocol) * used / weight);
    }
    return ceiling;
}

/* A piece of a ring goes on over a node's border once for each node; in an exchange some member
 * waits for a whole block across a border in every step. */
static double outside_steps(enum comm_op op, const struct group_shape *shape, double steps)
{
    return op == COMM_RING_EXCHANGE ? steps : fmin(steps, step_count(op, shape->nodes));
}

static bool plan(enum comm_op op, const struct group_shape *shape, double bytes,
                 enum protocol protocol, struct collective_plan *out)
{
    if (protocol == PROTOCOL_LL128 && !shape->inside.nvlink)
        return false; /* NCCL enables LL128 on NVLink machines only */
    double steps = step_count(op, shape->ranks);
    double outside = shape->nodes > 1 ? outside_steps(op, shape, steps) : 0.0;
    out->latency_s = nccl_start_s(shape, nccl_base_s[NCCL_RING][protocol]) +
                     (steps - outside) * nccl_inside_step_s(shape, NCCL_RING, protocol) +
                     outside * nccl_net_step_s(shape, NCCL_RING, protocol);
    out->cap_bytes_per_s = rate_ceiling(op, shape, protocol);
    nccl_end_plan(shape, steps - outside, outside, bytes, protocol, out);
    return true;
}

/* What member j of a node sends its fellows: all to the next, or a part to each. */
static void wires_inside(const struct group_shape *shape, uint32_t node, uint32_t j, double weight,
                         wire_fn *emit, void *context)
{
    const uint32_t k = shape->ranks_per_node, first = node * k;
    const uint32_t links = 1 + shape->inside.extra_links;
    for (uint32_t i = 1; i <= links; i++)
        emit(context, first + j, first + (j + i) % k, weight / links);
}

static void wires_channels(const struct group_shape *shape, double weight, wire_fn *emit,
                           void *context)
{
    uint32_t k = shape->ranks_per_node;
    for (uint32_t node = 0; node < shape->nodes; node++) {
        uint32_t next = (node + 1) % shape->nodes;
        for (uint32_t j = 0; j < k; j++) {
            emit(context, node * k + j, next * k + j, weight / k);
            if (k > 1)
                wires_inside(shape, node, j, weight * (k - 1) / k, emit, context);
        }
    }
}

static void wires(enum comm_op op, const struct group_shape *shape, const uint32_t *node_of,
                  wire_fn *emit, void *context)
{
    (void)node_of;
    double weight = port_weight(op, shape);
    if (channels(op, shape) > 1.0 || (shape->nodes > 1 && shape->ranks_per_node == 1)) {
        wires_channels(shape, weight, emit, context);
        return;
    }
    const bool apart = shape->nodes == 1 && ways(op, shape) > 1.0;
    for (uint32_t i = 0; i < shape->ranks; i++)
        if (apart)
            wires_inside(shape, 0, i, weight, emit, context);
        else
            emit(context, i, (i + 1) % shape->ranks, weight);
}

const struct collective_kind collective_ring = {
    .head =
        {.name = "ring",
         .doc =
             "every member passes pieces to the next: n - 1 steps, twice that for an all-reduce"},
    .carries = carries,
    .plan = plan,
    .wires = wires,
    .port_weight = port_weight,
};
