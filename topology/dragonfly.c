/* dragonfly - groups of routers, all joined to all; groups all joined to all.
 *
 *     group 0            group 1
 *    R - R              R - R            within a group every router has a link to every other
 *    | X | ============ | X |            between two groups lie one or more global cables
 *    R - R              R - R            NICs stand on routers, `terminals` each
 *
 * Kim, Dally, Scott, Abts, Technology-Driven, Highly-Scalable Dragonfly Topology (ISCA 2008): p
 * terminals and h global ports at each of the a routers of a group. There are as many groups g as
 * the NICs fill; each pair of groups gets floor(a h / (g - 1)) cables, assigned to the ports of a
 * group in the order of the other groups counted onwards from its own. Routes are minimal. Of
 * several cables between two groups, a pair of NICs and a flow use one by hash, the same in both
 * directions. docs/models/topology.md.
 *
 * Binding: every link between routers, as what passes through joins what is sent. */
#include "sim/check.h"
#include "topology/topology_kind.h"

enum {
    TERMINALS,
    ROUTERS,
    GLOBALS
};

static const struct param options[] = {
    {"terminals", PARAM_COUNT, TERMINALS, 0, 4096, "0", NULL,
     "NICs of a router (p); 0: the smallest balanced dragonfly that holds the cluster."},
    {"routers", PARAM_COUNT, ROUTERS, 0, 4096, "0", NULL,
     "Routers of a group (a); 0: twice the terminals."},
    {"globals", PARAM_COUNT, GLOBALS, 0, 4096, "0", NULL,
     "Global cables of a router (h); 0: as many as terminals."},
};

struct dragonfly_shape {
    uint32_t nics, ports, terminals, routers, globals, groups, cables;
};

/* (2 p^2 + 1) groups of 2 p routers of p terminals: the largest balanced dragonfly of p. */
static uint64_t balanced_terminals(uint64_t ports)
{
    uint64_t p = 1;
    while ((2 * p * p + 1) * 2 * p * p < ports)
        p++;
    return p;
}

static void measure(const struct topology_spec *spec, struct dragonfly_shape *a)
{
    const double *value = spec->fabric.options.value;
    uint64_t ports = spec->nodes * topology_nics(spec);
    uint64_t p = value[TERMINALS] > 0 ? (uint64_t)value[TERMINALS] : balanced_terminals(ports);
    *a = (struct dragonfly_shape){
        .nics = (uint32_t)topology_nics(spec),
        .ports = (uint32_t)ports,
        .terminals = (uint32_t)p,
        .routers = value[ROUTERS] > 0 ? (uint32_t)value[ROUTERS] : (uint32_t)(2 * p),
        .globals = value[GLOBALS] > 0 ? (uint32_t)value[GLOBALS] : (uint32_t)p};
    uint64_t in_group = (uint64_t)a->terminals * a->routers;
    a->groups = (uint32_t)((ports + in_group - 1) / in_group);
    a->cables = a->groups > 1 ? a->routers * a->globals / (a->groups - 1) : 0;
}

static bool check(const struct topology_spec *spec, struct error *error)
{
    for (unsigned i = 0; i < sizeof options / sizeof options[0]; i++) {
        uint64_t value;
        if (!topology_option(&spec->fabric.options, options, i, &value, error))
            return false;
    }
    struct dragonfly_shape a;
    measure(spec, &a);
    if (a.groups > 1 && a.cables == 0) {
        return error_set(error,
                         "%u NICs fill %u groups of %u routers with %u NICs each, but %u global "
                         "cables for each router join only %u groups",
                         a.ports, a.groups, a.routers, a.terminals, a.globals,
                         a.routers * a.globals + 1);
    }
    return true;
}

static void size(const struct topology_spec *spec, struct topology_size *size)
{
    struct dragonfly_shape a;
    measure(spec, &a);
    uint64_t local = (uint64_t)a.routers * (a.routers - 1);
    uint64_t global = a.groups > 1 ? (uint64_t)(a.groups - 1) * a.cables : 0;
    *size = (struct topology_size){.vertices = (uint64_t)a.groups * a.routers,
                                   .links = a.groups * (local + global)};
}

/* Port of a group on which cable `cable` to another group ends; port / globals is its router. */
static uint32_t global_port(const struct dragonfly_shape *a, uint32_t group, uint32_t other,
                            uint32_t cable)
{
    uint32_t onwards = (other + a->groups - group - 1) % a->groups;
    return onwards * a->cables + cable;
}

