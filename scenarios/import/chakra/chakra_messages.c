#include "scenarios/import/chakra/chakra_messages.h"

#include <inttypes.h>
#include <stdlib.h>

#include "sim/list.h"

bool chakra_messages_add(struct arena *arena, struct chakra_messages *m,
                         const struct chakra_job *job, uint32_t rank, uint32_t node,
                         struct error *error)
{
    const struct chakra_trace *trace = &job->traces[rank];
    const struct chakra_node *n = &trace->nodes[node];
    const bool receives = n->type == CHAKRA_RECV;
    const uint64_t own = receives ? n->comm_dst : n->comm_src;
    const uint64_t other = receives ? n->comm_src : n->comm_dst;
    const char *other_name = receives ? "comm_src" : "comm_dst";
    if (other == CHAKRA_UNTOLD)
        return chakra_bad(trace, n, error,
                          "%s is not told, so that nobody can be met; write it (the converter of "
                          "PyTorch's traces leaves it out)",
                          other_name);
    if (own != CHAKRA_UNTOLD && own != rank)
        return chakra_bad(trace, n, error,
                          "%s is %" PRIu64 ", but the trace is rank %u's: a %s belongs to the "
                          "trace of the rank that does it",
                          receives ? "comm_dst" : "comm_src", own, rank,
                          receives ? "receive" : "send");
    if (other >= job->rank_count || other == rank)
        return chakra_bad(trace, n, error, "%s is %" PRIu64 ": another rank of 0 to %u is expected",
                          other_name, other, job->rank_count - 1);
    if (n->comm_size == CHAKRA_UNTOLD)
        return chakra_bad(trace, n, error, "comm_size is not told; write the bytes of the message");
    LIST_ROOM(arena, m->ends, m->count, 1, m->room);
    m->ends[m->count] = (struct chakra_message){
        .source = receives ? (uint32_t)other : rank,
        .target = receives ? rank : (uint32_t)other,
        .rank = rank,
        .node = node,
        .tag = n->comm_tag,
        .number = m->count,
        .receives = receives,
    };
    m->count++;
    return true;
}

/* -1, 0, 1 by pair of ranks, and tag. */
static int compare_paths(const struct chakra_message *a, const struct chakra_message *b)
{
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    return a->tag < b->tag ? -1 : a->tag > b->tag;
}

/* Sends before receives. */
static int compare_sides(const void *a, const void *b)
{
    const struct chakra_message *x = a, *y = b;
    const int path = compare_paths(x, y);
    if (path != 0)
        return path;
    if (x->receives != y->receives)
        return x->receives ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* By the number that partners have in common, then the sender first. */
static int compare_partners(const void *a, const void *b)
{
    const struct chakra_message *x = a, *y = b;
    const int path = compare_paths(x, y);
    if (path != 0)
        return path;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (int)x->receives - (int)y->receives;
}

static bool alone(const struct chakra_job *job, const struct chakra_message *end,
                  struct error *error)
{
    return chakra_bad(
        &job->traces[end->rank], &job->traces[end->rank].nodes[end->node], error,
        "a %s rank %u with tag %" PRIu64
        " that rank %u never %s: each send takes one receive of the same ranks and tag",
        end->receives ? "receive from" : "send to", end->receives ? end->source : end->target,
        end->tag, end->receives ? end->source : end->target, end->receives ? "sends" : "receives");
}

bool chakra_messages_match(struct chakra_messages *m, const struct chakra_job *job,
                           struct error *error)
{
    if (m->count == 0)
        return true;
    qsort(m->ends, m->count, sizeof *m->ends, compare_sides);
    for (uint32_t i = 0, number = 0; i < m->count; i++) {
        const bool goes_on = i > 0 && compare_paths(&m->ends[i - 1], &m->ends[i]) == 0 &&
                             m->ends[i - 1].receives == m->ends[i].receives;
        number = goes_on ? number + 1 : 0;
        m->ends[i].number = number;
    }
    qsort(m->ends, m->count, sizeof *m->ends, compare_partners);
    for (uint32_t i = 0; i < m->count; i += 2) {
        const struct chakra_message *send = &m->ends[i], *receive = send + 1;
        if (send->receives || i + 1 == m->count || compare_paths(send, receive) != 0 ||
            send->number != receive->number)
            return alone(job, send, error);
        const struct chakra_trace *trace = &job->traces[receive->rank];
        const struct chakra_node *node = &trace->nodes[receive->node];
        const struct chakra_node *sent = &job->traces[send->rank].nodes[send->node];
        if (sent->comm_size != node->comm_size)
            return chakra_bad(trace, node, error,
                              "receives %" PRIu64 " bytes, but node %" PRIu64
                              " of rank %u sends %" PRIu64,
                              node->comm_size, sent->id, send->rank, sent->comm_size);
    }
    return true;
}
