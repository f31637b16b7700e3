#include "analysis/watch/watch.h"

#include <math.h>

#include "analysis/record/numbers/statistics.h"
#include "sim/check.h"
#include "sim/units.h"

/* Steps that a row stands for in most of the log: the median within starts. */
static double usual_steps(struct arena *arena, const struct iteration_log *log)
{
    double *steps = ARENA_ARRAY(arena, double, log->count);
    size_t count = 0;
    for (uint32_t i = 1; i < log->count; i++)
        if (!log->rows[i].first)
            steps[count++] = (double)(log->rows[i].number - log->rows[i - 1].number);
    statistics_sort(steps, count);
    return count > 0 ? floor(statistics_percentile(steps, count, 0.5)) : 1.0;
}

/* The iteration that a start goes on from: that of the checkpoint, where it is told; else its first
 * row stands for as many steps as most. */
static double base_of(const struct iteration *row, double usual)
{
    const double number = (double)row->number;
    if (row->loaded < number)
        return row->loaded;
    return number - fmin(usual, fmax(number, 1.0));
}

static void find_starts(struct arena *arena, struct watch *w)
{
    const struct iteration_log *log = w->log;
    const double usual = usual_steps(arena, log);
    uint32_t count = 0;
    for (uint32_t i = 0; i < log->count; i++)
        count += log->rows[i].first;
    w->starts = ARENA_ARRAY(arena, struct watch_start, count);
    for (uint32_t i = 0; i < log->count; i++) {
        const struct iteration *row = &log->rows[i];
        if (row->first) {
            const double base = base_of(row, usual);
            w->starts[w->start_count++] = (struct watch_start){
                .first = i,
                .base = base,
                .repeated = i > 0 ? fmax((double)row[-1].number - base, 0.0) : 0.0,
                .between_s = NAN};
        }
        struct watch_start *start = &w->starts[w->start_count - 1];
        start->count++;
        w->rows[i].steps =
            (double)row->number - (row->first ? start->base : (double)row[-1].number);
        CHECK(w->rows[i].steps >= 1.0);
    }
}

/* A step is kept that no later start goes back before. */
static void find_kept(struct watch *w)
{
    double limit = INFINITY;
    for (uint32_t s = w->start_count; s-- > 0;) {
        const struct watch_start *start = &w->starts[s];
        for (uint32_t i = start->first; i < start->first + start->count; i++) {
            const double last = (double)w->log->rows[i].number, before = last - w->rows[i].steps;
            const double kept = fmin(last, limit) - before;
            w->rows[i].kept_ratio = fmin(fmax(kept / w->rows[i].steps, 0.0), 1.0);
        }
        limit = fmin(limit, start->base);
    }
}

/* Seconds since 1970 are told to a quarter of one. */
static double to_microseconds(double seconds)
{
    return round(seconds / MICROSECOND) * MICROSECOND;
}

static void read_clock(struct watch *w)
{
    const struct iteration_log *log = w->log;
    w->clocked = true;
    w->stamp_s = 1.0;
    for (uint32_t i = 0; i < log->count; i++) {
        const double before_s = i > 0 ? log->rows[i - 1].at_s : log->begin_s;
        const double clock_s = to_microseconds(log->rows[i].at_s - before_s);
        if (i > 0 && clock_s < 0.0 && w->back == 0)
            w->back = i;
        if (log->rows[i].at_s != floor(log->rows[i].at_s))
            w->stamp_s = MILLISECOND;
        w->rows[i].clock_s = clock_s >= 0.0 ? clock_s : NAN;
        w->clocked = w->clocked && !isnan(log->rows[i].at_s) && (i == 0 || clock_s >= 0.0);
    }
}

static enum watch_source source_of(const struct iteration_log *log)
{
    bool rate = false;
    for (uint32_t i = 0; i < log->count; i++) {
        if (!isnan(log->rows[i].step_s))
            return WATCH_TOLD;
        rate = rate || !isnan(log->rows[i].tokens_per_s_per_gpu);
    }
    return rate ? WATCH_RATE : WATCH_CLOCK;
}

/* With its pauses; 0: not known. */
static double whole_s(const struct watch *w, struct watch_work work, uint32_t i)
{
    const struct iteration *row = &w->log->rows[i];
    double step_s = row->step_s;
    if (w->source == WATCH_RATE)
        step_s = work.tokens / ((double)work.gpus * row->tokens_per_s_per_gpu);
    if (w->source == WATCH_CLOCK)
        return !row->first && w->rows[i].clock_s > 0.0 ? w->rows[i].clock_s : 0.0;
    return step_s > 0.0 ? step_s * w->rows[i].steps : 0.0;
}

