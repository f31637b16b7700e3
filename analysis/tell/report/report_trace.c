#include "analysis/tell/report/report_trace.h"

#include <math.h>
#include <string.h>

#include "analysis/exchange/export/export.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report.h"

enum {
    ROWS_SHOWN = 12,
    WORST_LISTED = 100
};
/* Rounding of a trace, which counts nanoseconds. */
#define NOTHING_S 1.5e-9

static const char unknown_lines[] =
    "{if .unknown_told}"
    "  {unknown_ratio} of the kernels' seconds are of no known kind and count as compute: "
    "{each unknown}{if row > 1}, {end}{measured_s} {name<0.60}{end}\n"
    "{end}";

static const char head_lines[] =
    "  {bold}measured{plain}   {trace}"
    "{if profiler_step}, ProfilerStep#{profiler_step:digits}{end}: {kernels} kernel{if not kernels "
    "= 1}s{end}, "
    "{all.measured_spans} spans{if device} on {device}{end}\n"
    "  {bold}simulated{plain}  {.title:clean}: rank {rank:digits} of {ranks}, "
    "{all.simulated_spans} "
    "spans\n" REPORT_ANNOUNCED "{if forward_only}"
    "  it looks like inference: no kernel of it belongs to a backward pass or to an optimizer\n"
    "{end}";

#define KIND                                                                                       \
    "{kind}\t{measured_spans}\t{measured_s}\t{simulated_spans}\t{simulated_s}\t{.more:+time}\t"    \
    "{measured_alone:digits}, {simulated_alone:digits}\n"
static const char lines[] =
    "\n{bold}Time of the step{plain}\n"
    "                    measured  simulated  difference\n"
    "{each .times}"
    "  {.name<15} {.measured_s>10} {.simulated_s>10} {.more:+time>11}  {dim}{.says}{plain}\n"
    "{end}"
    "{if .host_s > 0}"
    "  {dim}the mark of the step lasted {.host_s} on the host; the job's simulated step takes "
    "{simulated_step_time_s}{plain}\n"
    "{end}"
    "\n{bold}Kernels by kind{plain}\n"
    "{table}<\tspans\tmeasured\tspans\tsimulated\tdifference\talone\n"
    "{each kinds}" KIND "{end}{each all}" KIND "{end}{end}"
    "  {dim}alone: measured and simulated spans that have no partner. Communication lasts while it "
    "waits for other ranks, too.{plain}\n"
    "\n{bold}Pairs by what they do, the largest differences{plain}\n"
    "{if .pairs_differ}"
    "{table}<simulated kernel\t<phase\tpairs\tmeasured\tsimulated\tdifference\n"
    "{each pairs 12}{if .differs}"
    "{name}\t{phase}\t{spans}\t{measured_s}\t{simulated_s}\t{.more:+time}\n"
    "{end}{end}{end}"
    "{else}  none differs\n{end}"
    "\n{bold}Worst spans{plain}\n"
    "{each worst 12}{if .differs}"
    "  {difference_s:+time>11}  {simulated} ({measured_s} for {simulated_s}): "
    "{if layer}layer {layer:digits}, {end}{if microbatch}microbatch {microbatch:digits}, {end}"
    "{phase}; {dim}at {measured_at_s}, stream {measured_stream}: {measured}{plain}\n"
    "{end}{end}"
    "{if not .worst_differ}  none differs\n{end}"
    "\n{bold}Without a partner{plain}\n"
    "{each alone 12}"
    "  {.side<9} {spans>8} x {kind<14} {.length_s>10}  {name}{if phase}, {phase}{end}\n"
    "{end}"
    "{if .alone_more > 0}  and {.alone_more:digits} kind{if not .alone_more = 1}s{end} more (--csv "
    "has all)\n{end}"
    "{if not alone}  none\n{end}";

const char *const report_trace_lines[] = {head_lines, unknown_lines, lines, NULL};

/* Of a difference what is more than rounding. */
static double settled(double difference_s)
{
    return fabs(difference_s) <= NOTHING_S ? 0.0 : difference_s;
}

static void set_unknown(struct fact *o, const struct span_unknown *unknown)
{
    document_flag(o, ".unknown_told", unknown->ratio > UNKNOWN_MOST_RATIO);
    document_real(o, "unknown_ratio", IN_RATIO, unknown->ratio);
    struct fact *array = document_array(o, "unknown");
    for (unsigned i = 0; i < unknown->count; i++) {
        struct fact *one = document_object(array, NULL);
        document_quote(one, "name", unknown->largest[i].name);
        document_real(one, "measured_s", IN_SECONDS, unknown->largest[i].s);
    }
}

