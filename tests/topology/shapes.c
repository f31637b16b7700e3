#include "tests/topology/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"

static double fallback(const struct param *param)
{
    return param->fallback == NULL ? 1 : strtod(param->fallback, NULL);
}

struct topology_spec shape_spec(const struct topology_kind *node,
                                const struct topology_kind *fabric, uint64_t nodes, uint64_t gpus,
                                uint64_t nics)
{
    struct topology_spec spec = {
        .node = {.name = "node",
                 .kind = node,
                 .gpus = gpus,
                 .nvlink.bytes_per_s = 64,
                 .nvlink.latency_s = 4,
                 .pcie.bytes_per_s = 16,
                 .pcie.latency_s = 2,
                 .pcie.host_bytes_per_s = 24,
                 .nic.count = nics,
                 .nic.bytes_per_s = 8,
                 .nic.efficiency_ratio = 1,
                 .nic.latency_s = 8},
        .fabric = {.name = "fabric", .kind = fabric, .efficiency_ratio = 1, .switch_latency_s = 1},
        .nodes = nodes};
    for (unsigned i = 0; i < node->head.options.count; i++)
        spec.node.options.value[i] = fallback(&node->head.options.rows[i]);
    for (unsigned i = 0; i < fabric->head.options.count; i++)
        spec.fabric.options.value[i] = fallback(&fabric->head.options.rows[i]);
    return spec;
}

void shape_option(struct topology_spec *spec, const char *name, double value)
{
    const struct topology_kind *kind = spec->fabric.kind;
    for (unsigned i = 0; i < kind->head.options.count; i++) {
        if (strcmp(kind->head.options.rows[i].name, name) == 0) {
            spec->fabric.options.value[kind->head.options.rows[i].offset] = value;
            return;
        }
    }
    CHECK(kind->head.options.count == 0 && name == NULL); /* the name is no option of this fabric */
}

struct visiting {
    shape_fn *visit;
    void *context;
    unsigned count;
};

static void try_shape(struct visiting *v, const struct topology_spec *spec)
{
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    if (topology_build(arena, spec, &t, &error)) {
        v->visit(&t, v->context);
        v->count++;
    }
    arena_destroy(arena);
}

static void each_rail(struct visiting *v, const struct topology_spec *base)
{
    static const double overs[] = {1, 1.5, 2, 3};
    for (unsigned per_leaf = 1; per_leaf <= 4; per_leaf++) {
        for (unsigned over = 0; over < 4; over++) {
            for (unsigned ecmp = 0; ecmp < 3; ecmp++) {
                struct topology_spec spec = *base;
                shape_option(&spec, "nodes_per_leaf", per_leaf);
                shape_option(&spec, "oversubscription", overs[over]);
                shape_option(&spec, "ecmp", ecmp > 0);
                shape_option(&spec, "spines", ecmp > 1 ? 2 : 0);
                try_shape(v, &spec);
            }
        }
    }
}

static void each_fat_tree(struct visiting *v, const struct topology_spec *base)
{
    static const double overs[][2] = {{1, 1}, {2, 1}, {1, 2}, {1.5, 3}};
    for (unsigned radix = 2; radix <= 6; radix++) {
        for (unsigned over = 0; over < 4; over++) {
            for (unsigned choice = 0; choice < 8; choice++) {
                struct topology_spec spec = *base;
                shape_option(&spec, "radix", radix);
                shape_option(&spec, "oversubscription", overs[over][0]);
                shape_option(&spec, "core_oversubscription", overs[over][1]);
                shape_option(&spec, "tiers", choice / 2);
                shape_option(&spec, "ecmp", choice % 2);
                try_shape(v, &spec);
            }
        }
    }
}

static void each_torus(struct visiting *v, const struct topology_spec *base)
{
    for (unsigned x = 1; x <= base->nodes; x++) {
        for (unsigned y = 1; x * y <= base->nodes; y++) {
            struct topology_spec spec = *base;
            shape_option(&spec, "x", x);
            shape_option(&spec, "y", y);
            shape_option(&spec, "z", (double)base->nodes / (x * y));
            shape_option(&spec, "cables", x);
            try_shape(v, &spec);
        }
    }
}

