#include "scenarios/import/chakra/chakra_tasks.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "scenarios/import/chakra/chakra_messages.h"
#include "scenarios/import/chakra/chakra_order.h"
#include "sim/check.h"
#include "sim/list.h"
#include "sim/plural.h"
#include "sim/random.h"
#include "sim/table.h"
#include "sim/units.h"

/* Numbers of CollectiveCommType in the schema; what no step plays has no bytes for a rank. */
static const struct collective_type {
    const char *name;
    enum comm_op op;
    bool played, meets_only;
} collective_types[] = {
    {"ALL_REDUCE", COMM_ALL_REDUCE, true, false},
    {"REDUCE", COMM_ALL_REDUCE, false, false},
    {"ALL_GATHER", COMM_ALL_GATHER, true, false},
    {"GATHER", COMM_ALL_GATHER, false, false},
    {"SCATTER", COMM_ALL_TO_ALL, false, false},
    {"BROADCAST", COMM_BROADCAST, true, false},
    {"ALL_TO_ALL", COMM_ALL_TO_ALL, true, false},
    {"REDUCE_SCATTER", COMM_REDUCE_SCATTER, true, false},
    {"REDUCE_SCATTER_BLOCK", COMM_REDUCE_SCATTER, true, false},
    {"BARRIER", COMM_ALL_REDUCE, true, true},
};
enum {
    COLLECTIVE_TYPES = sizeof collective_types / sizeof collective_types[0]
};

/* The name of the group of all ranks among those that the traces give. */
#define ALL_RANKS ""

struct named_group {
    const char *name;
    uint32_t members, first_rank;
    uint32_t meetings;               /* of its first rank, and so of all */
    uint32_t meeting_first;          /* row of meetings */
    uint32_t seen, seen_by;          /* collectives of the present rank so far; that rank + 1 */
    const struct chakra_group *told; /* by the first trace that does; NULL: by none */
    uint32_t told_by;                /* its rank */
};
struct opener { /* of a meeting: who named it first */
    uint32_t rank, node;
};
struct joining {
    struct arena *arena;
    const struct chakra_job *job;
    const struct chakra_rates *rates;
    struct task_graph *out;
    struct chakra_counts *counts;
    struct error *error;
    struct table names; /* of groups */
    struct named_group *groups;
    struct opener *openers; /* [meeting] of collectives */
    struct chakra_messages messages;
    uint32_t *order; /* of the present rank */
    uint32_t group_room;
};

static double told(uint64_t count)
{
    return count == CHAKRA_UNTOLD ? 0.0 : (double)count;
}

/* Of a node that says its work in place of its duration. */
static double compute_time_s(const struct joining *j, const struct chakra_node *node)
{
    const double flops = told(node->num_ops), bytes = told(node->tensor_size);
    if (j->rates == NULL)
        return 0.0;
    const struct gpu_spec *gpu = j->rates->gpu;
    const double flops_per_s = gpu->peak_flops_per_s[j->rates->peak] * gpu->gemm.efficiency_ratio;
    const struct kernel memory = gpu_kernel_memory("task", bytes, 1.0);
    return fmax(gpu->kernel_start_s + flops / flops_per_s, gpu_kernel_time_s(gpu, NULL, &memory));
}

static void take_compute(struct joining *j, const struct chakra_node *node, struct task_node *task)
{
    task->lane = node->is_cpu_op ? TASK_HOST : TASK_COMPUTE;
    task->work_s = (double)node->duration_us * MICROSECOND;
    if (node->is_cpu_op) {
        j->counts->host++;
        return;
    }
    j->counts->compute++;
    if (node->duration_us == 0) {
        const bool says = told(node->num_ops) + told(node->tensor_size) > 0.0;
        task->work_s = says ? compute_time_s(j, node) : 0.0;
        *(says ? &j->counts->by_rates : &j->counts->untimed) += 1;
    }
    j->counts->duration_s += task->work_s;
}

