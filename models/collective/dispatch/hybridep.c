/* hybridep - HybridEP (deepseek-ai/DeepEP, branch hybrid-ep): as deepep, by copies of the TMA.
 *
 * A row goes once to each NVLink domain, by the NIC of the same place there, and once to each rank.
 * The ratios are fitted on the rates "kernel only" of README_Hybrid-EP.md of its docs: bf16 and fp8
 * dispatch, combine, of a random router. Domains of B200 and GB200 (EP 8 to 36, ports of 900 GB/s):
 * .693 +- .012 of a port, scatter 7.2 % (18 rates); H100 (EP 16 to 64, NICs of 50 GB/s): .803 +-
 * .033 of a NIC's line, scatter 12.3 % (9: two nodes get less, eight more). Each table is read
 * where it has the most SMs, 16 to 32, with what is sent beside its rows, and without what stays:
 * rows of the own GPU, and of the own node where its rates are of NICs (its test_hybrid_ep.py
 * counts both). A NIC of the catalogue carries 97 % of its line.
 *
 * Beside a row goes a weight (fp32) for each expert of the domain that it goes to, chosen or not;
 * before them all ranks gather a byte for each token and expert, of which each works out what comes
 * (csrc/hybrid_ep/executor/executor.cu, extension/allgather.cu). It takes 32 SMs, as
 * NVIDIA-NeMo/Megatron-Bridge has it in its performance recipes (scripts/performance/utils/
 * overrides.py). Where the rows of a rank are fixed (num_permuted_tokens of Megatron's
 * fused_a2a.py, its tokens x choices x moe_expert_rank_capacity_factor) nobody waits for their
 * number. */
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