/* Which of the told pauses lie inside of the time of the steps: as the format says, unless the
 * clock has room for more, or less, by more than its stamps are told to. */
static void place_pauses(const struct watch *w, uint32_t i)
{
    const struct iteration *row = &w->log->rows[i];
    struct watch_row *out = &w->rows[i];
    double told_s = 0.0;
    for (unsigned p = 0; p < ITERATION_PAUSES; p++)
        told_s += row->pauses_s[p];
    double outside_s = w->log->format->pauses_inside && !row->first ? 0.0 : told_s;
    const double room_s = out->clock_s - out->whole_s;
    if (w->clocked && fabs(outside_s - room_s) > w->stamp_s + MICROSECOND)
        outside_s = fmin(told_s, fmax(room_s, 0.0));
    out->inside_s = row->first ? 0.0 : fmin(told_s - outside_s, out->whole_s);
    out->pauses_s = outside_s + out->inside_s;
    const double step_s = (out->whole_s - out->inside_s) / out->steps;
    out->step_s = step_s > 0.0 ? step_s : NAN;
}

/* Of the rows around it, itself too, that tell a time. */
static double median_around(const struct watch *w, const double *times_s, uint32_t i)
{
    double sorted[WATCH_AROUND];
    uint32_t count = 0, first = i > WATCH_AROUND / 2 ? i - WATCH_AROUND / 2 : 0;
    for (uint32_t k = first; k < w->log->count && k <= i + WATCH_AROUND / 2; k++)
        if (!isnan(times_s[k]))
            sorted[count++] = times_s[k];
    statistics_sort(sorted, count);
    return statistics_percentile(sorted, count, 0.5);
}

/* Between two stamps that are far apart most of the time is none of steps. */
static void cut_gaps(struct arena *arena, struct watch *w)
{
    const double gap_ratio = 2.0;
    double *times_s = ARENA_ARRAY(arena, double, w->log->count);
    for (uint32_t i = 0; i < w->log->count; i++)
        times_s[i] = w->rows[i].step_s;
    for (uint32_t i = 0; i < w->log->count; i++) {
        struct watch_row *row = &w->rows[i];
        const double usual_s = isnan(times_s[i]) ? NAN : median_around(w, times_s, i);
        if (!(times_s[i] > gap_ratio * usual_s))
            continue;
        row->whole_s = usual_s * row->steps; /* stamps alone tell no pause */
        row->step_s = NAN;
    }
}

static void find_clock_ratio(struct watch *w)
{
    double clock_s = 0.0, steps_s = 0.0;
    w->clock_ratio = NAN;
    for (uint32_t i = 0; i < w->log->count; i++)
        if (!w->log->rows[i].first && !isnan(w->rows[i].step_s)) {
            clock_s += w->rows[i].clock_s - w->rows[i].pauses_s;
            steps_s += w->rows[i].step_s * w->rows[i].steps;
        }
    if (w->clocked && steps_s > 0.0)
        w->clock_ratio = clock_s / steps_s;
}

/* The first row of a start holds what is done once: it is left out, unless there is no other. */
static void find_steady(struct watch *w)
{
    for (unsigned all = 0; all < 2 && w->steady_count == 0; all++)
        for (uint32_t i = 0; i < w->log->count; i++) {
            w->rows[i].steady = !isnan(w->rows[i].step_s) && (all > 0 || !w->log->rows[i].first);
            w->steady_count += w->rows[i].steady;
        }
}

bool watch_read(struct arena *arena, const struct iteration_log *log, struct watch_work work,
                struct watch *out, struct error *error)
{
    *out = (struct watch){.log = log, .source = source_of(log)};
    out->rows = ARENA_ARRAY(arena, struct watch_row, log->count);
    find_starts(arena, out);
    find_kept(out);
    read_clock(out);
    for (uint32_t i = 0; i < log->count; i++) {
        out->rows[i].whole_s = whole_s(out, work, i);
        place_pauses(out, i);
    }
    if (out->source == WATCH_CLOCK)
        cut_gaps(arena, out);
    for (uint32_t s = 1; s < out->start_count && out->clocked; s++) {
        const struct watch_row *row = &out->rows[out->starts[s].first];
        out->starts[s].between_s = fmax(row->clock_s - row->whole_s, 0.0);
    }
    find_clock_ratio(out);
    find_steady(out);
    return out->steady_count > 0 ||
           error_set(error,
                     "%s: it tells no time of a step: neither a time, nor a rate of tokens, nor a "
                     "stamp of two rows of one start",
                     log->path);
}