static bool take_node(struct joining *j, const struct chakra_trace *trace,
                      const struct chakra_node *node, struct task_node *task)
{
    *task = (struct task_node){
        .id = node->id, .name = node->name, .lane = TASK_NO_LANE, .meeting = TASK_NONE};
    switch (node->type) {
    case CHAKRA_COMP:
        take_compute(j, node, task);
        return true;
    case CHAKRA_MEM_LOAD:
    case CHAKRA_MEM_STORE:
        task->lane = TASK_MEMORY;
        task->work_s = (double)node->duration_us * MICROSECOND;
        j->counts->memory++;
        return node->duration_us > 0 ||
               chakra_bad(trace, node, j->error,
                          "a %s without a duration: memory outside of the card is not modelled; "
                          "give it duration_micros",
                          chakra_type_names[node->type]);
    case CHAKRA_STORAGE:
    case CHAKRA_BATCH:
    case CHAKRA_CHECKPOINT:
        return chakra_bad(trace, node, j->error,
                          "a %s node: storage is not played from a trace; leave it out",
                          chakra_type_names[node->type]);
    case CHAKRA_INVALID: /* takes no time */
    case CHAKRA_METADATA:
    case CHAKRA_SEND: /* is met later */
    case CHAKRA_RECV:
    case CHAKRA_COLL:
    case CHAKRA_TYPE_COUNT:
        break;
    }
    return true;
}

/* Nodes and waits of all ranks behind each other. */
static bool take_nodes(struct joining *j)
{
    struct task_graph *out = j->out;
    uint64_t nodes = 0, waits = 0;
    for (uint32_t r = 0; r < j->job->rank_count; r++) {
        nodes += j->job->traces[r].node_count;
        waits += j->job->traces[r].wait_count;
    }
    if (nodes > CHAKRA_NODES_MAX || waits > UINT32_MAX / 2)
        return error_set(j->error,
                         "the traces have %" PRIu64 " nodes that wait for %" PRIu64
                         " others; at most %d and %u are played: cut them to one step",
                         nodes, waits, CHAKRA_NODES_MAX, UINT32_MAX / 2);
    out->rank_count = j->job->rank_count;
    out->nodes = ARENA_ARRAY(j->arena, struct task_node, nodes);
    out->waits = ARENA_ARRAY(j->arena, uint32_t, waits);
    out->rank_first = ARENA_ARRAY(j->arena, uint32_t, out->rank_count + (size_t)1);
    for (uint32_t r = 0; r < out->rank_count; r++) {
        const struct chakra_trace *trace = &j->job->traces[r];
        j->counts->dropped += trace->dropped;
        out->rank_first[r] = out->node_count;
        for (uint32_t n = 0; n < trace->node_count; n++) {
            struct task_node *task = &out->nodes[out->node_count + n];
            if (!take_node(j, trace, &trace->nodes[n], task))
                return false;
            task->wait_first = out->wait_count + trace->nodes[n].wait_first;
            task->wait_count = trace->nodes[n].wait_count;
        }
        for (uint32_t w = 0; w < trace->wait_count; w++)
            out->waits[out->wait_count + w] = out->node_count + trace->waits[w];
        out->node_count += trace->node_count;
        out->wait_count += trace->wait_count;
    }
    out->rank_first[out->rank_count] = out->node_count;
    return true;
}

static const char *shown_group(const struct named_group *group)
{
    return strcmp(group->name, ALL_RANKS) == 0 ? "all ranks" : group->name;
}

static bool same_name(const void *rows, uint32_t number, const void *key)
{
    return strcmp(((const struct named_group *)rows)[number].name, key) == 0;
}

