/* collective_run.h - how long one collective takes on a cluster: played, not looked up.
 *
 * Every rank has a program of one op; symmetry, tuner, worker and network are those of a step. It
 * is what nccl-tests measures: all ranks start together, nothing else is on the wires. */
#ifndef ORRERY_MODELS_STEP_SIMULATE_COLLECTIVE_RUN_H
#define ORRERY_MODELS_STEP_SIMULATE_COLLECTIVE_RUN_H

#include "models/layout/configuration.h"
#include "models/workload/transformer.h"
#include "sim/error.h"

struct collective_result {
    double bytes;                     /* full buffer, as nccl-tests counts */
    const char *algorithm, *protocol; /* names of kinds */
    double time_s;
    double algbw_bytes_per_s; /* bytes / time */
    double busbw_bytes_per_s; /* algbw x collective_bus_factor */
};
struct collective_sizes {
    enum comm_op op;
    const double *bytes; /* [count], of the full buffer */
    uint32_t count;
};
/* `c` gives cluster, placement and software; its layout is replaced by one group of `ranks` GPUs
 * (COMM_SEND: the first half sends to the second half, rank i to rank i + ranks/2). The ranks must
 * be no more than the GPUs of the cluster, at least 2 and for COMM_SEND even (a CHECK). False with
 * a sentence when the cluster cannot be built. */
bool collective_run(const struct configuration *c, enum comm_op op, uint64_t ranks, double bytes,
                    struct collective_result *out, struct error *error);
/* The same for each size alone, into out[count]. The machine is built and its wires are measured
 * once, which is nearly all of the time of a large all-to-all. */
bool collective_sweep(const struct configuration *c, const struct collective_sizes *sizes,
                      uint64_t ranks, struct collective_result *out, struct error *error);

#endif
