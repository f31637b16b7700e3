#include "analysis/tell/watched/watched.h"

#include <math.h>
#include <time.h>

#include "analysis/output/text/format.h"
#include "sim/units.h"

#define STEPS                                                                                      \
    "{first_step:digits>11}{last_step:digits>11}{rows:digits>8}{p50_s>11}{p10_s>11}{p90_s>11}"
static const char lines[] =
    "{bold}{log.path:clean}{plain}: {log.rows} rows ({log.format}), steps {log.first_step:digits} "
    "to {log.last_step:digits}, {log.starts:digits} start{if not log.starts = 1}s{end}\n"
    "  times of steps: {log.times}"
    "{if log.repeated_rows > 0}; {log.repeated_rows} repeated rows left out{end}\n"
    "\n{bold}Step time{plain}\n"
    "  forecast     {forecast.step_time_s>11}  80 % of {forecast.p10_s} to {forecast.p90_s}\n"
    "  log          {step.p50_s>11}  P10 {step.p10_s}, P90 {step.p90_s}, of {step.rows} rows\n"
    "  the log is {step.over_forecast:+.1%} over the forecast, {bold}{step.verdict}{plain} "
    "{if step.verdict = inside}its 80 % interval (P{.below:.0f}){else}the interval{end}\n"
    "\n{bold}Windows{plain}\n"
    " from step    to step    rows     median        P10        P90  over forecast\n"
    "{each windows}" STEPS "{over_forecast:+.1%>12} {verdict}\n{end}"
    "\n{bold}What changed{plain}\n"
    "{if .changes > 0}{each levels}{if change_ratio}"
    "  at step {first_step:digits} (line {line:digits}{if .at}, {.at}{end}): {.before_s} -> "
    "{p50_s}, "
    "{change_ratio:+.1%}; {verdict} from there on\n"
    "{end}{end}{else}  no lasting change of level\n{end}"
    "{each levels}{if drifts}"
    "  steps {first_step:digits} to {last_step:digits} drift by {.drift_s:+time} in 1,000 steps "
    "(z {drift_z:+.1f})\n"
    "{end}{end}"
    "{if .slow > 0}"
    "  {.slow} slow row{if not .slow = 1}s{end}, {.slow_s} beyond their level in all; the "
    "slowest:\n"
    "{each .slowest}"
    "    step {step:digits} (line {line:digits}{if .at}, {.at}{end}): {step_s}\n"
    "{end}{else}  no single slow steps\n{end}"
    "\n{bold}Restarts{plain}\n"
    "{each restarts}"
    "  line {line:digits}{if .at}, {.at}{end}: after step {step_before:digits} on with "
    "step {goes_on_with:digits}, {repeated_steps:digits} step{if not repeated_steps = 1}s{end} "
    "repeated"
    "{if between_s}, {between_s} between{end}\n"
    "{end}{if not restarts}  none\n{end}"
    "\n{bold}Goodput {goodput.goodput}{plain} of {goodput.wall_s}"
    "{if goodput.stamped}{else}{if goodput.clock_back_line} (the stamp of line "
    "{goodput.clock_back_line:digits} is before that of the row before it: between rows nothing is "
    "known){else} (the log has no stamp at every row: between rows nothing is known){end}{end}\n"
    "{each .parts}  {.what<44} {.part_s>10} {.share>8}\n{end}"
    "  not told by this log: {wrap .untold}";
const char *const watched_lines[] = {lines, NULL};

static const char *const times_words[] = {
    [WATCH_TOLD] = "as the log prints them",
    [WATCH_RATE] = "by its tokens a second, with the batch and the GPUs of the scenario",
    [WATCH_CLOCK] = "by its stamps, between rows",
};

static const char *moment(struct arena *arena, double at_s)
{
    char text[64];
    struct tm parts;
    if (isnan(at_s))
        return NULL;
    const time_t whole = (time_t)floor(at_s);
    if (gmtime_r(&whole, &parts) == NULL)
        return NULL;
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    return arena_text(arena, text);
}

static const char *verdict(const struct watch_told *told, double step_s)
{
    return step_s < told->p10_s ? "below" : step_s > told->p90_s ? "above" : "inside";
}

/* Of those that a row is the mean of. */
static uint64_t first_step(const struct watch *w, uint32_t row)
{
    return w->log->rows[row].number + 1 - (uint64_t)w->rows[row].steps;
}

static void set_spread(struct fact *o, const struct watch_told *told, const struct watch_spread *s)
{
    const struct iteration *rows = told->watch->log->rows;
    document_count(o, "first_step", first_step(told->watch, s->first));
    document_count(o, "last_step", rows[s->last].number);
    document_count(o, "rows", s->rows);
    document_real(o, "p10_s", IN_SECONDS, s->p10_s);
    document_real(o, "p50_s", IN_SECONDS, s->p50_s);
    document_real(o, "p90_s", IN_SECONDS, s->p90_s);
    document_real(o, "over_forecast", IN_RATIO, s->p50_s / told->step_s - 1.0);
    document_word(o, "verdict", verdict(told, s->p50_s));
}

