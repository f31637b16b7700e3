#include <inttypes.h>
#include <math.h>

#include "analysis/report/report.h"
#include "analysis/text/format.h"
#include "models/fit/minimum.h"
#include "sim/units.h"

enum {
    STAGE_BAR_WIDTH = 16,
    TENANT_BAR_WIDTH = 20,
    ADVICE_SHOWN = 8
};

static double usable(const struct result *result)
{
    return result->scenario->configuration.gpu.usable_hbm_bytes;
}

static void heading(const struct session *s, const char *text)
{
    fprintf(s->out, "\n%s%s%s\n", session_bold(s), text, session_plain(s));
}

/* The largest tenants in words: "moments 42.0 GiB, weights 21.0 GiB". */
static void print_largest(const struct session *s, const struct ledger_result *ledger)
{
    bool shown[TENANT_COUNT] = {false};
    for (int place = 0; place < 2; place++) {
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

/* Do two stages read the same in the report? */
static bool alike(const struct result_stage *a, const struct result_stage *b)
{
    bool same = a->needed.peak_reserved_bytes == b->needed.peak_reserved_bytes &&
                a->ledger->failure.failed == b->ledger->failure.failed && a->layers == b->layers;
    for (unsigned t = 0; same && t < TENANT_COUNT; t++) {
        same = a->needed.tenants[t] == b->needed.tenants[t];
    }
    return same;
}

/* Alike stages that follow each other are one line; returns the last of them. */
static uint32_t last_alike(const struct result *result, uint32_t first)
{
    uint32_t last = first;
    while (last + 1 < result->stage_count &&
           alike(&result->stages[first], &result->stages[last + 1])) {
        last++;
    }
    return last;
}

static struct text stage_name(const struct result *result, uint32_t first, uint32_t last)
{
    struct text name;
    uint32_t from = result->stages[first].stage, to = result->stages[last].stage;
    if (from == to) {
        snprintf(name.s, sizeof name.s, "stage %" PRIu32, from);
    } else {
        snprintf(name.s, sizeof name.s, "stages %" PRIu32 "-%" PRIu32, from, to);
    }
    return name;
}

void report_stages(const struct session *s, const struct result *result)
{
    char title[128];
    snprintf(title, sizeof title, "Memory of each stage (peak reserved) against %s usable",
             format_bytes(usable(result)).s);
    heading(s, title);
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct result_stage *stage = &result->stages[i];
        uint32_t last = last_alike(result, i);
        double need = stage->needed.peak_reserved_bytes;
        bool fits = !stage->ledger->failure.failed;
        fprintf(s->out, "  %-12s%s%9s %7s  %s  %-4s%s  %s", stage_name(result, i, last).s,
                fits ? "" : session_red(s), format_bytes(need).s,
                format_percent(need / usable(result)).s,
                format_bar(need / usable(result), STAGE_BAR_WIDTH, s->utf8).s,
                fits ? "fits" : "FULL", fits ? "" : session_plain(s), session_dim(s));
        print_largest(s, &stage->needed);
        fprintf(s->out, "%s\n", session_plain(s));
        i = last;
    }
}

/* Layouts nearby that fit, each as --set takes it. */
static void print_advice(const struct session *s, const struct neighbourhood *tried)
{
    if (tried->fitting_count == 0) {
        fprintf(s->out, "  would help more GPUs: of %u layouts one or two changes away none fits\n",
                tried->tried_count);
        return;
    }
    fprintf(s->out,
            "  would help %s, fastest first (%u of %u layouts tried fit; --set takes them):\n",
            tried->changes == 1 ? "one change" : "two changes together", tried->fitting_count,
            tried->tried_count);
    for (unsigned i = 0; i < tried->fitting_count && i < ADVICE_SHOWN; i++) {
        const struct neighbour *n = &tried->fitting[i];
        fprintf(s->out, "    %7s %s  %9s  %s\n", n->timed ? format_quantity(n->tokens_per_s).s : "",
                n->timed ? "tokens/s" : "not timed", format_bytes(n->peak_reserved_bytes).s,
                n->set);
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
    print_advice(s, &result->advice.tried);
}

static void print_tenants(const struct session *s, const struct result *result, uint32_t index,
                          uint32_t last)
{
    const struct result_stage *stage = &result->stages[index];
    const struct ledger_result *ledger = &stage->needed;
    bool fits = !stage->ledger->failure.failed;
    char title[192];
    char first[64] = "";
    if (stage->rank_count > 1) {
        snprintf(first, sizeof first, " like rank %" PRIu32, stage->first_rank);
    }
    snprintf(title, sizeof title, "%s: %s rank%s%s, %" PRIu32 " layers%s",
             stage_name(result, index, last).s, format_count(stage->rank_count).s,
             stage->rank_count == 1 ? "" : "s", first, stage->layers, last > index ? " each" : "");
    heading(s, title);
    for (unsigned t = 0; t < TENANT_COUNT; t++) {
        double bytes = ledger->tenants[t];
        if (bytes > 0.0) {
            fprintf(s->out, "  %-14s %9s  %s  %s%s%s\n", tenant_names[t], format_bytes(bytes).s,
                    format_bar(bytes / fmax(usable(result), ledger->peak_reserved_bytes),
                               TENANT_BAR_WIDTH, s->utf8)
                        .s,
                    session_dim(s), result->advice.helps[t], session_plain(s));
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

static void print_cards(const struct session *s, const char *who, double bytes, const char *what,
                        uint64_t cards)
{
    fprintf(s->out, "  %-14s %9s  %-45s %s card%s\n", who, format_bytes_decimal(bytes).s, what,
            format_count(cards).s, cards == 1 ? "" : "s");
}

static void print_minimum(const struct session *s, const struct result *result,
                          const struct rule_of_thumb *rule, uint64_t minimum, uint64_t limit)
{
    const struct configuration *c = &result->scenario->configuration;
    double exact = model_parameters(&c->model, c->training.sequence);
    if (result->step == NULL) {
        fprintf(s->out, "  %-14s only counted: the step of such a model is not simulated\n",
                "exact ledger");
        return;
    }
    if (minimum == 0) {
        fprintf(s->out, "  %-14s no legal layout up to %s GPUs holds it\n", "exact ledger",
                format_count(limit).s);
    } else if (minimum == MINIMUM_UNKNOWN) {
        fprintf(s->out, "  %-14s too many layouts to try for the smallest that fits\n",
                "exact ledger");
    } else {
        fprintf(s->out, "  %-14s %9s  %-45s %s card%s\n", "exact ledger", "",
                "smallest legal layout that fits", format_count(minimum).s,
                minimum == 1 ? "" : "s");
    }
    fprintf(s->out,
            "  They differ because the rule takes the nominal %s parameters, every byte of the\n"
            "  data sheet and no layout; the ledger takes the exact %s, the %s that a process\n"
            "  can allocate, buffers and fragmentation, and only layouts that are legal.\n",
            format_quantity(rule->parameters).s, format_quantity(exact).s,
            format_bytes(usable(result)).s);
}

static void print_rule(const struct session *s, const struct result *result,
                       const struct rule_of_thumb *rule, uint64_t minimum, uint64_t limit)
{
    char state[96];
    heading(s, "How many GPUs at least");
    snprintf(state, sizeof state, "of state: %.0f bytes x %s parameters", rule->bytes_per_parameter,
             format_quantity(rule->parameters).s);
    print_cards(s, "rule of thumb", rule->static_bytes, state, rule->static_cards);
    print_cards(s, "", rule->total_bytes, "with activations: k L b s h x bytes", rule->cards);
    print_cards(s, "", rule->inference_bytes, "of weights alone, to infer", rule->inference_cards);
    print_minimum(s, result, rule, minimum, limit);
}

/* A few kinds of stages are told one by one; of many, a line each and the tenants of the fullest.
 */
static void print_stages(const struct session *s, const struct result *result)
{
    const uint32_t told_whole = 3;
    uint32_t kinds = 0, fullest = 0;
    for (uint32_t i = 0; i < result->stage_count; i = last_alike(result, i) + 1) {
        kinds++;
        if (result->stages[i].needed.peak_reserved_bytes >
            result->stages[fullest].needed.peak_reserved_bytes) {
            fullest = i;
        }
    }
    if (kinds > told_whole) {
        report_stages(s, result);
        print_tenants(s, result, fullest, last_alike(result, fullest));
        return;
    }
    for (uint32_t i = 0; i < result->stage_count; i = last_alike(result, i) + 1) {
        print_tenants(s, result, i, last_alike(result, i));
    }
}

void report_memory(const struct session *s, const struct result *result,
                   const struct rule_of_thumb *rule, uint64_t minimum_gpus, uint64_t limit)
{
    report_head(s, result);
    report_failure(s, result);
    print_stages(s, result);
    if (result->step != NULL && result->step->fits) {
        fprintf(s->out, "\n%sIt fits%s: %s of %s usable on the fullest rank\n", session_bold(s),
                session_plain(s), format_bytes(result->step->peak_reserved_bytes).s,
                format_bytes(usable(result)).s);
    }
    print_rule(s, result, rule, minimum_gpus, limit);
}