static void each_dragonfly(struct visiting *v, const struct topology_spec *base)
{
    for (unsigned p = 0; p <= 2; p++) {
        for (unsigned a = 0; a <= 3; a++) {
            for (unsigned h = 0; h <= 3; h++) {
                struct topology_spec spec = *base;
                shape_option(&spec, "terminals", p);
                shape_option(&spec, "routers", a);
                shape_option(&spec, "globals", h);
                try_shape(v, &spec);
            }
        }
    }
}

static void each_fabric(struct visiting *v, const struct topology_spec *base)
{
    struct topology_spec spec = shape_spec(base->node.kind, &topology_none, base->nodes,
                                           base->node.gpus, base->node.nic.count);
    spec.node = base->node;
    try_shape(v, &spec);
    const struct {
        const struct topology_kind *kind;
        void (*each)(struct visiting *, const struct topology_spec *);
    } fabrics[] = {{&topology_rail, each_rail},
                   {&topology_fat_tree, each_fat_tree},
                   {&topology_torus, each_torus},
                   {&topology_dragonfly, each_dragonfly}};
    for (unsigned i = 0; i < sizeof fabrics / sizeof fabrics[0]; i++) {
        spec = shape_spec(base->node.kind, fabrics[i].kind, base->nodes, base->node.gpus,
                          base->node.nic.count);
        spec.node = base->node;
        fabrics[i].each(v, &spec);
    }
}

/* Bridges in pairs, one group larger than a switch or than a job's part of the node, and two groups
 * of which some GPUs stand on the same switch. */
static void each_bridged(struct visiting *v, uint64_t nodes)
{
    static const struct {
        unsigned gpus, nics, per_switch, bridged, installed;
    } inside[] = {{2, 1, 4, 2, 0}, {4, 2, 2, 2, 0}, {4, 4, 1, 2, 0},
                  {3, 1, 2, 3, 0}, {3, 3, 1, 2, 4}, {6, 1, 4, 3, 0}};
    for (unsigned i = 0; i < sizeof inside / sizeof inside[0]; i++) {
        struct topology_spec spec =
            shape_spec(&topology_pcie, &topology_rail, nodes, inside[i].gpus, inside[i].nics);
        spec.node.installed_gpus = inside[i].installed;
        spec.node.options.value[0] = inside[i].per_switch;
        spec.node.options.value[1] = inside[i].bridged;
        spec.node.pcie.bytes_per_s = 5;
        spec.node.pcie.host_bytes_per_s = i % 2 == 0 ? 7 : 100;
        each_fabric(v, &spec);
    }
}

unsigned shapes_each(shape_fn *visit, void *context)
{
    static const unsigned inside[][2] = {{1, 1}, {2, 1}, {2, 2}, {4, 2}, {3, 1}};
    static const unsigned node_counts[] = {1, 2, 3, 5, 8};
    struct visiting v = {visit, context, 0};
    for (unsigned n = 0; n < 5; n++) {
        for (unsigned i = 0; i < 5; i++) {
            struct topology_spec spec = shape_spec(&topology_nvlink_island, &topology_rail,
                                                   node_counts[n], inside[i][0], inside[i][1]);
            each_fabric(&v, &spec);
            spec = shape_spec(&topology_pcie, &topology_rail, node_counts[n], inside[i][0],
                              inside[i][1]);
            spec.node.options.value[0] = 1 + i % 2;      /* GPUs below a switch */
            spec.node.pcie.bytes_per_s = i == 3 ? 8 : 5; /* a NIC wider than its slot */
            spec.node.pcie.host_bytes_per_s = i < 2 ? 100 : 7;
            each_fabric(&v, &spec);
        }
        if (n < 3)
            each_bridged(&v, node_counts[n]);
    }
    return v.count;
}

static bool is_end(const struct topology *t, struct vertex_id vertex, uint32_t gpu)
{
    const struct vertex v = graph_vertex_at(&t->graph, vertex);
    return v.kind == VERTEX_GPU && v.node == gpu / t->gpus_per_node &&
           v.index == gpu % t->gpus_per_node;
}

