/* Weeks of training: what was kept, where the wall clock went, what was saved. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/output/text/wrap.h"
#include "analysis/record/numbers/job_record.h"
#include "analysis/tell/report/report_parts.h"
#include "scenarios/language/source.h"
#include "sim/units.h"

enum {
    BAR_WIDTH = 16,
    LEVEL_INDENT = 15
};
/* Less of the wall clock is the rounding of sums. */
static const double meaningless_ratio = 1e-9;

/* Why weeks ended, in a sentence; NULL: as planned. */
static const char *end_in_words(const char *ended)
{
    for (unsigned i = JOB_END_no_nodes; i < JOB_END_COUNT; i++)
        if (strcmp(job_end_names[i], ended) == 0)
            return job_end_docs[i];
    return NULL;
}

static void print_kept(const struct session *s, const struct run_row *run)
{
    fprintf(s->out, "  wall clock   %s%s%s, of which %s useful\n", session_bold(s),
            format_time(run->wall_s).s, session_plain(s), format_time(run->useful_s).s);
    fprintf(s->out, "  kept         %s ", format_count(report_count(run->steps_completed)).s);
    if (run->work_steps > 0)
        fprintf(s->out, "of the work's %s ", format_count((uint64_t)run->work_steps).s);
    fprintf(s->out, "steps%s, %s tokens%s",
            run->degraded_s > meaningless_ratio * run->wall_s ? " of the full batch" : "",
            format_quantity(run->tokens_completed).s,
            run->finished == 1 ? "; the work is done" : "");
    fprintf(s->out, "\n  goodput      %s%s%s of the tokens without failures and checkpoints\n",
            session_bold(s), format_percent(run->goodput_ratio).s, session_plain(s));
    fprintf(s->out, "  ETTR         %s of the wall clock was productive",
            format_percent(run->ettr_ratio).s);
    if (isfinite(run->ettr_worst_hour_ratio))
        fprintf(s->out, "; in the worst hour %s", format_percent(run->ettr_worst_hour_ratio).s);
    fputc('\n', s->out);
    if (end_in_words(run->ended) != NULL)
        fprintf(s->out, "  ended        %s\n", end_in_words(run->ended));
}

static void print_price(const struct session *s, const struct run_row *run)
{
    if (isfinite(run->cost_usd)) {
        fprintf(s->out, "  cost         %s", format_money(run->cost_usd).s);
        if (isfinite(run->cost_usd_per_1e9_tokens)) {
            fprintf(s->out, ", %s for 10^9 kept tokens",
                    format_money(run->cost_usd_per_1e9_tokens).s);
        }
        if (run->cost_storage_usd > 0.0) {
            fprintf(s->out, "; %s of it for the storage of checkpoints",
                    format_money(run->cost_storage_usd).s);
        }
        fputc('\n', s->out);
    }
    if (isfinite(run->energy_j)) {
        fprintf(s->out, "  energy       %s, of the cards at their power cap\n",
                format_energy(run->energy_j).s);
    }
}

static void print_rate(const struct session *s, const struct run_row *run)
{
    fprintf(s->out, "  failures     %s, which stopped the job %s times",
            format_count((uint64_t)run->failures).s, format_count((uint64_t)run->interruptions).s);
    if (run->interruptions > 0)
        fprintf(s->out, ": one each %s", format_time(run->wall_s / (double)run->interruptions).s);
    if (isfinite(run->job_mtbf_s))
        fprintf(s->out, " (by the rates %s)", format_time(run->job_mtbf_s).s);
    fputc('\n', s->out);
}

/* No copy was left to come back from: what is lost then is all that was done. */
static void print_starts(const struct session *s, const struct record *record)
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
    if (starts > 0)
        fprintf(s->out, "               %swent back to the start %s time%s, and lost %s of work\n",
                record_run(record)->cut == 1 ? "at least: " : "", format_count(starts).s,
                starts == 1 ? "" : "s", format_time(lost_s).s);
}

