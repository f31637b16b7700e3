#include "analysis/report/report_job.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/report/report_story.h"
#include "analysis/result/storage_use.h"
#include "analysis/text/format.h"
#include "analysis/text/wrap.h"
#include "sim/units.h"

enum {
    BAR_WIDTH = 16
};
/* Less of the wall clock is the rounding of sums. */
static const double meaningless_ratio = 1e-9;

static void heading(const struct session *s, const char *text)
{
    fprintf(s->out, "\n%s%s%s\n", session_bold(s), text, session_plain(s));
}

static void print_kept(const struct session *s, const struct job_record *r)
{
    const struct job_result *result = &r->result;
    fprintf(s->out, "  wall clock   %s%s%s, of which %s useful\n", session_bold(s),
            format_time(result->wall_s).s, session_plain(s),
            format_time(result->badput_s[BADPUT_useful]).s);
    fprintf(s->out, "  kept         %s ", format_count((uint64_t)result->steps_completed).s);
    if (r->spec.steps > 0) {
        fprintf(s->out, "of the work's %s ", format_count(r->spec.steps).s);
    }
    fprintf(s->out, "steps, %s tokens%s", format_quantity(result->tokens_completed).s,
            result->finished ? "; the work is done" : "");
    fprintf(s->out, "\n  goodput      %s%s%s of the tokens without failures and checkpoints\n",
            session_bold(s), format_percent(result->goodput).s, session_plain(s));
    fprintf(s->out, "  ETTR         %s of the wall clock was productive",
            format_percent(result->ettr).s);
    if (isfinite(result->ettr_worst_hour)) {
        fprintf(s->out, "; in the worst hour %s", format_percent(result->ettr_worst_hour).s);
    }
    fputc('\n', s->out);
    if (result->end == JOB_END_no_nodes || job_end_is_limit(result->end)) {
        fprintf(s->out, "  ended        %s\n", job_end_docs[result->end]);
    }
}

static void print_price(const struct session *s, const struct job_record *r)
{
    const struct job_result *result = &r->result;
    if (isfinite(result->cost_usd)) {
        double each = result->cost_usd / result->tokens_completed * GIGA;
        fprintf(s->out, "  cost         %s", format_money(result->cost_usd).s);
        if (isfinite(each)) {
            fprintf(s->out, ", %s for 10^9 kept tokens", format_money(each).s);
        }
        if (r->spec.storage_hour_usd > 0.0) {
            fprintf(s->out, "; %s of it for the storage of checkpoints",
                    format_money(r->spec.storage_hour_usd * result->wall_s / HOUR).s);
        }
        fputc('\n', s->out);
    }
    if (isfinite(result->energy_j)) {
        fprintf(s->out, "  energy       %s, of the cards at their power cap\n",
                format_energy(result->energy_j).s);
    }
}

static void print_rate(const struct session *s, const struct job_record *r)
{
    const struct job_result *result = &r->result;
    fprintf(s->out, "  failures     %s, which stopped the job %s times",
            format_count(result->failures).s, format_count(result->interruptions).s);
    if (result->interruptions > 0) {
        fprintf(s->out, ": one each %s",
                format_time(result->wall_s / (double)result->interruptions).s);
    }
    if (isfinite(r->spec.checkpoint.job_mtbf_s)) {
        fprintf(s->out, " (by the rates %s)", format_time(r->spec.checkpoint.job_mtbf_s).s);
    }
    fputc('\n', s->out);
}

enum {
    LEVEL_INDENT = 15
};

static void print_skipped(const struct session *s, const struct job_record *r)
{
    const struct fleet_skipped *skipped = &r->result.skipped;
    char text[512];
    if (skipped->count == 0) {
        return;
    }
    const struct failure_cause *cause = &r->spec.causes[skipped->cause];
    snprintf(text, sizeof text,
             "%s row%s of the trace struck nothing, the unit being out of the job (under repair, "
             "retired or standing by): the first at %s of exposed time, %s %" PRIu32 ", %s",
             format_count(skipped->count).s, skipped->count == 1 ? "" : "s",
             format_time(skipped->first->at_s).s, failure_unit_names[cause->unit],
             skipped->first->unit, format_shown(cause->name).s);
    fprintf(s->out, "%*s", LEVEL_INDENT, "");
    wrap_print(s->out, s->width, text, LEVEL_INDENT);
}

static void print_storage(const struct session *s, const struct job_record *r, unsigned level)
{
    const struct checkpoint_level *l = &r->spec.checkpoint.plan.levels[level];
    struct storage_use storage;
    char text[512], warning[384];
    storage_use_of(r, level, &storage);
    int used = snprintf(text, sizeof text, "%s a save, %s kept", format_bytes_decimal(l->bytes).s,
                        format_bytes_decimal(storage.kept_bytes).s);
    if (!l->memory) {
        used += snprintf(text + used, sizeof text - (size_t)used, "; %s written, %s in the mean",
                         format_bytes_decimal(storage.written_bytes).s,
                         format_rate(storage.mean_bytes_per_s).s);
    }
    if (!l->memory && isfinite(storage.peak_bytes_per_s)) {
        snprintf(text + used, sizeof text - (size_t)used, ", %s in %s of the time",
                 format_rate(storage.peak_bytes_per_s).s, format_percent(storage.busy_ratio).s);
    }
    fprintf(s->out, "%*s", LEVEL_INDENT + 2, "");
    wrap_print(s->out, s->width, text, LEVEL_INDENT + 2);
    if (storage_use_warning(r, level, warning, sizeof warning)) {
        fprintf(s->out, "%*s%swarning:%s ", LEVEL_INDENT + 2, "", session_bold(s),
                session_plain(s));
        wrap_print(s->out, s->width, warning, LEVEL_INDENT + 11);
    }
}

