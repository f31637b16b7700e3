/* kineto.h - the step of a rank as PyTorch's profiler writes it (Kineto: pytorch/kineto
 * libkineto/src/output_json.cpp): kernels on streams, each with the launch that it correlates with,
 * copies between card and host, NCCL's kernels with what they carry, and one ProfilerStep#0.
 *
 * Streams have the numbers of enum stream behind KINETO_STREAM, PyTorch's number of the default
 * stream. A kernel is named orrery::KIND::PASS::NAME. Kernels of an op stand end to end, in
 * proportion to their own times, as `--detail kernel` records them. A launch is a moment: the
 * database holds when the host had to have reached it (rank_op.launch_ns), and not how long it
 * took. What `--detail op` does not hold is not there: operators, memory, Python. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_TRACES_KINETO_H
#define ORRERY_ANALYSIS_EXCHANGE_TRACES_KINETO_H

#include <stdio.h>

#include "analysis/exchange/traces/rank_timeline.h"

enum {
    KINETO_STREAM = 7
};
/* Of the rank that was read last. Errors of `out` stay in it. */
void kineto_write(const struct rank_timeline *t, FILE *out);

#endif
