/* collective_measured.h - measured times of collectives, and plans that take them.
 *
 * A collective of one operation on one size of group, by the ranks and the nodes that they stand
 * in, whose very buffer was measured takes the measured time; between two measured buffers the
 * ratio of measured to modelled time is interpolated, a straight line in the logarithms of ratio
 * and bytes; outside of them the ratio of the end goes on for two octaves and is called
 * extrapolated. Further out, and for groups that were not measured, the model answers. Which wires
 * carry it stays with the algorithm that the model chooses, so that it contends with others as
 * before; a time that those wires cannot keep is played at what they carry. docs/calibration.md has
 * the error of it. Plain data; it knows no file. */
#ifndef ORRERY_MODELS_COLLECTIVE_COLLECTIVE_MEASURED_H
#define ORRERY_MODELS_COLLECTIVE_COLLECTIVE_MEASURED_H

#include "models/collective/collective_kind.h"

struct collective_point {
    enum comm_op op;
    uint32_t ranks, nodes;
    double bytes; /* full buffer, as nccl-tests counts; above 0 */
    double time_s;
};
struct collective_points {
    const struct collective_point *rows; /* by op, ranks, nodes, bytes; no two are of one such */
    uint32_t count;                      /* 0: nothing was measured */
};
/* Sorts rows in place and makes one of those that are alike, of their geometric mean (data types
 * differ, bytes and wires do not). Returns how many are left. */
uint32_t collective_points_sort(struct collective_point *rows, uint32_t count);
/* collective_tune, then what was measured of it: out->basis says which. */
void collective_choose(const struct collective_points *points, enum comm_op op,
                       const struct group_shape *shape, double bytes, struct collective_plan *out);

#endif
