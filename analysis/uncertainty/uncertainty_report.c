#include "analysis/uncertainty/uncertainty_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/text/format.h"

enum {
    LISTED = 8 /* figures that matter most */
};

double uncertainty_tokens_per_s(const struct result *result, double step_s)
{
    return result->step->tokens_per_s * result->step->step_s / step_s;
}

double uncertainty_mfu_ratio(const struct result *result, double step_s)
{
    return result->step->mfu_ratio * result->step->step_s / step_s;
}

const char *uncertainty_verdict(const struct uncertain_comparison *comparison)
{
    double p = comparison->faster_probability;
    bool tie = p > UNCERTAINTY_TIE_LOW && p < UNCERTAINTY_TIE_HIGH;
    return tie                         ? "a tie"
           : p >= UNCERTAINTY_TIE_HIGH ? "the first is faster"
                                       : "the second is faster";
}

static void heading(const struct session *s, const char *text)
{
    fprintf(s->out, "\n%s%s%s\n", session_bold(s), text, session_plain(s));
}

/* The probability is that of being at most so large. */
static void print_percentiles(const struct session *s, const struct result *r,
                              const struct uncertain_step *u)
{
    double fast = uncertainty_step_s(u, 0.1), middle = uncertainty_step_s(u, 0.5),
           slow = uncertainty_step_s(u, 0.9);
    fprintf(s->out, "  %-12s %12s %12s %12s\n", "", "P10", "P50", "P90");
    fprintf(s->out, "  %-12s %12s %12s %12s\n", "step time", format_time(fast).s,
            format_time(middle).s, format_time(slow).s);
    fprintf(s->out, "  %-12s %12s %12s %12s\n", "tokens/s",
            format_quantity(uncertainty_tokens_per_s(r, slow)).s,
            format_quantity(uncertainty_tokens_per_s(r, middle)).s,
            format_quantity(uncertainty_tokens_per_s(r, fast)).s);
    fprintf(s->out, "  %-12s %12s %12s %12s\n", "MFU",
            format_percent(uncertainty_mfu_ratio(r, slow)).s,
            format_percent(uncertainty_mfu_ratio(r, middle)).s,
            format_percent(uncertainty_mfu_ratio(r, fast)).s);
}

static void print_influences(const struct session *s, const struct uncertainty *u)
{
    const struct configuration *c = &u->step.scenario->configuration;
    double model = uncertainty_model_ratio(u->influences, u->influence_count);
    heading(s, "What it hangs on");
    fprintf(s->out, "  %-52s %9s %9s %10s %8s\n", "figure", "value", "error", "elasticity",
            "share");
    for (uint32_t i = 0; i < u->influence_count && i < LISTED; i++) {
        const struct influence *f = &u->influences[i];
        fprintf(s->out, "  %-52.52s %9.4g %9s %+10.3f %8s\n", f->constant->name,
                constant_value(c, f->constant), format_percent(f->constant->error_ratio).s,
                f->elasticity, format_percent(f->variance_ratio).s);
    }
    fprintf(s->out, "  %-52s %9s %9s %10s %8s\n", "the model's own error", "",
            format_percent(uncertainty_model_error.log_spread).s, "", format_percent(model).s);
    fprintf(s->out, "  %sown error from: %s%s\n", session_dim(s), uncertainty_model_error_source,
            session_plain(s));
}

static void print_comparison(const struct session *s, const struct uncertainty *u)
{
    const struct uncertain_comparison *c = &u->comparison;
    heading(s, "Against");
    fprintf(s->out, "  %s: %s, fits in %s of the draws\n",
            format_shown(u->against->scenario->path).s, format_time(u->against->step_s).s,
            format_percent(uncertainty_fits_ratio(u->against)).s);
    fprintf(s->out, "  the first is faster with probability %.2f: %s\n", c->faster_probability,
            uncertainty_verdict(c));
    fprintf(s->out, "  time of the second over the first: %.3f to %.3f (P10 to P90), %.3f\n",
            c->ratio[0], c->ratio[2], c->ratio[1]);
    if (c->shared_ratio > 0.0)
        fprintf(s->out,
                "  layouts of one model on one machine: %s of the model's error is shared\n",
                format_percent(c->shared_ratio).s);
    else
        fputs("  not layouts of one model on one machine: errors of the model are not shared\n",
              s->out);
}

void uncertainty_report(const struct session *s, const struct result *result,
                        const struct uncertainty *u)
{
    char title[128];
    snprintf(title, sizeof title, "How sure: %s draws of %u figures%s, and the model's own error",
             format_count(u->step.draw_count).s, u->step.scenario->constant_count,
             topology_draws_paths(&u->step.scenario->configuration.cluster) ? " and of paths" : "");
    heading(s, title);
    print_percentiles(s, result, &u->step);
    fprintf(s->out, "  fits in %s of the draws\n",
            format_percent(uncertainty_fits_ratio(&u->step)).s);
    print_influences(s, u);
    if (u->against != NULL)
        print_comparison(s, u);
}
