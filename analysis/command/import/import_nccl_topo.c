/* import_nccl_topo.c - the XML that NCCL writes of a machine, as `cluster:` of a scenario. */
#include "analysis/command/import/import_node.h"

static int run(struct importing *i)
{
    return import_node(i, node_topology_xml);
}

static const char *const takes[] = {IMPORT_TAKES_CARD, NULL};

const struct import_kind import_nccl_topo = {
    .head = {.name = "nccl-topo", .doc = "the same from the XML that NCCL_TOPO_DUMP_FILE writes"},
    .file = "FILE",
    .takes = takes,
    .bytes_max = IMPORT_BYTES_MAX,
    .run = run,
};
