#include "analysis/command/plan/plan_figures.h"

#include "analysis/record/evidence/uncertainty.h"
#include "sim/check.h"

enum {
    DRAWS = 64
};
static const double low = 0.1, high = 0.9;

static void widen(const struct search *search, const struct uncertain_step *first,
                  struct search_leader *leader)
{
    struct configuration c;
    struct uncertain_step its = *first;
    const double slower = leader->step_s / first->step_s;
    plan_layout_apply(search->base, &leader->row->layout, &c);
    its.own = model_error_of(&residues_shipped, &c, NULL);
    leader->p10_s = slower * uncertainty_step_s(&its, low);
    leader->p90_s = slower * uncertainty_step_s(&its, high);
}

void plan_figures_apply(const struct scenario *scenario, struct search *search,
                        struct search_leader *own)
{
    const struct uncertainty_options how = {.seed = search->base->seed,
                                            .draw_count = DRAWS,
                                            .threads = search->question.threads,
                                            .passes = true};
    const struct search_leader *first = search->leader_count > 0 ? &search->leaders[0]
                                        : search->has_near       ? &search->near
                                                                 : NULL;
    struct uncertain_step step;
    struct error error;
    if (first == NULL)
        return;
    struct scenario *of = ARENA_NEW(search->arena, struct scenario);
    *of = *scenario;
    plan_layout_apply(search->base, &first->row->layout, &of->configuration);
    const bool drawn = uncertainty_draw(search->arena, of, &how, &step, &error);
    CHECK(drawn); /* the search has built this cluster */
    for (uint32_t i = 0; i < search->leader_count; i++)
        widen(search, &step, &search->leaders[i]);
    if (search->has_safe)
        widen(search, &step, &search->safe);
    if (search->has_near)
        widen(search, &step, &search->near);
    if (own != NULL && own->played)
        widen(search, &step, own);
}
