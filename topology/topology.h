/* topology.h - a cluster: nodes of one kind joined by a fabric of one kind, and its routes.
 *
 * Two families share the anatomy of topology_kind.h: *node* kinds (nvlink_island, pcie) wire the
 * GPUs of one node and its NICs; *fabric* kinds (none, rail, fat_tree, torus, dragonfly) wire the
 * NICs of all nodes. GPU g stands in node g / gpus_per_node. Routes are stable: the same pair and
 * flow seed give the same links on every machine (ECMP is a hash of the three). No time here.
 * A cluster of one node has no network: its NICs and its fabric are left out. */
#ifndef ORRERY_TOPOLOGY_TOPOLOGY_H
#define ORRERY_TOPOLOGY_TOPOLOGY_H

#include "sim/error.h"
#include "sim/kind.h"
#include "topology/graph.h"

struct topology_kind;

/* One node, as the catalogue describes it (nodes.yaml); every figure has its source there. */
struct node_nvlink {
    double bytes_per_s;     /* of a GPU, one direction, all ports; 0: none */
    double latency_s;       /* GPU to GPU through the switch or over a bridge */
    double step_s;          /* beside it, of each step of a collective inside the node */
    bool nvls;              /* the switch reduces and multicasts (NVLink SHARP) */
    double nvls_ratio;      /* what it then moves of a port, chunks of any size */
    uint64_t nvls_channels; /* that NCCL runs on each GPU for it */
    double exchange_ratio;  /* what an all-to-all moves of a port, large messages */
};
struct node_pcie {
    double bytes_per_s;      /* of a GPU or NIC to its PCIe switch, one direction, usable */
    double latency_s;        /* GPU to GPU under one PCIe switch */
    double host_bytes_per_s; /* of a PCIe switch to the CPUs, one direction */
};
struct node_nic {
    uint64_t count;          /* NICs in a node */
    double bytes_per_s;      /* of one NIC, one direction, line rate */
    double efficiency_ratio; /* payload share of the line rate after protocol headers */
    double latency_s;        /* memory to first switch, one way, its share of the overhead in */
};
struct node_host {
    double slowdown_ratio; /* of software's host times; 0: 1 */
    double memory_bytes;
    double dram_bytes_per_s; /* of all CPUs of the node; 0: not said */
    double dram_ratio;       /* that an update on the CPUs reaches */
    double nvme_read_bytes_per_s,
        nvme_write_bytes_per_s; /* of all drives of the node; 0: not said */
};
/* What a node draws beside its cards. */
enum cooling {
    COOLING_AIR,
    COOLING_LIQUID,
    COOLING_IMMERSION,
    COOLING_COUNT
};
extern const char *const cooling_names[]; /* NULL-ended */
struct node_power {
    double rest_w, load_w;   /* for each GPU: cards idle; more when they are at their cap */
    double conversion_ratio; /* of AC to what parts draw */
    double pue;              /* of the site: all of its power over that of its machines */
    int cooling;             /* enum cooling */
};
struct node_spec {
    const char *name;
    const struct topology_kind *kind;
    struct kind_options options;
    uint64_t installed_gpus;      /* of a whole node, when a scenario uses fewer; 0: `gpus` */
    uint64_t gpus;                /* GPUs in a node: the NVLink domain of an nvlink_island */
    uint64_t chassis_gpus;        /* of one chassis, where an NVLink domain has several; 0: one */
    uint64_t job_gpus;            /* that a job of several nodes uses of each; 0: all */
    double collective_start_s;    /* of the smallest collective, before its steps */
    double announced_error_ratio; /* of every prediction on such nodes; 0: they are sold */
    const char *socket;           /* of its GPUs: "sxm5"; "": not said */
    const char *card;   /* of gpus.yaml, that it holds though another node is its usual; "" */
    const char *fabric; /* of the catalogue, that usually joins such nodes; "": not said */
    struct node_nvlink nvlink;
    struct node_pcie pcie;
    struct node_nic nic;
    struct node_host host;
    struct node_power power;
};
/* How a message finds its way among equal cables: packet by packet, so that all share the load, or
 * by a hash of its flow, which keeps to one. */
enum topology_routing {
    ROUTING_ADAPTIVE,
    ROUTING_HASHED
};
extern const char *const topology_routing_names[]; /* NULL-ended */

/* The network between nodes (catalogue/fabrics.yaml, or the scenario's own). */
struct fabric_spec {
    const char *name;
    const struct topology_kind *kind;
    struct kind_options options;
    double nic_bytes_per_s;  /* overrides the node's NIC when > 0 */
    uint64_t nics;           /* overrides the node's NIC count when > 0 */
    double efficiency_ratio; /* what the transport reaches of the line rate (RoCE, EFA, TCP) */
    double latency_s; /* added to each message by the transport (EFA SRD, TCP); not in routes */
    double bulk_latency_s; /* added to each step of a collective of large messages; not in routes */
    double switch_latency_s;      /* of one switch hop */
    int routing;                  /* enum topology_routing */
    uint64_t flows;               /* into which a message between two NICs is split */
    double port_w;                /* of a leaf switch, for each NIC */
    double announced_error_ratio; /* of every prediction over it; 0: it is sold */
};
extern const struct param node_params[];
extern const struct param fabric_params[];
extern const unsigned node_param_count, fabric_param_count;

enum {
    TOPOLOGY_GPU_MAX = 1 << 22
}; /* GPUs in a cluster */

struct topology_spec {
    struct node_spec node;
    struct fabric_spec fabric;
    uint64_t nodes;
    uint64_t gpus; /* of the job: all but the last of the last node, which are others'; 0: all */
};
/* How a job of so many GPUs fills nodes of this kind: `each` in all of them, the last with what is
 * left. Whole chassis fill a node, job_gpus of it where the GPUs are not whole nodes. nodes = 0:
 * they are neither whole nodes nor whole chassis. */
