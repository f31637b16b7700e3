/* storage.h - the player of reads and writes: how long a checkpoint takes to be written or loaded.
 *
 * A tier has a cap for each client (rank), for each node and in all; ranks write their shards at
 * the same time and share the caps max-min fairly (sim/share). A write ends with its slowest rank.
 * Background writes that pass the NICs take bandwidth from training: they share it half and half
 * where both want all of it.
 *
 * Ranks that are alike are one activity: nodes that hold the same shards are played once, with
 * their number as weight, so that 16,384 ranks cost what their pipeline stages do. Nodes whose
 * links the configuration perturbs stand alone. */
#ifndef ORRERY_MODELS_CHECKPOINT_STORAGE_H
#define ORRERY_MODELS_CHECKPOINT_STORAGE_H

#include "models/layout/configuration.h"

enum storage_path {
    STORAGE_HOST, /* over PCIe to the memory, the disks or the storage NICs of the own node */
    STORAGE_NIC   /* over the NICs that training uses */
};
extern const char *const storage_path_names[]; /* NULL-ended: host, nic */
struct storage_tier {
    const char *name;
    int path, survival; /* enum storage_path, enum survival */
    bool memory;        /* kept in host memory, of the own node or of others */
    double client_write_bytes_per_s, client_read_bytes_per_s; /* of one rank; 0: no cap */
    double node_write_bytes_per_s, node_read_bytes_per_s;     /* of one node; 0: no cap */
    double total_write_bytes_per_s, total_read_bytes_per_s;   /* of all; 0: no cap */
    double latency_s; /* open, metadata, close, commit: once for each save or load */
    uint64_t copies;  /* each rank writes so many; peer memory: on so many other nodes */
};
extern const struct param storage_params[];
extern const unsigned storage_param_count;

/* False with a sentence where this cluster cannot use the tier: no NIC for a path by NIC, fewer
 * other nodes than copies in memory. */
bool storage_check(const struct configuration *c, const struct storage_tier *tier,
                   struct error *error);
/* False with a sentence where those of the tiers that are host memory hold together more than a
 * node has: each `keep` checkpoints and one more, since the oldest is dropped when the new one is
 * whole. Every node is taken to hold as much as the one that writes most. */
bool storage_check_memory(const struct configuration *c, const struct storage_tier *tiers,
                          unsigned count, double bytes_per_parameter, uint64_t keep,
                          struct error *error);

/* What a checkpoint keeps for each parameter: the weight, the master copy where there is one, and
 * the moments; gradients are not kept. 14 for bf16 with Adam, 12 where the weights are the master
 * copy. */
double storage_bytes_per_parameter(const struct configuration *c);

/* Bytes that each rank writes: parameters x bytes_per_parameter, spread over the ranks that hold
 * distinct shards under this layout and sharding (replicas write once), by rank. A stage's
 * parameters are spread evenly over its tensor ranks and shards. Returns the sum. */
double storage_shards(const struct configuration *c, double bytes_per_parameter,
                      struct arena *arena, double **bytes_of_rank);
struct storage_time {
    double seconds;         /* until the slowest rank is done, latency included */
    double bytes;           /* moved by all ranks, every copy counted */
    double nic_bytes_per_s; /* mean load of the busiest NIC meanwhile; 0: not by NIC */
};
enum storage_op {
    STORAGE_WRITE,
    STORAGE_WRITE_BEHIND, /* beside training, which is left half of every NIC */
    STORAGE_READ,         /* every rank reads its shard; replicas read too */
    STORAGE_SNAPSHOT /* HBM to host memory over PCIe; no cap and no latency of the tier counts */
};
struct storage_access {
    const struct storage_tier *tier; /* NULL: none, for a snapshot */
    enum storage_op op;
    double bytes_per_parameter;
};
/* The cluster can be built (topology_check) and storage_check holds. */
void storage_play(const struct configuration *c, const struct storage_access *access,
                  struct storage_time *out);
/* The same with every node played on its own when `unfold`, and when each rank is done: a row for
 * each rank, 0 for those that move nothing; or NULL. */
void storage_play_ranks(const struct configuration *c, const struct storage_access *access,
                        bool unfold, double *seconds_of_rank, struct storage_time *out);

#endif
