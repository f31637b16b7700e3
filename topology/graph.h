/* graph.h - devices and directed links: plain data, no time.
 *
 * A topology kind fills a graph once, counted beforehand; afterwards only topology_degrade touches
 * it. A link is one direction. What links have in common (kind, rate, latency) stands once, in a
 * link type. Nodes are alike, so the vertices and links of the first stand for those of all;
 * a node has a number for the types of its links, a port (a NIC of a node) the switch that it is
 * joined to, and what lies behind the nodes stands as it is: a million GPUs take about 10 MB.
 * Numbers run over all of it: node by node, then ports, then the rest.
 * A link type is `binding` when its links can ever be the bottleneck: kinds clear the flag where
 * the binding links before or after a link always admit less than it carries, and the players then
 * leave such links out of the sharing. A cleared flag is a promise; a set one is not. */
#ifndef ORRERY_TOPOLOGY_GRAPH_H
#define ORRERY_TOPOLOGY_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/arena.h"
#include "sim/divide.h"

struct vertex_id {
    uint32_t value;
};
struct link_id {
    uint32_t value;
};
#define LINK_NONE ((struct link_id){UINT32_MAX})
#define NODE_NONE UINT32_MAX

enum vertex_kind {
    VERTEX_GPU,
    VERTEX_NVSWITCH,
    VERTEX_PCIE_SWITCH,
    VERTEX_HOST,
    VERTEX_NIC,
    VERTEX_LEAF,
    VERTEX_SPINE,
    VERTEX_CORE,
    VERTEX_ROUTER
};
enum link_kind {
    LINK_NVLINK,
    LINK_PCIE,
    LINK_HOST,
    LINK_NIC,
    LINK_FABRIC
};

/* Indices are below 2^28; graph_vertex checks it. */
struct vertex {
    uint32_t node;       /* the node it stands in; NODE_NONE for switches of the fabric */
    uint32_t index : 28; /* among its kind (and, inside a node, within the node) */
    uint32_t kind : 4;   /* enum vertex_kind */
};
struct link {
    struct vertex_id from, to;
    uint32_t type; /* row of graph.types */
};
struct link_type {
    enum link_kind kind;
    bool binding;
    double bytes_per_s; /* usable payload rate, one direction */
    double latency_s;   /* of crossing it, the switch at its end included */
};
struct graph_size {
    uint32_t nodes, node_vertices, node_links; /* nodes, and of each */
    uint32_t node_ports;                       /* its last vertices, joined to switches */
    uint32_t vertices, links;                  /* behind the nodes, the links of ports left out */
};
struct graph {
    struct arena *arena;
    struct graph_size size;
    struct divisor by_node_links, by_node_ends; /* ends: links of the ports of a node */
    struct vertex *vertices;                    /* of the first node, then those behind the nodes */
    struct link *links;    /* likewise; of a node's links, the types stand in patterns */
    uint32_t *port_switch; /* [node x node_ports + port] */
    uint32_t *patterns;    /* [pattern x (node_links + 2 node_ports)]: types; ports out and in */
    uint32_t *pattern_of;  /* [node] */
    struct link_type *types;
    uint32_t vertex_count, link_count, type_count, pattern_count;
    uint32_t type_capacity, pattern_capacity;
};

/* Room for exactly so much; adding more is a CHECK. Types grow as needed. The first node is added
 * first; graph_repeat then makes the others, and ports and what lies behind are added. */
void graph_init(struct graph *graph, struct arena *arena, const struct graph_size *size);
void graph_repeat(struct graph *graph);
struct vertex_id graph_vertex(struct graph *graph, enum vertex_kind kind, uint32_t node,
                              uint32_t index);
/* The row of this type, added when there is none yet. Types are few: a scan finds them. */
uint32_t graph_type(struct graph *graph, const struct link_type *type);
/* One direction. graph_pair adds both and returns the first; the second is the next id. */
struct link_id graph_link(struct graph *graph, struct vertex_id from, struct vertex_id to,
                          uint32_t type);
struct link_id graph_pair(struct graph *graph, struct vertex_id a, struct vertex_id b,
                          uint32_t type);
/* Joins the next port, in the order of nodes and ports, to a switch behind the nodes: two links,
 * out and in. All nodes have the types of the first. Returns the link out. */
struct link_id graph_port(struct graph *graph, struct vertex_id fabric_switch, uint32_t out,
                          uint32_t in);
/* Links of nodes and ports; those from this number on lie behind them. */
static inline uint32_t graph_links_of_nodes(const struct graph *graph)
{
    return graph->size.nodes * (graph->size.node_links + 2 * graph->size.node_ports);
}
/* The node of such a link, and its place in the pattern. */
struct graph_place {
    uint32_t node, place;
};
static inline struct graph_place graph_place_of(const struct graph *graph, struct link_id link)
{
    const uint32_t each = graph->size.node_links, inside = graph->size.nodes * each;
    const bool port = link.value >= inside;
    const struct divisor *by = port ? &graph->by_node_ends : &graph->by_node_links;
    const uint32_t row = link.value - (port ? inside : 0), node = divisor_quotient(by, row);
    return (struct graph_place){node, row - node * by->by + (port ? each : 0)};
}
static inline uint32_t graph_type_of(const struct graph *graph, struct link_id link)
{
    const uint32_t behind = graph_links_of_nodes(graph), each = graph->size.node_links;
    if (link.value >= behind)
        return graph->links[link.value - behind + each].type;
    const struct graph_place at = graph_place_of(graph, link);
    const uint32_t width = each + 2 * graph->size.node_ports;
    return graph->patterns[graph->pattern_of[at.node] * width + at.place];
}
/* Kind, rate, latency and binding flag of a link. */
static inline const struct link_type *graph_link_type(const struct graph *graph,
                                                      struct link_id link)
{
    return &graph->types[graph_type_of(graph, link)];
}
struct vertex graph_vertex_at(const struct graph *graph, struct vertex_id vertex);
struct link graph_link_at(const struct graph *graph, struct link_id link);
/* Are the links of two nodes, and of their ports, known to be of the same types? */
static inline bool graph_same_types(const struct graph *graph, uint32_t node, uint32_t other)
{
    return graph->pattern_of[node] == graph->pattern_of[other];
}
/* Gives one link another type; its likes in other nodes keep theirs. */
void graph_set_type(struct graph *graph, struct link_id link, uint32_t type);
const char *graph_link_kind_name(enum link_kind kind); /* "nvlink", "nic" */
/* "node 3 gpu 5", "leaf 2": into `text` of `size` bytes, always ended. */
void graph_vertex_name(const struct graph *graph, struct vertex_id vertex, char *text,
                       unsigned size);

#endif
