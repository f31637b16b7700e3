#include "analysis/command/plan/plan_larger.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/command/plan/plan_weeks.h"
#include "analysis/plan/search/search_weeks.h"

/* A job that keeps less than this of its tokens hardly gets on. */
#define HOPELESS_RATIO 0.5

struct sizing {
    struct arena *arena;
    const struct plan_arguments *line;
    const struct scenario *scenario;
    const struct search *search;
    struct plan_larger *out;
};

/* A cluster of so many GPUs with the batch that is asked for; NULL: there is none. */
static struct scenario *read_size(const struct sizing *s, uint64_t gpus, uint64_t node)
{
    const struct configuration *c = s->search->base;
    struct error error = {""};
    const char *const sets[] = {
        arena_format(s->arena, "cluster.gpus=%" PRIu64, gpus),
        arena_format(s->arena, "cluster.nodes=%" PRIu64, gpus < node ? 1 : gpus / node),
        arena_format(s->arena, "training.global_batch=%" PRIu64, c->training.global_batch)};
    struct scenario *larger = scenario_read_open(s->scenario, sets, 3, &error);
    if (larger != NULL && larger->diagnostics.error_count > 0) {
        scenario_destroy(larger);
        return NULL;
    }
    return larger;
}

/* The best layout with the split of the nearest, kept in `out` where it is the soonest so far. */
static void try_size(const struct sizing *s, const struct scenario *larger, uint64_t gpus)
{
    struct configuration *c = ARENA_NEW(s->arena, struct configuration);
    struct search_question question = s->search->question;
    struct search_weeks_wish wish;
    struct search *found = NULL;
    struct error error = {""};
    plan_layout_apply(&larger->configuration, &s->search->near.row->layout, c);
    question.base = c;
    question.held |= 1u << PLAN_TP | 1u << PLAN_PP | 1u << PLAN_CP | 1u << PLAN_EP;
    question.leaders = 1;
    question.terms.deadline_s = question.terms.budget_usd = 0.0;
    question.weeks = NULL;
    question.diary = NULL;
    question.told = NULL;
    if (!plan_weeks_ask(s->line, larger, &wish, &question, &error) ||
        !search_run(&question, &found, &error))
        return;
    if (found->leader_count > 0 &&
        !(s->out->gpus > 0 && s->out->leader.training_s <= found->leaders[0].training_s)) {
        s->out->leader = search_weeks_keep(s->arena, &found->leaders[0]);
        s->out->gpus = gpus;
        s->out->nodes = c->cluster.nodes;
    }
    search_destroy(found);
}

static bool keeps(const struct sizing *s)
{
    return s->out->gpus > 0 && s->out->leader.training_s <= s->search->question.terms.deadline_s;
}

/* Numbers of replicas upwards: they divide the batch. */
static void try_sizes(const struct sizing *s)
{
    const struct configuration *c = s->search->base;
    const struct plan_layout *near = &s->search->near.row->layout;
    const uint64_t split = (uint64_t)near->tp * near->pp * near->cp,
                   node = topology_whole_node(&c->cluster.node);
    const uint64_t most = s->line->terms.gpus_max > 0 ? s->line->terms.gpus_max : TOPOLOGY_GPU_MAX;
    for (uint64_t dp = near->dp + 1ull; dp <= c->training.global_batch && !keeps(s); dp++) {
        const uint64_t gpus = split * dp;
        if (c->training.global_batch % dp != 0 || gpus > most || (gpus > node && gpus % node != 0))
            continue;
        struct scenario *larger = read_size(s, gpus, node);
        if (larger != NULL)
            try_size(s, larger, gpus);
        scenario_destroy(larger);
    }
}

void plan_larger_find(struct arena *arena, const struct plan_arguments *line,
                      const struct scenario *scenario, const struct search *search,
                      struct plan_larger *out)
{
    const struct search_leader *near = &search->near;
    const double deadline_s = search->question.terms.deadline_s;
    const struct sizing s = {arena, line, scenario, search, out};
    *out = (struct plan_larger){
        .known = search->has_near && deadline_s > 0.0 && near->training_s > deadline_s &&
                 !(near->weeks != NULL && near->weeks->goodput_ratio < HOPELESS_RATIO)};
    if (out->known)
        try_sizes(&s);
    out->keeps = out->known && keeps(&s);
}
