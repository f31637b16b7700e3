#include "analysis/plan/search/search_machine.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/plan/search/search_broken.h"
#include "analysis/plan/search/search_lack.h"
#include "analysis/plan/search/search_prefer.h"
#include "analysis/plan/search/search_terms.h"
#include "analysis/plan/search/search_weeks.h"

void search_machine_keep(struct arena *arena, struct search_machine *m, const struct search *s)
{
    m->gpus = configuration_gpus(s->base);
    m->searched = s->counts.considered;
    m->stopped = s->stopped;
    m->card_bytes = s->base->gpu.hbm.usable_bytes;
    m->found = s->leader_count > 0;
    m->near = s->has_near;
    m->watts = s->watts;
    m->refused = s->counts.fates[FATE_POWER] > 0;
    if (!m->found && !m->near) {
        struct search_broken broken;
        struct search_lack lack = {.key = NULL};
        search_broken_find(s, &broken);
        if (!broken.known && !s->stopped)
            search_lack_find(s, &lack);
        m->rule = broken.known ? broken.key : lack.key;
        return;
    }
    m->surer = m->found && search_prefer_fastest(s) > 0;
    m->leader = search_weeks_keep(arena, m->found ? &s->leaders[0] : &s->near);
    m->missed = search_terms_broken(&s->question.terms, &m->leader);
}

const char *search_machine_missed(const struct search_machine *m)
{
    if (m->found)
        return NULL;
    return m->too_many       ? "gpus"
           : m->near         ? search_fate_names[m->missed]
           : m->rule != NULL ? search_fate_names[FATE_RULE]
                             : "memory";
}

/* Is `a` as good as `b` in time, cost and free memory, and better in one? What is not known of
 * either does not count. */
static bool beats(const struct search_point *a, const struct search_point *b)
{
    const double x[] = {search_weeks_tokens_per_s(a->leader), -a->leader->usd_per_1e9_tokens,
                        a->free_ratio};
    const double y[] = {search_weeks_tokens_per_s(b->leader), -b->leader->usd_per_1e9_tokens,
                        b->free_ratio};
    bool better = false;
    for (unsigned i = 0; i < sizeof x / sizeof x[0]; i++) {
        if (x[i] < y[i])
            return false;
        better = better || x[i] > y[i];
    }
    return better;
}

static struct search_point point_of(const struct search_machine *m,
                                    const struct search_leader *leader, bool memory)
{
    const double free_ratio = 1.0 - leader->peak_reserved_bytes / m->card_bytes;
    return (struct search_point){m, leader, memory ? free_ratio : NAN};
}

static void find_unbeaten(struct search_machines *all)
{
    for (size_t i = 0; i < all->count; i++) {
        struct search_machine *m = &all->rows[i];
        const struct search_point mine = point_of(m, &m->leader, false);
        m->unbeaten = m->found;
        for (size_t k = 0; k < all->count && m->unbeaten; k++) {
            const struct search_point other = point_of(&all->rows[k], &all->rows[k].leader, false);
            m->unbeaten = k == i || !all->rows[k].found || !beats(&other, &mine);
        }
    }
}

static void find_first(struct search_machines *all)
{
    const struct search_terms *terms = &all->question.terms;
    struct search_machine *first = NULL;
    for (size_t i = 0; i < all->count; i++) {
        struct search_machine *m = &all->rows[i];
        if (m->found && (first == NULL || search_terms_value(terms, &m->leader) <
                                              search_terms_value(terms, &first->leader)))
            first = m;
    }
    if (first != NULL)
        first->first = true;
}

/* With more power a machine has what it was found with then, or now. */
static void find_more(struct search_machines *all)
{
    const struct search_terms *terms = &all->question.terms;
    double best = INFINITY;
    for (size_t i = 0; i < all->count; i++)
        if (all->rows[i].found)
            best = fmin(best, search_terms_value(terms, &all->rows[i].leader));
    for (size_t i = 0; i < all->count; i++) {
        const struct search_machine *m = &all->rows[i];
        const double value =
            m->more.known ? search_terms_value(terms, &m->more.leader) : (double)INFINITY;
        if (value < best) {
            best = value;
            all->more = m;
        }
    }
}

static int compare_points(const void *a, const void *b)
{
    const struct search_point *x = a, *y = b;
    const double fast = search_weeks_tokens_per_s(x->leader),
                 other = search_weeks_tokens_per_s(y->leader);
    if (fast != other)
        return fast > other ? -1 : 1;
    if (x->free_ratio != y->free_ratio)
        return x->free_ratio < y->free_ratio ? -1 : 1;
    return x->machine < y->machine ? -1 : x->machine > y->machine;
}

static void find_front(struct arena *arena, struct search_machines *all)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < all->count; i++)
        count += all->rows[i].front.count;
    struct search_point *points = ARENA_ARRAY(arena, struct search_point, count);
    all->front = ARENA_ARRAY(arena, struct search_point, count);
    for (size_t i = 0, at = 0; i < all->count; i++)
        for (uint32_t k = 0; k < all->rows[i].front.count; k++)
            points[at++] = point_of(&all->rows[i], &all->rows[i].front.leaders[k], true);
    for (size_t i = 0; i < count; i++) {
        bool beaten = false;
        for (size_t k = 0; k < count; k++)
            beaten = beaten || beats(&points[k], &points[i]);
        if (!beaten)
            all->front[kept++] = points[i];
    }
    all->front_count = kept;
    qsort(all->front, kept, sizeof *all->front, compare_points);
}

void search_machines_rank(struct arena *arena, struct search_machines *all)
{
    find_unbeaten(all);
    find_first(all);
    find_more(all);
    if (all->has_front)
        find_front(arena, all);
}
