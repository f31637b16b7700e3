/* search.c
 *
 * Invariants
 * 1. What happens next depends on rows alone, never on which thread was sooner: work is handed out
 *    in rounds, and looked at when a round is over.
 * 2. At pass detail the leaders are the fastest that fit: whatever is not timed has a bound above
 *    the slowest of them, and whatever is timed and faster was found not to fit.
 * 3. What its kernels alone keep from the terms is not timed, as no step is shorter than they.
 * 4. The leaders, and what may be as fast as the last of them, are played op by op, the
 *    likeliest first (searching.c). */
#include "analysis/plan/search/search.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/plan/search/search_book.h"
#include "analysis/plan/search/search_lead.h"
#include "analysis/plan/search/search_terms.h"
#include "analysis/plan/search/search_unit.h"
#include "analysis/plan/search/search_weeks.h"
#include "analysis/plan/search/searching.h"
#include "models/plan/plan_space.h"
#include "models/plan/trial.h"
#include "models/sharding/sharding_kind.h"
#include "sim/check.h"
#include "sim/pool.h"

const char *const search_fate_names[FATE_COUNT] = {"open",     "rule",   "memory", "headroom",
                                                   "deadline", "budget", "power",  "bound",
                                                   "slower",   "ledger", "leader"};

enum {
    SLACK = 5,     /* that pass detail may have put behind the last leader */
    PART_SLACK = 2 /* that a part may lead with beyond its share */
};
/* By so much the most that is timed grows from round to round. */
#define FIRST_RATIO 1.06
#define NEXT_RATIO 1.03

static void make_units(struct searching *g)
{
    struct search *s = g->s;
    g->units = ARENA_ARRAY(s->arena, struct search_unit *, s->row_count);
    for (uint32_t i = 0, from = 0; i <= s->row_count && s->row_count > 0; i++) {
        const struct plan_layout *a = &s->rows[from].layout;
        const bool same =
            i < s->row_count && s->rows[i].layout.tp == a->tp && s->rows[i].layout.cp == a->cp;
        if (same)
            continue;
        g->units[g->unit_count++] = search_unit_create(&g->ground, &s->rows[from], i - from);
        from = i;
    }
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

/* 3. */
static void reject_missed(struct searching *g)
{
    for (uint32_t i = 0; i < g->s->row_count; i++)
        if (g->s->rows[i].fate == FATE_OPEN)
            g->s->rows[i].fate = search_lead_missed(g->s, &g->s->rows[i], g->s->rows[i].least_s);
}

/* So many lead that nothing that is not timed can be among them. */
static bool settled(const struct searching *g)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < g->order_count; i++)
        found += g->order[i]->fits;
    return found >= g->wanted || isinf(searching_least_open_s(g));
}

static void find_leaders(struct searching *g)
{
    const double first_s = searching_least_open_s(g);
    double most_s = first_s * FIRST_RATIO;
    while (!searching_stopped(g) && !isinf(searching_least_open_s(g))) {
        searching_time(g, most_s);
        if (settled(g))
            break;
        tell(g, fmin(0.9, 0.2 + 0.7 * (most_s / first_s - 1.0)));
        most_s = fmax(most_s, searching_least_open_s(g)) * NEXT_RATIO;
    }
}

static void count_fates(struct searching *g)
{
    struct search *s = g->s;
    for (uint32_t i = 0; i < s->row_count; i++) {
        struct search_row *row = &s->rows[i];
        const bool timed = row->fate == FATE_TIMED;
        const enum search_fate fate =
            timed || row->fate == FATE_OPEN
                ? search_lead_missed(s, row, timed ? row->pass_s : row->least_s)
                : FATE_OPEN;
        if (fate != FATE_OPEN)
            row->fate = fate;
        if (row->fate == FATE_OPEN && (s->leader_count > 0 || !s->stopped))
            row->fate = FATE_BOUND; /* of what was found, be it too late or too dear */
        s->counts.fates[row->fate]++;
        s->counts.considered += 1 + row->tried;
        s->counts.timed += row->pass_s > 0.0;
    }
}

/* Is this place of the space searched here? */
static bool asked_for(const struct search_question *q, const struct plan_layout *l, uint32_t place)
{
    return (q->dp == 0 || l->dp == q->dp) &&
           (q->part.count == 0 || place % q->part.count == q->part.index - 1);
}

static bool make_rows(struct searching *g, struct error *error)
{
    struct search *s = g->s;
    const struct search_question *q = &s->question;
    struct plan_layout *layouts = NULL;
    const uint32_t places = plan_space(s->arena, g->ground.base, g->ground.held, &layouts);
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
    return q->diary == NULL || q->diary->recall(q->diary->context, q, s->book, error);
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
    searching_keep(g);
    reject_missed(g);
    tell(g, 0.2);
    bool again = true;
    while (again) {
        find_leaders(g);
        again = searching_leaders_play(g);
        if (!again && search_terms_limited(&s->question.terms) && s->leader_count == 0)
            again = searching_leanest(g);
        again = again && !searching_stopped(g);
    }
    searching_leaders_complete(g);
    if (s->question.part.count == 0) { /* who leads is a question about all parts */
        search_lead_order(s);
        searching_leaders_safe(g);
    }
    searching_keep(g);
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
    question.terms =
        (struct search_terms){.best = question.terms.best,
                              .power_w = question.terms.power_w > 0.0 ? (double)INFINITY : 0.0};
    question.leaders = 1;
    question.told = NULL;
    question.diary = NULL;
    if (s->leader_count > 0 || s->stopped ||
        s->counts.fates[FATE_DEADLINE] + s->counts.fates[FATE_BUDGET] +
                s->counts.fates[FATE_POWER] ==
            0 ||
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
    *s = (struct search){.arena = arena,
                         .question = *question,
                         .base = base,
                         .watts = {.needed_w = NAN, .smallest_w = NAN}};
    *base = *question->base;
    base->perturbation_count = 0; /* who decides does not know which card will be slow */
    base->kernel_jitter_sigma = 0.0;
    if (!topology_build(arena, &base->cluster, topology, error)) {
        arena_destroy(arena);
        return false;
    }
    struct searching g = {
        .s = s,
        .scratch = arena_create(),
        .ground = {.base = base,
                   .topology = topology,
                   .held = question->held,
                   .usable_bytes = trial_usable_bytes(base, question->headroom_ratio),
                   .power_w =
                       search_terms_limited(&question->terms) ? question->terms.power_w : 0.0}};
    if (!make_rows(&g, error)) {
        arena_destroy(g.scratch);
        arena_destroy(arena);
        return false;
    }
    search_all(&g);
    arena_destroy(g.scratch);
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
