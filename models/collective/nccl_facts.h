/* nccl_facts.h - latencies and ceilings of NCCL's algorithms and protocols, as plain numbers.
 *
 * Facts from NVIDIA/nccl src/graph/tuning.cc (2.18 to 2.21): base latency of each algorithm and
 * protocol, latency of one step over NVLink, PCIe and the network, the ceilings of LL and LL128.
 * Ceilings of Simple are measured ones, named beside each. What NCCL's own model leaves out or
 * understates is fitted on collectives.csv by tests/validation/fit_collectives; "fitted" names such
 * a figure and its standard error. They are physical constants of a library on today's GPUs, not of
 * a machine: bandwidths scale with the wire. */
#ifndef ORRERY_MODELS_COLLECTIVE_NCCL_FACTS_H
#define ORRERY_MODELS_COLLECTIVE_NCCL_FACTS_H

#include "models/collective/collective_kind.h"
#include "sim/units.h"

enum nccl_wire {
    NCCL_NVLINK,
    NCCL_PCIE,
    NCCL_NET,
    NCCL_WIRE_COUNT
};
enum nccl_algorithm {
    NCCL_TREE,
    NCCL_RING,
    NCCL_ALGORITHM_COUNT
};

/* Start of a collective: launch on the GPU and first flags; [algorithm][protocol], LL LL128 Simple,
 * in proportion to LL's on a ring, which the node states (collective_start: sites differ). NCCL
 * counts 6.6 us for LL, .2 more for a tree. */
static const double nccl_base_s[NCCL_ALGORITHM_COUNT][PROTOCOL_COUNT] = {
    {15.8 * MICROSECOND, 14.0 * MICROSECOND, 8.4 * MICROSECOND},
    {15.6 * MICROSECOND, 14.0 * MICROSECOND, 8.4 * MICROSECOND},
};
/* One step over a wire; [wire][algorithm][protocol]. */
static const double nccl_step_s[NCCL_WIRE_COUNT][NCCL_ALGORITHM_COUNT][PROTOCOL_COUNT] = {
    {{0.6 * MICROSECOND, 1.25 * MICROSECOND, 4.0 * MICROSECOND},
     {0.6 * MICROSECOND, 1.9 * MICROSECOND, 3.4 * MICROSECOND}},
    {{1.0 * MICROSECOND, 1.9 * MICROSECOND, 4.0 * MICROSECOND},
     {1.0 * MICROSECOND, 2.5 * MICROSECOND, 5.7 * MICROSECOND}},
    {{5.0 * MICROSECOND, 8.5 * MICROSECOND, 14.0 * MICROSECOND},
     {2.7 * MICROSECOND, 4.0 * MICROSECOND, 14.0 * MICROSECOND}},
};
/* In-switch reduction: one start for any number of GPUs (NVLS, Simple only; fitted, 35.7 +- 3.4
 * us where LL starts in 15.6; NCCL counts 23), and its network step. */
static const double nccl_nvls_base_s = 35.7 * MICROSECOND;
static const double nccl_nvls_net_step_s = 14.0 * MICROSECOND;
/* An all-to-all: NCCL sets up a send and a receive with every member at once. 43 us where LL starts
 * in 15.6, whatever the number of members: lines through the times of large messages leave 44 to 58
 * us on 8 H100 and 41 to 58 us on 2, 4 and 8 B200, a step among them (MooreThreads/SimuMax v1.2:
 * tables of nccl-tests, and fits of its own). */
static const double nccl_exchange_base_s = 43.0 * MICROSECOND;
/* Between two chunks the members of a channel wait for each other's flags: fitted, 5.0 +- 1.0
 * us, one figure for H100 and H200; NCCL counts 3.4 for a step over NVLink. */
static const double nccl_nvls_chunk_s = 5.0 * MICROSECOND;

/* LL sends a flag with every 4 bytes: half of the wire at best; with its fences NCCL's ceilings are
 * 39, 87.7 and 141 GB/s on links of 150, 300 and 450 GB/s: .26 to .31 of the wire. Across nodes 19
 * to 45 GB/s whatever the NICs; the middle is taken. */
static const double nccl_ll_ratio = 0.30;
static const double nccl_ll_net_bytes_per_s = 22.5 * GIGA;
/* LL128 sends 120 of every 128 bytes; NCCL counts .92 of what Simple reaches. */
static const double nccl_ll128_ratio = 0.92;
/* What a ring of Simple reaches of an NVLink port: 235 of 300 GB/s on 8 A100 (ml-engineering's
 * nccl-tests, collectives.csv). Over PCIe the wire's own figure is already a usable one. */
static const double nccl_ring_nvlink_ratio = 0.783;
/* Double binary trees reach .92 of the ring's wire (tuning.cc). */
static const double nccl_tree_ratio = 0.92;
/* A channel of a tree sends up and down at once: NCCL counts 23.6 GB/s of bus bandwidth for it
 * between two nodes and 17.8 between more on Ampere's port of 300, and runs a channel for each NIC
 * (tuning.cc, perChMaxTreeBws of 2.10; 41.4 and 33.0 on Hopper's 450). A tree's bus carries the
 * payload twice. */
static const double nccl_tree_channel_ratio = 23.6 / 300.0;
static const double nccl_tree_channel_many_ratio = 17.8 / 300.0;

