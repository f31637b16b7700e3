#include "analysis/tell/report/report_tasks.h"

#include <stdlib.h>

#include "analysis/tell/report/report.h"
#include "analysis/tell/report/report_parts.h"
#include "sim/list.h"

static const char count_lines[] =
    "{traces}: {rank_count} rank{if not rank_count = 1}s{end}, {node_count} nodes"
    "{each nodes}"
    "{if compute > 0}, {compute} of compute{end}"
    "{if host > 0}, {host} of the host{end}"
    "{if memory > 0}, {memory} of memory{end}"
    "{if collectives > 0}, {collectives} collective{if not collectives = 1}s{end}{end}"
    "{if messages > 0}, {messages} message{if not messages = 1}s{end}{end}\n"
    "{if compute_by_rates > 0}"
    "  {compute_by_rates} of compute without a duration: num_ops and tensor_size at the rates of "
    "the "
    "card\n"
    "{end}"
    "{if dependencies_dropped > 0}"
    "  {dependencies_dropped} dependenc{if dependencies_dropped = 1}y{else}ies{end} on nodes that "
    "are not in the traces left out\n"
    "{end}"
    "{if compute_untimed > 0}"
    "  {compute_untimed} of compute without duration, num_ops and tensor_size take no time\n"
    "{end}{end}";

static const char lines[] =
    "\n{bold}step {step_time_s}{plain} on {.machine}\n" REPORT_ANNOUNCED
    "\n{bold}Where the time goes, mean rank{plain}\n"
    "{each .parts}"
    "  {.name<21} {.seconds>10} {.share>7} {bar .share 20}  {dim}{.says}{plain}\n"
    "{end}"
    "{if .ranks}"
    "\n{bold}Ranks{if .ranks_more > 0} that compute longest{end}{plain}\n"
    "{table}rank\tcompute\tmemory\texposed\thost\twait\tdone\tcommunication\n"
    "{each .ranks}{.rank}\t{.compute_s}\t{.memory_s}\t{.exposed_communication_s}\t{.host_s}\t"
    "{.wait_s}\t{.done_s}\t{.communicating_s}\n"
    "{end}{end}{end}"
    "{if .groups}"
    "\n{bold}Groups{if .groups_more > 0} that communicate longest{end}{plain}\n"
    "{table}<group\tranks\tfirst\tlast\tmeetings\tpayload\tunder way\tof the step\n"
    "{each .groups}{.name<0.40}\t{.rank_count}\t{.first_rank}\t{.last_rank}\t{.meeting_count}\t"
    "{.payload_bytes}\t{.moving_s}\t{.share}\n"
    "{end}{end}{end}"
    "\n{dim}digest {digest}, {event_count} events{plain}\n";

const char *const report_tasks_lines[] = {count_lines, lines, NULL};

static void set_counts(struct fact *o, const struct task_step_row *step)
{
    document_columns(o, ROW_task_step, step,
                     "digest traces step_time_s=step_s rank_count node_count event_count");
    document_columns(document_object(o, "nodes"), ROW_task_step, step,
                     "compute=compute_count compute_by_rates=by_rates_count "
                     "compute_untimed=untimed_count host=host_count memory=memory_count "
                     "collectives=collective_count messages=message_count "
                     "dependencies_dropped=dropped_count");
}

void report_task_counts(const struct session *session, const char *prefix,
                        const struct task_graph *graph, const struct chakra_counts *counts)
{
    struct arena *arena = arena_create();
    struct fact *o = document_begin(arena, "", NULL);
    struct task_step_row step = {
        .traces = prefix, .rank_count = graph->rank_count, .node_count = graph->node_count};
    task_outcome_counts(counts, &step);
    set_counts(o, &step);
    document_lines(o, count_lines, session);
    arena_destroy(arena);
}

static double share_of(double part_s, double step_s)
{
    return step_s > 0.0 ? part_s / step_s : 0.0;
}

/* Parts of a row of task_rank, in the order in which one goes before the other:
 * X(column, key of JSON, name, what it is). */
