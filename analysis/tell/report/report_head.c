/* The opening lines of every report: what was simulated. And the messages of a record. */
#include <string.h>

#include "analysis/tell/report/report_parts.h"

const char report_head_lines[] =
    "{bold}{.scenario}{plain}\n"
    "  model     {.model}, {.parameters} parameters"
    "{if .experts > 0}, {.active_parameters} active{end}"
    "{if .prediction_parameters > 0}, {.prediction_parameters} more to predict further ahead{end}"
    "; sequence {.sequence}, {.precision}, {.optimizer}, {.attention} attention\n"
    "  cluster   {.rank_count} x {.gpu} in "
    "{if .nodes > 1}{.nodes} x {.node} over {.fabric}{else}one {.node}{end}"
    "; software {.software}\n"
    "  layout    tp {.tp:digits}{if .sequence_parallel} (sequence parallel){end} x pp {.pp:digits}"
    "{if .cp > 1} x cp {.cp:digits} ({.cp_method}){end} x dp {.dp:digits}"
    "{if .ep > 1}, ep {.ep:digits}{end}, {.sharding}, recompute {.recompute}"
    "{if .recompute_layers > 0} of {.recompute_layers:digits} layer"
    "{if not .recompute_layers = 1}s{end}{end}\n"
    "  batch     {.global_batch:digits} sequence{if not .global_batch = 1}s{end}: "
    "{.microbatches:digits} microbatch{if not .microbatches = 1}es{end} of {.microbatch:digits} "
    "for each replica"
    "{if .pp > 1}, {.schedule}{if .vpp > 1} with {.vpp:digits} chunks a stage{end}{end}\n"
    "{each .chosen}{if row = 1}  chosen    {else}            {end}{.key:clean}: {.text:clean}"
    "{dim}{to 48}{wrap .doc:clean}{plain}{end}";

struct fact *report_messages(struct fact *o, const char *key, const struct record *record,
                             const char *severity)
{
    size_t count;
    const struct message_row *rows = record_message(record, &count);
    struct fact *array = document_array(o, key);
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].severity, severity) == 0)
            document_columns(document_object(array, NULL), ROW_message, &rows[i], "");
    return array;
}

void report_head_facts(struct fact *o, const struct record *record)
{
    document_columns(o, ROW_run, record_run(record), "");
    report_messages(o, ".chosen", record, "choice");
}
