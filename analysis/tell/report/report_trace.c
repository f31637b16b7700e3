#include "analysis/tell/report/report_trace.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/exchange/export/export.h"
#include "analysis/output/text/columns.h"
#include "analysis/output/text/format.h"
#include "analysis/tell/report/report_parts.h"

enum {
    ROWS_SHOWN = 12,
    COLUMNS = 7
};
/* Rounding of a trace, which counts nanoseconds. */
#define NOTHING_S 1.5e-9

static struct text more_time(double seconds)
{
    struct text out;
    if (fabs(seconds) <= NOTHING_S)
        return (struct text){"0 s"};
    snprintf(out.s, sizeof out.s, "%s%.40s", seconds > 0.0 ? "+" : "", format_time(seconds).s);
    return out;
}

void report_unknown(FILE *out, const struct span_unknown *unknown)
{
    if (unknown->ratio <= UNKNOWN_MOST_RATIO)
        return;
    fprintf(out, "  %s of the kernels' seconds are of no known kind and count as compute: ",
            format_percent(unknown->ratio).s);
    for (unsigned i = 0; i < unknown->count; i++)
        fprintf(out, "%s%s %.60s", i > 0 ? ", " : "", format_time(unknown->largest[i].s).s,
                format_shown(unknown->largest[i].name).s);
    fputc('\n', out);
}

static struct text count_text(uint32_t count)
{
    return format_count(count);
}

static struct text name_text(const char *name)
{
    struct text out;
    snprintf(out.s, sizeof out.s, "%.47s", format_shown(name).s);
    return out;
}

static void print_head(const struct session *s, const struct compared_trace *told,
                       const struct trace_comparison *c)
{
    const struct pytorch_step *step = told->step;
    char number[40] = "";
    if (step->number != PYTORCH_UNTOLD)
        snprintf(number, sizeof number, ", ProfilerStep#%" PRId64, step->number);
    fprintf(s->out, "  %smeasured%s   %s%s: %s kernels, %s spans%s%s\n", session_bold(s),
            session_plain(s), format_shown(told->path).s, number, format_count(step->kernels).s,
            format_count(c->all.count[TRACE_MEASURED]).s, *step->device.name != '\0' ? " on " : "",
            step->device.name);
    fprintf(s->out, "  %ssimulated%s  %s: rank %" PRIu32 " of %s, %s spans\n", session_bold(s),
            session_plain(s), format_shown(told->scenario).s, told->rank,
            format_count(told->ranks).s, format_count(c->all.count[TRACE_SIMULATED]).s);
}

/* What is compared is not what the scenario trains, or is not known. */
static void print_doubts(const struct session *s, const struct compared_trace *told)
{
    if (told->step->forward_only)
        fputs("  it looks like inference: no kernel of it belongs to a backward pass or to an "
              "optimizer\n",
              s->out);
    report_unknown(s->out, &told->unknown);
}

static void print_time(const struct session *s, const char *what, double measured, double simulated,
                       const char *says)
{
    fprintf(s->out, "  %-15s %10s %10s %11s  %s%s%s\n", what, format_time(measured).s,
            format_time(simulated).s, more_time(measured - simulated).s, session_dim(s), says,
            session_plain(s));
}

static void print_times(const struct session *s, const struct compared_trace *told,
                        const struct trace_comparison *c)
{
    const struct trace_times *m = &c->times[TRACE_MEASURED], *t = &c->times[TRACE_SIMULATED];
    report_heading(s, "Time of the step");
    fprintf(s->out, "  %-15s %10s %10s %11s\n", "", "measured", "simulated", "difference");
    print_time(s, "step", m->step_s, t->step_s, "from the first kernel to the end of the last");
    print_time(s, "compute", m->compute_s, t->compute_s, "some kernel computes");
    print_time(s, "communication", m->communication_s, t->communication_s,
               "some runs, or waits for other ranks");
    print_time(s, "  exposed", m->exposed_s, t->exposed_s, "of it beside no compute");
    print_time(s, "idle", m->idle_s, t->idle_s, "neither");
    if (told->step->host_s > 0.0)
        fprintf(
            s->out,
            "  %sthe mark of the step lasted %s on the host; the job's simulated step takes %s%s\n",
            session_dim(s), format_time(told->step->host_s).s,
            format_time(told->simulated_step_s).s, session_plain(s));
}

