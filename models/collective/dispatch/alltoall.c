/* alltoall - NCCL's sends and receives, each rank to each other: a row for each visit, with the
 * weight of that choice, fp32 (NVIDIA/Megatron-LM
 * megatron/core/transformer/moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher). */
#include "models/collective/dispatch/dispatch_kind.h"

const struct dispatch_kind dispatch_alltoall = {
    .head = {.name = "alltoall", .doc = "NCCL's all-to-all: one row for each expert of a token"},
    .row_extra_bytes = 4.0,
};
