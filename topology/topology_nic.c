/* topology_nic.c - NICs, routes and options: what the kinds of topology share.
 *
 * Invariant: the links of NIC p are nodes * node_links + 2p (out) and the next (in). */
#include <math.h>

#include "sim/check.h"
#include "sim/random.h"
#include "topology/topology_kind.h"

uint64_t topology_nics(const struct topology_spec *spec)
{
    return spec->fabric.nics > 0 ? spec->fabric.nics : spec->node.nics;
}

double topology_port_bytes_per_s(const struct topology_spec *spec)
{
    double line = spec->fabric.nic_bytes_per_s > 0 ? spec->fabric.nic_bytes_per_s
                                                   : spec->node.nic_bytes_per_s;
    return line * spec->node.nic_efficiency_ratio * spec->fabric.efficiency_ratio;
}

double topology_nic_bytes_per_s(const struct topology_spec *spec)
{
    double port = topology_port_bytes_per_s(spec);
    return port < spec->node.pcie_bytes_per_s ? port : spec->node.pcie_bytes_per_s;
}

bool topology_option(const struct kind_options *options, const struct param *table, unsigned index,
                     uint64_t *out, struct error *error)
{
    double value = options->value[index];
    const struct param *p = &table[index];
    CHECK(p->offset == index);
    if (!(value >= p->minimum && value <= p->maximum) || value != floor(value)) {
        return error_set(error, "%s must be a whole number from %g to %g, not %g", p->name,
                         p->minimum, p->maximum, value);
    }
    *out = (uint64_t)value;
    return true;
}

struct vertex_id topology_nic(const struct topology *t, uint32_t node, uint32_t nic)
{
    CHECK(node < t->node_count && nic < t->nics_per_node);
    return (struct vertex_id){(node + 1) * t->node_vertices - t->nics_per_node + nic};
}

struct link_id topology_nic_out(const struct topology *t, uint32_t port)
{
    return (struct link_id){t->node_count * t->node_links + 2 * port};
}

struct link_id topology_nic_in(const struct topology *t, uint32_t port)
{
    return (struct link_id){t->node_count * t->node_links + 2 * port + 1};
}

void topology_join_nic(struct topology *t, uint32_t port, struct vertex_id fabric_switch)
{
    struct link_type out = {LINK_NIC, true, topology_nic_bytes_per_s(&t->spec),
                            t->spec.node.nic_latency_s + t->spec.fabric.switch_latency_s};
    struct link_type in = out;
    in.latency_s = t->spec.node.nic_latency_s;
    uint32_t out_type = graph_type(&t->graph, &out), in_type = graph_type(&t->graph, &in);
    struct link_id link = graph_port(&t->graph, fabric_switch, out_type, in_type);
    CHECK(link.value == topology_nic_out(t, port).value);
}

uint32_t topology_ecmp(uint32_t port_a, uint32_t port_b, uint64_t flow_seed, uint32_t stage,
                       uint32_t count)
{
    if (count == 1)
        return 0;
    const uint64_t pair = (uint64_t)port_a << 32 | port_b;
    const uint64_t draw = random_hash(random_hash(pair, flow_seed), stage) >> 32;
    return (uint32_t)(draw * count >> 32);
}

void topology_route_append(const struct topology *t, struct route *route, struct link_id link)
{
    CHECK(route->link_count < ROUTE_MAX);
    const uint32_t row = graph_type_of(&t->graph, link);
    const struct link_type *type = &t->graph.types[row];
    route->types[route->link_count] = row;
    route->links[route->link_count++] = link;
    route->latency_s += type->latency_s;
    if (type->bytes_per_s < route->bytes_per_s)
        route->bytes_per_s = type->bytes_per_s;
}
