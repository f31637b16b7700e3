/* Invariants
 * 1. `moves` are in order of time, none at or behind the end of the step; the first is at 0.
 * 2. energy_j of a move is what the cards of all ranks draw from 0 to it. */
#include "models/step/simulate/power_swing.h"

#include <math.h>
#include <stdlib.h>

#include "models/layout/power_wall.h"
#include "models/step/simulate/power_curve.h"
#include "sim/list.h"

/* Ranks that move together do so at times whose last bits differ. */
#define ROUNDING_S 1e-12

struct move { /* the cards of some ranks draw `more_w` more from at_s on */
    double at_s, more_w;
    double cards_w, energy_j; /* of all ranks, from here on; until here */
};
struct power_moves {
    struct move *rows;
    uint32_t count, room;
    double step_s, all_j; /* all_j: of a whole step */
};

static int by_time(const void *left, const void *right)
{
    const struct move *a = left, *b = right;
    return (a->at_s > b->at_s) - (a->at_s < b->at_s);
}

/* False: there are too many. */
static bool collect(const struct configuration *c, const struct step *step, struct arena *arena,
                    struct power_moves *out)
{
    struct arena *scratch = arena_create();
    bool room = true;
    for (uint32_t k = 0; k < step->symmetry.rank_class_count && room; k++) {
        uint32_t count;
        const struct arena_mark mark = arena_mark(scratch);
        const struct power_point *points = power_curve(c, step, k, scratch, &count);
        const double ranks = (double)step->symmetry.ranks[k].rank_count;
        room = out->count + (uint64_t)count <= POWER_SWING_POINTS_MAX;
        count = room ? count : 0;
        LIST_ROOM(arena, out->rows, out->count, count, out->room);
        for (uint32_t i = 0; i < count; i++)
            out->rows[out->count++] = (struct move){
                .at_s = points[i].at_s,
                .more_w = ranks * (points[i].card_w - (i > 0 ? points[i - 1].card_w : 0.0))};
        arena_rewind(scratch, mark);
    }
    arena_destroy(scratch);
    return room;
}

/* Moves of one moment become one. */
static void add_up(struct power_moves *m)
{
    uint32_t kept = 0;
    double cards_w = 0.0;
    qsort(m->rows, m->count, sizeof *m->rows, by_time);
    for (uint32_t i = 0; i < m->count; i++) {
        cards_w += m->rows[i].more_w;
        if (kept == 0 || m->rows[kept - 1].at_s < m->rows[i].at_s)
            m->rows[kept++] = m->rows[i];
        m->rows[kept - 1].cards_w = cards_w;
    }
    m->count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        const double until_s = i + 1 < kept ? m->rows[i + 1].at_s : m->step_s;
        m->rows[i].energy_j = m->all_j;
        m->all_j += m->rows[i].cards_w * (until_s - m->rows[i].at_s);
    }
}

/* Energy of all cards from 0 to at_s, before the step and behind it too: it repeats. */
static double energy_until_j(const struct power_moves *m, double at_s)
{
    const double steps = floor(at_s / m->step_s), within_s = at_s - steps * m->step_s;
    uint32_t first = 0, count = m->count;
    while (count > 1) { /* the last move at or before it */
        const uint32_t half = count / 2;
        const bool behind = m->rows[first + half].at_s <= within_s;
        first = behind ? first + half : first;
        count = behind ? count - half : half;
    }
    const struct move *at = &m->rows[first];
    return steps * m->all_j + at->energy_j + at->cards_w * (within_s - at->at_s);
}

/* The difference of the means of the windows behind and before at_s. It is linear between moments
 * at which an end of a window meets a move. */
static double change_w(const struct power_moves *m, double at_s)
{
    const double window_s = POWER_SWING_WINDOW_S, here_j = energy_until_j(m, at_s);
    return fabs(energy_until_j(m, at_s + window_s) - 2.0 * here_j +
                energy_until_j(m, at_s - window_s)) /
           window_s;
}

void power_swing_of(const struct configuration *c, const struct step *step, struct power_swing *out)
{
    struct arena *arena = arena_create();
    struct power_moves m = {.step_s = step->step_s};
    double most = -INFINITY, least = INFINITY, change = 0.0;
    *out = (struct power_swing){NAN, NAN, NAN};
    if (step->worker != NULL && isfinite(step->power.card_w) && collect(c, step, arena, &m)) {
        const double ranks = (double)configuration_ranks(c);
        const double none_w = power_job_w(c, 0.0), watt_w = power_job_w(c, 1.0) - none_w;
        add_up(&m);
        for (uint32_t i = 0; i < m.count; i++) {
            const double until_s = i + 1 < m.count ? m.rows[i + 1].at_s : m.step_s;
            const bool lasts = until_s - m.rows[i].at_s > ROUNDING_S;
            most = lasts ? fmax(most, m.rows[i].cards_w) : most;
            least = lasts ? fmin(least, m.rows[i].cards_w) : least;
            for (int ends = -1; ends <= 1; ends++)
                change = fmax(change, change_w(&m, m.rows[i].at_s + ends * POWER_SWING_WINDOW_S));
        }
        *out = (struct power_swing){.peak_w = none_w + watt_w * most / ranks,
                                    .low_w = none_w + watt_w * least / ranks,
                                    .change_w = watt_w * change / ranks};
    }
    arena_destroy(arena);
}
