/* rail - rail-optimised: NIC r of every node hangs on a leaf of rail r.
 *
 *              spine 0 ... spine S-1                 (only when one leaf cannot hold all nodes)
 *            /    |    \    /   |   \
 *      leaf 0.0  leaf 0.1   leaf 1.0  leaf 1.1       leaf r.p: rail r, nodes p * nodes_per_leaf ...
 *       | |       | |        | |       | |
 *   NIC 0 of    NIC 0 of   NIC 1 of   NIC 1 of
 *   nodes 0,1   nodes 2,3  nodes 0,1  nodes 2,3
 *
 * A message to another rail changes rails inside the sending node (NVLink, PXN), so routes never
 * leave their rail. A leaf has nodes_per_leaf / oversubscription uplinks at the NICs' rate, whether
 * or not all its ports are used. With ecmp 0 they are one trunk in the graph, with ecmp 1 links of
 * their own. Shape: NVIDIA RA-11333-001 (DGX SuperPOD, H100). docs/models/topology.md.
 *
 * Binding: a trunk unless it is as wide as the leaf's NICs together (up: they are all that enters;
 * down: all that leaves). A hashed uplink as soon as the NICs that may choose it exceed it. */
#include <math.h>

#include "sim/check.h"
#include "topology/topology_kind.h"

enum {
    NODES_PER_LEAF,
    OVERSUBSCRIPTION,
    SPINES,
    ECMP
};

static const struct param options[] = {
    {"nodes_per_leaf", PARAM_COUNT, NODES_PER_LEAF, 1, 65536, "32", NULL,
     "Nodes that share the leaves of one group; 32 is a DGX SuperPOD scalable unit."},
    {"oversubscription", PARAM_RATIO, OVERSUBSCRIPTION, 1, 65536, "1", NULL,
     "Bandwidth of a leaf towards its NICs over that towards the spines."},
    {"spines", PARAM_COUNT, SPINES, 0, 65536, "0", NULL,
     "Spine switches over which a leaf's uplinks are dealt when ecmp is 1; 0: one for each "
     "uplink."},
    {"ecmp", PARAM_COUNT, ECMP, 0, 1, "0", NULL,
     "1: each flow keeps to one path, by a hash that `seed` draws; 0: flows spread evenly over all "
     "paths."},
};

/* uplinks: links from one leaf upwards; cables: those between one leaf and one spine. */
struct rail_shape {
    uint32_t nics, groups, nodes_per_leaf, uplinks, spines, cables;
    double uplink_bytes_per_s;
};

static void measure(const struct topology_spec *spec, struct rail_shape *a)
{
    const double *value = spec->fabric.options.value;
    uint32_t nodes = (uint32_t)spec->nodes, spines = (uint32_t)value[SPINES];
    double port = topology_port_bytes_per_s(spec);
    *a = (struct rail_shape){.nics = (uint32_t)topology_nics(spec),
                             .nodes_per_leaf = (uint32_t)value[NODES_PER_LEAF],
                             .uplinks = 1,
                             .spines = 1,
                             .cables = 1,
                             .uplink_bytes_per_s =
                                 value[NODES_PER_LEAF] / value[OVERSUBSCRIPTION] * port};
    a->groups = (nodes - 1) / a->nodes_per_leaf + 1;
    if (value[ECMP] > 0) {
        a->uplinks = (uint32_t)(value[NODES_PER_LEAF] / value[OVERSUBSCRIPTION]);
        a->spines = spines > 0 ? spines : a->uplinks;
        a->cables = a->uplinks / a->spines;
        a->uplink_bytes_per_s = port;
    }
}

static bool check(const struct topology_spec *spec, struct error *error)
{
    const struct kind_options *given = &spec->fabric.options;
    double over = given->value[OVERSUBSCRIPTION];
    uint64_t nodes_per_leaf, spines, ecmp;
    if (!topology_option(given, options, NODES_PER_LEAF, &nodes_per_leaf, error) ||
        !topology_option(given, options, SPINES, &spines, error) ||
        !topology_option(given, options, ECMP, &ecmp, error))
        return false;
    if (!(over >= 1 && over <= (double)nodes_per_leaf)) {
        return error_set(error,
                         "oversubscription of a rail fabric must lie between 1 and "
                         "nodes_per_leaf (%llu), not %g",
                         (unsigned long long)nodes_per_leaf, over);
    }
    double uplinks = (double)nodes_per_leaf / over;
    if (ecmp == 1 && uplinks != floor(uplinks)) {
        return error_set(error,
                         "with ecmp, uplinks are single cables: nodes_per_leaf (%llu) over "
                         "oversubscription (%g) must be a whole number",
                         (unsigned long long)nodes_per_leaf, over);
    }
    if (ecmp == 1 && spines > 0 && fmod(uplinks, (double)spines) != 0) {
        return error_set(error, "the %g uplinks of a leaf cannot be dealt evenly to %llu spines",
                         uplinks, (unsigned long long)spines);
    }
    return true;
}