const char *route_fault(const struct topology *t, uint32_t gpu_a, uint32_t gpu_b,
                        const struct route *route)
{
    double latency_s = 0, rate = INFINITY;
    for (uint32_t i = 0; i < route->link_count; i++) {
        if (route->links[i].value >= t->graph.link_count)
            return "a link that does not exist";
        const struct link link = graph_link_at(&t->graph, route->links[i]);
        if (i > 0 && graph_link_at(&t->graph, route->links[i - 1]).to.value != link.from.value)
            return "a gap in the route";
        for (uint32_t j = 0; j < i; j++)
            if (route->links[j].value == route->links[i].value)
                return "a link twice";
        latency_s += graph_link_type(&t->graph, route->links[i])->latency_s;
        rate = fmin(rate, graph_link_type(&t->graph, route->links[i])->bytes_per_s);
    }
    if (route->link_count == 0)
        return gpu_a == gpu_b && t->spec.node.kind == &topology_pcie ? NULL : "an empty route";
    if (!is_end(t, graph_link_at(&t->graph, route->links[0]).from, gpu_a))
        return "a wrong start";
    if (!is_end(t, graph_link_at(&t->graph, route->links[route->link_count - 1]).to, gpu_b))
        return "a wrong end";
    return latency_s != route->latency_s || rate != route->bytes_per_s ? "a wrong sum" : NULL;
}

/* follows[i * links + j]: on some route, link j comes right after link i; the last row and column
 * stand for the GPUs, which send and take without bound. */
static unsigned char *successions(const struct topology *t)
{
    enum {
        SEEDS = 24
    };
    uint32_t links = t->graph.link_count, stride = links + 1;
    unsigned char *follows = calloc((size_t)stride * stride, 1);
    CHECK(follows != NULL);
    struct route r;
    for (uint32_t a = 0; a < t->gpu_count; a++) {
        for (uint32_t b = 0; b < t->gpu_count; b++) {
            for (uint64_t seed = 0; seed < SEEDS; seed++) {
                topology_route(t, a, b, seed, &r);
                uint32_t before = links;
                for (uint32_t i = 0; i < r.link_count; i++) {
                    follows[(size_t)before * stride + r.links[i].value] = 1;
                    before = r.links[i].value;
                }
                follows[(size_t)before * stride + links] = 1;
            }
        }
    }
    return follows;
}

/* The most that can cross link l when only the bounds before and after it hold it back. */
static double admitted(const unsigned char *follows, const double *bound, uint32_t links,
                       uint32_t l)
{
    double before = 0, after = 0;
    size_t stride = (size_t)links + 1;
    for (uint32_t i = 0; i <= links; i++) {
        double most = i < links ? bound[i] : INFINITY;
        before += follows[i * stride + l] ? most : 0;
        after += follows[l * stride + i] ? most : 0;
    }
    return fmin(before, after);
}

/* Only binding links are held to their capacity; what the others can carry follows by counting from
 * no bound at all, so that two cleared links cannot vouch for each other. */
const char *binding_fault(const struct topology *t)
{
    uint32_t links = t->graph.link_count;
    unsigned char *follows = successions(t);
    double *bound = calloc((size_t)links + 1, sizeof *bound);
    CHECK(bound != NULL);
    for (uint32_t l = 0; l < links; l++) {
        const struct link_type *type = graph_link_type(&t->graph, (struct link_id){l});
        bound[l] = type->binding ? type->bytes_per_s : INFINITY;
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t l = 0; l < links; l++) {
            double now = admitted(follows, bound, links, l);
            if (now < bound[l] && !graph_link_type(&t->graph, (struct link_id){l})->binding) {
                bound[l] = now;
                moved = true;
            }
        }
    }
    const char *fault = NULL;
    for (uint32_t l = 0; l < links; l++)
        if (bound[l] > graph_link_type(&t->graph, (struct link_id){l})->bytes_per_s)
            fault = "a link that can bind has a cleared flag";
    free(bound);
    free(follows);
    return fault;
}
