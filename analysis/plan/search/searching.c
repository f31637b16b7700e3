#include "analysis/plan/search/searching.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/plan/search/search_book.h"
#include "analysis/plan/search/search_lead.h"
#include "models/plan/trial.h"
#include "sim/check.h"
#include "sim/pool.h"

enum {
    AT_ONCE = 8,          /* leaders or ledgers of a round */
    PLAYED_LEAST = 3,     /* leaders that are played op by op in any case */
    SAFE_TRIED_MAX = 16,  /* ledgers for the fastest of a kind that was measured */
    EFFORT_MAX = 1 << 18, /* layer passes of all that are: about a second */
    /* ... of those that may be first under a limit of power, which only op detail tells to be kept:
     * sixteen seconds at most */
    EFFORT_LIMITED_MAX = 1 << 22
};

bool searching_stopped(struct searching *g)
{
    const struct search_question *q = &g->s->question;
    if (!g->s->stopped && q->stop != NULL)
        g->s->stopped = q->stop(q->context);
    return g->s->stopped;
}

void searching_keep(const struct searching *g)
{
    const struct search_diary *diary = g->s->question.diary;
    if (diary != NULL)
        diary->keep(diary->context, g->s->book);
}

static void time_unit(void *context, size_t index)
{
    struct searching *g = context;
    search_unit_time(g->units[index], g->most_s);
}

/* How soon it may be done, as far as pass detail tells: a row that draws too much in that time
 * keeps the limit of power where it takes longer op by op, and then it takes keeps_s at least. */
static double soonest_s(const struct search_row *row)
{
    return fmax(row->pass_s, row->keeps_s);
}

