/* Weeks of training: what was kept, where the wall clock went, what was saved. */
#include <math.h>
#include <string.h>

#include "analysis/record/numbers/job_record.h"
#include "analysis/tell/report/report_parts.h"

/* Less of the wall clock is the rounding of sums. */
static const double meaningless_ratio = 1e-9;

const char report_weeks_lines[] =
    "{each .weeks}"
    "\n{bold}{.wall_s} of training, one replication (seed {.seed:digits}){plain}\n"
    "  wall clock   {bold}{.wall_s}{plain}, of which {.useful_s} useful\n"
    "  kept         {.steps_completed:count} {if .work_steps > 0}of the work's {.work_steps} {end}"
    "steps{if .lessened} of the full batch{end}, {.tokens_completed} tokens"
    "{if .finished}; the work is done{end}\n"
    "  goodput      {bold}{.goodput_ratio}{plain} of the tokens without failures and checkpoints\n"
    "  ETTR         {.ettr_ratio} of the wall clock was productive"
    "{if .ettr_worst_hour_ratio}; in the worst hour {.ettr_worst_hour_ratio}{end}\n"
    "{if .end}  ended        {.end}\n{end}"
    "  failures     {.failures}, which stopped the job {.stops} time{if not .stops = 1}s{end}"
    "{if .replica_interruptions > 0}, and replicas alone {.replica_interruptions} "
    "time{if not .replica_interruptions = 1}s{end}{end}"
    "{if .interruptions > 0}:{if .replica_interruptions > 0}\n              {end}"
    " one every {.wall_s/.interruptions:time}{end}"
    "{if .job_mtbf_s} (by the rates {.job_mtbf_s}){end}\n"
    "{if .starts > 0}"
    "               {if .cut}at least: {end}went back to the start {.starts} time"
    "{if not .starts = 1}s{end}, and lost {.starts_lost_s} of work\n"
    "{end}"
    "{if .planned_lost_s > 0}"
    "               planned restarts lost {.planned_lost_s} of work: their copy could not be read\n"
    "{end}"
    "{each .skipped}               {wrap .text:clean}{end}"
    "  checkpoints  "
    "{if .checkpoint_interval_by = nothing}none: a failure loses all\n{else}"
    "{.checkpoints}{if checkpoint_levels.count > 1} copies on all tiers{end} "
    "by {.checkpoint_policy}, "
    "{if .checkpoint_interval_by = every_step}at every step\n{else}"
    "{if .checkpoint_interval_by = steps}every {.checkpoint_interval_steps} steps\n{else}"
    "every {.checkpoint_interval_s} of work"
    "{if .whole_steps_s} ({.whole_steps_s}, to the end of a step){end}"
    "{if .checkpoint_interval_by = floor}, as often as the drives are warranted for{end}"
    "{if .checkpoint_interval_by = optimum}, the optimum by its closed form{end}"
    "{if .checkpoint_interval_by = played}, the optimum of these weeks "
    "in the mean over\n"
    "               seeds: the best of the intervals that were played; with this one seed another "
    "may keep more{end}\n"
    "{end}{end}"
    "{each checkpoint_levels}"
    "               {tier}: stalls {stall_s}, {if persist_s > 0}durable {persist_s} later, {end}"
    "loads in {load_s}{if every > 1}; every {every:digits}th{end}\n"
    "{if bytes_per_save > 0}"
    "                 {wrapped 17}{bytes_per_save:decimal} a save, {kept_bytes:decimal} kept"
    "{if not .in_memory}; {written_bytes:decimal} written, {mean_bytes_per_s} in the mean"
    "{if peak_bytes_per_s}, {peak_bytes_per_s} in {busy_ratio} of the time{end}{end}{end}"
    "{if warning}                 {bold}warning:{plain} {wrap warning:clean 26}{end}"
    "{end}{end}"
    "{if .job_mtbf_s}{if .checkpoint_stall_s > 0}"
    "{if .exact_interval_s}"
    "               optimum by Young {.young_interval_s}, Daly {.daly_interval_s}, exact "
    "{.exact_interval_s}\n"
    "{else}"
    "               Young says {.young_interval_s}, Daly {.daly_interval_s}; neither is "
    "the optimum here,\n               where rates vary, not all failures go back to the last "
    "save, or saves differ: interval: optimal tries\n{end}"
    "{end}{end}{end}"
    "  recovery     by {.recovery}"
    "{if .has_spares}, {.spares} spare node{if not .spares = 1}s{end}, taken {.spares_taken} time"
    "{if not .spares_taken = 1}s{end}{end}; repair {.repair_s}\n"
    "{if .cost_usd}  cost         {.cost_usd}"
    "{if .cost_usd_per_1e9_tokens}, {.cost_usd_per_1e9_tokens} for 10^9 kept tokens{end}"
    "{if .cost_storage_usd > 0}; {.cost_storage_usd} of it for the storage of checkpoints{end}\n"
    "{if .paid_gpus-.rank_count > 0}"
    "               ({.paid_gpus:count} GPUs of the job paid, {.rank_count} of them work)\n{end}"
    "{end}"
    "{if .energy_j}  energy       {.energy_j} at the wall, {.useful_j/.energy_j} of it in "
    "useful time"
    "{if .energy_spares_j > 0}, {.energy_spares_j/.energy_j} in idle spares{end}\n{end}"
    "\n{bold}Where the wall clock went{plain}\n"
    "{each .badput}"
    "{if .shown}  {.class<11} {.seconds>9} {.seconds/.wall_s>7}  {bar .seconds/.wall_s 16}  {dim}"
    "{wrap .meaning 51}{plain}{end}"
    "{each .links}    {dim}{.link<14} {.seconds>8} {.seconds/.wall_s>7}{plain}\n{end}"
    "{end}"
    "  sum         {.sum_s>9} {.sum_s/.wall_s>7}\n"
    "{end}";