#define PARTS(X)                                                                                   \
    X(compute_s, "compute", "compute", "kernels")                                                  \
    X(memory_s, "memory", "memory", "loads and stores, not hidden")                                \
    X(exposed_communication_s, "exposed_communication", "exposed communication",                   \
      "not hidden by the two above")                                                               \
    X(host_s, "host", "host", "beside none of those above")                                        \
    X(wait_s, "wait", "wait", "for ranks that have not come")                                      \
    X(done_s, "done", "done", "others have not finished")

static void set_part(struct fact *array, const char *name, const char *says, double part_s,
                     double step_s)
{
    struct fact *one = document_object(array, NULL);
    document_word(one, ".name", name);
    document_word(one, ".says", says);
    document_real(one, ".seconds", IN_SECONDS, part_s);
    document_real(one, ".share", IN_RATIO, share_of(part_s, step_s));
}

static void set_parts(struct fact *o, const struct record *record, double step_s)
{
    size_t ranks;
    const struct task_rank_row *rows = record_task_rank(record, &ranks);
    struct fact *breakdown = document_object(o, "breakdown"), *array = document_array(o, ".parts");
    double sum_s;
#define X(column, key, name, says)                                                                 \
    sum_s = 0.0;                                                                                   \
    for (size_t i = 0; i < ranks; i++)                                                             \
        sum_s += rows[i].column;                                                                   \
    document_real(breakdown, key, IN_SECONDS, sum_s / (double)ranks);                              \
    set_part(array, name, says, sum_s / (double)ranks, step_s);
    PARTS(X)
#undef X
}

struct ranked {
    size_t index;
    double key;
};

static int largest_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void set_ranks(struct fact *o, const struct record *record, uint64_t top)
{
    size_t count;
    const struct task_rank_row *rows = record_task_rank(record, &count);
    struct fact *ranks = document_array(o, "ranks"), *shown = document_array(o, ".ranks");
    struct ranked *order = ARENA_ARRAY(o->arena, struct ranked, count);
    document_count(o, ".ranks_more", count > top ? count - top : 0);
    for (size_t i = 0; i < count; i++) {
        order[i] = (struct ranked){i, rows[i].compute_s};
        document_columns(document_object(ranks, NULL), ROW_task_rank, &rows[i],
                         "rank compute=compute_s memory=memory_s "
                         "exposed_communication=exposed_communication_s host=host_s wait=wait_s "
                         "done=done_s communicating_s");
    }
    qsort(order, count, sizeof *order, largest_first);
    for (size_t i = 0; i < count && i < top; i++)
        document_columns(document_object(shown, NULL), ROW_task_rank, &rows[order[i].index], "");
}

static void set_members(struct fact *group, const struct report_tasks_told *told, size_t index)
{
    struct fact *ranks = document_array(group, "ranks");
    const struct task_group *of = told->groups != NULL ? &told->groups[index] : NULL;
    for (uint32_t i = 0; of != NULL && i < of->member_count; i++)
        document_count(ranks, NULL, told->members[of->member_first + i]);
}

static void set_groups(struct fact *o, const struct record *record,
                       const struct report_tasks_told *told, uint64_t top)
{
    size_t count, steps;
    const struct task_group_row *rows = record_task_group(record, &count);
    const double step_s = record_task_step(record, &steps)->step_s;
    struct fact *groups = document_array(o, "groups"), *shown = document_array(o, ".groups");
    struct ranked *order = ARENA_ARRAY(o->arena, struct ranked, count);
    document_count(o, ".groups_more", count > top ? count - top : 0);
    for (size_t i = 0; i < count; i++) {
        struct fact *one = document_object(groups, NULL);
        order[i] = (struct ranked){i, rows[i].moving_s};
        document_quote(one, "name", rows[i].name);
        set_members(one, told, i);
        document_columns(one, ROW_task_group, &rows[i],
                         "meetings=meeting_count bytes=payload_bytes moving_s");
    }
    qsort(order, count, sizeof *order, largest_first);
    for (size_t i = 0; i < count && i < top; i++) {
        const struct task_group_row *row = &rows[order[i].index];
        struct fact *one = document_object(shown, NULL);
        document_columns(one, ROW_task_group, row, "");
        document_real(one, ".share", IN_RATIO, share_of(row->moving_s, step_s));
    }
}