static uint32_t find_group(struct joining *j, const char *pg_name)
{
    const char *name = strcmp(pg_name, "0") == 0 ? ALL_RANKS : pg_name;
    uint64_t hash = 0;
    for (const char *at = name; *at != '\0'; at++)
        hash = random_hash(hash, (uint64_t)*at);
    const uint32_t count = j->names.count;
    const uint32_t row = table_number(&j->names, j->arena, hash, same_name, j->groups, name);
    if (row == count) {
        LIST_ROOM(j->arena, j->groups, row, 1, j->group_room);
        j->groups[row] = (struct named_group){.name = name};
    }
    return row;
}

/* What the rank's trace says of a group that it calls, and others have said. */
static bool hear_of_group(struct joining *j, uint32_t rank, struct named_group *group)
{
    const struct chakra_trace *trace = &j->job->traces[rank];
    const struct chakra_group *told = chakra_groups_find(&trace->groups, group->name);
    if (told == NULL)
        return true;
    if (told->highest >= j->job->rank_count)
        return error_set(j->error,
                         "%s: group '%.40s' names rank %u, of which there is no trace (the last "
                         "is %s): give the traces of all ranks",
                         trace->path, shown_group(group), told->highest,
                         j->job->traces[j->job->rank_count - 1].path);
    if (group->told == NULL) {
        group->told = told;
        group->told_by = rank;
    }
    return (told->rank_count == group->told->rank_count &&
            told->ranks_hash == group->told->ranks_hash) ||
           error_set(j->error,
                     "%s: group '%.40s' has other ranks than %s says: these are traces of "
                     "different jobs; remove those of the other, or export under another prefix",
                     trace->path, shown_group(group), j->job->traces[group->told_by].path);
}

/* First look at a rank's collectives: who is in which group, and how often it meets. */
static bool count_collectives(struct joining *j, uint32_t rank)
{
    const struct chakra_trace *trace = &j->job->traces[rank];
    for (uint32_t n = 0; n < trace->node_count; n++) {
        const struct chakra_node *node = &trace->nodes[n];
        if (node->type != CHAKRA_COLL)
            continue;
        if (node->comm_type >= COLLECTIVE_TYPES) /* UNTOLD is, too */
            return chakra_bad(trace, node, j->error,
                              "its comm_type is not told, or none of Chakra's (0 to %d)",
                              COLLECTIVE_TYPES - 1);
        const struct collective_type *type = &collective_types[node->comm_type];
        if (!type->played)
            return chakra_bad(trace, node, j->error,
                              "%s is played by no step; ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, "
                              "BROADCAST, ALL_TO_ALL and BARRIER are",
                              type->name);
        if (node->comm_size == CHAKRA_UNTOLD && !type->meets_only)
            return chakra_bad(trace, node, j->error,
                              "comm_size is not told; write the bytes that a rank puts in");
        const uint32_t index = find_group(j, node->pg_name); /* may move the groups */
        struct named_group *group = &j->groups[index];
        if (group->seen_by != rank + 1) {
            group->first_rank = group->members == 0 ? rank : group->first_rank;
            group->members++;
            group->seen_by = rank + 1;
            if (!hear_of_group(j, rank, group))
                return false;
        }
        group->meetings += group->first_rank == rank;
    }
    return true;
}

static void open_groups(struct joining *j)
{
    struct task_graph *out = j->out;
    uint32_t members = 0;
    for (uint32_t g = 0; g < j->names.count; g++) {
        j->groups[g].meeting_first = out->meeting_count;
        out->meeting_count += j->groups[g].meetings;
        members += j->groups[g].members;
        j->groups[g].seen_by = 0;
    }
    const size_t messages = j->messages.count / 2;
    out->meetings = ARENA_ARRAY(j->arena, struct task_meeting, out->meeting_count + messages);
    out->groups = ARENA_ARRAY(j->arena, struct task_group, j->names.count + messages);
    out->members = ARENA_ARRAY(j->arena, uint32_t, members + 2 * messages);
    j->openers = ARENA_ARRAY(j->arena, struct opener, out->meeting_count);
    for (uint32_t g = 0; g < j->names.count; g++) {
        out->groups[g] = (struct task_group){.name = shown_group(&j->groups[g]),
                                             .member_first = out->member_count};
        out->member_count += j->groups[g].members;
    }
    out->group_count = j->names.count;
}

