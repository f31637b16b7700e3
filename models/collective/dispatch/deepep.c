/* deepep - deepseek-ai/DeepEP: a row once to each node and once to each rank.
 *
 * What it reaches of an NVLink port and of a NIC is fitted on the 18 rates of its own tables for
 * large batches (legacy.md of its docs, H800; README, SM90 and SM100), read as rows that really
 * cross: the slower of the two wires explains all of them, 0.662 +- .015 of a port and 0.884 +-
 * .011 of a NIC's line rate, with 5.0 % of scatter. A NIC of the catalogue carries 97 % of its
 * line. With each row goes where it comes from (8 bytes), its choices and their weights (8 bytes
 * each; csrc/kernels/internode.cu). It takes 20 SMs unless told otherwise (legacy.md). */
#include "models/collective/dispatch/dispatch_kind.h"

const struct dispatch_kind dispatch_deepep = {
    .head = {.name = "deepep",
             .doc = "DeepEP: one row to each node over its NIC and one to each rank over NVLink"},
    .relays = true,
    .once_per_node = true,
    .once_per_rank = true,
    .eight_bit = true,
    .nvlink_ratio = 0.662,
    .nic_ratio = 0.884 / DISPATCH_NIC_PAYLOAD,
    .row_extra_bytes = 8.0,
    .choice_extra_bytes = 8.0,
    .sms = 20,
};