static void print_skipped(const struct session *s, const struct record *record)
{
    size_t count;
    const struct message_row *rows = record_message(record, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].severity, "skipped") == 0) {
            fprintf(s->out, "%*s", LEVEL_INDENT, "");
            wrap_print(s->out, s->width, source_clean(record->arena, rows[i].text), LEVEL_INDENT);
        }
    }
}

static void print_storage(const struct session *s, const struct record *record,
                          const struct checkpoint_level_row *l)
{
    char text[512];
    int used =
        snprintf(text, sizeof text, "%s a save, %s kept", format_bytes_decimal(l->bytes_per_save).s,
                 format_bytes_decimal(l->kept_bytes).s);
    if (l->in_memory != 1) {
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "; %s written, %s in the mean",
                     format_bytes_decimal(l->written_bytes).s, format_rate(l->mean_bytes_per_s).s);
    }
    if (l->in_memory != 1 && isfinite(l->peak_bytes_per_s)) {
        snprintf(text + used, sizeof text - (size_t)used, ", %s in %s of the time",
                 format_rate(l->peak_bytes_per_s).s, format_percent(l->busy_ratio).s);
    }
    fprintf(s->out, "%*s", LEVEL_INDENT + 2, "");
    wrap_print(s->out, s->width, text, LEVEL_INDENT + 2);
    if (l->warning != NULL) {
        fprintf(s->out, "%*s%swarning:%s ", LEVEL_INDENT + 2, "", session_bold(s),
                session_plain(s));
        wrap_print(s->out, s->width, source_clean(record->arena, l->warning), LEVEL_INDENT + 11);
    }
}

static void print_levels(const struct session *s, const struct record *record)
{
    size_t count;
    const struct checkpoint_level_row *rows = record_checkpoint_level(record, &count);
    for (size_t i = 0; i < count; i++) {
        const struct checkpoint_level_row *l = &rows[i];
        fprintf(s->out, "               %s: stalls %s, ", format_shown(l->tier).s,
                format_time(l->stall_s).s);
        if (l->persist_s > 0.0)
            fprintf(s->out, "durable %s later, ", format_time(l->persist_s).s);
        fprintf(s->out, "loads in %s", format_time(l->load_s).s);
        if (l->every > 1)
            fprintf(s->out, "; each %" PRId64 "th", l->every);
        fputc('\n', s->out);
        if (l->bytes_per_save > 0.0)
            print_storage(s, record, l);
    }
}

/* What a failure meets, as it was given or chosen. */
static void print_recovery(const struct session *s, const struct run_row *run)
{
    fprintf(s->out, "  recovery     by %s", format_shown(run->recovery).s);
    if (run->has_spares == 1) {
        fprintf(s->out, ", %s spare node%s, taken %s time%s", format_count((uint64_t)run->spares).s,
                run->spares == 1 ? "" : "s", format_count((uint64_t)run->spares_taken).s,
                run->spares_taken == 1 ? "" : "s");
    }
    fprintf(s->out, "; repair %s\n", format_time(run->repair_s).s);
}

/* The closed forms are for one blocking level and memoryless failures (docs/models/checkpoints.md).
 */
static void print_marks(const struct session *s, const struct run_row *run)
{
    if (isfinite(run->job_mtbf_s) && run->checkpoint_stall_s > 0.0) {
        fprintf(s->out, "               optimum by Young %s, Daly %s, exact %s\n",
                format_time(run->young_interval_s).s, format_time(run->daly_interval_s).s,
                format_time(run->exact_interval_s).s);
    }
}

/* A save waits for the end of a step: said where that makes the interval a hundredth longer. */
static void print_whole_steps(const struct session *s, const struct run_row *run)
{
    const double told = 0.01, rounding = 1e-12;
    const double each_s = run->checkpoint_interval_s,
                 steps = fmax(ceil(each_s / run->step_s * (1.0 - rounding)), 1.0);
    if (steps * run->step_s > each_s * (1.0 + told))
        fprintf(s->out, " (%s, to the end of a step)", format_time(steps * run->step_s).s);
}

