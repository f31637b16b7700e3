/* law_own.c - links that count as a group's own are watched on the clock: the times at which bytes
 * of any activity move over such a link may not overlap. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/check.h"
#include "tests/laws/law_books.h"

struct span {
    uint32_t link;
    double begin_s, end_s;
};
struct spans {
    struct span *rows;
    size_t count, room;
};

static int by_link_and_time(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    return (x->begin_s > y->begin_s) - (x->begin_s < y->begin_s);
}

static void add_span(struct spans *spans, struct span span)
{
    if (spans->count == spans->room) {
        spans->room = spans->room == 0 ? 256 : 2 * spans->room;
        spans->rows = realloc(spans->rows, spans->room * sizeof *spans->rows);
        CHECK(spans->rows != NULL);
    }
    spans->rows[spans->count++] = span;
}

/* One activity, seen by the rank that stands first in its group. */
static void add_activity(const struct law_play *p, struct spans *spans, uint32_t plan,
                         struct op_times times)
{
    const struct symmetry *y = &p->symmetry;
    const struct played_plan *played = &y->plans[plan];
    const double end_s = times.finish_s - played->latency_s;
    for (uint32_t u = played->own_first; u < played->own_first + played->own_count; u++)
        add_span(spans, (struct span){y->uses[u].link, times.begin_s, end_s});
    for (uint32_t u = played->use_first; u < played->use_first + played->use_count; u++)
        add_span(spans, (struct span){y->uses[u].link, times.begin_s, end_s});
}

static void add_rank(const struct law_play *p, uint32_t rank, struct spans *spans)
{
    const struct program *program = law_program(p, rank);
    const struct rank_class *class = &p->symmetry.ranks[law_class(p, rank)];
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct op *op = &program->ops[i];
        if (op->kind == OP_COMPUTE || class->party[op->stream] != 0)
            continue;
        const struct group_class *group = &p->symmetry.groups[class->group[op->stream]];
        const struct party *party = &p->symmetry.parties[group->party_first];
        const uint32_t plan = p->symmetry.plan_of[party->plan_first + op->cost];
        if (p->symmetry.plans[plan].bytes > 0.0)
            add_activity(p, spans, plan, law_times(p, rank, i));
    }
}

static void mark_own(const struct law_play *p, bool *own)
{
    for (uint32_t i = 0; i < p->symmetry.plan_count; i++) {
        const struct played_plan *plan = &p->symmetry.plans[i];
        for (uint32_t u = plan->own_first; u < plan->own_first + plan->own_count; u++)
            own[p->symmetry.uses[u].link] = true;
    }
}

const char *law_own_fault(const struct law_play *p, char text[LAW_TEXT])
{
    struct spans spans = {0};
    const char *fault = NULL;
    CHECK(p->symmetry.rank_class_count == p->lowered.rank_count);
    bool *own = calloc(p->symmetry.link_class_count + (size_t)1, sizeof *own);
    CHECK(own != NULL);
    mark_own(p, own);
    for (uint32_t rank = 0; rank < p->lowered.rank_count; rank++)
        add_rank(p, rank, &spans);
    if (spans.count > 0)
        qsort(spans.rows, spans.count, sizeof *spans.rows, by_link_and_time);
    for (size_t i = 1; i < spans.count && fault == NULL; i++) {
        const struct span *a = &spans.rows[i - 1], *b = &spans.rows[i];
        if (a->link == b->link && own[a->link] && b->begin_s < a->end_s - 1e-12 * p->step_s) {
            snprintf(text, LAW_TEXT,
                     "link %u is called own, but one moves to %.17g, one from %.17g",
                     p->symmetry.links[a->link].representative, a->end_s, b->begin_s);
            fault = text;
        }
    }
    free(spans.rows);
    free(own);
    return fault;
}
