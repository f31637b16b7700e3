/* pytorch_trace.h - what a trace of the PyTorch profiler measured, as points of a profile.
 *
 * The kernels of an operator (by `External id`) add up to one sample of its point
 * (pytorch_points.h); the median of the samples is its time. A kernel of NCCL also waits for the
 * ranks that come later, so of a collective only those samples count that are within 5 % of the
 * shortest, and it is left out where they are fewer than three: then none can be told to have come
 * last. Products in fp32 are left out, as the trace does not tell whether they ran in tf32, and so
 * is what does not name all that a point must know. */
#ifndef ORRERY_SCENARIOS_IMPORT_PYTORCH_TRACE_H
#define ORRERY_SCENARIOS_IMPORT_PYTORCH_TRACE_H

#include "models/gpu/calibrate/profile.h"
#include "scenarios/import/pytorch_events.h"

struct pytorch_trace {
    struct measured_point *points;
    unsigned point_count;
    unsigned operators;             /* that they are of, collectives too */
    unsigned collectives_left;      /* kinds of collectives that scattered too much */
    double kernels_s, points_s;     /* time of all kernels, and of those of points */
    char device[DEVICE_TEXT_BYTES]; /* as its driver names it; "": not told */
    unsigned mended;                /* bytes that are no text, read as '?' */
};
/* `gpus_per_node` 0: as many cards as the process saw, if several. False with a sentence. */
bool pytorch_trace_read(struct arena *arena, struct import_file file, unsigned gpus_per_node,
                        struct pytorch_trace *out, struct error *error);

#endif
