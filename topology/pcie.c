/* pcie - GPUs on PCIe switches below the CPUs; NVLink bridges may join neighbours.
 *
 *              host                     host_bandwidth, half of pcie_latency
 *            /      \
 *       switch      switch
 *      / | | \      / | | \             pcie_bandwidth; a GPU's link half of pcie_latency
 *    gpu=gpu nic  gpu=gpu nic           a NIC's own slot is part of nic_latency
 *                                       = a bridge: nvlink_bandwidth, nvlink_latency
 *
 * NICs are on the switches in turn by number, so a GPU's NIC is on its own switch where there are
 * enough. `bridged` GPUs with consecutive numbers are joined each to each at nvlink_bandwidth /
 * (bridged - 1). Where a job uses a part of a node the last group may be incomplete; its bridges
 * are then idle. docs/models/topology.md.
 *
 * Binding: bridges and GPU links always (a GPU can send and be sent at any rate). Switch to NIC
 * never: all of it goes on through the NIC's fabric link, which is binding and no wider. Host links
 * unless everything below the switch together is no wider: bounded from below, where GPU links and
 * NIC links bind. */
#include "sim/check.h"
#include "topology/topology_kind.h"

enum {
    GPUS_PER_SWITCH,
    BRIDGED
};

static const struct param options[] = {
    {"gpus_per_switch", PARAM_COUNT, GPUS_PER_SWITCH, 1, 65536, "4", NULL,
     "GPUs below one PCIe switch; 4 is usual in servers of 8 cards and 2 CPUs."},
    {"bridged", PARAM_COUNT, BRIDGED, 1, 8, "1", NULL,
     "GPUs of consecutive numbers whom NVLink bridges join, each to each, by nvlink_bandwidth in "
     "all: 2 for pairs; 1: none."},
};

struct pcie_shape {
    uint32_t per_switch, switches, bridged;
};

static struct pcie_shape anatomy_of(const struct topology_spec *spec)
{
    uint32_t per_switch = (uint32_t)spec->node.options.value[GPUS_PER_SWITCH];
    uint32_t gpus = (uint32_t)spec->node.gpus;
    return (struct pcie_shape){per_switch, (gpus + per_switch - 1) / per_switch,
                               (uint32_t)spec->node.options.value[BRIDGED]};
}

static bool check_bridges(const struct node_spec *node, struct error *error)
{
    uint64_t bridged, installed = topology_whole_node(node);
    if (!topology_option(&node->options, options, BRIDGED, &bridged, error))
        return false;
    if (installed % bridged != 0) {
        return error_set(error,
                         "%llu GPUs of a node cannot be bridged by %llu: bridged must divide "
                         "gpus",
                         (unsigned long long)installed, (unsigned long long)bridged);
    }
    return bridged == 1 || node->nvlink.bytes_per_s > 0 ||
           error_set(error,
                     "bridged: %llu needs nvlink_bandwidth above 0: what a card can send "
                     "in one direction over all its bridges",
                     (unsigned long long)bridged);
}

static bool check(const struct topology_spec *spec, struct error *error)
{
    uint64_t per_switch;
    if (!topology_option(&spec->node.options, options, GPUS_PER_SWITCH, &per_switch, error))
        return false;
    if (!(spec->node.pcie.bytes_per_s > 0))
        return error_set(error, "a pcie node needs pcie_bandwidth above 0");
    if (per_switch < spec->node.gpus && !(spec->node.pcie.host_bytes_per_s > 0)) {
        return error_set(error, "a pcie node with several PCIe switches needs host_bandwidth above "
                                "0 (or gpus_per_switch as large as gpus)");
    }
    return check_bridges(&spec->node, error);
}

static uint64_t nvlink_gpus(const struct node_spec *node)
{
    return (uint64_t)node->options.value[BRIDGED];
}

/* Pairs among so many GPUs, of which each has the number of those among the GPUs before it. */
static uint32_t pairs_of(uint32_t gpus)
{
    return gpus * (gpus - 1) / 2;
}

static uint32_t bridges_of(const struct pcie_shape *a, uint32_t gpus)
{
    return gpus / a->bridged * pairs_of(a->bridged) + pairs_of(gpus % a->bridged);
}

