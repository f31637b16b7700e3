/* A run: of a step time, breakdown, memory, communication; of weeks, in report_weeks.c. */
#include "analysis/tell/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/evidence/expectation.h"
#include "analysis/record/numbers/job_record.h"
#include "analysis/tell/report/report_parts.h"
#include "models/layout/stream.h"
#include "models/step/simulate/breakdown.h"

static const char speed_lines[] =
    "{if .timed}"
    "\n{bold}One training step"
    "{if not .fits}, were the {if .on_host}host{else}card{end} large enough{end}{plain}\n"
    "  step time    {bold}{.step_s}{plain}\n"
    "  tokens       {.tokens_per_s} a second, {.tokens_per_s_per_gpu} for each GPU\n"
    "  MFU          {.mfu_ratio}   {wrapped 24}({.mfu_formula} a token against the dense "
    "{.precision} "
    "peak of {.peak_flops_per_s}/s;{end}"
    "                        {wrapped 24}{.mfu_letters:whole}){end}"
    "{if .long}"
    "  causal MFU   {.causal_mfu_ratio}   ({.causal_mfu_formula}: a token sees those before it)\n"
    "{end}"
    "  HFU          {.hfu_ratio}   (what the kernels do: recomputed FLOPs in, skipped scores out)\n"
    "{each .published}  {wrap .text:clean 2}{end}"
    "{if .pp > 1}  bubble       {.bubble_ratio} of the step of the mean rank\n{end}"
    "{if .budget_tokens}"
    "  training     {.training_s} of such steps for {.budget_tokens} tokens, "
    "without failures\n"
    "{end}"
    "{if .card_w}  power        {.card_w:.0f} W a card, {.node_w:.0f} W a node at its inlet; "
    "{.energy_j_per_step} a step, {.energy_j_per_token:.3f} J a token\n{end}"
    "{if .site}"
    "               the wall draws {.low} to {.peak} within a step; from one tenth of a second to "
    "the\n               next up to {.change} more or less\n{end}"
    "{if .cost_usd_per_step}{if not .wall_s}" /* weeks tell their own */
    "  cost         {.cost_usd_per_step} a step, {.cost_usd_per_1e9_tokens} for 10^9 tokens"
    "{if .cost_usd_for_budget}, {.cost_usd_for_budget} for {.budget_tokens}{end}\n"
    "               ({.paid_gpus:count} GPUs{if .paid_gpus-.rank_count > 0} paid, of which "
    "{.rank_count} work,{end} at {.gpu_hour_usd} an hour)\n"
    "{end}{end}{end}";

static const char breakdown_lines[] =
    "{if .step_told}{if .timed}"
    "\n{bold}Where the time of the mean rank goes{plain}\n"
    "{each .parts}"
    "  {.name<11} {.seconds>9} {.seconds/.step_s>7}  {bar .seconds/.step_s 24}  {dim}{.meaning}"
    "{plain}\n"
    "{end}"
    "  sum         {.sum_s>9} {.sum_s/.step_s>7}\n"
    "{end}{end}";

static const char traffic_lines[] =
    "{if .step_told}{if .timed}"
    "{if .streams}"
    "\n{bold}Communication of the mean rank, and how much hides under compute{plain}\n"
    "  stream             ops      busy    hidden   exposed\n"
    "{each .streams}"
    "  {.stream<12} {.op_count>9} {.busy_s>9} {.hidden_s>9} {.busy_s-.hidden_s>9}\n"
    "{end}{end}"
    "{if .wires}"
    "\n{bold}Busiest wires, one direction{plain}\n"
    "{each .wires}"
    "  {.kind<8} {.use>6} of {.bytes_per_s>8} on average  {dim}{.from<0.39} to {.to<0.39} "
    "({.link_count} alike), {.moved_bytes:decimal}{plain}\n"
    "{end}{end}"
    "{if .paths_drawn}"
    "  {dim}Each flow keeps to one path, by a hash that seed {.seed:digits} draws: other seeds "
    "have\n"
    "  other collisions, and --uncertainty draws them too.{plain}\n"
    "{end}"
    "\n{dim}digest {.digest}, seed {.seed:digits}; {.rank_count} ranks in {.class_count} class"
    "{if not .class_count = 1}es{end}, {.op_count} ops, {.event_count} events{plain}\n"
    "{end}{end}";

