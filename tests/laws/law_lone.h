/* law_lone.h - collectives and messages on a real topology without ranks, programs or tuner.
 *
 * Each activity is added with its algorithm and protocol given; its loads are summed here, apart
 * from symmetry, and every link of the graph is its own class. All are posted at time 0 through
 * network_post and played by the network. The wire rate (payload bytes/s that the narrowest link
 * admits) is the reference of the closed forms. */
#ifndef ORRERY_TESTS_LAW_LONE_H
#define ORRERY_TESTS_LAW_LONE_H

#include "models/step/simulate/network.h"

enum {
    LONE_ACTIVITY_MAX = 4,
    LONE_RANK_MAX = 64
};
struct law_activity {
    const struct collective_kind *kind;
    enum comm_op op;
    enum protocol protocol;
    double bytes;
    const uint32_t *gpus; /* node by node */
    uint32_t gpu_count;
    uint64_t flow_seed;
};
struct law_wires {
    double binding_bytes_per_s; /* over the links that the players share */
    double any_bytes_per_s;     /* over all links of its routes */
    double weight;              /* bytes on the busiest wire for each payload byte */
};
struct law_lone {
    struct sim *sim;
    struct arena *arena;
    const struct topology *topology;
    struct symmetry symmetry;
    struct network *network;
    struct collective_plan plan[LONE_ACTIVITY_MAX];
    struct law_wires wires[LONE_ACTIVITY_MAX];
    double finish_s[LONE_RANK_MAX * LONE_ACTIVITY_MAX]; /* [rank class] */
    uint32_t told;                                      /* parties that have finished */
};
void law_lone_begin(struct law_lone *l, const struct topology *topology);
/* False when the algorithm does not carry this, or not with this protocol. */
bool law_lone_add(struct law_lone *l, const struct law_activity *activity);
void law_lone_run(struct law_lone *l);
/* When activity n finished: the same for all its members, which is checked. */
double law_lone_finish_s(const struct law_lone *l, uint32_t n);
void law_lone_end(struct law_lone *l);
/* The wires of one activity: in `load`, by link id, bytes for each byte on the busiest wire. */
struct law_wires law_wire_rate(const struct topology *topology, const struct law_activity *activity,
                               const struct group_shape *shape, double *load);

#endif
