/* Invariants of the check
 * 1. A node is done when all that it waits for is done and, if it meets, its meeting is.
 * 2. A meeting is done when all its nodes that it awaits have come and the one before on its
 *    communicator is done. Its other nodes are done when they have come and it is.
 * 3. So what is never done waits for something that is never done: walking on from there, a node
 *    comes again. */
#include "models/step/tasks/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/check.h"

enum {
    TOLD_MAX = 6 /* nodes of a circle that a message names */
};

void task_set_eager(struct task_graph *graph, double most_bytes)
{
    for (uint32_t m = 0; m < graph->meeting_count; m++) {
        struct task_meeting *meeting = &graph->meetings[m];
        meeting->eager =
            graph->groups[meeting->group].pair && most_bytes > 0.0 && meeting->bytes <= most_bytes;
    }
}

bool task_awaits(const struct task_graph *graph, uint32_t meeting, uint32_t rank)
{
    const struct task_meeting *m = &graph->meetings[meeting];
    return !m->eager || graph->members[graph->groups[m->group].member_first] == rank;
}

uint32_t task_awaited(const struct task_graph *graph, uint32_t meeting)
{
    const struct task_meeting *m = &graph->meetings[meeting];
    return m->eager ? 1 : graph->groups[m->group].member_count;
}

