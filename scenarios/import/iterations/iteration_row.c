/* iteration_row.c - rows as formats see them: what begins a start, what stands twice.
 *
 * A row begins a start when its number is not above that of the row before, or states were loaded
 * in between. A row whose number is not above, but that another rank printed, or that tells the
 * same iteration with the same time at the same moment again (of a progress bar: the same
 * iteration), is a repetition of what was read. */
#include "scenarios/import/iterations/iteration_row.h"

#include <math.h>
#include <string.h>

#include "sim/list.h"
#include "sim/units.h"

void iteration_row_wait(struct iteration_reading *r, enum iteration_pause pause, double seconds)
{
    if (!(seconds > 0.0) || seconds > ITERATION_MAX)
        return;
    r->waits_s[pause] += seconds;
    r->out->told_pauses[pause]++;
}

void iteration_row_load(struct iteration_reading *r, double number)
{
    r->loads = true;
    if (number >= 0.0 && number <= ITERATION_MAX)
        r->loaded = floor(number);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool repeats(const struct iteration_reading *r, const struct iteration_line *line,
                    const struct iteration_seen *seen)
{
    const struct iteration_log *log = r->out;
    if (log->count == 0)
        return false;
    const struct iteration *last = &log->rows[log->count - 1];
    if ((uint64_t)seen->number > last->number || r->loads)
        return false;
    return line->rank != r->rank || ((uint64_t)seen->number == last->number &&
                                     (log->format->redraws || (same(seen->step_s, last->step_s) &&
                                                               same(seen->tokens_per_s_per_gpu,
                                                                    last->tokens_per_s_per_gpu) &&
                                                               same(line->at_s, last->at_s))));
}

/* Not told, or neither nothing nor beyond all measure. */
static bool possible(double value)
{
    return isnan(value) || (value >= NANOSECOND && value <= ITERATION_MAX);
}

bool iteration_row_see(struct iteration_reading *r, const struct iteration_line *line,
                       const struct iteration_seen *seen)
{
    struct iteration_log *log = r->out;
    if (!(seen->number >= 0.0) || seen->number > ITERATION_MAX)
        return import_text_bad(&r->text, "the number of the iteration is none from 0 to %g",
                               ITERATION_MAX);
    if (!possible(seen->step_s) || !possible(seen->tokens_per_s_per_gpu))
        return import_text_bad(&r->text, "the time or the rate of an iteration must be above 0");
    if (fabs(line->at_s) > ITERATION_MAX)
        return import_text_bad(&r->text, "its moment is none in seconds since 1970");
    if (repeats(r, line, seen)) {
        log->repeated++;
        return true;
    }
    if (log->count == ITERATION_ROWS_MAX)
        return import_text_bad(&r->text, "more than %d iterations; cut out what is to be read",
                               ITERATION_ROWS_MAX);
    LIST_ROOM(r->text.arena, log->rows, log->count, 1, log->room);
    struct iteration *row = &log->rows[log->count];
    *row = (struct iteration){.number = (uint64_t)seen->number,
                              .step_s = seen->step_s,
                              .tokens_per_s_per_gpu = seen->tokens_per_s_per_gpu,
                              .batch = seen->batch,
                              .at_s = line->at_s,
                              .loaded = r->loaded,
                              .line = r->text.line};
    row->first = log->count == 0 || r->loads || row->number <= row[-1].number;
    memcpy(row->pauses_s, r->waits_s, sizeof row->pauses_s);
    memset(r->waits_s, 0, sizeof r->waits_s);
    log->count++;
    log->dated = log->dated || (line->dated && !isnan(line->at_s));
    r->rank = line->rank;
    r->loads = false;
    r->loaded = NAN;
    return true;
}
