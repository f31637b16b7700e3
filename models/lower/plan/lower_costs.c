/* What is paid beside kernels. */
#include "models/lower/plan/lower_costs.h"

#include <math.h>

#include "sim/check.h"

/* On the wire that its ranks share least of: only who runs ahead of whom is judged by it. Over
 * PCIe, whose links other groups share, nothing is promised. */
static struct least_wire wire_of(const struct configuration *c, uint64_t ranks, uint64_t span)
{
    const struct topology_wire wire = topology_wire(&c->cluster, span);
    const bool promised = wire.kind != WIRE_PCIE && wire.bytes_per_s > 0.0;
    return (struct least_wire){(double)ranks, promised ? wire.bytes_per_s : 0.0};
}

/* Of experts none: their ranks may stand anywhere. */
static void plan_wires(const struct configuration *c, struct least_wire *out)
{
    const struct context_ranks context = configuration_context_ranks(c);
    const bool nested = context.heads > 1 && context.ring > 1;
    const uint64_t tp = c->layout.tp, cp = c->layout.cp;
    out[SEGMENT_TP] = wire_of(c, tp, tp);
    out[SEGMENT_CP] = wire_of(c, nested ? context.ring : cp, tp * cp);
    out[SEGMENT_CP_HEADS] = wire_of(c, context.heads, tp * context.heads);
}

static double launch_s(const struct configuration *c)
{
    const struct software_host *host = &c->software.host;
    const double tp = (double)c->layout.tp;
    return configuration_host_s(c, host->launch_s * (1.0 + host->launch_tp_growth * log2(tp)));
}

/* A configuration that was checked names nothing else (configuration_check). */
static unsigned graphs_of(const struct configuration *c)
{
    unsigned graphs;
    CHECK(software_graphs(c->software.graphs.modules, &graphs));
    return graphs;
}

struct block_costs lower_costs_block(const struct configuration *c)
{
    const struct software_profile *p = &c->software;
    struct block_costs costs = {
        .gpu = c->gpu,
        .launch_s = launch_s(c),
        .tensor_host_s = launch_s(c) + configuration_host_s(c, p->tensor.exposed_host_s),
        .exchange_sms = (double)configuration_dispatch(c)->sms,
        .tensor_inside = c->layout.tp <= c->cluster.node.gpus,
        .graphs = graphs_of(c),
    };
    plan_wires(c, costs.wires);
    return costs;
}

struct host_plan lower_costs_host(const struct configuration *c)
{
    const struct software_profile *p = &c->software;
    /* A whole step in one graph runs no line of the framework between its begin and its end. */
    const bool replayed = (graphs_of(c) & GRAPH_ITERATION) != 0;
    return (struct host_plan){
        .launch_s = replayed ? 0.0 : launch_s(c),
        .message_s = replayed ? 0.0 : configuration_host_s(c, p->pipeline.sync_s),
        .pass_s = replayed ? 0.0 : configuration_host_s(c, p->host.pass_s),
        .data_s = configuration_host_s(c, p->host.data_s),
        .optimizer_s = configuration_host_s(c, p->host.optimizer_s),
    };
}

struct offload_plan lower_costs_offload(const struct configuration *c)
{
    struct offload_plan plan = {.activations = c->layout.offload.activations > 0.0,
                                .optimizer = c->layout.offload.optimizer > 0.0};
    if (plan.activations)
        plan.activation_rates = configuration_activation_rates(c);
    if (plan.optimizer)
        plan.optimizer_rates = configuration_offload_rates(c);
    return plan;
}
