/* pytorch_spans.h - the spans of one training step in a trace of the PyTorch profiler.
 *
 * A step is what was launched while its mark ProfilerStep#N lasted; without marks, the whole trace
 * is one step. Kernels of one operator that do one thing are one span: those of a fused attention,
 * of a norm or of an optimizer that follow each other on a stream, and the sum behind a product
 * that was split along k. */
#ifndef ORRERY_SCENARIOS_IMPORT_TRACE_PYTORCH_SPANS_H
#define ORRERY_SCENARIOS_IMPORT_TRACE_PYTORCH_SPANS_H

#include "scenarios/import/trace/pytorch_events.h"
#include "scenarios/import/trace/span.h"

struct pytorch_step {
    struct trace_span *spans; /* by begin */
    unsigned count, kernels;
    int64_t number; /* N of its mark; PYTORCH_UNTOLD: the trace has no marks */
    double host_s;  /* how long its mark lasted; 0: none */
    struct pytorch_device device;
    int64_t rank, world_size; /* PYTORCH_UNTOLD: not told */
    unsigned mended;          /* bytes that are no text, read as '?' */
    bool forward_only; /* kernels of a forward pass, none of a backward one or of an optimizer */
};
/* `number` PYTORCH_UNTOLD: the last step that has kernels. False with a sentence. */
bool pytorch_spans_read(struct arena *arena, struct import_file file, int64_t number,
                        struct pytorch_step *out, struct error *error);

#endif