static void fill_row(struct text *cells, const char *name, const struct trace_sum *sum)
{
    const struct text row[COLUMNS] = {
        name_text(name),
        count_text(sum->count[TRACE_MEASURED]),
        format_time(sum->seconds[TRACE_MEASURED]),
        count_text(sum->count[TRACE_SIMULATED]),
        format_time(sum->seconds[TRACE_SIMULATED]),
        more_time(sum->seconds[TRACE_MEASURED] - sum->seconds[TRACE_SIMULATED]),
    };
    memcpy(cells, row, sizeof row);
    snprintf(cells[COLUMNS - 1].s, sizeof cells->s, "%" PRIu32 ", %" PRIu32,
             sum->left[TRACE_MEASURED], sum->left[TRACE_SIMULATED]);
}

static void print_kinds(const struct session *s, const struct trace_comparison *c)
{
    static const struct column columns[COLUMNS] = {
        {"", true, false},       {"spans", false, false},     {"measured", false, false},
        {"spans", false, false}, {"simulated", false, false}, {"difference", false, false},
        {"alone", false, false}};
    struct text cells[(SPAN_KIND_COUNT + 1) * COLUMNS];
    size_t rows = 0;
    report_heading(s, "Kernels by kind");
    for (unsigned kind = 0; kind < SPAN_KIND_COUNT; kind++)
        if (c->kinds[kind].count[TRACE_MEASURED] + c->kinds[kind].count[TRACE_SIMULATED] > 0)
            fill_row(&cells[rows++ * COLUMNS], span_kind_names[kind], &c->kinds[kind]);
    fill_row(&cells[rows++ * COLUMNS], "all", &c->all);
    columns_print(s->out, columns, COLUMNS, cells, rows);
    fprintf(s->out,
            "  %salone: measured and simulated spans that have no partner. Communication lasts "
            "while it waits for other ranks, too.%s\n",
            session_dim(s), session_plain(s));
}

static void print_parts(const struct session *s, const struct trace_comparison *c)
{
    static const struct column columns[] = {
        {"simulated kernel", true, false}, {"phase", true, false},
        {"pairs", false, false},           {"measured", false, false},
        {"simulated", false, false},       {"difference", false, false}};
    enum {
        WIDTH = sizeof columns / sizeof columns[0]
    };
    struct text cells[ROWS_SHOWN * WIDTH];
    size_t rows = 0;
    for (uint32_t i = 0; i < c->part_count && rows < ROWS_SHOWN; i++) {
        const struct trace_part *p = &c->parts[i];
        if (fabs(p->difference_s) <= NOTHING_S * p->count)
            break;
        const struct text row[WIDTH] = {name_text(p->name),
                                        name_text(p->phase),
                                        count_text(p->count),
                                        format_time(p->seconds[TRACE_MEASURED]),
                                        format_time(p->seconds[TRACE_SIMULATED]),
                                        more_time(p->difference_s)};
        memcpy(&cells[rows++ * WIDTH], row, sizeof row);
    }
    report_heading(s, "Pairs by what they do, the largest differences");
    if (rows > 0)
        columns_print(s->out, columns, WIDTH, cells, rows);
    else
        fputs("  none differs\n", s->out);
}

/* "layer 3, microbatch 0, backward" */
static void print_place(FILE *out, const struct trace_span *s)
{
    if (s->layer != SPAN_UNTOLD)
        fprintf(out, "layer %u, ", s->layer);
    if (s->microbatch != SPAN_UNTOLD)
        fprintf(out, "microbatch %u, ", s->microbatch);
    fputs(s->phase, out);
}

