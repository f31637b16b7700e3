#include "analysis/plan/search/search_leaders.h"

#include <math.h>

#include "analysis/plan/search/search_book.h"
#include "analysis/plan/search/search_lead.h"
#include "analysis/plan/search/search_order.h"
#include "models/plan/trial.h"
#include "sim/pool.h"

enum {
    AT_ONCE = 8,         /* leaders of a round */
    PLAYED_LEAST = 3,    /* leaders that are played op by op in any case */
    SAFE_TRIED_MAX = 16, /* ledgers for the fastest of a kind that was measured */
    EFFORT_MAX = 1 << 18 /* layer passes of all that are: about a second */
};
static bool step_fits(const struct search_ground *ground, struct search_row *row,
                      struct arena *scratch, struct search_leader *out)
{
    bool fits;
    if (search_book_played(row, out, &fits))
        return fits;
    fits = search_lead_play(ground->base, row, ground->usable_bytes, scratch, out);
    search_book_note_played(row, out, fits);
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
        last_s = fmax(last_s, leader != NULL ? leader->step_s : g->order[i]->pass_s);
        leaders++;
    }
    return leaders < g->s->question.leaders ? INFINITY : last_s;
}

/* The next few to be played op by op, the likeliest first: all that may lead, as far as
 * EFFORT_MAX allows. Playing tells whether they fit, too. */
static uint32_t choose_played(struct searching *g, struct search_leader *out)
{
    const double most_s = last_leader_s(g);
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->order_count && count < AT_ONCE; i++) {
        struct search_row *row = g->order[i];
        const uint64_t passes = passes_of(g, row);
        const bool first = g->played_count + count < PLAYED_LEAST;
        if (find_played(g, row) != NULL || (!first && g->effort + passes > EFFORT_MAX) ||
            !searching_may_take(g, row, most_s))
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
            searching_more(g, (struct search_row *)p->leaders[i].row);
    g->played_count = s->leader_count;
}

static double fastest_played_s(const struct search *s)
{
    double best_s = INFINITY;
    for (uint32_t i = 0; i < s->leader_count; i++)
        best_s = fmin(best_s, s->leaders[i].step_s);
    return best_s;
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
void search_leaders_play(struct searching *g)
{
    struct search *s = g->s;
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
        keep_played(g, &leading, count);
        searching_time(g, s->leader_count > 0 ? fastest_played_s(s) : 0.0);
    }
    s->counts.unplayed = count_unplayed(g);
}

void search_leaders_complete(struct searching *g)
{
    struct search *s = g->s;
    for (uint32_t i = 0; i < g->order_count && s->leader_count < s->question.leaders; i++)
        if (g->order[i]->fits && find_played(g, g->order[i]) == NULL)
            search_lead_guess(g->ground.base, g->order[i], &s->leaders[s->leader_count++]);
}

void search_leaders_safe(struct searching *g)
{
    struct search *s = g->s;
    unsigned tried = 0;
    for (uint32_t i = 0; i < s->leader_count; i++)
        if (s->leaders[i].nearness == NEAR_LAYOUT)
            return;
    for (uint32_t i = 0; i < g->order_count && tried < SAFE_TRIED_MAX && !searching_stopped(g);
         i++) {
        struct configuration c;
        struct search_row *row = g->order[i];
        plan_layout_apply(g->ground.base, &row->layout, &c);
        if (model_error_of(&residues_shipped, &c, NULL).nearness != NEAR_LAYOUT)
            continue;
        tried++;
        const struct search_leader *played = find_played(g, row);
        if (played == NULL && !row->fits && !searching_fits(&g->ground, row))
            continue;
        s->has_safe = played != NULL || step_fits(&g->ground, row, NULL, &s->safe);
        if (played != NULL)
            s->safe = *played;
        if (s->has_safe)
            search_order_beside(s, &s->safe);
        if (s->has_safe)
            return;
    }
}
