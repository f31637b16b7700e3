#include <inttypes.h>
#include <math.h>

#include "analysis/format.h"
#include "analysis/report.h"
#include "sim/units.h"

enum {
    STAGE_BAR_WIDTH = 20,
    TENANT_BAR_WIDTH = 24
};

static double usable(const struct result *result)
{
    return result->scenario->configuration.gpu.usable_hbm_bytes;
}

static void heading(const struct session *s, const char *text)
{
    fprintf(s->out, "\n%s%s%s\n", session_bold(s), text, session_plain(s));
}

/* The largest tenants in words: "moments 42 GiB, weights 21 GiB, activations 9.1 GiB". */
static void print_largest(const struct session *s, const struct ledger_result *ledger)
{
    bool shown[TENANT_COUNT] = {false};
    for (int place = 0; place < 3; place++) {
        int best = -1;
        for (int t = 0; t < TENANT_COUNT; t++) {
            if (!shown[t] && ledger->tenants[t] > 0.0 &&
                (best < 0 || ledger->tenants[t] > ledger->tenants[best])) {
                best = t;
            }
        }
        if (best < 0) {
            break;
        }
        shown[best] = true;
        fprintf(s->out, "%s%s %s", place > 0 ? ", " : "", tenant_names[best],
                format_bytes(ledger->tenants[best]).s);
    }
}

void report_stages(const struct session *s, const struct result *result)
{
    char title[128];
    snprintf(title, sizeof title, "Memory of each stage (peak reserved) against %s usable",
             format_bytes(usable(result)).s);
    heading(s, title);
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct result_stage *stage = &result->stages[i];
        double need = stage->needed.peak_reserved_bytes;
        bool fits = !stage->ledger->failure.failed;
        fprintf(s->out, "  stage %-3" PRIu32 "%s%9s %6s  %s  %-4s%s %s", stage->stage,
                fits ? "" : session_red(s), format_bytes(need).s,
                format_percent(need / usable(result)).s,
                format_bar(need / usable(result), STAGE_BAR_WIDTH, s->utf8).s,
                fits ? "fits" : "FULL", fits ? "" : session_plain(s), session_dim(s));
        print_largest(s, &stage->needed);
        fprintf(s->out, "%s\n", session_plain(s));
    }
}

void report_failure(const struct session *s, const struct result *result)
{
    const struct result_failure *f = &result->failure;
    if (!f->failed) {
        return;
    }
    fprintf(s->out, "\n%s%sOut of memory%s at %s\n", session_bold(s), session_red(s),
            session_plain(s), f->at);
    fprintf(s->out, "  who        rank %" PRIu32 ", pipeline stage %" PRIu32 "\n", f->rank,
            f->stage);
    fprintf(s->out, "  asks for   %s for %s (%s)\n", format_bytes(f->bytes).s, f->tensor,
            tenant_names[f->tenant]);
    fprintf(s->out, "  in         %s\n", f->call_site);
    if (f->at_s > 0.0) {
        fprintf(s->out, "  time       %s into the step\n", format_time(f->at_s).s);
    }
    fprintf(s->out, "  the card   %s reserved (%s allocated) of %s usable: %s short\n",
            format_bytes(f->reserved_bytes).s, format_bytes(f->allocated_bytes).s,
            format_bytes(usable(result)).s, format_bytes(f->short_bytes).s);
    fprintf(s->out, "  would help %s\n", result_knob(f->tenant));
    if (result_no_knob(f->tenant) != NULL) {
        fprintf(s->out, "  would not  %s: %s are not in them\n", tenant_names[f->tenant],
                result_no_knob(f->tenant));
    }
}

