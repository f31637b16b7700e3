/* What `run` prints of a step; of weeks, in report_weeks.c. */
#include "analysis/tell/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/output/text/wrap.h"
#include "analysis/tell/report/report_parts.h"
#include "models/layout/stream.h"
#include "models/step/simulate/breakdown.h"
#include "scenarios/language/source.h"

enum {
    BAR_WIDTH = 24,
    LONG_SEQUENCE = 16384 /* from here on a causal mask changes MFU by a tenth and more */
};

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

static void print_cost(const struct session *s, const struct run_row *run)
{
    if (!isfinite(run->cost_usd_per_step) || isfinite(run->wall_s)) /* weeks tell their own */
        return;
    fprintf(s->out, "  cost         %s a step, %s for 10^9 tokens",
            format_money(run->cost_usd_per_step).s, format_money(run->cost_usd_per_1e9_tokens).s);
    if (isfinite(run->cost_usd_for_budget))
        fprintf(s->out, ", %s for %s", format_money(run->cost_usd_for_budget).s,
                format_quantity(run->budget_tokens).s);
    fprintf(s->out, "\n               (%s GPUs at %s an hour)\n",
            format_count(report_count(run->paid_gpus)).s, format_money(run->gpu_hour_usd).s);
}

/* At long sequences scores that a causal mask skips are most of 12Lhs: MFU then says little of the
 * machine, so the causal one stands beside it. */
static void print_utilisation(const struct session *s, const struct run_row *run)
{
    const bool frozen = run->adapter != NULL && strcmp(run->adapter, "none") != 0;
    fprintf(s->out, "  MFU          %s   (%s + 12Lhs a token against the dense %s peak of %s/s)\n",
            format_percent(run->mfu_ratio).s, frozen ? "4N, frozen," : "6N",
            format_shown(run->precision).s, format_flops(run->peak_flops_per_s).s);
    if (run->causal == 1 && run->sequence >= LONG_SEQUENCE) {
        fprintf(s->out, "  causal MFU   %s   (%s + 6Lhs: a token sees half of the sequence)\n",
                format_percent(run->causal_mfu_ratio).s, frozen ? "4N" : "6N");
    }
    fprintf(s->out,
            "  HFU          %s   (what the kernels do: recomputed FLOPs in, skipped scores out)\n",
            format_percent(run->hfu_ratio).s);
}

static void print_speed(const struct session *s, const struct record *record)
{
    const struct run_row *run = record_run(record);
    report_heading(s, run->fits == 1 ? "One training step"
                      : report_host_fails(record)
                          ? "One training step, were the host large enough"
                          : "One training step, were the card large enough");
    fprintf(s->out, "  step time    %s%s%s\n", session_bold(s), format_time(run->step_s).s,
            session_plain(s));
    fprintf(s->out, "  tokens       %s a second, %s for each GPU\n",
            format_quantity(run->tokens_per_s).s, format_quantity(run->tokens_per_s_per_gpu).s);
    print_utilisation(s, run);
    if (run->pp > 1) {
        fprintf(s->out, "  bubble       %s of the step of the mean rank\n",
                format_percent(run->bubble_ratio).s);
    }
    if (isfinite(run->budget_tokens)) {
        fprintf(s->out, "  training     %s of such steps for %s tokens, without failures\n",
                format_time(run->budget_tokens / run->tokens_per_s).s,
                format_quantity(run->budget_tokens).s);
    }
    print_cost(s, run);
}

static void print_breakdown(const struct session *s, const struct run_row *run)
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
    report_heading(s, "Where the time of the mean rank goes");
    double sum = 0.0;
    for (unsigned part = 0; part < PART_COUNT; part++) {
        double seconds = parts_s[part];
        sum += seconds;
        if (seconds <= 0.0)
            continue;
        double ratio = seconds / run->step_s;
        fprintf(s->out, "  %-11s %9s %7s  %s  %s%s%s\n", breakdown_names[part],
                format_time(seconds).s, format_percent(ratio).s,
                format_bar(ratio, BAR_WIDTH, s->utf8).s, session_dim(s),
                part_meaning((enum breakdown_part)part), session_plain(s));
    }
    fprintf(s->out, "  %-11s %9s %7s\n", "sum", format_time(sum).s,
            format_percent(sum / run->step_s).s);
}

static void print_streams(const struct session *s, const struct record *record)
{
    size_t count;
    const struct stream_use_row *rows = record_stream_use(record, &count);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const struct stream_use_row *t = &rows[i];
        if (t->op_count == 0 || strcmp(t->stream, stream_names[STREAM_COMPUTE]) == 0 ||
            strcmp(t->stream, stream_names[STREAM_COPY]) == 0)
            continue;
        if (!any) {
            report_heading(s, "Communication of the mean rank, and how much hides under compute");
            fprintf(s->out, "  %-12s %9s %9s %9s %9s\n", "stream", "ops", "busy", "hidden",
                    "exposed");
            any = true;
        }
        fprintf(s->out, "  %-12s %9s %9s %9s %9s\n", format_shown(t->stream).s,
                format_count((uint64_t)t->op_count).s, format_time(t->busy_s).s,
                format_time(t->hidden_s).s, format_time(t->busy_s - t->hidden_s).s);
    }
}

