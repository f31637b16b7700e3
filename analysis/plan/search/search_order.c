#include "analysis/plan/search/search_order.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/plan/search/search_lead.h"

enum search_fate search_order_missed(const struct search *s, const struct search_row *row,
                                     double step_s)
{
    struct configuration c;
    plan_layout_apply(s->base, &row->layout, &c);
    return search_terms_missed(&s->question.terms, &c, step_s);
}

static int compare_steps(const void *a, const void *b)
{
    const struct search_leader *x = a, *y = b;
    if (x->step_s != y->step_s)
        return x->step_s < y->step_s ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The last ones, while they miss a term. */
static void keep_terms(struct search *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->leader_count; i++) {
        const enum search_fate fate = search_terms_broken(&s->question.terms, &s->leaders[i]);
        ((struct search_row *)s->leaders[i].row)->fate = fate == FATE_OPEN ? FATE_LEADER : fate;
        if (fate == FATE_OPEN)
            s->leaders[kept++] = s->leaders[i];
    }
    s->leader_count = kept;
}

static bool weighs(const struct search *s)
{
    return search_terms_weeks(&s->question.terms);
}

static void price_all(struct search *s)
{
    for (uint32_t i = 0; i < s->leader_count; i++)
        search_lead_price(s->base, &s->leaders[0], weighs(s), &s->leaders[i]);
}

static void play_weeks(struct search *s, struct search_leader **leaders, uint32_t count)
{
    const struct search_question *q = &s->question;
    const struct search_weeks_round round = {.wish = q->weeks,
                                             .leaders = leaders,
                                             .count = count,
                                             .threads = q->threads,
                                             .stop = q->stop,
                                             .context = q->context};
    struct error error;
    search_weeks_round(s->arena, &round, &error);
    if (s->weeks_error.text[0] == '\0')
        s->weeks_error = error;
}

/* The best stands first: a handful, so that each is put in its place among those before it. */
static void sort_by_value(struct search *s)
{
    const struct search_terms *terms = &s->question.terms;
    for (uint32_t i = 1; i < s->leader_count; i++) {
        const struct search_leader leader = s->leaders[i];
        uint32_t at = i;
        for (; at > 0 &&
               search_terms_value(terms, &leader) < search_terms_value(terms, &s->leaders[at - 1]);
             at--)
            s->leaders[at] = s->leaders[at - 1];
        s->leaders[at] = leader;
    }
}

/* Goodput is at most 1, so what is not listed would need so much of it. */
static void find_needed(struct search *s, double last_step_s, bool all)
{
    const struct search_weeks *best = s->leader_count > 0 ? s->leaders[0].weeks : NULL;
    if (best != NULL && !all && weighs(s))
        s->needed_goodput_ratio = best->tokens_per_s * last_step_s / configuration_tokens(s->base);
}

/* Is `a` as fast and as lean, and better in one? */
static bool beats(const struct search_terms *terms, const struct search_leader *a,
                  const struct search_leader *b)
{
    const double x = search_terms_value(terms, a), y = search_terms_value(terms, b);
    return x <= y && a->peak_reserved_bytes <= b->peak_reserved_bytes &&
           (x < y || a->peak_reserved_bytes < b->peak_reserved_bytes);
}

static void find_pareto(struct search *s)
{
    s->pareto = ARENA_ARRAY(s->arena, uint32_t, s->leader_count);
    s->pareto_count = 0;
    for (uint32_t i = 0; i < s->leader_count; i++) {
        bool beaten = isnan(s->leaders[i].peak_reserved_bytes);
        for (uint32_t k = 0; k < s->leader_count; k++)
            beaten = beaten || beats(&s->question.terms, &s->leaders[k], &s->leaders[i]);
        if (!beaten)
            s->pareto[s->pareto_count++] = i;
    }
}

static void know_own(struct search *s)
{
    struct configuration c;
    if (s->leader_count == 0)
        return;
    plan_layout_apply(s->base, &s->leaders[0].row->layout, &c);
    s->own = model_error_of(&residues_shipped, &c, NULL);
}

void search_order_leaders(struct search *s)
{
    qsort(s->leaders, s->leader_count, sizeof *s->leaders, compare_steps);
    const bool all = s->leader_count < s->question.leaders;
    if (s->leader_count > s->question.leaders)
        s->leader_count = s->question.leaders;
    const double last_s = s->leader_count > 0 ? s->leaders[s->leader_count - 1].step_s : NAN;
    s->needed_goodput_ratio = NAN;
    if (s->question.weeks != NULL) {
        struct search_leader **leaders =
            ARENA_ARRAY(s->arena, struct search_leader *, s->leader_count);
        for (uint32_t i = 0; i < s->leader_count; i++)
            leaders[i] = &s->leaders[i];
        play_weeks(s, leaders, s->leader_count);
    }
    price_all(s);
    keep_terms(s);
    sort_by_value(s);
    price_all(s); /* now the first one is known */
    find_needed(s, last_s, all);
    know_own(s);
    find_pareto(s);
}

/* The last value that leads, where as many lead as was asked; else all do. */
static double last_value(const struct search *s)
{
    if (s->leader_count < s->question.leaders)
        return INFINITY;
    return search_terms_value(&s->question.terms, &s->leaders[s->leader_count - 1]);
}

/* What is said beside the first is said again: another one leads. */
static void follow_first(struct search *s, const struct search_leader *was)
{
    const struct search_weeks *weeks = s->leaders[0].weeks;
    price_all(s);
    if (s->has_safe)
        search_lead_price(s->base, &s->leaders[0], weighs(s), &s->safe);
    if (was != NULL && was->weeks != NULL && weeks != NULL)
        s->needed_goodput_ratio *= weeks->tokens_per_s / was->weeks->tokens_per_s;
    know_own(s);
    find_pareto(s);
}

uint32_t search_order_take(struct search *s, const struct search_leader *leader)
{
    const struct search_terms *terms = &s->question.terms;
    const uint32_t count = s->leader_count;
    struct search_leader mine = *leader, *grown;
    if (count == 0)
        search_lead_price(s->base, &mine, weighs(s), &mine);
    if (search_terms_broken(terms, &mine) != FATE_OPEN ||
        !(search_terms_value(terms, &mine) < last_value(s)))
        return 0;
    grown = ARENA_ARRAY(s->arena, struct search_leader, count + (size_t)1);
    for (uint32_t i = 0; i < count; i++)
        grown[i] = s->leaders[i];
    const struct search_leader *was = count > 0 ? &s->leaders[0] : NULL;
    grown[count] = mine;
    s->leaders = grown;
    s->leader_count++;
    sort_by_value(s);
    follow_first(s, was);
    s->has_near = false; /* something keeps the terms */
    for (uint32_t i = 0; i < s->leader_count; i++)
        if (s->leaders[i].row == leader->row)
            return i + 1;
    return 0;
}

void search_order_beside(struct search *s, struct search_leader *leader)
{
    if (s->question.weeks != NULL)
        play_weeks(s, &leader, 1);
    if (s->leader_count > 0)
        search_lead_price(s->base, &s->leaders[0], weighs(s), leader);
}
