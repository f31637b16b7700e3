/* nvls - reduction and multicast inside the NVSwitch (NVLink SHARP), one node.
 *
 * For an all-reduce each member pulls its n-th of the sum out of the switch, which reads that piece
 * from all members, and multicasts it: a port carries (n + 1)/n of the payload each way. All-gather
 * multicasts once (a port receives the whole payload), reduce-scatter is its mirror. Facts: NVIDIA
 * H100 white paper (third-generation NVSwitch), NVIDIA/nccl src/device/all_reduce.h. Channels work
 * through the payload in rounds of chunks; a chunk is reduced while the one before is handed out.
 */
#include <math.h>

#include "models/collective/nccl_facts.h"

static bool carries(enum comm_op op, const struct group_shape *shape)
{
    bool reduces = op == COMM_ALL_REDUCE || op == COMM_ALL_GATHER || op == COMM_REDUCE_SCATTER;
    return reduces && shape->nvls && shape->nodes == 1 && shape->ranks > 2;
}

static double port_weight(enum comm_op op, const struct group_shape *shape)
{
    double n = shape->ranks;
    return op == COMM_ALL_REDUCE ? (n + 1.0) / n : 1.0;
}

static bool plan(enum comm_op op, const struct group_shape *shape, double bytes,
                 enum protocol protocol, struct collective_plan *out)
{
    if (protocol != PROTOCOL_SIMPLE)
        return false;
    double round = nccl_nvls_round_bytes(shape, bytes), weight = port_weight(op, shape);
    double peak_bytes_per_s = shape->inside.bytes_per_s * shape->nvls_ratio / weight;
    out->cap_bytes_per_s = nccl_nvls_bytes_per_s(shape, weight, bytes);
    out->latency_s = nccl_start_s(shape, nccl_nvls_base_s) + shape->inside.latency_s +
                     fmin(bytes, round) / peak_bytes_per_s; /* reduced first, then handed out */
    out->time_s = out->latency_s + bytes / out->cap_bytes_per_s;
    return true;
}

static void wires(enum comm_op op, const struct group_shape *shape, const uint32_t *node_of,
                  wire_fn *emit, void *context)
{
    (void)node_of;
    for (uint32_t i = 0; i < shape->ranks; i++)
        emit(context, i, i, port_weight(op, shape));
}

const struct collective_kind collective_nvls = {
    .head = {.name = "nvls", .doc = "reduction and multicast inside the NVSwitch of one node"},
    .carries = carries,
    .plan = plan,
    .wires = wires,
    .port_weight = port_weight,
};