static void size(const struct topology_spec *spec, struct topology_size *size)
{
    struct rail_shape a;
    measure(spec, &a);
    uint64_t leaves = (uint64_t)a.nics * a.groups;
    bool tall = a.groups > 1;
    *size = (struct topology_size){.vertices = leaves + (tall ? a.spines : 0),
                                   .links = tall ? 2 * leaves * a.uplinks : 0};
}

/* The NICs on a leaf of this group: fewer in the last one. */
static uint32_t taken_ports(const struct topology *t, const struct rail_shape *a, uint32_t group)
{
    uint32_t first = group * a->nodes_per_leaf, left = t->node_count - first;
    return left < a->nodes_per_leaf ? left : a->nodes_per_leaf;
}

static uint32_t uplink_type(struct topology *t, const struct rail_shape *a, uint32_t group)
{
    double below = taken_ports(t, a, group) * topology_nic_bytes_per_s(&t->spec);
    struct link_type type = {LINK_FABRIC, below > a->uplink_bytes_per_s, a->uplink_bytes_per_s,
                             t->spec.fabric.switch_latency_s};
    return graph_type(&t->graph, &type);
}

static void build(struct topology *t)
{
    struct graph *graph = &t->graph;
    struct rail_shape *a = ARENA_NEW(graph->arena, struct rail_shape);
    measure(&t->spec, a);
    t->fabric_private = a;
    uint32_t leaves = a->nics * a->groups, first_leaf = graph->vertex_count;
    uint32_t first_spine = first_leaf + leaves;
    for (uint32_t i = 0; i < leaves; i++)
        graph_vertex(graph, VERTEX_LEAF, NODE_NONE, i);
    for (uint32_t i = 0; a->groups > 1 && i < a->spines; i++)
        graph_vertex(graph, VERTEX_SPINE, NODE_NONE, i);
    for (uint32_t port = 0; port < t->node_count * a->nics; port++) {
        uint32_t group = port / a->nics / a->nodes_per_leaf, rail = port % a->nics;
        topology_join_nic(t, port, (struct vertex_id){first_leaf + rail * a->groups + group});
    }
    for (uint32_t leaf = 0; a->groups > 1 && leaf < leaves; leaf++) {
        uint32_t type = uplink_type(t, a, leaf % a->groups);
        for (uint32_t i = 0; i < a->uplinks; i++) {
            graph_pair(graph, (struct vertex_id){first_leaf + leaf},
                       (struct vertex_id){first_spine + i / a->cables}, type);
        }
    }
}

static struct link_id uplink(const struct topology *t, const struct rail_shape *a, uint32_t leaf,
                             uint32_t index, bool up)
{
    uint32_t base = topology_nic_out(t, t->node_count * a->nics).value;
    return (struct link_id){base + 2 * (leaf * a->uplinks + index) + (up ? 0 : 1)};
}

static void route_between(const struct topology *t, struct nic_place from, struct nic_place to,
                          uint64_t flow_seed, struct route *r)
{
    CHECK(from.nic == to.nic);
    const struct rail_shape *a = t->fabric_private;
    uint32_t port_a = from.node * a->nics + from.nic, port_b = to.node * a->nics + to.nic;
    uint32_t group_a = from.node / a->nodes_per_leaf, group_b = to.node / a->nodes_per_leaf;
    topology_route_append(t, r, topology_nic_out(t, port_a));
    if (group_a != group_b) {
        uint32_t up = topology_ecmp(port_a, port_b, flow_seed, 0, a->uplinks);
        uint32_t cable = topology_ecmp(port_a, port_b, flow_seed, 1, a->cables);
        uint32_t down = up / a->cables * a->cables + cable;
        topology_route_append(t, r, uplink(t, a, from.nic * a->groups + group_a, up, true));
        topology_route_append(t, r, uplink(t, a, to.nic * a->groups + group_b, down, false));
    }
    topology_route_append(t, r, topology_nic_in(t, port_b));
}

static unsigned choices(const struct topology *t, struct nic_place from, struct nic_place to,
                        struct path_choice *out)
{
    const struct rail_shape *a = t->fabric_private;
    const double *value = t->spec.fabric.options.value;
    if (from.node / a->nodes_per_leaf == to.node / a->nodes_per_leaf)
        return 0;
    *out = (struct path_choice){(uint32_t)(value[NODES_PER_LEAF] / value[OVERSUBSCRIPTION]),
                                a->nodes_per_leaf, a->nics * a->groups};
    return 1;
}

static bool draws_paths(const struct topology_spec *spec)
{
    struct rail_shape a;
    measure(spec, &a);
    return a.groups > 1 && a.uplinks > 1;
}

const struct topology_kind topology_rail = {
    .head = {.name = "rail",
             .doc = "Rail-optimised leaves and spines: NIC r of every node on a leaf of rail r.",
             .options = {options, sizeof options / sizeof options[0]}},
    .role = TOPOLOGY_FABRIC,
    .check = check,
    .size = size,
    .build = build,
    .same_rail = true,
    .route_between = route_between,
    .choices = choices,
    .draws_paths = draws_paths,
};
