#include "analysis/tell/report/report_layouts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/output/text/columns.h"
#include "analysis/plan/search/search_weeks.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/arena.h"
#include "sim/units.h"

/* Head, is it a word, may it stand above the table, and what it is called there. */
#define LAYOUT_COLUMNS(X)                                                                          \
    X(name, "", true, NULL)                                                                        \
    X(tp, "tp", false, NULL)                                                                       \
    X(pp, "pp", false, NULL)                                                                       \
    X(cp, "cp", false, "cp")                                                                       \
    X(ep, "ep", false, "ep")                                                                       \
    X(dp, "dp", false, NULL)                                                                       \
    X(vpp, "vpp", false, "vpp")                                                                    \
    X(microbatch, "mb", false, "microbatch")                                                       \
    X(schedule, "schedule", true, "schedule")                                                      \
    X(shards, "shards", true, "shards")                                                            \
    X(sequence, "sp", true, "sequence parallel")                                                   \
    X(recompute, "recompute", true, "recompute")                                                   \
    X(ends, "ends", true, "ends")                                                                  \
    X(step, "step", false, NULL)                                                                   \
    X(forecast, "yours", false, NULL)                                                              \
    X(mfu, "MFU", false, NULL)                                                                     \
    X(goodput, "goodput", false, NULL)                                                             \
    X(kept, "kept/day", false, NULL)                                                               \
    X(memory, "memory", false, NULL)                                                               \
    X(cost, "10^9 tok.", false, NULL)                                                              \
    X(probability, "P(1)", false, NULL)                                                            \
    X(seen, "seen", true, NULL)
enum layout_column {
#define X(name, head, left, above) COLUMN_##name,
    LAYOUT_COLUMNS(X)
#undef X
    LAYOUT_COLUMN_COUNT
};
#define X(name, head, left, above) {head, left, false},
static const struct column heads[LAYOUT_COLUMN_COUNT] = {LAYOUT_COLUMNS(X)};
#undef X
#define X(name, head, left, above) above,
static const char *const above[LAYOUT_COLUMN_COUNT] = {LAYOUT_COLUMNS(X)};
#undef X

static struct text plain(const char *word)
{
    struct text out;
    snprintf(out.s, sizeof out.s, "%s", word);
    return out;
}

static struct text number(uint32_t value)
{
    struct text out;
    snprintf(out.s, sizeof out.s, "%" PRIu32, value);
    return out;
}

static struct text recompute_text(const struct plan_layout *l)
{
    struct text out;
    if (l->recompute_layers > 0)
        snprintf(out.s, sizeof out.s, "%s %" PRIu32, recompute_names[l->recompute],
                 l->recompute_layers);
    else
        snprintf(out.s, sizeof out.s, "%s", recompute_names[l->recompute]);
    return out;
}

/* "3+2": layouts whose first and last stage are given. */
static struct text ends_text(const struct plan_layout *l)
{
    struct text out;
    if (l->first_stage_layers + l->last_stage_layers > 0)
        snprintf(out.s, sizeof out.s, "%" PRIu32 "+%" PRIu32, l->first_stage_layers,
                 l->last_stage_layers);
    else
        snprintf(out.s, sizeof out.s, "%s", l->ends_count ? "count" : "no");
    return out;
}

static struct text step_text(const struct search_leader *l)
{
    struct text out;
    snprintf(out.s, sizeof out.s, "%.40s%s", format_time(l->step_s).s, l->played ? "" : "~");
    return out;
}

