/* wires.h - over which wires the traffic of a stream goes, by where the ranks of its communicators
 * stand: the network where one of them stands on several nodes, else NVLink where the node has it,
 * else PCIe. For the words of reports: what each transfer used, `--detail flow` keeps. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_WIRES_H
#define ORRERY_ANALYSIS_EXPLAIN_WIRES_H

#include "analysis/record/database/query.h"

enum wires_group {
    WIRES_TP,
    WIRES_CP,
    WIRES_DP, /* replicas, context ranks among them */
    WIRES_PP,
    WIRES_ALL,
    WIRES_GROUP_COUNT
};
struct wires {
    bool across[WIRES_GROUP_COUNT]; /* a communicator stands on several nodes */
    bool nvlink;
    bool split; /* hsdp: gathers stay in groups of replicas that the database does not name */
};
/* Of run 1. */
bool wires_read(struct query *query, struct wires *out, struct error *error);
/* "network", "nvlink", "pcie"; "": no traffic, or not known. */
const char *wires_of(const struct wires *wires, const char *stream);

#endif