/* Share of the capacity of a wire of this class that the step used. */
static double link_use(const struct link_row *l, double step_s)
{
    return l->moved_bytes / (l->bytes_per_s * step_s);
}

static const struct link_row *busiest(const struct link_row *rows, size_t count, const char *kind,
                                      double step_s)
{
    const struct link_row *best = NULL;
    double most = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].kind, kind) == 0 && link_use(&rows[i], step_s) > most) {
            most = link_use(&rows[i], step_s);
            best = &rows[i];
        }
    }
    return best;
}

/* The busiest link class of each kind of wire. */
static void print_links(const struct session *s, const struct record *record)
{
    size_t count;
    const struct link_row *rows = record_link(record, &count);
    const double step_s = record_run(record)->step_s;
    bool any = false;
    for (int kind = LINK_NVLINK; kind <= LINK_FABRIC; kind++) {
        const char *name = graph_link_kind_name((enum link_kind)kind);
        const struct link_row *l = busiest(rows, count, name, step_s);
        if (l == NULL)
            continue;
        if (!any) {
            report_heading(s, "Busiest wires, one direction");
            any = true;
        }
        fprintf(s->out, "  %-8s %6s of %8s on average  %s%.39s to %.39s (%s alike), %s%s\n", name,
                format_percent(link_use(l, step_s)).s, format_rate(l->bytes_per_s).s,
                session_dim(s), format_shown(l->from).s, format_shown(l->to).s,
                format_count((uint64_t)l->link_count).s, format_bytes_decimal(l->moved_bytes).s,
                session_plain(s));
    }
}

/* Where a hash chooses paths, this step is one draw of many. */
static void print_paths(const struct session *s, const struct run_row *run)
{
    if (run->paths_drawn == 1) {
        fprintf(s->out,
                "  %sEach flow keeps to one path, by a hash that seed %" PRIu64
                " draws: other seeds "
                "have\n  other collisions, and --uncertainty draws them too.%s\n",
                session_dim(s), (uint64_t)run->seed, session_plain(s));
    }
}

static void print_digest(const struct session *s, const struct run_row *run)
{
    fprintf(s->out,
            "\n%sdigest %s, seed %" PRIu64 "; %s ranks in %s class%s, %s ops, "
            "%s events%s\n",
            session_dim(s), format_shown(run->digest).s, (uint64_t)run->seed,
            format_count((uint64_t)run->rank_count).s, format_count((uint64_t)run->class_count).s,
            run->class_count == 1 ? "" : "es", format_count((uint64_t)run->op_count).s,
            format_count((uint64_t)run->event_count).s, session_plain(s));
}

static void print_step(const struct session *s, const struct record *record)
{
    const struct run_row *run = record_run(record);
    const bool timed = isfinite(run->step_s);
    report_head(s, record);
    if (timed) {
        print_speed(s, record);
        print_breakdown(s, run);
        report_evidence(s, record, false);
    }
    report_stages(s, record);
    report_failure(s, record);
    if (timed) {
        print_streams(s, record);
        print_links(s, record);
        print_paths(s, run);
        print_digest(s, run);
    }
}

static void print_notes(const struct session *s, const struct record *record)
{
    size_t count;
    const struct message_row *rows = record_message(record, &count);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].severity, "note") != 0)
            continue;
        if (!any) {
            report_heading(s, "Notes of the scenario");
            any = true;
        }
        int used = fprintf(s->out, "  at %-8s  ", format_time(strtod(rows[i].key, NULL)).s);
        wrap_print(s->out, s->width, source_clean(record->arena, rows[i].text),
                   used > 0 ? used : 0);
    }
}

void report_defaults(const struct session *s, const struct record *record)
{
    size_t count;
    const struct message_row *rows = record_message(record, &count);
    bool any = false;
    report_heading(s, "Defaults taken");
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].severity, "default") != 0)
            continue;
        int used = fprintf(s->out, "  %-36s %-12s ", source_clean(record->arena, rows[i].key),
                           source_clean(record->arena, rows[i].text));
        fputs(session_dim(s), s->out);
        wrap_print(s->out, s->width,
                   rows[i].doc != NULL ? source_clean(record->arena, rows[i].doc) : "",
                   used > 0 ? used : 0);
        fputs(session_plain(s), s->out);
        any = true;
    }
    if (!any)
        fputs("  none\n", s->out);
}

void report_run(const struct session *s, const struct record *record, bool all)
{
    const struct run_row *run = record_run(record);
    const bool weeks = isfinite(run->wall_s);
    if (weeks && !all) {
        report_head(s, record);
        print_speed(s, record);
    } else {
        print_step(s, record);
    }
    report_uncertainty(s, record);
    if (weeks)
        report_weeks(s, record, all);
    print_notes(s, record);
    if (run->fits != 1)
        fputs("\n'orrery memory' tells what fills the card, and how many cards it takes\n", s->out);
    if (all)
        report_defaults(s, record);
}