static bool differ(struct joining *j, uint32_t rank, const struct chakra_node *node,
                   const struct opener *opener, uint32_t nth)
{
    const struct chakra_node *first = &j->job->traces[opener->rank].nodes[opener->node];
    return chakra_bad(&j->job->traces[rank], node, j->error,
                      "collective %u of group '%.40s' is %s of %" PRIu64 " bytes, but on rank %u "
                      "(node %" PRIu64 ") %s of %" PRIu64
                      ": all ranks of a group call the same in the same order",
                      nth + 1, shown_group(&j->groups[find_group(j, node->pg_name)]),
                      collective_types[node->comm_type].name,
                      node->comm_size == CHAKRA_UNTOLD ? 0 : node->comm_size, opener->rank,
                      first->id, collective_types[first->comm_type].name,
                      first->comm_size == CHAKRA_UNTOLD ? 0 : first->comm_size);
}

static bool join_collective(struct joining *j, uint32_t rank, uint32_t row)
{
    const struct chakra_node *node = &j->job->traces[rank].nodes[row];
    const uint32_t index = find_group(j, node->pg_name);
    struct named_group *group = &j->groups[index];
    struct task_group *members = &j->out->groups[index];
    if (group->seen_by != rank + 1) {
        group->seen_by = rank + 1;
        group->seen = 0;
        j->out->members[members->member_first + members->member_count++] = rank;
    }
    const uint32_t nth = group->seen++;
    if (nth >= group->meetings)
        return chakra_bad(&j->job->traces[rank], node, j->error,
                          "collective %u of group '%.40s', of which rank %u calls %u only", nth + 1,
                          shown_group(group), group->first_rank, group->meetings);
    const uint32_t meeting = group->meeting_first + nth;
    const struct collective_type *type = &collective_types[node->comm_type];
    struct task_meeting *m = &j->out->meetings[meeting];
    double bytes = type->meets_only ? 0.0 : (double)node->comm_size;
    bytes *= type->op == COMM_ALL_GATHER ? group->members : 1.0;
    j->out->nodes[j->out->rank_first[rank] + row].meeting = meeting;
    if (rank == group->first_rank) {
        *m = (struct task_meeting){.group = index, .op = type->op, .bytes = bytes};
        j->openers[meeting] = (struct opener){rank, row};
        j->counts->collectives++;
        return true;
    }
    if (m->op != type->op || (m->bytes != bytes && type->op != COMM_ALL_TO_ALL))
        return differ(j, rank, node, &j->openers[meeting], nth);
    m->bytes = fmax(m->bytes, bytes);
    return true;
}

/* Collectives of a rank in its order; then each of its groups has met as often as on the others. */
static bool join_collectives(struct joining *j, uint32_t rank)
{
    const struct chakra_trace *trace = &j->job->traces[rank];
    if (!chakra_order(trace, j->order, j->error))
        return false;
    for (uint32_t i = 0; i < trace->node_count; i++)
        if (trace->nodes[j->order[i]].type == CHAKRA_COLL && !join_collective(j, rank, j->order[i]))
            return false;
    for (uint32_t g = 0; g < j->names.count; g++) {
        const struct named_group *group = &j->groups[g];
        if (group->seen_by == rank + 1 && group->seen < group->meetings)
            return error_set(j->error,
                             "%s: calls %u collective%s of group '%.40s', of which rank %u calls "
                             "%u: the trace is cut, or the ranks are of different steps",
                             trace->path, group->seen, plural_s(group->seen), shown_group(group),
                             group->first_rank, group->meetings);
    }
    return true;
}

