#include "tests/laws/law_cluster.h"

#include <stdlib.h>
#include <string.h>

#include "sim/units.h"

/* A DGX H100's rates (catalogue/nodes.yaml has the sources), rounded. */
static struct node_spec plain_node(const struct topology_kind *kind, uint64_t gpus)
{
    return (struct node_spec){.name = "node",
                              .kind = kind,
                              .gpus = gpus,
                              .nvlink.bytes_per_s = 450 * GIGA,
                              .nvlink.latency_s = 1 * MICROSECOND,
                              .nvlink.nvls = true,
                              .nvlink.nvls_ratio = 0.75,
                              .nvlink.nvls_channels = 16,
                              .nvlink.exchange_ratio = 0.77,
                              .collective_start_s = 16 * MICROSECOND,
                              .pcie.bytes_per_s = 50 * GIGA,
                              .pcie.latency_s = 1 * MICROSECOND,
                              .pcie.host_bytes_per_s = 60 * GIGA,
                              .nic.count = gpus,
                              .nic.bytes_per_s = 50 * GIGA,
                              .nic.efficiency_ratio = 0.96,
                              .nic.latency_s = 2 * MICROSECOND,
                              .host.memory_bytes = 2048 * GIB};
}

/* Options without a default are sizes; the first holds the nodes (a ring), the others 1. */
static void set_defaults(const struct topology_kind *kind, uint64_t nodes,
                         struct kind_options *options)
{
    bool sized = false;
    for (unsigned i = 0; i < kind->head.options.count; i++) {
        const struct param *option = &kind->head.options.rows[i];
        double *value = &options->value[option->offset];
        if (option->fallback != NULL) {
            *value = strtod(option->fallback, NULL);
        } else {
            *value = sized ? 1.0 : (double)nodes;
            sized = true;
        }
    }
}

struct setting {
    const char *name;
    double value;
};
/* By the names that fabrics use: a kind takes what it has. */
static const struct setting tight[] = {{"nodes_per_leaf", 2},   {"radix", 6},
                                       {"oversubscription", 2}, {"terminals", 2},
                                       {"routers", 2},          {"globals", 1}};
static const struct setting hashed[] = {{"ecmp", 1}};

/* Each setting is kept if the cluster can still be built with it. */
static unsigned apply(struct topology_spec *spec, const struct setting *settings, size_t count)
{
    const struct topology_kind *kind = spec->fabric.kind;
    unsigned applied = 0;
    for (size_t s = 0; s < count; s++) {
        for (unsigned i = 0; i < kind->head.options.count; i++) {
            struct topology_spec next = *spec;
            struct error error;
            next.fabric.options.value[kind->head.options.rows[i].offset] = settings[s].value;
            if (strcmp(kind->head.options.rows[i].name, settings[s].name) == 0 &&
                topology_check(&next, &error)) {
                *spec = next;
                applied++;
            }
        }
    }
    return applied;
}

/* A grid two wide, where there are sides to choose. */
static unsigned apply_sides(struct topology_spec *spec)
{
    struct topology_spec next = *spec;
    const struct topology_kind *kind = spec->fabric.kind;
    unsigned sides = 0;
    for (unsigned i = 0; i < kind->head.options.count; i++) {
        const char *name = kind->head.options.rows[i].name;
        double *value = &next.fabric.options.value[kind->head.options.rows[i].offset];
        if (strcmp(name, "x") == 0 || strcmp(name, "y") == 0) {
            *value = strcmp(name, "x") == 0 ? (double)(spec->nodes / 2) : 2.0;
            sides++;
        }
    }
    struct error error;
    if (sides < 2 || spec->nodes < 4 || spec->nodes % 2 != 0 || !topology_check(&next, &error))
        return 0;
    *spec = next;
    return 1;
}

bool law_cluster(struct topology_spec *spec, const struct topology_kind *node,
                 const struct topology_kind *fabric, uint64_t nodes, uint64_t gpus,
                 enum law_variant variant)
{
    struct error error;
    *spec = (struct topology_spec){.node = plain_node(node, gpus),
                                   .fabric = {.name = "fabric",
                                              .kind = fabric,
                                              .efficiency_ratio = 1.0,
                                              .switch_latency_s = 0.5 * MICROSECOND},
                                   .nodes = nodes};
    set_defaults(node, nodes, &spec->node.options);
    set_defaults(fabric, nodes, &spec->fabric.options);
    /* A kind that can do without NVLink has none. */
    struct topology_spec bare = *spec;
    bare.node.nvlink.bytes_per_s = 0.0;
    bare.node.nvlink.nvls = false;
    if (topology_check(&bare, &error))
        *spec = bare;
    if (!topology_check(spec, &error))
        return false;
    unsigned changed = 0;
    if (variant != LAW_DEFAULT)
        changed += apply(spec, tight, sizeof tight / sizeof tight[0]) + apply_sides(spec);
    if (variant == LAW_TIGHT) {
        spec->fabric.routing = ROUTING_HASHED;
        spec->fabric.flows = 2;
    }
    if (variant == LAW_HASHED)
        changed = apply(spec, hashed, sizeof hashed / sizeof hashed[0]);
    return variant == LAW_DEFAULT || changed > 0;
}

const struct topology_kind *law_kind(enum topology_role role, unsigned n)
{
    for (unsigned i = 0; i < topology_kind_count; i++)
        if (topology_kinds[i]->role == role && n-- == 0)
            return topology_kinds[i];
    return NULL;
}

unsigned law_kind_count(enum topology_role role)
{
    unsigned count = 0;
    while (law_kind(role, count) != NULL)
        count++;
    return count;
}
