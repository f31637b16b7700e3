#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/tell/report/report.h"
#include "analysis/tell/report/report_parts.h"
#include "models/memory/ledger.h"
#include "models/plan/minimum.h"
#include "scenarios/language/source.h"
#include "sim/units.h"

enum {
    STAGE_BAR_WIDTH = 16,
    TENANT_BAR_WIDTH = 20,
    ADVICE_SHOWN = 8
};

static double usable(const struct record *record)
{
    return record_run(record)->usable_hbm_bytes;
}

static double held(const struct stage_memory_row *stage, unsigned tenant)
{
    const double bytes[TENANT_COUNT] = {
        [TENANT_WEIGHTS] = stage->weights_bytes,
        [TENANT_GRADIENTS] = stage->gradients_bytes,
        [TENANT_MASTER] = stage->master_bytes,
        [TENANT_MOMENTS] = stage->moments_bytes,
        [TENANT_ACTIVATIONS] = stage->activations_bytes,
        [TENANT_TEMPORARY] = stage->temporary_bytes,
        [TENANT_COMMUNICATION] = stage->communication_bytes,
        [TENANT_CONTEXT] = stage->context_bytes,
        [TENANT_FRAGMENTATION] = stage->fragmentation_bytes,
    };
    return bytes[tenant];
}

/* The largest tenants in words: "moments 42.0 GiB, weights 21.0 GiB". */
static void print_largest(const struct session *s, const struct stage_memory_row *stage)
{
    bool shown[TENANT_COUNT] = {false};
    for (int place = 0; place < 2; place++) {
        int best = -1;
        for (int t = 0; t < TENANT_COUNT; t++)
            if (!shown[t] && held(stage, (unsigned)t) > 0.0 &&
                (best < 0 || held(stage, (unsigned)t) > held(stage, (unsigned)best)))
                best = t;
        if (best < 0)
            break;
        shown[best] = true;
        fprintf(s->out, "%s%s %s", place > 0 ? ", " : "", tenant_names[best],
                format_bytes(held(stage, (unsigned)best)).s);
    }
}

/* Do two stages read the same in the report? */
static bool alike(const struct stage_memory_row *a, const struct stage_memory_row *b)
{
    bool same = a->peak_reserved_bytes == b->peak_reserved_bytes && a->fits == b->fits &&
                a->layers == b->layers;
    for (unsigned t = 0; same && t < TENANT_COUNT; t++)
        same = held(a, t) == held(b, t);
    return same;
}

/* Alike stages that follow each other are one line; returns the last of them. */
static size_t last_alike(const struct stage_memory_row *stages, size_t count, size_t first)
{
    size_t last = first;
    while (last + 1 < count && alike(&stages[first], &stages[last + 1]))
        last++;
    return last;
}

static struct text stage_name(int64_t from, int64_t to)
{
    struct text name;
    if (from == to)
        snprintf(name.s, sizeof name.s, "stage %" PRId64, from);
    else
        snprintf(name.s, sizeof name.s, "stages %" PRId64 "-%" PRId64, from, to);
    return name;
}

void report_stages(const struct session *s, const struct record *record)
{
    size_t count;
    const struct stage_memory_row *stages = record_stage_memory(record, &count);
    char title[128];
    snprintf(title, sizeof title, "Memory of each stage (peak reserved) against %s usable",
             format_bytes(usable(record)).s);
    report_heading(s, title);
    for (size_t i = 0; i < count; i++) {
        const size_t last = last_alike(stages, count, i);
        double need = stages[i].peak_reserved_bytes;
        bool fits = stages[i].fits == 1;
        fprintf(s->out, "  %-12s%s%9s %7s  %s  %-4s%s  %s",
                stage_name(stages[i].stage, stages[last].stage).s, fits ? "" : session_red(s),
                format_bytes(need).s, format_percent(need / usable(record)).s,
                format_bar(need / usable(record), STAGE_BAR_WIDTH, s->utf8).s,
                fits ? "fits" : "FULL", fits ? "" : session_plain(s), session_dim(s));
        print_largest(s, &stages[i]);
        fprintf(s->out, "%s\n", session_plain(s));
        i = last;
    }
}