static void write_cells(const struct layout_line *line, struct text *cells)
{
    const struct search_leader *l = line->leader;
    const struct plan_layout *a = &l->row->layout;
    cells[COLUMN_name] = plain(line->name);
    cells[COLUMN_tp] = number(a->tp);
    cells[COLUMN_pp] = number(a->pp);
    cells[COLUMN_cp] = number(a->cp);
    cells[COLUMN_ep] = number(a->ep);
    cells[COLUMN_dp] = number(a->dp);
    cells[COLUMN_vpp] = number(a->vpp);
    cells[COLUMN_microbatch] = number(a->microbatch);
    cells[COLUMN_schedule] = plain(a->schedule->head.name);
    cells[COLUMN_shards] = plain(a->sharding->head.name);
    cells[COLUMN_sequence] = plain(a->sequence_parallel ? "yes" : "no");
    cells[COLUMN_recompute] = recompute_text(a);
    cells[COLUMN_ends] = ends_text(a);
    cells[COLUMN_step] = step_text(l);
    cells[COLUMN_forecast] = format_time(l->forecast_s > 0.0 ? l->forecast_s : NAN);
    cells[COLUMN_mfu] = format_percent(l->mfu_ratio);
    cells[COLUMN_goodput] = format_percent(l->weeks != NULL ? l->weeks->goodput_ratio : NAN);
    cells[COLUMN_kept] = format_quantity(l->weeks != NULL ? l->weeks->tokens_per_s * DAY : NAN);
    cells[COLUMN_memory] = format_bytes(l->peak_reserved_bytes);
    cells[COLUMN_cost] = format_money(l->usd_per_1e9_tokens);
    cells[COLUMN_probability] = format_percent(l->as_fast_probability);
    cells[COLUMN_seen] = plain(l->nearness == NEAR_LAYOUT ? "yes" : "no");
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

/* Above the table stands what is the same in all rows; ends that nobody counts nowhere. */
static void fold(FILE *out, struct column *columns, const struct text *cells, size_t rows)
{
    bool any = false;
    for (unsigned c = 0; c < LAYOUT_COLUMN_COUNT; c++) {
        if (columns[c].hidden || above[c] == NULL || (rows < 2 && !columns[c].left) ||
            !columns_same(LAYOUT_COLUMN_COUNT, cells, rows, c))
            continue;
        columns[c].hidden = true;
        if (c == COLUMN_ends && strcmp(cells[c].s, "no") == 0)
            continue;
        fprintf(out, "%s %s %s", any ? "," : "  in all:", above[c], cells[c].s);
        any = true;
    }
    if (any)
        fputc('\n', out);
}

/* With failures what is kept stands in place of what would be. */
static void choose_columns(const struct layout_line *lines, size_t count, struct column *columns)
{
    bool weeks = false, shared = false, forecast = false;
    for (size_t i = 0; i < count; i++) {
        forecast = forecast || lines[i].leader->forecast_s > 0.0;
        weeks = weeks || lines[i].leader->weeks != NULL;
        shared = shared || lines[i].leader->row->layout.ep > 1;
    }
    columns[COLUMN_ep].hidden = !shared;
    columns[COLUMN_forecast].hidden = !forecast;
    columns[COLUMN_goodput].hidden = columns[COLUMN_kept].hidden = !weeks;
    columns[COLUMN_mfu].hidden = columns[COLUMN_cost].hidden = weeks;
}

void report_layouts(const struct session *session, const struct layout_line *lines, size_t count)
{
    struct arena *arena = arena_create();
    struct text *cells = ARENA_ARRAY(arena, struct text, count * LAYOUT_COLUMN_COUNT);
    struct column columns[LAYOUT_COLUMN_COUNT];
    memcpy(columns, heads, sizeof columns);
    for (size_t i = 0; i < count; i++)
        write_cells(&lines[i], &cells[i * LAYOUT_COLUMN_COUNT]);
    choose_columns(lines, count, columns);
    fold(session->out, columns, cells, count);
    if (!columns[COLUMN_schedule].hidden && usual_order(lines, count)) {
        columns[COLUMN_schedule].hidden = true;
        fputs("  schedule: interleaved where vpp is above 1, else 1f1b\n", session->out);
    }
    columns_print(session->out, columns, LAYOUT_COLUMN_COUNT, cells, count);
    arena_destroy(arena);
}

static struct text shares_text(const struct plan_layout *l)
{
    struct text out = {""};
    if (l->ep > 1)
        snprintf(out.s, sizeof out.s, ", ep %" PRIu32, l->ep);
    return out;
}

static struct text given_text(const struct plan_layout *l)
{
    struct text out = {""};
    if (l->first_stage_layers + l->last_stage_layers > 0)
        snprintf(out.s, sizeof out.s, ", ends %" PRIu32 "+%" PRIu32, l->first_stage_layers,
                 l->last_stage_layers);
    return out;
}

const char *report_layout_words(const struct plan_layout *l, char out[LAYOUT_TEXT])
{
    snprintf(out, LAYOUT_TEXT,
             "tp %" PRIu32 ", pp %" PRIu32 ", cp %" PRIu32 ", dp %" PRIu32 "%s, vpp %" PRIu32
             ", microbatch %" PRIu32 ", %s, %s, recompute %s, sequence parallel %s%s%s",
             l->tp, l->pp, l->cp, l->dp, shares_text(l).s, l->vpp, l->microbatch,
             l->schedule->head.name, l->sharding->head.name, recompute_text(l).s,
             l->sequence_parallel ? "true" : "false", l->ends_count ? ", ends_count" : "",
             given_text(l).s);
    return out;
}

struct text report_layout_short(const struct plan_layout *l)
{
    struct text out;
    int used = snprintf(out.s, sizeof out.s, "tp %" PRIu32 " pp %" PRIu32 " dp %" PRIu32, l->tp,
                        l->pp, l->dp);
    if (l->cp > 1)
        used += snprintf(out.s + used, sizeof out.s - (size_t)used, " cp %" PRIu32, l->cp);
    if (l->vpp > 1)
        used += snprintf(out.s + used, sizeof out.s - (size_t)used, " vpp %" PRIu32, l->vpp);
    snprintf(out.s + used, sizeof out.s - (size_t)used, " mb %" PRIu32 " %s", l->microbatch,
             l->sharding->head.name);
    return out;
}