/* As document_begin has it of a scenario. */
static void recall_scenario(struct fact *o, const struct record *record,
                            const struct report_tasks_told *told)
{
    document_quote(o, "scenario", told->name);
    if (told->name != NULL)
        document_count(o, "seed", told->seed);
    report_choice_facts(o, record);
}

struct fact *report_tasks(const struct record *record, const struct report_tasks_told *told,
                          uint64_t top)
{
    size_t steps;
    const struct task_step_row *step = record_task_step(record, &steps);
    struct fact *o = document_begin(record->arena, "orrery.chakra/1", told->scenario);
    if (told->scenario == NULL)
        recall_scenario(o, record, told);
    set_counts(o, step);
    report_announced_facts(o, step->announced_words);
    set_parts(o, record, step->step_s);
    set_ranks(o, record, top);
    set_groups(o, record, told, top);
    return o;
}

struct recall {
    struct arena *arena;
    struct report_tasks_told *told;
    const struct task_group_row *rows; /* of task_group */
    struct task_group *groups;
    uint32_t *members;
    size_t group_count;
    uint32_t member_count, member_room;
};

/* Columns: 0 name of the scenario, 1 seed. */
static bool take_meta(void *context, const struct query_row *row, struct error *error)
{
    const struct recall *r = context;
    unsigned bytes;
    (void)error;
    if (query_type(row, 0) == QUERY_NULL || query_type(row, 1) == QUERY_NULL)
        return true;
    r->told->name = arena_text(r->arena, query_text(row, 0, &bytes));
    r->told->seed = strtoull(query_text(row, 1, &bytes), NULL, 10);
    return true;
}

static bool damaged(struct error *error)
{
    return error_set(error, "the tables of execution traces are damaged: ranks in task_slice are "
                            "not those of task_group");
}

/* Columns: 0 group from 1, 1 rank; by group, then rank. */
static bool take_member(void *context, const struct query_row *row, struct error *error)
{
    struct recall *r = context;
    const int64_t number = query_integer(row, 0), rank = query_integer(row, 1);
    if (number < 1 || number > (int64_t)r->group_count || rank < 0 || rank > INT32_MAX)
        return damaged(error);
    struct task_group *group = &r->groups[number - 1];
    if (group->member_count == 0)
        group->member_first = r->member_count;
    LIST_ROOM(r->arena, r->members, r->member_count, 1, r->member_room);
    r->members[r->member_count++] = (uint32_t)rank;
    group->member_count++;
    return true;
}

/* As many as the row says; of two the first is the row's, too: a message has its sender first. */
static bool settle(struct recall *r, struct error *error)
{
    for (size_t g = 0; g < r->group_count; g++) {
        const struct task_group *group = &r->groups[g];
        uint32_t *members = &r->members[group->member_first];
        if (group->member_count != r->rows[g].rank_count)
            return damaged(error);
        if (group->member_count == 2 && members[0] == r->rows[g].last_rank) {
            members[0] = members[1];
            members[1] = (uint32_t)r->rows[g].last_rank;
        }
    }
    return true;
}

bool report_tasks_recall(struct query *query, struct arena *arena, const struct record *record,
                         struct report_tasks_told *out, struct error *error)
{
    struct recall r = {.arena = arena, .told = out};
    *out = (struct report_tasks_told){0};
    r.rows = record_task_group(record, &r.group_count);
    r.groups = ARENA_ARRAY(arena, struct task_group, r.group_count);
    if (!query_run(query,
                   "select (select value from meta where key = 'scenario'), (select value from "
                   "meta where key = 'seed')",
                   NULL, take_meta, &r, error) ||
        !query_run(query,
                   "select distinct task_group, rank from task_slice where task_group is not null "
                   "order by task_group, rank",
                   NULL, take_member, &r, error) ||
        !settle(&r, error))
        return false;
    out->groups = r.groups;
    out->members = r.members;
    return true;
}