void report_unknown(const struct session *session, const struct span_unknown *unknown)
{
    struct arena *arena = arena_create();
    struct fact *o = document_begin(arena, "", NULL);
    set_unknown(o, unknown);
    document_lines(o, unknown_lines, session);
    arena_destroy(arena);
}

static void set_times(struct fact *in, const char *key, const struct trace_times *t)
{
    struct fact *o = document_object(in, key);
    document_real(o, "step_s", IN_SECONDS, t->step_s);
    document_real(o, "compute_s", IN_SECONDS, t->compute_s);
    document_real(o, "communication_s", IN_SECONDS, t->communication_s);
    document_real(o, "exposed_s", IN_SECONDS, t->exposed_s);
    document_real(o, "idle_s", IN_SECONDS, t->idle_s);
}

static void show_time(struct fact *array, const char *name, double measured_s, double simulated_s,
                      const char *says)
{
    struct fact *o = document_object(array, NULL);
    document_word(o, ".name", name);
    document_real(o, ".measured_s", IN_SECONDS, measured_s);
    document_real(o, ".simulated_s", IN_SECONDS, simulated_s);
    document_real(o, ".more", IN_SECONDS, settled(measured_s - simulated_s));
    document_word(o, ".says", says);
}

static void show_times(struct fact *in, const struct trace_times *m, const struct trace_times *t)
{
    struct fact *o = document_array(in, ".times");
    show_time(o, "step", m->step_s, t->step_s, "from the first kernel to the end of the last");
    show_time(o, "compute", m->compute_s, t->compute_s, "some kernel computes");
    show_time(o, "communication", m->communication_s, t->communication_s,
              "some runs, or waits for other ranks");
    show_time(o, "  exposed", m->exposed_s, t->exposed_s, "of it beside no compute");
    show_time(o, "idle", m->idle_s, t->idle_s, "neither");
}

static void set_sum(struct fact *o, const char *kind, const struct trace_sum *sum)
{
    const double *s = sum->seconds;
    document_word(o, "kind", kind);
    document_count(o, "measured_spans", sum->count[TRACE_MEASURED]);
    document_real(o, "measured_s", IN_SECONDS, s[TRACE_MEASURED]);
    document_count(o, "simulated_spans", sum->count[TRACE_SIMULATED]);
    document_real(o, "simulated_s", IN_SECONDS, s[TRACE_SIMULATED]);
    document_real(o, ".more", IN_SECONDS, settled(s[TRACE_MEASURED] - s[TRACE_SIMULATED]));
    document_count(o, "measured_alone", sum->left[TRACE_MEASURED]);
    document_real(o, "measured_alone_s", IN_SECONDS, sum->left_s[TRACE_MEASURED]);
    document_count(o, "simulated_alone", sum->left[TRACE_SIMULATED]);
    document_real(o, "simulated_alone_s", IN_SECONDS, sum->left_s[TRACE_SIMULATED]);
}

static void set_kinds(struct fact *in, const struct trace_comparison *c)
{
    struct fact *array = document_array(in, "kinds");
    for (unsigned kind = 0; kind < SPAN_KIND_COUNT; kind++)
        if (c->kinds[kind].count[TRACE_MEASURED] + c->kinds[kind].count[TRACE_SIMULATED] > 0)
            set_sum(document_object(array, NULL), span_kind_names[kind], &c->kinds[kind]);
}

static void set_part(struct fact *o, const struct trace_part *part)
{
    document_word(o, "kind", span_kind_names[part->kind]);
    document_quote(o, "name", part->name);
    document_word(o, "phase", part->phase);
    document_count(o, "spans", part->count);
    document_real(o, "measured_s", IN_SECONDS, part->seconds[TRACE_MEASURED]);
    document_real(o, "simulated_s", IN_SECONDS, part->seconds[TRACE_SIMULATED]);
    document_real(o, "difference_s", IN_SECONDS, part->difference_s);
}

