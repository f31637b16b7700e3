/* graph.c
 *
 * Invariants:
 * 1. vertex_count <= vertex_capacity, link_count <= link_capacity: both were counted beforehand.
 * 2. Both ends of a link are vertices that were added before it, and differ.
 * 3. No two rows of `types` are equal; a link's type is a row of it. */
#include "topology/graph.h"

#include <stdio.h>
#include <string.h>

#include "sim/check.h"

enum {
    INDEX_LIMIT = 1 << 28,
    TYPE_START = 32
};

void graph_init(struct graph *graph, struct arena *arena, uint32_t vertices, uint32_t links)
{
    *graph = (struct graph){.arena = arena,
                            .vertices = ARENA_ARRAY(arena, struct vertex, vertices),
                            .links = ARENA_ARRAY(arena, struct link, links),
                            .types = ARENA_ARRAY(arena, struct link_type, TYPE_START),
                            .vertex_capacity = vertices,
                            .link_capacity = links,
                            .type_capacity = TYPE_START};
}

struct vertex_id graph_vertex(struct graph *graph, enum vertex_kind kind, uint32_t node,
                              uint32_t index)
{
    CHECK(graph->vertex_count < graph->vertex_capacity); /* invariant 1 */
    CHECK(index < INDEX_LIMIT);
    struct vertex_id id = {graph->vertex_count++};
    graph->vertices[id.value] = (struct vertex){
        .node = node, .index = index & (INDEX_LIMIT - 1U), .kind = (unsigned)kind & 15U};
    return id;
}

static bool same_type(const struct link_type *a, const struct link_type *b)
{
    return a->kind == b->kind && a->binding == b->binding && a->bytes_per_s == b->bytes_per_s &&
           a->latency_s == b->latency_s;
}

uint32_t graph_type(struct graph *graph, const struct link_type *type)
{
    CHECK(type->bytes_per_s > 0 && type->latency_s >= 0);
    for (uint32_t i = 0; i < graph->type_count; i++) {
        if (same_type(&graph->types[i], type)) {
            return i;
        }
    }
    if (graph->type_count == graph->type_capacity) {
        graph->type_capacity *= 2;
        struct link_type *grown = ARENA_ARRAY(graph->arena, struct link_type, graph->type_capacity);
        memcpy(grown, graph->types, graph->type_count * sizeof *grown);
        graph->types = grown;
    }
    graph->types[graph->type_count] = *type;
    return graph->type_count++;
}

struct link_id graph_link(struct graph *graph, struct vertex_id from, struct vertex_id to,
                          uint32_t type)
{
    CHECK(graph->link_count < graph->link_capacity);                            /* invariant 1 */
    DCHECK(from.value < graph->vertex_count && to.value < graph->vertex_count); /* invariant 2 */
    DCHECK(from.value != to.value);
    DCHECK(type < graph->type_count); /* invariant 3 */
    graph->links[graph->link_count] = (struct link){from, to, type};
    return (struct link_id){graph->link_count++};
}

struct link_id graph_pair(struct graph *graph, struct vertex_id a, struct vertex_id b,
                          uint32_t type)
{
    struct link_id first = graph_link(graph, a, b, type);
    graph_link(graph, b, a, type);
    return first;
}

const char *vertex_kind_name(enum vertex_kind kind)
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

const char *link_kind_name(enum link_kind kind)
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
    CHECK(vertex.value < graph->vertex_count);
    const struct vertex *v = &graph->vertices[vertex.value];
    const char *kind = vertex_kind_name((enum vertex_kind)v->kind);
    if (v->node == NODE_NONE) {
        snprintf(text, size, "%s %u", kind, (unsigned)v->index);
    } else {
        snprintf(text, size, "node %u %s %u", (unsigned)v->node, kind, (unsigned)v->index);
    }
}
