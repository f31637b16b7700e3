/* report_layouts.h - layouts as facts, in a table, and one in words; what became of those
 * of a search; what they use of a limit of power. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_LAYOUTS_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_LAYOUTS_H

#include "analysis/plan/search/search_found.h"
#include "analysis/tell/document/document.h"
#include "models/step/simulate/breakdown.h"

void report_layout_facts(struct fact *in, const struct plan_layout *layout);
/* What is known of a leader; `rank` 0: of no rank. */
void report_leader_facts(struct fact *in, const struct search_leader *leader,
                         const struct search_row *row, uint32_t rank);
void report_breakdown_facts(struct fact *in, const char *key, const double parts_s[PART_COUNT]);
/* Lines of the object `weeks` of a leader: what failures leave of it. */
#define REPORT_WEEKS_LINES                                                                         \
    "{each weeks}"                                                                                 \
    "  weeks     goodput {goodput} (95 %: {goodput_low} to {goodput_high}, by {seeds:digits} "     \
    "seeds{if .enough}, which are enough: it hardly gets on{end}): {.kept_tokens_per_day} "        \
    "tokens a day\n"                                                                               \
    "{if job_mtbf_s}"                                                                              \
    "            a failure every {job_mtbf_s}; recovery {recovery_policy}"                         \
    "{if .spares > 0}, {.spares} spare node{if not .spares = 1}s{end}{if .spare_gpus > 0} ("       \
    "{.spare_gpus:digits} GPUs, in the price){end}{end}\n"                                         \
    "{end}"                                                                                        \
    "{if checkpoint_interval_s}"                                                                   \
    "            checkpoints {checkpoint_policy}, {checkpoint_stall_s} for each "                  \
    "{checkpoint_interval_s} of work{if .interval_why} ({.interval_why}){end}\n"                   \
    "{end}"                                                                                        \
    "{if .tainted_by}"                                                                             \
    "            '{.tainted_by}' leaves no kept checkpoint that is good, and the job starts\n"     \
    "            anew: --set checkpoint.keep={.keep_needed:.0f} keeps enough\n"                    \
    "{end}"                                                                                        \
    "{if limited}            a limit of the player ended a run: it hardly gets on\n{end}"          \
    "{end}"

/* Columns of a table of layouts: X(name, head, what it is called above the table where all rows
 * have the same; NULL: never, cell). */
#define REPORT_LAYOUT_COLUMNS(X)                                                                   \
    X(tp, "tp", NULL, "{tp:digits}")                                                               \
    X(pp, "pp", NULL, "{pp:digits}")                                                               \
    X(cp, "cp", "cp", "{cp:digits}")                                                               \
    X(ep, "ep", "ep", "{ep:digits}")                                                               \
    X(dp, "dp", NULL, "{dp:digits}")                                                               \
    X(vpp, "vpp", "vpp", "{vpp:digits}")                                                           \
    X(microbatch, "mb", "microbatch", "{microbatch:digits}")                                       \
    X(schedule, "<schedule", "schedule", "{schedule}")                                             \
    X(shards, "<shards", "shards", "{sharding}")                                                   \
    X(sequence, "<sp", "sequence parallel", "{if sequence_parallel}yes{else}no{end}")              \
    X(recompute, "<recompute", "recompute", "{.recompute}")                                        \
    X(ends, "<ends", "ends", "{.ends}")                                                            \
    X(step, "step", NULL, "{step_time_s}{if detail = pass}~{end}")                                 \
    X(forecast, "yours", NULL, "{forecast_step_time_s}")                                           \
    X(mfu, "MFU", NULL, "{mfu}")                                                                   \
    X(goodput, "goodput", NULL, "{weeks.goodput}")                                                 \
    X(kept, "kept/day", NULL, "{weeks..kept_tokens_per_day}")                                      \
    X(memory, "memory", NULL, "{peak_reserved_bytes}")                                             \
    X(fits, "fits", "fits", "{fits_ratio}")                                                        \
    X(cost, "10^9 tok.", NULL, "{cost_usd_per_1e9_tokens}")                                        \
    X(energy, "J/token", NULL, "{if energy_j_per_token}{energy_j_per_token:.3f}{else}-{end}")      \
    X(probability, "P(1)", NULL, "{as_fast_probability}")                                          \
    X(seen, "<seen", NULL, "{if .seen}yes{else}no{end}")
#define REPORT_HEAD(name, head, above, cell) "{if .has_" #name "}\t" head "{end}"
#define REPORT_CELL(name, head, above, cell) "{if .has_" #name "}\t" cell "{end}"
/* Inside the {each} of a table. */
#define REPORT_LAYOUTS_LINES                                                                       \
    "{if .in_all}  in all: {.in_all}\n{end}"                                                       \
    "{if .usual_order}  schedule: interleaved where vpp is above 1, else 1f1b\n{end}"              \
    "{table}<" REPORT_LAYOUT_COLUMNS(REPORT_HEAD) "\n{each .rows}{.name}" REPORT_LAYOUT_COLUMNS(   \
        REPORT_CELL) "\n{end}{end}"

struct layout_line {
    const char *name; /* "1", "own" */
    const struct search_leader *leader;
};
/* A table: what is the same in all of them stands in a line above the others' columns. */
void report_layouts(struct fact *in, const char *key, const struct layout_line *lines,
                    size_t count);
/* "tp 8, pp 4, dp 16, microbatch 2, 1f1b, zero-1, recompute none, sequence parallel". */
const char *report_layout_words(struct arena *arena, const struct plan_layout *layout);
/* "tp 8 pp 4 dp 16 mb 2 zero-1": context and chunks where there are any. */
const char *report_layout_short(struct arena *arena, const struct plan_layout *layout);

/* What the first leader uses of a limit of power, and what more of it would buy. */
struct report_power {
    const struct search_leader *first; /* NULL: nothing keeps the limit */
    const struct search_leader *near;  /* NULL: not told */
    const struct search_more *more;    /* NULL, as not known: nothing more is found with it */
    const char *label;                 /* of several machines that which has `more`; NULL: one */
    bool refused;                      /* the limit keeps something out */
    struct search_watts watts;         /* what would do */
};
/* `power`, where it is limited, and its lines. */
void report_power_facts(struct fact *in, const struct search_terms *terms,
                        const struct report_power *power);
#define REPORT_POWER_LINES                                                                         \
    "{each .power}{if .found}"                                                                     \
    "  power     {wall_w} at the wall, {used_ratio} of {limit_w}; {tokens_per_day_per_mw} tokens " \
    "a day for each MW\n            "                                                              \
    "{if .gains}with {raised_limit_w} {more_tokens_per_day_per_mw} tokens a day more for each MW " \
    "more:\n            {if .label}{.label:raw}: {end}{.short}\n"                                  \
    "{else}{if .refused}with {raised_limit_w} nothing more is found"                               \
    "{else}nothing is refused for its power: more of it buys nothing here{end}\n{end}"             \
    "{else}{if smallest_w}  power     {.would_w} at the wall, rounded up, would do{if .of_played}" \
    ", or less: not all were played op by op{else}, and no less{end}; the limit is {limit_w}"      \
    "{if .near_w}, and this one draws {.near_w}{end}\n{end}{end}{end}"
/* What became of the layouts of a fate, said behind their number: "lead"; and of those that the
 * search came back to. */
extern const char *const report_fate_words[FATE_COUNT];
extern const char report_tried_again[];
/* `.fates` of a plan: those that any layout met, with their numbers, which sum to all layouts. */
void report_fates_shown(struct fact *in, const struct search *search);

#endif
