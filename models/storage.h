/* storage.h - the player of reads and writes: how long a checkpoint takes to be written or loaded.
 *
 * A tier has a cap for each client (rank), for each node and in all; ranks write their shards at
 * the same time and share the caps max-min fairly (sim/share). A write ends with its slowest rank.
 * Background writes that pass the NICs take bandwidth from training; storage_nic_share says how
 * much is left. */
#ifndef ORRERY_MODELS_STORAGE_H
#define ORRERY_MODELS_STORAGE_H

#include "models/configuration.h"

enum storage_path {
    STORAGE_HOST, /* over PCIe into the memory or the disks of the own node */
    STORAGE_NIC   /* over the NICs that training uses */
};
extern const char *const storage_path_names[];
struct storage_tier {
    const char *name;
    int path, survival;                                       /* enum storage_path, enum survival */
    double client_write_bytes_per_s, client_read_bytes_per_s; /* of one rank; 0: no cap */
    double node_write_bytes_per_s, node_read_bytes_per_s;     /* of one node; 0: no cap */
    double total_write_bytes_per_s, total_read_bytes_per_s;   /* of all; 0: no cap */
    double latency_s; /* open, metadata, close, commit: once for each save or load */
    uint64_t copies;  /* peer memory: kept on so many other nodes */
};
extern const struct param storage_params[];
extern const unsigned storage_param_count;

/* Bytes that each rank writes: parameters x bytes_per_parameter, spread over the ranks that hold
 * distinct shards under this layout and sharding (replicas write once), by rank. Returns the sum.
 */
double storage_shards(const struct configuration *c, double bytes_per_parameter,
                      struct arena *arena, double **bytes_of_rank);
struct storage_time {
    double seconds;         /* until the slowest rank is done, latency included */
    double bytes;           /* of all ranks */
    double nic_bytes_per_s; /* mean load of the busiest NIC meanwhile; 0: not by NIC */
};
enum storage_op {
    STORAGE_WRITE,
    STORAGE_READ,    /* every rank reads its shard; replicas read too, or get it from a peer */
    STORAGE_SNAPSHOT /* HBM to host memory over PCIe; the tier's caps do not count */
};
void storage_play(const struct configuration *c, const struct storage_tier *tier,
                  enum storage_op op, double bytes_per_parameter, struct storage_time *out);

#endif
