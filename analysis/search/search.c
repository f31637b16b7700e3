/* search.c
 *
 * Invariants
 * 1. What happens next depends on rows alone, never on which thread was sooner: work is handed out
 *    in rounds, and looked at when a round is over.
 * 2. At pass detail the leaders are the fastest that fit: whatever is not timed has a bound above
 *    the slowest of them, and whatever is timed and faster was found not to fit.
 * 3. What its kernels alone keep from the terms is not timed, as no step is shorter than they.
 * 4. The leaders, and a few behind them, are played op by op as far as EFFORT_MAX allows, the
 * likeliest first. */
#include "analysis/search/search.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/search/search_book.h"
#include "analysis/search/search_lead.h"
#include "analysis/search/search_order.h"
#include "analysis/search/search_unit.h"
#include "models/fit/trial.h"
#include "models/sharding/sharding_kind.h"
#include "sim/check.h"
#include "sim/pool.h"

const char *const search_fate_names[FATE_COUNT] = {"open",     "rule",   "memory", "headroom",
                                                   "deadline", "budget", "bound",  "slower",
                                                   "ledger",   "leader"};

enum {
    AT_ONCE = 8,         /* ledgers of a round */
    SLACK = 5,           /* that pass detail may have put behind the last leader */
    PART_SLACK = 2,      /* that a part may lead with beyond its share */
    PLAYED_LEAST = 3,    /* leaders that are played op by op in any case */
    SAFE_TRIED_MAX = 16, /* ledgers for the fastest of a kind that was measured */
    EFFORT_MAX = 1 << 18 /* layer passes of all that are: about a second */
};
/* By so much the most that is timed grows from round to round. */
#define FIRST_RATIO 1.06
#define NEXT_RATIO 1.03

struct searching {
    struct search *s;
    struct search_ground ground;
    struct search_unit **units;
    uint32_t unit_count;
    uint32_t wanted;           /* leaders, and some behind them */
    double most_s;             /* rows with a bound up to here are timed */
    struct search_row **order; /* timed rows that may fit, fastest first */
    uint32_t order_count;
    uint64_t effort;
};

static void make_units(struct searching *g)
{
    struct search *s = g->s;
    g->units = ARENA_ARRAY(s->arena, struct search_unit *, s->row_count);
    for (uint32_t i = 0, from = 0; i <= s->row_count && s->row_count > 0; i++) {
        const struct search_layout *a = &s->rows[from].layout;
        const bool same =
            i < s->row_count && s->rows[i].layout.tp == a->tp && s->rows[i].layout.cp == a->cp;
        if (same)
            continue;
        g->units[g->unit_count++] = search_unit_create(&g->ground, &s->rows[from], i - from);
        from = i;
    }
}

static bool stopped(struct searching *g)
{
    const struct search_question *q = &g->s->question;
    if (!g->s->stopped && q->stop != NULL)
        g->s->stopped = q->stop(q->context);
    return g->s->stopped;
}

/* On the one thread that hands out work: nobody writes into the book meanwhile. */
static void keep(const struct searching *g)
{
    const struct search_diary *diary = g->s->question.diary;
    if (diary != NULL)
        diary->keep(diary->context, g->s->book);
}

static void tell(const struct searching *g, double ratio)
{
    const struct search_question *q = &g->s->question;
    if (q->told != NULL)
        q->told(q->context, ratio);
}

static void judge_unit(void *context, size_t index)
{
    struct searching *g = context;
    search_unit_judge(g->units[index]);
}

static void time_unit(void *context, size_t index)
{
    struct searching *g = context;
    search_unit_time(g->units[index], g->most_s);
}

/* 3. */
static void reject_missed(struct searching *g)
{
    for (uint32_t i = 0; i < g->s->row_count; i++)
        if (g->s->rows[i].fate == FATE_OPEN)
            g->s->rows[i].fate = search_order_missed(g->s, &g->s->rows[i], g->s->rows[i].least_s);
}

