/* topology_kind.h - the contract of a topology kind. Adding one: a file, a row in topology_list.h,
 * a line in topology/CMakeLists.txt.
 *
 * A kind is a node kind (role TOPOLOGY_NODE: wires the inside of every node, from GPUs to NICs) or a
 * fabric kind (role TOPOLOGY_FABRIC: wires the NICs of all nodes). Both are pure writers: they fill
 * the graph, then answer routes from their own arithmetic, without search. */
#ifndef ORRERY_TOPOLOGY_TOPOLOGY_KIND_H
#define ORRERY_TOPOLOGY_TOPOLOGY_KIND_H

#include "topology/topology.h"

enum topology_role { TOPOLOGY_NODE, TOPOLOGY_FABRIC };

struct topology_kind {
    const char *name; /* as scenarios spell it */
    const char *doc;  /* one sentence */
    enum topology_role role;
    const struct param *options; /* of this kind, into kind_options (offset = index) */
    unsigned option_count;
    /* False with a sentence when these numbers cannot be wired. Checks only; builds nothing. */
    bool (*check)(const struct topology_spec *spec, struct error *error);
    /* Node kinds: adds vertices and links of all nodes. Fabric kinds: adds switches, joins the NICs. */
    void (*build)(struct topology *topology);
    /* Node kinds: appends the links between two GPUs of one node. */
    void (*route_inside)(const struct topology *t, uint32_t gpu_a, uint32_t gpu_b, struct route *r);
    /* Node kinds: appends the links from a GPU to NIC `nic` of its node (to_nic) or back. */
    void (*route_nic)(const struct topology *t, uint32_t gpu, uint32_t nic, bool to_nic,
                      struct route *r);
    /* Node kinds: which NIC a GPU sends by. */
    uint32_t (*nic_of)(const struct topology *t, uint32_t gpu);
    /* Fabric kinds: NICs that can reach each other without leaving the fabric's plane. Appends the
     * links from NIC `nic_a` of node a to NIC `nic_b` of node b. A rail fabric is asked only with
     * equal NIC numbers when `same_rail` is set. */
    bool same_rail;
    void (*route_between)(const struct topology *t, uint32_t node_a, uint32_t nic_a, uint32_t node_b,
                          uint32_t nic_b, uint64_t flow_seed, struct route *r);
};

#define X(name) extern const struct topology_kind topology_##name;
#include "topology/topology_list.h"
#undef X
extern const struct topology_kind *const topology_kinds[];
extern const unsigned topology_kind_count;
const struct topology_kind *topology_find(enum topology_role role, const char *name); /* or NULL */
void route_append(const struct topology *t, struct route *route, struct link_id link);

#endif
