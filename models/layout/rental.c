#include "models/layout/rental.h"

#include <math.h>

#include "models/layout/layout.h"

/* GPUs of the units that so many ranks of one node take. Ranks fill a node from its first GPU,
 * packed or scattered; the last chassis of a node may be smaller. */
static uint64_t rented_gpus(const struct node_spec *node, uint64_t ranks)
{
    const uint64_t whole = topology_whole_node(node);
    const uint64_t unit = node->chassis_gpus > 0 ? node->chassis_gpus : whole;
    const uint64_t rented = (ranks + unit - 1) / unit * unit;
    return rented < whole ? rented : whole;
}

void rental_of(const struct configuration *c, struct rental *out)
{
    const struct node_spec *node = &c->cluster.node;
    const uint64_t ranks = configuration_ranks(c), nodes = layout_nodes(c);
    const bool packed = c->layout.placement == PLACEMENT_PACKED;
    const uint64_t fullest = packed && nodes > 1 ? node->gpus : (ranks + nodes - 1) / nodes;
    const uint64_t full = packed ? ranks / fullest : nodes - (nodes * fullest - ranks);
    const uint64_t rest = packed ? ranks % fullest : fullest - 1; /* on each of the others */
    const double price = c->gpu.price_per_hour_usd;
    out->spare_gpus = rented_gpus(node, fullest);
    out->paid_gpus = full * out->spare_gpus + (nodes - full) * rented_gpus(node, rest);
    out->gpu_hour_usd = price > 0.0 ? price : NAN;
    out->job_hour_usd = out->gpu_hour_usd * (double)out->paid_gpus;
    out->spare_hour_usd = out->gpu_hour_usd * (double)out->spare_gpus;
}