static int compare_rows(const void *a, const void *b)
{
    const struct search_row *x = *(struct search_row *const *)a,
                            *y = *(struct search_row *const *)b;
    if (soonest_s(x) != soonest_s(y))
        return soonest_s(x) < soonest_s(y) ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void sort_timed(struct searching *g)
{
    struct search *s = g->s;
    g->order_count = 0;
    for (uint32_t i = 0; i < s->row_count; i++)
        if (s->rows[i].fate == FATE_TIMED)
            g->order[g->order_count++] = &s->rows[i];
    qsort(g->order, g->order_count, sizeof *g->order, compare_rows);
}

struct asking { /* rows whose ledgers are played at once */
    const struct searching *g;
    struct search_row *rows[AT_ONCE];
    uint32_t count;
};

static bool ledger_fits(const struct search_ground *ground, struct search_row *row,
                        struct arena *scratch)
{
    if (search_book_knows(row, SEARCH_LEDGER))
        return row->turn->fits;
    const bool fits = search_lead_fits(scratch, ground->base, &row->layout, ground->usable_bytes);
    struct search_turn *turn = search_book_note(row, SEARCH_LEDGER);
    if (turn != NULL)
        turn->fits = fits;
    return fits;
}

static void ask_ledger(void *context, size_t index, struct arena *scratch)
{
    struct asking *asking = context;
    struct search_row *row = asking->rows[index];
    row->fits = ledger_fits(&asking->g->ground, row, scratch);
}

/* One alone, as most often, in memory that was used before. */
static void ask_ledgers(struct searching *g, struct asking *asking)
{
    if (asking->count == 1)
        ask_ledger(asking, 0, g->scratch);
    else
        pool_run_scratch(g->s->question.threads, asking->count, ask_ledger, asking);
    g->s->counts.ledgers += asking->count;
}

static struct search_unit *unit_of(const struct searching *g, const struct search_row *row)
{
    uint32_t i = 0;
    while (i < g->unit_count && !search_unit_holds(g->units[i], row))
        i++;
    CHECK(i < g->unit_count);
    return g->units[i];
}

static void try_more(struct searching *g, struct search_row *row)
{
    row->fits = false;
    if (row->turn != NULL)
        row->turn = search_book_later(g->s->book, row->turn);
    search_unit_more(unit_of(g, row), row);
}

bool searching_may_take(const struct searching *g, struct search_row *row, double most_s)
{
    if (row->keeps_s > most_s)
        return false;
    if (row->pass_s <= most_s)
        return true;
    if (row->apart_least_s > most_s * SEARCH_UNIT_OVERSTATED_SCATTERED)
        return false;
    return search_unit_apart_s(unit_of(g, row), row) <= most_s;
}

double searching_least_open_s(const struct searching *g)
{
    double least_s = INFINITY;
    for (uint32_t i = 0; i < g->s->row_count; i++)
        if (g->s->rows[i].fate == FATE_OPEN)
            least_s = fmin(least_s, g->s->rows[i].least_s);
    return least_s;
}

/* Plays the ledgers of the fastest rows, until so many fit; of rows that something not timed may
 * yet pass, none. False: nothing was left to ask. */
static bool settle_fits(struct searching *g)
{
    const uint32_t wanted = g->wanted;
    const double open_s = searching_least_open_s(g);
    struct asking asking = {.g = g};
    uint32_t found = 0;
    for (uint32_t i = 0; i < g->order_count && found + asking.count < wanted; i++) {
        struct search_row *row = g->order[i];
        if (asking.count == AT_ONCE || soonest_s(row) > open_s)
            break;
        found += row->fits;
        if (!row->fits)
            asking.rows[asking.count++] = row;
    }
    if (asking.count == 0)
        return false;
    ask_ledgers(g, &asking);
    for (uint32_t i = 0; i < asking.count; i++)
        if (!asking.rows[i]->fits)
            try_more(g, asking.rows[i]);
    sort_timed(g);
    return true;
}

void searching_time(struct searching *g, double most_s)
{
    g->most_s = most_s;
    pool_run(g->s->question.threads, g->unit_count, time_unit, g);
    sort_timed(g);
    searching_keep(g);
    while (!searching_stopped(g) && settle_fits(g))
        searching_keep(g);
}

static bool step_fits(const struct search_ground *ground, struct search_row *row,
                      struct arena *scratch, struct search_leader *out)
{
    if (search_book_knows(row, SEARCH_PLAYED)) {
        *out = row->turn->leader;
        out->row = row;
        out->energy_j_per_token = out->wall_w = NAN;
        return row->turn->plays;
    }
    const bool fits = search_lead_play(ground->base, row, ground->usable_bytes, scratch, out);
    struct search_turn *turn = search_book_note(row, SEARCH_PLAYED);
    if (turn != NULL) {
        turn->leader = *out;
        turn->plays = fits;
    }
    return fits;
}

struct leading { /* leaders at op detail */
    const struct searching *g;
    struct search_leader *leaders;
    bool *fits;
};

static void play_leader(void *context, size_t index, struct arena *scratch)
{
    struct leading *p = context;
    struct search_row *row = (struct search_row *)p->leaders[index].row;
    p->fits[index] = step_fits(&p->g->ground, row, scratch, &p->leaders[index]);
    if (p->fits[index] && p->g->ground.power_w > 0.0)
        search_lead_draw(p->g->ground.base, 1, &p->leaders[index]);
}

/* What it draws op by op is known now. Too much? */
static bool refused(const struct searching *g, const struct search_leader *leader)
{
    struct search_row *row = (struct search_row *)leader->row;
    if (!(g->ground.power_w > 0.0))
        return false;
    row->least_w = leader->wall_w;
    row->drawn = true;
    if (row->least_w > g->ground.power_w)
        row->fate = FATE_POWER;
    return row->fate == FATE_POWER;
}

static uint64_t passes_of(const struct searching *g, const struct search_row *row)
{
    struct configuration c;
    plan_layout_apply(g->ground.base, &row->layout, &c);
    return trial_passes(&c);
}

static struct search_leader *find_played(const struct searching *g, const struct search_row *row)
{
    for (uint32_t i = 0; i < g->played_count; i++)
        if (g->s->leaders[i].row == row)
            return &g->s->leaders[i];
    return NULL;
}

/* The slowest of the fastest that are asked for, as far as they were played: what cannot be faster
 * is none of them. */
static double last_leader_s(const struct searching *g)
{
    double last_s = 0.0;
    uint32_t leaders = 0;
    for (uint32_t i = 0; i < g->order_count && leaders < g->s->question.leaders; i++) {
        if (!g->order[i]->fits)
            continue;
        const struct search_leader *leader = find_played(g, g->order[i]);
        last_s = fmax(last_s, leader != NULL ? leader->step_s : soonest_s(g->order[i]));
        leaders++;
    }
    return leaders < g->s->question.leaders ? INFINITY : last_s;
}

/* Is it likely to draw too much? */
static bool likely_refused(const struct searching *g, const struct search_row *row)
{
    return g->ground.power_w > 0.0 && row->pass_w > g->ground.power_w;
}

static double fastest_played_s(const struct search *s)
{
    double best_s = INFINITY;
    for (uint32_t i = 0; i < s->leader_count; i++)
        best_s = fmin(best_s, s->leaders[i].step_s);
    return best_s;
}

/* May so much work be done for it? */
static bool is_worth(const struct searching *g, struct search_row *row, uint64_t passes,
                     uint32_t chosen)
{
    if (g->played_count + chosen < PLAYED_LEAST && !likely_refused(g, row))
        return true;
    if (g->effort + passes <= EFFORT_MAX)
        return true;
    return g->ground.power_w > 0.0 && g->effort + passes <= EFFORT_LIMITED_MAX &&
           searching_may_take(g, row, fastest_played_s(g->s));
}

/* The next few to be played op by op, the likeliest first: all that may lead, as far as the effort
 * allows. Playing tells whether they fit, too, and what they draw. */
static uint32_t choose_played(struct searching *g, struct search_leader *out)
{
    const double most_s = last_leader_s(g);
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->order_count && count < AT_ONCE; i++) {
        struct search_row *row = g->order[i];
        const uint64_t passes = passes_of(g, row);
        if (find_played(g, row) != NULL || !searching_may_take(g, row, most_s) ||
            !is_worth(g, row, passes, count))
            continue;
        g->effort += passes;
        out[count++] = (struct search_leader){.row = row};
    }
    return count;
}

