#include "analysis/tell/report/report_layouts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/plan/search/search_power.h"
#include "analysis/plan/search/search_terms.h"
#include "analysis/plan/search/search_weeks.h"
#include "analysis/tell/document/document_lines.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/units.h"

static double known_if(bool known, double value)
{
    return known ? value : (double)NAN;
}

/* "full 12" */
static const char *recompute_words(struct arena *arena, const struct plan_layout *l)
{
    const char *name = recompute_names[l->recompute];
    return l->recompute_layers > 0 ? arena_format(arena, "%s %" PRIu32, name, l->recompute_layers)
                                   : name;
}

/* "3+2": layouts whose first and last stage are given; NULL: they are not. */
static const char *given_ends(struct arena *arena, const struct plan_layout *l)
{
    return l->first_stage_layers + l->last_stage_layers > 0
               ? arena_format(arena, "%" PRIu32 "+%" PRIu32, l->first_stage_layers,
                              l->last_stage_layers)
               : NULL;
}

void report_layout_facts(struct fact *o, const struct plan_layout *l)
{
    const char *ends = given_ends(o->arena, l);
    document_count(o, "tp", l->tp);
    document_count(o, "pp", l->pp);
    document_count(o, "dp", l->dp);
    document_count(o, "cp", l->cp);
    document_count(o, "ep", l->ep);
    document_real(o, "etp", IN_COUNT, known_if(l->etp > 0, l->etp)); /* null: as tp */
    document_count(o, "vpp", l->vpp);
    document_count(o, "microbatch", l->microbatch);
    document_word(o, "schedule", l->schedule->head.name);
    document_word(o, "sharding", l->sharding->head.name);
    document_word(o, "recompute", recompute_names[l->recompute]);
    document_count(o, "recompute_layers", l->recompute_layers);
    document_flag(o, "sequence_parallel", l->sequence_parallel);
    document_flag(o, "ends_count", l->ends_count);
    document_real(o, "first_stage_layers", IN_COUNT,
                  known_if(l->first_stage_layers > 0, l->first_stage_layers));
    document_real(o, "last_stage_layers", IN_COUNT,
                  known_if(l->last_stage_layers > 0, l->last_stage_layers));
    document_word(o, ".recompute", recompute_words(o->arena, l));
    document_word(o, ".ends", ends != NULL ? ends : l->ends_count ? "count" : "no");
}

void report_breakdown_facts(struct fact *in, const char *key, const double parts_s[PART_COUNT])
{
    struct fact *o = document_object(in, key);
    for (unsigned p = 0; p < PART_COUNT; p++)
        document_real(o, breakdown_names[p], IN_SECONDS, parts_s[p]);
}

static void set_weeks(struct fact *in, const struct search_weeks *w)
{
    struct fact *o = document_object_if(w != NULL, in, "weeks");
    if (o == NULL)
        return;
    document_count(o, "seeds", w->seeds);
    document_real(o, "goodput", IN_RATIO, w->goodput_ratio);
    document_real(o, "goodput_low", IN_RATIO, w->low_ratio);
    document_real(o, "goodput_high", IN_RATIO, w->high_ratio);
    document_real(o, "kept_tokens_per_s", IN_QUANTITY, w->tokens_per_s);
    document_real(o, "failures", IN_COUNT, w->failures);
    document_real(o, "job_mtbf_s", IN_SECONDS, w->mtbf_s);
    document_word(o, "checkpoint_policy", w->checkpoint);
    document_real(o, "checkpoint_interval_s", IN_SECONDS, w->interval_s);
    document_real(o, "checkpoint_stall_s", IN_SECONDS, w->stall_s);
    document_word(o, "recovery_policy", w->recovery);
    document_flag(o, "limited", w->limited);
    document_flag(o, ".enough", w->seeds < w->asked);
    document_real(o, ".kept_tokens_per_day", IN_QUANTITY, w->tokens_per_s * DAY);
    document_count(o, ".spares", w->spares);
    document_count(o, ".spare_gpus", w->spare_gpus);
    document_word(o, ".interval_why", w->interval_why);
    document_quote(o, ".tainted_by", w->tainted_by);
    document_real(o, ".keep_needed", IN_COUNT, w->keep_needed);
}