static void build_global(struct topology *t, const struct dragonfly_shape *a, uint32_t first,
                         uint32_t type)
{
    for (uint32_t group = 0; group < a->groups; group++) {
        for (uint32_t port = 0; port < (a->groups - 1) * a->cables; port++) {
            uint32_t other = (group + 1 + port / a->cables) % a->groups;
            uint32_t end = global_port(a, other, group, port % a->cables);
            graph_link(&t->graph,
                       (struct vertex_id){first + group * a->routers + port / a->globals},
                       (struct vertex_id){first + other * a->routers + end / a->globals}, type);
        }
    }
}

static void build(struct topology *t)
{
    struct graph *graph = &t->graph;
    struct dragonfly_shape *a = ARENA_NEW(graph->arena, struct dragonfly_shape);
    measure(&t->spec, a);
    t->fabric_private = a;
    uint32_t first = graph->vertex_count, count = a->groups * a->routers;
    for (uint32_t i = 0; i < count; i++)
        graph_vertex(graph, VERTEX_ROUTER, NODE_NONE, i);
    for (uint32_t port = 0; port < a->ports; port++)
        topology_join_nic(t, port, (struct vertex_id){first + port / a->terminals});
    struct link_type cable = {LINK_FABRIC, true, topology_port_bytes_per_s(&t->spec),
                              t->spec.fabric.switch_latency_s};
    uint32_t type = graph_type(graph, &cable);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t group = i / a->routers * a->routers;
        for (uint32_t j = group; j < group + a->routers; j++) {
            if (j != i) {
                graph_link(graph, (struct vertex_id){first + i}, (struct vertex_id){first + j},
                           type);
            }
        }
    }
    build_global(t, a, first, type);
}

static uint32_t fabric_base(const struct topology *t, const struct dragonfly_shape *a)
{
    return topology_nic_out(t, a->ports).value;
}

static void append_local(const struct topology *t, const struct dragonfly_shape *a, uint32_t from,
                         uint32_t to, struct route *r)
{
    uint32_t place = to % a->routers, own = from % a->routers;
    if (place != own) {
        uint32_t row = from * (a->routers - 1) + (place < own ? place : place - 1);
        topology_route_append(t, r, (struct link_id){fabric_base(t, a) + row});
    }
}

static void append_global(const struct topology *t, const struct dragonfly_shape *a, uint32_t group,
                          uint32_t port, struct route *r)
{
    uint32_t local = a->groups * a->routers * (a->routers - 1);
    uint32_t row = local + group * (a->groups - 1) * a->cables + port;
    topology_route_append(t, r, (struct link_id){fabric_base(t, a) + row});
}

static void route_between(const struct topology *t, struct nic_place from, struct nic_place to,
                          uint64_t flow_seed, struct route *r)
{
    const struct dragonfly_shape *a = t->fabric_private;
    uint32_t port_a = from.node * a->nics + from.nic, port_b = to.node * a->nics + to.nic;
    uint32_t router_a = port_a / a->terminals, router_b = port_b / a->terminals;
    uint32_t group_a = router_a / a->routers, group_b = router_b / a->routers;
    topology_route_append(t, r, topology_nic_out(t, port_a));
    if (group_a == group_b) {
        append_local(t, a, router_a, router_b, r);
    } else {
        uint32_t low = port_a < port_b ? port_a : port_b, high = port_a < port_b ? port_b : port_a;
        uint32_t cable = topology_ecmp(low, high, flow_seed, 0, a->cables);
        uint32_t out = global_port(a, group_a, group_b, cable);
        uint32_t in = global_port(a, group_b, group_a, cable);
        append_local(t, a, router_a, group_a * a->routers + out / a->globals, r);
        append_global(t, a, group_a, out, r);
        append_local(t, a, group_b * a->routers + in / a->globals, router_b, r);
    }
    topology_route_append(t, r, topology_nic_in(t, port_b));
}

static bool draws_paths(const struct topology_spec *spec)
{
    struct dragonfly_shape a;
    measure(spec, &a);
    return a.cables > 1;
}

const struct topology_kind topology_dragonfly = {
    .head =
        {.name = "dragonfly",
         .doc =
             "Groups of fully connected routers, fully connected by global cables; minimal routes.",
         .options = {options, sizeof options / sizeof options[0]}},
    .role = TOPOLOGY_FABRIC,
    .check = check,
    .size = size,
    .build = build,
    .route_between = route_between,
    .draws_paths = draws_paths,
};
