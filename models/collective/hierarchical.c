/* hierarchical - in the node first, then across: reduce-scatter by the switch, all-reduce of each
 * member's n-th with its peers of other nodes, all-gather by the switch.
 *
 * NCCL's NVLSTree on machines with in-switch reduction: two trees join the nodes, so that the
 * network carries the payload twice out of a node over all its NICs (once between two nodes), in
 * 2 log2(N) steps, and a port of the switch (k + 1)/k. */
#include <math.h>

#include "models/collective/nccl_facts.h"

static bool carries(enum comm_op op, const struct group_shape *shape)
{
    return op == COMM_ALL_REDUCE && shape->nvls && shape->even && shape->nodes > 1 &&
           shape->ranks_per_node > 1;
}

static double inside_weight(const struct group_shape *shape)
{
    double k = shape->ranks_per_node;
    return (k + 1.0) / k;
}

static double outside_weight(const struct group_shape *shape)
{
    return shape->nodes > 2 ? 2.0 : 1.0; /* both ways; between two nodes once: trees of two */
}

static double port_weight(enum comm_op op, const struct group_shape *shape)
{
    (void)op;
    return inside_weight(shape);
}

static bool plan(enum comm_op op, const struct group_shape *shape, double bytes,
                 enum protocol protocol, struct collective_plan *out)
{
    (void)op;
    if (protocol != PROTOCOL_SIMPLE)
        return false;
    double steps = 2.0 * ceil(log2((double)shape->nodes));
    double step_s = nccl_nvls_net_step_s + shape->outside_latency_s + shape->transport_latency_s;
    out->latency_s =
        nccl_start_s(shape, nccl_nvls_base_s) + shape->inside.latency_s + steps * step_s;
    out->cap_bytes_per_s = fmin(nccl_nvls_bytes_per_s(shape, inside_weight(shape), INFINITY),
                                nccl_outside_bytes_per_s(shape, protocol) / outside_weight(shape));
    nccl_end_plan(shape, 1.0, steps, bytes, protocol, out);
    return true;
}

static void wires(enum comm_op op, const struct group_shape *shape, const uint32_t *node_of,
                  wire_fn *emit, void *context)
{
    (void)op;
    (void)node_of;
    uint32_t k = shape->ranks_per_node;
    for (uint32_t node = 0; node < shape->nodes; node++) {
        uint32_t next = (node + 1) % shape->nodes;
        for (uint32_t j = 0; j < k; j++) {
            emit(context, node * k + j, node * k + j, inside_weight(shape));
            emit(context, node * k + j, next * k + j, outside_weight(shape) / k);
        }
    }
}

const struct collective_kind collective_hierarchical = {
    .head = {.name = "hierarchical",
             .doc = "in-switch reduction in each node, then an exchange across nodes (NVLSTree)"},
    .carries = carries,
    .plan = plan,
    .wires = wires,
    .port_weight = port_weight,
};
