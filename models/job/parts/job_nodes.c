/* job_nodes.c - who stands in the job, who stands by, who is being repaired.
 *
 * Invariants
 * 1. A node is in one place: at a position of the job, on the stack of spares (the one that was
 *    repaired last goes first), under repair, in the queue for a crew, or retired. So between two
 *    calls that go together the numbers of them sum to all nodes.
 * 2. No more nodes are repaired at a time than there are crews, and none waits while one is free.
 * 3. A position has at most one node. */
#include "models/job/parts/job_nodes.h"

#include "sim/check.h"

void job_nodes_create(struct job_nodes *nodes, struct arena *arena, struct job_nodes_spec spec)
{
    uint32_t all = spec.positions + spec.spares + spec.idle;
    *nodes = (struct job_nodes){.nodes = ARENA_ARRAY(arena, struct job_node, all),
                                .count = all,
                                .positions = spec.positions,
                                .spares = spec.spares,
                                .crews = spec.crews,
                                .retire_after = spec.retire_after,
                                .vacant = ARENA_ARRAY(arena, uint32_t, spec.positions),
                                .free_spares = ARENA_ARRAY(arena, uint32_t, all),
                                .queue_first = UINT32_MAX,
                                .queue_last = UINT32_MAX};
    for (uint32_t i = 0; i < all; i++)
        nodes->nodes[i].position = i < spec.positions ? (int32_t)i : NO_NODE;
    for (; nodes->free_count < spec.spares; nodes->free_count++) {
        nodes->free_spares[nodes->free_count] =
            spec.positions + spec.spares - 1 - nodes->free_count;
    }
}

static void check_sum(const struct job_nodes *nodes)
{
    uint32_t out = nodes->free_count + nodes->busy + nodes->queued + nodes->retired;
    CHECK(out == nodes->spares + nodes->short_count); /* 1 */
    CHECK(nodes->crews == 0 ? nodes->queued == 0
                            : nodes->busy <= nodes->crews &&
                                  (nodes->queued == 0 || nodes->busy == nodes->crews)); /* 2 */
}

uint32_t job_nodes_position(const struct job_nodes *nodes, uint32_t node)
{
    CHECK(node < nodes->count && nodes->nodes[node].position != NO_NODE);
    return (uint32_t)nodes->nodes[node].position;
}

int32_t job_nodes_at(const struct job_nodes *nodes, uint32_t position)
{
    for (uint32_t node = 0; node < nodes->count; node++)
        if (nodes->nodes[node].position == (int32_t)position)
            return (int32_t)node;
    return NO_NODE;
}

uint32_t job_nodes_leave(struct job_nodes *nodes, uint32_t node)
{
    uint32_t position = job_nodes_position(nodes, node);
    CHECK(nodes->short_count < nodes->positions); /* 3 */
    nodes->nodes[node].position = NO_NODE;
    nodes->nodes[node].failures++;
    nodes->vacant[nodes->short_count++] = position;
    return position;
}

bool job_nodes_retire(struct job_nodes *nodes, uint32_t node)
{
    CHECK(!job_nodes_in_job(nodes, node));
    if (nodes->retire_after == 0 || nodes->nodes[node].failures < nodes->retire_after)
        return false;
    nodes->retired++;
    check_sum(nodes);
    return true;
}

static void queue(struct job_nodes *nodes, uint32_t node)
{
    nodes->nodes[node].next = UINT32_MAX;
    if (nodes->queue_last == UINT32_MAX)
        nodes->queue_first = node;
    else
        nodes->nodes[nodes->queue_last].next = node;
    nodes->queue_last = node;
    nodes->queued++;
}

bool job_nodes_send(struct job_nodes *nodes, uint32_t node, double repair_s, bool mended)
{
    CHECK(!job_nodes_in_job(nodes, node) && repair_s >= 0.0);
    nodes->nodes[node].repair_s = repair_s;
    nodes->nodes[node].mended = mended;
    bool begins = nodes->crews == 0 || nodes->busy < nodes->crews;
    if (begins)
        nodes->busy++;
    else
        queue(nodes, node);
    check_sum(nodes);
    return begins;
}

/* The crew that is free now begins with the one that came first. */
static int32_t next_in_queue(struct job_nodes *nodes)
{
    uint32_t node = nodes->queue_first;
    if (node == UINT32_MAX)
        return NO_NODE;
    nodes->queue_first = nodes->nodes[node].next;
    if (nodes->queue_first == UINT32_MAX)
        nodes->queue_last = UINT32_MAX;
    nodes->queued--;
    nodes->busy++;
    return (int32_t)node;
}

int32_t job_nodes_repaired(struct job_nodes *nodes, uint32_t node)
{
    CHECK(nodes->busy > 0 && !job_nodes_in_job(nodes, node));
    nodes->busy--;
    return next_in_queue(nodes);
}

uint32_t job_nodes_fill(struct job_nodes *nodes, uint32_t node)
{
    CHECK(nodes->short_count > 0 && !job_nodes_in_job(nodes, node)); /* 3 */
    uint32_t position = nodes->vacant[--nodes->short_count];
    nodes->nodes[node].position = (int32_t)position;
    check_sum(nodes);
    return position;
}

void job_nodes_stand_by(struct job_nodes *nodes, uint32_t node)
{
    CHECK(nodes->free_count < nodes->count && !job_nodes_in_job(nodes, node));
    nodes->free_spares[nodes->free_count++] = node;
    check_sum(nodes);
}

uint32_t job_nodes_take_spare(struct job_nodes *nodes)
{
    CHECK(nodes->free_count > 0);
    nodes->taken++;
    return nodes->free_spares[--nodes->free_count];
}
