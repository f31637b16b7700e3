/* node_topology.h - what one machine says of its wires: the matrix of `nvidia-smi topo -m`, or the
 * XML that NCCL_TOPO_DUMP_FILE writes (NVIDIA/nccl src/graph/xml.cc), or that cloud providers give
 * as NCCL_TOPO_FILE, where GPUs and NICs are known by their PCI class alone.
 *
 * Of NCCL's XML it takes the subset that NCCL itself writes and reads: elements with attributes, no
 * text, no entities; with NCCL's own bounds. What does not hold together (a matrix that is not
 * symmetric, an element that does not end) is refused with its line. */
#ifndef ORRERY_SCENARIOS_IMPORT_MACHINE_NODE_TOPOLOGY_H
#define ORRERY_SCENARIOS_IMPORT_MACHINE_NODE_TOPOLOGY_H

#include "scenarios/import/reader/import_text.h"

enum {
    NODE_GPUS_MAX = 256,
    NODE_NICS_MAX = 256,
    NODE_LINKS_MAX = 18 /* of a GPU: no data sheet of V100 to B300 has more */
};
struct node_topology {
    unsigned gpus, nics;     /* nics: ports */
    unsigned near_nics;      /* of them, with a GPU under the same PCIe switch */
    unsigned links;          /* NVLinks of a GPU; of the one with the fewest */
    unsigned wired;          /* the same if they go to other GPUs, not to a switch; 0: they do not,
                              * or it makes no difference. The matrix does not tell which. */
    unsigned linked;         /* GPUs that one reaches by NVLink, itself included; the fewest */
    bool switched;           /* its NVLinks can only go to a switch: `links` are all of a GPU */
    bool links_untold;       /* the file names no links, whatever there are; `links` is 0 */
    bool meshed;             /* not all who reach each other through a GPU do so themselves */
    bool uneven;             /* other GPUs have more links, or reach more */
    unsigned sm;             /* of the cards, 90 for Hopper; 0: not told */
    double nic_bits_per_s;   /* of a NIC, the slowest; 0: not told */
    double link_bytes_per_s; /* of one NVLink, one direction; 0: not told */
};
bool node_topology_matrix(struct arena *arena, struct import_file file, struct node_topology *out,
                          struct error *error);
bool node_topology_xml(struct arena *arena, struct import_file file, struct node_topology *out,
                       struct error *error);

#endif
