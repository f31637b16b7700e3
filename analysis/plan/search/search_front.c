#include "analysis/plan/search/search_front.h"

#include <math.h>

#include "analysis/plan/search/search_lead.h"
#include "analysis/plan/search/search_prefer.h"
#include "analysis/plan/search/search_terms.h"
#include "analysis/plan/search/search_weeks.h"
#include "sim/check.h"

enum {
    POINTS_MAX = 100 / FRONT_STEP_PERCENT + 2
};

double search_front_free_ratio(const struct configuration *c, const struct search_leader *leader)
{
    return 1.0 - leader->peak_reserved_bytes / c->gpu.hbm.usable_bytes;
}

static void keep(struct arena *arena, const struct search_leader *leader, double asked_ratio,
                 struct search_front *out)
{
    CHECK(out->count < POINTS_MAX);
    out->leaders[out->count] = search_weeks_keep(arena, leader);
    out->asked_ratio[out->count++] = asked_ratio;
}

/* The share that the next one must leave free. */
static double next_ratio(const struct search *s, const struct search_front *front)
{
    const struct search_leader *last = &front->leaders[front->count - 1];
    return search_front_free_ratio(s->base, last) + FRONT_STEP_RATIO;
}

/* The fastest layout that the question allows, priced beside the first of the front. False: there
 * is none. */
static bool find_next(struct arena *arena, const struct search *s,
                      const struct search_question *question, struct search_front *out)
{
    struct search *more = NULL;
    struct error error;
    const bool good = search_run(question, &more, &error);
    CHECK(good); /* the cluster was built before */
    out->stopped = more->stopped;
    const bool found = more->leader_count > 0 && more->leaders[0].played;
    if (found) {
        keep(arena, &more->leaders[0], question->headroom_ratio, out);
        search_lead_price(s->base, &out->leaders[0], search_terms_weeks(&question->terms),
                          &out->leaders[out->count - 1]);
    }
    search_destroy(more);
    return found;
}

void search_front_find(struct arena *arena, const struct search *s, struct search_front *out)
{
    struct search_question question = s->question;
    *out = (struct search_front){.leaders = ARENA_ARRAY(arena, struct search_leader, POINTS_MAX),
                                 .asked_ratio = ARENA_ARRAY(arena, double, POINTS_MAX),
                                 .stopped = s->stopped};
    question.base = s->base;
    question.leaders = 1;
    question.diary = NULL;
    if (s->leader_count == 0)
        return;
    const struct search_leader *fastest = &s->leaders[search_prefer_fastest(s)];
    if (question.terms.best == BEST_ENERGY) { /* the first leader is not the fastest */
        question.terms.best = BEST_STEP;
        find_next(arena, s, &question, out);
    } else if (fastest->played) {
        keep(arena, fastest, question.headroom_ratio, out);
    }
    if (out->count == 0)
        return;
    out->leaders[0].as_fast_probability = 1.0; /* what stands beside the first is of this one */
    while (!out->stopped && (question.headroom_ratio = next_ratio(s, out)) < 1.0)
        if (!find_next(arena, s, &question, out))
            return;
}
