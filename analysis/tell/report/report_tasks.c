#include "analysis/tell/report/report_tasks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/columns.h"
#include "analysis/output/text/format.h"
#include "analysis/tell/report/report_parts.h"

enum {
    BAR_CELLS = 20
};

static void say_count(FILE *out, uint64_t count, const char *one, const char *many)
{
    if (count > 0)
        fprintf(out, ", %s %s", format_count(count).s, count == 1 ? one : many);
}

void report_task_counts(const struct session *s, const char *prefix, uint64_t rank_count,
                        uint64_t node_count, const struct chakra_counts *c)
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
    if (c->dropped > 0)
        fprintf(s->out, "  %s dependenc%s on nodes that are not in the traces left out\n",
                format_count(c->dropped).s, c->dropped == 1 ? "y" : "ies");
    if (c->untimed > 0)
        fprintf(s->out, "  %s of compute without duration, num_ops and tensor_size take no time\n",
                format_count(c->untimed).s);
}

/* Parts of a row of task_rank, in the order in which one goes before the other. */
enum {
    PARTS = 6
};
struct part_column {
    const char *name, *head, *says;
    double (*of)(const struct task_rank_row *row);
};
#define PART(column)                                                                               \
    static double column##_of(const struct task_rank_row *row)                                     \
    {                                                                                              \
        return row->column##_s;                                                                    \
    }
PART(compute)
PART(memory)
PART(exposed_communication)
PART(host)
PART(wait)
PART(done)
#undef PART
static const struct part_column parts[PARTS] = {
    {"compute", "compute", "kernels", compute_of},
    {"memory", "memory", "loads and stores, not hidden", memory_of},
    {"exposed communication", "exposed", "not hidden by the two above", exposed_communication_of},
    {"host", "host", "beside none of those above", host_of},
    {"wait", "wait", "for ranks that have not come", wait_of},
    {"done", "done", "others have not finished", done_of},
};

static double share_of(double part_s, double step_s)
{
    return step_s > 0.0 ? part_s / step_s : 0.0;
}

static void print_parts(const struct session *s, const struct record *record, double step_s)
{
    size_t ranks;
    const struct task_rank_row *rows = record_task_rank(record, &ranks);
    report_heading(s, "Where the time goes, mean rank");
    for (unsigned part = 0; part < PARTS; part++) {
        double sum_s = 0.0;
        for (size_t i = 0; i < ranks; i++)
            sum_s += parts[part].of(&rows[i]);
        const double part_s = sum_s / (double)ranks, ratio = share_of(part_s, step_s);
        fprintf(s->out, "  %-21s %10s %7s %s  %s%s%s\n", parts[part].name, format_time(part_s).s,
                format_percent(ratio).s, format_bar(ratio, BAR_CELLS, s->utf8).s, session_dim(s),
                parts[part].says, session_plain(s));
    }
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

static struct text word(const char *name)
{
    struct text out;
    snprintf(out.s, sizeof out.s, "%.40s", format_shown(name).s);
    return out;
}

static void print_ranks(const struct session *s, const struct record *record, uint64_t top)
{
    size_t ranks;
    const struct task_rank_row *rows = record_task_rank(record, &ranks);
    const size_t count = top < ranks ? (size_t)top : ranks;
    struct column columns[PARTS + 2] = {{"rank", false, false}};
    struct arena *arena = arena_create();
    struct ranked *order = ARENA_ARRAY(arena, struct ranked, ranks);
    struct text *cells = ARENA_ARRAY(arena, struct text, count * (PARTS + 2));
    for (size_t i = 0; i < ranks; i++)
        order[i] = (struct ranked){i, rows[i].compute_s};
    qsort(order, ranks, sizeof *order, largest_first);
    for (unsigned part = 0; part < PARTS; part++)
        columns[part + 1] = (struct column){parts[part].head, false, false};
    columns[PARTS + 1] = (struct column){"communication", false, false};
    for (size_t i = 0; i < count; i++) {
        const struct task_rank_row *row = &rows[order[i].index];
        struct text *line = cells + i * (PARTS + 2);
        line[0] = format_count((uint64_t)row->rank);
        for (unsigned part = 0; part < PARTS; part++)
            line[part + 1] = format_time(parts[part].of(row));
        line[PARTS + 1] = format_time(row->communicating_s);
    }
    report_heading(s, count < ranks ? "Ranks that compute longest" : "Ranks");
    columns_print(s->out, columns, PARTS + 2, cells, count);
    arena_destroy(arena);
}

static void print_groups(const struct session *s, const struct record *record, double step_s,
                         uint64_t top)
{
    static const struct column columns[] = {
        {"group", true, false},      {"ranks", false, false},      {"first", false, false},
        {"last", false, false},      {"meetings", false, false},   {"payload", false, false},
        {"under way", false, false}, {"of the step", false, false}};
    enum {
        COLUMNS = sizeof columns / sizeof columns[0]
    };
    size_t groups;
    const struct task_group_row *rows = record_task_group(record, &groups);
    const size_t count = top < groups ? (size_t)top : groups;
    if (count == 0)
        return;
    struct arena *arena = arena_create();
    struct ranked *order = ARENA_ARRAY(arena, struct ranked, groups);
    struct text *cells = ARENA_ARRAY(arena, struct text, count * COLUMNS);
    for (size_t g = 0; g < groups; g++)
        order[g] = (struct ranked){g, rows[g].moving_s};
    qsort(order, groups, sizeof *order, largest_first);
    for (size_t i = 0; i < count; i++) {
        const struct task_group_row *row = &rows[order[i].index];
        struct text *line = cells + i * COLUMNS;
        line[0] = word(row->name);
        line[1] = format_count((uint64_t)row->rank_count);
        line[2] = format_count((uint64_t)row->first_rank);
        line[3] = format_count((uint64_t)row->last_rank);
        line[4] = format_count((uint64_t)row->meeting_count);
        line[5] = format_bytes(row->payload_bytes);
        line[6] = format_time(row->moving_s);
        line[7] = format_percent(share_of(row->moving_s, step_s));
    }
    report_heading(s, count < groups ? "Groups that communicate longest" : "Groups");
    columns_print(s->out, columns, COLUMNS, cells, count);
    arena_destroy(arena);
}

void report_tasks(const struct session *s, const struct record *record, uint64_t top)
{
    size_t steps;
    const struct task_step_row *step = record_task_step(record, &steps);
    const struct chakra_counts counts = {
        .compute = (uint64_t)step->compute_count,
        .host = (uint64_t)step->host_count,
        .memory = (uint64_t)step->memory_count,
        .collectives = (uint64_t)step->collective_count,
        .messages = (uint64_t)step->message_count,
        .by_rates = (uint64_t)step->by_rates_count,
        .untimed = (uint64_t)step->untimed_count,
        .dropped = (uint64_t)step->dropped_count,
    };
    report_task_counts(s, step->traces, (uint64_t)step->rank_count, (uint64_t)step->node_count,
                       &counts);
    fprintf(s->out, "\n%sstep %s%s on %s\n", session_bold(s), format_time(step->step_s).s,
            session_plain(s), format_shown(step->machine).s);
    print_parts(s, record, step->step_s);
    print_ranks(s, record, top);
    print_groups(s, record, step->step_s, top);
    fprintf(s->out, "\n%sdigest %s, %s events%s\n", session_dim(s), format_shown(step->digest).s,
            format_count((uint64_t)step->event_count).s, session_plain(s));
}
