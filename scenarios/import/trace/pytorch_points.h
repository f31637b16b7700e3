/* pytorch_points.h - which point of a profile an event of a PyTorch trace is a measurement of.
 *
 * An operator is one where its inputs tell all that a point must know: products (mm, addmm, bmm,
 * baddbmm) in bf16 or fp16; fused attention, forward and backward, of PyTorch's own flash and cuDNN
 * operators and of flash_attn, without dropout, bias, window or packed sequences; norms,
 * activations, additions, softmax, embeddings and casts in bf16, by the bytes that they must read
 * and write. A kernel of NCCL is one where its buffer, type and group are told. Signatures:
 * pytorch/pytorch aten/src/ATen/native/native_functions.yaml, Dao-AILab/flash-attention
 * flash_attn/flash_attn_interface.py; names of collectives: pytorch/pytorch
 * torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp. */
#ifndef ORRERY_SCENARIOS_IMPORT_TRACE_PYTORCH_POINTS_H
#define ORRERY_SCENARIOS_IMPORT_TRACE_PYTORCH_POINTS_H

#include "models/profile/point.h"
#include "scenarios/import/trace/pytorch_events.h"

/* False: it is none. */
bool pytorch_point_operator(const struct pytorch_event *event, struct calibrate_point *out);
/* Why an operator is no point. */
enum pytorch_left {
    PYTORCH_LEFT_NAME,  /* no operator that is ever a point */
    PYTORCH_LEFT_SIZES, /* its inputs were not recorded */
    PYTORCH_LEFT_FP32,  /* a product of which the trace does not tell whether tf32 ran */
    PYTORCH_LEFT_FORM,  /* another number format, or a form of it that no point has */
    PYTORCH_LEFT_COUNT
};
enum pytorch_left pytorch_point_left(const struct pytorch_event *event);
/* `gpus_per_node` tells how many nodes the group stands in; 0: not known. */
bool pytorch_point_collective(const struct pytorch_collective *collective, unsigned gpus_per_node,
                              struct calibrate_point *out);
/* FLOPs of a product or of an attention; 0: neither. */
double pytorch_flops(const struct pytorch_event *event);
/* Bytes of the whole buffer of a collective, as nccl-tests counts; 0: not told. */
double pytorch_collective_bytes(const struct pytorch_collective *collective);
/* The operation as points call it, "all_reduce"; "": none that is known. */
const char *pytorch_collective_operation(const char *name);

#endif
