#include <string.h>

#include "scenarios/assemble/build_job.h"
#include "scenarios/language/file.h"
#include "scenarios/language/names.h"
#include "scenarios/schema/trace.h"
#include "sim/check.h"
#include "sim/list.h"

void build_cause_add(struct builder *b, struct cause_list *list, const struct failure_cause *cause,
                     struct mark mark)
{
    unsigned capacity = list->capacity;
    LIST_ROOM(b->arena, list->marks, list->count, 1, capacity);
    LIST_ROOM(b->arena, list->rows, list->count, 1, list->capacity);
    list->rows[list->count] = *cause;
    list->marks[list->count++] = mark;
}

enum {
    TRACE_CAUSES_MAX = 256
};

/* The rows of one cause, on one kind of unit. */
struct incident_group {
    const char *name;
    int unit_kind;
    uint32_t count;
    struct trace_event *events;
};
struct groups {
    struct incident_group rows[TRACE_CAUSES_MAX];
    unsigned count;
};

/* How many units of a kind there are, the spares' among them. */
static uint64_t unit_count(const struct builder *b, const struct failure_cause *like, int kind)
{
    const struct job_spec *job = &b->scenario->job;
    uint64_t nodes = job->nodes + job->recovery.spares;
    switch ((enum failure_unit)kind) {
    case UNIT_GPU:
        return nodes * job->gpus_per_node;
    case UNIT_NIC:
        return nodes * job->nics_per_node;
    case UNIT_NODE:
        return nodes;
    case UNIT_DOMAIN:
        return like->domain_nodes ? (nodes + like->domain_nodes - 1) / like->domain_nodes : 0;
    case UNIT_JOB:
        return 1;
    }
    UNREACHABLE("kind is an enum failure_unit");
}

static bool check_row(struct builder *b, const struct failure_cause *like,
                      const struct trace_row *row)
{
    uint64_t count = unit_count(b, like, row->unit_kind);
    const char *kind = failure_unit_names[row->unit_kind];
    if (row->unit < count)
        return true;
    if (count == 0)
        problems_error(b->problems, row->unit_mark, "unit: the cluster has no %s%s", kind,
                       row->unit_kind == UNIT_DOMAIN ? "s; say `domain_nodes` beside the trace"
                                                     : "s");
    else
        problems_error(b->problems, row->unit_mark,
                       "unit: there is no %s %llu; they are numbered from 0 to %llu", kind,
                       (unsigned long long)row->unit, (unsigned long long)(count - 1));
    return false;
}

static struct incident_group *group_of(struct groups *groups, const struct trace_row *row)
{
    for (unsigned i = 0; i < groups->count; i++) {
        struct incident_group *group = &groups->rows[i];
        if (group->unit_kind == row->unit_kind && strcmp(group->name, row->cause) == 0)
            return group;
    }
    if (groups->count == TRACE_CAUSES_MAX)
        return NULL;
    groups->rows[groups->count] = (struct incident_group){row->cause, row->unit_kind, 0, NULL};
    return &groups->rows[groups->count++];
}

static bool taken(const struct failure_keys *keys, const struct trace_row *row)
{
    return strcmp(keys->rows, READER_AUTO) == 0 || strcmp(keys->rows, row->cause) == 0;
}

/* Sorts the rows into groups: once to count, once to fill. False: too many causes. */
static bool deal(struct builder *b, const struct failure_keys *keys, const struct trace_row *rows,
                 size_t count, struct groups *groups)
{
    for (size_t i = 0; i < count; i++) {
        struct incident_group *group = taken(keys, &rows[i]) ? group_of(groups, &rows[i]) : NULL;
        if (taken(keys, &rows[i]) && group == NULL)
            return false;
        if (group)
            group->count++;
    }
    for (unsigned i = 0; i < groups->count; i++) {
        struct incident_group *group = &groups->rows[i];
        group->events = ARENA_ARRAY(b->arena, struct trace_event, group->count);
        group->count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        struct incident_group *group = taken(keys, &rows[i]) ? group_of(groups, &rows[i]) : NULL;
        if (group)
            group->events[group->count++] = (struct trace_event){
                rows[i].at_s, (uint32_t)rows[i].unit, rows[i].repair_s, rows[i].cause};
    }
    return true;
}

/* A cause that strikes two kinds of units becomes two: behind the first they bear their kind, by a
 * name that no other cause of the trace has. */
static void add_groups(struct builder *b, const struct value *item, const struct groups *groups,
                       const struct failure_cause *like, struct cause_list *list)
{
    const char *others[TRACE_CAUSES_MAX];
    for (unsigned i = 0; i < groups->count; i++)
        others[i] = groups->rows[i].name;
    for (unsigned i = 0; i < groups->count; i++) {
        const struct incident_group *group = &groups->rows[i];
        struct failure_cause cause = *like;
        bool first = true;
        for (unsigned j = 0; j < i; j++)
            first = first && strcmp(groups->rows[j].name, group->name) != 0;
        cause.name = first
                         ? group->name
                         : names_apart(b->arena, group->name, failure_unit_names[group->unit_kind],
                                       (struct name_list){others, groups->count});
        others[i] = cause.name;
        cause.unit = group->unit_kind;
        cause.trace = group->events;
        cause.trace_count = group->count;
        build_cause_add(b, list, &cause, section_mark(item, "trace"));
    }
}

static bool check_rows(struct builder *b, const struct failure_keys *keys,
                       const struct failure_cause *like, const struct trace *trace)
{
    unsigned bad = 0;
    for (size_t i = 0; i < trace->count && bad < PROBLEM_MAX; i++)
        bad += !taken(keys, &trace->rows[i]) || check_row(b, like, &trace->rows[i]) ? 0 : 1;
    return bad == 0;
}

void build_trace(struct builder *b, const struct value *item, const char *path,
                 const struct failure_keys *keys, const struct failure_cause *like,
                 struct cause_list *list)
{
    struct trace trace = {NULL, 0};
    struct groups *groups = ARENA_NEW(b->arena, struct groups);
    const char *key = reader_path(&b->reader, path, "trace");
    const struct mark where = section_mark(item, "trace");
    const struct trace_file file = {section_file(b, key, keys->trace, where), key, where};
    if (file.path == NULL || !trace_read(b->arena, &file, b->problems, &trace))
        return;
    if (!b->cluster_sound || !check_rows(b, keys, like, &trace))
        return;
    if (!deal(b, keys, trace.rows, trace.count, groups))
        problems_error(b->problems, file.where, "%s: more than %d causes in one trace", file.key,
                       TRACE_CAUSES_MAX);
    else if (groups->count == 0 && trace.count > 0)
        problems_error(b->problems, section_mark(item, "rows"),
                       "%s.rows: no row has the cause '%s'", path,
                       source_quote(b->arena, keys->rows));
    else
        add_groups(b, item, groups, like, list);
}
