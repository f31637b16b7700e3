/* hierarchical - across nodes once for each node, to the GPU of the same place, which sends on over
 * NVLink what each expert gets (arXiv:2412.19437 section 3.2.2). Both go on at once, at what NCCL
 * reaches of these wires. */
#include "models/collective/dispatch/dispatch_kind.h"

const struct dispatch_kind dispatch_hierarchical = {
    .head = {.name = "hierarchical",
             .doc = "one row to each node over its NIC, then one to each expert over NVLink"},
    .relays = true,
    .once_per_node = true,
    .row_extra_bytes = 4.0,
};
