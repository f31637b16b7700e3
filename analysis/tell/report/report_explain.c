#include "analysis/tell/report/report_explain.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/output/text/format.h"
#include "analysis/output/text/wrap.h"
#include "analysis/tell/report/report_parts.h"
#include "scenarios/language/source.h"

enum {
    BAR_WIDTH = 12,
    FIGURES_SHOWN = 3,
    PARTS_SHOWN = 14,
    DOC_COLUMN = 62
};

/* Share of a step that is rounding. */
#define NOTHING 1e-9

/* Of what is left of the peak: the bar falls from full to what is useful. */
static void print_waterfall(const struct session *s, const struct waterfall *w)
{
    double most = 0.0;
    for (unsigned i = 0; i < WATERFALL_COUNT; i++)
        most = fmax(most, w->terms[i].tokens_per_day);
    report_heading(s, "From the peak to the tokens of a day");
    fprintf(s->out, "  %-14s %9s %7s %11s\n", "", w->weeks ? "kept step" : "step", "share",
            "tokens/day");
    for (unsigned i = 0; i < WATERFALL_COUNT; i++) {
        const struct waterfall_term *t = &w->terms[i];
        if (!t->known || fabs(t->seconds) <= NOTHING * w->kept_step_s)
            continue;
        fprintf(s->out, "  %-14s %9s %7s %11s  %s  %s", t->key, format_time(t->seconds).s,
                format_percent(t->seconds / w->kept_step_s).s, format_quantity(t->tokens_per_day).s,
                format_bar(t->tokens_per_day / most, BAR_WIDTH, s->utf8).s, session_dim(s));
        wrap_print(s->out, s->width, t->what, DOC_COLUMN);
        fputs(session_plain(s), s->out);
    }
    fprintf(s->out, "  %-14s %9s %7s %11s\n", "sum", format_time(w->kept_step_s).s,
            format_percent(1.0).s, format_quantity(w->tokens_per_day).s);
}

static void print_figure(const struct session *s, const struct kept_constant *figure,
                         const char *before)
{
    fprintf(s->out, "%s%s %s (%s", before, format_shown(figure->name).s,
            format_shown(figure->text).s, format_shown(figure->origin).s);
    if (figure->error_ratio > 0.0)
        fprintf(s->out, ", +- %s", format_percent(figure->error_ratio).s);
    fputc(')', s->out);
}

/* One figure a line, the least sure first. */
static void print_stands_on(const struct session *s, const struct explanation *e)
{
    const struct waterfall *w = &e->waterfall;
    report_heading(s, "What the terms stand on, the least sure first (table constant has sources)");
    for (unsigned i = 0; i < WATERFALL_COUNT; i++) {
        const struct kept_constant *found[FIGURES_SHOWN];
        const struct waterfall_term *t = &w->terms[i];
        if (!t->known || fabs(t->seconds) <= NOTHING * w->kept_step_s)
            continue;
        const unsigned count = stands_on_find(&e->constants, t->stands_on, found, FIGURES_SHOWN);
        for (unsigned k = 0; k < count && k < FIGURES_SHOWN; k++) {
            fprintf(s->out, "  %-14s ", k == 0 ? t->key : "");
            print_figure(s, found[k], "");
            if (k + 1 == FIGURES_SHOWN && count > FIGURES_SHOWN)
                fprintf(s->out, " and %u more", count - FIGURES_SHOWN);
            fputc('\n', s->out);
        }
    }
}

static void print_idle(const struct session *s, const struct waterfall *w)
{
    struct idle_cause causes[WATERFALL_COUNT];
    const unsigned count = waterfall_idle(w, causes);
    double idle_s = 0.0;
    for (unsigned i = 0; i < count; i++)
        idle_s += causes[i].seconds;
    report_heading(s, "Why the GPU computes nothing, in a step of the mean rank");
    for (unsigned i = 0; i < count; i++) {
        fprintf(s->out, "  %-14s %9s %7s of it  %s\n", causes[i].key,
                format_time(causes[i].seconds).s, format_percent(causes[i].seconds / idle_s).s,
                causes[i].what);
    }
    fprintf(s->out, "  %-14s %9s %7s of the step\n", "idle", format_time(idle_s).s,
            format_percent(idle_s / w->step_s).s);
    if (w->paced_s > 0.0)
        fprintf(s->out,
                "  %-14s %9s %7s of the step  not idle: ops that last longer, at the pace of a "
                "peer's slower card\n",
                "paced", format_time(w->paced_s).s, format_percent(w->paced_s / w->step_s).s);
}

