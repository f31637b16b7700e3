/* topology_kind.h - the contract of a topology kind. Adding one: a file, a row in topology_list.h,
 * a line in topology/CMakeLists.txt.
 *
 * A kind is a node kind (role TOPOLOGY_NODE: wires the inside of every node, from GPUs to NICs) or
 * a fabric kind (role TOPOLOGY_FABRIC: wires the NICs of all nodes). Both are pure writers: they
 * count, fill the graph, then answer routes from their own arithmetic, without search. Latency: a
 * link into a switch of the fabric carries that switch's latency; a link of a GPU to its NVSwitch
 * carries half of nvlink_latency, a bridge to another GPU all of it, one to its PCIe switch half of
 * pcie_latency. */
#ifndef ORRERY_TOPOLOGY_TOPOLOGY_KIND_H
#define ORRERY_TOPOLOGY_TOPOLOGY_KIND_H

#include "sim/kind.h"
#include "topology/topology.h"

enum topology_role {
    TOPOLOGY_NODE,
    TOPOLOGY_FABRIC
};

struct topology_size {
    uint64_t vertices, links;
};
struct nic_place { /* NIC number `nic` of a node */
    uint32_t node, nic;
};
struct topology_kind {
    struct kind head;
    enum topology_role role;
    /* False with a sentence when these numbers cannot be wired. Checks only; builds nothing. May
     * rely on: 1 <= nodes, 1 <= gpus, nodes * gpus <= TOPOLOGY_GPU_MAX; with several nodes also
     * 1 <= topology_nics <= gpus, dividing gpus, and rates above 0. */
    bool (*check)(const struct topology_spec *spec, struct error *error);
    /* Node kinds: of one node. Fabric kinds: of the whole fabric, the links of the NICs left out.
     */
    void (*size)(const struct topology_spec *spec, struct topology_size *size);
    /* Node kinds: adds vertices and links of node 0, GPUs first, then others, NICs last. Fabric
     * kinds: adds switches, joins every NIC by topology_join_nic in ascending order, then links. */
    void (*build)(struct topology *topology);
    /* Node kinds: appends the links between two GPUs of one node. */
    void (*route_inside)(const struct topology *t, uint32_t gpu_a, uint32_t gpu_b, struct route *r);
    /* Node kinds: appends the links from a GPU to NIC `nic` of its node (to_nic) or back. */
    void (*route_nic)(const struct topology *t, uint32_t gpu, uint32_t nic, bool to_nic,
                      struct route *r);
    /* Node kinds: which NIC a GPU sends by. */
    uint32_t (*nic_of)(const struct topology *t, uint32_t gpu);
    /* Node kinds: how many GPUs of consecutive numbers NVLink joins, from each multiple of that
     * many on; 1: none. Of a spec that `check` accepts. */
    uint64_t (*nvlink_gpus)(const struct node_spec *node);
    /* Fabric kinds: appends the links from one NIC to a NIC of another node. When `same_rail` is
     * set, only equal NIC numbers are asked for: the sender goes to the NIC that has the receiver's
     * number. */
    bool same_rail;
    void (*route_between)(const struct topology *t, struct nic_place from, struct nic_place to,
                          uint64_t flow_seed, struct route *r);
    /* Fabric kinds: the tiers where a message between two NICs chooses, at most PATH_CHOICE_MAX;
     * how many. NULL: there are none that could be hashed. */
    unsigned (*choices)(const struct topology *t, struct nic_place from, struct nic_place to,
                        struct path_choice *out);
    /* Fabric kinds: do routes depend on flow_seed? NULL: never. */
    bool (*draws_paths)(const struct topology_spec *spec);
};

#define X(name) extern const struct topology_kind topology_##name;
#include "topology/topology_list.h"
#undef X
extern const struct topology_kind *const topology_kinds[]; /* of both roles */
extern const unsigned topology_kind_count;
kind_at_fn topology_node_at, topology_fabric_at; /* the two families: node kinds, fabric kinds */
const struct topology_kind *topology_find(enum topology_role role, const char *name); /* or NULL */

/* For kinds. */
void topology_route_append(const struct topology *t, struct route *route, struct link_id link);
/* Joins NIC number `port` = node * nics_per_node + nic to a switch: the links topology_nic_out and
 * topology_nic_in, which are always binding. */
void topology_join_nic(struct topology *t, uint32_t port, struct vertex_id fabric_switch);
struct link_id topology_nic_out(const struct topology *t, uint32_t port);
struct link_id topology_nic_in(const struct topology *t, uint32_t port);
/* What ECMP hashes: the ports (as a switch sees addresses) and the flow (as it sees UDP ports).
 * Choice number `stage` among `count` equal paths; switches on the way hash independently. The
 * choice is the hash as a fraction, times the count: flows that share one of k n paths share one of
 * n too, so that cables taken away never part what collided (common random numbers). */
uint32_t topology_ecmp(uint32_t port_a, uint32_t port_b, uint64_t flow_seed, uint32_t stage,
                       uint32_t count);
/* An option as a whole number; the sentence when it is none, or outside [minimum, maximum]. */
bool topology_option(const struct kind_options *options, const struct param *table, unsigned index,
                     uint64_t *out, struct error *error);

#endif
