/* job_nodes.h - a part of the player `job`: who stands in the job, who stands by, who is repaired.
 *
 * Nodes have physical numbers, first those of the job, then the spares. A node that leaves its
 * position is retired, or repaired by a crew when one is free, in the order in which they came;
 * then it takes a vacant position or stands by. Knows neither time nor failures. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_NODES_H
#define ORRERY_MODELS_JOB_PARTS_JOB_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/arena.h"

enum {
    NO_NODE = -1
};
struct job_node {
    int32_t position; /* in the job, or NO_NODE */
    uint32_t next;    /* in the queue for a crew */
    uint64_t failures;
    double repair_s; /* of the repair at hand */
    bool mended;     /* it finds the fault */
};
struct job_nodes {
    struct job_node *nodes;
    uint32_t count;     /* of physical numbers */
    uint32_t positions; /* of the job */
    uint32_t spares;    /* that stood by at first */
    uint64_t crews;     /* nodes repaired at a time; 0: all */
    uint64_t retire_after;
    uint32_t *vacant, short_count;     /* positions without a node: stack */
    uint32_t *free_spares, free_count; /* stack */
    uint32_t queue_first, queue_last, queued;
    uint32_t busy;    /* under repair */
    uint32_t retired; /* for good */
    uint64_t taken;   /* spares that were asked for */
};
struct job_nodes_spec {
    uint32_t positions, spares;
    uint32_t idle;         /* nodes more that have a number and never come */
    uint64_t crews;        /* nodes repaired at a time; 0: all */
    uint64_t retire_after; /* failures after which a node is taken out for good; 0: never */
};

void job_nodes_create(struct job_nodes *nodes, struct arena *arena, struct job_nodes_spec spec);
static inline bool job_nodes_in_job(const struct job_nodes *nodes, uint32_t node)
{
    return nodes->nodes[node].position != NO_NODE;
}
uint32_t job_nodes_position(const struct job_nodes *nodes, uint32_t node); /* it is in the job */
/* The node at this position; NO_NODE: none. Searched. */
int32_t job_nodes_at(const struct job_nodes *nodes, uint32_t position);

/* It leaves its position, which is vacant then, for repair or for good: one of the next two. */
uint32_t job_nodes_leave(struct job_nodes *nodes, uint32_t node);
bool job_nodes_retire(struct job_nodes *nodes,
                      uint32_t node); /* false: it has not failed so often */
/* True: a crew begins now; else the node waits for one. */
bool job_nodes_send(struct job_nodes *nodes, uint32_t node, double repair_s, bool mended);
/* Its repair is over: the node for which the crew begins now, or NO_NODE. The node takes a position
 * or stands by: one of the next two. */
int32_t job_nodes_repaired(struct job_nodes *nodes, uint32_t node);
/* It takes the vacant position that was left last, which is told. */
uint32_t job_nodes_fill(struct job_nodes *nodes, uint32_t node);
void job_nodes_stand_by(struct job_nodes *nodes, uint32_t node);
/* The spare that came last is asked for, to take a position. */
uint32_t job_nodes_take_spare(struct job_nodes *nodes);

#endif
