#include "analysis/report/report.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/result/cost.h"
#include "analysis/text/format.h"
#include "analysis/text/wrap.h"
#include "scenarios/language/source.h"

enum {
    BAR_WIDTH = 24,
    LONG_SEQUENCE = 16384 /* from here on a causal mask changes MFU by a tenth and more */
};

static void heading(const struct session *s, const char *text)
{
    fprintf(s->out, "\n%s%s%s\n", session_bold(s), text, session_plain(s));
}

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
        [PART_OPTIMIZER] = "updating the weights",
        [PART_HOST] = "the CPU had not launched the next kernel",
        [PART_STRAGGLER] = "a peer's card is slower at the same work",
    };
    return meanings[part];
}

static void print_cost(const struct session *s, const struct result *result)
{
    const struct configuration *c = &result->scenario->configuration;
    struct cost cost;
    cost_of_run(result, &cost);
    if (!isfinite(cost.step_usd) || result->job != NULL) /* weeks tell their own */
        return;
    fprintf(s->out, "  cost         %s a step, %s for 10^9 tokens", format_money(cost.step_usd).s,
            format_money(cost.usd_per_1e9_tokens).s);
    if (isfinite(cost.budget_usd))
        fprintf(s->out, ", %s for %s", format_money(cost.budget_usd).s,
                format_quantity(c->training.tokens).s);
    fprintf(s->out, "\n               (%s GPUs at %s an hour)\n",
            format_count((uint64_t)cost.gpus).s, format_money(cost.gpu_hour_usd).s);
}

/* At long sequences scores that a causal mask skips are most of 12Lhs: MFU then says little of the
 * machine, so the causal one stands beside it. */
static void print_utilisation(const struct session *s, const struct result *result)
{
    const struct step *step = result->step;
    const struct training_spec *t = &result->scenario->configuration.training;
    const struct gpu_spec *gpu = &result->scenario->configuration.gpu;
    fprintf(s->out, "  MFU          %s   (6N + 12Lhs a token against the dense %s peak of %s/s)\n",
            format_percent(step->mfu_ratio).s, t->precision->head.name,
            format_flops(gpu->peak_flops_per_s[t->precision->gemm_peak]).s);
    if (t->causal && t->sequence >= LONG_SEQUENCE) {
        fprintf(s->out, "  causal MFU   %s   (6N + 6Lhs: a token sees half of the sequence)\n",
                format_percent(step->causal_mfu_ratio).s);
    }
    fprintf(s->out,
            "  HFU          %s   (what the kernels do: recomputed FLOPs in, skipped scores out)\n",
            format_percent(step->hfu_ratio).s);
}

static void print_speed(const struct session *s, const struct result *result)
{
    const struct step *step = result->step;
    const struct configuration *c = &result->scenario->configuration;
    heading(s, step->fits ? "One training step" : "One training step, were the card large enough");
    fprintf(s->out, "  step time    %s%s%s\n", session_bold(s), format_time(step->step_s).s,
            session_plain(s));
    fprintf(s->out, "  tokens       %s a second, %s for each GPU\n",
            format_quantity(step->tokens_per_s).s,
            format_quantity(step->tokens_per_s / (double)step->rank_count).s);
    print_utilisation(s, result);
    if (c->layout.pp > 1) {
        fprintf(s->out, "  bubble       %s of the step of the mean rank\n",
                format_percent(step->bubble_ratio).s);
    }
    if (c->training.tokens > 0.0) {
        double training_s = c->training.tokens / step->tokens_per_s;
        fprintf(s->out, "  training     %s of such steps for %s tokens, without failures\n",
                format_time(training_s).s, format_quantity(c->training.tokens).s);
    }
    print_cost(s, result);
}

static void print_breakdown(const struct session *s, const struct step *step)
{
    heading(s, "Where the time of the mean rank goes");
    double sum = 0.0;
    for (unsigned part = 0; part < PART_COUNT; part++) {
        double seconds = step->breakdown_s[part];
        sum += seconds;
        if (seconds <= 0.0) {
            continue;
        }
        double ratio = seconds / step->step_s;
        fprintf(s->out, "  %-11s %9s %7s  %s  %s%s%s\n", breakdown_names[part],
                format_time(seconds).s, format_percent(ratio).s,
                format_bar(ratio, BAR_WIDTH, s->utf8).s, session_dim(s),
                part_meaning((enum breakdown_part)part), session_plain(s));
    }
    fprintf(s->out, "  %-11s %9s %7s\n", "sum", format_time(sum).s,
            format_percent(sum / step->step_s).s);
}

