/* direct - all-to-all: every member sends its n-th to every other member at once.
 *
 * The payload is a member's whole buffer, as nccl-tests counts: a port sends (n-1)/n of it. NCCL
 * has no all-to-all of its own: it groups sends and receives, all with the Simple protocol. Its
 * many messages spread over hashed paths evenly enough. */
#include <math.h>

#include "models/collective/nccl_facts.h"

static bool carries(enum comm_op op, const struct group_shape *shape)
{
    (void)shape;
    return op == COMM_ALL_TO_ALL;
}

static double port_weight(enum comm_op op, const struct group_shape *shape)
{
    (void)op;
    double n = shape->ranks;
    return (n - 1.0) / n;
}

/* What the messages to fellows reach of a member's link. */
static double inside_rate(const struct group_shape *shape)
{
    return shape->inside.bytes_per_s * (shape->inside.nvlink ? shape->exchange_ratio : 1.0);
}

static bool plan(enum comm_op op, const struct group_shape *shape, double bytes,
                 enum protocol protocol, struct collective_plan *out)
{
    if (protocol != PROTOCOL_SIMPLE)
        return false;
    double n = shape->ranks, k = shape->ranks_per_node;
    out->latency_s = nccl_start_s(shape, nccl_exchange_base_s) +
                     (shape->nodes > 1 ? nccl_net_step_s(shape, NCCL_RING, protocol)
                                       : nccl_inside_step_s(shape, NCCL_RING, protocol));
    out->cap_bytes_per_s = INFINITY;
    if (k > 1.0)
        out->cap_bytes_per_s =
            inside_rate(shape) * (1.0 + shape->inside.extra_links) / port_weight(op, shape);
    if (shape->nodes > 1) {
        double leaves = k * (n - k) / n; /* payloads that leave a node, for each payload byte */
        out->cap_bytes_per_s = fmin(out->cap_bytes_per_s, shape->outside_bytes_per_s / leaves);
    }
    out->time_s = out->latency_s + bytes / out->cap_bytes_per_s;
    return true;
}

static double exchange_weight(enum comm_op op, const struct group_shape *shape)
{
    (void)op;
    return 1.0 / shape->ranks;
}

static void wires(enum comm_op op, const struct group_shape *shape, const uint32_t *node_of,
                  wire_fn *emit, void *context)
{
    const double weight = exchange_weight(op, shape);
    (void)node_of;
    for (uint32_t i = 0; i < shape->ranks; i++) {
        for (uint32_t j = 0; j < shape->ranks; j++)
            if (i != j)
                emit(context, i, j, weight);
    }
}

const struct collective_kind collective_direct = {
    .head = {.name = "direct",
             .doc = "all-to-all with one message from each member to every other"},
    .carries = carries,
    .plan = plan,
    .wires = wires,
    .exchange_weight = exchange_weight,
    .port_weight = port_weight,
};