static void print_path(const struct session *s, const struct critical_path *path)
{
    double rest_s = 0.0;
    report_heading(s, "The critical path, by stream, wire and op");
    if (!path->known) {
        fputs("  the database has no ops: run again with --detail op (or kernel, or flow)\n",
              s->out);
        return;
    }
    for (unsigned i = 0; i < path->count; i++) {
        const struct path_part *part = &path->parts[i];
        if (i >= PARTS_SHOWN) {
            rest_s += part->seconds;
            continue;
        }
        fprintf(s->out, "  %-10s %-8s %-24s %-10s %9s %7s  %s ops\n", format_shown(part->stream).s,
                part->wire, format_shown(part->name).s, format_shown(part->phase).s,
                format_time(part->seconds).s, format_percent(part->seconds / path->step_s).s,
                format_count(part->count).s);
    }
    if (rest_s > 0.0)
        fprintf(s->out, "  %-55s %9s %7s  %u more\n", "others", format_time(rest_s).s,
                format_percent(rest_s / path->step_s).s, path->count - PARTS_SHOWN);
    fprintf(s->out, "  %-55s %9s %7s\n", "gaps: host, and latency of messages",
            format_time(path->host_s).s, format_percent(path->host_s / path->step_s).s);
    fprintf(s->out, "  %-55s %9s          %s ops; %s times over to a rank that came last\n", "sum",
            format_time(path->step_s).s, format_count(path->stretches).s,
            format_count(path->crossings).s);
}

/* What a tenth more of a rate (or less of a latency) takes off the price of a token. */
static void print_row(const struct session *s, const struct explanation *e,
                      const struct elasticity *row)
{
    const struct kept_constant *figure;
    const bool cost = row->input != HARDWARE_latency && row->input != HARDWARE_kernel_start &&
                      row->input != HARDWARE_host;
    const double better = cost ? row->cost_high_ratio : row->cost_low_ratio;
    fprintf(s->out, "  %-14s %+8.4f %+8.4f %+8.4f  %8s %s  ", row->key, row->step, row->memory,
            row->cost, format_percent(better - 1.0).s, cost ? "10 % more" : "10 % less");
    if (stands_on_find(&e->constants, row->figures, &figure, 1) > 0)
        print_figure(s, figure, "");
    fputc('\n', s->out);
}

static void print_elasticities(const struct session *s, const struct explanation *e)
{
    const struct elasticities *el = &e->elasticities;
    report_heading(s, "What more of each hardware figure would buy, the layout as it is");
    if (!e->has_elasticities) {
        fputs("  not known: ", s->out);
        wrap_print(s->out, s->width, source_clean(e->record.arena, e->no_elasticities.text), 13);
        return;
    }
    fprintf(s->out, "  %-14s %8s %8s %8s  %18s  %s\n", "", "step", "memory", "price",
            "price of a token", "figure");
    for (unsigned i = 0; i < el->count; i++)
        print_row(s, e, &el->rows[i]);
    fprintf(s->out, "  %sd log y / d log x, from simulations at 1.1 x and 0.9 x%s\n",
            session_dim(s), el->weeks ? "; price: of a kept token, 8 replications" : "");
    fprintf(s->out, "  the fullest card has %s of HBM left, with 10 %% more HBM %s%s\n",
            format_bytes(el->headroom_bytes).s, format_bytes(el->headroom_high_bytes).s,
            session_plain(s));
}

void report_explain(const struct session *s, const struct explanation *e)
{
    report_head(s, &e->record);
    print_waterfall(s, &e->waterfall);
    print_idle(s, &e->waterfall);
    print_path(s, &e->path);
    print_elasticities(s, e);
    print_stands_on(s, e);
    report_evidence(s, &e->record, true);
}