static const char weeks_end_lines[] =
    "{if .wall_s}"
    "{if .cut}\nonly the first {.kept_rows} failures, interruptions and checkpoints are kept\n{end}"
    "\n{dim}{.step_variants:digits} condition{if not .step_variants = 1}s{end} of the step "
    "simulated{plain}\n"
    "{end}";

static const char end_lines[] =
    "{if .notes}\n{bold}Notes of the scenario{plain}\n{end}"
    "{each .notes}  at {.at_s<8}  {wrap .text:clean}{end}"
    "{if not .fits}\n'orrery memory' tells what fills the card, and how many cards it takes\n{end}";

const char *const report_run_lines[] = {report_head_lines,     speed_lines,
                                        breakdown_lines,       report_evidence_lines,
                                        report_stage_lines,    report_failure_lines,
                                        traffic_lines,         report_uncertainty_lines,
                                        report_weeks_lines,    report_story_lines,
                                        weeks_end_lines,       end_lines,
                                        report_defaults_lines, NULL};

static const char *part_meaning(enum breakdown_part part)
{
    static const char *const meanings[PART_COUNT] = {
        [PART_COMPUTE] = "forward and backward kernels",
        [PART_RECOMPUTE] = "forward kernels run again to save memory",
        [PART_EXPOSED_TP] = "tensor-parallel communication",
        [PART_EXPOSED_CP] = "context-parallel communication",
        [PART_EXPOSED_EP] = "expert-parallel communication",
        [PART_BUBBLE] = "the pipeline has no work for the stage",
        [PART_EXPOSED_PP] = "the wire between stages",
        [PART_EXPOSED_DP] = "gradients and parameters among replicas",
        [PART_OFFLOAD] = "activations on their way to the host or back",
        [PART_OPTIMIZER] = "updating the weights",
        [PART_HOST] = "the CPU had not launched the next kernel",
        [PART_STRAGGLER] = "a peer's card is slower at the same work",
    };
    return meanings[part];
}

static void set_breakdown(struct fact *o, const struct run_row *run)
{
    const double parts_s[PART_COUNT] = {
        [PART_COMPUTE] = run->compute_s,
        [PART_RECOMPUTE] = run->recompute_s,
        [PART_EXPOSED_TP] = run->exposed_tp_s,
        [PART_EXPOSED_CP] = run->exposed_cp_s,
        [PART_EXPOSED_EP] = run->exposed_ep_s,
        [PART_BUBBLE] = run->bubble_s,
        [PART_EXPOSED_PP] = run->exposed_pp_s,
        [PART_EXPOSED_DP] = run->exposed_dp_s,
        [PART_OFFLOAD] = run->offload_s,
        [PART_OPTIMIZER] = run->optimizer_s,
        [PART_HOST] = run->host_s,
        [PART_STRAGGLER] = run->straggler_s,
    };
    struct fact *breakdown = document_object_if(isfinite(run->step_s), o, "breakdown");
    struct fact *array = document_array(o, ".parts");
    double sum_s = 0.0;
    for (unsigned part = 0; part < PART_COUNT && breakdown != NULL; part++) {
        sum_s += parts_s[part];
        document_real(breakdown, breakdown_names[part], IN_SECONDS, parts_s[part]);
        if (!(parts_s[part] > 0.0))
            continue;
        struct fact *one = document_object(array, NULL);
        document_word(one, ".name", breakdown_names[part]);
        document_real(one, ".seconds", IN_SECONDS, parts_s[part]);
        document_word(one, ".meaning", part_meaning((enum breakdown_part)part));
    }
    document_real(o, ".sum_s", IN_SECONDS, sum_s);
}

static void set_streams(struct fact *o, const struct record *record)
{
    size_t count;
    const struct stream_use_row *rows = record_stream_use(record, &count);
    struct fact *array = document_array(o, ".streams");
    for (size_t i = 0; i < count; i++)
        if (rows[i].op_count != 0 && strcmp(rows[i].stream, stream_names[STREAM_COMPUTE]) != 0 &&
            strcmp(rows[i].stream, stream_names[STREAM_COPY]) != 0)
            document_columns(document_object(array, NULL), ROW_stream_use, &rows[i], "");
}

/* Share of the capacity of a wire of this class that the step used. */
static double link_use(const struct link_row *l, double step_s)
{
    return l->moved_bytes / (l->bytes_per_s * step_s);
}

