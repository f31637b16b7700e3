/* rank_message.h - a transfer of a rank in the words of PyTorch's NCCL process group: what
 * record_param_comms says of it (pytorch/pytorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp,
 * the calls of RECORD_PARAM_COMMS_DATA; keys of its profiler: torch/csrc/profiler/util.cpp). */
#ifndef ORRERY_ANALYSIS_EXCHANGE_TRACES_RANK_MESSAGE_H
#define ORRERY_ANALYSIS_EXCHANGE_TRACES_RANK_MESSAGE_H

#include "models/layout/layout.h"
#include "models/program/program.h"

struct rank_message {
    const char *collective; /* "allreduce", "_allgather_base", "send", ... */
    const char *kernel;     /* of NCCL, that carries it out */
    const char *type;       /* of an element, as c10::toString spells it: "BFloat16" */
    double element_bytes;
    double in, out; /* elements of the tensors that the rank gives and gets */
    struct group group;
    uint32_t group_index; /* of the layout */
};
/* `op` is one of communication, of a program of the configuration, that `rank` carries out. */
void rank_message_of(const struct configuration *c, const struct layout *layout, uint32_t rank,
                     const struct program *program, const struct op *op, struct rank_message *out);

#endif