/* Layouts nearby that fit, each as --set takes it. */
static void print_advice(const struct session *s, const struct record *record,
                         const struct out_of_memory_row *f)
{
    size_t count;
    const struct neighbour_row *rows = record_neighbour(record, &count);
    if (f->fitting == 0) {
        fprintf(s->out,
                "  would help more GPUs: of %" PRId64
                " layouts one or two changes away none fits\n",
                f->tried);
        return;
    }
    fprintf(s->out,
            "  would help %s, fastest first (%" PRId64 " of %" PRId64
            " layouts tried fit; --set takes them):\n",
            f->changes == 1 ? "one change" : "two changes together", f->fitting, f->tried);
    for (size_t i = 0; i < count && i < ADVICE_SHOWN; i++) {
        const bool timed = isfinite(rows[i].step_s);
        fprintf(s->out, "    %7s %s  %9s  %s\n",
                timed ? format_quantity(rows[i].tokens_per_s).s : "",
                timed ? "tokens/s" : "not timed", format_bytes(rows[i].peak_reserved_bytes).s,
                source_clean(record->arena, rows[i].set));
    }
}

bool report_host_fails(const struct record *record)
{
    size_t count;
    const struct out_of_memory_row *f = record_out_of_memory(record, &count);
    return count > 0 && strcmp(f->place, "host") == 0;
}

void report_failure(const struct session *s, const struct record *record)
{
    size_t count;
    const struct out_of_memory_row *f = record_out_of_memory(record, &count);
    if (count == 0)
        return;
    fprintf(s->out, "\n%s%sOut of memory%s at %s\n", session_bold(s), session_red(s),
            session_plain(s), format_shown(f->at).s);
    fprintf(s->out, "  who        rank %" PRId64 ", pipeline stage %" PRId64 "\n", f->rank,
            f->stage);
    fprintf(s->out, "  asks for   %s for %s (%s)\n", format_bytes(f->bytes).s,
            format_shown(f->tensor).s, format_shown(f->tenant).s);
    fprintf(s->out, "  in         %s\n", format_shown(f->call_site).s);
    if (f->at_s > 0.0)
        fprintf(s->out, "  time       %s into the step\n", format_time(f->at_s).s);
    if (report_host_fails(record)) {
        fprintf(s->out, "  the CPUs   %s: %s short\n", format_bytes(f->reserved_bytes).s,
                format_bytes(f->short_bytes).s);
        fprintf(s->out, "  would help %s\n", format_shown(f->would_help).s);
    } else {
        fprintf(s->out, "  the card   %s reserved (%s allocated) of %s usable: %s short\n",
                format_bytes(f->reserved_bytes).s, format_bytes(f->allocated_bytes).s,
                format_bytes(usable(record)).s, format_bytes(f->short_bytes).s);
    }
    print_advice(s, record, f);
}

static void print_tenants(const struct session *s, const struct record *record,
                          const char *const helps[TENANT_COUNT], size_t index, size_t last)
{
    size_t count;
    const struct stage_memory_row *stages = record_stage_memory(record, &count),
                                  *stage = &stages[index];
    bool fits = stage->fits == 1;
    char title[192];
    char first[64] = "";
    if (stage->rank_count > 1)
        snprintf(first, sizeof first, " like rank %" PRId64, stage->first_rank);
    snprintf(title, sizeof title, "%s: %s rank%s%s, %" PRId64 " layers%s",
             stage_name(stage->stage, stages[last].stage).s,
             format_count((uint64_t)stage->rank_count).s, stage->rank_count == 1 ? "" : "s", first,
             stage->layers, last > index ? " each" : "");
    report_heading(s, title);
    for (unsigned t = 0; t < TENANT_COUNT; t++) {
        double bytes = held(stage, t);
        if (bytes > 0.0) {
            fprintf(s->out, "  %-14s %9s  %s  %s%s%s\n", tenant_names[t], format_bytes(bytes).s,
                    format_bar(bytes / fmax(usable(record), stage->peak_reserved_bytes),
                               TENANT_BAR_WIDTH, s->utf8)
                        .s,
                    session_dim(s), helps[t], session_plain(s));
        }
    }
    fprintf(s->out, "  %-14s %9s  %s of %s usable%s: %s%s%s\n", "peak reserved",
            format_bytes(stage->peak_reserved_bytes).s,
            format_percent(stage->peak_reserved_bytes / usable(record)).s,
            format_bytes(usable(record)).s, fits ? "" : ", were the card large enough",
            fits ? "" : session_red(s), fits ? "fits" : "does not fit", session_plain(s));
    fprintf(s->out, "  %-14s %9s\n", "peak allocated", format_bytes(stage->peak_allocated_bytes).s);
}

