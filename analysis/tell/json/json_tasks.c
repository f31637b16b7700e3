#include <inttypes.h>

#include "analysis/tell/json/json.h"
#include "analysis/tell/json/json_parts.h"

static json_t *counts_object(const struct task_outcome *o)
{
    json_t *row = json_object();
    json_set(row, "compute", json_count(o->counts->compute));
    json_set(row, "compute_by_rates", json_count(o->counts->by_rates));
    json_set(row, "compute_untimed", json_count(o->counts->untimed));
    json_set(row, "host", json_count(o->counts->host));
    json_set(row, "memory", json_count(o->counts->memory));
    json_set(row, "collectives", json_count(o->counts->collectives));
    json_set(row, "messages", json_count(o->counts->messages));
    json_set(row, "dependencies_dropped", json_count(o->counts->dropped));
    return row;
}

static json_t *ranks_array(const struct task_outcome *o)
{
    json_t *array = json_array();
    for (uint32_t rank = 0; rank < o->graph->rank_count; rank++) {
        json_t *row = json_object();
        json_set(row, "rank", json_count(rank));
        for (unsigned part = 0; part < TASK_PART_COUNT; part++)
            json_set(row, task_part_names[part], json_number(o->played->parts_s[rank][part]));
        json_set(row, "communicating_s", json_number(o->played->communicating_s[rank]));
        json_append(array, row);
    }
    return array;
}

static json_t *groups_array(const struct task_outcome *o)
{
    json_t *array = json_array();
    for (uint32_t g = 0; g < o->graph->group_count; g++) {
        const struct task_group *group = &o->graph->groups[g];
        const struct task_tally *tally = &o->played->groups[g];
        json_t *row = json_object(), *ranks = json_array();
        json_set(row, "name", json_text(group->name));
        for (uint32_t i = 0; i < group->member_count; i++)
            json_append(ranks, json_count(o->graph->members[group->member_first + i]));
        json_set(row, "ranks", ranks);
        json_set(row, "meetings", json_count(tally->meetings));
        json_set(row, "bytes", json_number(tally->bytes));
        json_set(row, "moving_s", json_number(tally->moving_s));
        json_append(array, row);
    }
    return array;
}

void json_tasks(const struct task_outcome *o, FILE *out)
{
    json_t *document = json_document("orrery.chakra/1", o->scenario), *parts = json_object();
    char digest[24];
    snprintf(digest, sizeof digest, "%016" PRIx64, o->played->digest);
    json_set(document, "digest", json_text(digest));
    json_set(document, "traces", json_text(o->prefix));
    json_set(document, "step_time_s", json_number(o->played->step_s));
    json_set(document, "rank_count", json_count(o->graph->rank_count));
    json_set(document, "node_count", json_count(o->graph->node_count));
    json_set(document, "event_count", json_count(o->played->event_count));
    json_set(document, "nodes", counts_object(o));
    for (unsigned part = 0; part < TASK_PART_COUNT; part++)
        json_set(parts, task_part_names[part],
                 json_number(task_outcome_part_s(o, (enum task_part)part)));
    json_set(document, "breakdown", parts);
    json_set(document, "ranks", ranks_array(o));
    json_set(document, "groups", groups_array(o));
    json_print(document, out);
}