static void print_streams(const struct session *s, const struct result *result)
{
    bool any = false;
    for (unsigned stream = 1; stream < STREAM_COUNT; stream++) {
        const struct result_stream *t = &result->streams[stream];
        if (stream == STREAM_COPY || t->op_count == 0) {
            continue;
        }
        if (!any) {
            heading(s, "Communication of the mean rank, and how much hides under compute");
            fprintf(s->out, "  %-12s %9s %9s %9s %9s\n", "stream", "ops", "busy", "hidden",
                    "exposed");
            any = true;
        }
        fprintf(s->out, "  %-12s %9s %9s %9s %9s\n", stream_names[stream],
                format_count(t->op_count).s, format_time(t->busy_s).s, format_time(t->hidden_s).s,
                format_time(t->busy_s - t->hidden_s).s);
    }
}

static enum link_kind kind_of(const struct step *step, const struct link_class *l)
{
    return graph_link_type(&step->topology.graph, (struct link_id){l->representative})->kind;
}

/* The busiest link class of each kind of wire. */
static void print_links(const struct session *s, const struct step *step)
{
    bool any = false;
    for (int kind = LINK_NVLINK; kind <= LINK_FABRIC; kind++) {
        double most = 0.0;
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < step->symmetry.link_class_count; i++) {
            const struct link_class *l = &step->symmetry.links[i];
            double use = network_link_bytes(step->network, i) / (l->bytes_per_s * step->step_s);
            if ((int)kind_of(step, l) == kind && use > most) {
                most = use;
                best = i;
            }
        }
        if (best == UINT32_MAX) {
            continue;
        }
        if (!any) {
            heading(s, "Busiest wires, one direction");
            any = true;
        }
        const struct link_class *l = &step->symmetry.links[best];
        const struct link_id id = {l->representative};
        const struct link link = graph_link_at(&step->topology.graph, id);
        char from[40], to[40];
        graph_vertex_name(&step->topology.graph, link.from, from, sizeof from);
        graph_vertex_name(&step->topology.graph, link.to, to, sizeof to);
        fprintf(s->out, "  %-8s %6s of %8s on average  %s%s to %s (%s alike), %s%s\n",
                link_kind_name(kind_of(step, l)), format_percent(most).s,
                format_rate(l->bytes_per_s).s, session_dim(s), from, to,
                format_count(l->link_count).s,
                format_bytes_decimal(network_link_bytes(step->network, best)).s, session_plain(s));
    }
}

/* Where a hash chooses paths, this step is one draw of many. */
static void print_paths(const struct session *s, const struct configuration *c)
{
    if (topology_draws_paths(&c->cluster)) {
        fprintf(s->out,
                "  %sEach flow keeps to one path, by a hash that seed %" PRIu64
                " draws: other seeds "
                "have\n  other collisions, and --uncertainty draws them too.%s\n",
                session_dim(s), c->seed, session_plain(s));
    }
}

void report_speed(const struct session *s, const struct result *result)
{
    report_head(s, result);
    print_speed(s, result);
}

void report_step(const struct session *s, const struct result *result)
{
    const struct step *step = result->step;
    report_head(s, result);
    if (result->timed) {
        print_speed(s, result);
        print_breakdown(s, step);
    }
    report_stages(s, result);
    report_failure(s, result);
    if (result->timed) {
        print_streams(s, result);
        print_links(s, step);
        print_paths(s, &result->scenario->configuration);
        fprintf(s->out,
                "\n%sdigest %016" PRIx64 ", seed %" PRIu64 "; %s ranks in %s class%s, %s ops, "
                "%s events%s\n",
                session_dim(s), step->digest, result->scenario->configuration.seed,
                format_count(step->rank_count).s, format_count(step->class_count).s,
                step->class_count == 1 ? "" : "es", format_count(step->op_count).s,
                format_count(step->event_count).s, session_plain(s));
    }
}

void report_notes(const struct session *s, const struct scenario *scenario)
{
    if (scenario->note_count == 0)
        return;
    heading(s, "Notes of the scenario");
    for (unsigned i = 0; i < scenario->note_count; i++) {
        const struct note *note = &scenario->notes[i];
        int used = fprintf(s->out, "  at %-8s  ", format_time(note->at_s).s);
        wrap_print(s->out, s->width, source_clean(scenario->arena, note->say), used > 0 ? used : 0);
    }
}

void report_defaults(const struct session *s, const struct result *result)
{
    const struct scenario *scenario = result->scenario;
    heading(s, "Defaults taken");
    for (unsigned i = 0; i < scenario->default_count; i++) {
        const struct taken_default *d = &scenario->defaults[i];
        int used = fprintf(s->out, "  %-36s %-12s ", d->key, d->value);
        fputs(session_dim(s), s->out);
        wrap_print(s->out, s->width, d->doc != NULL ? d->doc : "", used > 0 ? used : 0);
        fputs(session_plain(s), s->out);
    }
    if (scenario->default_count == 0) {
        fputs("  none\n", s->out);
    }
}
