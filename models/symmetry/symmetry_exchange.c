/* symmetry_exchange.c - the links of an exchange among all pairs, without a look at each pair.
 *
 * Where no link of the fabric binds, what binds on a route belongs to the nodes at its ends, and
 * the part in the sender's node depends on the receiver by its place in its node alone (it may
 * choose the NIC of the rail); likewise the other way round. So one receiver at each place stands
 * for all others there that are in other nodes: n members ask for 2 n k routes, k being the GPUs of
 * a node, where there are n (n - 1) pairs.
 *
 * Links come in the order in which a walk through the pairs, by sender, then by receiver, first
 * meets them: that of the pairs' own enumeration, on which the numbers of links depend. */
#include <stdlib.h>

#include "models/symmetry/symmetry_state.h"
#include "sim/check.h"
#include "sim/list.h"

struct place_members { /* those at one place of their nodes: two of them, in two nodes */
    uint32_t first, second, count;
};
struct met { /* a link, and the pair and step that meet it first */
    uint64_t at;
    uint32_t link, wires;
};
struct exchange_links {
    const struct topology *topology;
    const struct exchange *exchange;
    struct arena *arena;
    struct place_members *places; /* [place in a node] */
    struct table numbers;         /* rows of met by link */
    struct met *met;
    uint32_t met_count, met_capacity;
};

bool symmetry_fabric_binds(const struct topology *t)
{
    bool binds = false;
    for (uint32_t l = graph_links_of_nodes(&t->graph); !binds && l < t->graph.link_count; l++)
        binds = graph_link_type(&t->graph, (struct link_id){l})->binding;
    return binds;
}

static void meet(struct exchange_links *m, uint32_t link, uint64_t at, uint32_t wires)
{
    const uint32_t before = m->met_count;
    const uint32_t row =
        table_number(&m->numbers, m->arena, symmetry_mix(link, 0), NULL, NULL, NULL);
    if (row == before) {
        LIST_ROOM(m->arena, m->met, m->met_count, 1, m->met_capacity);
        m->met[m->met_count++] = (struct met){.at = at, .link = link};
    }
    CHECK(m->met[row].link == link);
    m->met[row].wires += wires;
    m->met[row].at = at < m->met[row].at ? at : m->met[row].at;
}

/* Of the route between two members, the binding links of `node` (NODE_NONE: of both). */
static void meet_route(struct exchange_links *m, uint32_t from, uint32_t to, uint32_t node,
                       uint32_t wires)
{
    const struct exchange *e = m->exchange;
    const struct graph *graph = &m->topology->graph;
    const uint64_t pair = (uint64_t)from * e->count + to;
    struct route route;
    topology_route(m->topology, e->gpus[from], e->gpus[to], 0, &route);
    for (uint32_t i = 0; i < route.link_count; i++) {
        if (!graph->types[route.types[i]].binding)
            continue;
        const uint32_t of = graph_place_of(graph, route.links[i]).node;
        DCHECK(of == e->nodes[from] || of == e->nodes[to]);
        if (node == NODE_NONE || of == node)
            meet(m, route.links[i].value, pair * ROUTE_MAX + i, wires);
    }
}

static uint32_t place_of(const struct exchange_links *m, uint32_t member)
{
    return m->exchange->gpus[member] - m->exchange->nodes[member] * m->topology->gpus_per_node;
}

static void find_places(struct exchange_links *m)
{
    m->places = ARENA_ARRAY(m->arena, struct place_members, m->topology->gpus_per_node);
    for (uint32_t i = 0; i < m->exchange->count; i++) {
        struct place_members *p = &m->places[place_of(m, i)];
        if (p->count == 0)
            p->first = i;
        else if (p->count == 1)
            p->second = i;
        p->count++;
    }
}

/* What one member, which has `fellow` at this place in its node (or nobody: UINT32_MAX), exchanges
 * with all others at the place. */
static void meet_place(struct exchange_links *m, uint32_t member, const struct place_members *place,
                       uint32_t fellow)
{
    const bool mine = fellow != UINT32_MAX;
    const uint32_t others = place->count - (mine ? 1 : 0);
    if (mine && fellow != member)
        meet_route(m, member, fellow, NODE_NONE, 1);
    if (others == 0)
        return;
    const uint32_t other = mine && place->first == fellow ? place->second : place->first;
    const uint32_t node = m->exchange->nodes[member];
    meet_route(m, member, other, node, others);
    meet_route(m, other, member, node, others);
}

/* The members first .. end - 1 of one node. */
static void meet_node(struct exchange_links *m, uint32_t first, uint32_t end, uint32_t *fellows)
{
    const uint32_t place_count = m->topology->gpus_per_node;
    for (uint32_t p = 0; p < place_count; p++)
        fellows[p] = UINT32_MAX;
    for (uint32_t i = first; i < end; i++)
        fellows[place_of(m, i)] = i;
    for (uint32_t i = first; i < end; i++)
        for (uint32_t p = 0; p < place_count; p++)
            meet_place(m, i, &m->places[p], fellows[p]);
}

static int compare_met(const void *a, const void *b)
{
    const uint64_t x = ((const struct met *)a)->at, y = ((const struct met *)b)->at;
    return x < y ? -1 : x > y;
}

void symmetry_exchange(struct arena *arena, const struct topology *topology,
                       const struct exchange *exchange, exchange_fn *take, void *context)
{
    const struct arena_mark mark = arena_mark(arena);
    struct exchange_links m = {.topology = topology, .exchange = exchange, .arena = arena};
    uint32_t *fellows = ARENA_ARRAY(arena, uint32_t, topology->gpus_per_node);
    find_places(&m);
    for (uint32_t first = 0, end; first < exchange->count; first = end) {
        const uint32_t node = exchange->nodes[first];
        for (end = first + 1; end < exchange->count && exchange->nodes[end] == node;)
            end++;
        CHECK(end == exchange->count || exchange->nodes[end] > node);
        if (exchange->looked_at == NULL || exchange->looked_at[node])
            meet_node(&m, first, end, fellows);
    }
    if (m.met_count > 0)
        qsort(m.met, m.met_count, sizeof *m.met, compare_met);
    for (uint32_t i = 0; i < m.met_count; i++)
        take(context, m.met[i].link, m.met[i].wires);
    arena_rewind(arena, mark);
}
