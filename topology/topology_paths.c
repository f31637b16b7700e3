/* topology_paths.c - the slowest of many messages that choose among equal cables by hash.
 *
 * n flows fall on u cables of a switch at random: the fullest of all such cables in the network
 * carries more than the mean, and a collective whose members wait for each other runs at the pace
 * of the message on it. The fullest of B cables with Binomial(n, 1/u) flows each, taken as
 * independent, has on average the sum over m >= 0 of 1 - F(m)^B (order statistics; the counts of
 * one switch add up to n, which matters for few cables only: see tests/topology/test_slowest.c). */
#include <math.h>

#include "sim/check.h"
#include "topology/topology_kind.h"

const char *const topology_routing_names[] = {"adaptive", "hashed", NULL};

/* Beyond so many flows on a cable they spread evenly enough. */
#define MEAN_MAX 500.0

/* Flows on the fullest of `cables` (an average over draws): `flows` on each `width` of them. */
static double fullest(double flows, double width, double cables)
{
    const double mean = flows / width, odds = 1.0 / (width - 1.0);
    if (mean > MEAN_MAX)
        return mean;
    double at_m = pow(1.0 - 1.0 / width, flows), up_to_m = at_m, sum = 0.0;
    for (double m = 0.0; m < flows; m++) {
        sum += 1.0 - pow(fmin(up_to_m, 1.0), cables);
        at_m *= (flows - m) / (m + 1.0) * odds;
        up_to_m += at_m;
        if (m > mean && (1.0 - up_to_m) * cables < 1e-9)
            break;
    }
    return sum;
}

unsigned topology_choices(const struct topology *t, uint32_t gpu_a, uint32_t gpu_b,
                          struct path_choice *out)
{
    const struct topology_kind *kind = t->spec.fabric.kind;
    const uint32_t a = topology_node_of(t, gpu_a), b = topology_node_of(t, gpu_b);
    if (a == b || kind->choices == NULL)
        return 0;
    const uint32_t nic_b = topology_nic_of(t, gpu_b);
    const uint32_t nic_a = kind->same_rail ? nic_b : topology_nic_of(t, gpu_a);
    return kind->choices(t, (struct nic_place){a, nic_a}, (struct nic_place){b, nic_b}, out);
}

double topology_slowest_ratio(const struct path_choice *tiers, unsigned count, double flows,
                              double sending_ratio)
{
    CHECK(sending_ratio >= 0 && sending_ratio <= 1 && flows >= 1);
    double slowest = 1.0;
    for (unsigned i = 0; i < count; i++) {
        const double messages = fmax(tiers[i].ports * sending_ratio, 1.0);
        /* On the way down a message meets those again that it left its switch with. */
        const double ways = (double)tiers[i].switches * tiers[i].cables;
        if (tiers[i].cables > 1) /* what shares a single cable shares it fairly */
            slowest = fmax(slowest, fullest(messages * flows, tiers[i].cables, ways) / flows);
    }
    return slowest;
}