static int compare_rows(const void *a, const void *b)
{
    const struct search_row *x = *(struct search_row *const *)a,
                            *y = *(struct search_row *const *)b;
    if (x->pass_s != y->pass_s)
        return x->pass_s < y->pass_s ? -1 : 1;
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

static bool ledger_fits(const struct search_ground *ground, struct search_row *row)
{
    bool fits;
    if (search_book_ledger(row, &fits))
        return fits;
    fits = search_lead_fits(ground->base, &row->layout, ground->usable_bytes);
    search_book_note_ledger(row, fits);
    return fits;
}

static bool step_fits(const struct search_ground *ground, struct search_row *row,
                      struct search_leader *out)
{
    bool fits;
    if (search_book_played(row, out, &fits))
        return fits;
    fits = search_lead_play(ground->base, row, ground->usable_bytes, out);
    search_book_note_played(row, out, fits);
    return fits;
}

static void ask_ledger(void *context, size_t index)
{
    struct asking *asking = context;
    struct search_row *row = asking->rows[index];
    row->fits = ledger_fits(&asking->g->ground, row);
}

static void more(struct searching *g, struct search_row *row)
{
    row->fits = false;
    if (row->turn != NULL)
        row->turn = search_book_later(g->s->book, row->turn);
    for (uint32_t i = 0; i < g->unit_count; i++)
        if (search_unit_holds(g->units[i], row))
            search_unit_more(g->units[i], row);
}

static double least_open_s(const struct searching *g)
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
    const double open_s = least_open_s(g);
    struct asking asking = {.g = g};
    uint32_t found = 0;
    for (uint32_t i = 0; i < g->order_count && found + asking.count < wanted; i++) {
        struct search_row *row = g->order[i];
        if (asking.count == AT_ONCE || row->pass_s > open_s)
            break;
        found += row->fits;
        if (!row->fits)
            asking.rows[asking.count++] = row;
    }
    if (asking.count == 0)
        return false;
    pool_run(g->s->question.threads, asking.count, ask_ledger, &asking);
    g->s->ledgers += asking.count;
    for (uint32_t i = 0; i < asking.count; i++)
        if (!asking.rows[i]->fits)
            more(g, asking.rows[i]);
    sort_timed(g);
    return true;
}

/* So many lead that nothing that is not timed can be among them. */
static bool settled(const struct searching *g)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < g->order_count; i++)
        found += g->order[i]->fits;
    return found >= g->wanted || isinf(least_open_s(g));
}

/* Times rows with bounds up to `most_s`, and settles the memory of those that lead. */
static void time_up_to(struct searching *g, double most_s)
{
    g->most_s = most_s;
    pool_run(g->s->question.threads, g->unit_count, time_unit, g);
    sort_timed(g);
    keep(g);
    while (!stopped(g) && settle_fits(g))
        keep(g);
}

static void find_leaders(struct searching *g)
{
    const double first_s = least_open_s(g);
    double most_s = first_s * FIRST_RATIO;
    while (!stopped(g) && !isinf(least_open_s(g))) {
        time_up_to(g, most_s);
        if (settled(g))
            break;
        tell(g, fmin(0.9, 0.2 + 0.7 * (most_s / first_s - 1.0)));
        most_s = fmax(most_s, least_open_s(g)) * NEXT_RATIO;
    }
}

struct leading { /* leaders at op detail */
    const struct searching *g;
    struct search_leader *leaders;
    bool *fits;
};

static void play_leader(void *context, size_t index)
{
    struct leading *p = context;
    struct search_row *row = (struct search_row *)p->leaders[index].row;
    p->fits[index] = step_fits(&p->g->ground, row, &p->leaders[index]);
}

static uint64_t passes_of(const struct searching *g, const struct search_row *row)
{
    struct configuration c;
    search_apply(g->ground.base, &row->layout, &c);
    return trial_passes(&c);
}

/* The next few to be played op by op, the likeliest first: all that may lead, as far as
 * EFFORT_MAX allows. */
