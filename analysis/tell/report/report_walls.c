#include "analysis/tell/report/report_walls.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analysis/output/text/format.h"
#include "analysis/output/text/wrap.h"
#include "analysis/tell/report/report_parts.h"

enum {
    FORMULA_COLUMN = 56
};

static struct text in_unit(enum walls_unit unit, double value)
{
    struct text out;
    switch (unit) {
    case WALLS_BYTES:
        return format_bytes_decimal(value);
    case WALLS_FLOP:
        return format_flops(value);
    case WALLS_SECONDS:
        return format_time(value);
    case WALLS_SHARE:
        return format_percent(value);
    case WALLS_RATE:
        return format_rate(value);
    case WALLS_CARDS:
        return isfinite(value) ? format_count(report_count(value)) : (struct text){"-"};
    case WALLS_GPU_YEARS:
    case WALLS_MONTHS:
        break;
    }
    out = format_quantity(value);
    return out;
}

static void print_rows(const struct session *s, const struct walls_row rows[WALLS_ROW_COUNT])
{
    int part = -1;
    for (unsigned i = 0; i < WALLS_ROW_COUNT; i++) {
        const struct walls_row *row = &rows[i];
        if (!isfinite(row->envelope) && !isfinite(row->simulated))
            continue;
        if ((int)row->part != part) {
            part = (int)row->part;
            report_heading(s, walls_part_titles[part]);
            fprintf(s->out, "  %-28s %11s %11s\n", "", "envelope", "simulated");
        }
        fprintf(s->out, "  %-28s %11s %11s  %s", row->what, in_unit(row->unit, row->envelope).s,
                in_unit(row->unit, row->simulated).s, session_dim(s));
        wrap_print(s->out, s->width, row->formula, FORMULA_COLUMN);
        fputs(session_plain(s), s->out);
    }
}

static void print_simulated(const struct session *s, const struct walls_simulated *found)
{
    if (!found->fits) {
        fputs("  simulated   memory: this layout does not fit; 'orrery memory' tells where it "
              "ends\n",
              s->out);
    } else if (found->timed) {
        fprintf(s->out, "  simulated   it fits, and %s of the step is %s\n",
                format_percent(found->most_ratio).s, found->most);
    }
}

static void print_binding(const struct session *s, const struct walls *walls)
{
    report_heading(s, "Which wall binds");
    fprintf(s->out, "  envelope    %s%s%s\n  moves it    ", session_bold(s),
            walls_wall_names[walls->binding], session_plain(s));
    wrap_print(s->out, s->width, walls_wall_moves[walls->binding], 14);
    print_simulated(s, &walls->simulated);
}

/* Of each precision that a kernel computes in. */
static void print_balance(const struct session *s, const struct walls *walls)
{
    const struct walls_kernel *roofs[PEAK_COUNT];
    const double rate = walls->envelope.hbm_bytes_per_s;
    const unsigned count = walls_roofs(walls, roofs);
    fprintf(s->out, "  %s%s of HBM balance", session_dim(s), format_rate(rate).s);
    for (unsigned i = 0; i < count; i++)
        fprintf(s->out, "%s %s/s of %s at %.0f FLOP a byte", i > 0 ? "," : "",
                format_flops(roofs[i]->peak_flops_per_s).s, peak_names[roofs[i]->peak],
                walls_balance(roofs[i]->peak_flops_per_s, rate));
    fprintf(s->out, ";\n  a kernel above that is bound by arithmetic, one below by memory%s\n",
            session_plain(s));
}

static void print_kernels(const struct session *s, const struct walls *walls)
{
    if (walls->kernel_count == 0)
        return;
    report_heading(s, "Roofline of the forward kernels of a rank, one microbatch");
    print_balance(s, walls);
    fprintf(s->out, "  %-6s %-24s %11s %11s %7s  %-15s %9s %9s %7s\n", "block", "kernel", "FLOPs",
            "bytes", "FLOP/B", "bound by", "roofline", "modelled", "of roof");
    for (unsigned i = 0; i < walls->kernel_count; i++) {
        const struct walls_kernel *k = &walls->kernels[i];
        char bound[32] = "memory";
        if (k->by_arithmetic)
            snprintf(bound, sizeof bound, "%s arithmetic", peak_names[k->peak]);
        fprintf(s->out, "  %-6s %-24s %11s %11s %7.4g  %-15s %9s %9s %7s\n", k->block, k->name,
                format_flops(k->flops).s, format_bytes_decimal(k->bytes).s, k->flops / k->bytes,
                bound, format_time(k->roofline_s).s, format_time(k->modelled_s).s,
                format_percent(k->roofline_s / k->modelled_s).s);
    }
}

static void print_head(const struct session *s, const struct scenario *scenario,
                       const struct walls_envelope *e)
{
    const struct configuration *c = &scenario->configuration;
    fprintf(s->out, "%s%s%s\n  envelope    %s of %s parameters on %s x %s\n", session_bold(s),
            format_shown(scenario->name).s, session_plain(s), format_shown(c->model.name).s,
            format_quantity(e->parameters).s, format_count(configuration_ranks(c)).s,
            format_shown(c->gpu.name).s);
    fprintf(s->out, "              sequence %s, a step of %s tokens",
            format_count(c->training.sequence).s, format_quantity(e->step_tokens).s);
    if (isfinite(e->budget_tokens))
        fprintf(s->out, ", %s tokens in all", format_quantity(e->budget_tokens).s);
    fputc('\n', s->out);
    fprintf(s->out,
            "  simulated   tp %" PRIu64 ", pp %" PRIu64 ", cp %" PRIu64 ", dp %" PRIu64
            ", microbatches of %" PRIu64 ", software %s\n",
            c->layout.tp, c->layout.pp, c->layout.cp, c->layout.dp, c->layout.microbatch,
            format_shown(c->software.name).s);
}

void report_walls(const struct session *s, const struct scenario *scenario,
                  const struct walls *walls)
{
    struct walls_row rows[WALLS_ROW_COUNT];
    walls_rows(walls, rows);
    print_head(s, scenario, &walls->envelope);
    print_rows(s, rows);
    print_binding(s, walls);
    print_kernels(s, walls);
}
