/* tree - NCCL's double binary tree: all-reduce in 2 log2(nodes) network steps.
 *
 * Between nodes only: in one node the chain would take 31 us with LL128, where 8 H100 take the 41
 * of a ring (collectives.csv, azure, 64 KiB to 1 MiB). Inside a node the members form a chain
 * (reduce towards the head, broadcast back); across nodes two complementary binary trees each carry
 * half of the payload, so that every node is an inner node of one and a leaf of the other and its
 * NICs carry twice the payload each way. Sources: Sanders, Speck and Traeff (2009),
 * doi:10.1016/j.parco.2009.09.001; NVIDIA/nccl src/graph/trees.cc, tuning.cc. */
#include <math.h>

#include "models/collective/nccl_facts.h"

static bool carries(enum comm_op op, const struct group_shape *shape)
{
    return op == COMM_ALL_REDUCE && shape->even && shape->nodes > 1;
}

/* A chain's members send the payload up and down, the head across as well; the network carries it
 * both ways too, but between two nodes once. */
#define INSIDE_WEIGHT 2.0

static double outside_weight(const struct group_shape *shape)
{
    return shape->nodes > 2 ? 2.0 : 1.0;
}

static double port_weight(enum comm_op op, const struct group_shape *shape)
{
    (void)op;
    if (shape->ranks_per_node > 1)
        return INSIDE_WEIGHT;
    return outside_weight(shape);
}

/* What the channels carry, each between one NIC and a chain over NVLink. */
static double channel_ceiling(const struct group_shape *shape)
{
    if (shape->rails == 0 || !shape->inside.nvlink)
        return INFINITY;
    double ratio = shape->nodes > 2 ? nccl_tree_channel_many_ratio : nccl_tree_channel_ratio;
    return shape->rails * ratio * shape->inside.bytes_per_s / 2.0;
}

static bool plan(enum comm_op op, const struct group_shape *shape, double bytes,
                 enum protocol protocol, struct collective_plan *out)
{
    (void)op;
    if (protocol == PROTOCOL_LL128 && !shape->inside.nvlink)
        return false;
    double inside_steps = 2.0 * (shape->ranks_per_node - 1.0);
    double outside_steps = 2.0 * ceil(log2((double)shape->nodes));
    out->latency_s = nccl_start_s(shape, nccl_base_s[NCCL_TREE][protocol]) +
                     inside_steps * nccl_inside_step_s(shape, NCCL_TREE, protocol) +
                     outside_steps * nccl_net_step_s(shape, NCCL_TREE, protocol);
    double ceiling = INFINITY;
    if (shape->ranks_per_node > 1)
        ceiling = nccl_inside_bytes_per_s(shape, protocol) / INSIDE_WEIGHT;
    ceiling = fmin(ceiling, nccl_outside_bytes_per_s(shape, protocol) / outside_weight(shape));
    out->cap_bytes_per_s = fmin(ceiling * nccl_tree_ratio, channel_ceiling(shape));
    nccl_end_plan(shape, inside_steps, outside_steps, bytes, protocol, out);
    return true;
}

/* Where node i of the second tree stands: so that leaves of one tree are inner nodes of the other,
 * NCCL counts from the other end for an even number of nodes and shifts by one for an odd one. */
static uint32_t twin(uint32_t i, uint32_t nodes)
{
    return nodes % 2 == 0 ? nodes - 1 - i : (i + 1) % nodes;
}

/* Edges of one in-order binary tree: a node's level is its lowest set bit; 0 is the root. */
static void tree_edges(const struct group_shape *shape, bool second, wire_fn *emit, void *context)
{
    uint32_t nodes = shape->nodes, k = shape->ranks_per_node;
    for (uint32_t i = 1; i < nodes; i++) {
        uint32_t bit = i & (~i + 1);
        uint32_t above = (i ^ bit) | (bit << 1);
        uint32_t parent = above < nodes ? above : i ^ bit;
        uint32_t from = second ? twin(i, nodes) : i;
        uint32_t to = second ? twin(parent, nodes) : parent;
        for (uint32_t j = 0; j < k; j++) {
            emit(context, from * k + j, to * k + j, 0.5 / k);
            emit(context, to * k + j, from * k + j, 0.5 / k);
        }
    }
}

static void wires(enum comm_op op, const struct group_shape *shape, const uint32_t *node_of,
                  wire_fn *emit, void *context)
{
    (void)op;
    (void)node_of;
    uint32_t k = shape->ranks_per_node;
    for (uint32_t node = 0; node < shape->nodes; node++) {
        for (uint32_t j = 0; j + 1 < k; j++) {
            emit(context, node * k + j, node * k + j + 1, 1.0);
            emit(context, node * k + j + 1, node * k + j, 1.0);
        }
    }
    tree_edges(shape, false, emit, context);
    tree_edges(shape, true, emit, context);
}

const struct collective_kind collective_tree = {
    .head = {.name = "tree",
             .doc =
                 "double binary tree across nodes, a chain inside: few steps, twice the payload"},
    .carries = carries,
    .plan = plan,
    .wires = wires,
    .port_weight = port_weight,
};
