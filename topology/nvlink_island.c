/* nvlink_island - GPUs on one NVSwitch plane, each beside a NIC on PCIe.
 *
 *        nvswitch                 up and down: nvlink_bandwidth each, half of nvlink_latency
 *       /  |  |  \
 *     gpu gpu gpu gpu             pcie_bandwidth, half of pcie_latency
 *      |   |   |   |
 *     nic nic nic nic             fewer NICs than GPUs: gpus / nics neighbours share one
 *
 * The switch is non-blocking, so only the two links of each GPU count. A message to the NIC of
 * another GPU goes over NVLink to a GPU next to that NIC and leaves from there (PXN, NCCL 2.12):
 * among the GPUs that share the NIC, to the one at the sender's position, so that detours spread.
 * docs/models/topology.md.
 *
 * Binding: NVLink always. PCIe never: all that crosses GPU-NIC goes on through the one link between
 * that NIC and the fabric, which is binding and no wider, as a NIC is no faster than its slot. */
#include "sim/check.h"
#include "topology/topology_kind.h"

static bool check(const struct topology_spec *spec, struct error *error)
{
    return spec->node.nvlink.bytes_per_s > 0 ||
           error_set(error, "an nvlink_island needs nvlink_bandwidth above 0; without NVLink the "
                            "node kind is pcie");
}

static uint64_t network_nics(const struct topology_spec *spec)
{
    return spec->nodes > 1 ? topology_nics(spec) : 0;
}

static void size(const struct topology_spec *spec, struct topology_size *size)
{
    uint64_t nics = network_nics(spec), gpus = spec->node.gpus;
    *size = (struct topology_size){.vertices = gpus + 1 + nics,
                                   .links = 2 * gpus + (nics > 0 ? 2 * gpus : 0)};
}

static uint32_t nic_of(const struct topology *t, uint32_t gpu)
{
    return divisor_quotient(&t->by_nic_gpus, divisor_remainder(&t->by_gpus, gpu));
}

static uint64_t nvlink_gpus(const struct node_spec *node)
{
    return node->gpus;
}

static void build_node(struct topology *t, uint32_t nvlink, uint32_t pcie)
{
    struct graph *graph = &t->graph;
    uint32_t gpus = t->gpus_per_node;
    for (uint32_t i = 0; i < gpus; i++)
        graph_vertex(graph, VERTEX_GPU, 0, i);
    struct vertex_id nvswitch = graph_vertex(graph, VERTEX_NVSWITCH, 0, 0);
    for (uint32_t i = 0; i < t->nics_per_node; i++)
        graph_vertex(graph, VERTEX_NIC, 0, i);
    for (uint32_t i = 0; i < gpus; i++)
        graph_pair(graph, (struct vertex_id){i}, nvswitch, nvlink);
    for (uint32_t i = 0; t->nics_per_node > 0 && i < gpus; i++)
        graph_pair(graph, (struct vertex_id){i}, topology_nic(t, 0, nic_of(t, i)), pcie);
}

static void build(struct topology *t)
{
    const struct node_spec *spec = &t->spec.node;
    struct link_type nvlink = {LINK_NVLINK, true, spec->nvlink.bytes_per_s,
                               spec->nvlink.latency_s / 2};
    uint32_t nvlink_type = graph_type(&t->graph, &nvlink), pcie_type = 0;
    if (t->nics_per_node > 0) {
        struct link_type pcie = {LINK_PCIE, false, spec->pcie.bytes_per_s,
                                 spec->pcie.latency_s / 2};
        pcie_type = graph_type(&t->graph, &pcie);
    }
    build_node(t, nvlink_type, pcie_type);
}

/* Links of GPU i of a node: NVLink up and down, then, after those of all GPUs, PCIe out and in. */
static struct link_id gpu_link(const struct topology *t, uint32_t gpu, bool pcie, bool from_gpu)
{
    const uint32_t node = topology_node_of(t, gpu), gpus = t->gpus_per_node;
    const uint32_t row = gpu - node * gpus + (pcie ? gpus : 0);
    return (struct link_id){node * t->node_links + 2 * row + (from_gpu ? 0 : 1)};
}

static void route_inside(const struct topology *t, uint32_t gpu_a, uint32_t gpu_b, struct route *r)
{
    topology_route_append(t, r, gpu_link(t, gpu_a, false, true));
    topology_route_append(t, r, gpu_link(t, gpu_b, false, false));
}

static void route_nic(const struct topology *t, uint32_t gpu, uint32_t nic, bool to_nic,
                      struct route *r)
{
    CHECK(nic < t->nics_per_node);
    const uint32_t share = t->by_nic_gpus.by, first = topology_node_of(t, gpu) * t->gpus_per_node;
    const uint32_t beside = first + nic * share + divisor_remainder(&t->by_nic_gpus, gpu - first);
    if (to_nic && beside != gpu)
        route_inside(t, gpu, beside, r);
    topology_route_append(t, r, gpu_link(t, beside, true, to_nic));
    if (!to_nic && beside != gpu)
        route_inside(t, beside, gpu, r);
}

const struct topology_kind topology_nvlink_island = {
    .head = {.name = "nvlink_island",
             .doc = "GPUs on one NVSwitch plane, each with a NIC nearby; other NICs are reached "
                    "through NVLink."},
    .role = TOPOLOGY_NODE,
    .check = check,
    .size = size,
    .build = build,
    .route_inside = route_inside,
    .route_nic = route_nic,
    .nic_of = nic_of,
    .nvlink_gpus = nvlink_gpus,
};