/* The largest difference first: those before the first that is rounding differ. */
static void set_pairs(struct fact *in, const struct trace_comparison *c)
{
    struct fact *array = document_array(in, "pairs");
    bool differs = true;
    for (uint32_t i = 0; i < c->part_count; i++) {
        const struct trace_part *part = &c->parts[i];
        struct fact *o = document_object(array, NULL);
        differs = differs && fabs(part->difference_s) > NOTHING_S * part->count;
        set_part(o, part);
        document_flag(o, ".differs", differs);
        document_real(o, ".more", IN_SECONDS, settled(part->difference_s));
        if (i == 0)
            document_flag(in, ".pairs_differ", differs);
    }
    if (c->part_count == 0)
        document_flag(in, ".pairs_differ", false);
}

static void set_alone(struct fact *in, const struct trace_comparison *c)
{
    struct fact *array = document_array(in, "alone");
    for (uint32_t i = 0; i < c->left_count; i++) {
        const struct trace_part *part = &c->left[i];
        struct fact *o = document_object(array, NULL);
        set_part(o, part);
        document_word(o, ".side", part->difference_s >= 0.0 ? "measured" : "simulated");
        document_real(o, ".length_s", IN_SECONDS, fabs(part->difference_s));
    }
    document_count(in, ".alone_more", c->left_count > ROWS_SHOWN ? c->left_count - ROWS_SHOWN : 0);
}

static void set_label(struct fact *o, const char *key, uint16_t value)
{
    document_null(o, key);
    if (value != SPAN_UNTOLD)
        document_count(o, key, value);
}

static void set_pair(struct fact *o, const struct trace_pair *pair)
{
    const struct trace_span *m = pair->of[TRACE_MEASURED], *s = pair->of[TRACE_SIMULATED];
    document_word(o, "kind", span_kind_names[s->kind]);
    document_quote(o, "measured", m->name);
    document_quote(o, "measured_stream", m->stream);
    document_real(o, "measured_at_s", IN_SECONDS, m->begin_s);
    document_real(o, "measured_s", IN_SECONDS, m->busy_s);
    document_word(o, "simulated", s->name);
    document_real(o, "simulated_at_s", IN_SECONDS, s->begin_s);
    document_real(o, "simulated_s", IN_SECONDS, s->busy_s);
    document_word(o, "phase", s->phase);
    set_label(o, "microbatch", s->microbatch);
    set_label(o, "layer", s->layer);
    document_real(o, "difference_s", IN_SECONDS, pair->difference_s);
}

static void set_worst(struct fact *in, const struct trace_comparison *c)
{
    struct fact *array = document_array(in, "worst");
    bool differs = true;
    for (uint32_t i = 0; i < c->worst_count && i < WORST_LISTED; i++) {
        struct fact *o = document_object(array, NULL);
        differs = differs && fabs(c->worst[i]->difference_s) > NOTHING_S;
        set_pair(o, c->worst[i]);
        document_flag(o, ".differs", differs);
    }
    document_flag(in, ".worst_differ",
                  c->worst_count > 0 && fabs(c->worst[0]->difference_s) > NOTHING_S);
}

struct fact *report_trace(struct arena *arena, const struct compared_trace *told,
                          const struct trace_comparison *c)
{
    const struct pytorch_step *step = told->step;
    struct fact *o = document_begin(arena, "orrery.compare_trace/1", NULL);
    document_quote(o, "trace", told->path);
    document_null(o, "profiler_step");
    if (step->number != PYTORCH_UNTOLD)
        document_count(o, "profiler_step", (uint64_t)step->number);
    document_word(o, "device", step->device.name);
    document_count(o, "kernels", step->kernels);
    document_quote(o, "scenario", told->scenario->name);
    document_quote(o, ".title", told->scenario->title);
    report_announced_of(o, &told->scenario->configuration);
    document_count(o, "rank", told->rank);
    document_count(o, "ranks", told->ranks);
    set_times(o, "measured", &c->times[TRACE_MEASURED]);
    set_times(o, "simulated", &c->times[TRACE_SIMULATED]);
    document_real(o, "simulated_step_time_s", IN_SECONDS, told->simulated_step_s);
    document_flag(o, "forward_only", step->forward_only);
    set_unknown(o, &told->unknown);
    set_sum(document_object(o, "all"), "all", &c->all);
    set_kinds(o, c);
    set_pairs(o, c);
    set_alone(o, c);
    set_worst(o, c);
    show_times(o, &c->times[TRACE_MEASURED], &c->times[TRACE_SIMULATED]);
    document_real(o, ".host_s", IN_SECONDS, step->host_s);
    return o;
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
