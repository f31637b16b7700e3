#include <math.h>
#include <string.h>

#include "models/collective/collective_kind.h"
#include "sim/check.h"

const char *const comm_op_names[] = {"all_reduce",    "all_gather",      "reduce_scatter",
                                     "broadcast",     "all_to_all",      "send",
                                     "ring_exchange", "expert_exchange", NULL};
const char *const protocol_names[] = {"ll", "ll128", "simple", NULL};

#define X(name) &collective_##name,
const struct collective_kind *const collective_kinds[] = {
#include "models/collective/collective_list.h"
};
#undef X
KIND_TABLE(collective)

static double slowest_of(const struct group_paths *paths)
{
    return paths->tier_count == 0 ? 1.0
                                  : topology_slowest_ratio(paths->tiers, paths->tier_count,
                                                           paths->flows, paths->sending_ratio);
}

static void tune(enum comm_op op, const struct group_shape *paced, double bytes,
                 struct collective_plan *out)
{
    *out = (struct collective_plan){.cap_bytes_per_s = INFINITY, .time_s = INFINITY};
    for (unsigned i = 0; i < collective_kind_count; i++) {
        const struct collective_kind *kind = collective_kinds[i];
        if (!kind->carries(op, paced))
            continue;
        for (int p = 0; p < PROTOCOL_COUNT; p++) {
            struct collective_plan plan = {.kind = kind, .protocol = (enum protocol)p};
            if (kind->plan(op, paced, bytes, plan.protocol, &plan) && plan.time_s < out->time_s)
                *out = plan;
        }
    }
    CHECK(out->kind != NULL);
}

/* Does a group on several nodes do all that its members of one node would do for this payload? */
static bool contains_node(enum comm_op op, const struct group_shape *shape)
{
    bool whole = op == COMM_ALL_REDUCE || op == COMM_ALL_GATHER || op == COMM_REDUCE_SCATTER ||
                 op == COMM_BROADCAST;
    return whole && shape->nodes > 1 && shape->even && shape->ranks_per_node > 1 &&
           (shape->nvls || shape->inside.one_node_s > 0.0); /* else its steps alone say so */
}

/* What the part of one node takes. Waits of one node (rounds of in-switch reduction, nvlink_step)
 * were measured there alone, and the formulas of several nodes have none of them. */
static double node_s(enum comm_op op, const struct group_shape *shape, double bytes)
{
    struct group_shape one = *shape;
    struct collective_plan plan;
    one.nodes = 1;
    one.ranks = shape->ranks_per_node;
    one.rails = 0;
    one.inside.latency_s += shape->inside.one_node_s;
    tune(op, &one, bytes, &plan);
    return plan.time_s;
}

void collective_tune(enum comm_op op, const struct group_shape *shape, double bytes,
                     struct collective_plan *out)
{
    struct group_shape paced = *shape;
    *out = (struct collective_plan){.cap_bytes_per_s = INFINITY};
    if (shape->ranks <= 1)
        return;
    paced.slowest_ratio = slowest_of(&shape->paths);
    tune(op, &paced, bytes, out);
    if (contains_node(op, shape)) {
        double more_s = fmax(node_s(op, &paced, bytes) - out->time_s, 0.0);
        out->latency_s += more_s;
        out->time_s += more_s;
    }
}

double collective_bus_factor(enum comm_op op, uint32_t ranks)
{
    double n = ranks;
    switch (op) {
    case COMM_ALL_REDUCE:
        return 2.0 * (n - 1.0) / n;
    case COMM_ALL_GATHER:
    case COMM_REDUCE_SCATTER:
    case COMM_ALL_TO_ALL:
        return (n - 1.0) / n;
    case COMM_BROADCAST:
    case COMM_SEND:
    case COMM_RING_EXCHANGE:
    case COMM_EXPERT_EXCHANGE:
        return 1.0;
    }
    UNREACHABLE("op is an enum comm_op");
}

/* Members of each node: how many nodes, the most and the fewest in one. GPUs stand node by node. */
static void count_nodes(const struct topology *topology, const uint32_t *gpus, uint32_t count,
                        struct group_shape *out)
{
    uint32_t run = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        run++;
        bool last = i + 1 == count ||
                    topology_node_of(topology, gpus[i + 1]) != topology_node_of(topology, gpus[i]);
        if (last) {
            out->nodes++;
            out->ranks_per_node = run > out->ranks_per_node ? run : out->ranks_per_node;
            least = run < least ? run : least;
            run = 0;
        }
    }
    out->even = least == out->ranks_per_node;
}

static bool by_nvlink(const struct topology *topology, const struct route *route)
{
    for (uint32_t i = 0; i < route->link_count; i++)
        if (topology->graph.types[route->types[i]].kind != LINK_NVLINK)
            return false;
    return route->link_count > 0;
}

/* Is there an NVSwitch: can a GPU send itself what it sends the others of its node? */
static bool on_nvswitch(const struct topology *topology, uint32_t gpu)
{
    struct route round;
    topology_route(topology, gpu, gpu, 0, &round);
    return by_nvlink(topology, &round);
}

/* Slowest and longest of the ring neighbours' routes, inside nodes and across. Neighbours who are
 * joined without a switch are so each to each (bridges of a pcie node): then a member has a link to
 * each fellow. Members that have no
 * neighbour in their node are on NVLink where the node has a switch for it. */
