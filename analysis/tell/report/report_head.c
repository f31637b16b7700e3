/* The opening lines of every report: what was simulated. */
#include <inttypes.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/output/text/wrap.h"
#include "analysis/tell/report/report_parts.h"
#include "scenarios/language/source.h"

static void print_layout(const struct session *s, const struct run_row *run)
{
    fprintf(s->out, "  layout    tp %" PRId64 "%s x pp %" PRId64, run->tp,
            run->sequence_parallel == 1 ? " (sequence parallel)" : "", run->pp);
    if (run->cp > 1)
        fprintf(s->out, " x cp %" PRId64 " (%s)", run->cp, format_shown(run->cp_method).s);
    fprintf(s->out, " x dp %" PRId64, run->dp);
    if (run->ep > 1)
        fprintf(s->out, ", ep %" PRId64, run->ep);
    fprintf(s->out, ", %s, recompute %s", format_shown(run->sharding).s,
            format_shown(run->recompute).s);
    if (run->recompute_layers > 0)
        fprintf(s->out, " of %" PRId64 " layer%s", run->recompute_layers,
                run->recompute_layers == 1 ? "" : "s");
    fputc('\n', s->out);
    fprintf(s->out,
            "  batch     %" PRId64 " sequence%s: %" PRId64 " microbatch%s of %" PRId64
            " for each replica",
            run->global_batch, run->global_batch == 1 ? "" : "s", run->microbatches,
            run->microbatches == 1 ? "" : "es", run->microbatch);
    if (run->pp > 1) {
        fprintf(s->out, ", %s", format_shown(run->schedule).s);
        if (run->vpp > 1)
            fprintf(s->out, " with %" PRId64 " chunks a stage", run->vpp);
    }
    fputc('\n', s->out);
}

/* What the scenario left open, each with its reason. */
static void print_choices(const struct session *s, const struct record *record)
{
    size_t count;
    const struct message_row *rows = record_message(record, &count);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].severity, "choice") != 0)
            continue;
        const int used = fprintf(s->out, "  %-9s %s: %s", any ? "" : "chosen",
                                 source_clean(record->arena, rows[i].key),
                                 source_clean(record->arena, rows[i].text));
        fprintf(s->out, "%s%*s", session_dim(s), used < 48 ? 48 - used : 1, "");
        wrap_print(s->out, s->width,
                   rows[i].doc != NULL ? source_clean(record->arena, rows[i].doc) : "",
                   used < 48 ? 48 : used + 1);
        fputs(session_plain(s), s->out);
        any = true;
    }
}

void report_head(const struct session *s, const struct record *record)
{
    const struct run_row *run = record_run(record);
    fprintf(s->out, "%s%s%s\n", session_bold(s), format_shown(run->scenario).s, session_plain(s));
    fprintf(s->out, "  model     %s, %s parameters", format_shown(run->model).s,
            format_quantity(run->parameters).s);
    if (run->experts > 0)
        fprintf(s->out, ", %s active", format_quantity(run->active_parameters).s);
    if (run->prediction_parameters > 0.0)
        fprintf(s->out, ", %s more to predict further ahead",
                format_quantity(run->prediction_parameters).s);
    fprintf(s->out, "; sequence %s, %s, %s, %s attention\n",
            format_count((uint64_t)run->sequence).s, format_shown(run->precision).s,
            format_shown(run->optimizer).s, format_shown(run->attention).s);
    fprintf(s->out, "  cluster   %s x %s", format_count((uint64_t)run->rank_count).s,
            format_shown(run->gpu).s);
    if (run->nodes > 1) {
        fprintf(s->out, " in %s x %s over %s", format_count((uint64_t)run->nodes).s,
                format_shown(run->node).s, format_shown(run->fabric).s);
    } else {
        fprintf(s->out, " in one %s", format_shown(run->node).s);
    }
    fprintf(s->out, "; software %s\n", format_shown(run->software).s);
    print_layout(s, run);
    print_choices(s, record);
}