/* Why weeks ended, in a sentence; NULL: as planned. */
static const char *end_in_words(const char *ended)
{
    for (unsigned i = JOB_END_no_nodes; i < JOB_END_COUNT; i++)
        if (strcmp(job_end_names[i], ended) == 0)
            return job_end_docs[i];
    return NULL;
}

/* No copy was left to come back from: what is lost then is all that was done. */
static void set_starts(struct fact *o, const struct record *record)
{
    size_t count, starts = 0;
    double lost_s = 0.0;
    const struct interruption_row *rows = record_interruption(record, &count);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].loaded_step == 0 && rows[i].lost_steps > 0.0) {
            starts++;
            lost_s += rows[i].lost_s;
        }
    }
    document_count(o, ".starts", starts);
    document_real(o, ".starts_lost_s", IN_SECONDS, lost_s);
}

static void set_levels(struct fact *o, const struct record *record)
{
    size_t count;
    const struct checkpoint_level_row *rows = record_checkpoint_level(record, &count);
    struct fact *array = document_array(o, "checkpoint_levels");
    for (size_t i = 0; i < count; i++)
        document_columns(document_object(array, NULL), ROW_checkpoint_level, &rows[i],
                         "tier every stall_s persist_s load_s slowdown=slowdown_ratio saves "
                         "bytes_per_save written_bytes mean_bytes_per_s peak_bytes_per_s "
                         "busy_ratio kept_bytes warning");
}

/* A save waits for the end of a step: said where that makes the interval a hundredth longer. */
static double whole_steps_s(const struct run_row *run)
{
    const double told = 0.01, rounding = 1e-12;
    const double each_s = run->checkpoint_interval_s,
                 steps = fmax(ceil(each_s / run->step_s * (1.0 - rounding)), 1.0);
    return steps * run->step_s > each_s * (1.0 + told) ? steps * run->step_s : (double)NAN;
}

/* `restart_links`; and the links that took time, for the lines below their class. */
static void set_links(struct fact *o, struct fact *class, const struct record *record)
{
    size_t count;
    const struct badput_row *rows = record_badput(record, &count);
    struct fact *links = document_object(o, "restart_links");
    struct fact *array = document_array(class, ".links");
    document_real(links, restart_link_names[LINK_DETECT], IN_SECONDS, record_run(record)->detect_s);
    for (size_t i = 0; i < count; i++) {
        if (*rows[i].link == '\0')
            continue;
        document_real(links, rows[i].link, IN_SECONDS, rows[i].seconds);
        if (rows[i].seconds > 0.0)
            document_columns(document_object(array, NULL), ROW_badput, &rows[i], "");
    }
}

/* Of each class, of all of its links; and of the spares, which spend no time of the job's. */
static void set_energy(struct fact *weeks, struct fact *o, const struct record *record)
{
    size_t count;
    const struct badput_row *rows = record_badput(record, &count);
    struct fact *energy = document_object(o, "energy_by_class");
    for (unsigned i = 0; i < BADPUT_COUNT; i++) {
        double class_j = 0.0;
        for (size_t k = 0; k < count; k++)
            class_j += strcmp(rows[k].class, badput_names[i]) == 0 ? rows[k].joules : 0.0;
        document_real(energy, badput_names[i], IN_JOULES, class_j);
        if (i == BADPUT_useful)
            document_real(weeks, ".useful_j", IN_JOULES, class_j);
    }
    document_real(energy, "spares", IN_JOULES, record_run(record)->energy_spares_j);
}

static void set_badput(struct fact *weeks, struct fact *o, const struct record *record)
{
    const struct run_row *run = record_run(record);
#define X(name, doc) [BADPUT_##name] = run->name##_s,
    const double classes_s[BADPUT_COUNT] = { BADPUT_CLASSES(X) };
#undef X
    double sum_s = 0.0;
    struct fact *badput = document_object(o, "badput"), *array = document_array(weeks, ".badput");
    for (unsigned i = 0; i < BADPUT_COUNT; i++) {
        struct fact *one = document_object(array, NULL);
        sum_s += classes_s[i];
        document_real(badput, badput_names[i], IN_SECONDS, classes_s[i]);
        document_flag(one, ".shown", classes_s[i] > meaningless_ratio * run->wall_s);
        document_word(one, ".class", badput_names[i]);
        document_real(one, ".seconds", IN_SECONDS, classes_s[i]);
        document_word(one, ".meaning", badput_docs[i]);
        document_array(one, ".links");
        if (i == BADPUT_restart)
            set_links(o, one, record);
    }
    document_real(weeks, ".sum_s", IN_SECONDS, sum_s);
}

void report_weeks_facts(struct fact *weeks, struct fact *o, const struct record *record)
{
    size_t causes;
    const struct run_row *run = record_run(record);
    const struct failure_cause_row *cause = record_failure_cause(record, &causes);
    if (weeks == NULL)
        return;
    struct fact *stops = document_names(o, "interruptions_by_cause");
    for (size_t i = 0; i < causes; i++)
        document_count(stops, cause[i].name, (uint64_t)cause[i].interruptions);
    set_badput(weeks, o, record);
    set_energy(weeks, o, record);
    set_levels(o, record);
    set_starts(weeks, record);
    report_messages(weeks, ".skipped", record, "skipped");
    document_flag(weeks, ".lessened", run->degraded_s > meaningless_ratio * run->wall_s);
    document_count(weeks, ".stops", (uint64_t)(run->interruptions - run->replica_interruptions));
    document_word(weeks, ".end", end_in_words(run->ended));
    document_real(weeks, ".whole_steps_s", IN_SECONDS, whole_steps_s(run));
}
