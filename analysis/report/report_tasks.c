#include "analysis/report/report_tasks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/report_parts.h"
#include "analysis/text/columns.h"
#include "analysis/text/format.h"

enum {
    BAR_CELLS = 20
};

static void say_count(FILE *out, uint64_t count, const char *one, const char *many)
{
    if (count > 0)
        fprintf(out, ", %s %s", format_count(count).s, count == 1 ? one : many);
}

void report_task_counts(const struct session *s, const char *prefix, uint32_t rank_count,
                        uint32_t node_count, const struct chakra_counts *c)
{
    fprintf(s->out, "%s: %s rank%s, %s nodes", format_shown(prefix).s, format_count(rank_count).s,
            rank_count == 1 ? "" : "s", format_count(node_count).s);
    say_count(s->out, c->compute, "of compute", "of compute");
    say_count(s->out, c->host, "of the host", "of the host");
    say_count(s->out, c->memory, "of memory", "of memory");
    say_count(s->out, c->collectives, "collective", "collectives");
    say_count(s->out, c->messages, "message", "messages");
    fputc('\n', s->out);
    if (c->by_rates > 0)
        fprintf(s->out,
                "  %s of compute without a duration: num_ops and tensor_size at the rates "
                "of the card\n",
                format_count(c->by_rates).s);
    if (c->untimed > 0)
        fprintf(s->out, "  %s of compute without duration, num_ops and tensor_size take no time\n",
                format_count(c->untimed).s);
}

static void print_parts(const struct session *s, const struct task_outcome *o)
{
    static const char *const says[TASK_PART_COUNT] = {
        "kernels",
        "loads and stores, not hidden",
        "not hidden by the two above",
        "beside none of those above",
        "for ranks that have not come",
        "others have not finished",
    };
    report_heading(s, "Where the time goes, mean rank");
    for (unsigned part = 0; part < TASK_PART_COUNT; part++) {
        const double part_s = task_outcome_part_s(o, (enum task_part)part);
        const double ratio = o->played->step_s > 0.0 ? part_s / o->played->step_s : 0.0;
        char name[32];
        snprintf(name, sizeof name, "%s", task_part_names[part]);
        for (char *at = name; *at != '\0'; at++)
            *at = (char)(*at == '_' ? ' ' : *at);
        fprintf(s->out, "  %-21s %10s %7s %s  %s%s%s\n", name, format_time(part_s).s,
                format_percent(ratio).s, format_bar(ratio, BAR_CELLS, s->utf8).s, session_dim(s),
                says[part], session_plain(s));
    }
}

struct ranked {
    uint32_t index;
    double key;
};

static int largest_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static struct text word(const char *name)
{
    struct text out;
    snprintf(out.s, sizeof out.s, "%.40s", name);
    return out;
}

static void print_ranks(const struct session *s, const struct task_outcome *o, uint64_t top)
{
    const uint32_t ranks = o->graph->rank_count;
    const uint32_t count = top < ranks ? (uint32_t)top : ranks;
    struct column columns[TASK_PART_COUNT + 2] = {{"rank", false, false}};
    struct arena *arena = arena_create();
    struct ranked *order = ARENA_ARRAY(arena, struct ranked, ranks);
    struct text *cells = ARENA_ARRAY(arena, struct text, (size_t)count * (TASK_PART_COUNT + 2));
    for (uint32_t rank = 0; rank < ranks; rank++)
        order[rank] = (struct ranked){rank, o->played->parts_s[rank][TASK_PART_COMPUTE]};
    qsort(order, ranks, sizeof *order, largest_first);
    for (unsigned part = 0; part < TASK_PART_COUNT; part++)
        columns[part + 1] = (struct column){
            part == TASK_PART_COMMUNICATION ? "exposed" : task_part_names[part], false, false};
    columns[TASK_PART_COUNT + 1] = (struct column){"communication", false, false};
    for (uint32_t i = 0; i < count; i++) {
        struct text *row = cells + (size_t)i * (TASK_PART_COUNT + 2);
        row[0] = format_count(order[i].index);
        for (unsigned part = 0; part < TASK_PART_COUNT; part++)
            row[part + 1] = format_time(o->played->parts_s[order[i].index][part]);
        row[TASK_PART_COUNT + 1] = format_time(o->played->communicating_s[order[i].index]);
    }
    report_heading(s, count < ranks ? "Ranks that compute longest" : "Ranks");
    columns_print(s->out, columns, TASK_PART_COUNT + 2, cells, count);
    arena_destroy(arena);
}

static void print_groups(const struct session *s, const struct task_outcome *o, uint64_t top)
{
    static const struct column columns[] = {
        {"group", true, false},       {"ranks", false, false},   {"first", false, false},
        {"meetings", false, false},   {"payload", false, false}, {"under way", false, false},
        {"of the step", false, false}};
    enum {
        COLUMNS = sizeof columns / sizeof columns[0]
    };
    const uint32_t groups = o->graph->group_count;
    const uint32_t count = top < groups ? (uint32_t)top : groups;
    if (count == 0)
        return;
    struct arena *arena = arena_create();
    struct ranked *order = ARENA_ARRAY(arena, struct ranked, groups);
    struct text *cells = ARENA_ARRAY(arena, struct text, (size_t)count * COLUMNS);
    for (uint32_t g = 0; g < groups; g++)
        order[g] = (struct ranked){g, o->played->groups[g].moving_s};
    qsort(order, groups, sizeof *order, largest_first);
    for (uint32_t i = 0; i < count; i++) {
        const struct task_group *group = &o->graph->groups[order[i].index];
        const struct task_tally *tally = &o->played->groups[order[i].index];
        struct text *row = cells + (size_t)i * COLUMNS;
        row[0] = word(format_shown(group->name).s);
        row[1] = format_count(group->member_count);
        row[2] = format_count(o->graph->members[group->member_first]);
        row[3] = format_count(tally->meetings);
        row[4] = format_bytes(tally->bytes);
        row[5] = format_time(tally->moving_s);
        row[6] =
            format_percent(o->played->step_s > 0.0 ? tally->moving_s / o->played->step_s : 0.0);
    }
    report_heading(s, count < groups ? "Groups that communicate longest" : "Groups");
    columns_print(s->out, columns, COLUMNS, cells, count);
    arena_destroy(arena);
}

void report_tasks(const struct session *s, const struct task_outcome *o, uint64_t top)
{
    const struct topology_spec *cluster = &o->scenario->configuration.cluster;
    report_task_counts(s, o->prefix, o->graph->rank_count, o->graph->node_count, o->counts);
    fprintf(s->out, "\n%sstep %s%s on %" PRIu64 " x %s (%s)%s%s\n", session_bold(s),
            format_time(o->played->step_s).s, session_plain(s), cluster->nodes, cluster->node.name,
            o->scenario->configuration.gpu.name, cluster->nodes > 1 ? " over " : "",
            cluster->nodes > 1 ? cluster->fabric.name : "");
    print_parts(s, o);
    print_ranks(s, o, top);
    print_groups(s, o, top);
    fprintf(s->out, "\n%sdigest %016" PRIx64 ", %s events%s\n", session_dim(s), o->played->digest,
            format_count(o->played->event_count).s, session_plain(s));
}
