/* elasticity.h - what a step, its memory and its price do when a figure of the hardware changes by
 * a tenth: d log y / d log x, from two simulations at 1.1 x and 0.9 x, all else as it is, the
 * layout too. An input of several figures that does anything is also asked figure by figure.
 *
 * Of weeks, MTBF is an input as well and the price is that of a kept token, over a few replications
 * with the same draws (a failure moves in steps: a single one would say little). Runs on several
 * threads; the result does not depend on how many. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_ELASTICITY_H
#define ORRERY_ANALYSIS_EXPLAIN_ELASTICITY_H

#include "scenarios/assemble/scenario.h"
#include "sim/error.h"

/* X(key, what); which figures each is: elasticity.c. */
#define HARDWARE_INPUTS(X)                                                                         \
    X(flops, "arithmetic of the GPU: peaks, attention, clock of the SMs")                          \
    X(hbm_bandwidth, "bandwidth of HBM")                                                           \
    X(hbm_size, "size of HBM, the layout as it is")                                                \
    X(power, "power cap of the GPU")                                                               \
    X(nvlink, "NVLink, one direction of a GPU")                                                    \
    X(nic, "line rate of the NICs, and of the network behind")                                     \
    X(pcie, "PCIe, and from its switches to the CPUs")                                             \
    X(latency, "latencies of wires and switches, start of a collective")                           \
    X(kernel_start, "start of a kernel on the GPU")                                                \
    X(host, "host time: launches, passes, optimizer")                                              \
    X(mtbf, "mean time between failures of every unit")

enum hardware_input {
#define X(key, what) HARDWARE_##key,
    HARDWARE_INPUTS(X)
#undef X
    HARDWARE_INPUT_COUNT
};
enum {
    ELASTICITY_FIGURES_MAX = 8
};
/* A figure of an input, alone: `name` as in stands_on.h. */
struct elasticity_figure {
    const char *name;
    double cost; /* d log / d log of the price; 0 where all figures together do nothing */
};
struct elasticity {
    enum hardware_input input;
    const char *key, *what;
    struct elasticity_figure figures[ELASTICITY_FIGURES_MAX]; /* the largest effect first */
    unsigned figure_count;                                    /* those that are not 0 */
    double step, memory, cost;              /* d log / d log; cost: of 10^9 (kept) tokens */
    double step_low_s, step_high_s;         /* at 0.9 x and 1.1 x */
    double cost_low_ratio, cost_high_ratio; /* of the price as it is, at those */
};
struct elasticities {
    struct elasticity rows[HARDWARE_INPUT_COUNT]; /* the largest effect on the price first */
    unsigned count;                               /* inputs that this scenario has */
    double step_s;                                /* as it is, by this version */
    double headroom_bytes, headroom_high_bytes;   /* of the fullest card; with 1.1 x HBM */
    bool weeks;
};
/* False with a sentence when a step cannot be simulated or does not fit. */
bool elasticity_find(const struct scenario *scenario, unsigned threads, struct elasticities *out,
                     struct error *error);
/* Multiplies the figures of an input; false: the configuration has none of it (all are 0). MTBF is
 * no figure of a configuration. */
bool elasticity_scale(struct configuration *c, enum hardware_input input, double factor);

#endif
