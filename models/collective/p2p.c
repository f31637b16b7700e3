/* p2p - one message from member 0 to member 1: ncclSend and ncclRecv, Simple protocol. */
#include "models/collective/nccl_facts.h"

static bool carries(enum comm_op op, const struct group_shape *shape)
{
    return op == COMM_SEND && shape->ranks == 2;
}

static double port_weight(enum comm_op op, const struct group_shape *shape)
{
    (void)op;
    (void)shape;
    return 1.0;
}

static bool plan(enum comm_op op, const struct group_shape *shape, double bytes,
                 enum protocol protocol, struct collective_plan *out)
{
    (void)op;
    if (protocol != PROTOCOL_SIMPLE)
        return false;
    bool across = shape->nodes > 1;
    out->latency_s = nccl_start_s(shape, nccl_base_s[NCCL_RING][protocol]) +
                     (across ? nccl_net_step_s(shape, NCCL_RING, protocol)
                             : nccl_inside_step_s(shape, NCCL_RING, protocol));
    out->cap_bytes_per_s = across ? nccl_outside_bytes_per_s(shape, protocol)
                                  : nccl_inside_bytes_per_s(shape, protocol);
    out->time_s = out->latency_s + bytes / out->cap_bytes_per_s;
    return true;
}

static void wires(enum comm_op op, const struct group_shape *shape, const uint32_t *node_of,
                  wire_fn *emit, void *context)
{
    (void)op;
    (void)shape;
    (void)node_of;
    emit(context, 0, 1, 1.0);
}

const struct collective_kind collective_p2p = {
    .head = {.name = "p2p", .doc = "one message from a sender to a receiver"},
    .carries = carries,
    .plan = plan,
    .wires = wires,
    .port_weight = port_weight,
};