void report_leader_facts(struct fact *o, const struct search_leader *l,
                         const struct search_row *row, uint32_t rank)
{
    document_real(o, "rank", IN_COUNT, known_if(rank > 0, rank));
    report_layout_facts(o, &row->layout);
    document_word(o, "detail", l->played ? "op" : "pass");
    document_word(o, "measured", nearness_names[l->nearness]);
    document_flag(o, ".seen", l->nearness <= NEAR_LAYOUT);
    document_real(o, "step_time_s", IN_SECONDS, l->step_s);
    document_real(o, "pass_step_time_s", IN_SECONDS, known_if(row->pass_s > 0.0, row->pass_s));
    document_real(o, "p10", IN_SECONDS, l->p10_s);
    document_real(o, "p90", IN_SECONDS, l->p90_s);
    document_real(o, "forecast_step_time_s", IN_SECONDS,
                  known_if(l->forecast_s > 0.0, l->forecast_s));
    document_real(o, "as_fast_probability", IN_RATIO, l->as_fast_probability);
    document_real(o, "tokens_per_s", IN_QUANTITY, l->tokens_per_s);
    document_real(o, "mfu", IN_RATIO, l->mfu_ratio);
    document_real(o, "peak_reserved_bytes", IN_BYTES, l->peak_reserved_bytes);
    document_real(o, "peak_allocated_bytes", IN_BYTES, l->peak_allocated_bytes);
    document_real(o, "fits_ratio", IN_RATIO, known_if(l->fit.known, l->fit.ratio));
    document_real(o, "fits_draws", IN_COUNT, known_if(l->fit.known, l->fit.draws));
    document_real(o, "cost_usd_per_1e9_tokens", IN_USD, l->usd_per_1e9_tokens);
    document_real(o, "energy_j_per_token", IN_QUANTITY, l->energy_j_per_token);
    document_real(o, "wall_w", IN_WATTS, l->wall_w);
    document_real(o, ".training_s", IN_SECONDS, l->training_s);
    document_real(o, "training_days", IN_QUANTITY, l->training_s / DAY);
    document_real(o, "training_usd", IN_USD, l->training_usd);
    set_weeks(o, l->weeks);
    document_null(o, "breakdown");
    if (l->played)
        report_breakdown_facts(o, "breakdown", l->breakdown_s);
}

/* 1f1b, interleaved where a stage has chunks: then the chunks say it. */
static bool usual_order(const struct layout_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct plan_layout *l = &lines[i].leader->row->layout;
        if (l->schedule != (l->vpp > 1 ? &schedule_interleaved : &schedule_one_f_one_b))
            return false;
    }
    return true;
}

static const struct layout_column {
    const char *flag, *head, *above, *cell;
} columns[] = {
#define X(name, head, above, cell) {".has_" #name, head, above, cell},
    REPORT_LAYOUT_COLUMNS(X)
#undef X
};

/* Above the table stands what is the same in all rows; ends that nobody counts nowhere. */
static void fold(struct fact *table, const struct fact *rows)
{
    const char *in_all = "";
    const size_t count = rows->value.of.count;
    for (unsigned c = 0; c < sizeof columns / sizeof *columns; c++) {
        const struct layout_column *column = &columns[c];
        const char *cell = NULL;
        bool same = document_find(table, column->flag, strlen(column->flag))->value.flag &&
                    column->above != NULL && (count >= 2 || *column->head == '<');
        for (const struct fact *row = rows->value.of.first; same && row != NULL; row = row->next) {
            const char *own = document_text(row, column->cell);
            same = cell == NULL || strcmp(cell, own) == 0;
            cell = own;
        }
        if (!same)
            continue;
        document_flag(table, column->flag, false);
        if (strcmp(column->above, "ends") != 0 || strcmp(cell, "no") != 0)
            in_all = arena_format(table->arena, "%s%s%s %s", in_all, *in_all != '\0' ? ", " : "",
                                  column->above, cell);
    }
    document_word(table, ".in_all", in_all);
}

