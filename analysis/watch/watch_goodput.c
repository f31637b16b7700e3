#include "analysis/watch/watch_goodput.h"

#include <math.h>

/* What the first row of a start takes beyond the mean of the others. */
static double startup_of(const struct watch *w, const struct watch_start *start)
{
    const struct watch_row *first = &w->rows[start->first];
    double sum_s = 0.0, steps = 0.0;
    for (uint32_t i = start->first + 1; i < start->first + start->count; i++)
        if (!isnan(w->rows[i].step_s)) {
            sum_s += w->rows[i].step_s * w->rows[i].steps;
            steps += w->rows[i].steps;
        }
    if (isnan(first->step_s) || steps == 0.0)
        return 0.0;
    return fmax(first->step_s - sum_s / steps, 0.0) * first->steps;
}

static void add_pauses(const struct watch *w, uint32_t i, struct watch_goodput *out)
{
    const double *told_s = w->log->rows[i].pauses_s;
    double sum_s = 0.0;
    for (unsigned p = 0; p < ITERATION_PAUSES; p++)
        sum_s += told_s[p];
    for (unsigned p = 0; p < ITERATION_PAUSES && sum_s > 0.0; p++)
        out->pauses_s[p] += told_s[p] / sum_s * w->rows[i].pauses_s;
}

static void add_start(const struct watch *w, const struct watch_start *start, bool later,
                      struct watch_goodput *out)
{
    const double startup_s = startup_of(w, start);
    const struct watch_row *first = &w->rows[start->first];
    const double before_s = w->clocked && !isnan(first->clock_s)
                                ? fmax(first->clock_s - first->whole_s - first->pauses_s, 0.0)
                                : 0.0;
    out->startup_s += startup_s;
    if (later)
        out->recovery_s += before_s;
    else
        out->startup_s += before_s;
    for (uint32_t i = start->first; i < start->first + start->count; i++) {
        const struct watch_row *row = &w->rows[i];
        const double steps_s = row->whole_s - row->inside_s - (i == start->first ? startup_s : 0.0);
        out->productive_s += row->kept_ratio * steps_s;
        out->wasted_s += (1.0 - row->kept_ratio) * steps_s;
        out->kept_steps += row->kept_ratio * row->steps;
        out->repeated_steps += (1.0 - row->kept_ratio) * row->steps;
        add_pauses(w, i, out);
    }
}

/* By the stamps, from the first of the log, or from the first step where that is earlier. */
static double wall_of(const struct watch *w)
{
    const struct iteration_log *log = w->log;
    const double first_s = log->rows[0].at_s - w->rows[0].whole_s;
    return log->rows[log->count - 1].at_s -
           fmin(first_s, isnan(log->begin_s) ? first_s : log->begin_s);
}

void watch_goodput_find(const struct watch *watch, struct watch_goodput *out)
{
    *out = (struct watch_goodput){.wall_s = 0.0};
    for (uint32_t s = 0; s < watch->start_count; s++)
        add_start(watch, &watch->starts[s], s > 0, out);
    double told_s = out->productive_s + out->wasted_s + out->recovery_s + out->startup_s;
    for (unsigned p = 0; p < ITERATION_PAUSES; p++)
        told_s += out->pauses_s[p];
    /* Stamps of whole seconds may leave less than nothing. */
    out->wall_s = watch->clocked ? fmax(wall_of(watch), told_s) : told_s;
    out->other_s = watch->clocked ? out->wall_s - told_s : NAN;
    if (!watch->clocked && watch->start_count > 1)
        out->recovery_s = NAN;
    for (unsigned p = 0; p < ITERATION_PAUSES; p++)
        if (watch->log->told_pauses[p] == 0)
            out->pauses_s[p] = NAN;
}
