/* graph.c
 *
 * Invariants:
 * 1. Vertices and links never exceed what was counted beforehand.
 * 2. Both ends of a link are vertices that were added before it, and differ.
 * 3. No two rows of `types` are equal; a link's type is a row of it.
 * 4. Before graph_repeat the graph holds vertices and links of the first node alone, afterwards
 *    those of all nodes.
 * 5. Pattern 0 is that of the first node as it was built; any other belongs to one node. */
#include "topology/graph.h"

#include <stdio.h>
#include <string.h>

#include "sim/check.h"
#include "sim/list.h"

enum {
    INDEX_LIMIT = 1 << 28
};

static uint32_t pattern_width(const struct graph *graph)
{
    return graph->size.node_links + 2 * graph->size.node_ports;
}

/* A cluster without such links never asks for their node. */
static struct divisor by_links(uint32_t links)
{
    return divisor_of(links > 0 ? links : 1);
}

void graph_init(struct graph *graph, struct arena *arena, const struct graph_size *size)
{
    *graph = (struct graph){
        .arena = arena,
        .size = *size,
        .by_node_links = by_links(size->node_links),
        .by_node_ends = by_links(2 * size->node_ports),
        .vertices = ARENA_ARRAY(arena, struct vertex, size->node_vertices + size->vertices),
        .links = ARENA_ARRAY(arena, struct link, size->node_links + size->links),
        .port_switch = ARENA_ARRAY(arena, uint32_t, size->nodes * size->node_ports),
        .pattern_of = ARENA_ARRAY(arena, uint32_t, size->nodes),
        .pattern_count = 1,
        .pattern_capacity = 1};
    graph->patterns = ARENA_ARRAY(arena, uint32_t, pattern_width(graph));
}

/* Vertices and links that stand in no table: those of the nodes after the first, and of ports. */
static uint32_t repeated_vertices(const struct graph *graph)
{
    return (graph->size.nodes - 1) * graph->size.node_vertices;
}

static uint32_t repeated_links(const struct graph *graph)
{
    return graph_links_of_nodes(graph) - graph->size.node_links;
}

static bool is_repeated(const struct graph *graph)
{
    return graph->vertex_count >= graph->size.nodes * graph->size.node_vertices;
}

void graph_repeat(struct graph *graph)
{
    const struct graph_size *size = &graph->size;
    CHECK(graph->vertex_count == size->node_vertices); /* invariants 1 and 4 */
    CHECK(graph->link_count == size->node_links);
    for (uint32_t i = 0; i < size->node_links; i++)
        graph->patterns[i] = graph->links[i].type;
    graph->vertex_count *= size->nodes;
    graph->link_count *= size->nodes;
}

struct vertex_id graph_vertex(struct graph *graph, enum vertex_kind kind, uint32_t node,
                              uint32_t index)
{
    const bool behind = node == NODE_NONE;
    const uint32_t row = graph->vertex_count - (behind ? repeated_vertices(graph) : 0);
    CHECK(behind ? is_repeated(graph) : node == 0); /* invariant 4 */
    CHECK(row < graph->size.node_vertices + (behind ? graph->size.vertices : 0));
    CHECK(index < INDEX_LIMIT);
    graph->vertices[row] = (struct vertex){
        .node = node, .index = index & (INDEX_LIMIT - 1U), .kind = (unsigned)kind & 15U};
    return (struct vertex_id){graph->vertex_count++};
}

static bool same_type(const struct link_type *a, const struct link_type *b)
{
    return a->kind == b->kind && a->binding == b->binding && a->bytes_per_s == b->bytes_per_s &&
           a->latency_s == b->latency_s;
}

uint32_t graph_type(struct graph *graph, const struct link_type *type)
{
    CHECK(type->bytes_per_s > 0 && type->latency_s >= 0);
    for (uint32_t i = 0; i < graph->type_count; i++)
        if (same_type(&graph->types[i], type))
            return i;
    LIST_ROOM(graph->arena, graph->types, graph->type_count, 1, graph->type_capacity);
    graph->types[graph->type_count] = *type;
    return graph->type_count++;
}

struct link_id graph_link(struct graph *graph, struct vertex_id from, struct vertex_id to,
                          uint32_t type)
{
    const bool behind = graph->link_count >= graph_links_of_nodes(graph);
    const uint32_t row = graph->link_count - (behind ? repeated_links(graph) : 0);
    CHECK(row < graph->size.node_links + (behind ? graph->size.links : 0));     /* invariant 1 */
    DCHECK(from.value < graph->vertex_count && to.value < graph->vertex_count); /* invariant 2 */
    DCHECK(from.value != to.value);
    DCHECK(type < graph->type_count); /* invariant 3 */
    graph->links[row] = (struct link){from, to, type};
    return (struct link_id){graph->link_count++};
}