/* With failures what is kept stands in place of what would be. */
static void choose_columns(struct fact *table, const struct layout_line *lines, size_t count)
{
    bool weeks = false, shared = false, forecast = false, energy = false;
    for (size_t i = 0; i < count; i++) {
        forecast = forecast || lines[i].leader->forecast_s > 0.0;
        energy = energy || isfinite(lines[i].leader->energy_j_per_token);
        weeks = weeks || lines[i].leader->weeks != NULL;
        shared = shared || lines[i].leader->row->layout.ep > 1;
    }
    for (unsigned c = 0; c < sizeof columns / sizeof *columns; c++)
        document_flag(table, columns[c].flag, true);
    document_flag(table, ".has_ep", shared);
    document_flag(table, ".has_energy", energy);
    document_flag(table, ".has_forecast", forecast);
    document_flag(table, ".has_goodput", weeks);
    document_flag(table, ".has_kept", weeks);
    document_flag(table, ".has_mfu", !weeks);
    document_flag(table, ".has_cost", !weeks);
}

void report_layouts(struct fact *in, const char *key, const struct layout_line *lines, size_t count)
{
    struct fact *table = document_object(in, key), *rows = document_array(table, ".rows");
    for (size_t i = 0; i < count; i++) {
        struct fact *row = document_object(rows, NULL);
        document_word(row, ".name", lines[i].name);
        report_leader_facts(row, lines[i].leader, lines[i].leader->row, 0);
    }
    choose_columns(table, lines, count);
    fold(table, rows);
    const bool usual = document_find(table, ".has_schedule", strlen(".has_schedule"))->value.flag &&
                       usual_order(lines, count);
    document_flag(table, ".usual_order", usual);
    if (usual)
        document_flag(table, ".has_schedule", false);
}

const char *report_layout_words(struct arena *arena, const struct plan_layout *l)
{
    const char *ends = given_ends(arena, l);
    const char *shared = l->ep > 1 ? arena_format(arena, ", ep %" PRIu32, l->ep) : "";
    return arena_format(
        arena,
        "tp %" PRIu32 ", pp %" PRIu32 ", cp %" PRIu32 ", dp %" PRIu32 "%s, vpp %" PRIu32
        ", microbatch %" PRIu32 ", %s, %s, recompute %s, sequence parallel %s%s%s%s",
        l->tp, l->pp, l->cp, l->dp, shared, l->vpp, l->microbatch, l->schedule->head.name,
        l->sharding->head.name, recompute_words(arena, l), l->sequence_parallel ? "true" : "false",
        l->ends_count ? ", ends_count" : "", ends != NULL ? ", ends " : "",
        ends != NULL ? ends : "");
}

const char *report_layout_short(struct arena *arena, const struct plan_layout *l)
{
    const char *text =
        arena_format(arena, "tp %" PRIu32 " pp %" PRIu32 " dp %" PRIu32, l->tp, l->pp, l->dp);
    if (l->cp > 1)
        text = arena_format(arena, "%s cp %" PRIu32, text, l->cp);
    if (l->vpp > 1)
        text = arena_format(arena, "%s vpp %" PRIu32, text, l->vpp);
    return arena_format(arena, "%s mb %" PRIu32 " %s", text, l->microbatch, l->sharding->head.name);
}

/* To the digits that are printed, so that what is told is enough. */
static double rounded_up(double w)
{
    const double unit = pow(10.0, floor(log10(w)) - 2.0);
    return ceil(w / unit) * unit;
}

