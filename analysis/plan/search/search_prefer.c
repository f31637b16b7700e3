#include "analysis/plan/search/search_prefer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/plan/search/search_lead.h"
#include "analysis/plan/search/search_terms.h"
#include "analysis/record/evidence/uncertainty.h"

enum {
    SHOWN_MAX = 16
};

/* Not known: as if it never fitted, as nothing speaks for it. */
static double sureness(const struct search_leader *leader)
{
    return leader->fit.known ? fmin(leader->fit.ratio, SEARCH_SURE_RATIO) : 0.0;
}

/* The place of the next one, from `from` on, that the error does not tell from the best. */
static uint32_t next_tie(const struct search *s, uint32_t from)
{
    while (from < s->leader_count && s->leaders[from].as_fast_probability < UNCERTAINTY_TIE_LOW)
        from++;
    return from;
}

/* Are their steps as long to the three digits that are printed? */
static bool as_long(const struct search_leader *a, const struct search_leader *b)
{
    char x[SHOWN_MAX], y[SHOWN_MAX];
    snprintf(x, sizeof x, "%.2e", a->step_s);
    snprintf(y, sizeof y, "%.2e", b->step_s);
    return strcmp(x, y) == 0;
}

/* Does `a` stand before `b`, which the objective puts first? Weeks have other digits than steps. */
static bool before(const struct search *s, const struct search_leader *a,
                   const struct search_leader *b)
{
    const bool seen = a->nearness <= NEAR_LAYOUT && b->nearness > NEAR_LAYOUT;
    if (sureness(a) != sureness(b))
        return sureness(a) > sureness(b);
    return seen && !search_terms_weeks(&s->question.terms) && as_long(a, b);
}

static uint32_t best_tie(const struct search *s, uint32_t from)
{
    uint32_t best = from;
    for (uint32_t i = from; i < s->leader_count; i = next_tie(s, i + 1))
        if (before(s, &s->leaders[i], &s->leaders[best]))
            best = i;
    return best;
}

/* To the place of a tie before it; the ties between them move on by one. */
static void bring(struct search *s, uint32_t from, uint32_t to)
{
    struct search_leader moved = s->leaders[from];
    for (uint32_t i = to; i <= from; i = next_tie(s, i + 1)) {
        const struct search_leader pushed = s->leaders[i];
        s->leaders[i] = moved;
        moved = pushed;
    }
}

bool search_prefer(struct search *s)
{
    bool changed = false;
    for (uint32_t to = next_tie(s, 0);
         to < s->leader_count && s->question.terms.best != BEST_ENERGY; to = next_tie(s, to + 1)) {
        const uint32_t from = best_tie(s, to);
        if (from != to)
            bring(s, from, to);
        changed = changed || from != to;
    }
    if (changed)
        search_lead_follow(s);
    return changed;
}

uint32_t search_prefer_fastest(const struct search *s)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < s->leader_count; i++)
        if (search_terms_value(&s->question.terms, &s->leaders[i]) <
            search_terms_value(&s->question.terms, &s->leaders[best]))
            best = i;
    return best;
}