static uint32_t choose_played(struct searching *g, struct search_leader *out)
{
    struct search *s = g->s;
    uint32_t count = 0, leaders = 0;
    for (uint32_t i = 0; i < g->order_count && leaders < g->wanted && count < AT_ONCE; i++) {
        const struct search_row *row = g->order[i];
        if (!row->fits)
            continue;
        leaders++;
        bool known = false;
        for (uint32_t k = 0; k < s->leader_count; k++)
            known = known || s->leaders[k].row == row;
        const uint64_t passes = passes_of(g, row);
        const bool first = s->leader_count + count < PLAYED_LEAST;
        if (known || (!first && g->effort + passes > EFFORT_MAX))
            continue;
        g->effort += passes;
        out[count++] = (struct search_leader){.row = row};
    }
    return count;
}

static void keep_played(struct searching *g, const struct leading *p, uint32_t count)
{
    struct search *s = g->s;
    for (uint32_t i = 0; i < count; i++)
        if (p->fits[i])
            s->leaders[s->leader_count++] = p->leaders[i];
        else
            more(g, (struct search_row *)p->leaders[i].row);
}

static double fastest_played_s(const struct search *s)
{
    double best_s = INFINITY;
    for (uint32_t i = 0; i < s->leader_count; i++)
        best_s = fmin(best_s, s->leaders[i].step_s);
    return best_s;
}

/* 4. Op by op the fastest may be slower than at pass detail: what its time lets in is timed too. */
static void play_leaders(struct searching *g)
{
    struct search *s = g->s;
    s->leaders = ARENA_ARRAY(s->arena, struct search_leader, s->row_count + (size_t)AT_ONCE);
    while (!stopped(g)) {
        struct search_leader chosen[AT_ONCE];
        bool fits[AT_ONCE] = {false};
        const uint32_t count = choose_played(g, chosen);
        if (count == 0)
            break;
        struct leading leading = {.g = g, .leaders = chosen, .fits = fits};
        pool_run(s->question.threads, count, play_leader, &leading);
        s->played += count;
        keep_played(g, &leading, count);
        time_up_to(g, s->leader_count > 0 ? fastest_played_s(s) : 0.0);
    }
}

/* Those that fit and were not played stand by their time at pass detail. */
static void complete_leaders(struct searching *g)
{
    struct search *s = g->s;
    for (uint32_t i = 0; i < g->order_count && s->leader_count < s->question.leaders; i++) {
        bool known = !g->order[i]->fits;
        for (uint32_t k = 0; k < s->leader_count; k++)
            known = known || s->leaders[k].row == g->order[i];
        if (!known)
            search_lead_guess(g->ground.base, g->order[i], &s->leaders[s->leader_count++]);
    }
}

/* The fastest of a kind of layout that was measured with this software on this card, where no
 * leader is one. */
static void find_safe(struct searching *g)
{
    struct search *s = g->s;
    unsigned tried = 0;
    for (uint32_t i = 0; i < s->leader_count; i++)
        if (s->leaders[i].nearness == NEAR_LAYOUT)
            return;
    for (uint32_t i = 0; i < g->order_count && tried < SAFE_TRIED_MAX && !stopped(g); i++) {
        struct configuration c;
        struct search_row *row = g->order[i];
        search_apply(g->ground.base, &row->layout, &c);
        if (model_error_of(&residues_shipped, &c, NULL).nearness != NEAR_LAYOUT)
            continue;
        tried++;
        if (!row->fits && !ledger_fits(&g->ground, row))
            continue;
        s->has_safe = step_fits(&g->ground, row, &s->safe);
        if (s->has_safe)
            search_order_beside(s, &s->safe);
        if (s->has_safe)
            return;
    }
}

static void count_fates(struct searching *g)
{
    struct search *s = g->s;
    for (uint32_t i = 0; i < s->row_count; i++) {
        struct search_row *row = &s->rows[i];
        const enum search_fate fate =
            row->fate == FATE_TIMED ? search_order_missed(s, row, row->pass_s) : FATE_OPEN;
        if (fate != FATE_OPEN)
            row->fate = fate;
        if (row->fate == FATE_OPEN && s->leader_count > 0)
            row->fate = FATE_BOUND;
        s->fates[row->fate]++;
        s->considered += 1 + row->tried;
        s->timed += row->pass_s > 0.0;
    }
}

/* Is this place of the space searched here? */
static bool asked_for(const struct search_question *q, const struct search_layout *l,
                      uint32_t place)
{
    return (q->dp == 0 || l->dp == q->dp) &&
           (q->part.count == 0 || place % q->part.count == q->part.index - 1);
}

