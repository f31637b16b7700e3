#include "analysis/exchange/traces/rank_message.h"

#include <math.h>
#include <string.h>

#include "sim/check.h"

/* Names of NCCL's device functions are those of its host functions; an all-to-all and messages are
 * sends and receives (NVIDIA/nccl src/device/generate.py; PyTorch's all_to_all_single calls
 * ncclSend and ncclRecv). */
static const struct transfer_words {
    const char *collective, *kernel;
} words[] = {
    [COMM_ALL_REDUCE] = {"allreduce", "ncclDevKernel_AllReduce_Sum"},
    [COMM_ALL_GATHER] = {"_allgather_base", "ncclDevKernel_AllGather"},
    [COMM_REDUCE_SCATTER] = {"_reduce_scatter_base", "ncclDevKernel_ReduceScatter_Sum"},
    [COMM_BROADCAST] = {"broadcast", "ncclDevKernel_Broadcast"},
    [COMM_ALL_TO_ALL] = {"all_to_all", "ncclDevKernel_SendRecv"},
    [COMM_SEND] = {"send", "ncclDevKernel_SendRecv"},
    [COMM_RING_EXCHANGE] = {"send", "ncclDevKernel_SendRecv"},
    [COMM_EXPERT_EXCHANGE] = {"all_to_allv", "ncclDevKernel_SendRecv"},
};

/* A floating-point type of so many bytes, of which 16 bits are those of the training. */
static const char *type_of_bytes(const struct configuration *c, double bytes)
{
    const bool half = strcmp(precision_wide(c->training.precision)->head.name, "fp16") == 0;
    return bytes == 4.0 ? "Float" : bytes == 2.0 ? (half ? "Half" : "BFloat16") : "Byte";
}

/* Bytes of an element: gradients as the software reduces them, the norm of gradients in fp32,
 * activations and weights in the wide format of the training. */
static double element_bytes(const struct configuration *c, enum phase phase)
{
    const double reduced = c->software.data.gradient_reduce_bytes;
    switch (phase) {
    case PHASE_GRADIENTS:
        return reduced > 0.0 ? reduced : configuration_gradient_bytes(c);
    case PHASE_OPTIMIZER:
        return 4.0;
    case PHASE_FORWARD:
    case PHASE_BACKWARD:
    case PHASE_RECOMPUTE:
    case PHASE_PARAMETERS:
    case PHASE_COUNT:
        break;
    }
    return precision_wide(c->training.precision)->weight_bytes;
}

/* Rows that go to experts in eight bits carry scales, and weights may be sent narrow: what is no
 * whole number of elements for each member is told in bytes. */
static void set_elements(const struct configuration *c, enum phase phase, double bytes,
                         double members, struct rank_message *out)
{
    const double each = element_bytes(c, phase);
    const bool narrow = phase == PHASE_PARAMETERS && precision_narrow(c->training.precision);
    const bool whole = !narrow && fmod(bytes, each * members) == 0.0;
    out->element_bytes = whole ? each : 1.0;
    out->type = whole ? type_of_bytes(c, each) : "Byte";
    out->in = out->out = bytes / out->element_bytes;
}

void rank_message_of(const struct configuration *c, const struct layout *layout, uint32_t rank,
                     const struct program *program, const struct op *op, struct rank_message *out)
{
    const struct transfer *transfer = &program->transfers[op->cost];
    const uint32_t index = layout_group_of(layout, rank, (enum stream)op->stream);
    CHECK(op->kind != OP_COMPUTE && index != GROUP_NONE);
    const struct transfer_words *w = &words[transfer->op];
    *out = (struct rank_message){.collective = op->kind == OP_RECV ? "recv" : w->collective,
                                 .kernel = w->kernel,
                                 .group = layout_group(layout, index),
                                 .group_index = index};
    const bool shares = transfer->op == COMM_ALL_GATHER || transfer->op == COMM_REDUCE_SCATTER;
    const double members = shares ? (double)out->group.member_count : 1.0;
    set_elements(c, (enum phase)op->phase, transfer->bytes, members, out);
    if (transfer->op == COMM_ALL_GATHER)
        out->in /= members;
    else if (transfer->op == COMM_REDUCE_SCATTER)
        out->out /= members;
}