struct link_id graph_port(struct graph *graph, struct vertex_id fabric_switch, uint32_t out,
                          uint32_t in)
{
    const struct link_id first = {graph->link_count};
    CHECK(is_repeated(graph) && first.value < graph_links_of_nodes(graph)); /* invariants 1, 4 */
    CHECK(fabric_switch.value < graph->vertex_count);                       /* invariant 2 */
    const struct graph_place at = graph_place_of(graph, first);
    if (at.node == 0) {
        graph->patterns[at.place] = out;
        graph->patterns[at.place + 1] = in;
    }
    CHECK(graph_type_of(graph, first) == out); /* invariant 5 */
    graph->port_switch[at.node * graph->size.node_ports + (at.place - graph->size.node_links) / 2] =
        fabric_switch.value;
    graph->link_count += 2;
    return first;
}

struct vertex graph_vertex_at(const struct graph *graph, struct vertex_id vertex)
{
    CHECK(vertex.value < graph->vertex_count);
    const uint32_t each = graph->size.node_vertices;
    if (vertex.value >= graph->size.nodes * each)
        return graph->vertices[vertex.value - repeated_vertices(graph)];
    struct vertex found = graph->vertices[vertex.value % each];
    found.node = vertex.value / each;
    return found;
}

/* The two links of a port: its NIC is among the last vertices of its node. */
static struct link port_link(const struct graph *graph, struct graph_place at, uint32_t type)
{
    const uint32_t ports = graph->size.node_ports, end = at.place - graph->size.node_links;
    const struct vertex_id nic = {(at.node + 1) * graph->size.node_vertices - ports + end / 2};
    const struct vertex_id above = {graph->port_switch[at.node * ports + end / 2]};
    return end % 2 == 0 ? (struct link){nic, above, type} : (struct link){above, nic, type};
}

struct link graph_link_at(const struct graph *graph, struct link_id link)
{
    CHECK(link.value < graph->link_count);
    if (link.value >= graph_links_of_nodes(graph))
        return graph->links[link.value - repeated_links(graph)];
    const struct graph_place at = graph_place_of(graph, link);
    const uint32_t type = graph_type_of(graph, link);
    if (at.place >= graph->size.node_links)
        return port_link(graph, at, type);
    const struct link *first = &graph->links[at.place];
    const uint32_t turned = at.node * graph->size.node_vertices;
    return (struct link){{first->from.value + turned}, {first->to.value + turned}, type};
}

/* A copy of the first pattern, for this node alone. */
static void own_pattern(struct graph *graph, uint32_t node)
{
    const uint32_t width = pattern_width(graph);
    graph->patterns = list_room(graph->arena, graph->patterns, width * sizeof *graph->patterns,
                                graph->pattern_count, 1, &graph->pattern_capacity);
    graph->pattern_of[node] = graph->pattern_count++;
    memcpy(&graph->patterns[(size_t)graph->pattern_of[node] * width], graph->patterns,
           width * sizeof *graph->patterns);
}

void graph_set_type(struct graph *graph, struct link_id link, uint32_t type)
{
    CHECK(link.value < graph->link_count && type < graph->type_count); /* invariant 3 */
    if (link.value >= graph_links_of_nodes(graph)) {
        graph->links[link.value - repeated_links(graph)].type = type;
        return;
    }
    const struct graph_place at = graph_place_of(graph, link);
    if (graph->pattern_of[at.node] == 0)
        own_pattern(graph, at.node); /* invariant 5 */
    graph->patterns[(size_t)graph->pattern_of[at.node] * pattern_width(graph) + at.place] = type;
}

struct link_id graph_pair(struct graph *graph, struct vertex_id a, struct vertex_id b,
                          uint32_t type)
{
    struct link_id first = graph_link(graph, a, b, type);
    graph_link(graph, b, a, type);
    return first;
}

static const char *vertex_kind_name(enum vertex_kind kind)
{
    static const char *const names[] = {[VERTEX_GPU] = "gpu",
                                        [VERTEX_NVSWITCH] = "nvswitch",
                                        [VERTEX_PCIE_SWITCH] = "pcie switch",
                                        [VERTEX_HOST] = "host",
                                        [VERTEX_NIC] = "nic",
                                        [VERTEX_LEAF] = "leaf",
                                        [VERTEX_SPINE] = "spine",
                                        [VERTEX_CORE] = "core",
                                        [VERTEX_ROUTER] = "router"};
    CHECK((size_t)kind < sizeof names / sizeof names[0]);
    return names[kind];
}

const char *graph_link_kind_name(enum link_kind kind)
{
    static const char *const names[] = {[LINK_NVLINK] = "nvlink",
                                        [LINK_PCIE] = "pcie",
                                        [LINK_HOST] = "host",
                                        [LINK_NIC] = "nic",
                                        [LINK_FABRIC] = "fabric"};
    CHECK((size_t)kind < sizeof names / sizeof names[0]);
    return names[kind];
}

void graph_vertex_name(const struct graph *graph, struct vertex_id vertex, char *text,
                       unsigned size)
{
    const struct vertex v = graph_vertex_at(graph, vertex);
    const char *kind = vertex_kind_name((enum vertex_kind)v.kind);
    if (v.node == NODE_NONE)
        snprintf(text, size, "%s %u", kind, (unsigned)v.index);
    else
        snprintf(text, size, "node %u %s %u", (unsigned)v.node, kind, (unsigned)v.index);
}
