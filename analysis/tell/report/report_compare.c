#include "analysis/tell/report/report_compare.h"

#include <math.h>

#include "analysis/output/text/format.h"
#include "analysis/output/text/wrap.h"
#include "analysis/tell/report/report_parts.h"
#include "scenarios/language/source.h"

enum {
    FIGURES_SHOWN = 20,
    DOC_COLUMN = 63
};

/* What B has more than A; what is less than rounding of either is nothing. */
static double more(const double of[2])
{
    const double difference = of[1] - of[0];
    return fabs(difference) > 1e-12 * fmax(fabs(of[0]), fabs(of[1])) ? difference : 0.0;
}

/* "+1.2 s" */
static struct text more_time(double seconds)
{
    struct text out;
    snprintf(out.s, sizeof out.s, "%s%.40s", seconds > 0.0 ? "+" : "", format_time(seconds).s);
    return out;
}

static struct text more_bytes(double bytes)
{
    struct text out;
    snprintf(out.s, sizeof out.s, "%s%.40s", bytes > 0.0 ? "+" : "", format_bytes(bytes).s);
    return out;
}

static void print_side(const struct session *s, const char *letter,
                       const struct compared_side *side)
{
    const struct run_row *r = record_run(&side->record);
    fprintf(s->out, "  %s%s%s  %s (%s): %s on %s x %s\n", session_bold(s), letter, session_plain(s),
            format_shown(r->scenario).s, format_shown(side->path).s, format_shown(r->model).s,
            format_count(report_count((double)r->rank_count)).s, format_shown(r->gpu).s);
}

/* Of the difference; what would be shown as -0.0 % is nothing. */
static double share(double part, double whole)
{
    const double least = 0.0005;
    return whole != 0.0 && fabs(part / whole) >= least ? part / whole : 0.0;
}

static void print_term(const struct session *s, const struct comparison *c,
                       const struct compared_term *t)
{
    const double *of = c->same_work ? t->seconds : t->gpu_s;
    const double *whole = c->same_work ? c->total.seconds : c->total.gpu_s;
    char name[32];
    if (of[0] == 0.0 && of[1] == 0.0)
        return;
    snprintf(name, sizeof name, "%s%s", t->part ? "  " : "", t->key);
    fprintf(s->out, "  %-16s %10s %10s %11s %8s  %s", name, format_time(of[0]).s,
            format_time(of[1]).s, more_time(more(of)).s,
            format_percent(share(more(of), more(whole))).s, session_dim(s));
    wrap_print(s->out, s->width, t->what, DOC_COLUMN);
    fputs(session_plain(s), s->out);
}

static void print_times(const struct session *s, const struct comparison *c)
{
    report_heading(s, c->same_work ? (c->weeks ? "Time of a kept step" : "Time of a step")
                                   : "GPU time of 10^6 tokens");
    fprintf(s->out, "  %-16s %10s %10s %11s %8s\n", "", "A", "B", "B - A", "of it");
    for (unsigned i = 0; i < c->term_count; i++)
        print_term(s, c, &c->terms[i]);
    print_term(s, c, &c->total);
    if (!c->same_work) {
        fprintf(s->out, "  %sa step of A trains %s tokens in %s, one of B %s in %s%s\n",
                session_dim(s), format_quantity(c->tokens[0]).s, format_time(c->total.seconds[0]).s,
                format_quantity(c->tokens[1]).s, format_time(c->total.seconds[1]).s,
                session_plain(s));
    }
}

static void print_memory(const struct session *s, const struct comparison *c)
{
    report_heading(s, "Memory of the fullest card");
    for (unsigned t = 0; t <= TENANT_COUNT; t++) {
        const struct compared_bytes *m = t < TENANT_COUNT ? &c->memory[t] : &c->peak;
        if (m->bytes[0] == 0.0 && m->bytes[1] == 0.0)
            continue;
        fprintf(s->out, "  %-16s %10s %10s %11s %8s\n", m->key, format_bytes(m->bytes[0]).s,
                format_bytes(m->bytes[1]).s, more_bytes(more(m->bytes)).s,
                format_percent(share(more(m->bytes), more(c->peak.bytes))).s);
    }
}

static void print_result(const struct session *s, const char *what, struct text a, struct text b,
                         const double values[2])
{
    if (!isfinite(values[0]) || !isfinite(values[1]))
        return;
    fprintf(s->out, "  %-16s %10s %10s %11s\n", what, a.s, b.s,
            format_percent(share(values[1] - values[0], values[0])).s);
}

static void print_results(const struct session *s, const struct compared_side sides[2])
{
    const struct run_row *a = record_run(&sides[0].record), *b = record_run(&sides[1].record);
    report_heading(s, "What comes of it");
    fprintf(s->out, "  %-16s %10s %10s %11s\n", "", "A", "B", "B over A");
    print_result(s, "tokens/s", format_quantity(a->tokens_per_s), format_quantity(b->tokens_per_s),
                 (double[]){a->tokens_per_s, b->tokens_per_s});
    print_result(s, "MFU", format_percent(a->mfu_ratio), format_percent(b->mfu_ratio),
                 (double[]){a->mfu_ratio, b->mfu_ratio});
    print_result(s, "tokens/day kept", format_quantity(a->tokens_per_day),
                 format_quantity(b->tokens_per_day),
                 (double[]){a->tokens_per_day, b->tokens_per_day});
    print_result(s, "10^9 tokens", format_money(a->cost_usd_per_1e9_tokens),
                 format_money(b->cost_usd_per_1e9_tokens),
                 (double[]){a->cost_usd_per_1e9_tokens, b->cost_usd_per_1e9_tokens});
}

static void print_settings(const struct session *s, const struct compared_side sides[2],
                           const struct comparison *c)
{
    struct arena *arena = sides[0].record.arena;
    unsigned figures = 0;
    report_heading(s, "Settings that differ");
    for (unsigned i = 0; i < c->setting_count; i++) {
        const struct compared_setting *one = &c->settings[i];
        if (one->figure && ++figures > FIGURES_SHOWN)
            continue;
        fprintf(s->out, "  %-40s %s -> %s\n", source_clean(arena, one->name),
                one->text[0][0] != '\0' ? source_clean(arena, one->text[0]) : "(none)",
                one->text[1][0] != '\0' ? source_clean(arena, one->text[1]) : "(none)");
    }
    if (figures > FIGURES_SHOWN)
        fprintf(s->out, "  and %u figures more (--json has all)\n", figures - FIGURES_SHOWN);
    if (c->setting_count == 0)
        fputs("  none that a run keeps\n", s->out);
}

void report_compare(const struct session *s, const struct compared_side sides[2],
                    const struct comparison *c)
{
    print_side(s, "A", &sides[0]);
    print_side(s, "B", &sides[1]);
    if (c->timed) {
        print_times(s, c);
        print_results(s, sides);
    } else {
        for (unsigned i = 0; i < 2; i++)
            if (!(record_run(&sides[i].record)->step_s > 0.0))
                fprintf(s->out, "\n%s does not fit in memory: there is no time to compare\n",
                        i == 0 ? "A" : "B");
    }
    print_memory(s, c);
    print_settings(s, sides, c);
}
