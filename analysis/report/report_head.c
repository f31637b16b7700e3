/* The opening lines of every report: what was simulated. */
#include "analysis/report/report.h"
#include "analysis/text/format.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include <inttypes.h>
#include <math.h>

static void print_layout(const struct session *s, const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    fprintf(s->out, "  layout    tp %" PRIu64 "%s x pp %" PRIu64, l->tp,
            l->sequence_parallel ? " (sequence parallel)" : "", l->pp);
    if (l->cp > 1) {
        fprintf(s->out, " x cp %" PRIu64 " (%s)", l->cp, cp_method_names[l->cp_method]);
    }
    fprintf(s->out, " x dp %" PRIu64 ", %s, recompute %s\n", l->dp, l->sharding->head.name,
            recompute_names[l->recompute]);
    fprintf(s->out,
            "  batch     %" PRIu64 " sequence%s: %" PRIu64 " microbatch%s of %" PRIu64
            " for each replica",
            c->training.global_batch, c->training.global_batch == 1 ? "" : "s",
            configuration_microbatches(c), configuration_microbatches(c) == 1 ? "" : "es",
            l->microbatch);
    if (l->pp > 1) {
        fprintf(s->out, ", %s", l->schedule->head.name);
        if (l->vpp > 1) {
            fprintf(s->out, " with %" PRIu64 " chunks a stage", l->vpp);
        }
    }
    fputc('\n', s->out);
}

void report_head(const struct session *s, const struct result *result)
{
    const struct configuration *c = &result->scenario->configuration;
    double parameters = model_parameters(&c->model, c->training.sequence);
    fprintf(s->out, "%s%s%s\n", session_bold(s), format_shown(result->scenario->name).s,
            session_plain(s));
    fprintf(s->out, "  model     %s, %s parameters; sequence %s, %s, %s, %s attention\n",
            c->model.name, format_quantity(parameters).s, format_count(c->training.sequence).s,
            c->training.precision->head.name, c->training.optimizer->head.name,
            attention_kernel_names[c->training.attention]);
    fprintf(s->out, "  cluster   %s x %s", format_count(configuration_ranks(c)).s, c->gpu.name);
    if (c->cluster.nodes > 1) {
        fprintf(s->out, " in %s x %s over %s", format_count(c->cluster.nodes).s,
                c->cluster.node.name, c->cluster.fabric.name);
    } else {
        fprintf(s->out, " in one %s", c->cluster.node.name);
    }
    fprintf(s->out, "; software %s\n", c->software.name);
    print_layout(s, c);
}
