/* The opening lines of every report: what was simulated; the messages of a record; what the times
 * of kernels rest on: a line for `run`, a table for `explain`; the defaults that were taken. */
#include <string.h>

#include "analysis/tell/report/report.h"
#include "analysis/tell/report/report_parts.h"
#include "models/gpu/gpu.h"
#include "models/layout/announced.h"

const char report_head_lines[] =
    "{bold}{.title:clean}{plain}\n"
    "  model     {.model}, {.parameters} parameters"
    "{if .experts > 0}, {.active_parameters} active without the input embedding{end}"
    "{if .prediction_parameters > 0}, {.prediction_parameters} more to predict further ahead{end}"
    "; sequence {.sequence}, {.precision}, {.optimizer}, {.attention} attention\n"
    "  cluster   {.rank_count} x {.gpu} in "
    "{if .nodes > 1}{.nodes} x {.node} over {.fabric}{else}one {.node}{end}"
    "; software {.software}\n" REPORT_ANNOUNCED
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

const char report_defaults_lines[] =
    "{if .defaults_told}"
    "\n{bold}Defaults taken{plain}\n"
    "{each .defaults}"
    "  {.key:clean<36} {.text:clean<12} {dim}{wrap .doc:clean}{plain}"
    "{end}"
    "{if not .defaults}  none\n{end}{end}";

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

void report_announced_facts(struct fact *object, const char *words)
{
    const bool announced = words != NULL && *words != '\0';
    document_flag(object, "announced", announced);
    document_quote(object, "announced_words", announced ? words : "");
}

void report_announced_of(struct fact *object, const struct configuration *c)
{
    char *room = ARENA_ARRAY(object->arena, char, ANNOUNCED_WORDS_MAX);
    report_announced_facts(object, announced_words(c, room, ANNOUNCED_WORDS_MAX));
}

void report_head_facts(struct fact *o, const struct record *record)
{
    document_columns(o, ROW_run, record_run(record), "");
    report_messages(o, ".chosen", record, "choice");
}

const char report_evidence_lines[] =
    "{if .step_told}{each .evidence}"
    "\n{bold}What the times of kernels rest on{plain}\n"
    "  {kernel_evidence.measured} of the time on measured kernels, {kernel_evidence.interpolated} "
    "interpolated, {kernel_evidence.extrapolated} extrapolated, {kernel_evidence.model} on the "
    "model\n"
    "  {dim}{.profile}{plain}\n"
    "{each .points}  {wrap .text:clean 2}{end}"
    "{if .lacks}  {dim}'orrery profile shapes SCENARIO' lists the lines of nccl-tests that measure "
    "them{plain}\n{end}"
    "{each .unmeasured 15}"
    "  {.kernel<24.40} {.evidence<13.20} {.gpu_s>9} {.time_ratio>7}\n"
    "{end}{end}{end}";

/* Shares of the time of all kernels by what it rests on. */
static void set_ratios(struct fact *o, const struct kernel_evidence_row *rows, size_t count)
{
    for (unsigned e = 0; e < KERNEL_EVIDENCE_COUNT; e++) {
        double ratio = 0.0;
        for (size_t i = 0; i < count; i++)
            if (strcmp(rows[i].evidence, kernel_evidence_names[e]) == 0)
                ratio += rows[i].time_ratio;
        document_real(o, kernel_evidence_names[e], IN_RATIO, ratio);
    }
}

/* Does the profile lack kernels? */
static bool lacks(const struct record *record)
{
    size_t count;
    const struct message_row *rows = record_message(record, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].severity, "profile") == 0 && strcmp(rows[i].key, "lacking") == 0)
            return true;
    return false;
}

void report_evidence_facts(struct fact *o, const struct record *record, bool all)
{
    size_t count;
    const struct kernel_evidence_row *rows = record_kernel_evidence(record, &count);
    struct fact *aside = document_object_if(count > 0, o, ".evidence");
    if (aside == NULL)
        return;
    set_ratios(document_object(o, "kernel_evidence"), rows, count);
    document_quote(aside, ".profile", rows[0].profile);
    document_flag(aside, ".lacks", lacks(record));
    report_messages(aside, ".points", record, "profile");
    struct fact *array = document_array(aside, ".unmeasured");
    for (size_t i = 0; all && i < count; i++)
        if (strcmp(rows[i].evidence, kernel_evidence_names[KERNEL_MEASURED]) != 0)
            document_columns(document_object(array, NULL), ROW_kernel_evidence, &rows[i], "");
}
