/* symmetry_ends.c - the binding links of a route, from the places of its ends in their nodes.
 *
 * Where no link of the fabric binds, what binds on a route belongs to the nodes at its ends
 * (symmetry_exchange.c). Nodes are wired alike, so it stands at the same places of their links
 * whichever nodes these are; links that were worn, in nodes of another pattern, are asked for as
 * routes. So one route is walked for each pair of places in one node and in two, and a million
 * ranks look the others up. */
#include "models/symmetry/symmetry_state.h"
#include "sim/check.h"

enum {
    ENDS_GPUS_MAX = 128 /* of a node: the table has 2 x its square rows */
};
static void find_first_nodes(struct arena *arena, const struct real *real, struct ends *ends)
{
    const struct topology *t = real->topology;
    ends->first_nodes = ARENA_ARRAY(arena, struct turned_link, t->node_count);
    for (uint32_t node = 0; node < t->node_count; node++) {
        if (real->shift.node_rank[node] == ROW_NONE)
            continue; /* no wire leads there */
        ends->first_nodes[node] = symmetry_first_link(real, node * t->node_links);
        ends->first_nodes[node].link /= t->node_links;
    }
}

struct ends *symmetry_ends_create(struct arena *arena, const struct real *real)
{
    const struct topology *t = real->topology;
    const size_t gpus = t->gpus_per_node;
    CHECK(real->shift.turns > 1); /* the fabric never binds */
    if (gpus > ENDS_GPUS_MAX || t->node_links == 0)
        return NULL;
    struct ends *ends = ARENA_NEW(arena, struct ends);
    ends->topology = t;
    ends->rows = ARENA_ARRAY(arena, struct end_links, 2 * gpus * gpus);
    find_first_nodes(arena, real, ends);
    return ends;
}

static void read_route(const struct topology *t, const struct end_pair *pair, struct end_links *out)
{
    struct route route;
    topology_route(t, pair->from, pair->to, 0, &route);
    out->state = END_LINKS_KNOWN;
    for (uint32_t i = 0; i < route.link_count; i++) {
        if (!t->graph.types[route.types[i]].binding)
            continue;
        const struct graph_place at = graph_place_of(&t->graph, route.links[i]);
        CHECK(at.node == pair->from_node || at.node == pair->to_node);
        if (out->count == END_LINKS_MAX || at.place > UINT16_MAX) {
            out->state = END_LINKS_MANY;
            return;
        }
        out->links[out->count++] =
            (struct end_link){(uint16_t)at.place, at.node != pair->from_node};
    }
}

const struct end_links *symmetry_ends(const struct ends *ends, const struct end_pair *pair)
{
    const struct topology *t = ends->topology;
    const uint32_t gpus = t->gpus_per_node;
    if (t->graph.pattern_of[pair->from_node] != 0 || t->graph.pattern_of[pair->to_node] != 0)
        return NULL;
    const uint32_t from = pair->from - pair->from_node * gpus;
    const uint32_t to = pair->to - pair->to_node * gpus;
    const uint32_t apart = pair->from_node != pair->to_node;
    struct end_links *row = &ends->rows[(apart * gpus + from) * gpus + to];
    if (row->state == END_LINKS_UNKNOWN)
        read_route(t, pair, row);
    return row->state == END_LINKS_KNOWN ? row : NULL;
}