static uint32_t rank_of(const struct task_graph *graph, uint32_t node)
{
    uint32_t low = 0, high = graph->rank_count;
    CHECK(node < graph->node_count);
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (graph->rank_first[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Counts in first[1 ..] -> where each list starts, in first[1 ..]: placing turns it into its end.
 */
static void starts_of(uint32_t *first, uint32_t count)
{
    uint32_t start = 0;
    for (uint32_t i = 1; i <= count; i++) {
        const uint32_t length = first[i];
        first[i] = start;
        start += length;
    }
}

static void link_nodes(struct arena *arena, const struct task_graph *e, struct task_links *out)
{
    out->after_first = ARENA_ARRAY(arena, uint32_t, (size_t)e->node_count + 2);
    out->attendee_first = ARENA_ARRAY(arena, uint32_t, (size_t)e->meeting_count + 2);
    out->after = ARENA_ARRAY(arena, uint32_t, e->wait_count);
    out->attendees = ARENA_ARRAY(arena, uint32_t, e->node_count);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t n = 0; n < e->node_count; n++) {
            const struct task_node *node = &e->nodes[n];
            for (uint32_t w = node->wait_first; w < node->wait_first + node->wait_count; w++) {
                uint32_t *at = &out->after_first[e->waits[w] + 1];
                if (pass == 1)
                    out->after[*at] = n;
                (*at)++;
            }
            if (node->meeting != TASK_NONE) {
                uint32_t *at = &out->attendee_first[node->meeting + 1];
                if (pass == 1)
                    out->attendees[*at] = n;
                (*at)++;
            }
        }
        if (pass == 0) {
            starts_of(out->after_first, e->node_count);
            starts_of(out->attendee_first, e->meeting_count);
        }
    }
}

void task_link(struct arena *arena, const struct task_graph *e, struct task_links *out)
{
    link_nodes(arena, e, out);
    out->next_meeting = ARENA_ARRAY(arena, uint32_t, e->meeting_count);
    out->previous_meeting = ARENA_ARRAY(arena, uint32_t, e->meeting_count);
    uint32_t *last = ARENA_ARRAY(arena, uint32_t, e->group_count);
    memset(last, 0xff, sizeof *last * e->group_count);
    for (uint32_t m = 0; m < e->meeting_count; m++) {
        const uint32_t group = e->meetings[m].group;
        const bool ordered = !e->groups[group].pair;
        CHECK(out->attendee_first[m + 1] - out->attendee_first[m] == e->groups[group].member_count);
        out->next_meeting[m] = TASK_NONE;
        out->previous_meeting[m] = ordered ? last[group] : TASK_NONE;
        if (out->previous_meeting[m] != TASK_NONE)
            out->next_meeting[last[group]] = m;
        last[group] = m;
    }
}

struct checking {
    const struct task_graph *e;
    const struct task_links *links;
    uint32_t *left;    /* [node]: waits that are not done; TASK_NONE: it has come */
    uint32_t *missing; /* [meeting]: nodes to come, and the meeting before */
    bool *done;        /* [node] */
    bool *walked;      /* [node]: by the search for a circle */
    uint32_t *stack, stack_count, done_count;
};

static void meet(struct checking *c, uint32_t meeting)
{
    while (meeting != TASK_NONE && --c->missing[meeting] == 0) {
        const uint32_t end = c->links->attendee_first[meeting + 1];
        for (uint32_t i = c->links->attendee_first[meeting]; i < end; i++)
            if (c->left[c->links->attendees[i]] == TASK_NONE)
                c->stack[c->stack_count++] = c->links->attendees[i];
        meeting = c->links->next_meeting[meeting];
    }
}

static void come(struct checking *c, uint32_t node)
{
    const uint32_t meeting = c->e->nodes[node].meeting;
    c->left[node] = TASK_NONE;
    if (meeting != TASK_NONE && task_awaits(c->e, meeting, rank_of(c->e, node)))
        meet(c, meeting);
    else if (meeting == TASK_NONE || c->missing[meeting] == 0)
        c->stack[c->stack_count++] = node;
}

static void walk(struct checking *c)
{
    const struct task_graph *e = c->e;
    for (uint32_t m = 0; m < e->meeting_count; m++)
        c->missing[m] = task_awaited(e, m) + (c->links->previous_meeting[m] != TASK_NONE);
    for (uint32_t n = 0; n < e->node_count; n++)
        c->left[n] = e->nodes[n].wait_count;
    for (uint32_t n = 0; n < e->node_count; n++)
        if (e->nodes[n].wait_count == 0)
            come(c, n);
    while (c->stack_count > 0) {
        const uint32_t node = c->stack[--c->stack_count];
        c->done[node] = true;
        c->done_count++;
        for (uint32_t i = c->links->after_first[node]; i < c->links->after_first[node + 1]; i++)
            if (--c->left[c->links->after[i]] == 0)
                come(c, c->links->after[i]);
    }
}

/* Something that a node which is never done waits for. */
static uint32_t waits_for(const struct checking *c, uint32_t node)
{
    const struct task_node *n = &c->e->nodes[node];
    for (uint32_t w = n->wait_first; w < n->wait_first + n->wait_count; w++)
        if (!c->done[c->e->waits[w]])
            return c->e->waits[w];
    const struct task_links *l = c->links;
    for (uint32_t i = l->attendee_first[n->meeting]; i < l->attendee_first[n->meeting + 1]; i++)
        if (c->left[l->attendees[i]] != TASK_NONE)
            return l->attendees[i];
    const uint32_t before = l->previous_meeting[n->meeting];
    CHECK(before != TASK_NONE);
    return l->attendees[l->attendee_first[before]];
}

/* A send whose receiver must come first. */
static bool waits_for_receiver(const struct checking *c, uint32_t node)
{
    const uint32_t meeting = c->e->nodes[node].meeting;
    return meeting != TASK_NONE && c->left[node] == TASK_NONE &&
           c->e->groups[c->e->meetings[meeting].group].pair && !c->e->meetings[meeting].eager &&
           c->e->members[c->e->groups[c->e->meetings[meeting].group].member_first] ==
               rank_of(c->e, node);
}

static bool tell_circle(const struct checking *c, struct error *error)
{
    char text[TOLD_MAX * 120];
    size_t at = 0;
    uint32_t node = 0, first, told = 0;
    bool sends = false;
    while (c->done[node])
        node++;
    for (; !c->walked[node]; node = waits_for(c, node))
        c->walked[node] = true;
    first = node; /* met again, so it is on the circle */
    do {
        const int more = snprintf(text + at, sizeof text - at, "%srank %u node %" PRIu64 " (%.40s)",
                                  told == 0 ? "" : ", for ", rank_of(c->e, node),
                                  c->e->nodes[node].id, c->e->nodes[node].name);
        at += (size_t)more;
        sends = sends || waits_for_receiver(c, node);
        node = waits_for(c, node);
        told++;
    } while (node != first && told < TOLD_MAX);
    return error_set(error,
                     "the ranks wait for each other and never end: %s, for %s; each rank must call "
                     "the collectives of a group in the same order, and no node may wait for one "
                     "that waits for it%s",
                     text, node == first ? "the first again" : "more, round to the first",
                     sends ? "; a send of more bytes than the eager limit waits for its receiver "
                             "(--eager)"
                           : "");
}

bool task_check(const struct task_graph *e, const struct task_links *links, struct error *error)
{
    struct arena *arena = arena_create();
    struct checking c = {
        .e = e,
        .links = links,
        .left = ARENA_ARRAY(arena, uint32_t, e->node_count),
        .missing = ARENA_ARRAY(arena, uint32_t, e->meeting_count),
        .done = ARENA_ARRAY(arena, bool, e->node_count),
        .walked = ARENA_ARRAY(arena, bool, e->node_count),
        .stack = ARENA_ARRAY(arena, uint32_t, e->node_count),
    };
    walk(&c);
    const bool good = c.done_count == e->node_count || tell_circle(&c, error);
    arena_destroy(arena);
    return good;
}
