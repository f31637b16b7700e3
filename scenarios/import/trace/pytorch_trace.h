/* pytorch_trace.h - what a trace of the PyTorch profiler measured, as points of a profile.
 *
 * The kernels of an operator (by `External id`) add up to one sample of its point
 * (pytorch_points.h); the median of the samples is its time. A kernel of NCCL also waits for the
 * ranks that come later, so of a collective only those samples count that are within 5 % of the
 * shortest, and it is left out where they are fewer than three: then none can be told to have come
 * last. Products in fp32 are left out, as the trace does not tell whether they ran in tf32, and so
 * is what does not name all that a point must know. */
#ifndef ORRERY_SCENARIOS_IMPORT_TRACE_PYTORCH_TRACE_H
#define ORRERY_SCENARIOS_IMPORT_TRACE_PYTORCH_TRACE_H

#include "models/profile/profile.h"
#include "scenarios/import/trace/pytorch_points.h"
#include "scenarios/import/trace/span_unknown.h"

struct pytorch_trace {
    struct measured_point *points;
    unsigned point_count;
    unsigned operators;                /* that they are of, collectives too */
    unsigned collectives_left;         /* kinds of collectives that scattered too much */
    double kernels_s, points_s;        /* time of all kernels, and of those of points */
    unsigned recorded;                 /* operators of the host, of any name */
    unsigned left[PYTORCH_LEFT_COUNT]; /* of them, that are no points, by the reason */
    struct span_unknown unknown;       /* of all kernels */
    struct pytorch_device device;
    unsigned mended; /* bytes that are no text, read as '?' */
};
/* `gpus_per_node` 0: as many cards as the process saw, if several. False with a sentence. */
bool pytorch_trace_read(struct arena *arena, struct import_file file, unsigned gpus_per_node,
                        struct pytorch_trace *out, struct error *error);
/* "12 products are in fp32, ...; ...": what could have been points and is none. "": nothing. */
const char *pytorch_trace_left(struct arena *arena, const struct pytorch_trace *trace);

#endif