/* True: one of them draws too much. */
static bool keep_played(struct searching *g, const struct leading *p, uint32_t count)
{
    struct search *s = g->s;
    bool any_refused = false;
    for (uint32_t i = 0; i < count; i++)
        if (!p->fits[i])
            try_more(g, (struct search_row *)p->leaders[i].row);
        else if (refused(g, &p->leaders[i]))
            any_refused = true;
        else
            s->leaders[s->leader_count++] = p->leaders[i];
    g->played_count = s->leader_count;
    return any_refused;
}

/* How many may lead all the same. */
static uint64_t count_unplayed(const struct searching *g)
{
    const double most_s = last_leader_s(g);
    uint64_t count = 0;
    for (uint32_t i = 0; i < g->order_count; i++)
        count += find_played(g, g->order[i]) == NULL && searching_may_take(g, g->order[i], most_s);
    return count;
}

/* Op by op the fastest may be slower than at pass detail: what its time lets in is timed too. */
bool searching_leaders_play(struct searching *g)
{
    struct search *s = g->s;
    bool any_refused = false;
    if (s->leaders == NULL)
        s->leaders = ARENA_ARRAY(s->arena, struct search_leader, s->row_count + (size_t)AT_ONCE);
    while (!searching_stopped(g)) {
        struct search_leader chosen[AT_ONCE];
        bool fits[AT_ONCE] = {false};
        const uint32_t count = choose_played(g, chosen);
        if (count == 0)
            break;
        struct leading leading = {.g = g, .leaders = chosen, .fits = fits};
        pool_run_scratch(s->question.threads, count, play_leader, &leading);
        s->counts.played += count;
        any_refused = keep_played(g, &leading, count) || any_refused;
        searching_time(g, s->leader_count > 0 ? fastest_played_s(s) : 0.0);
    }
    s->counts.unplayed = count_unplayed(g);
    return any_refused;
}

/* Does power alone keep it out? */
static bool refused_alone(const struct search *s, const struct search_row *row)
{
    return row->fate == FATE_POWER && search_lead_missed(s, row, row->pass_s) == FATE_OPEN;
}

/* Of these the row that may draw least; NULL: there is none. */
static struct search_row *leanest_refused(const struct searching *g)
{
    struct search *s = g->s;
    struct search_row *least = NULL;
    for (uint32_t i = 0; i < s->row_count; i++) {
        struct search_row *row = &s->rows[i];
        if (refused_alone(s, row) && (least == NULL || row->least_w < least->least_w))
            least = row;
    }
    return least;
}

