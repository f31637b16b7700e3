#include "models/step/simulate/wires.h"

#include "sim/check.h"

enum link_kind wires_kind(const struct step *step, uint32_t link_class)
{
    const struct link_id id = {step->symmetry.links[link_class].representative};
    return graph_link_type(&step->topology.graph, id)->kind;
}

double wires_use_ratio(const struct step *step, uint32_t link_class)
{
    const double most = step->symmetry.links[link_class].bytes_per_s * step->step_s;
    return network_link_bytes(step->network, link_class) / most;
}

/* The one of two that carries the greater share, if anything; the lower one of equals. */
static uint32_t busier(const struct step *step, uint32_t a, uint32_t b)
{
    const double use_a = a == WIRE_NONE ? 0.0 : wires_use_ratio(step, a);
    const double use_b = b == WIRE_NONE ? 0.0 : wires_use_ratio(step, b);
    if (use_a == use_b)
        return use_a > 0.0 && a < b ? a : use_b > 0.0 ? b : WIRE_NONE;
    return use_a > use_b ? a : b;
}

uint32_t wires_busiest(const struct step *step, enum link_kind kind)
{
    uint32_t best = WIRE_NONE;
    for (uint32_t i = 0; i < step->symmetry.link_class_count; i++)
        if (wires_kind(step, i) == kind)
            best = busier(step, best, i);
    return best;
}

struct node_wires *wires_of_nodes(struct arena *arena, const struct step *step)
{
    const struct symmetry *y = &step->symmetry;
    const uint32_t count = step->topology.node_count;
    struct node_wires *out = ARENA_ARRAY(arena, struct node_wires, count);
    for (uint32_t node = 0; node < count; node++)
        for (unsigned kind = 0; kind < WIRE_KINDS; kind++)
            out[node].link[kind] = WIRE_NONE;
    for (uint32_t i = 0; i < y->node_link_count; i++) {
        const struct node_link *l = &y->node_links[i];
        uint32_t *best = &out[l->node].link[l->kind];
        CHECK(y->node_like[l->node] == l->node); /* only first nodes of a kind are measured */
        *best = busier(step, *best, l->link);
    }
    for (uint32_t node = 0; node < count; node++)
        out[node] = out[y->node_like[node]]; /* which is its own */
    return out;
}