/* Where a row stands. */
static void set_place(struct fact *o, const struct watch_told *told, const struct iteration *row)
{
    const char *at = told->watch->log->dated ? moment(o->arena, row->at_s) : NULL;
    document_count(o, "line", row->line);
    document_real(o, "at_s", IN_SECONDS, row->at_s);
    document_word(o, "at", at);
    document_word(o, ".at",
                  at != NULL || isnan(row->at_s) ? at
                                                 : arena_format(o->arena, "%.3f s", row->at_s));
}

static void set_log(struct fact *in, const struct watch_told *told)
{
    const struct iteration_log *log = told->watch->log;
    struct fact *o = document_object(in, "log");
    uint64_t last = 0;
    for (uint32_t i = 0; i < log->count; i++)
        last = log->rows[i].number > last ? log->rows[i].number : last;
    document_quote(o, "path", log->path);
    document_word(o, "format", log->format->head.name);
    document_word(o, "times", times_words[told->watch->source]);
    document_count(o, "rows", log->count);
    document_count(o, "repeated_rows", log->repeated);
    document_count(o, "first_step", first_step(told->watch, 0));
    document_count(o, "last_step", last);
    document_count(o, "starts", told->watch->start_count);
    document_real(o, "clock_over_steps", IN_RATIO, told->watch->clock_ratio);
}

static void set_levels(struct fact *in, const struct watch_told *told)
{
    const struct watch_levels *l = told->levels;
    struct fact *array = document_array(in, "levels");
    for (uint32_t i = 0; i < l->level_count; i++) {
        const struct watch_level *level = &l->levels[i];
        const double before_s = i > 0 ? level[-1].spread.p50_s : NAN;
        struct fact *o = document_object(array, NULL);
        set_spread(o, told, &level->spread);
        set_place(o, told, &told->watch->log->rows[level->spread.first]);
        document_real(o, "change_ratio", IN_RATIO, level->spread.p50_s / before_s - 1.0);
        document_real(o, ".before_s", IN_SECONDS, before_s);
        document_real(o, "drift_s_per_step", IN_SECONDS, level->drift.slope);
        document_real(o, ".drift_s", IN_SECONDS, level->drift.slope * KILO);
        document_real(o, "drift_z", IN_RATIO, level->drift.z);
        document_flag(o, "drifts", level->drift.sure);
        document_count(o, "slow_rows", level->slow);
    }
    document_count(in, ".changes", l->level_count - 1);
}

static void set_slow_row(struct fact *array, const struct watch_told *told,
                         const struct watch_slow *slow)
{
    struct fact *o = document_object(array, NULL);
    document_count(o, "step", told->watch->log->rows[slow->row].number);
    document_real(o, "step_s", IN_SECONDS, told->watch->rows[slow->row].step_s);
    document_real(o, "score", IN_RATIO, slow->score);
    document_real(o, "lost_s", IN_SECONDS, slow->lost_s);
    set_place(o, told, &told->watch->log->rows[slow->row]);
}

enum {
    SLOW_SHOWN = 5
};
/* The `SLOW_SHOWN` that take the longest, in the order of their times. */
static void set_slowest(struct fact *in, const struct watch_told *told)
{
    const struct watch_levels *l = told->levels;
    const struct watch_row *rows = told->watch->rows;
    const struct watch_slow *shown[SLOW_SHOWN];
    unsigned count = 0;
    struct fact *array = document_array(in, ".slowest");
    for (uint32_t i = 0; i < l->slow_count; i++) {
        unsigned at = count;
        while (at > 0 && rows[shown[at - 1]->row].step_s < rows[l->slow[i].row].step_s)
            at--;
        if (at == SLOW_SHOWN)
            continue;
        count += count < SLOW_SHOWN;
        for (unsigned k = count - 1; k > at; k--)
            shown[k] = shown[k - 1];
        shown[at] = &l->slow[i];
    }
    for (unsigned i = 0; i < count; i++)
        set_slow_row(array, told, shown[i]);
}

static void set_slow(struct fact *in, const struct watch_told *told)
{
    const struct watch_levels *l = told->levels;
    struct fact *array = document_array(in, "slow_rows");
    double lost_s = 0.0;
    for (uint32_t i = 0; i < l->slow_count; i++) {
        set_slow_row(array, told, &l->slow[i]);
        lost_s += l->slow[i].lost_s;
    }
    document_real(in, "slow_lost_s", IN_SECONDS, lost_s);
    document_count(in, ".slow", l->slow_count);
    document_real(in, ".slow_s", IN_SECONDS, lost_s);
    set_slowest(in, told);
}

