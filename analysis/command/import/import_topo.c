/* import_topo.c - what `nvidia-smi topo -m` prints, as `cluster:` of a scenario. */
#include "analysis/command/import/import_node.h"

static int run(struct importing *i)
{
    return import_node(i, node_topology_matrix);
}

static const char *const takes[] = {IMPORT_TAKES_CARD, NULL};

const struct import_kind import_topo = {
    .head = {.name = "topo",
             .doc = "`nvidia-smi topo -m` of one machine, as `cluster:` of a scenario"},
    .file = "FILE",
    .takes = takes,
    .bytes_max = IMPORT_BYTES_MAX,
    .run = run,
};
