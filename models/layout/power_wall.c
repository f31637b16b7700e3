#include "models/layout/power_wall.h"

#include <math.h>

#include "models/gpu/gpu_power.h"
#include "models/layout/layout.h"
#include "models/layout/rental.h"

/* Of what the node draws beside: fans of air-cooled servers of 8 H100 cost .8 to 1.1 kW of 6.8
 * (Dell against immersed Supermicro nodes, MLPerf Training power logs); with cold plates on GPUs
 * and CPUs those of memory and NICs are left (assumed: a quarter). */
static const double fan_ratio[COOLING_COUNT] = {
    [COOLING_AIR] = 0.13, [COOLING_LIQUID] = 0.03, [COOLING_IMMERSION] = 0.0};

static double inlet_w(const struct configuration *c, double card_w)
{
    const struct node_power *p = &c->cluster.node.power;
    const double idle_w = c->gpu.power.idle_w, cap_w = gpu_power_limit_w(&c->gpu);
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
    struct rental rental;
    rental_of(c, &rental);
    const double ranks = (double)configuration_ranks(c), idle = (double)rental.paid_gpus - ranks;
    const double job_w = ranks * inlet_w(c, card_w) + idle * inlet_w(c, c->gpu.power.idle_w);
    return job_w / (double)layout_nodes(c);
}

double power_job_w(const struct configuration *c, double card_w)
{
    struct rental rental;
    rental_of(c, &rental);
    const double ranks = (double)configuration_ranks(c), idle = (double)rental.paid_gpus - ranks;
    return ranks * power_wall_w(c, card_w) + idle * power_wall_w(c, c->gpu.power.idle_w);
}

void power_job_of(const struct configuration *c, double step_w, struct power_job *out)
{
    struct rental rental;
    *out = (struct power_job){NAN, NAN, NAN, NAN, NAN};
    if (!(c->cluster.node.power.conversion_ratio > 0.0))
        return;
    rental_of(c, &rental);
    const double idle_w = power_wall_w(c, c->gpu.power.idle_w);
    *out = (struct power_job){.step_w = step_w,
                              .most_w = power_job_w(c, gpu_power_limit_w(&c->gpu)),
                              .standing_w = power_job_w(c, gpu_power_static_w(&c->gpu)),
                              .idle_w = (double)rental.paid_gpus * idle_w,
                              .spare_w = (double)rental.spare_gpus * idle_w};
}
