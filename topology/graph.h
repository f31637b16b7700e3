/* graph.h - devices and directed links: plain data, no time.
 *
 * A topology kind fills a graph once, counted beforehand; afterwards only topology_degrade touches
 * it. A link is one direction. What links have in common (kind, rate, latency) stands once, in a
 * link type, so that a link costs 12 bytes and a vertex 8: a million GPUs fit in about 100 MB.
 * A link type is `binding` when its links can ever be the bottleneck: kinds clear the flag where
 * the binding links before or after a link always admit less than it carries, and the players then
 * leave such links out of the sharing. A cleared flag is a promise; a set one is not. */
#ifndef ORRERY_TOPOLOGY_GRAPH_H
#define ORRERY_TOPOLOGY_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/arena.h"

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
struct graph {
    struct arena *arena;
    struct vertex *vertices;
    struct link *links;
    struct link_type *types;
    uint32_t vertex_count, link_count, type_count;
    uint32_t vertex_capacity, link_capacity, type_capacity;
};

/* Room for exactly so many vertices and links; adding more is a CHECK. Types grow as needed. */
void graph_init(struct graph *graph, struct arena *arena, uint32_t vertices, uint32_t links);
struct vertex_id graph_vertex(struct graph *graph, enum vertex_kind kind, uint32_t node,
                              uint32_t index);
/* The row of this type, added when there is none yet. Types are few: a scan finds them. */
uint32_t graph_type(struct graph *graph, const struct link_type *type);
/* One direction. graph_pair adds both and returns the first; the second is the next id. */
struct link_id graph_link(struct graph *graph, struct vertex_id from, struct vertex_id to,
                          uint32_t type);
struct link_id graph_pair(struct graph *graph, struct vertex_id a, struct vertex_id b,
                          uint32_t type);
/* Kind, rate, latency and binding flag of a link. */
static inline const struct link_type *graph_link_type(const struct graph *graph,
                                                      struct link_id link)
{
    return &graph->types[graph->links[link.value].type];
}
const char *vertex_kind_name(enum vertex_kind kind); /* "gpu", "leaf" */
const char *link_kind_name(enum link_kind kind);     /* "nvlink", "nic" */
/* "node 3 gpu 5", "leaf 2": into `text` of `size` bytes, always ended. */
void graph_vertex_name(const struct graph *graph, struct vertex_id vertex, char *text,
                       unsigned size);

#endif
