/* none - no network: the cluster is one node. */
#include <string.h>

#include "sim/check.h"
#include "topology/topology_kind.h"

static bool check(const struct topology_spec *spec, struct error *error)
{
    const char *name = spec->fabric.name != NULL ? spec->fabric.name : "";
    const bool other = *name != '\0' && strcmp(name, "none") != 0;
    return spec->nodes == 1 ||
           error_set(error,
                     "fabric %s%s joins nothing, but the cluster has %llu nodes: choose a "
                     "fabric, or nodes: 1",
                     other ? name : "none", other ? " (kind none)" : "",
                     (unsigned long long)spec->nodes);
}

static void size(const struct topology_spec *spec, struct topology_size *size)
{
    (void)spec;
    *size = (struct topology_size){0, 0};
}

static void build(struct topology *t)
{
    CHECK(t->node_count == 1); /* check() refused the rest */
}

static void route_between(const struct topology *t, struct nic_place from, struct nic_place to,
                          uint64_t flow_seed, struct route *r)
{
    (void)t, (void)from, (void)to, (void)flow_seed, (void)r;
    CHECK(from.node == to.node); /* one node: nothing lies between */
}

const struct topology_kind topology_none = {
    .head = {.name = "none", .doc = "No network: everything fits one node."},
    .role = TOPOLOGY_FABRIC,
    .check = check,
    .size = size,
    .build = build,
    .route_between = route_between,
};
