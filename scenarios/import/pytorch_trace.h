/* pytorch_trace.h - products in a trace of the PyTorch profiler as points of a profile.
 *
 * The trace is the Chrome JSON that torch.profiler exports with record_shapes=True (pytorch/kineto
 * libkineto/src/output_json.cpp). A kernel belongs to the operator of its `External id`; the
 * kernels of one mm, addmm, bmm or baddbmm add up to one sample of the product of its `Input Dims`,
 * in bf16 or fp16. Products in fp32 are left out, as the trace does not tell whether they ran in
 * tf32, and so are other kernels, whose operators do not name what a point must know. */
#ifndef ORRERY_SCENARIOS_IMPORT_PYTORCH_TRACE_H
#define ORRERY_SCENARIOS_IMPORT_PYTORCH_TRACE_H

#include "models/gpu/calibrate/profile.h"
#include "scenarios/import/import_text.h"

enum {
    PYTORCH_EVENTS_MAX = 1 << 20
};
struct pytorch_trace {
    struct measured_point *points;
    unsigned point_count;
    unsigned products;              /* operators that they are of */
    double kernels_s, products_s;   /* time of all kernels, and of those of points */
    char device[DEVICE_TEXT_BYTES]; /* as its driver names it; "": not told */
};
/* False with a sentence. */
bool pytorch_trace_read(struct arena *arena, struct import_file file, struct pytorch_trace *out,
                        struct error *error);

#endif
