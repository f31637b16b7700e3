/* fat_tree - one, two or three tiers of alike switches (a folded Clos network).
 *
 *              core                  tier 3: joins pods
 *            /      \
 *       spine        spine           tier 2: joins the leaves of a pod
 *       /   \        /   \
 *    leaf  leaf   leaf  leaf         tier 1: NICs in order of node and number
 *    ||||  ||||   ||||  ||||
 *
 * A leaf has u uplinks and d = u x oversubscription NICs, u being the largest number for which d is
 * whole and u + d <= radix; a spine likewise v uplinks and w = v x core_oversubscription leaves. A
 * pod is w leaves and u spines, every leaf with one cable to every spine; spine j of every pod has
 * one cable to each of the v cores of column j (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008). The top
 * tier has all its ports downwards. The NICs of a node are on one leaf, or on several where they do
 * not fit. Sizes, ecmp and hashing: docs/models/topology.md.
 *
 * Binding: a leaf's trunk unless it is as wide as its NICs together (up: they are all that enters;
 * down: all that leaves); a pod's trunk unless it is as wide as what its leaves can send. A single
 * cable as soon as what may choose it exceeds it: the NICs of a leaf, or the leaves of a pod. */
#include <math.h>

#include "sim/check.h"
#include "topology/topology_kind.h"

enum {
    TIERS,
    RADIX,
    OVERSUBSCRIPTION,
    CORE_OVERSUBSCRIPTION,
    ECMP
};

static const struct param options[] = {
    {"tiers", PARAM_COUNT, TIERS, 0, 3, "0", NULL,
     "Tiers of switches; 0: as few as hold the cluster."},
    {"radix", PARAM_COUNT, RADIX, 2, 4096, "64", NULL,
     "Ports of a switch at the NICs' rate; 64 is a Quantum-2 or a 25.6 Tb/s Ethernet switch at 400 "
     "Gb/s."},
    {"oversubscription", PARAM_RATIO, OVERSUBSCRIPTION, 1, 4096, "1", NULL,
     "Bandwidth of a leaf towards its NICs over that towards the spines."},
    {"core_oversubscription", PARAM_RATIO, CORE_OVERSUBSCRIPTION, 1, 4096, "1", NULL,
     "Bandwidth of a spine towards its leaves over that towards the cores."},
    {"ecmp", PARAM_COUNT, ECMP, 0, 1, "0", NULL,
     "1: each flow keeps to one path, by a hash that `seed` draws; 0: flows spread evenly over all "
     "paths."},
};

/* leaf_up: u, leaf_down: d, spine_up: v, spine_down: w of the essay above. */
struct fat_tree_shape {
    uint32_t nics, ports, tiers, radix, leaf_up, leaf_down, spine_up, spine_down;
    uint32_t leaves, pods;
    bool ecmp;
};

/* Ports upwards, at most, such that up x over is whole and both fit the radix; 0: there are none.
 */
static uint32_t uplinks(uint32_t radix, double over)
{
    uint32_t up = (uint32_t)(radix / (1 + over));
    while (up > 0 && up * over != floor(up * over))
        up--;
    return up;
}

