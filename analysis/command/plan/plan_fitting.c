#include "analysis/command/plan/plan_fitting.h"

#include "analysis/plan/search/search_prefer.h"
#include "analysis/record/evidence/memory_draws.h"
#include "models/plan/trial.h"
#include "sim/pool.h"

enum {
    DRAWS = 64 /* as many as plan_figures.c plays: a standard error of 6 % at most */
};
struct plan_fitting {
    const struct configuration *base;
    struct fit_draws draws;
    struct search_leader **leaders;
    size_t count;
};

static void find(void *context, size_t index, struct arena *scratch)
{
    const struct plan_fitting *f = context;
    struct search_leader *leader = f->leaders[index];
    struct configuration c;
    plan_layout_apply(f->base, &leader->row->layout, &c);
    leader->fit = (struct search_fit){.known = true, .draws = f->draws.count};
    if (f->draws.count == 0) {
        leader->fit.ratio = trial_fits_in(scratch, &c, c.gpu.hbm.usable_bytes) ? 1.0 : 0.0;
        return;
    }
    bool *fits = ARENA_ARRAY(scratch, bool, f->draws.count);
    leader->fit.ratio = fit_draws_count(scratch, &c, &f->draws, fits) / (double)f->draws.count;
}

static void find_all(const struct scenario *scenario, const struct search *s,
                     struct plan_fitting *f)
{
    memory_draws(s->arena, scenario, DRAWS, &f->draws);
    pool_run_scratch(s->question.threads, f->count, find, f);
}

static void gather(struct plan_fitting *f, struct search *s, struct search_own *own)
{
    f->leaders = ARENA_ARRAY(s->arena, struct search_leader *, (size_t)s->leader_count + 3);
    for (uint32_t i = 0; i < s->leader_count; i++)
        f->leaders[f->count++] = &s->leaders[i];
    if (s->has_safe)
        f->leaders[f->count++] = &s->safe;
    if (s->has_near)
        f->leaders[f->count++] = &s->near;
    if (own != NULL && own->fits)
        f->leaders[f->count++] = &own->leader;
}

void plan_fitting_apply(const struct scenario *scenario, struct search *search,
                        struct search_own *own)
{
    struct plan_fitting f = {.base = search->base};
    gather(&f, search, own);
    find_all(scenario, search, &f);
    const bool ranked = own != NULL && own->rank > 0;
    const struct search_row *row = ranked ? search->leaders[own->rank - 1].row : NULL;
    search_prefer(search);
    for (uint32_t i = 0; ranked && i < search->leader_count; i++)
        own->rank = search->leaders[i].row == row ? i + 1 : own->rank;
}

void plan_fitting_front(const struct scenario *scenario, const struct search *search,
                        struct search_front *front)
{
    struct plan_fitting f = {.base = search->base, .count = front->count};
    f.leaders = ARENA_ARRAY(search->arena, struct search_leader *, front->count);
    for (uint32_t i = 0; i < front->count; i++)
        f.leaders[i] = &front->leaders[i];
    find_all(scenario, search, &f);
}
