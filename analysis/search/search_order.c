#include "analysis/search/search_order.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/search/search_lead.h"

enum search_fate search_order_missed(const struct search *s, const struct search_row *row,
                                     double step_s)
{
    struct configuration c;
    search_apply(s->base, &row->layout, &c);
    return search_terms_missed(&s->question.terms, &c, step_s);
}

static int compare_leaders(const void *a, const void *b)
{
    const struct search_leader *x = a, *y = b;
    if (x->step_s != y->step_s)
        return x->step_s < y->step_s ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Leaders stand by time, so those that miss the terms stand last. */
static void keep_terms(struct search *s)
{
    while (s->leader_count > 0) {
        const struct search_leader *last = &s->leaders[s->leader_count - 1];
        const enum search_fate fate = search_order_missed(s, last->row, last->step_s);
        if (fate == FATE_OPEN)
            return;
        ((struct search_row *)last->row)->fate = fate;
        s->leader_count--;
    }
}

/* Leaders stand by time, so each that leaves more memory free than all before it is one. */
static void find_pareto(struct search *s)
{
    double least_bytes = INFINITY;
    s->pareto = ARENA_ARRAY(s->arena, uint32_t, s->leader_count);
    for (uint32_t i = 0; i < s->leader_count; i++) {
        if (s->leaders[i].peak_reserved_bytes < least_bytes) {
            least_bytes = s->leaders[i].peak_reserved_bytes;
            s->pareto[s->pareto_count++] = i;
        }
    }
}

void search_order_leaders(struct search *s)
{
    qsort(s->leaders, s->leader_count, sizeof *s->leaders, compare_leaders);
    keep_terms(s);
    if (s->leader_count > s->question.leaders)
        s->leader_count = s->question.leaders;
    for (uint32_t i = 0; i < s->leader_count; i++) {
        ((struct search_row *)s->leaders[i].row)->fate = FATE_LEADER;
        search_lead_price(s->base, &s->leaders[0], &s->leaders[i]);
    }
    if (s->leader_count > 0) {
        struct configuration c;
        search_apply(s->base, &s->leaders[0].row->layout, &c);
        s->own = model_error_of(&residues_shipped, &c, NULL);
    }
    find_pareto(s);
}