static void print_cards(const struct session *s, const char *who, double bytes, const char *what,
                        uint64_t cards)
{
    fprintf(s->out, "  %-14s %9s  %-45s %s card%s\n", who, format_bytes_decimal(bytes).s, what,
            format_count(cards).s, cards == 1 ? "" : "s");
}

static void print_minimum(const struct session *s, const struct record *record,
                          const struct rule_of_thumb *rule, uint64_t minimum, uint64_t limit)
{
    if (record_run(record)->fits == ROW_NULL) {
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
            format_quantity(rule->parameters).s, format_quantity(record_run(record)->parameters).s,
            format_bytes(usable(record)).s);
}

static void print_rule(const struct session *s, const struct record *record,
                       const struct rule_of_thumb *rule, uint64_t minimum, uint64_t limit)
{
    char state[96];
    report_heading(s, "How many GPUs at least");
    snprintf(state, sizeof state, "of state: %.0f bytes x %s parameters", rule->bytes_per_parameter,
             format_quantity(rule->parameters).s);
    print_cards(s, "rule of thumb", rule->static_bytes, state, rule->static_cards);
    print_cards(s, "", rule->total_bytes, "with activations: k L b s h x bytes", rule->cards);
    print_cards(s, "", rule->inference_bytes, "of weights alone, to infer", rule->inference_cards);
    print_minimum(s, record, rule, minimum, limit);
}

/* A few kinds of stages are told one by one; of many, a line each and the tenants of the fullest.
 */
static void print_stages(const struct session *s, const struct record *record,
                         const char *const helps[TENANT_COUNT])
{
    const uint32_t told_whole = 3;
    size_t count, kinds = 0, fullest = 0;
    const struct stage_memory_row *stages = record_stage_memory(record, &count);
    for (size_t i = 0; i < count; i = last_alike(stages, count, i) + 1) {
        kinds++;
        if (stages[i].peak_reserved_bytes > stages[fullest].peak_reserved_bytes)
            fullest = i;
    }
    if (kinds > told_whole) {
        report_stages(s, record);
        print_tenants(s, record, helps, fullest, last_alike(stages, count, fullest));
        return;
    }
    for (size_t i = 0; i < count; i = last_alike(stages, count, i) + 1)
        print_tenants(s, record, helps, i, last_alike(stages, count, i));
}

/* Of the fullest rank, as it would need. */
static double fullest_bytes(const struct record *record)
{
    return record_run(record)->peak_reserved_bytes;
}

void report_memory(const struct session *s, const struct record *record,
                   const char *const helps[TENANT_COUNT], const struct rule_of_thumb *rule,
                   uint64_t minimum_gpus, uint64_t limit)
{
    report_head(s, record);
    report_failure(s, record);
    print_stages(s, record, helps);
    if (record_run(record)->fits == 1) {
        fprintf(s->out, "\n%sIt fits%s: %s of %s usable on the fullest rank\n", session_bold(s),
                session_plain(s), format_bytes(fullest_bytes(record)).s,
                format_bytes(usable(record)).s);
    }
    print_rule(s, record, rule, minimum_gpus, limit);
}
