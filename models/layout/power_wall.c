#include "models/layout/power_wall.h"

#include "models/layout/layout.h"

/* Of what the node draws beside: fans of air-cooled servers of 8 H100 cost .8 to 1.1 kW of 6.8
 * (Dell against immersed Supermicro nodes, MLPerf Training power logs); with cold plates on GPUs
 * and CPUs those of memory and NICs are left (assumed: a quarter). */
static const double fan_ratio[COOLING_COUNT] = {
    [COOLING_AIR] = 0.13, [COOLING_LIQUID] = 0.03, [COOLING_IMMERSION] = 0.0};

static double inlet_w(const struct configuration *c, double card_w)
{
    const struct node_power *p = &c->cluster.node.power;
    const double idle_w = c->gpu.power.idle_w, cap_w = c->gpu.power.cap_w;
    const double load = cap_w > idle_w ? (card_w - idle_w) / (cap_w - idle_w) : 0.0;
    const double inside_w = card_w + p->rest_w + p->load_w * load;
    return inside_w * (1.0 + fan_ratio[p->cooling]) / p->conversion_ratio;
}

double power_wall_w(const struct configuration *c, double card_w)
{
    const struct node_spec *node = &c->cluster.node;
    const double ports = (double)node->nic.count / (double)node->gpus;
    const double switch_w = layout_nodes(c) > 1 ? ports * c->cluster.fabric.port_w : 0.0;
    return (inlet_w(c, card_w) + switch_w) * node->power.pue;
}

double power_node_w(const struct configuration *c, double card_w)
{
    return inlet_w(c, card_w) * (double)topology_whole_node(&c->cluster.node);
}
