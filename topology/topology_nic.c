/* topology_nic.c - NICs, routes and options: what the kinds of topology share.
 *
 * Invariant: the links of NIC p are nodes * node_links + 2p (out) and the next (in). */
#include <math.h>

#include "sim/check.h"
#include "sim/random.h"
#include "topology/topology_kind.h"

uint64_t topology_nics(const struct topology_spec *spec)
{
    return spec->fabric.nics > 0 ? spec->fabric.nics : spec->node.nic.count;
}

static double nic_line_bytes_per_s(const struct topology_spec *spec)
{
    return spec->fabric.nic_bytes_per_s > 0 ? spec->fabric.nic_bytes_per_s
                                            : spec->node.nic.bytes_per_s;
}

static bool nvlink_joins(const struct node_spec *node, uint64_t span)
{
    const uint64_t joined = node->kind->nvlink_gpus(node);
    return joined >= node->gpus || joined % span == 0;
}

struct topology_wire topology_wire(const struct topology_spec *spec, uint64_t span)
{
    const struct node_spec *node = &spec->node;
    const double gpus = (double)node->gpus, nics = (double)topology_nics(spec);
    const double nic = nic_line_bytes_per_s(spec);
    CHECK(span > 0);
    if (span > node->gpus)
        return (struct topology_wire){WIRE_NIC, nic, nic * nics / gpus};
    const bool nvlink = node->nvlink.bytes_per_s > 0 && nvlink_joins(node, span);
    const double inside = nvlink ? node->nvlink.bytes_per_s : node->pcie.bytes_per_s;
    return (struct topology_wire){nvlink ? WIRE_NVLINK : WIRE_PCIE, inside, inside};
}

struct topology_filling topology_fill(const struct node_spec *node, uint64_t gpus)
{
    const uint64_t inside = node->gpus, job = node->job_gpus;
    CHECK(inside > 0);
    if (gpus <= inside)
        return (struct topology_filling){1, gpus};
    if (gpus % inside == 0)
        return (struct topology_filling){gpus / inside, inside};
    if (node->chassis_gpus == 0 || gpus % node->chassis_gpus != 0)
        return (struct topology_filling){0, 0};
    const uint64_t each = job > 0 && job < inside ? job : inside;
    return (struct topology_filling){(gpus + each - 1) / each, each};
}

uint64_t topology_whole_node(const struct node_spec *node)
{
    return node->installed_gpus > 0 ? node->installed_gpus : node->gpus;
}

void topology_drop_nics(struct topology_spec *spec)
{
    const struct node_spec *node = &spec->node;
    if (spec->nodes == 1 || node->installed_gpus == 0)
        return;
    if (spec->node.nic.count == node->installed_gpus)
        spec->node.nic.count = node->gpus;
    if (spec->fabric.nics == node->installed_gpus)
        spec->fabric.nics = node->gpus;
}

double topology_port_bytes_per_s(const struct topology_spec *spec)
{
    return nic_line_bytes_per_s(spec) * spec->node.nic.efficiency_ratio *
           spec->fabric.efficiency_ratio;
}

double topology_nic_bytes_per_s(const struct topology_spec *spec)
{
    double port = topology_port_bytes_per_s(spec);
    return port < spec->node.pcie.bytes_per_s ? port : spec->node.pcie.bytes_per_s;
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
                            t->spec.node.nic.latency_s + t->spec.fabric.switch_latency_s};
    struct link_type in = out;
    in.latency_s = t->spec.node.nic.latency_s;
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
