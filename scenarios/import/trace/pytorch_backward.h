/* pytorch_backward.h - when the host was in a backward pass, thread by thread.
 *
 * PyTorch's engine records each node of the graph that it goes back through as an operator
 * "autograd::engine::evaluate_function: ..." (pytorch/pytorch torch/csrc/autograd/engine.cpp); what
 * is launched meanwhile on that thread is of the backward pass, recomputation included. */
#ifndef ORRERY_SCENARIOS_IMPORT_TRACE_PYTORCH_BACKWARD_H
#define ORRERY_SCENARIOS_IMPORT_TRACE_PYTORCH_BACKWARD_H

#include "scenarios/import/trace/pytorch_events.h"

struct pytorch_backward {
    struct backward_stretch *rows; /* by thread and begin; none overlaps another of its thread */
    unsigned count;                /* 0: nothing was recorded of any */
};
void pytorch_backward_find(struct arena *arena, const struct pytorch_events *events,
                           struct pytorch_backward *out);
/* Was that thread in it then? The end is not. */
bool pytorch_backward_holds(const struct pytorch_backward *backward, int64_t thread, double at_s);

#endif