/* Plays it op by op; what does not fit is tried with more recomputation. */
static void draw_refused(struct searching *g, struct search_row *row)
{
    struct search_leader leader;
    g->effort += passes_of(g, row);
    if ((row->fits || ledger_fits(&g->ground, row, g->scratch)) &&
        step_fits(&g->ground, row, g->scratch, &leader)) {
        search_lead_draw(g->ground.base, g->s->question.threads, &leader);
        row->fate = FATE_TIMED;
        refused(g, &leader);
    } else {
        try_more(g, row);
    }
}

bool searching_leanest(struct searching *g)
{
    struct search *s = g->s;
    struct search_row *row = leanest_refused(g);
    const uint64_t most = g->effort + EFFORT_MAX;
    while (row != NULL && !row->drawn && g->effort < most && !searching_stopped(g)) {
        draw_refused(g, row);
        if (row->fate == FATE_TIMED || row->fate == FATE_OPEN)
            return true;
        row = leanest_refused(g);
    }
    s->watts.of_played = row != NULL && !row->drawn;
    s->watts.smallest_w = NAN;
    for (uint32_t i = 0; i < s->row_count; i++)
        if (s->rows[i].drawn && refused_alone(s, &s->rows[i]))
            s->watts.smallest_w = fmin(s->watts.smallest_w, s->rows[i].least_w);
    return false;
}

void searching_leaders_complete(struct searching *g)
{
    struct search *s = g->s;
    const uint32_t most = g->ground.power_w > 0.0 ? 0 : s->question.leaders;
    for (uint32_t i = 0; i < g->order_count && s->leader_count < most; i++)
        if (g->order[i]->fits && find_played(g, g->order[i]) == NULL)
            search_lead_guess(g->ground.base, g->order[i], &s->leaders[s->leader_count++]);
}

static bool was_measured(const struct searching *g, const struct search_row *row)
{
    struct configuration c;
    plan_layout_apply(g->ground.base, &row->layout, &c);
    return model_error_of(&residues_shipped, &c, NULL).nearness <= NEAR_LAYOUT;
}

static int compare_bounds(const void *a, const void *b)
{
    const struct search_row *x = *(struct search_row *const *)a,
                            *y = *(struct search_row *const *)b;
    if (x->least_s != y->least_s)
        return x->least_s < y->least_s ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* What was measured and is slower than the leaders was not timed for them. */
static void time_measured(struct searching *g)
{
    struct search *s = g->s;
    struct search_row **open = ARENA_ARRAY(s->arena, struct search_row *, s->row_count);
    uint32_t count = 0;
    double best_s = INFINITY;
    for (uint32_t i = 0; i < g->order_count; i++)
        if (g->order[i]->pass_s < best_s && was_measured(g, g->order[i]))
            best_s = g->order[i]->pass_s;
    for (uint32_t i = 0; i < s->row_count; i++)
        if (s->rows[i].fate == FATE_OPEN && was_measured(g, &s->rows[i]))
            open[count++] = &s->rows[i];
    qsort(open, count, sizeof *open, compare_bounds);
    for (uint32_t i = 0; i < count && open[i]->least_s <= best_s && !searching_stopped(g); i++) {
        search_unit_time_one(unit_of(g, open[i]), open[i], best_s);
        if (open[i]->fate == FATE_TIMED)
            best_s = fmin(best_s, open[i]->pass_s);
    }
    sort_timed(g);
}

void searching_leaders_safe(struct searching *g)
{
    struct search *s = g->s;
    unsigned tried = 0;
    for (uint32_t i = 0; i < s->leader_count; i++)
        if (s->leaders[i].nearness <= NEAR_LAYOUT)
            return;
    time_measured(g);
    for (uint32_t i = 0; i < g->order_count && tried < SAFE_TRIED_MAX && !searching_stopped(g);
         i++) {
        struct search_row *row = g->order[i];
        if (!was_measured(g, row))
            continue;
        tried++;
        const struct search_leader *played = find_played(g, row);
        if (played == NULL && !row->fits && !ledger_fits(&g->ground, row, g->scratch))
            continue;
        s->has_safe = played != NULL || step_fits(&g->ground, row, NULL, &s->safe);
        if (played != NULL)
            s->safe = *played;
        if (s->has_safe)
            search_lead_beside(s, &s->safe);
        s->has_safe = s->has_safe && !(g->ground.power_w > 0.0 && refused(g, &s->safe));
        if (s->has_safe)
            return;
    }
}