static uint64_t network_nics(const struct topology_spec *spec)
{
    return spec->nodes > 1 ? topology_nics(spec) : 0;
}

/* One switch needs no CPU between: it stands alone. */
static void size(const struct topology_spec *spec, struct topology_size *size)
{
    struct pcie_shape a = anatomy_of(spec);
    uint64_t nics = network_nics(spec), hosts = a.switches > 1 ? 1 : 0;
    *size = (struct topology_size){.vertices = spec->node.gpus + a.switches + hosts + nics,
                                   .links = 2 * (spec->node.gpus + hosts * a.switches + nics +
                                                 bridges_of(&a, (uint32_t)spec->node.gpus))};
}

static uint32_t switch_of_nic(const struct topology *t, const struct pcie_shape *a, uint32_t nic)
{
    return (uint32_t)((uint64_t)nic * a->switches / t->nics_per_node);
}

static uint32_t nic_of(const struct topology *t, uint32_t gpu)
{
    return divisor_quotient(&t->by_nic_gpus, divisor_remainder(&t->by_gpus, gpu));
}

/* Links of a node: GPUs, NICs, switches to the host, then bridges; each out (upwards, or to the GPU
 * of the higher number) and in. */
static struct link_id node_link(const struct topology *t, uint32_t node, uint32_t row, bool up)
{
    return (struct link_id){node * t->node_links + 2 * row + (up ? 0 : 1)};
}

static uint32_t host_type(struct topology *t, const struct pcie_shape *a, uint32_t which)
{
    const struct node_spec *spec = &t->spec.node;
    uint32_t first = which * a->per_switch, end = first + a->per_switch, nics = 0;
    uint32_t gpus = (end < t->gpus_per_node ? end : t->gpus_per_node) - first;
    for (uint32_t i = 0; i < t->nics_per_node; i++)
        nics += switch_of_nic(t, a, i) == which;
    double below = gpus * spec->pcie.bytes_per_s;
    if (nics > 0)
        below += nics * topology_nic_bytes_per_s(&t->spec);
    struct link_type type = {LINK_HOST, below > spec->pcie.host_bytes_per_s,
                             spec->pcie.host_bytes_per_s, spec->pcie.latency_s / 2};
    return graph_type(&t->graph, &type);
}

static void build_node(struct topology *t, const struct pcie_shape *a, uint32_t gpu_type,
                       uint32_t nic_type)
{
    struct graph *graph = &t->graph;
    uint32_t first_switch = t->gpus_per_node;
    for (uint32_t i = 0; i < t->gpus_per_node; i++)
        graph_vertex(graph, VERTEX_GPU, 0, i);
    for (uint32_t i = 0; i < a->switches; i++)
        graph_vertex(graph, VERTEX_PCIE_SWITCH, 0, i);
    struct vertex_id host = {0};
    if (a->switches > 1)
        host = graph_vertex(graph, VERTEX_HOST, 0, 0);
    for (uint32_t i = 0; i < t->nics_per_node; i++)
        graph_vertex(graph, VERTEX_NIC, 0, i);
    for (uint32_t i = 0; i < t->gpus_per_node; i++) {
        graph_pair(graph, (struct vertex_id){i},
                   (struct vertex_id){first_switch + i / a->per_switch}, gpu_type);
    }
    for (uint32_t i = 0; i < t->nics_per_node; i++) {
        graph_pair(graph, topology_nic(t, 0, i),
                   (struct vertex_id){first_switch + switch_of_nic(t, a, i)}, nic_type);
    }
    for (uint32_t i = 0; a->switches > 1 && i < a->switches; i++)
        graph_pair(graph, (struct vertex_id){first_switch + i}, host, host_type(t, a, i));
}

