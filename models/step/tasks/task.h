/* task.h - what all ranks of a job do in a step, as a graph of nodes.
 *
 * Where a program (models/program) is a list of ops on the streams of one layout, a task graph is
 * free: any rank talks to any other, groups are whatever ranks name them, and a node waits for any
 * nodes of its rank. Importers of execution traces write such graphs, task_play.h plays them on a
 * cluster.
 *
 * A node has a lane of its rank (compute, memory, host), where it takes a known time; or a meeting,
 * in which all ranks of a group take part; or neither, and takes no time. A lane carries one node
 * at a time: of those that are ready, the one with the lowest row. A group has one meeting at a
 * time. The meetings of a communicator come in the order of their rows, as collectives do on the
 * stream of a communicator; messages of a pair come in any order. An eager message goes as soon as
 * its sender has come, who is done when it has arrived; a receiver who comes later finds it there.
 * Plain data, no clock. */
#ifndef ORRERY_MODELS_STEP_TASKS_TASK_H
#define ORRERY_MODELS_STEP_TASKS_TASK_H

#include <stdint.h>

#include "models/collective/comm_op.h"
#include "sim/arena.h"
#include "sim/error.h"
#include "sim/units.h"

#define TASK_NONE UINT32_MAX
/* Bytes that a message may have to lie in the buffer of its receiver's connection: NCCL_BUFFSIZE is
 * 4 MiB unless it is set (NVIDIA, NCCL user guide, environment variables). */
#define TASK_EAGER_BYTES (4.0 * MIB)

enum task_lane {
    TASK_COMPUTE,
    TASK_MEMORY,
    TASK_HOST,
    TASK_LANES,
    TASK_NO_LANE = TASK_LANES
};
struct task_node {
    uint64_t id;                     /* as its trace numbers it, for messages */
    const char *name;                /* ASCII that a terminal can show */
    double work_s;                   /* on its lane */
    uint32_t meeting;                /* TASK_NONE: it does not communicate */
    uint32_t wait_first, wait_count; /* rows of waits: nodes of the same rank */
    uint8_t lane;
};
struct task_meeting { /* one node of each rank of the group takes part */
    uint32_t group;
    enum comm_op op; /* COMM_SEND: of a pair */
    double bytes;    /* full buffer, as nccl-tests counts; 0: the ranks meet, it takes no time */
    bool eager; /* of a pair: it goes when the sender has come, whether or not the receiver has */
};
struct task_group {
    const char *name;
    uint32_t member_first, member_count; /* rows of members: ranks; of a pair sender, receiver */
    bool pair;
};
struct task_graph {
    struct task_node *nodes; /* rank by rank */
    uint32_t *rank_first;    /* [rank]: its first node; and the end */
    uint32_t *waits;         /* rows of nodes */
    struct task_meeting *meetings;
    struct task_group *groups;
    uint32_t *members;
    uint32_t rank_count, node_count, wait_count, meeting_count, group_count, member_count;
};

/* The same seen from the other end: who comes after a node, who takes part in a meeting. */
struct task_links {
    uint32_t *after_first, *after;             /* [node], and the end: nodes that wait for it */
    uint32_t *attendee_first, *attendees;      /* [meeting], and the end: its nodes */
    uint32_t *previous_meeting, *next_meeting; /* [meeting] of a communicator; TASK_NONE */
};
/* Makes messages of at most so many bytes eager, the others wait for their receivers. */
void task_set_eager(struct task_graph *graph, double most_bytes);
/* Does a meeting start only when this rank has come, too? */
bool task_awaits(const struct task_graph *graph, uint32_t meeting, uint32_t rank);
/* How many ranks it awaits. */
uint32_t task_awaited(const struct task_graph *graph, uint32_t meeting);
void task_link(struct arena *arena, const struct task_graph *graph, struct task_links *out);
/* Can it be played to its end? False with a sentence that names a circle of nodes, each of which
 * waits for the next: a rank for a node of its own, for another rank at a meeting, or for the
 * meeting before on the same communicator. Time and memory are linear in nodes and waits. */
bool task_check(const struct task_graph *graph, const struct task_links *links,
                struct error *error);

#endif