static void print_worst(const struct session *s, const struct trace_comparison *c)
{
    uint32_t shown = 0;
    report_heading(s, "Worst spans");
    for (uint32_t i = 0; i < c->worst_count && shown < ROWS_SHOWN; i++, shown++) {
        const struct trace_pair *pair = c->worst[i];
        const struct trace_span *m = pair->of[TRACE_MEASURED], *t = pair->of[TRACE_SIMULATED];
        if (fabs(pair->difference_s) <= NOTHING_S)
            break;
        fprintf(s->out, "  %11s  %s (%s for %s): ", more_time(pair->difference_s).s, t->name,
                format_time(m->busy_s).s, format_time(t->busy_s).s);
        print_place(s->out, t);
        fprintf(s->out, "; %sat %s, stream %s: %s%s\n", session_dim(s), format_time(m->begin_s).s,
                format_shown(m->stream).s, format_shown(m->name).s, session_plain(s));
    }
    if (shown == 0)
        fputs("  none differs\n", s->out);
}

static void print_left(const struct session *s, const struct trace_comparison *c)
{
    report_heading(s, "Without a partner");
    for (uint32_t i = 0; i < c->left_count && i < ROWS_SHOWN; i++) {
        const struct trace_part *p = &c->left[i];
        const bool measured = p->difference_s >= 0.0;
        fprintf(s->out, "  %-9s %8s x %-14s %10s  %s%s%s\n", measured ? "measured" : "simulated",
                format_count(p->count).s, span_kind_names[p->kind],
                format_time(fabs(p->difference_s)).s, format_shown(p->name).s,
                *p->phase != '\0' ? ", " : "", p->phase);
    }
    if (c->left_count > ROWS_SHOWN)
        fprintf(s->out, "  and %" PRIu32 " kinds more (--csv has all)\n",
                c->left_count - ROWS_SHOWN);
    if (c->left_count == 0)
        fputs("  none\n", s->out);
}

void report_trace(const struct session *session, const struct compared_trace *told,
                  const struct trace_comparison *comparison)
{
    print_head(session, told, comparison);
    print_doubts(session, told);
    print_times(session, told, comparison);
    print_kinds(session, comparison);
    print_parts(session, comparison);
    print_worst(session, comparison);
    print_left(session, comparison);
}

static void print_text(FILE *out, const char *text)
{
    export_csv_text(out, text, (unsigned)strlen(text));
}

static void print_side(FILE *out, const struct trace_span *s)
{
    fputc(',', out);
    if (s == NULL) {
        fputs(",,,", out);
        return;
    }
    print_text(out, s->name);
    fputc(',', out);
    print_text(out, s->stream);
    fprintf(out, ",%.9f,%.9f", s->begin_s, s->busy_s);
}

static void print_label(FILE *out, uint16_t label)
{
    fputc(',', out);
    if (label != SPAN_UNTOLD)
        fprintf(out, "%u", label);
}

void report_trace_csv(const struct trace_comparison *c, FILE *out)
{
    fputs("kind,difference_s,measured,measured_stream,measured_at_s,measured_s,simulated,"
          "simulated_stream,simulated_at_s,simulated_s,phase,microbatch,layer\r\n",
          out);
    for (uint32_t i = 0; i < c->pair_count; i++) {
        const struct trace_pair *pair = &c->pairs[i];
        const struct trace_span *t = pair->of[TRACE_SIMULATED];
        const struct trace_span *any = t != NULL ? t : pair->of[TRACE_MEASURED];
        fprintf(out, "%s,%.9f", span_kind_names[any->kind], pair->difference_s);
        print_side(out, pair->of[TRACE_MEASURED]);
        print_side(out, t);
        fputc(',', out);
        print_text(out, any->phase);
        print_label(out, any->microbatch);
        print_label(out, any->layer);
        fputs("\r\n", out);
    }
}