/* A step of LL takes longer the larger its piece is, until all channels work on it: NCCL starts few
 * channels for few bytes. Fitted: 1.1 +- .2 us for a step inside a node at the most, half of it
 * at a piece (payload / members in a node) of 3.0 +- 1.7 kB. */
static const double nccl_ll_ramp_s = 1.1 * MICROSECOND;
static const double nccl_ll_half_bytes = 3.0 * KILO;
/* A pipeline of chunks moves at its full rate only once it has filled, and NCCL cuts smaller chunks
 * of smaller payloads: bytes in flight for each member in a node at the most. Rings of A100 alone
 * fit 3.3 +- .9 MB, tensor parallelism in steps prefers the lower figure that stands here. */
static const double nccl_fill_bytes = 2.35 * MEGA;

/* A start of the tables above on this machine. */
static inline double nccl_start_s(const struct group_shape *shape, double table_s)
{
    return table_s * shape->start_s / nccl_base_s[NCCL_RING][PROTOCOL_LL];
}

/* The chunks that one round of all channels of in-switch reduction moves, in bytes of payload.
 * Every member is the head of a part; chunks of 128 KiB are halved while the payload is less than
 * 64, 8 and 2 rounds of them (NVIDIA/nccl src/enqueue.cc, NVLS_CHUNKSIZE). */
static inline double nccl_nvls_round_bytes(const struct group_shape *shape, double bytes)
{
    static const double rounds[] = {64.0, 8.0, 2.0};
    double round = 128.0 * KIB * shape->nvls_channels * shape->ranks_per_node;
    for (unsigned i = 0; i < sizeof rounds / sizeof rounds[0]; i++)
        round *= bytes < rounds[i] * round ? 0.5 : 1.0;
    return round;
}

/* Payload rate of in-switch reduction where a port carries the payload `weight` times: the switch's
 * own, and the wait after each round. */
static inline double nccl_nvls_bytes_per_s(const struct group_shape *shape, double weight,
                                           double bytes)
{
    double moved = weight / (shape->inside.bytes_per_s * shape->nvls_ratio);
    return 1.0 / (moved + nccl_nvls_chunk_s / nccl_nvls_round_bytes(shape, bytes));
}

static inline enum nccl_wire nccl_inside_wire(const struct group_shape *shape)
{
    return shape->inside.nvlink ? NCCL_NVLINK : NCCL_PCIE;
}

/* Ceiling of a wire's payload by protocol, inside a node. */
static inline double nccl_inside_bytes_per_s(const struct group_shape *shape,
                                             enum protocol protocol)
{
    double simple =
        shape->inside.bytes_per_s * (shape->inside.nvlink ? nccl_ring_nvlink_ratio : 1.0);
    if (protocol == PROTOCOL_LL)
        return shape->inside.bytes_per_s * nccl_ll_ratio;
    return protocol == PROTOCOL_LL128 ? simple * nccl_ll128_ratio : simple;
}

/* The same between nodes, for all NICs of the members in a node together: the slowest message sets
 * the pace. */
static inline double nccl_outside_bytes_per_s(const struct group_shape *shape,
                                              enum protocol protocol)
{
    double all = shape->outside_bytes_per_s;
    double rate = shape->slowest_ratio > 1.0 ? all / shape->slowest_ratio : all;
    if (protocol == PROTOCOL_LL)
        return rate / 2.0 < nccl_ll_net_bytes_per_s ? rate / 2.0 : nccl_ll_net_bytes_per_s;
    return protocol == PROTOCOL_LL128 ? rate * nccl_ll128_ratio : rate;
}

/* One step between nodes: NCCL's figure and what this fabric adds to it. */
static inline double nccl_net_step_s(const struct group_shape *shape, enum nccl_algorithm algorithm,
                                     enum protocol protocol)
{
    return nccl_step_s[NCCL_NET][algorithm][protocol] + shape->outside_latency_s +
           shape->transport_latency_s;
}

static inline double nccl_inside_step_s(const struct group_shape *shape,
                                        enum nccl_algorithm algorithm, enum protocol protocol)
{
    return nccl_step_s[nccl_inside_wire(shape)][algorithm][protocol] + shape->inside.latency_s;
}

/* Ends a plan whose latency_s holds its start and steps and whose ceiling is set: adds what fills
 * first. `inside_steps` run over the node's own wires, `outside_steps` between nodes. */
static inline void nccl_end_plan(const struct group_shape *shape, double inside_steps,
                                 double outside_steps, double bytes, enum protocol protocol,
                                 struct collective_plan *out)
{
    double members = shape->ranks_per_node;
    if (protocol == PROTOCOL_LL) {
        double piece = bytes / members;
        out->latency_s += inside_steps * nccl_ll_ramp_s * piece / (piece + nccl_ll_half_bytes);
    }
    if (protocol != PROTOCOL_LL && members > 1.0) {
        double fill = nccl_fill_bytes * members;
        out->latency_s += fill * bytes / (bytes + fill) / out->cap_bytes_per_s;
    }
    if (protocol != PROTOCOL_LL)
        out->latency_s += outside_steps * shape->transport_bulk_s;
    out->time_s = out->latency_s + bytes / out->cap_bytes_per_s;
}

#endif
