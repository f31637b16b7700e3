#include "analysis/explain/waterfall.h"

#include <math.h>
#include <stdlib.h>

#include "sim/units.h"

/* Parts in the database are sums of doubles over classes; what differs by more was not written by
 * `run`. */
#define DAMAGED_RATIO 1e-6

static double waterfall_masked(const struct run_row *r)
{
    return r->causal == 1 ? (r->causal_mfu_ratio - r->mfu_ratio) * r->step_s : 0.0;
}

/* A class of the wall clock, shared out among the steps that were kept. */
static double waterfall_lost(const struct run_row *r, double class_s)
{
    return r->step_s * class_s / r->useful_s;
}

static void take_terms(const struct run_row *r, bool weeks, struct waterfall *out)
{
    const bool known_TIMED = true, known_WEEKS = weeks;
    unsigned next = 0;
#define X(key, when, what, stands_on, seconds)                                                     \
    out->terms[next++] = (struct waterfall_term){                                                  \
        #key, what, stands_on, known_##when ? (seconds) : 0.0, 0.0, known_##when};
    WATERFALL(X)
#undef X
}

static double tokens_of_step(const struct run_row *r)
{
    return r->tokens_per_s * r->step_s;
}

static bool adds_up(const struct run_row *r, const struct waterfall *w)
{
    const double wall_s = w->weeks ? r->step_s * r->wall_s / r->useful_s : r->step_s;
    return fabs(w->kept_step_s - wall_s) <= DAMAGED_RATIO * wall_s;
}

bool waterfall_of(const struct record *record, struct waterfall *out, struct error *error)
{
    const struct run_row *r = record_run(record);
    if (!(r->step_s > 0.0))
        return error_set(error, "memory ended before a step was timed: there is no time to "
                                "explain; 'orrery report' tells where it ended");
    *out = (struct waterfall){.step_s = r->step_s, .weeks = r->wall_s > 0.0 && r->useful_s > 0.0};
    take_terms(r, out->weeks, out);
    for (unsigned i = 0; i < WATERFALL_COUNT; i++) {
        out->kept_step_s += out->terms[i].seconds;
        out->terms[i].tokens_per_day = tokens_of_step(r) * DAY / out->kept_step_s;
    }
    out->tokens_per_day = tokens_of_step(r) * DAY / out->kept_step_s;
    return adds_up(r, out) ||
           error_set(error, "the table run is damaged: the parts of the step do not add up to it");
}

static int by_seconds(const void *a, const void *b)
{
    const struct idle_cause *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

unsigned waterfall_idle(const struct waterfall *w, struct idle_cause *out)
{
    static const enum waterfall_key causes[] = {
        WATERFALL_exposed_tp, WATERFALL_exposed_cp, WATERFALL_exposed_ep,
        WATERFALL_bubble,     WATERFALL_exposed_pp, WATERFALL_exposed_dp,
        WATERFALL_offload,    WATERFALL_host,       WATERFALL_straggler};
    unsigned count = 0;
    for (unsigned i = 0; i < sizeof causes / sizeof *causes; i++) {
        const struct waterfall_term *term = &w->terms[causes[i]];
        const double inside_s = causes[i] == WATERFALL_straggler ? w->paced_s : 0.0;
        if (term->seconds > inside_s * (1.0 + 1e-9)) /* less is the rounding of sums */
            out[count++] = (struct idle_cause){term->key, term->what, term->seconds - inside_s};
    }
    qsort(out, count, sizeof *out, by_seconds);
    return count;
}