static uint64_t ceiling(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* How many NICs so many tiers hold; 0 when the ports cannot be dealt. */
static uint64_t capacity(const double *value, uint32_t tiers)
{
    uint32_t radix = (uint32_t)value[RADIX];
    if (tiers == 1)
        return radix;
    uint32_t up = uplinks(radix, value[OVERSUBSCRIPTION]);
    uint64_t nics = (uint64_t)(up * value[OVERSUBSCRIPTION]) * radix;
    if (tiers == 3) {
        double over = value[CORE_OVERSUBSCRIPTION];
        nics *= (uint64_t)(uplinks(radix, over) * over);
    }
    return nics;
}

static uint32_t tiers_of(const struct topology_spec *spec)
{
    const double *value = spec->fabric.options.value;
    uint64_t ports = spec->nodes * topology_nics(spec);
    uint32_t tiers = (uint32_t)value[TIERS];
    for (uint32_t i = 1; tiers == 0 && i <= 3; i++)
        tiers = capacity(value, i) >= ports ? i : 0;
    return tiers;
}

static void measure(const struct topology_spec *spec, struct fat_tree_shape *a)
{
    const double *value = spec->fabric.options.value;
    *a = (struct fat_tree_shape){.nics = (uint32_t)topology_nics(spec),
                                 .tiers = tiers_of(spec),
                                 .radix = (uint32_t)value[RADIX],
                                 .ecmp = value[ECMP] > 0};
    a->ports = (uint32_t)spec->nodes * a->nics;
    a->leaf_down = a->radix;
    if (a->tiers > 1) {
        a->leaf_up = uplinks(a->radix, value[OVERSUBSCRIPTION]);
        a->leaf_down = (uint32_t)(a->leaf_up * value[OVERSUBSCRIPTION]);
    }
    a->spine_down = a->radix;
    if (a->tiers > 2) {
        a->spine_up = uplinks(a->radix, value[CORE_OVERSUBSCRIPTION]);
        a->spine_down = (uint32_t)(a->spine_up * value[CORE_OVERSUBSCRIPTION]);
    }
    a->leaves = (uint32_t)ceiling(a->ports, a->leaf_down);
    a->pods = (uint32_t)ceiling(a->leaves, a->spine_down);
}

static bool check(const struct topology_spec *spec, struct error *error)
{
    const struct kind_options *given = &spec->fabric.options;
    const unsigned ratios[] = {OVERSUBSCRIPTION, CORE_OVERSUBSCRIPTION};
    uint64_t tiers, radix, ecmp;
    if (!topology_option(given, options, TIERS, &tiers, error) ||
        !topology_option(given, options, RADIX, &radix, error) ||
        !topology_option(given, options, ECMP, &ecmp, error))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        double over = given->value[ratios[i]];
        if (!(over >= 1 && over <= 4096) || uplinks((uint32_t)radix, over) == 0) {
            return error_set(error,
                             "switches of %llu ports cannot be dealt with %s %g: it must be from 1 "
                             "up, and some number of uplinks times it must be whole and fit",
                             (unsigned long long)radix, options[ratios[i]].name, over);
        }
    }
    uint64_t ports = spec->nodes * topology_nics(spec);
    uint64_t most = capacity(given->value, tiers > 0 ? (uint32_t)tiers : 3);
    if (spec->nodes > 1 && most < ports) {
        return error_set(error,
                         "a fat tree of %llu tiers of %llu-port switches holds %llu NICs, but the "
                         "cluster has %llu: more tiers, a larger radix, or another fabric",
                         (unsigned long long)(tiers > 0 ? tiers : 3), (unsigned long long)radix,
                         (unsigned long long)most, (unsigned long long)ports);
    }
    return true;
}

/* Vertices and links of each tier, as far as the cluster needs it. */
static uint32_t spines_of_pod(const struct fat_tree_shape *a)
{
    return a->leaves == 1 ? 0 : a->ecmp ? a->leaf_up : 1;
}

static uint32_t cores(const struct fat_tree_shape *a)
{
    return a->pods == 1 ? 0 : a->ecmp ? a->leaf_up * a->spine_up : 1;
}

static uint32_t cables_of_spine(const struct fat_tree_shape *a)
{
    return a->pods == 1 ? 0 : a->ecmp ? a->spine_up : 1;
}

static void size(const struct topology_spec *spec, struct topology_size *size)
{
    struct fat_tree_shape a;
    measure(spec, &a);
    uint64_t spines = (uint64_t)a.pods * spines_of_pod(&a);
    *size = (struct topology_size){
        .vertices = a.leaves + spines + cores(&a),
        .links = 2 * ((uint64_t)a.leaves * spines_of_pod(&a) + spines * cables_of_spine(&a))};
}

static uint32_t fabric_type(struct topology *t, double bytes_per_s, double admitted_bytes_per_s)
{
    struct link_type type = {LINK_FABRIC, admitted_bytes_per_s > bytes_per_s, bytes_per_s,
                             t->spec.fabric.switch_latency_s};
    return graph_type(&t->graph, &type);
}

/* Payload that the NICs of a leaf can move, one way; the last leaf has fewer. */
static double leaf_admits(const struct topology *t, const struct fat_tree_shape *a, uint32_t leaf)
{
    uint32_t left = a->ports - leaf * a->leaf_down;
    return (left < a->leaf_down ? left : a->leaf_down) * topology_nic_bytes_per_s(&t->spec);
}

static void build_leaf_links(struct topology *t, const struct fat_tree_shape *a,
                             uint32_t first_leaf)
{
    double port = topology_port_bytes_per_s(&t->spec);
    uint32_t spines = spines_of_pod(a), first_spine = first_leaf + a->leaves;
    for (uint32_t leaf = 0; spines > 0 && leaf < a->leaves; leaf++) {
        uint32_t pod = leaf / a->spine_down;
        uint32_t type = fabric_type(t, a->ecmp ? port : a->leaf_up * port, leaf_admits(t, a, leaf));
        for (uint32_t i = 0; i < spines; i++) {
            graph_pair(&t->graph, (struct vertex_id){first_leaf + leaf},
                       (struct vertex_id){first_spine + pod * spines + i}, type);
        }
    }
}

/* What a spine vertex (one spine, or with ecmp 0 all spines of a pod) can be sent by its leaves. */
static double pod_admits(const struct topology *t, const struct fat_tree_shape *a, uint32_t pod)
{
    double port = topology_port_bytes_per_s(&t->spec), sum = 0;
    double up = a->ecmp ? port : a->leaf_up * port;
    uint32_t first = pod * a->spine_down, end = first + a->spine_down;
    for (uint32_t leaf = first; leaf < end && leaf < a->leaves; leaf++)
        sum += fmin(up, leaf_admits(t, a, leaf));
    return sum;
}

