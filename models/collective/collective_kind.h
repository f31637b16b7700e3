/* collective_kind.h - the contract of a collective algorithm: its time terms and its wires.
 *
 * Adding one: a file, a row in collective_list.h, a line in models/collective/CMakeLists.txt. A
 * kind is a pure writer: for an operation on a group it says the start-up latency, the ceiling of
 * its payload rate, and the load that each wire carries for each payload byte. The network plays
 * the result as one activity on all wires at once. The tuner chooses kind and protocol by predicted
 * time, as NCCL does (facts: NVIDIA/nccl src/graph/tuning.cc, named in docs/models/collectives.md).
 */
#ifndef ORRERY_MODELS_COLLECTIVE_COLLECTIVE_KIND_H
#define ORRERY_MODELS_COLLECTIVE_COLLECTIVE_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "models/collective/comm_op.h"
#include "models/collective/dispatch/dispatch_kind.h"
#include "sim/kind.h"
#include "topology/topology.h"

enum protocol {
    PROTOCOL_LL,
    PROTOCOL_LL128,
    PROTOCOL_SIMPLE,
    PROTOCOL_COUNT
};
extern const char *const protocol_names[]; /* NULL-ended: ll, ll128, simple */

/* How a group lies on the machine: all that time depends on. Groups with equal shapes get equal
 * plans, so the shape is the tuner's memory key. */
struct group_inside {
    double bytes_per_s;   /* of a member's link within the node, one direction */
    uint32_t extra_links; /* links to fellows beside that one; 0: a switch, or a pair */
    double latency_s;
    double one_node_s; /* what each step waits beside that where all members are in one node */
    bool nvlink;       /* neighbours in a node meet over NVLink alone (else PCIe) */
};
struct group_shape {
    uint32_t ranks, nodes;
    uint32_t ranks_per_node;    /* the most in one node */
    uint32_t rails;             /* NICs of a node that the members use; 0 in one node */
    bool even;                  /* every node holds as many */
    bool nvls;                  /* all of a node's members reach a reducing switch */
    double nvls_ratio;          /* what it moves of a port, chunks of any size */
    uint32_t nvls_channels;     /* of a member */
    double exchange_ratio;      /* of an NVLink port that an all-to-all reaches */
    double start_s;             /* of the smallest collective: node.collective_start_s */
    double outside_bytes_per_s; /* of a node's NICs that the members can use, one direction */
    struct group_paths {
        struct path_choice tiers[PATH_CHOICE_MAX];
        uint32_t tier_count, flows;
        double sending_ratio;   /* of the NICs below a switch, when all groups talk at once */
    } paths;                    /* among which hashed flows between nodes choose */
    double slowest_ratio;       /* by them; set by collective_tune, below 1: not known, none */
    double outside_latency_s;   /* NIC to NIC, the longest neighbour */
    double transport_latency_s; /* fabric.latency_s */
    double transport_bulk_s;    /* fabric.bulk_latency_s */
    /* Of ranks that share experts; NULL: they share none. Member i of n holds the i-th n-th. */
    const struct dispatch_kind *dispatch;
    struct routing routing;
    struct group_inside inside;
};
/* What the time of a plan rests on, the surest last (collective_measured.h). */
enum collective_basis {
    COLLECTIVE_MODELLED,
    COLLECTIVE_EXTRAPOLATED,
    COLLECTIVE_INTERPOLATED,
    COLLECTIVE_MEASURED,
    COLLECTIVE_BASIS_COUNT
};
struct collective_plan {
    const struct collective_kind *kind;
    enum collective_basis basis;
    enum protocol protocol;
    double latency_s;       /* until the last byte could be there, were bandwidth infinite */
    double cap_bytes_per_s; /* ceiling of the payload rate by protocol and channels */
    double time_s;          /* predicted alone on its wires: what the tuner compared */
};
/* One wire: member indices; from == to is a member's own round through its switch. `weight` is
 * bytes on the wire for each payload byte. */
typedef void wire_fn(void *context, uint32_t from_member, uint32_t to_member, double weight);

struct collective_kind {
    struct kind head;
    /* Can this kind carry this operation on this shape? */
    bool (*carries)(enum comm_op op, const struct group_shape *shape);
    /* Latency and ceiling with one protocol. False: the protocol does not exist here. */
    bool (*plan)(enum comm_op op, const struct group_shape *shape, double bytes,
                 enum protocol protocol, struct collective_plan *out);
    /* Emits every wire of the operation among members 0 .. ranks-1, standing node by node.
     * `node_of` gives each member's node. Wires must not depend on the size. */
    void (*wires)(enum comm_op op, const struct group_shape *shape, const uint32_t *node_of,
                  wire_fn *emit, void *context);
    /* Where the wires join every member to every other with one weight: that weight. Else NULL. */
    double (*exchange_weight)(enum comm_op op, const struct group_shape *shape);
    /* Closed form of the bytes that the busiest member's port must send for each payload byte
     * (2(n-1)/n for a ring all-reduce): for the laws. */
    double (*port_weight)(enum comm_op op, const struct group_shape *shape);
};
#define X(name) extern const struct collective_kind collective_##name;
#include "models/collective/collective_list.h"
#undef X
KIND_FAMILY(collective)

/* The best kind and protocol for this operation and size. A group of one costs nothing. */
void collective_tune(enum comm_op op, const struct group_shape *shape, double bytes,
                     struct collective_plan *out);
/* The shape of a group of GPUs (members given as GPU numbers, node by node). `pxn`: a GPU reaches
 * the NIC of another over NVLink (NCCL 2.12 and later); without it that goes through the CPUs. */
void collective_shape(const struct topology *topology, const uint32_t *gpus, uint32_t count,
                      bool pxn, struct group_shape *out);
/* nccl-tests bus bandwidth factor: all_reduce 2(n-1)/n, all_gather and others (n-1)/n, send 1. */
double collective_bus_factor(enum comm_op op, uint32_t ranks);

#endif
