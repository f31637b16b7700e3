/* graph.h - devices and directed links: plain data, no time.
 *
 * A topology kind fills a graph once; afterwards it is read only. A link is one direction. A link
 * is `binding` when it can ever be the bottleneck: kinds clear the flag on links whose capacity is
 * at least the sum of all that can enter them, and the players then leave them out of the sharing. */
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
enum link_kind { LINK_NVLINK, LINK_PCIE, LINK_HOST, LINK_NIC, LINK_FABRIC };

struct vertex {
    enum vertex_kind kind;
    uint32_t node;  /* the node it stands in; UINT32_MAX for switches of the fabric */
    uint32_t index; /* among its kind (and, inside a node, within the node) */
};
struct link {
    struct vertex_id from, to;
    enum link_kind kind;
    bool binding;
    double bytes_per_s; /* usable payload rate, one direction */
    double latency_s;   /* of crossing it, switch included */
};
struct graph {
    struct arena *arena;
    struct vertex *vertices;
    struct link *links;
    uint32_t vertex_count, link_count, vertex_capacity, link_capacity;
};

void graph_init(struct graph *graph, struct arena *arena, uint32_t vertex_hint, uint32_t link_hint);
struct vertex_id graph_vertex(struct graph *graph, enum vertex_kind kind, uint32_t node,
                              uint32_t index);
/* One direction. graph_pair adds both and returns the first; the second is the next id. */
struct link_id graph_link(struct graph *graph, struct vertex_id from, struct vertex_id to,
                          enum link_kind kind, double bytes_per_s, double latency_s);
struct link_id graph_pair(struct graph *graph, struct vertex_id a, struct vertex_id b,
                          enum link_kind kind, double bytes_per_s, double latency_s);
const char *vertex_kind_name(enum vertex_kind kind);
const char *link_kind_name(enum link_kind kind);
/* "node 3 gpu 5", "leaf 2": into `text` of `size` bytes. */
void graph_vertex_name(const struct graph *graph, struct vertex_id vertex, char *text,
                       unsigned size);

#endif