static void set_restarts(struct fact *in, const struct watch_told *told)
{
    struct fact *array = document_array(in, "restarts");
    for (uint32_t s = 1; s < told->watch->start_count; s++) {
        const struct watch_start *start = &told->watch->starts[s];
        const struct iteration *row = &told->watch->log->rows[start->first];
        struct fact *o = document_object(array, NULL);
        document_count(o, "step_before", row[-1].number);
        document_count(o, "goes_on_with", first_step(told->watch, start->first));
        document_count(o, "repeated_steps", (uint64_t)start->repeated);
        document_real(o, "between_s", IN_SECONDS, start->between_s);
        set_place(o, told, row);
    }
}

/* A class of time: in JSON null where the log does not tell it; a line where it is anything. */
static void set_part(struct fact *o, struct fact *parts, const char *key, const char *what,
                     double part_s, double wall_s)
{
    document_real(o, key, IN_SECONDS, part_s);
    if (!(part_s > 0.0))
        return;
    struct fact *part = document_object(parts, NULL);
    document_word(part, ".what", what);
    document_real(part, ".part_s", IN_SECONDS, part_s);
    document_real(part, ".share", IN_RATIO, part_s / wall_s);
}

static const char *untold(struct arena *arena, const struct watch_goodput *g)
{
    const char *text = "data loading, device initialization and training preparation apart";
    if (isnan(g->pauses_s[ITERATION_SAVE]))
        text = arena_format(arena, "%s; checkpoint save", text);
    if (isnan(g->pauses_s[ITERATION_LOAD]))
        text = arena_format(arena, "%s; checkpoint restore", text);
    if (isnan(g->pauses_s[ITERATION_EVALUATION]))
        text = arena_format(arena, "%s; evaluation", text);
    if (isnan(g->recovery_s))
        text = arena_format(arena, "%s; infrastructure recovery", text);
    return text;
}

static void set_goodput(struct fact *in, const struct watch_told *told)
{
    const struct watch_goodput *g = told->goodput;
    struct fact *o = document_object(in, "goodput"), *parts = document_array(in, ".parts");
    document_real(o, "goodput", IN_RATIO, g->productive_s / g->wall_s);
    document_real(o, "wall_s", IN_SECONDS, g->wall_s);
    document_flag(o, "stamped", told->watch->clocked);
    if (told->watch->back > 0)
        document_count(o, "clock_back_line", told->watch->log->rows[told->watch->back].line);
    else
        document_null(o, "clock_back_line");
    document_count(o, "kept_steps", (uint64_t)round(g->kept_steps));
    document_count(o, "repeated_steps", (uint64_t)round(g->repeated_steps));
    set_part(o, parts, "productive_step_s", "productive step time", g->productive_s, g->wall_s);
    set_part(o, parts, "wasted_progress_from_disruption_s", "wasted progress from disruption",
             g->wasted_s, g->wall_s);
    set_part(o, parts, "infrastructure_recovery_from_disruption_s",
             "infrastructure recovery from disruption", g->recovery_s, g->wall_s);
    set_part(o, parts, "program_startup_s", "program startup", g->startup_s, g->wall_s);
    set_part(o, parts, "unproductive_checkpoint_save_s", "unproductive checkpoint save",
             g->pauses_s[ITERATION_SAVE], g->wall_s);
    set_part(o, parts, "unproductive_checkpoint_restore_s", "unproductive checkpoint restore",
             g->pauses_s[ITERATION_LOAD], g->wall_s);
    set_part(o, parts, "custom_badput_evaluation_s", "custom badput: evaluation",
             g->pauses_s[ITERATION_EVALUATION], g->wall_s);
    document_null(o, "data_loading_sync_s");
    document_null(o, "device_initialization_s");
    document_null(o, "training_prep_s");
    set_part(o, parts, "other_s", "other", g->other_s, g->wall_s);
    document_word(in, ".untold", untold(in->arena, g));
}

struct fact *watched_document(struct arena *arena, const struct watch_told *told)
{
    struct fact *o = document_begin(arena, "orrery.watch/1", told->scenario);
    set_log(o, told);
    struct fact *forecast = document_object(o, "forecast");
    document_real(forecast, "step_time_s", IN_SECONDS, told->step_s);
    document_real(forecast, "p10_s", IN_SECONDS, told->p10_s);
    document_real(forecast, "p50_s", IN_SECONDS, told->p50_s);
    document_real(forecast, "p90_s", IN_SECONDS, told->p90_s);
    struct fact *step = document_object(o, "step");
    set_spread(step, told, &told->levels->all);
    document_real(step, "below_ratio", IN_RATIO, told->below_ratio);
    document_real(o, ".below", IN_COUNT, 100.0 * told->below_ratio);
    struct fact *windows = document_array(o, "windows");
    for (uint32_t i = 0; i < told->levels->window_count; i++)
        set_spread(document_object(windows, NULL), told, &told->levels->windows[i]);
    set_levels(o, told);
    set_slow(o, told);
    set_restarts(o, told);
    set_goodput(o, told);
    return o;
}
