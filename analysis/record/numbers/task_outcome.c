#include "analysis/record/numbers/task_outcome.h"

#include <inttypes.h>

#include "models/layout/announced.h"

static const char *announced_of(struct arena *arena, const struct configuration *c)
{
    char words[ANNOUNCED_WORDS_MAX];
    return announced_words(c, words, sizeof words) != NULL ? arena_text(arena, words) : "";
}

static const char *machine_of(struct arena *arena, const struct configuration *c)
{
    const bool many = c->cluster.nodes > 1;
    return arena_format(arena, "%" PRIu64 " x %s (%s)%s%s", c->cluster.nodes, c->cluster.node.name,
                        c->gpu.name, many ? " over " : "", many ? c->cluster.fabric.name : "");
}

void task_outcome_counts(const struct chakra_counts *counts, struct task_step_row *row)
{
    row->compute_count = (int64_t)counts->compute;
    row->by_rates_count = (int64_t)counts->by_rates;
    row->untimed_count = (int64_t)counts->untimed;
    row->host_count = (int64_t)counts->host;
    row->memory_count = (int64_t)counts->memory;
    row->collective_count = (int64_t)counts->collectives;
    row->message_count = (int64_t)counts->messages;
    row->dropped_count = (int64_t)counts->dropped;
}

static void record_step(struct arena *arena, const struct task_outcome *o, struct record *out)
{
    struct task_step_row *row = record_add(out, ROW_task_step, 1);
    *row = (struct task_step_row){
        .traces = o->prefix,
        .machine = machine_of(arena, &o->scenario->configuration),
        .announced_words = announced_of(arena, &o->scenario->configuration),
        .digest = arena_format(arena, "%016" PRIx64, o->played->digest),
        .step_s = o->played->step_s,
        .rank_count = o->graph->rank_count,
        .node_count = o->graph->node_count,
        .event_count = (int64_t)o->played->event_count,
    };
    task_outcome_counts(o->counts, row);
}

static void record_ranks(const struct task_outcome *o, struct record *out)
{
    struct task_rank_row *rows = record_add(out, ROW_task_rank, o->graph->rank_count);
    for (uint32_t rank = 0; rank < o->graph->rank_count; rank++) {
        const double *parts_s = o->played->parts_s[rank];
        rows[rank] = (struct task_rank_row){
            .rank = rank,
            .compute_s = parts_s[TASK_PART_COMPUTE],
            .memory_s = parts_s[TASK_PART_MEMORY],
            .exposed_communication_s = parts_s[TASK_PART_COMMUNICATION],
            .host_s = parts_s[TASK_PART_HOST],
            .wait_s = parts_s[TASK_PART_WAIT],
            .done_s = parts_s[TASK_PART_DONE],
            .communicating_s = o->played->communicating_s[rank],
        };
    }
}

static void record_groups(const struct task_outcome *o, struct record *out)
{
    struct task_group_row *rows = record_add(out, ROW_task_group, o->graph->group_count);
    for (uint32_t g = 0; g < o->graph->group_count; g++) {
        const struct task_group *group = &o->graph->groups[g];
        const struct task_tally *tally = &o->played->groups[g];
        const uint32_t *members = &o->graph->members[group->member_first];
        rows[g] = (struct task_group_row){
            .name = group->name,
            .rank_count = group->member_count,
            .first_rank = members[0],
            .last_rank = members[group->member_count - 1],
            .meeting_count = (int64_t)tally->meetings,
            .payload_bytes = tally->bytes,
            .moving_s = tally->moving_s,
        };
    }
}

static void record_choices(const struct task_outcome *o, struct record *out)
{
    for (unsigned i = 0; i < o->scenario->choices.count; i++) {
        const struct made_choice *one = &o->scenario->choices.rows[i];
        struct message_row *row = record_add(out, ROW_message, 1);
        *row = (struct message_row){"choice", choice_path(one), one->value, one->why};
    }
}

void task_outcome_record(struct arena *arena, const struct task_outcome *o, struct record *out)
{
    *out = (struct record){.arena = arena};
    record_step(arena, o, out);
    record_ranks(o, out);
    record_groups(o, out);
    record_choices(o, out);
}
