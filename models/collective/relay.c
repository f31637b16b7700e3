/* relay - rows of tokens to the ranks of their experts, or back, by two hops at once.
 *
 * A row goes to another node by the NIC of the GPU that has the same place there, which sends it on
 * over NVLink to those of its node that want it (arXiv:2412.19437 section 3.2.2; deepseek-ai/DeepEP
 * csrc/kernels/internode.cu). Both go on at the same time, so the slower wire sets the pace. The
 * payload is a member's rows, one for each visit of an expert; how many of them really cross says
 * the dispatch: a node or a rank that several of a token's experts share gets one. On the way back
 * the same bytes go the other way, added up at the same places. */
#include <math.h>

#include "models/collective/nccl_facts.h"

enum {
    FELLOWS_KEPT = 128 /* members of a node; what further ones get is worked out each time */
};

static bool carries(enum comm_op op, const struct group_shape *shape)
{
    return op == COMM_EXPERT_EXCHANGE && shape->dispatch != NULL && shape->dispatch->relays;
}

/* Rows that a member, or all from one to the next, get of each payload row; every member has as
 * many experts. */
static double arrive(const struct group_shape *shape, uint32_t member, uint32_t count, bool once)
{
    const uint32_t each = shape->routing.experts / shape->ranks;
    if (!once)
        return (double)count / shape->ranks;
    return routing_reach(&shape->routing, member * each, count * each) / shape->routing.per_token;
}

/* Bytes that a member's NVLink port sends, and its NIC, for each payload byte: in the mean over
 * members, as many in each node. */
static double inside_weight(const struct group_shape *shape)
{
    double sum = 0.0, fellows = shape->ranks_per_node;
    for (uint32_t i = 0; i < shape->ranks; i++)
        sum += arrive(shape, i, 1, shape->dispatch->once_per_rank);
    return sum * (fellows - 1.0) / fellows;
}

static double outside_weight(const struct group_shape *shape)
{
    const uint32_t k = shape->ranks_per_node;
    double sum = 0.0;
    for (uint32_t first = 0; first < shape->ranks; first += k) {
        const uint32_t count = shape->ranks - first < k ? shape->ranks - first : k;
        sum += arrive(shape, first, count, shape->dispatch->once_per_node);
    }
    return sum * (shape->nodes - 1.0) / shape->nodes;
}

static double port_weight(enum comm_op op, const struct group_shape *shape)
{
    (void)op;
    return shape->ranks_per_node > 1 ? inside_weight(shape) : outside_weight(shape);
}

static double inside_rate(const struct group_shape *shape)
{
    const double ratio = shape->dispatch->nvlink_ratio;
    const double links = 1.0 + shape->inside.extra_links;
    return ratio > 0.0 && shape->inside.nvlink
               ? shape->inside.bytes_per_s * ratio * links
               : nccl_inside_bytes_per_s(shape, PROTOCOL_SIMPLE) * links;
}

static bool plan(enum comm_op op, const struct group_shape *shape, double bytes,
                 enum protocol protocol, struct collective_plan *out)
{
    (void)op;
    if (protocol != PROTOCOL_SIMPLE)
        return false;
    out->latency_s = nccl_start_s(shape, nccl_base_s[NCCL_RING][protocol]);
    out->cap_bytes_per_s = INFINITY;
    if (shape->ranks_per_node > 1) {
        out->latency_s += nccl_inside_step_s(shape, NCCL_RING, protocol);
        out->cap_bytes_per_s = inside_rate(shape) / inside_weight(shape);
    }
    if (shape->nodes > 1) {
        const double ratio = shape->dispatch->nic_ratio;
        const double rate = shape->outside_bytes_per_s * (ratio > 0.0 ? ratio : 1.0);
        out->latency_s += nccl_net_step_s(shape, NCCL_RING, protocol);
        out->cap_bytes_per_s =
            fmin(out->cap_bytes_per_s, rate / (outside_weight(shape) * shape->ranks_per_node));
    }
    out->time_s = out->latency_s + bytes / out->cap_bytes_per_s;
    return true;
}

/* One past the last member of the node in which `first` is the first. */
static uint32_t node_end(const struct group_shape *shape, const uint32_t *node_of, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < shape->ranks && node_of[end] == node_of[first])
        end++;
    return end;
}

/* Rows to the node of members first .. end - 1: from each member of another node to the one of its
 * place there (round again where that node has fewer), and from there to its fellows. */
static void fill_node(const struct group_shape *shape, const uint32_t *node_of, uint32_t first,
                      uint32_t end, wire_fn *emit, void *context)
{
    const struct dispatch_kind *kind = shape->dispatch;
    const double crossing = arrive(shape, first, end - first, kind->once_per_node);
    double rows[FELLOWS_KEPT];
    for (uint32_t to = first; to < end && to - first < FELLOWS_KEPT; to++)
        rows[to - first] = arrive(shape, to, 1, kind->once_per_rank);
    for (uint32_t relay = first; relay < end; relay++) {
        double sources = 1.0;
        for (uint32_t from = 0, next; from < shape->ranks; from = next) {
            next = node_end(shape, node_of, from);
            for (uint32_t i = from; i < next && from != first; i++) {
                if ((i - from) % (end - first) != relay - first)
                    continue;
                emit(context, i, relay, crossing);
                sources += 1.0;
            }
        }
        for (uint32_t to = first; to < end; to++)
            if (to != relay)
                emit(context, relay, to,
                     sources * (to - first < FELLOWS_KEPT
                                    ? rows[to - first]
                                    : arrive(shape, to, 1, kind->once_per_rank)));
    }
}

static void wires(enum comm_op op, const struct group_shape *shape, const uint32_t *node_of,
                  wire_fn *emit, void *context)
{
    (void)op;
    for (uint32_t first = 0, end; first < shape->ranks; first = end) {
        end = node_end(shape, node_of, first);
        fill_node(shape, node_of, first, end, emit, context);
    }
}

const struct collective_kind collective_relay = {
    .head = {.name = "relay",
             .doc = "token rows to their experts, between nodes over NICs, then over NVLink"},
    .carries = carries,
    .plan = plan,
    .wires = wires,
    .port_weight = port_weight,
};