static bool make_rows(struct searching *g, struct error *error)
{
    struct search *s = g->s;
    const struct search_question *q = &s->question;
    struct search_layout *layouts = NULL;
    const uint32_t places = search_space(s->arena, g->ground.base, g->ground.held, &layouts);
    s->rows = ARENA_ARRAY(s->arena, struct search_row, places);
    g->order = ARENA_ARRAY(s->arena, struct search_row *, places);
    if (q->diary != NULL)
        s->book = search_book_create(s->arena, g->ground.base, places);
    for (uint32_t i = 0; i < places; i++) {
        if (!asked_for(q, &layouts[i], i))
            continue;
        s->rows[s->row_count] = (struct search_row){.layout = layouts[i]};
        if (s->book != NULL)
            s->rows[s->row_count].turn = search_book_row(s->book, i, &layouts[i]);
        s->row_count++;
    }
    return q->diary == NULL || q->diary->recall(q->diary->context, s->book, error);
}

/* A part that is dealt out evenly has its share of those that lead all, and now and then a few
 * more: what is missing is found out by whoever joins the parts. */
static uint32_t wanted_of(const struct search_question *q)
{
    const uint32_t all = q->leaders + SLACK;
    return q->part.count == 0 ? all : all / q->part.count + PART_SLACK;
}

static void search_all(struct searching *g)
{
    struct search *s = g->s;
    g->wanted = wanted_of(&s->question);
    make_units(g);
    pool_run(s->question.threads, g->unit_count, judge_unit, g);
    keep(g);
    reject_missed(g);
    tell(g, 0.2);
    find_leaders(g);
    play_leaders(g);
    complete_leaders(g);
    if (s->question.part.count == 0) { /* who leads is a question about all parts */
        search_order_leaders(s);
        find_safe(g);
    }
    keep(g);
    count_fates(g);
    for (uint32_t i = 0; i < g->unit_count; i++)
        search_unit_destroy(g->units[i]);
}

/* Of what nobody asked for, the nearest: the fastest, whatever it misses. */
static void find_near(struct search *s)
{
    struct search_question question = s->question;
    struct search *freely = NULL;
    struct error error;
    question.terms = (struct search_terms){.best = question.terms.best};
    question.leaders = 1;
    question.told = NULL;
    question.diary = NULL;
    if (s->leader_count > 0 || s->stopped || s->fates[FATE_DEADLINE] + s->fates[FATE_BUDGET] == 0 ||
        !search_run(&question, &freely, &error))
        return;
    if (freely->leader_count > 0) {
        s->near = search_weeks_keep(s->arena, &freely->leaders[0]);
        s->has_near = true;
    }
    search_destroy(freely);
}

bool search_run(const struct search_question *question, struct search **out, struct error *error)
{
    struct arena *arena = arena_create();
    struct search *s = ARENA_NEW(arena, struct search);
    struct configuration *base = ARENA_NEW(arena, struct configuration);
    struct topology *topology = ARENA_NEW(arena, struct topology);
    *s = (struct search){.arena = arena, .question = *question, .base = base};
    *base = *question->base;
    base->perturbation_count = 0; /* who decides does not know which card will be slow */
    base->kernel_jitter_sigma = 0.0;
    if (!topology_build(arena, &base->cluster, topology, error)) {
        arena_destroy(arena);
        return false;
    }
    struct searching g = {
        .s = s,
        .ground = {.base = base,
                   .topology = topology,
                   .held = question->held,
                   .usable_bytes = base->gpu.usable_hbm_bytes * (1.0 - question->headroom_ratio)}};
    if (!make_rows(&g, error)) {
        arena_destroy(arena);
        return false;
    }
    search_all(&g);
    s->question.diary = NULL; /* of whoever asks further it is not the diary */
    if (question->part.count == 0)
        find_near(s);
    s->question.part = (struct search_part){0, 0};
    *out = s;
    return true;
}

void search_destroy(struct search *search)
{
    if (search != NULL)
        arena_destroy(search->arena);
}