/* The busiest link class of each kind of wire. */
static void set_wires(struct fact *o, const struct record *record)
{
    size_t count;
    const struct link_row *rows = record_link(record, &count);
    const double step_s = record_run(record)->step_s;
    struct fact *array = document_array(o, ".wires");
    for (int kind = LINK_NVLINK; kind <= LINK_FABRIC; kind++) {
        const char *name = graph_link_kind_name((enum link_kind)kind);
        const struct link_row *best = NULL;
        for (size_t i = 0; i < count; i++)
            if (strcmp(rows[i].kind, name) == 0 &&
                link_use(&rows[i], step_s) > (best != NULL ? link_use(best, step_s) : 0.0))
                best = &rows[i];
        if (best == NULL)
            continue;
        struct fact *one = document_object(array, NULL);
        document_columns(one, ROW_link, best, "");
        document_real(one, ".use", IN_RATIO, link_use(best, step_s));
    }
}

/* With the time that each note is for. */
static void set_notes(struct fact *o, const struct record *record)
{
    struct fact *notes = report_messages(o, ".notes", record, "note");
    for (struct fact *one = notes->value.of.first; one != NULL; one = one->next)
        document_real(one, ".at_s", IN_SECONDS,
                      strtod(document_find(one, ".key", strlen(".key"))->value.word, NULL));
}

static struct fact *facts_of(const struct record *record, const struct scenario *scenario)
{
    enum {
        LONG_SEQUENCE = 16384, /* from here on a causal mask changes MFU by a tenth and more */
        SITE_W = 1000000       /* from here on a site asks how its power moves */
    };
    const struct run_row *run = record_run(record);
    struct fact *o = document_begin(record->arena, "orrery.run/1", scenario);
    size_t failures;
    const struct out_of_memory_row *failure = record_out_of_memory(record, &failures);
    document_metrics(o, run);
    report_failure_facts(o, record);
    set_breakdown(o, run);
    report_stage_facts(o, record);
    document_null(o, "stagger");
    document_array(o, "warnings");
    report_evidence_facts(o, record, false);
    report_head_facts(o, record);
    document_flag(o, ".on_host", failures > 0 && strcmp(failure->place, "host") == 0);
    document_flag(o, ".site", run->wall_peak_w >= SITE_W);
    document_real(o, ".low", IN_WATTS, run->wall_low_w);
    document_real(o, ".peak", IN_WATTS, run->wall_peak_w);
    document_real(o, ".change", IN_WATTS, run->wall_change_w);
    document_flag(o, ".long", run->causal == 1 && run->sequence >= LONG_SEQUENCE);
    const double tokens = (double)run->global_batch * (double)run->sequence;
    document_real(o, ".training_s", IN_SECONDS,
                  (double)configuration_steps_of(run->budget_tokens, tokens) * run->step_s);
    document_count(o, ".kept_rows", JOB_RECORD_MAX);
    set_streams(o, record);
    set_wires(o, record);
    set_notes(o, record);
    report_messages(o, ".defaults", record, "default");
    document_flag(o, ".timed", isfinite(run->step_s));
    report_uncertainty_facts(o, record);
    return o;
}

static void set_percentiles(struct fact *in, const char *key, enum document_unit unit,
                            const double values[3])
{
    struct fact *o = document_object(in, key);
    document_real(o, "p10", unit, values[0]);
    document_real(o, "p50", unit, values[1]);
    document_real(o, "p90", unit, values[2]);
}

static void set_against(struct fact *in, const struct uncertainty *u,
                        const struct uncertainty_row *row)
{
    struct fact *o = document_object_if(u->against != NULL, in, "against");
    if (o == NULL)
        return;
    document_quote(o, "scenario", u->against->scenario->name);
    document_columns(o, ROW_uncertainty, row,
                     "step_time_s=against_step_s fits_ratio=against_fits_ratio faster_probability "
                     "verdict");
    set_percentiles(o, "time_ratio", IN_RATIO, u->comparison.ratio);
    document_real(o, "model_error_shared", IN_RATIO, u->comparison.shared_ratio);
}