/* `first` NULL: nothing keeps the limit. */
static void set_power(struct fact *o, const struct search_terms *terms,
                      const struct report_power *p)
{
    const double rate = p->first != NULL ? search_weeks_tokens_per_s(p->first) : (double)NAN;
    const bool more = p->first != NULL && p->more != NULL && p->more->known;
    const double each = more ? search_more_tokens_per_day_mw(p->more, p->first) : (double)NAN;
    document_real(o, "limit_w", IN_WATTS, terms->power_w);
    document_real(o, "wall_w", IN_WATTS, p->first != NULL ? p->first->wall_w : (double)NAN);
    document_real(o, "used_ratio", IN_RATIO,
                  p->first != NULL ? p->first->wall_w / terms->power_w : (double)NAN);
    document_real(o, "tokens_per_day_per_mw", IN_QUANTITY,
                  p->first != NULL ? rate * DAY / (p->first->wall_w / MEGA) : (double)NAN);
    document_real(o, "raised_limit_w", IN_WATTS, terms->power_w * (1.0 + SEARCH_MORE_RATIO));
    document_real(o, "more_tokens_per_day_per_mw", IN_QUANTITY,
                  p->first != NULL ? (more ? each : 0.0) : (double)NAN);
    document_real(o, "smallest_w", IN_WATTS, p->watts.smallest_w);
    document_real(o, ".would_w", IN_WATTS, rounded_up(p->watts.smallest_w));
    document_real(o, ".near_w", IN_WATTS, p->near != NULL ? p->near->wall_w : (double)NAN);
    document_flag(o, ".found", p->first != NULL);
    document_flag(o, ".refused", p->refused);
    document_flag(o, ".gains", each > 0.0);
    document_flag(o, ".of_played", p->watts.of_played);
    document_word(o, ".label", p->label);
    document_word(o, ".short",
                  more ? report_layout_short(o->arena, &p->more->leader.row->layout) : NULL);
}

void report_power_facts(struct fact *in, const struct search_terms *terms,
                        const struct report_power *power)
{
    const bool limited = search_terms_limited(terms);
    struct fact *shown = document_object_if(limited, in, ".power");
    if (!limited)
        return;
    set_power(shown, terms, power);
    set_power(document_object(in, "power"), terms, power);
}

const char *const report_fate_words[FATE_COUNT] = {
    [FATE_OPEN] = "were not looked at",
    [FATE_RULE] = "break a rule (--why names it)",
    [FATE_MEMORY] = "hold more state and activations than the card, whatever is recomputed",
    [FATE_HEADROOM] =
        "would leave less of the card free than --headroom asks, whatever is recomputed",
    [FATE_DEADLINE] = "miss the deadline: timed, or by their kernels alone",
    [FATE_BUDGET] = "exceed the budget: timed, or by their kernels alone",
    [FATE_POWER] = "were timed, and draw more at the wall than --power allows",
    [FATE_BOUND] = "cannot be as fast: their passes alone take longer",
    [FATE_TIMED] = "were timed, and are slower",
    [FATE_LEDGER] = "would be as fast, and do not fit",
    [FATE_LEADER] = "lead",
};
const char report_tried_again[] = "hold more, and were tried again with more recomputation";

static void show_fate(struct fact *array, uint64_t count, const char *what)
{
    if (count == 0)
        return;
    struct fact *o = document_object(array, NULL);
    document_count(o, ".count", count);
    document_word(o, ".what", what);
}

void report_fates_shown(struct fact *in, const struct search *search)
{
    static const enum search_fate order[] = {FATE_RULE,     FATE_MEMORY, FATE_HEADROOM, FATE_OPEN,
                                             FATE_DEADLINE, FATE_BUDGET, FATE_POWER,    FATE_BOUND,
                                             FATE_TIMED,    FATE_LEDGER, FATE_LEADER};
    struct fact *o = document_array(in, ".fates");
    for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (order[i] == FATE_OPEN)
            show_fate(o, search->counts.considered - search->row_count, report_tried_again);
        show_fate(o, search->counts.fates[order[i]], report_fate_words[order[i]]);
    }
}