static void build_spine_links(struct topology *t, const struct fat_tree_shape *a,
                              uint32_t first_spine)
{
    double port = topology_port_bytes_per_s(&t->spec);
    uint32_t spines = spines_of_pod(a), cables = cables_of_spine(a);
    uint32_t first_core = first_spine + a->pods * spines;
    for (uint32_t i = 0; i < a->pods * spines && cables > 0; i++) {
        double trunk = a->spine_up * (a->leaf_up * port);
        uint32_t type = fabric_type(t, a->ecmp ? port : trunk, pod_admits(t, a, i / spines));
        for (uint32_t j = 0; j < cables; j++) {
            graph_pair(&t->graph, (struct vertex_id){first_spine + i},
                       (struct vertex_id){first_core + i % spines * cables + j}, type);
        }
    }
}

static void build(struct topology *t)
{
    struct graph *graph = &t->graph;
    struct fat_tree_shape *a = ARENA_NEW(graph->arena, struct fat_tree_shape);
    measure(&t->spec, a);
    t->fabric_private = a;
    uint32_t first_leaf = graph->vertex_count;
    for (uint32_t i = 0; i < a->leaves; i++)
        graph_vertex(graph, VERTEX_LEAF, NODE_NONE, i);
    for (uint32_t i = 0; i < a->pods * spines_of_pod(a); i++)
        graph_vertex(graph, VERTEX_SPINE, NODE_NONE, i);
    for (uint32_t i = 0; i < cores(a); i++)
        graph_vertex(graph, VERTEX_CORE, NODE_NONE, i);
    for (uint32_t port = 0; port < a->ports; port++)
        topology_join_nic(t, port, (struct vertex_id){first_leaf + port / a->leaf_down});
    build_leaf_links(t, a, first_leaf);
    build_spine_links(t, a, first_leaf + a->leaves);
}

static void route_between(const struct topology *t, struct nic_place from, struct nic_place to,
                          uint64_t flow_seed, struct route *r)
{
    const struct fat_tree_shape *a = t->fabric_private;
    uint32_t port_a = from.node * a->nics + from.nic, port_b = to.node * a->nics + to.nic;
    uint32_t leaf_a = port_a / a->leaf_down, leaf_b = port_b / a->leaf_down;
    uint32_t pod_a = leaf_a / a->spine_down, pod_b = leaf_b / a->spine_down;
    uint32_t spines = spines_of_pod(a), cables = cables_of_spine(a);
    uint32_t leaf_base = topology_nic_out(t, a->ports).value;
    uint32_t spine_base = leaf_base + 2 * a->leaves * spines;
    topology_route_append(t, r, topology_nic_out(t, port_a));
    if (leaf_a != leaf_b) {
        uint32_t spine = topology_ecmp(port_a, port_b, flow_seed, 0, spines);
        topology_route_append(t, r, (struct link_id){leaf_base + 2 * (leaf_a * spines + spine)});
        if (pod_a != pod_b) {
            uint32_t core = topology_ecmp(port_a, port_b, flow_seed, 1, cables);
            uint32_t up = (pod_a * spines + spine) * cables + core;
            uint32_t down = (pod_b * spines + spine) * cables + core;
            topology_route_append(t, r, (struct link_id){spine_base + 2 * up});
            topology_route_append(t, r, (struct link_id){spine_base + 2 * down + 1});
        }
        topology_route_append(t, r,
                              (struct link_id){leaf_base + 2 * (leaf_b * spines + spine) + 1});
    }
    topology_route_append(t, r, topology_nic_in(t, port_b));
}

static unsigned choices(const struct topology *t, struct nic_place from, struct nic_place to,
                        struct path_choice *out)
{
    const struct fat_tree_shape *a = t->fabric_private;
    uint32_t leaf_a = (from.node * a->nics + from.nic) / a->leaf_down;
    uint32_t leaf_b = (to.node * a->nics + to.nic) / a->leaf_down;
    if (leaf_a == leaf_b)
        return 0;
    out[0] = (struct path_choice){a->leaf_up, a->leaf_down, a->leaves};
    if (leaf_a / a->spine_down == leaf_b / a->spine_down)
        return 1;
    out[1] = (struct path_choice){a->leaf_up * a->spine_up, a->leaf_down * a->spine_down, a->pods};
    return 2;
}

static bool draws_paths(const struct topology_spec *spec)
{
    struct fat_tree_shape a;
    measure(spec, &a);
    return spines_of_pod(&a) > 1 || cables_of_spine(&a) > 1;
}

const struct topology_kind topology_fat_tree = {
    .head = {.name = "fat_tree",
             .doc = "One to three tiers of equal switches, oversubscribed or not.",
             .options = {options, sizeof options / sizeof options[0]}},
    .role = TOPOLOGY_FABRIC,
    .check = check,
    .size = size,
    .build = build,
    .route_between = route_between,
    .choices = choices,
    .draws_paths = draws_paths,
};
