/* law_cluster.h - clusters for the laws: every node kind and every fabric kind, at small counts.
 *
 * Rates and latencies are those of an 8-GPU machine with NVLink and 400 Gb/s NICs, or of one with
 * PCIe alone; what the laws hold does not depend on them. Options stand at their defaults, or at
 * values under which a handful of nodes already fills switches and shares uplinks. A new kind is
 * met here by its row in topology_list.h. */
#ifndef ORRERY_TESTS_LAW_CLUSTER_H
#define ORRERY_TESTS_LAW_CLUSTER_H

#include "topology/topology.h"
#include "topology/topology_kind.h"

enum law_variant {
    LAW_DEFAULT, /* every option at its default */
    LAW_TIGHT,   /* small switches, oversubscribed two to one, collisions as expected */
    LAW_HASHED,  /* such switches, each flow on one of the paths, as drawn */
    LAW_VARIANT_COUNT
};
/* False when the kinds refuse these numbers, or when the variant changes no option of theirs. */
bool law_cluster(struct topology_spec *spec, const struct topology_kind *node,
                 const struct topology_kind *fabric, uint64_t nodes, uint64_t gpus,
                 enum law_variant variant);
/* The n-th kind with this role, in the order of the list; NULL past the last. */
const struct topology_kind *law_kind(enum topology_role role, unsigned n);
unsigned law_kind_count(enum topology_role role);

#endif