/* In the order of bridge_row. */
static void build_bridges(struct topology *t, const struct pcie_shape *a)
{
    const struct node_spec *spec = &t->spec.node;
    if (a->bridged == 1)
        return;
    struct link_type bridge = {LINK_NVLINK, true, spec->nvlink.bytes_per_s / (a->bridged - 1),
                               spec->nvlink.latency_s};
    uint32_t type = graph_type(&t->graph, &bridge);
    for (uint32_t high = 0; high < t->gpus_per_node; high++)
        for (uint32_t low = high - high % a->bridged; low < high; low++)
            graph_pair(&t->graph, (struct vertex_id){low}, (struct vertex_id){high}, type);
}

static void build(struct topology *t)
{
    const struct node_spec *spec = &t->spec.node;
    struct pcie_shape *a = ARENA_NEW(t->graph.arena, struct pcie_shape);
    *a = anatomy_of(&t->spec);
    t->node_private = a;
    struct link_type gpu = {LINK_PCIE, true, spec->pcie.bytes_per_s, spec->pcie.latency_s / 2};
    struct link_type nic = {LINK_PCIE, false, spec->pcie.bytes_per_s, 0};
    uint32_t gpu_type = graph_type(&t->graph, &gpu), nic_type = graph_type(&t->graph, &nic);
    build_node(t, a, gpu_type, nic_type);
    build_bridges(t, a);
}

/* Between two switches of a node, through the host unless they are one. */
static void cross(const struct topology *t, uint32_t node, uint32_t from, uint32_t to,
                  struct route *r)
{
    if (from != to) {
        uint32_t row = t->gpus_per_node + t->nics_per_node;
        topology_route_append(t, r, node_link(t, node, row + from, true));
        topology_route_append(t, r, node_link(t, node, row + to, false));
    }
}

static uint32_t bridge_row(const struct topology *t, const struct pcie_shape *a, uint32_t low,
                           uint32_t high)
{
    uint32_t before = t->gpus_per_node + t->nics_per_node + (a->switches > 1 ? a->switches : 0);
    return before + bridges_of(a, high) + low % a->bridged;
}

static void route_inside(const struct topology *t, uint32_t gpu_a, uint32_t gpu_b, struct route *r)
{
    if (gpu_a == gpu_b)
        return; /* no switch that reduces: nothing leaves the GPU */
    const struct pcie_shape *a = t->node_private;
    uint32_t node = gpu_a / t->gpus_per_node;
    uint32_t from = gpu_a % t->gpus_per_node, to = gpu_b % t->gpus_per_node;
    if (from / a->bridged == to / a->bridged) {
        uint32_t row = from < to ? bridge_row(t, a, from, to) : bridge_row(t, a, to, from);
        topology_route_append(t, r, node_link(t, node, row, from < to));
        return;
    }
    topology_route_append(t, r, node_link(t, node, from, true));
    cross(t, node, from / a->per_switch, to / a->per_switch, r);
    topology_route_append(t, r, node_link(t, node, to, false));
}

static void route_nic(const struct topology *t, uint32_t gpu, uint32_t nic, bool to_nic,
                      struct route *r)
{
    CHECK(nic < t->nics_per_node);
    const struct pcie_shape *a = t->node_private;
    uint32_t node = gpu / t->gpus_per_node, place = gpu % t->gpus_per_node;
    uint32_t gpu_switch = place / a->per_switch, nic_switch = switch_of_nic(t, a, nic);
    if (to_nic) {
        topology_route_append(t, r, node_link(t, node, place, true));
        cross(t, node, gpu_switch, nic_switch, r);
        topology_route_append(t, r, node_link(t, node, t->gpus_per_node + nic, false));
    } else {
        topology_route_append(t, r, node_link(t, node, t->gpus_per_node + nic, true));
        cross(t, node, nic_switch, gpu_switch, r);
        topology_route_append(t, r, node_link(t, node, place, false));
    }
}

const struct topology_kind topology_pcie = {
    .head = {.name = "pcie",
             .doc = "GPUs below PCIe switches, which the CPUs connect; NVLink bridges may connect "
                    "neighbours.",
             .options = {options, sizeof options / sizeof options[0]}},
    .role = TOPOLOGY_NODE,
    .check = check,
    .size = size,
    .build = build,
    .route_inside = route_inside,
    .route_nic = route_nic,
    .nic_of = nic_of,
    .nvlink_gpus = nvlink_gpus,
};
