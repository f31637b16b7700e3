/* hybridep - HybridEP (deepseek-ai/DeepEP, branch hybrid-ep): as deepep, by copies of the TMA.
 *
 * A row goes once to each NVLink domain, through the NIC at the same position there, and once to
 * each rank. The ratios are fitted to the rates "kernel only" of its README_Hybrid-EP.md: .693 of
 * a port, .803 of a NIC's line (docs/models/experts.md: rows, scatter). A NIC of the catalogue
 * carries 97 % of its line.
 *
 * With a row goes a weight (fp32) for each expert of the destination domain, chosen or not; before
 * them all ranks gather a byte for each token and expert (csrc/hybrid_ep/executor/executor.cu,
 * extension/allgather.cu). 32 SMs: NVIDIA-NeMo/Megatron-Bridge scripts/performance/utils/
 * overrides.py. Where the number of rows of a rank is fixed (num_permuted_tokens of Megatron's
 * fused_a2a.py: tokens x choices x moe_expert_rank_capacity_factor) nobody waits for it. */
#include "models/collective/dispatch/dispatch_kind.h"

enum {
    ROOM
};
static const struct param options[] = {
    {"rank_capacity", PARAM_RATIO, ROOM, 0, 1e4, "0", NULL,
     "Room of a rank for rows of its experts over their mean, made before they come, so that the "
     "host does not wait for their number; 0: as many as come."},
};

static double room(const struct kind_options *given)
{
    return given->value[ROOM];
}

const struct dispatch_kind dispatch_hybridep = {
    .head = {.name = "hybridep",
             .doc = "HybridEP: as deepep, after an all-gather of the routing",
             .options = {options, sizeof options / sizeof options[0]}},
    .relays = true,
    .once_per_node = true,
    .once_per_rank = true,
    .eight_bit = true,
    .nvlink_ratio = 0.693,
    .nic_ratio = 0.803 / DISPATCH_NIC_PAYLOAD,
    .expert_extra_bytes = 4.0,
    .map_bytes = 1.0,
    .room = room,
    .sms = 32,
};
