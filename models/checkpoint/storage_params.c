/* storage_params.c - how tiers are spelt and checked against the cluster. Figures live in
 * scenarios/catalogue/storage.yaml with their sources; a default here is no cap at all. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/checkpoint/checkpoint_kind.h"
#include "models/checkpoint/storage.h"
#include "models/layout/layout.h"
#include "sim/plural.h"
#include "sim/units.h"

#define AT(field) offsetof(struct storage_tier, field)
/* Beyond a hundred times today's largest file systems a prefix was mistyped. */
#define RATE_MAX PETA
#define COPIES_MAX 16

#define CAP(name, field, doc)                                                                      \
    {                                                                                              \
        name, PARAM_BANDWIDTH, AT(field), 0, RATE_MAX, "0GB/s", NULL, doc                          \
    }

const struct param storage_params[] = {
    {"path", PARAM_CHOICE, AT(path), 0, 0, "host", storage_path_names,
     "Path from a rank to the tier: host (PCIe; memory, disks or storage NICs of its node) or nic "
     "(the NICs that training uses)."},
    {"survival", PARAM_CHOICE, AT(survival), 0, 0, "domain", survival_names,
     "Loss that a copy survives: process (lost with its node), node (lost with a domain of nodes), "
     "domain."},
    {"memory", PARAM_FLAG, AT(memory), 0, 1, "false", NULL,
     "The tier is host memory, of the rank's own node (path host: a snapshot ends there) or of "
     "other nodes."},
    CAP("client_write_bandwidth", client_write_bytes_per_s,
        "Write bandwidth of one rank; 0: no limit."),
    CAP("client_read_bandwidth", client_read_bytes_per_s,
        "Read bandwidth of one rank; 0: no limit."),
    CAP("node_write_bandwidth", node_write_bytes_per_s,
        "Write bandwidth of one node; 0: no limit."),
    CAP("node_read_bandwidth", node_read_bytes_per_s, "Read bandwidth of one node; 0: no limit."),
    CAP("total_write_bandwidth", total_write_bytes_per_s,
        "Write bandwidth of all nodes together; 0: no limit."),
    CAP("total_read_bandwidth", total_read_bytes_per_s,
        "Read bandwidth of all nodes together; 0: no limit."),
    {"latency", PARAM_TIME, AT(latency_s), 0, HOUR, "0s", NULL,
     "Fixed time of each save or load: opening, metadata, closing and committing."},
    {"copies", PARAM_COUNT, AT(copies), 1, COPIES_MAX, "1", NULL,
     "Copies that each rank writes; in the memory of other nodes, each copy on a different node."},
};
const unsigned storage_param_count = sizeof storage_params / sizeof storage_params[0];

/* The most bytes that the ranks of one node write. */
static double node_bytes(const struct configuration *c, double bytes_per_parameter)
{
    struct arena *arena = arena_create();
    double *bytes_of_rank, most = 0.0;
    double *of_node = ARENA_ARRAY(arena, double, c->cluster.nodes);
    storage_shards(c, bytes_per_parameter, arena, &bytes_of_rank);
    for (uint32_t rank = 0; rank < configuration_ranks(c); rank++) {
        double *node = &of_node[layout_gpu(c, rank) / c->cluster.node.gpus];
        *node += bytes_of_rank[rank];
        most = fmax(most, *node);
    }
    arena_destroy(arena);
    return most;
}

bool storage_check(const struct configuration *c, const struct storage_tier *tier,
                   struct error *error)
{
    bool others = tier->path == STORAGE_NIC && tier->memory;
    if (!(c->cluster.node.pcie.bytes_per_s > 0.0)) {
        return error_set(error, "%s is reached over PCIe: the node needs a pcie_bandwidth",
                         tier->name);
    }
    if (tier->path == STORAGE_NIC &&
        (topology_nics(&c->cluster) == 0 || !(topology_nic_bytes_per_s(&c->cluster) > 0.0))) {
        return error_set(error,
                         "%s is reached by the NICs of training, but a node has none: give it NICs "
                         "with a rate, or path: host",
                         tier->name);
    }
    if (others && tier->copies >= c->cluster.nodes) {
        return error_set(error,
                         "%s keeps %" PRIu64 " copies on other nodes, but the cluster has %" PRIu64
                         " nodes in all",
                         tier->name, tier->copies, c->cluster.nodes);
    }
    return true;
}

bool storage_check_memory(const struct configuration *c, const struct storage_tier *tiers,
                          unsigned count, double bytes_per_parameter, uint64_t keep,
                          struct error *error)
{
    const double room = c->cluster.node.host.memory_bytes;
    char names[256] = "", fewer[64] = "";
    unsigned in_memory = 0;
    uint64_t copies = 0;
    for (unsigned i = 0; i < count; i++) {
        const size_t used = strlen(names);
        if (!tiers[i].memory)
            continue;
        snprintf(names + used, sizeof names - used, "%s%s", in_memory > 0 ? " and " : "",
                 tiers[i].name);
        copies += tiers[i].copies;
        in_memory++;
    }
    if (!(room > 0.0))
        return true;
    const double each = node_bytes(c, bytes_per_parameter) * (double)copies;
    const double bytes = ((double)keep + 1.0) * each, most = floor(room / each) - 1.0;
    if (bytes <= room)
        return true;
    if (most >= 1.0)
        snprintf(fewer, sizeof fewer, "keep at most %.0f, ", most);
    return error_set(error,
                     "%s must%s hold %" PRIu64 " checkpoint%s and the one being written, %.3g GB "
                     "in a node's memory of %.3g GB: %sspread the state over more nodes, or keep "
                     "it elsewhere",
                     names, in_memory > 1 ? " each" : "", keep, plural_s(keep), bytes / GIGA,
                     room / GIGA, fewer);
}