struct topology_filling {
    uint64_t nodes, each;
};
struct topology_filling topology_fill(const struct node_spec *node, uint64_t gpus);
/* GPUs that such a node is built with, whatever the scenario uses of it. */
uint64_t topology_whole_node(const struct node_spec *node);
/* Where every GPU has a NIC, those of installed_gpus that idle take theirs along. */
void topology_drop_nics(struct topology_spec *spec);
/* Node n holds vertices [n * node_vertices, (n + 1) * node_vertices): its GPUs first, its NICs
 * last; and the links [n * node_links, (n + 1) * node_links). Then the fabric: two links for each
 * NIC (out and in), then its own. */
struct topology {
    struct topology_spec spec;
    struct graph graph;
    uint32_t node_count, gpus_per_node, gpu_count, nics_per_node;
    uint32_t node_vertices, node_links;
    struct divisor by_gpus, by_nic_gpus; /* GPUs of a node; of a NIC, 1 without a network */
    void *node_private, *fabric_private; /* of the kinds */
};

enum {
    ROUTE_MAX = 64
};
struct route {
    uint32_t link_count;
    struct link_id links[ROUTE_MAX];
    uint32_t types[ROUTE_MAX]; /* of the links: rows of graph.types */
    double latency_s;          /* sum over links */
    double bytes_per_s;        /* narrowest link; INFINITY when there is none */
};

/* False with a sentence when the spec cannot be built (a torus whose sides do not multiply to the
 * node count, more NICs than GPUs, a radix of 0). Cheap: builds nothing. */
bool topology_check(const struct topology_spec *spec, struct error *error);
/* Builds the cluster in `arena`, after the same check. */
bool topology_build(struct arena *arena, const struct topology_spec *spec, struct topology *out,
                    struct error *error);
/* The path of a message between two GPUs. `a == b` is the GPU's own round through the switch of
 * its node (up and down), as in-switch reduction uses it; without a switch it is empty. */
void topology_route(const struct topology *topology, uint32_t gpu_a, uint32_t gpu_b,
                    uint64_t flow_seed, struct route *route);
/* Do routes depend on the flow seed: is there a choice of paths that a hash makes? */
bool topology_draws_paths(const struct topology_spec *spec);
/* A tier where a message chooses among equal cables: those of one switch (or pod) upwards, the NICs
 * below it, and how many such switches there are. */
struct path_choice {
    uint32_t cables, ports, switches;
};
enum {
    PATH_CHOICE_MAX = 2
};
/* The tiers where a message between two GPUs chooses, at most PATH_CHOICE_MAX, into `out`; how
 * many: 0 where it stays below one switch. */
unsigned topology_choices(const struct topology *topology, uint32_t gpu_a, uint32_t gpu_b,
                          struct path_choice *out);
/* How many times longer than alone on a cable the slowest message takes that is to be expected,
 * were messages split into `flows` and those hashed, when this part of the NICs below each switch
 * send one out of it at once: the mean flows on the fullest cable over `flows`, and no less than 1.
 */
double topology_slowest_ratio(const struct path_choice *tiers, unsigned count, double flows,
                              double sending_ratio);
static inline uint32_t topology_node_of(const struct topology *topology, uint32_t gpu)
{
    CHECK(gpu < topology->gpu_count);
    return divisor_quotient(&topology->by_gpus, gpu);
}
struct vertex_id topology_gpu(const struct topology *topology, uint32_t gpu);
struct vertex_id topology_nic(const struct topology *topology, uint32_t node, uint32_t nic);
/* The NIC (within its node) by which a GPU sends. Needs a network: nics_per_node > 0. */
uint32_t topology_nic_of(const struct topology *topology, uint32_t gpu);
/* Scales the capacity of every link of this kind at the given GPU, or for LINK_NIC at its NIC (a
 * degraded cable), by a ratio in (0, 1]. Such a link is binding from then on. Returns how many
 * links were scaled: 0 when the GPU has none of the kind. */
uint32_t topology_degrade(struct topology *topology, uint32_t gpu, enum link_kind kind,
                          double ratio);

/* The wire that joins GPUs n to n + span - 1 of a node wherever n is a multiple of span, as the
 * groups of a layout's innermost dimensions stand, or where a node has fewer, those of several.
 * NVLink joins all of an nvlink_island, and whole parts of a bridged group of a pcie node; a node's
 * other GPUs meet over PCIe, those of several nodes over their NICs. The only answer to "how fast
 * is a rank to another" beside a route: no other floor reads the rates of NVLink and NICs in a
 * node_spec or fabric_spec (tests/tidy). */
enum topology_wire_kind {
    WIRE_NVLINK,
    WIRE_PCIE,
    WIRE_NIC
};
struct topology_wire {
    enum topology_wire_kind kind;
    double bytes_per_s;     /* of one wire, one direction, line rate; 0: not said */
    double gpu_bytes_per_s; /* of it for each GPU while all of its node send; 0: not said */
};
struct topology_wire topology_wire(const struct topology_spec *spec, uint64_t span);
/* Do switches of the network between nodes join others? Not where each message passes one. */
bool topology_has_tiers(const struct topology_spec *spec);
/* NICs of a node, after the fabric's override. */
uint64_t topology_nics(const struct topology_spec *spec);
/* Payload rate of one port of the fabric: line rate x nic_efficiency x efficiency. */
double topology_port_bytes_per_s(const struct topology_spec *spec);
/* Payload rate of a NIC: its port, or its PCIe slot where that is narrower. */
double topology_nic_bytes_per_s(const struct topology_spec *spec);

#endif