static void print_tenants(const struct session *s, const struct result *result,
                          const struct result_stage *stage)
{
    const struct ledger_result *ledger = &stage->needed;
    bool fits = !stage->ledger->failure.failed;
    char title[192];
    snprintf(title, sizeof title,
             "Stage %" PRIu32 ": %s rank%s like rank %" PRIu32 ", %" PRIu32 " layers", stage->stage,
             format_count(stage->rank_count).s, stage->rank_count == 1 ? "" : "s",
             stage->first_rank, stage->layers);
    heading(s, title);
    for (unsigned t = 0; t < TENANT_COUNT; t++) {
        double bytes = ledger->tenants[t];
        if (bytes > 0.0) {
            fprintf(s->out, "  %-14s %9s  %s  %s%s%s\n", tenant_names[t], format_bytes(bytes).s,
                    format_bar(bytes / fmax(usable(result), ledger->peak_reserved_bytes),
                               TENANT_BAR_WIDTH, s->utf8)
                        .s,
                    session_dim(s), result_knob((enum tenant)t), session_plain(s));
        }
    }
    fprintf(s->out, "  %-14s %9s  %s of %s usable%s: %s%s%s\n", "peak reserved",
            format_bytes(ledger->peak_reserved_bytes).s,
            format_percent(ledger->peak_reserved_bytes / usable(result)).s,
            format_bytes(usable(result)).s, fits ? "" : ", were the card large enough",
            fits ? "" : session_red(s), fits ? "fits" : "does not fit", session_plain(s));
    fprintf(s->out, "  %-14s %9s\n", "peak allocated",
            format_bytes(ledger->peak_allocated_bytes).s);
}

static void print_minimum(const struct session *s, const struct result *result,
                          const struct rule_of_thumb *rule, uint64_t minimum, uint64_t limit)
{
    const struct configuration *c = &result->scenario->configuration;
    double exact = model_parameters(&c->model, c->training.sequence);
    if (minimum == 0) {
        fprintf(s->out, "  exact ledger  more than %s GPUs, or no legal layout up to there\n",
                format_count(limit).s);
    } else {
        fprintf(s->out, "  exact ledger  %s x %s\n", format_count(minimum).s, c->gpu.name);
    }
    fprintf(
        s->out,
        "  They differ because the rule takes the nominal %s parameters, every byte of the data\n"
        "  sheet and no layout; the ledger takes the exact %s, the %s that a process can\n"
        "  allocate, and the smallest layout that is legal and survives its first two steps.\n",
        format_quantity(rule->parameters).s, format_quantity(exact).s,
        format_bytes(usable(result)).s);
}

static void print_rule(const struct session *s, const struct result *result,
                       const struct rule_of_thumb *rule, uint64_t minimum, uint64_t limit)
{
    heading(s, "How many GPUs at least");
    fprintf(s->out, "  rule of thumb %s GB of state: %.0f bytes x %s parameters: %s card%s\n",
            format_count((uint64_t)llround(rule->static_bytes / GIGA)).s, rule->bytes_per_parameter,
            format_quantity(rule->parameters).s, format_count(rule->static_cards).s,
            rule->static_cards == 1 ? "" : "s");
    fprintf(s->out, "                with activations (k L b s h x 2) %s GB more: %s card%s\n",
            format_quantity(rule->activation_bytes / GIGA).s, format_count(rule->cards).s,
            rule->cards == 1 ? "" : "s");
    fprintf(s->out, "                to infer only, %s GB of weights: %s card%s\n",
            format_quantity(rule->inference_bytes / GIGA).s, format_count(rule->inference_cards).s,
            rule->inference_cards == 1 ? "" : "s");
    print_minimum(s, result, rule, minimum, limit);
}

void report_memory(const struct session *s, const struct result *result,
                   const struct rule_of_thumb *rule, uint64_t minimum_gpus, uint64_t limit)
{
    report_head(s, result);
    report_failure(s, result);
    for (uint32_t i = 0; i < result->stage_count; i++) {
        print_tenants(s, result, &result->stages[i]);
    }
    print_rule(s, result, rule, minimum_gpus, limit);
}