static void measure_routes(const struct topology *topology, const uint32_t *gpus, uint32_t count,
                           struct group_shape *out)
{
    out->inside.bytes_per_s = out->outside_bytes_per_s = INFINITY;
    out->inside.nvlink = out->ranks_per_node > 1 || on_nvswitch(topology, gpus[0]);
    bool direct = out->even && out->inside.nvlink;
    uint32_t k = out->ranks_per_node;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = (i + 1) % count;
        uint32_t across = out->even ? (i + k) % count : next;
        struct route route;
        if (topology_node_of(topology, gpus[i]) == topology_node_of(topology, gpus[next])) {
            topology_route(topology, gpus[i], gpus[next], 0, &route);
            out->inside.bytes_per_s = fmin(out->inside.bytes_per_s, route.bytes_per_s);
            out->inside.latency_s = fmax(out->inside.latency_s, route.latency_s);
            out->inside.nvlink = out->inside.nvlink && by_nvlink(topology, &route);
            direct = direct && out->inside.nvlink && route.link_count == 1;
        }
        if (topology_node_of(topology, gpus[i]) != topology_node_of(topology, gpus[across])) {
            topology_route(topology, gpus[i], gpus[across], 0, &route);
            out->outside_bytes_per_s = fmin(out->outside_bytes_per_s, route.bytes_per_s);
            out->outside_latency_s = fmax(out->outside_latency_s, route.latency_s);
        }
    }
    out->inside.extra_links = direct && k > 1 ? k - 2 : 0;
}

/* A ring leaves a node by the NIC that it came in by. Where GPUs share NICs and no member has a
 * fellow beside its own, the last GPU of the node reaches that NIC through the CPUs. What the CPUs
 * carry is shared by the GPUs of the node alike, as all groups of a layout talk at once. Where the
 * node is drawn without an NVSwitch its routes say so themselves. */
static double through_cpus(const struct topology *topology, const uint32_t *gpus,
                           const struct group_shape *shape)
{
    uint32_t k = shape->ranks_per_node, share = topology->gpus_per_node / topology->nics_per_node;
    double host_bytes_per_s = topology->spec.node.pcie.host_bytes_per_s;
    if (k == 1 || share == 1 || !on_nvswitch(topology, gpus[0]) || host_bytes_per_s <= 0.0)
        return INFINITY;
    for (uint32_t i = 1; i < k; i++)
        if (topology_nic_of(topology, gpus[i]) == topology_nic_of(topology, gpus[i - 1]))
            return INFINITY;
    return host_bytes_per_s * k / topology->gpus_per_node;
}

/* Where the group's messages leave a switch by hash. The part of its members that send such a
 * message is the part of the NICs below each switch: all groups of a layout talk alike, at once. */
static void measure_paths(const struct topology *topology, const uint32_t *gpus, uint32_t count,
                          struct group_shape *out)
{
    const uint32_t k = out->even ? out->ranks_per_node : 1;
    uint32_t leaving = 0;
    if (out->nodes == 1 || topology->spec.fabric.routing != ROUTING_HASHED)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct path_choice tiers[PATH_CHOICE_MAX];
        const unsigned tier_count =
            topology_choices(topology, gpus[i], gpus[(i + k) % count], tiers);
        leaving += tier_count > 0;
        if (tier_count > out->paths.tier_count) {
            out->paths.tier_count = tier_count;
            memcpy(out->paths.tiers, tiers, tier_count * sizeof tiers[0]);
        }
    }
    out->paths.flows = (uint32_t)topology->spec.fabric.flows;
    out->paths.sending_ratio = (double)leaving / count;
}

void collective_shape(const struct topology *topology, const uint32_t *gpus, uint32_t count,
                      bool pxn, struct group_shape *out)
{
    *out = (struct group_shape){.ranks = count};
    const struct topology_spec *spec = &topology->spec;
    count_nodes(topology, gpus, count, out);
    measure_routes(topology, gpus, count, out);
    measure_paths(topology, gpus, count, out);
    if (out->inside.nvlink && count > 1)
        out->inside.one_node_s = spec->node.nvlink.step_s;
    if (out->nodes == 1)
        out->inside.latency_s += out->inside.one_node_s;
    out->nvls = spec->node.nvlink.nvls && out->ranks_per_node > 1 && on_nvswitch(topology, gpus[0]);
    out->nvls_ratio = spec->node.nvlink.nvls_ratio;
    out->nvls_channels = (uint32_t)spec->node.nvlink.nvls_channels;
    out->exchange_ratio = spec->node.nvlink.exchange_ratio;
    out->start_s = spec->node.collective_start_s;
    out->transport_latency_s = spec->fabric.latency_s;
    out->transport_bulk_s = spec->fabric.bulk_latency_s;
    if (out->nodes > 1) {
        /* Members of a node beyond its NICs share them. */
        uint32_t nics = topology->nics_per_node;
        uint32_t used = out->ranks_per_node < nics ? out->ranks_per_node : nics;
        out->rails = used;
        out->outside_bytes_per_s *= used;
        if (!pxn) {
            double rate = through_cpus(topology, gpus, out);
            out->outside_bytes_per_s = fmin(out->outside_bytes_per_s, rate);
        }
    }
}
