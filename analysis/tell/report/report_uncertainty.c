/* How sure a step is. */
#include <inttypes.h>
#include <math.h>

#include "analysis/output/text/format.h"
#include "analysis/tell/report/report_parts.h"
#include "scenarios/language/source.h"

enum {
    LISTED = 8 /* figures that matter most */
};

/* Tokens and MFU go down as the time of the step goes up. */
static void print_percentiles(const struct session *s, const struct run_row *run,
                              const struct uncertainty_row *u)
{
    const double fast = run->step_s / u->step_p10_s, middle = run->step_s / u->step_p50_s,
                 slow = run->step_s / u->step_p90_s;
    fprintf(s->out, "  %-12s %12s %12s %12s\n", "", "P10", "P50", "P90");
    fprintf(s->out, "  %-12s %12s %12s %12s\n", "step time", format_time(u->step_p10_s).s,
            format_time(u->step_p50_s).s, format_time(u->step_p90_s).s);
    fprintf(
        s->out, "  %-12s %12s %12s %12s\n", "tokens/s", format_quantity(run->tokens_per_s * slow).s,
        format_quantity(run->tokens_per_s * middle).s, format_quantity(run->tokens_per_s * fast).s);
    fprintf(s->out, "  %-12s %12s %12s %12s\n", "MFU", format_percent(run->mfu_ratio * slow).s,
            format_percent(run->mfu_ratio * middle).s, format_percent(run->mfu_ratio * fast).s);
}

static void print_influences(const struct session *s, const struct record *record,
                             const struct uncertainty_row *u)
{
    size_t count;
    const struct influence_row *rows = record_influence(record, &count);
    report_heading(s, "What it hangs on");
    fprintf(s->out, "  %-52s %9s %9s %10s %8s\n", "figure", "value", "error", "elasticity",
            "share");
    for (size_t i = 0; i < count && i < LISTED; i++) {
        fprintf(s->out, "  %-52.52s %9.4g %9s %+10.3f %8s\n", format_shown(rows[i].name).s,
                rows[i].value, format_percent(rows[i].error_ratio).s, rows[i].elasticity,
                format_percent(rows[i].variance_ratio).s);
    }
    fprintf(s->out, "  %-52s %9s %9s %10s %8s\n", "the model's own error", "",
            format_percent(u->model_log_spread).s, "", format_percent(u->model_variance_ratio).s);
    fprintf(s->out, "  own error: %s\n", format_shown(u->measured).s);
    if (u->own_steps > 0)
        fprintf(s->out,
                "  measured by you: %" PRId64
                "; that shifts the step by %+.1f %%, and leaves an own "
                "error of %s (%s before)\n",
                u->own_steps, 100.0 * u->own_shift_ratio, format_percent(u->model_log_spread).s,
                format_percent(u->prior_log_spread).s);
    fprintf(s->out, "  %sfrom: %s%s\n", session_dim(s),
            source_clean(record->arena, u->model_error_source), session_plain(s));
}

static void print_comparison(const struct session *s, const struct uncertainty_row *u)
{
    report_heading(s, "Against");
    fprintf(s->out, "  %s: %s, fits in %s of the draws\n", format_shown(u->against).s,
            format_time(u->against_step_s).s, format_percent(u->against_fits_ratio).s);
    fprintf(s->out, "  the first is faster with probability %.2f: %s\n", u->faster_probability,
            format_shown(u->verdict != NULL ? u->verdict : "").s);
    fprintf(s->out, "  time of the second over the first: %.3f to %.3f (P10 to P90), %.3f\n",
            u->ratio_p10, u->ratio_p90, u->ratio_p50);
    if (u->shared_ratio > 0.0)
        fprintf(s->out,
                "  layouts of one model on one machine: %s of the model's error is shared\n",
                format_percent(u->shared_ratio).s);
    else
        fputs("  not layouts of one model on one machine: errors of the model are not shared\n",
              s->out);
}

void report_uncertainty(const struct session *s, const struct record *record)
{
    size_t count;
    const struct uncertainty_row *u = record_uncertainty(record, &count);
    const struct run_row *run = record_run(record);
    char title[128];
    if (count == 0)
        return;
    snprintf(title, sizeof title, "How sure: %s draws of %u figures%s, and the model's own error",
             format_count((uint64_t)u->draws).s, (unsigned)u->constants,
             run->paths_drawn == 1 ? " and of paths" : "");
    report_heading(s, title);
    print_percentiles(s, run, u);
    fprintf(s->out, "  fits in %s of the draws\n", format_percent(u->fits_ratio).s);
    print_influences(s, record, u);
    if (u->against != NULL)
        print_comparison(s, u);
}