static void print_levels(const struct session *s, const struct job_record *r)
{
    const struct checkpoint_plan *plan = &r->spec.checkpoint.plan;
    for (unsigned i = 0; i < plan->level_count; i++) {
        const struct checkpoint_level *l = &plan->levels[i];
        fprintf(s->out, "               %s: stalls %s, ", format_shown(l->tier).s,
                format_time(l->stall_s).s);
        if (l->persist_s > 0.0) {
            fprintf(s->out, "durable %s later, ", format_time(l->persist_s).s);
        }
        fprintf(s->out, "loads in %s", format_time(l->load_s).s);
        if (l->every > 1) {
            fprintf(s->out, "; each %" PRIu64 "th", l->every);
        }
        fputc('\n', s->out);
        if (l->bytes > 0.0) {
            print_storage(s, r, i);
        }
    }
}

/* What a failure meets, as it was given or chosen. */
static void print_recovery(const struct session *s, const struct job_record *r)
{
    const struct recovery_spec *recovery = &r->spec.recovery;
    fprintf(s->out, "  recovery     by %s", recovery->kind->head.name);
    if (recovery->kind->has_spares) {
        fprintf(s->out, ", %s spare node%s, taken %s time%s", format_count(recovery->spares).s,
                recovery->spares == 1 ? "" : "s", format_count(r->result.spares_taken).s,
                r->result.spares_taken == 1 ? "" : "s");
    }
    fprintf(s->out, "; repair %s\n", format_time(recovery->repair.mean_s).s);
}

/* The closed forms are for one blocking level and memoryless failures (docs/models/checkpoints.md).
 */
static void print_marks(const struct session *s, const struct job_record *r)
{
    double stall_s = r->mean_stall_s, mtbf_s = r->spec.checkpoint.job_mtbf_s;
    if (isfinite(mtbf_s) && stall_s > 0.0) {
        fprintf(s->out, "               optimum by Young %s, Daly %s, exact %s\n",
                format_time(checkpoint_young_s(stall_s, mtbf_s)).s,
                format_time(checkpoint_daly_s(stall_s, mtbf_s)).s,
                format_time(checkpoint_optimum_s(stall_s, mtbf_s)).s);
    }
}

static void print_checkpoints(const struct session *s, const struct scenario *scenario,
                              const struct job_record *r)
{
    const struct checkpoint_spec *c = &r->spec.checkpoint;
    const struct checkpoint_spec *asked = &scenario->job.checkpoint;
    fprintf(s->out, "  checkpoints  ");
    if (c->plan.level_count == 0) {
        fputs("none: a failure loses all\n", s->out);
        return;
    }
    fprintf(s->out, "%s by %s, ", format_count(r->result.checkpoints).s, c->kind->head.name);
    if (c->plan.every_step) {
        fputs("at every step\n", s->out);
    } else if (c->interval_steps > 0) {
        fprintf(s->out, "each %s steps\n", format_count(c->interval_steps).s);
    } else {
        bool optimal = asked->interval_s == 0.0, floor = optimal && c->interval_s <= c->floor_s;
        fprintf(s->out, "each %s of work%s\n", format_time(c->interval_s).s,
                floor     ? ", as often as the drives are warranted for"
                : optimal ? ", the optimum"
                          : "");
    }
    print_levels(s, r);
    print_marks(s, r);
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
static void print_links(const struct session *s, const struct job_result *result)
{
    for (unsigned link = 0; link <= RESTART_LINK_COUNT; link++) {
        bool load = link == RESTART_LINK_COUNT;
        double seconds = load ? result->load_s : result->restart_link_s[link];
        if (seconds > 0.0 && link != LINK_DETECT) {
            fprintf(s->out, "    %s%-14s %8s %7s%s\n", session_dim(s),
                    load ? "load" : restart_link_names[link], format_time(seconds).s,
                    format_percent(seconds / result->wall_s).s, session_plain(s));
        }
    }
}

static void print_badput(const struct session *s, const struct job_result *result)
{
    double sum = 0.0;
    heading(s, "Where the wall clock went");
    for (unsigned i = 0; i < BADPUT_COUNT; i++) {
        sum += result->badput_s[i];
        if (result->badput_s[i] > meaningless_ratio * result->wall_s) {
            print_class(s, badput_names[i], result->badput_s[i], result->wall_s, badput_docs[i]);
        }
        if (i == BADPUT_restart) {
            print_links(s, result);
        }
    }
    fprintf(s->out, "  %-11s %9s %7s\n", "sum", format_time(sum).s,
            format_percent(sum / result->wall_s).s);
}

void report_job(const struct session *s, const struct scenario *scenario,
                const struct job_record *r, bool all)
{
    char title[120];
    snprintf(title, sizeof title, "%s of training, one replication (seed %" PRIu64 ")",
             format_time(r->result.wall_s).s, scenario->configuration.seed);
    heading(s, title);
    print_kept(s, r);
    print_rate(s, r);
    print_skipped(s, r);
    print_checkpoints(s, scenario, r);
    print_recovery(s, r);
    print_price(s, r);
    print_badput(s, &r->result);
    report_story(s, r, all);
    if (r->cut) {
        fprintf(s->out, "\nonly the first %s failures, interruptions and checkpoints are kept\n",
                format_count(JOB_RECORD_MAX).s);
    }
    fprintf(s->out, "\n%s%u condition%s of the step simulated%s\n", session_dim(s),
            r->step_variants, r->step_variants == 1 ? "" : "s", session_plain(s));
}