static bool find_messages(struct joining *j, uint32_t rank)
{
    const struct chakra_trace *trace = &j->job->traces[rank];
    if (!chakra_order(trace, j->order, j->error))
        return false;
    for (uint32_t i = 0; i < trace->node_count; i++) {
        const enum chakra_type type = trace->nodes[j->order[i]].type;
        if ((type == CHAKRA_SEND || type == CHAKRA_RECV) &&
            !chakra_messages_add(j->arena, &j->messages, j->job, rank, j->order[i], j->error))
            return false;
    }
    return true;
}

static void join_messages(struct joining *j)
{
    struct task_graph *out = j->out;
    for (uint32_t i = 0; i < j->messages.count; i += 2) {
        const struct chakra_message *send = &j->messages.ends[i];
        const struct chakra_message *before = i > 0 ? send - 1 : NULL;
        if (before == NULL || before->source != send->source || before->target != send->target) {
            out->groups[out->group_count++] = (struct task_group){.name = "message",
                                                                  .member_first = out->member_count,
                                                                  .member_count = 2,
                                                                  .pair = true};
            out->members[out->member_count++] = send->source;
            out->members[out->member_count++] = send->target;
        }
        const double bytes = (double)j->job->traces[send->rank].nodes[send->node].comm_size;
        for (uint32_t side = 0; side < 2; side++)
            out->nodes[out->rank_first[send[side].rank] + send[side].node].meeting =
                out->meeting_count;
        out->meetings[out->meeting_count++] =
            (struct task_meeting){.group = out->group_count - 1, .op = COMM_SEND, .bytes = bytes};
        j->counts->messages++;
    }
}

static bool all_ranks_take_part(const struct joining *j)
{
    for (uint32_t g = 0; g < j->names.count; g++) {
        const struct named_group *group = &j->groups[g];
        if (strcmp(group->name, ALL_RANKS) == 0 && group->members < j->job->rank_count)
            return error_set(j->error,
                             "%u of %u ranks call collectives without a pg_name (or of \"0\"), "
                             "which are those of all ranks: name the groups, or give all traces",
                             group->members, j->job->rank_count);
    }
    return true;
}

static bool all_told_take_part(const struct joining *j)
{
    for (uint32_t g = 0; g < j->names.count; g++) {
        const struct named_group *group = &j->groups[g];
        if (group->told != NULL && group->told->rank_count != group->members)
            return error_set(j->error,
                             "%s: group '%.40s' has %u rank%s, but %u trace%s its collectives: "
                             "the traces are cut, or of different jobs; write them again under "
                             "another prefix",
                             j->job->traces[group->told_by].path, shown_group(group),
                             group->told->rank_count, plural_s(group->told->rank_count),
                             group->members, group->members == 1 ? " calls" : "s call");
    }
    return true;
}

bool chakra_tasks(struct arena *arena, const struct chakra_job *job,
                  const struct chakra_rates *rates, struct task_graph *out,
                  struct chakra_counts *counts, struct error *error)
{
    struct joining j = {
        .arena = arena, .job = job, .rates = rates, .out = out, .counts = counts, .error = error};
    uint32_t longest = 0;
    *out = (struct task_graph){0};
    *counts = (struct chakra_counts){0};
    CHECK(job->rank_count > 0);
    if (!take_nodes(&j))
        return false;
    for (uint32_t r = 0; r < job->rank_count; r++)
        longest = job->traces[r].node_count > longest ? job->traces[r].node_count : longest;
    j.order = ARENA_ARRAY(arena, uint32_t, longest);
    for (uint32_t r = 0; r < job->rank_count; r++)
        if (!count_collectives(&j, r) || !find_messages(&j, r))
            return false;
    if (!all_ranks_take_part(&j) || !all_told_take_part(&j) ||
        !chakra_messages_match(&j.messages, job, error))
        return false;
    open_groups(&j);
    for (uint32_t r = 0; r < job->rank_count; r++)
        if (!join_collectives(&j, r))
            return false;
    join_messages(&j);
    return true;
}