static void print_checkpoints(const struct session *s, const struct record *record)
{
    const struct run_row *run = record_run(record);
    const char *by = run->checkpoint_interval_by;
    size_t tiers;
    record_checkpoint_level(record, &tiers);
    fprintf(s->out, "  checkpoints  ");
    if (strcmp(by, "nothing") == 0) {
        fputs("none: a failure loses all\n", s->out);
        return;
    }
    fprintf(s->out, "%s%s by %s, ", format_count((uint64_t)run->checkpoints).s,
            tiers > 1 ? " copies on all tiers" : "", format_shown(run->checkpoint_policy).s);
    if (strcmp(by, "every_step") == 0) {
        fputs("at every step\n", s->out);
    } else if (strcmp(by, "steps") == 0) {
        fprintf(s->out, "each %s steps\n",
                format_count((uint64_t)run->checkpoint_interval_steps).s);
    } else {
        fprintf(s->out, "each %s of work", format_time(run->checkpoint_interval_s).s);
        print_whole_steps(s, run);
        fprintf(s->out, "%s\n",
                strcmp(by, "floor") == 0     ? ", as often as the drives are warranted for"
                : strcmp(by, "optimum") == 0 ? ", the optimum by its closed form"
                : strcmp(by, "played") == 0
                    ? ", the optimum of these weeks: the best of the intervals that were played"
                    : "");
    }
    print_levels(s, record);
    print_marks(s, run);
}

static void print_class(const struct session *s, const char *name, double seconds, double wall_s,
                        const char *meaning)
{
    double ratio = seconds / wall_s;
    const int before_bar = 33;
    fprintf(s->out, "  %-11s %9s %7s  %s  %s", name, format_time(seconds).s,
            format_percent(ratio).s, format_bar(ratio, BAR_WIDTH, s->utf8).s, session_dim(s));
    wrap_print(s->out, s->width, meaning, before_bar + BAR_WIDTH + 2);
    fputs(session_plain(s), s->out);
}

/* The links of the chain behind `detect` and `restart`, indented under the latter. */
static void print_links(const struct session *s, const struct record *record)
{
    size_t count;
    const struct badput_row *rows = record_badput(record, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].link, "") != 0 && rows[i].seconds > 0.0) {
            fprintf(s->out, "    %s%-14s %8s %7s%s\n", session_dim(s), format_shown(rows[i].link).s,
                    format_time(rows[i].seconds).s,
                    format_percent(rows[i].seconds / record_run(record)->wall_s).s,
                    session_plain(s));
        }
    }
}

static void print_badput(const struct session *s, const struct record *record)
{
    const struct run_row *run = record_run(record);
#define X(name, doc) [BADPUT_##name] = run->name##_s,
    const double classes_s[BADPUT_COUNT] = { BADPUT_CLASSES(X) };
#undef X
    double sum = 0.0;
    report_heading(s, "Where the wall clock went");
    for (unsigned i = 0; i < BADPUT_COUNT; i++) {
        sum += classes_s[i];
        if (classes_s[i] > meaningless_ratio * run->wall_s)
            print_class(s, badput_names[i], classes_s[i], run->wall_s, badput_docs[i]);
        if (i == BADPUT_restart)
            print_links(s, record);
    }
    fprintf(s->out, "  %-11s %9s %7s\n", "sum", format_time(sum).s,
            format_percent(sum / run->wall_s).s);
}

void report_weeks(const struct session *s, const struct record *record, bool all)
{
    const struct run_row *run = record_run(record);
    char title[120];
    snprintf(title, sizeof title, "%s of training, one replication (seed %" PRIu64 ")",
             format_time(run->wall_s).s, (uint64_t)run->seed);
    report_heading(s, title);
    print_kept(s, run);
    print_rate(s, run);
    print_starts(s, record);
    print_skipped(s, record);
    print_checkpoints(s, record);
    print_recovery(s, run);
    print_price(s, run);
    print_badput(s, record);
    report_story(s, record, all);
    if (run->cut == 1) {
        fprintf(s->out, "\nonly the first %s failures, interruptions and checkpoints are kept\n",
                format_count(JOB_RECORD_MAX).s);
    }
    fprintf(s->out, "\n%s%" PRId64 " condition%s of the step simulated%s\n", session_dim(s),
            run->step_variants, run->step_variants == 1 ? "" : "s", session_plain(s));
}