static void set_uncertainty(struct fact *in, const struct record *record,
                            const struct result *result, const struct uncertainty *u)
{
    size_t count, influences;
    const struct uncertainty_row *row = record_uncertainty(record, &count);
    const struct influence_row *rows = record_influence(record, &influences);
    const double step_s[3] = {row->step_p10_s, row->step_p50_s, row->step_p90_s};
    double tokens[3], mfu[3];
    for (int i = 0; i < 3; i++) {
        tokens[2 - i] = uncertainty_tokens_per_s(result, step_s[i]);
        mfu[2 - i] = uncertainty_mfu_ratio(result, step_s[i]);
    }
    struct fact *o = document_object(in, "uncertainty");
    document_count(o, "draws", (uint64_t)row->draws);
    document_count(o, "constants", (uint64_t)row->constants);
    set_percentiles(o, "step_time_s", IN_SECONDS, step_s);
    set_percentiles(o, "tokens_per_s", IN_QUANTITY, tokens);
    set_percentiles(o, "mfu", IN_RATIO, mfu);
    set_percentiles(o, "node_w", IN_QUANTITY,
                    (const double[3]){row->node_p10_w, row->node_p50_w, row->node_p90_w});
    set_percentiles(o, "energy_j_per_token", IN_QUANTITY,
                    (const double[3]){row->token_p10_j, row->token_p50_j, row->token_p90_j});
    document_real(o, "fits_ratio", IN_RATIO, row->fits_ratio);
    document_real(o, "log_spread_of_constants", IN_RATIO, u->step.log_spread);
    document_columns(o, ROW_uncertainty, row,
                     "log_spread_of_model=model_log_spread model_error_source measured own_steps "
                     "own_shift_ratio model_variance_ratio log_spread_of_power=power_log_spread "
                     "power_evidence");
    struct fact *array = document_array(o, "influences");
    for (size_t i = 0; i < influences; i++)
        document_columns(document_object(array, NULL), ROW_influence, &rows[i],
                         "name value error=error_ratio origin elasticity variance_ratio");
    set_against(o, u, row);
}

static void set_stagger(struct fact *in, const struct record *record)
{
    size_t count;
    const struct stagger_row *row = record_stagger(record, &count);
    if (count > 0)
        document_columns(document_object(in, "stagger"), ROW_stagger, row,
                         "lost_s draws apart_s shortest_step_time_s spared_ratio");
}

/* The same of a run and of its database. */
static void set_warnings(struct fact *in, const struct record *record)
{
    size_t count;
    const struct message_row *rows = record_message(record, &count);
    struct fact *array = document_array(in, "warnings");
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].severity, "warning") == 0)
            document_quote(array, NULL, rows[i].text);
}

void report_choice_facts(struct fact *in, const struct record *record)
{
    size_t count;
    const struct message_row *rows = record_message(record, &count);
    struct fact *array = document_array(in, "choices");
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].severity, "choice") == 0)
            document_columns(document_object(array, NULL), ROW_message, &rows[i],
                             "key value=text why=doc");
}

/* What the scenario expects of this run; a database does not hold it. */
static void set_expectations(struct fact *in, const struct record *record,
                             const struct scenario *scenario)
{
    struct expectation_answer *answers;
    if (scenario->expect == NULL)
        return;
    const unsigned count = expectation_answers(scenario, record_run(record), in->arena, &answers);
    struct fact *array = document_array(in, "expectations");
    for (unsigned i = 0; i < count; i++) {
        struct fact *o = document_object(array, NULL);
        document_quote(o, "key", answers[i].key);
        document_quote(o, "expected", answers[i].expected);
        document_flag(o, "holds", answers[i].holds);
        document_columns(o, ROW_run, record_run(record),
                         arena_format(in->arena, "is=%s", answers[i].column->name));
    }
}

struct fact *report_run(const struct record *record, const struct run_told *told)
{
    const struct result *result = told->result;
    const bool weeks = isfinite(record_run(record)->wall_s);
    struct fact *o = facts_of(record, result != NULL ? result->scenario : NULL);
    document_flag(o, ".failure_told", !weeks || told->all);
    document_flag(o, ".step_told", !weeks || told->all);
    document_flag(o, ".defaults_told", told->all);
    set_stagger(o, record);
    set_warnings(o, record);
    if (result == NULL)
        report_choice_facts(o, record);
    else
        set_expectations(o, record, result->scenario);
    report_messages(o, ".published", record, "published");
    if (told->uncertainty != NULL)
        set_uncertainty(o, record, result, told->uncertainty);
    report_weeks_facts(document_object_if(weeks, o, ".weeks"), o, record);
    report_story_facts(o, record, told->all);
    return o;
}
